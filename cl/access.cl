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

/* family
question: What do a misaligned start, a stride and too few work-groups cost a plain copy?
over: offset

axis size: size of the region; auto is twice the last-level cache
  unit: byte
  whole: 4Ki to 1e15, multiples of 4Ki
axis offset: distance of the first word from an aligned place
  unit: byte
  whole: 0 to 1Mi, multiples of 4
  usual: 0, 4, 16, 32, 64, 128
  only: offset
axis stride: distance from one word that is moved to the next
  unit: word
  whole: 1 to 1Ki
  usual: 1, 2, 4, 8, 16, 32, 64
  only: stride
axis load: work-groups as a percentage of the compute units the driver reports
  unit: %
  real: 0.01 to 1000000
  usual: 25, 50, 100, 200, 400, 800, 1600, 3200
  only: groups
axis local: work-items per group; auto is 256, on a CPU 1
  unit: work-item
  whole: 1 to 4Ki
  tune: auto, 32:1024:*2

variant offset: Words of 32 bits, source and target both behind an aligned place.
  over: offset
variant stride: Every stride-th word of 32 bits.
  over: stride
variant groups: 128-bit words by a given number of work-groups.
  over: load
*/
