// integer: what integer operations of each kind cost. The host defines
//   TYPE     uint or ulong
//   INTEGER_MULTIPLY, INTEGER_DIVIDE or INTEGER_DOT
// Four chains per work-item, each waiting only for itself, so that the units and not the latency are the limit.

#if defined(INTEGER_MULTIPLY)
// The sum keeps a product from being joined with the next one. With these factors and odd sums the chain goes through all numbers.
#define FACTOR const TYPE a = (key & ~(TYPE)7) | 5;
#define STEP(j) v##j = v##j * a + (s##j | 1);
#elif defined(INTEGER_DIVIDE)
// `s` has more than half of the bits of `key`'s, so divisor and quotient need their full width.
// A chain of divisions alone soon forgets where it began: a sum shows each of them.
#define STEP(j) v##j = (key / (v##j | 1)) ^ s##j; t##j += v##j;
#define RESULT(j) t##j
#elif defined(INTEGER_DOT)
// Four products of bytes and their sum: one instruction where the device has it, under the name that its compiler knows.
#if defined(LAB_NVIDIA) && (!defined(LAB_SM) || LAB_SM >= 61)
#define STEP(j) asm("dp4a.u32.u32 %0, %0, %1, %0;" : "+r"(v##j) : "r"(s##j));
#elif defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
#define STEP(j) v##j += dot_4x8packed_uu_uint(v##j, s##j);
#elif defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx942__) || \
    defined(__gfx1011__) || defined(__gfx1012__) || defined(__gfx1030__) || defined(__gfx1031__) ||                     \
    defined(__gfx1032__) || defined(__gfx1100__) || defined(__gfx1101__) || defined(__gfx1102__) ||                     \
    defined(__gfx1103__) || defined(__gfx1150__) || defined(__gfx1151__) || defined(__gfx1200__) || defined(__gfx1201__)
#define STEP(j) v##j = __builtin_amdgcn_udot4(v##j, s##j, v##j, false);
#else
#define BYTES(a, b, i) ((a) >> 8 * (i) & 255) * ((b) >> 8 * (i) & 255)
#define STEP(j) v##j += BYTES(v##j, s##j, 0) + BYTES(v##j, s##j, 1) + BYTES(v##j, s##j, 2) + BYTES(v##j, s##j, 3);
#endif
#endif

#ifdef STEP
#if !defined(FACTOR)
#define FACTOR
#endif
#if !defined(RESULT)
#define RESULT(j) v##j
#endif
#define ROUND STEP(0) STEP(1) STEP(2) STEP(3)
kernel void KERNEL(global const TYPE* restrict start, global TYPE* restrict out, TYPE key, uint period, int trips) {
    const uint first = 4 * ((uint)get_global_id(0) % period);
    const TYPE s0 = start[first], s1 = start[first + 1], s2 = start[first + 2], s3 = start[first + 3];
    TYPE v0 = s0, v1 = s1, v2 = s2, v3 = s3, t0 = 0, t1 = 0, t2 = 0, t3 = 0;
    FACTOR
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
        ROUND ROUND ROUND ROUND
    }
    const size_t at = 4 * get_global_id(0);
    out[at] = RESULT(0);
    out[at + 1] = RESULT(1);
    out[at + 2] = RESULT(2);
    out[at + 3] = RESULT(3);
}
#endif
