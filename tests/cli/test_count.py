"""`cllab count`: what known kernels execute, in numbers that were worked out by hand; and what it says when it cannot count."""
import json
import os
import shutil

import lab

try:
    import jsonschema
except ImportError:
    jsonschema = None

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
                  "kernel small17\nglobal 16,16\nlocal 16,16\nkernel whole\nglobal 256\nkernel grows_few\nglobal 4096\n" \
                  "kernel by_value\narg p = {float:0.75, int:2}" + r"""
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
kernel void vectors(global float4* b) { int i = get_global_id(0); b[i] = fma((float4)(i), (float4)(2), (float4)(1)) * 3; }
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

IMAGES = """/*cllab
arg in = rand:r32f:64,64
arg out = out:4096
global 64,64
*/
kernel void pixels(read_only image2d_t in, global float* out) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    int x = get_global_id(0), y = get_global_id(1);
    out[y * 64 + x] = read_imagef(in, s, (int2)(x, y)).x + read_imagef(in, s, (int2)(x + 1, y)).x +
                      read_imagef(in, s, (int2)(x + 2, y)).x;
}
"""

WAVES = """/*cllab
arg a = rand:256
arg b = out:256
global 256
local 256
*/
kernel void all_pairs(global const float* a, global float* b) {
    float sum = 0;
    for (int k = 0; k < 60000; ++k) sum += a[k % 256] * a[get_global_id(0)];
    b[get_global_id(0)] = sum;
}
"""

LONG = """/*cllab
axis n = 1Mi
arg a = rand:n
arg b = out:n
arg n = n
global n
local 256
*/
kernel void all_pairs(global const float* a, global float* b, int n) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[k] * a[get_global_id(0)];
    b[get_global_id(0)] = sum;
}
"""


class Count(lab.LabTest):
    def counts(self, *args, **more):
        """By kernel: the lines of --json, each one of the schema."""
        self.lab("count", *args, "--json", "counts.jsonl", "--force", **more)
        out = {}
        schema = json.loads((lab.SOURCE / "tools" / "counts.schema.json").read_text())
        for line in self.records("counts.jsonl"):
            if jsonschema:
                jsonschema.validate(line, schema)
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

    def test_arithmetic_is_counted_by_kind_and_width(self):
        found = self.of("polynomial", "division", "functions", "vectors", "calls")
        self.assertEqual(self.operations(found["polynomial"])["float_fma", 32, ""], 200)
        self.assertEqual(self.operations(found["division"])["integer_divide", 32, ""], 40)
        functions = self.operations(found["functions"])
        self.assertEqual({name for kind, _, name in functions if kind == "float_function"}, {"native_sin", "sqrt"})
        self.assertEqual(functions["float_fma", 64, ""], 1)
        self.assertEqual(functions["conversion", 64, ""], 3)
        self.assertEqual(self.operations(found["vectors"])["float_fma", 32, ""], 4)
        self.assertEqual(self.operations(found["vectors"])["float_multiply", 32, ""], 4)
        self.assertEqual(self.operations(found["calls"])["float_fma", 32, ""], 1.5)

    def test_divisions_by_constants_are_none_and_halves_are_converted(self):
        found = self.of("divisors", "halves")
        divisors = self.operations(found["divisors"])
        self.assertEqual((divisors["integer_divide", 32, ""], divisors["integer_multiply", 32, ""]), (1, 1))
        halves = self.operations(found["halves"])
        self.assertEqual((halves["conversion", 32, ""], halves["conversion", 16, ""]), (2, 2))

    def test_functions_that_access_memory_or_take_no_argument_hide_nothing_behind_them(self):
        found = self.of("pointers", "copied", "meets")
        for kernel in found:
            self.assertEqual(found[kernel]["global"]["store_bytes"]["mean"], 4, kernel)
        self.assertEqual(found["pointers"]["private"]["store_bytes"]["mean"], 4)
        copied = found["copied"]
        self.assertEqual([copied["local"][of]["mean"] for of in ("load_bytes", "store_bytes")], [4, 4])
        self.assertEqual((copied["private"]["loads"]["mean"], copied["private"]["stores"]["mean"]), (0, 0), "its event")
        self.assertEqual(found["meets"]["barriers"]["mean"], 2)
        self.assertEqual(self.operations(found["meets"])["float_multiply", 32, ""], 2)

    def test_a_negation_is_part_of_another_operation(self):
        operations = self.operations(self.of("subtracts")["subtracts"])
        self.assertEqual((operations["float_add", 32, ""], operations["float_fma", 32, ""]), (1, 1))

    def test_what_is_printed_is_no_constant_memory(self):
        self.assertEqual(self.of("says")["says"]["constant"]["loads"]["mean"], 0)

    def test_a_barrier_that_some_never_reach_is_named(self):
        counts = self.of("some_wait")["some_wait"]
        self.assertEqual([n["what"] for n in counts["not_counted"]], ["waiting at a barrier that some never reach"])

    def test_constant_memory_is_not_global_memory(self):
        counts = self.of("constants")["constants"]
        self.assertEqual(counts["constant"]["load_bytes"]["mean"], 4 + 8 + 4)
        self.assertEqual((counts["global"]["load_bytes"]["mean"], counts["reads"]["requests"]["mean"]), (0, 0))

    def test_elements_of_a_vector_are_one_access(self):
        found = self.of("threes", "elements", "corners")
        for kernel, of, bytes in (("threes", "store", 12), ("elements", "store", 16), ("elements", "load", 16),
                                  ("corners", "store", 16)):
            accesses = found[kernel]["global"]
            self.assertEqual((accesses[of + "s"]["mean"], accesses[of + "_bytes"]["mean"]), (1, bytes), (kernel, of))
        self.assertEqual(self.per_request(found["threes"]["writes"], "sectors"), 4, "eight vectors, four lanes each")

    def test_arguments_are_no_accesses(self):
        self.assertEqual(self.of("by_value")["by_value"]["private"]["loads"]["mean"], 0)

    def test_integers_that_the_simulator_computes_wrongly_are_named(self):
        counts = self.of("quarters")["quarters"]
        self.assertEqual([n["what"] for n in counts["not_counted"]], ["what depends on integers of 2 bits"])

    def test_requests_touch_as_many_sectors_as_their_addresses_lie_in(self):
        found = self.of("copy", "gather", "transpose", "shared")
        for kernel, read, written in (("copy", 4, 4), ("gather", 32, 4), ("transpose", 4, 16), ("shared", 1, 4)):
            self.assertEqual(self.per_request(found[kernel]["reads"], "sectors"), read, kernel)
            self.assertEqual(self.per_request(found[kernel]["writes"], "sectors"), written, kernel)
            self.assertEqual(found[kernel]["global"]["load_bytes"]["mean"], 4)
            self.assertEqual(found[kernel]["global"]["store_bytes"]["mean"], 4)
        self.assertEqual(self.per_request(found["transpose"]["writes"], "least_sectors"), 4)
        self.assertEqual(found["shared"]["footprint"][-1]["read_sectors"], 1)
        groups = [f["sectors"] for f in found["copy"]["footprint"]]
        self.assertEqual(groups, [64 * n for n in range(1, len(groups) + 1)])

    def test_lanes_that_meet_in_a_bank_take_turns(self):
        found = self.of("tile32", "tile33", "small32", "small17")
        mean = {k: sum(c[side]["ways"]["mean"] for side in ("local_reads", "local_writes")) /
                sum(c[side]["requests"]["mean"] for side in ("local_reads", "local_writes")) for k, c in found.items()}
        self.assertEqual((mean["small32"], mean["small17"]), (9, 2))
        self.assertEqual(self.per_request(found["tile32"]["local_reads"], "ways"), 32)
        self.assertEqual(self.per_request(found["tile33"]["local_reads"], "ways"), 1)
        for counts in found["tile32"], found["tile33"]:
            self.assertEqual(self.per_request(counts["local_writes"], "ways"), 1)
            self.assertEqual(counts["barriers"]["mean"], 1)
            self.assertEqual(counts["longest"]["local_loads"], 1)

    def test_atomics_on_one_address_take_turns(self):
        found = self.of("one_address", "ten_addresses")
        one, ten = found["one_address"]["global_atomics"], found["ten_addresses"]["global_atomics"]
        self.assertEqual((one["number"]["mean"], one["most_in_wave"], one["most_in_group"], one["addresses"]), (1, 32, 256, 1))
        self.assertEqual(one["most_on_address"], found["one_address"]["counted_items"])
        self.assertEqual((ten["most_in_wave"], ten["most_in_group"], ten["addresses"]), (4, 26, 10))

    def test_a_chain_is_as_long_as_its_hops(self):
        found = self.of("chase", "polynomial", "copy", "through_local", "copied", "through_private")
        self.assertEqual(found["through_local"]["longest"]["loads"], 2, "the chain goes on behind local memory")
        self.assertEqual(found["chase"]["longest"]["loads"], 50)
        self.assertEqual(found["copied"]["longest"]["loads"], 1, "the copy's")
        self.assertEqual(found["through_private"]["path"]["loads"], 1)
        self.assertEqual(found["copy"]["longest"]["loads"], 1)
        self.assertEqual(found["polynomial"]["longest"]["arithmetic"], 201, "a conversion, and each fma")

    def test_lanes_that_go_another_way_are_idle(self):
        found = self.of("odd_lanes", "loops_in_loops", "polynomial")
        self.assertEqual(found["polynomial"]["lanes_active"], 1)
        self.assertAlmostEqual(found["odd_lanes"]["lanes_active"], 0.5, delta=0.01)
        # Each lane's two inner loops have 1001 trips, and a wave's 2000: the long ones of even and odd lanes are apart.
        self.assertAlmostEqual(found["loops_in_loops"]["lanes_active"], 0.5, delta=0.01)
        narrow = self.of("odd_lanes", options=("--wave", "1"))["odd_lanes"]
        self.assertEqual((narrow["wave"], narrow["lanes_active"]), (1, 1))

    def test_a_launch_of_few_groups_is_counted_whole_and_a_large_one_in_part(self):
        found = self.of("copy", "whole")
        self.assertEqual((found["whole"]["groups"], found["whole"]["counted_groups"]), (1, 1))
        self.assertEqual((found["copy"]["groups"], found["copy"]["counted_groups"]), (256, 16))
        self.assertEqual(found["copy"]["items"], 65536)

    def test_groups_stand_for_a_launch_whose_work_grows_from_group_to_group(self):
        loads = self.of("grows")["grows"]["global"]["loads"]
        self.assertEqual((loads["low"], loads["high"]), (1, 256))
        self.assertAlmostEqual(loads["mean"], 128.5, delta=6)
        few = self.of("grows_few", options=("--count-budget", "4"))["grows_few"]
        self.assertIn(few["counted_groups"], range(3, 15), "of 16")
        self.assertAlmostEqual(self.operations(few)["float_fma", 32, ""] / 8.5 / 200, 1, delta=0.2)

    def test_variants_stand_side_by_side_and_rows_that_differ_are_marked(self):
        (self.folder / "k.cl").write_text(KERNELS)
        out, err = self.lab("count", "k.cl:copy", "k.cl:gather")
        self.assertRegex(out, r"(?m)^ +k_copy +k_gather$")
        self.assertRegex(out, r"(?m)^\* sectors per read \(least\) +4 \(4\) +32 \(4\)$")
        self.assertRegex(out, r"(?m)^  bytes read +4 +4$")
        self.assertRegex(out, r"k\.cl:\d+: 36 sectors \(least 8\)")

    def test_families_of_the_lab_are_counted(self):
        found = self.counts("saxpy_*", "banks_*")
        self.assertEqual({line["id"].split("_")[0] for line in found.values()}, {"saxpy", "banks"})
        wide, narrow = found["saxpy_w512"], found["saxpy_w32"]
        self.assertEqual(wide["global"]["load_bytes"]["mean"], 16 * narrow["global"]["load_bytes"]["mean"])

    def test_kernels_of_one_operation_share_the_budget_and_the_first_depends_on_none(self):
        small = ("--axis", "images=8", "--axis", "channels=8")
        found = self.counts("batchnorm_channel_wide", *small, "--count-budget", "2")
        self.assertEqual({k: c["launch"] for k, c in found.items()},
                         dict.fromkeys(("batchnorm_partial", "batchnorm_apply"), "one of 2 launches"))
        self.assertLess(found["batchnorm_partial"]["seconds"], 1.1)
        found = self.counts("reduce_tree4")
        named = {kernel: [n["what"] for n in c.get("not_counted", [])] for kernel, c in found.items()}
        self.assertEqual(named, {"reduce_tree4": [],
                                 "reduce_second": ["what depends on the data of launches before this one"]})

    def test_images_say_what_is_not_counted(self):
        (self.folder / "i.cl").write_text(IMAGES)
        counts = self.counts("i.cl")["pixels"]
        self.assertEqual([n["what"] for n in counts["not_counted"]], ["the bytes of 3 image accesses per item"])
        self.assertEqual(self.operations(counts)["float_add", 32, ""], 2, "of one element each")

    def test_what_takes_too_long_is_counted_at_a_smaller_point(self):
        (self.folder / "long.cl").write_text(LONG)
        found = self.counts("long.cl")["all_pairs"]
        self.assertEqual(found["asked_point"], {"n": 1 << 20})
        n = found["point"]["n"]
        self.assertLess(n, 1 << 20)
        self.assertEqual(self.operations(found)["float_fma", 32, ""], n)
        points = [g["point"]["n"] for g in found["growth"]]
        self.assertEqual(points, sorted(points))
        self.assertEqual([g["flops"] for g in found["growth"]], [2 * p for p in points])
        self.assertEqual(points[-1], n)

    def test_whole_waves_count_where_a_group_takes_too_long(self):
        (self.folder / "long.cl").write_text(WAVES)
        found = self.counts("long.cl")["all_pairs"]
        self.assertEqual(found["counted_items"] % 32, 0)
        self.assertLess(found["counted_items"], 256)
        self.assertEqual(self.operations(found)["float_fma", 32, ""], 60000)
        self.assertGreater(found["lines"][0]["instructions"], 0.9 * found["issued"]["mean"])
        self.assertIn("the rest of the first group", [n["what"] for n in found["not_counted"]])

    def test_a_kernel_without_axes_that_takes_too_long_is_a_sentence(self):
        endless = "/*cllab\narg b = out:256\nglobal 256\nlocal 256\n*/\nkernel void spin(global int* b) {\n" \
                  "  volatile int k = 0; while (k == 0) k = 0; b[0] = k; }\n"
        (self.folder / "spin.cl").write_text(endless)
        _, err = self.lab("count", "spin.cl", "--count-budget", "1", status=1)
        self.assertIn("spin_spin: not counted: a work-group takes longer to simulate than --count-budget allows, 1 s", err)

    def test_what_is_missing_is_named(self):
        (self.folder / "k.cl").write_text(KERNELS)
        env = self.environment(CLLAB_COUNT_PLUGIN="nowhere.so")
        self.assert_one_sentence(self.lab("count", "k.cl:copy", env=env, status=3)[1], "nowhere.so")
        moved = self.folder / "cllab"
        shutil.copy(lab.CLLAB, moved)
        _, err = self.lab("count", "k.cl:copy", program=str(moved), status=3)
        self.assert_one_sentence(err, "apt-get install liboclgrind-dev llvm-14-dev")
        broken = self.folder / "broken.so"
        broken.write_text("no library")
        env = self.environment(CLLAB_COUNT_PLUGIN=str(broken))
        self.assertIn("did not load the plugin", self.lab("count", "k.cl:copy", env=env, status=1)[1])

    def test_a_wrong_command_line_is_refused(self):
        self.assert_one_sentence(self.lab("count", status=2)[1], "PATTERN")
        self.assert_one_sentence(self.lab("count", "no_such", status=2)[1], "no_such")
        self.assert_one_sentence(self.lab("count", "saxpy_w32", "--device", "cpu", status=2)[1], "--device")
        self.assert_one_sentence(self.lab("count", "saxpy_w32", "--wave", "0", status=2)[1], "--wave")

    def test_a_crash_of_the_simulator_is_a_sentence(self):
        (self.folder / "lacks.cl").write_text("/*cllab\narg b = out:256\nglobal 256\n*/\n"
                                              "kernel void lacks(global int* b) { b[0] = sub_group_reduce_add(3); }\n")
        _, err = self.lab("count", "lacks.cl", status=1)
        self.assert_one_sentence(err, "the simulator crashed", "it may lack a function")

    def test_a_text_that_does_not_build_is_a_sentence(self):
        (self.folder / "bad.cl").write_text("/*cllab\narg b = out:256\nglobal 256\n*/\nkernel void bad(global int* b) { b[0] = nothing; }\n")
        _, err = self.lab("count", "bad.cl", status=None)
        self.assertIn("nothing", err)


if __name__ == "__main__":
    if not lab.OCLGRIND_LIBRARY or not os.path.exists(os.path.join(os.path.dirname(lab.CLLAB), "cllab-count-plugin.so")):
        print("skipped: this build has no plugin that counts; apt-get install oclgrind liboclgrind-dev llvm-14-dev")
        raise SystemExit(lab.SKIPPED)
    lab.main()
