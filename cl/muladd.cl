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

/* family
question: What does a device make of one multiply-add and one store?

axis items: work-items, each of which writes one float
  unit: work-item
  whole: 1 to 256Mi
  usual: 1048576
  only: fma, mad
axis offset: offset of the NDRange, which makes %envreg3 of PTX nonzero
  unit: work-item
  whole: 0 to 256Mi
  usual: 0
  only: fma, mad
axis local: work-items of the one group; auto is 256
  unit: work-item
  whole: 1 to 4Ki
  only: local

variant fma: fma(a, b, c): one rounding.
variant mad: a * b + c with contraction off: two roundings.
variant local: fma by one group that writes at its local id: no group size and number, no offset to add.
*/
