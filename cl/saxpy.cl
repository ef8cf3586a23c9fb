// saxpy: y = a x + y, the same memory in accesses of 32 to 512 bits.
//
// Twelve bytes per float must move for one multiply-add, and the variants differ in nothing but the width of an access.
// A load instruction occupies its unit for about the same time whatever its width, so narrow ones
// can run out of issue slots before memory is full; on current GPUs 128 bits is the widest single access, and a 256 or
// 512-bit vector is taken apart into 128-bit ones that are no longer neighbours across work-items.
//   LANES     floats in one access, 1 to 16
//   PER_ITEM  accesses to each array in flight per work-item (GPU)

#if LANES == 1
typedef float vector_t;
#elif LANES == 2
typedef float2 vector_t;
#elif LANES == 4
typedef float4 vector_t;
#elif LANES == 8
typedef float8 vector_t;
#else
typedef float16 vector_t;
#endif

#if defined(SAXPY_W32) || defined(SAXPY_W64) || defined(SAXPY_W128) || defined(SAXPY_W256) || defined(SAXPY_W512)
kernel void KERNEL(global const float* restrict x, global float* restrict y, float a, ulong n) {
    const size_t vectors = n / LANES;
    global const vector_t* restrict xv = (global const vector_t*)x;
    global vector_t* restrict yv = (global vector_t*)y;
#if defined(LAB_CPU)
    // One contiguous run per work-item, for the prefetchers.
    const size_t run = (vectors + get_global_size(0) - 1) / get_global_size(0);
    const size_t first = get_global_id(0) * run;
    const size_t last = min(first + run, vectors);
    for (size_t i = first; i < last; ++i) yv[i] = a * xv[i] + yv[i];
#else
    const size_t step = get_local_size(0);
    const size_t first = get_group_id(0) * step * PER_ITEM + get_local_id(0);
    if (first + (PER_ITEM - 1) * step < vectors) {
        vector_t xs[PER_ITEM], ys[PER_ITEM];
        // All loads before the first store: x and y are one array in y's eyes, so a compiler keeps loads behind stores.
#pragma unroll
        for (int j = 0; j < PER_ITEM; ++j) {
            xs[j] = xv[first + j * step];
            ys[j] = yv[first + j * step];
        }
#pragma unroll
        for (int j = 0; j < PER_ITEM; ++j) yv[first + j * step] = a * xs[j] + ys[j];
    } else {
        for (size_t i = first; i < vectors; i += step) yv[i] = a * xv[i] + yv[i];
    }
#endif
#if LANES > 1
    // The rest that fills no vector, one float per work-item; there are enough work-items.
    const size_t tail = vectors * LANES + get_global_id(0);
    if (tail < n) y[tail] = a * x[tail] + y[tail];
#endif
}
#endif
