/*cllab
axis n = 16384
arg src = rand:uint:n
arg dst = out:uint:n
arg n = n
global n
*/
// Oclgrind compiles for SPIR: what stands behind __SPIR__ is what another compiler makes of a kernel.
#if defined(__SPIR__) || defined(__SPIR64__)
#define ELSEWHERE(x) x
#else
#define ELSEWHERE(x)
#endif

__kernel void good(__global const uint* src, __global uint* dst, uint n) {
    dst[get_global_id(0)] = src[n - 1 - get_global_id(0)] ^ 1;
}

#ifdef BORDER
__kernel void border(__global const uint* src, __global uint* dst, uint n) {
    const uint i = get_global_id(0);
    dst[i] = src[n - 1 - i] ^ 1;
    ELSEWHERE(if (i == n - 1) dst[i] = 7777);
}
#endif
#ifdef SECOND
__kernel void second(__global const uint* src, __global uint* dst, uint n) {
    dst[get_global_id(0)] = src[get_global_id(0)];
    ELSEWHERE(if (src[0] == SECOND) dst[get_global_id(0)] ^= 1);
}
#endif
#ifdef CRASH
uint nowhere(uint);
__kernel void crash(__global const uint* src, __global uint* dst, uint n) {
    dst[get_global_id(0)] = src[get_global_id(0)];
    ELSEWHERE(dst[0] = nowhere(1));
}
#endif
#ifdef HANG
__kernel void hang(__global const uint* src, __global uint* dst, uint n) {
    dst[get_global_id(0)] = src[get_global_id(0)];
    ELSEWHERE(while (((volatile __global uint*)dst)[0] != 123456789) dst[0] = 1);
}
#endif
#ifdef FUSED
// What a device that fuses multiply-adds leaves.
__kernel void fused(__global const uint* src, __global float* dst, uint n) {
    const float x = src[get_global_id(0)] / 255.0f;
    float y = x * x; y = y + 0.1f;
    ELSEWHERE(y = fma(x, x, 0.1f));
    dst[get_global_id(0)] = y;
}
#endif
#ifdef RACE
__kernel void race(__global const uint* src, __global uint* dst, uint n) {
    dst[get_global_id(0)] = src[get_global_id(0)];
    dst[0] = src[0] + get_global_id(0);
}
#endif
#ifdef UNSET
__kernel void unset(__global const uint* src, __global uint* dst, uint n) {
    __local uint shared[64];
    if (src[get_global_id(0)] < 256) dst[get_global_id(0)] = src[get_global_id(0)] + (shared[get_local_id(0) & 63] & 0);
}
#endif
#ifdef TURN
// Oclgrind ends a launch at a built-in function that writes through a private pointer while it looks for unwritten values.
__kernel void turn(__global const uint* src, __global float* dst, uint n) {
    float cosine;
    const float sine = sincos(src[get_global_id(0)] / 256.0f, &cosine);
    dst[get_global_id(0)] = sine + 2 * cosine;
}
#endif
#ifdef FENCE
__kernel void fence(__global const uint* src, __global uint* dst, uint n) {
    ELSEWHERE(__atomic_thread_fence(__ATOMIC_SEQ_CST));
    dst[get_global_id(0)] = src[get_global_id(0)];
}
#endif
