// bandwidth: how fast memory moves when nothing else is in the way. The copy is the yardstick of every other kernel.

#ifdef BANDWIDTH_COPY
// 16 bytes a work-item and access, neighbours next to each other: one full 512-byte row of a warp, two AVX registers of
// a CPU. `per_item` strides keep enough requests in flight on GPUs and make one long stream a work-item on CPUs.
kernel void bandwidth_copy(global const uint4* restrict src, global uint4* restrict dst, ulong count) {
#if defined(LAB_CPU)
    // One contiguous run a work-item: hardware prefetchers follow it, and 4 KiB pages are visited once.
    const ulong items = get_global_size(0);
    const ulong run = (count + items - 1) / items;
    const ulong first = get_global_id(0) * run;
    const ulong last = min(first + run, count);
    for (ulong i = first; i < last; ++i) dst[i] = src[i];
#else
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) dst[i] = src[i];
#endif
}
#endif
