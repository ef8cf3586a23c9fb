// saxpy: y = a x + y, the same memory in accesses of 32 to 512 bits.
//
// Twelve bytes per float must move for one multiply-add, and the variants differ in nothing but the width of an access.
// A load instruction occupies its unit for about the same time whatever its width, so narrow ones
// can run out of issue slots before memory is full; on current GPUs 128 bits is the widest single access, and a 256 or
// 512-bit vector is taken apart into 128-bit ones that are no longer neighbours across work-items.
//   LANES     floats in one access, 1 to 16
//   PER_ITEM  accesses to each array in flight per work-item (GPU)
//   OFFSET    floats in front of the first one: a vector then begins at no multiple of its size
//   STRIDE    from one access to the next, in accesses
//   FEW       a fixed number of work-groups goes through the arrays, instead of as many as there are accesses (GPU)

// Where vectors are not aligned the compiler must know: it takes them apart where the device has no such loads.
#if OFFSET % LANES
#define PLACED __attribute__((aligned(4)))
#else
#define PLACED
#endif
#if LANES == 1
typedef float vector_t;
typedef float placed_t;
#elif LANES == 2
typedef float2 vector_t;
typedef float2 placed_t PLACED;
#elif LANES == 4
typedef float4 vector_t;
typedef float4 placed_t PLACED;
#elif LANES == 8
typedef float8 vector_t;
typedef float8 placed_t PLACED;
#else
typedef float16 vector_t;
typedef float16 placed_t PLACED;
#endif

#if defined(SAXPY_W32) || defined(SAXPY_W64) || defined(SAXPY_W128) || defined(SAXPY_W256) || defined(SAXPY_W512)
kernel void KERNEL(global const float* restrict x, global float* restrict y, float a, ulong n) {
    const size_t vectors = n / LANES;
    x += OFFSET;
    y += OFFSET;
    global const placed_t* restrict xv = (global const placed_t*)x;
    global placed_t* restrict yv = (global placed_t*)y;
#if defined(LAB_CPU)
    // One contiguous run per work-item, for the prefetchers.
    const size_t run = (vectors + get_global_size(0) - 1) / get_global_size(0);
    const size_t first = get_global_id(0) * run;
    const size_t last = min(first + run, vectors);
    for (size_t i = first; i < last; ++i) yv[i * STRIDE] = a * xv[i * STRIDE] + yv[i * STRIDE];
#else
    const size_t step = get_local_size(0);
    size_t first = get_group_id(0) * step * PER_ITEM + get_local_id(0);
#if FEW
    for (; first - get_local_id(0) < vectors; first += get_num_groups(0) * step * PER_ITEM)
#endif
    if (first + (PER_ITEM - 1) * step < vectors) {
        vector_t xs[PER_ITEM], ys[PER_ITEM];
        // All loads before the first store: x and y are one array in y's eyes, so a compiler keeps loads behind stores.
#pragma unroll
        for (int j = 0; j < PER_ITEM; ++j) {
            xs[j] = xv[(first + j * step) * STRIDE];
            ys[j] = yv[(first + j * step) * STRIDE];
        }
#pragma unroll
        for (int j = 0; j < PER_ITEM; ++j) yv[(first + j * step) * STRIDE] = a * xs[j] + ys[j];
    } else {
        for (size_t i = first; i < vectors && i < first + PER_ITEM * step; i += step)
            yv[i * STRIDE] = a * xv[i * STRIDE] + yv[i * STRIDE];
    }
#endif
#if LANES > 1 && STRIDE == 1
    // The rest that fills no vector, one float per work-item; there are enough work-items.
    const size_t tail = vectors * LANES + get_global_id(0);
    if (tail < n) y[tail] = a * x[tail] + y[tail];
#endif
}
#endif

/* family
question: From which array size on does y = a x + y gain from accesses wider than 32 bits?
over: size

axis size: size of each of the two arrays; auto is twice the last-level cache
  unit: byte
  whole: 4 to 1e15, multiples of 4
  usual: 16384, 1048576, auto
axis local: work-items per group; auto is 256, on a CPU 1
  unit: work-item
  whole: 1 to 4Ki
  tune: auto, 32:1024:*2
axis per_item: accesses to each array in flight per work-item of a GPU; auto is 2 for large arrays, else 1
  unit: access
  whole: 1 to 16
  tune: auto, 1:16:*2
axis offset: floats in front of the first one of each array: where its accesses are aligned to
  unit: float
  whole: 0 to 4Ki
  usual: 0
axis stride: from one access to the next; the arrays keep their size, so fewer floats are computed
  unit: access
  whole: 1 to 4Ki
  usual: 1
axis groups: work-groups that go through the arrays; auto is one for every 'per_item' accesses of its items, on a CPU
    four per core
  whole: 0 to 16Mi
  tune: auto

variant w32: One float per access: the plain kernel.
  defines: LANES=1
variant w64: Two floats per access.
  defines: LANES=2
variant w128: Four floats per access, the widest that a GPU makes in one instruction.
  defines: LANES=4
variant w256: Eight floats per access, one AVX register.
  defines: LANES=8
variant w512: Sixteen floats per access.
  defines: LANES=16
*/
