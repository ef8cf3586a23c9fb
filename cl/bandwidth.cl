// bandwidth: how fast memory moves when nothing else is in the way. The copy is the yardstick of every other kernel.
//   ELEMENT   uint, uint2, uint4, uint8 or uint16; arithmetic is modulo 2^32, so every bit can be checked
//   STREAMED  1 where what is written will not be read before the caches have lost it
//   OFFSET    words in front of the first element of each buffer: an element then begins at no multiple of its size
//   STRIDE    from one element to the next, in elements
//   APART     1 where the elements lie at such places
#if APART
// Where elements are not aligned the compiler must know: it takes them apart where the device has no such accesses.
#if OFFSET % WORDS
typedef ELEMENT placed_t __attribute__((aligned(4)));
#else
typedef ELEMENT placed_t;
#endif
#define AT(buffer, i) (((global placed_t*)((global uint*)(buffer) + OFFSET))[(i) * STRIDE])
#define FROM(buffer, i) (((global const placed_t*)((global const uint*)(buffer) + OFFSET))[(i) * STRIDE])
#else
#define AT(buffer, i) ((buffer)[i])
#define FROM(buffer, i) ((buffer)[i])
#endif
// A plain store reads the line first, a third of a copy's traffic; PoCL's clang has the store that does not, for whole lines.
#if STREAMED && defined(LAB_POCL) && !APART
#define PUT(place, v) __builtin_nontemporal_store(v, &(place))
#else
#define PUT(place, v) (place) = (v)
#endif

// On CPUs one contiguous run per work-item: hardware prefetchers follow it, and 4 KiB pages are visited once. On GPUs
// neighbours next to each other: one full 512-byte row of a warp at 16 bytes per work-item.
#if defined(LAB_CPU)
#define FOR_EACH(i) \
    const ulong run = (count + get_global_size(0) - 1) / get_global_size(0); \
    const ulong first = get_global_id(0) * run, last = min(first + run, count); \
    for (ulong i = first; i < last; ++i)
#else
#define FOR_EACH(i) for (ulong i = get_global_id(0); i < count; i += get_global_size(0))
#endif

#ifdef BANDWIDTH_COPY
kernel void bandwidth_copy(global const ELEMENT* restrict src, global ELEMENT* restrict dst, ulong count) {
    FOR_EACH(i) PUT(AT(dst, i), FROM(src, i));
}
#endif

#ifdef BANDWIDTH_BATCH
// Four loads in flight before the first store waits; those of a work-group lie in one block of memory.
kernel void bandwidth_batch(global const ELEMENT* restrict src, global ELEMENT* restrict dst, ulong count) {
    const ulong lanes = get_local_size(0);
    const ulong i = get_group_id(0) * lanes * 4 + get_local_id(0);
    if (i + 3 * lanes < count) {
        const ELEMENT a = FROM(src, i), b = FROM(src, i + lanes), c = FROM(src, i + 2 * lanes), d = FROM(src, i + 3 * lanes);
        PUT(AT(dst, i), a);
        PUT(AT(dst, i + lanes), b);
        PUT(AT(dst, i + 2 * lanes), c);
        PUT(AT(dst, i + 3 * lanes), d);
    } else {
        for (ulong k = i; k < count; k += lanes) PUT(AT(dst, k), FROM(src, k));
    }
}
#endif

#ifdef BANDWIDTH_READ
// Each work-item's sum is stored, so no load can be left out.
kernel void bandwidth_read(global const ELEMENT* restrict src, global ELEMENT* restrict sums, ulong count) {
    ELEMENT sum = (ELEMENT)(0);
#if defined(LAB_CPU)
    FOR_EACH(i) sum += FROM(src, i);
#else
    // Four loads in flight before the first addition waits.
    const ulong step = get_global_size(0);
    ulong i = get_global_id(0);
    for (; i + 3 * step < count; i += 4 * step) {
        const ELEMENT a = FROM(src, i), b = FROM(src, i + step), c = FROM(src, i + 2 * step), d = FROM(src, i + 3 * step);
        sum += (a + b) + (c + d);
    }
    for (; i < count; i += step) sum += FROM(src, i);
#endif
    sums[get_global_id(0)] = sum;
}
#endif

#ifdef BANDWIDTH_WRITE
kernel void bandwidth_write(global ELEMENT* restrict dst, ulong count, uint key) {
    FOR_EACH(i) {
        const ELEMENT v = (ELEMENT)((uint)i * 0x9E3779B1u ^ key);
        PUT(AT(dst, i), v);
    }
}
#endif

#ifdef BANDWIDTH_TRIAD
// STREAM's third loop: a = b + factor * c, in whole numbers.
kernel void bandwidth_triad(global const ELEMENT* restrict b, global const ELEMENT* restrict c, global ELEMENT* restrict a,
                            ulong count, uint factor) {
    FOR_EACH(i) {
        const ELEMENT v = FROM(b, i) + factor * FROM(c, i);
        PUT(AT(a, i), v);
    }
}
#endif

#ifdef BANDWIDTH_REREAD
// All work-groups read the same region again and again, so its bytes come from the level that holds it. What one group fetched
// must not be found by the next one in a level that is too small for the region.
//   LANES   work-items per group
//   DEPTH   loads per work-item and trip
//   stride  distance in blocks from one block of a group to its next; shares no factor with `blocks`, so it reaches all of them
kernel void bandwidth_reread(global const ELEMENT* restrict src, global ELEMENT* restrict sums, uint blocks, uint stride, int trips) {
    ELEMENT sum_0 = (ELEMENT)(0), sum_1 = (ELEMENT)(0), sum_2 = (ELEMENT)(0), sum_3 = (ELEMENT)(0);
#define NEXT block = block + stride >= blocks ? block + stride - blocks : block + stride
#ifdef LAB_CPU
    // Block after block from a start of its own, DEPTH elements each: what prefetchers follow.
    uint block = (uint)((ulong)get_group_id(0) * blocks / get_num_groups(0));
    for (int trip = 0; trip < trips; ++trip) {
        global const ELEMENT* from = src + (size_t)block * (LANES * DEPTH) + get_local_id(0);
        for (int i = 0; i < DEPTH; i += 4) {
            sum_0 += from[i * LANES];
            sum_1 += from[(i + 1) * LANES];
            sum_2 += from[(i + 2) * LANES];
            sum_3 += from[(i + 3) * LANES];
        }
        NEXT;
    }
#else
    // All groups side by side, one element per work-item, and the stride is about their number: a line is read by one group
    // while all of them go through the region once, and a group is the only one on its unit.
    uint block = get_group_id(0) % blocks;
    for (int trip = 0; trip < trips; ++trip) {
        sum_0 += src[(size_t)block * LANES + get_local_id(0)]; NEXT;
        sum_1 += src[(size_t)block * LANES + get_local_id(0)]; NEXT;
        sum_2 += src[(size_t)block * LANES + get_local_id(0)]; NEXT;
        sum_3 += src[(size_t)block * LANES + get_local_id(0)]; NEXT;
    }
#endif
    sums[get_global_id(0)] = sum_0 + sum_1 + sum_2 + sum_3;
}
#endif

/* family
question: How many bytes per second does memory move when a kernel does nothing else?
over: size

axis size: size of each buffer; auto is twice the last-level cache, for reread 16 KiB, where a sweep such as
    16Ki:512Mi:*2 begins
  unit: byte
  whole: 16 to 1e15
axis width: size of an element; auto is 16, for reread on a CPU 64
  unit: byte
  whole: 4 to 64, powers of two
  tune: auto, 4:64:*2
axis offset: words of 32 bits in front of the first element of each buffer: where its elements are aligned to
  unit: word
  whole: 0 to 4Ki
  usual: 0
  tune: 0
  only: copy, batch, read, write, triad
axis stride: from one element that is moved to the next; the buffers keep their size, so fewer bytes are moved
  unit: element
  whole: 1 to 1Mi
  usual: 1
  tune: 1
  only: copy, batch, read, write, triad

variant copy: Reads each element of one buffer once and writes it to another; both directions count.
variant batch: The copy with four loads in flight per work-item, neighbours in one block.
variant read: Reads each element of a buffer once and keeps a sum.
variant write: Writes each element of a buffer once.
variant triad: Reads two buffers and writes a third, like STREAM's triad; all three count.
variant reread: All work-groups read one region again and again: the bandwidth of the level that holds it.
*/
