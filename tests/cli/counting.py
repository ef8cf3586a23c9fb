"""Kernels whose counts are known, and what `cllab count` says of kernels."""
import os

import lab

PLUGIN = os.path.join(os.path.dirname(lab.CLLAB), "cllab-count-plugin.so")

BLOCK = """/*cllab
axis n = 65536
arg a = zero:n
arg b = out:n
arg h = zero:1024
arg n = n
global n
local 256
%s
*/
"""

KERNELS = BLOCK % "kernel transpose\nglobal 256,256\nlocal 16,16\nkernel tile32\nglobal 32,32\nlocal 32,32\n" \
                  "kernel tile33\nglobal 32,32\nlocal 32,32\nkernel small32\nglobal 16,16\nlocal 16,16\n" \
                  "kernel small17\nglobal 16,16\nlocal 16,16\nkernel whole\nglobal 256\n" \
                  "kernel grows_few\nglobal 4096\nkernel loops_in_loops\nglobal 2048\nkernel eighths\nglobal 2048\nkernel by_value\narg p = {float:0.75, int:2}" + r"""
kernel void copy(global const float* a, global float* b) { size_t i = get_global_id(0); b[i] = a[i]; }
kernel void gather(global const float* a, global float* b, int n) { int i = get_global_id(0); b[i] = a[(i * 32) % n]; }
kernel void transpose(global const float* a, global float* b) {
    int x = get_global_id(0), y = get_global_id(1);
    b[x * 256 + y] = a[y * 256 + x];
}
#define TILE(WIDTH) kernel void tile##WIDTH(global const float* a, global float* b) { \
    local float t[32 * WIDTH]; int x = get_local_id(0), y = get_local_id(1); \
    t[y * WIDTH + x] = a[y * 32 + x]; barrier(CLK_LOCAL_MEM_FENCE); b[y * 32 + x] = t[x * WIDTH + y]; }
TILE(32)
TILE(33)
#define SMALL(WIDTH) kernel void small##WIDTH(global const float* a, global float* b) { \
    local float t[16 * WIDTH]; int x = get_local_id(0), y = get_local_id(1); \
    t[y * WIDTH + x] = a[y * 16 + x]; barrier(CLK_LOCAL_MEM_FENCE); b[y * 16 + x] = t[x * WIDTH + y]; }
SMALL(32)
SMALL(17)
kernel void polynomial(global float* b) {
    float v = get_global_id(0);
    for (int k = 0; k < 200; ++k) v = fma(v, 1.5f, 0.25f);
    b[get_global_id(0)] = v;
}
kernel void division(global const int* a, global int* b, int n) {
    int v = get_global_id(0) + n, s = 0;
    for (int k = 1; k <= 40; ++k) s += v / (a[0] + k);
    b[get_global_id(0)] = s;
}
kernel void chase(global const int* a, global int* b) {
    int p = get_global_id(0);
    for (int k = 0; k < 50; ++k) p = a[p];
    b[get_global_id(0)] = p;
}
kernel void odd_lanes(global float* b) {
    float v = get_global_id(0);
    if (get_global_id(0) & 1) for (int k = 0; k < 1000; ++k) v = fma(v, 1.5f, 0.25f);
    b[get_global_id(0)] = v;
}
kernel void loops_in_loops(global float* b) {
    int i = get_global_id(0);
    float v = i;
    for (int outer = 0; outer < 2; ++outer)
        for (int k = 0; k < (((i + outer) & 1) ? 1000 : 1); ++k) v = fma(v, 1.5f, 0.25f);
    b[i] = v;
}
kernel void one_address(global int* h) { atomic_inc(h); }
kernel void ten_addresses(global int* h) { atomic_inc(h + get_global_id(0) % 10); }
kernel void functions(global const float* a, global double* b) {
    int i = get_global_id(0);
    b[i] = native_sin(a[i]) + sqrt((float)a[i]) * (double)i;
}
float third(float v) { for (int k = 0; k < 3; ++k) v = fma(v, v, 1.0f); return v; }
kernel void calls(global float* b) { int i = get_global_id(0); float v = i; if (i % 2) v = third(v); b[i] = v; }
kernel void vectors(global float4* b) {
    int i = get_global_id(0); b[i] = fma((float4)(i), (float4)(2), (float4)(1)) * 3; }
kernel void through_local(global const int* a, global int* b) {
    local int t[256];
    int i = get_global_id(0), l = get_local_id(0);
    t[l] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[i] = a[t[255 - l]];
}
kernel void pointers(global const float* a, global float* b) {
    int i = get_global_id(0); float c; float s = sincos(a[i], &c); b[i] = s + c; }
kernel void copied(global const float* a, global float* b) {
    local float t[256];
    event_t done = async_work_group_copy(t, a + 256 * get_group_id(0), 256, 0);
    wait_group_events(1, &done);
    b[get_global_id(0)] = t[get_local_id(0)];
}
__attribute__((noinline)) float meet(void) { barrier(CLK_LOCAL_MEM_FENCE); return get_global_id(0) * 2.0f; }
kernel void meets(global float* b) { float v = meet(); b[get_global_id(0)] = v + meet(); }
constant float table[4] = {1, 2, 3, 4};
kernel void constants(constant float* a, global float* b) {
    int i = get_global_id(0); b[i] = a[i] + vload2(i, a).y + table[i & 3]; }
kernel void threes(global const float3* a, global float3* b) { int i = get_global_id(0) / 4; b[i] = a[i] * 2; }
kernel void elements(global const float4* a, global float4* b) {
    int i = get_global_id(0) / 4; float4 v = a[i]; b[i] = (float4)(v.w * v.x, v.y, v.x + v.z, 1); }
kernel void corners(global const float* a, global float4* b) {
    int i = get_global_id(0) / 4; b[i] = (float4)(a[i], 1, 2, a[i + 1]); }
struct pair { float first; int second; };
kernel void by_value(struct pair p, global float* b) { b[get_global_id(0)] = p.first * p.second; }
kernel void halves(global const half* a, global half* b) {
    int i = get_global_id(0); vstore_half2(vload_half2(i, a), i, b); }
kernel void divisors(global int* b, int n) { int i = get_global_id(0); b[i] = i / 10 + i % 8 + 70000 / (i + n); }
kernel void quarters(global int* b) {
    int i = get_global_id(0), s = i;
    switch (i & 3) { case 0: s = i * 3; break; case 1: s = i * 5; break; case 2: s = i / 3; break; }
    b[i] = s;
}
kernel void eighths(global int* b, int n) {
    int i = get_global_id(0), times = 0, s = n;
    switch (i & 7) { case 1: times = 100; break; case 2: times = 200; break; case 3: times = 300; break;
        case 4: times = 400; break; case 5: times = 500; break; case 6: times = 600; break; }
    for (int k = 0; k < times; ++k) s = (s + 70000) / (n + k);
    b[i] = s;
}
kernel void signed_bits(global float* b) {
    int i = get_global_id(0); int two = i << 30 >> 30; float v = i;
    if (two == -2) for (int k = 0; k < 10; ++k) v = fma(v, 0.5f, 1.5f);
    b[i] = v;
}
kernel void subtracts(global const float* a, global float* b) {
    int i = get_global_id(0); b[i] = -(b[i] - a[i] * a[i]) - 1; }
kernel void says(global float* b) { int i = get_global_id(0); b[i] = i; if (i == 0) printf("said %d\n", i); }
struct sixteen { int of[16]; };
kernel void through_private(global const struct sixteen* a, global int* b) {
    int i = get_global_id(0) / 16; struct sixteen own = a[i]; b[i] = own.of[i & 15]; }
kernel void some_wait(global float* b) {
    int l = get_local_id(0); if (l < 32) barrier(CLK_LOCAL_MEM_FENCE); b[get_global_id(0)] = l; }
kernel void grows(global const float* a, global float* b) {
    float sum = 0; for (int k = 0; k <= get_group_id(0); ++k) sum += a[k]; b[get_global_id(0)] = sum; }
kernel void grows_few(global float* b) {
    float v = 1; for (int k = 0; k < 200 * ((int)get_group_id(0) + 1); ++k) v = fma(v, 0.5f, 1.5f);
    b[get_global_id(0)] = v; }
kernel void shared(global const float* a, global float* b) { b[get_global_id(0)] = a[0]; }
kernel void whole(global float* b) { b[get_global_id(0)] = 1; }
"""


class CountTest(lab.LabTest):
    def counts(self, *args, **more):
        """By kernel: the lines of --json, each one of the schema."""
        self.lab("count", *args, "--json", "counts.jsonl", "--force", **more)
        out = {}
        for line in self.records("counts.jsonl"):
            if "refused" not in line:
                out[line["kernel"]] = line
        return out

    def of(self, *kernels, options=()):
        (self.folder / "k.cl").write_text(KERNELS)
        found = self.counts(*(f"k.cl:{kernel}" for kernel in kernels), *options)
        self.assertEqual(set(found), set(kernels))
        return found

    def operations(self, counts):
        return {(o["kind"], o["bits"], o.get("function", "")): o["per_item"]["mean"] for o in counts["operations"]}

    def per_request(self, of, units):
        return of[units]["mean"] / of["requests"]["mean"]


def main():
    if not lab.OCLGRIND_LIBRARY or not os.path.exists(PLUGIN):
        print("skipped: this build has no plugin that counts; apt-get install oclgrind liboclgrind-dev llvm-14-dev")
        raise SystemExit(lab.SKIPPED)
    lab.main()
