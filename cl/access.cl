// access: what the place of a plain copy costs. Every variant moves words of 32 bits; only where they lie, and how many groups
// move them, differs.

#ifdef ACCESS_OFFSET
// Both sides begin `offset` words behind an aligned place: does a wave's row of words touch one line more?
kernel void access_offset(global const uint* restrict src, global uint* restrict dst, ulong count, uint offset) {
    src += offset;
    dst += offset;
#ifdef LAB_CPU
    const ulong run = (count + get_global_size(0) - 1) / get_global_size(0);
    const ulong first = get_global_id(0) * run, last = min(first + run, count);
    for (ulong i = first; i < last; ++i) dst[i] = src[i];
#else
    const ulong i = get_global_id(0);
    if (i < count) dst[i] = src[i];
#endif
}
#endif

#ifdef ACCESS_STRIDE
// Every stride-th word of the same region. What is paid for is lines, so the time of a word rises until each has a line alone.
kernel void access_stride(global const uint* restrict src, global uint* restrict dst, ulong count, uint stride) {
#ifdef LAB_CPU
    const ulong run = (count + get_global_size(0) - 1) / get_global_size(0);
    const ulong first = get_global_id(0) * run, last = min(first + run, count);
    for (ulong i = first; i < last; ++i) dst[i * stride] = src[i * stride];
#else
    const ulong i = get_global_id(0);
    if (i < count) dst[i * stride] = src[i * stride];
#endif
}
#endif

#ifdef ACCESS_GROUPS
// A copy by as many groups as are given, each taking every get_num_groups(0)-th block: beyond how many do more not help?
kernel void access_groups(global const uint4* restrict src, global uint4* restrict dst, ulong count) {
#ifdef LAB_CPU
    const ulong run = (count + get_global_size(0) - 1) / get_global_size(0);
    const ulong first = get_global_id(0) * run, last = min(first + run, count);
    for (ulong i = first; i < last; ++i) dst[i] = src[i];
#else
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) dst[i] = src[i];
#endif
}
#endif
