// muladd.cl: one multiply-add and one store, the least code from which to read how a device addresses memory:
// everything else in the disassembly is get_global_id and the arguments.
#if defined(MULADD_FMA)
#define MULADD(a, b, c) fma(a, b, c)  // one rounding
#else
#define MULADD(a, b, c) ((a) * (b) + (c))  // two roundings: lab.h turns contraction off
#endif

__kernel void KERNEL(__global float* restrict out, float a, float b, float c) {
    a = MULADD(a, b, c);
    out[get_global_id(0)] = a;
}
