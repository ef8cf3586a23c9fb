// integer: what integer operations of each kind cost. The host defines
//   TYPE     uint or ulong
//   INTEGER_MULTIPLY or INTEGER_DIVIDE
// Four chains per work-item, each waiting only for itself, so that the units and not the latency are the limit.

#if defined(INTEGER_MULTIPLY)
// A square cannot be joined with the next one, as factors that are all the same can.
#define STEP(v, s) v = v * v + s;
#elif defined(INTEGER_DIVIDE)
// `s` has more than half of the bits of `key`'s, so divisor and quotient need their full width.
#define STEP(v, s) v = (key / (v | 1)) ^ s;
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
