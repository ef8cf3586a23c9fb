// Text of which clang makes functions of LLVM, as a rotation of two shifts.
/*cllab
axis n = 1024
arg a = rand:n
arg b = rand:n
arg dst = out:n
arg by = 5
global n
kernel turned
arg a = rand:n:0:4294967295
arg b = rand:n:0:4294967295
kernel turned_right
arg a = rand:n:0:9223372036854775807
kernel wide
arg a = rand:n:0:9223372036854775807
*/
#define ANY(x) ((x) * 0x9e3779b9u)  // of a small number: a large one, half of them negative
kernel void turned(global const uint* a, global const uint* b, global uint* dst, uint by) {
    const size_t i = get_global_id(0);
    const uint x = a[i], y = b[i];
    dst[i] = ((x << by) | (x >> (32 - by))) ^ ((x << 7) | (y >> 25)) ^ ((x << (by & 31)) | (y >> (-by & 31)));
}
kernel void turned_right(global const ulong* a, global ulong* dst, ulong by) {
    const size_t i = get_global_id(0);
    const ulong x = a[i];
    dst[i] = (x >> by) | (x << (64 - by));
}
kernel void bytes(global const uchar* a, global uchar* dst) {
    const size_t i = get_global_id(0);
    const uchar x = a[i];
    dst[i] = (uchar)(x << 3) | (x >> 5);
}
kernel void wide(global const ulong2* a, global ulong2* dst) {
    const size_t i = get_global_id(0);
    const ulong2 x = a[i];
    dst[i] = (x << 3ul) | (x >> 61ul);
}
kernel void magnitude(global const int* a, global int* dst) {
    const size_t i = get_global_id(0);
    const int x = ANY(a[i]);
    dst[i] = x < 0 ? -x : x;
}
kernel void at_least_none(global const uint* a, global const uint* b, global uint* dst) {
    const size_t i = get_global_id(0);
    const uint x = ANY(a[i]), y = ANY(b[i]);
    dst[i] = x > y ? x - y : 0;
}
kernel void at_most_all(global const uint* a, global const uint* b, global uint* dst) {
    const size_t i = get_global_id(0);
    const uint x = ANY(a[i]), y = ANY(b[i]);
    dst[i] = x + y < x ? 0xffffffffu : x + y;
}
kernel void within(global const int* a, global const int* b, global int* dst) {
    const size_t i = get_global_id(0);
    const int most = 2147483647, least = -most - 1;
    const long sum = (long)(int)ANY(a[i]) + (int)ANY(b[i]);
    dst[i] = sum > most ? most : sum < least ? least : sum;
}
kernel void apart_within(global const int* a, global const int* b, global int* dst) {
    const size_t i = get_global_id(0);
    const int most = 2147483647, least = -most - 1;
    const long difference = (long)(int)ANY(a[i]) - (int)ANY(b[i]);
    dst[i] = difference > most ? most : difference < least ? least : difference;
}
kernel void ones(global const uint* a, global uint* dst) {
    const size_t i = get_global_id(0);
    dst[i] = __builtin_popcount(ANY(a[i]));
}
kernel void zeros(global const uint* a, global uint* dst) {
    const size_t i = get_global_id(0);
    dst[i] = 64 * __builtin_clz(a[i] | 1) + __builtin_ctz(a[i] << 4 | 1 << 20);
}
kernel void mirrored(global const uint* a, global const ushort* b, global uint* dst) {
    const size_t i = get_global_id(0);
    dst[i] = __builtin_bitreverse32(ANY(a[i])) ^ __builtin_bitreverse16(b[i]);
}
static void put(global uint* restrict to, global const uint* restrict from, size_t i) {
    to[i] = from[i] > 5 ? 3 * from[i] : 9;
}
kernel void apart(global const uint* a, global uint* dst) { put(dst, a, get_global_id(0)); }
