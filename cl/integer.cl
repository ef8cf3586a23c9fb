// integer: what integer operations of each kind cost. The host defines
//   TYPE     uint or ulong
//   INTEGER_MULTIPLY, INTEGER_DIVIDE or INTEGER_DOT
// Four chains per work-item, each waiting only for itself, so that the units and not the latency are the limit.

#if defined(INTEGER_MULTIPLY)
// A square cannot be joined with the next one, as factors that are all the same can.
#define STEP(v, s) v = v * v + s;
#elif defined(INTEGER_DIVIDE)
// `s` has more than half of the bits of `key`'s, so divisor and quotient need their full width.
#define STEP(v, s) v = (key / (v | 1)) ^ s;
#elif defined(INTEGER_DOT)
// Four products of bytes and their sum: one instruction where the device has it, under the name that its compiler knows.
#if defined(LAB_NVIDIA) && (!defined(LAB_SM) || LAB_SM >= 61)
#define STEP(v, s) asm("dp4a.u32.u32 %0, %0, %1, %0;" : "+r"(v) : "r"(s));
#elif defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
#define STEP(v, s) v += dot_4x8packed_uu_uint(v, s);
#elif defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx942__) || \
    defined(__gfx1011__) || defined(__gfx1012__) || defined(__gfx1030__) || defined(__gfx1031__) ||                     \
    defined(__gfx1032__) || defined(__gfx1100__) || defined(__gfx1101__) || defined(__gfx1102__) ||                     \
    defined(__gfx1103__) || defined(__gfx1150__) || defined(__gfx1151__) || defined(__gfx1200__) || defined(__gfx1201__)
#define STEP(v, s) v = __builtin_amdgcn_udot4(v, s, v, false);
#else
#define BYTES(a, b, i) ((a) >> 8 * (i) & 255) * ((b) >> 8 * (i) & 255)
#define STEP(v, s) v += BYTES(v, s, 0) + BYTES(v, s, 1) + BYTES(v, s, 2) + BYTES(v, s, 3);
#endif
#endif

#ifdef STEP
kernel void KERNEL(global const TYPE* restrict start, global TYPE* restrict out, TYPE key, uint period, int trips) {
    const uint first = 4 * ((uint)get_global_id(0) % period);
    const TYPE s0 = start[first], s1 = start[first + 1], s2 = start[first + 2], s3 = start[first + 3];
    TYPE v0 = s0, v1 = s1, v2 = s2, v3 = s3;
    for (int i = 0; i < trips; ++i) {
        STEP(v0, s0) STEP(v1, s1) STEP(v2, s2) STEP(v3, s3)
        STEP(v0, s0) STEP(v1, s1) STEP(v2, s2) STEP(v3, s3)
        STEP(v0, s0) STEP(v1, s1) STEP(v2, s2) STEP(v3, s3)
        STEP(v0, s0) STEP(v1, s1) STEP(v2, s2) STEP(v3, s3)
    }
    const size_t at = 4 * get_global_id(0);
    out[at] = v0;
    out[at + 1] = v1;
    out[at + 2] = v2;
    out[at + 3] = v3;
}
#endif
