// muladd.cl: one multiply-add and one store, the least code from which to read how a device addresses memory:
// everything else in the disassembly is get_global_id and the arguments.
#if !defined(MULADD_MAD)
#define MULADD(a, b, c) fma(a, b, c)  // one rounding
#else
#define MULADD(a, b, c) ((a) * (b) + (c))  // two roundings: lab.h turns contraction off
#endif

#ifdef MULADD_LOCAL
// As CUDA's smallest kernel has it: the place in the group is the place in memory, so only one group may run.
#define PLACE get_local_id(0)
#else
#define PLACE get_global_id(0)
#endif

__kernel void KERNEL(__global float* restrict out, float a, float b, float c) {
    a = MULADD(a, b, c);
    out[PLACE] = a;
}
