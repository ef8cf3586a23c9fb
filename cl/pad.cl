// pad: planes of SIDE x SIDE words put into the middle of planes of zeros, MARGIN words wider on each side (7x7 into
// 13x13). Every output word is written once and every input word read once, so memory is the limit.
//
// What can go wrong: a private array that is indexed by a loop of unknown length lives in scratch memory (runtime); most
// outputs need a division to know where they are (flat); and stores of single words in groups that do not fit a plane leave
// part of each wavefront idle.
//   SIDE, MARGIN  words; both are defines everywhere
//   CHANNELS_PER_ITEM  of `constant`; MOST  of `runtime`, the length of the array: 16 as published, 64 for a larger k
#define OUT (SIDE + 2 * MARGIN)
#define AREA (OUT * OUT)
#define AREA_IN (SIDE * SIDE)

// Where output word `at` of a plane comes from, as an offset in the input plane; -1 where it is zero.
static inline int source_of(int at) {
    const int row = at / OUT, y = row - MARGIN, x = at - row * OUT - MARGIN;
    return y >= 0 && y < SIDE && x >= 0 && x < SIDE ? y * SIDE + x : -1;
}

#ifdef PAD_RUNTIME
// As in the tutorial: an item makes one word of k planes, first all loads and then all stores through a private array. k
// is not known to the compiler, so the array cannot be registers as it is: LLVM 15 keeps 16 words there all the same and
// finds each by comparing, while 64 go to scratch memory.
kernel void pad_runtime(global const uint* restrict in, global uint* restrict out, int channels, int k) {
    const int first = get_group_id(1) * k;
    const size_t plane = (size_t)get_group_id(2) * channels + first;
    const int count = min(k, channels - first);
    for (int at = get_local_id(0); at < AREA; at += get_local_size(0)) {
        const int from = source_of(at);
        uint v[MOST];
        for (int j = 0; j < count; ++j) v[j] = from >= 0 ? in[(plane + j) * AREA_IN + from] : 0;
        for (int j = 0; j < count; ++j) out[(plane + j) * AREA + at] = v[j];
    }
}
#endif

#ifdef PAD_CONSTANT
// The same with k as a define: the array is unrolled into registers.
kernel void pad_constant(global const uint* restrict in, global uint* restrict out, int channels) {
    const int first = get_group_id(1) * CHANNELS_PER_ITEM;
    const size_t plane = (size_t)get_group_id(2) * channels + first;
    const int count = channels - first;
    for (int at = get_local_id(0); at < AREA; at += get_local_size(0)) {
        const int from = source_of(at);
        uint v[CHANNELS_PER_ITEM];
#pragma unroll
        for (int j = 0; j < CHANNELS_PER_ITEM; ++j) v[j] = from >= 0 && j < count ? in[(plane + j) * AREA_IN + from] : 0;
#pragma unroll
        for (int j = 0; j < CHANNELS_PER_ITEM; ++j) {
            if (j < count) out[(plane + j) * AREA + at] = v[j];
        }
    }
}
#endif

#ifdef PAD_FLAT
// One output word an item, no lane idle; a division by a constant for the plane and one for the row.
kernel void pad_flat(global const uint* restrict in, global uint* restrict out, ulong total) {
    const size_t i = get_global_id(0);
    if (i >= total) return;
    const size_t plane = i / AREA;
    const int from = source_of((int)(i - plane * AREA));
    out[i] = from >= 0 ? in[plane * AREA_IN + from] : 0;
}
#endif

#ifdef PAD_WIDE
#if defined(LAB_CPU)
// A run of planes per work-item, row by row with every length known: whole rows become vector moves.
kernel void pad_wide(global const uint* restrict in, global uint* restrict out, ulong planes) {
    const size_t run = (planes + get_global_size(0) - 1) / get_global_size(0);
    const size_t last = min((get_global_id(0) + 1) * run, (size_t)planes);
    for (size_t p = get_global_id(0) * run; p < last; ++p) {
        global const uint* restrict from = in + p * AREA_IN;
        global uint* restrict to = out + p * AREA;
        for (int i = 0; i < MARGIN * OUT + MARGIN; ++i) to[i] = 0;
        to += MARGIN * OUT + MARGIN;
        // The right margin of a row and the left one of the next are one run of zeros.
        for (int y = 0; y < SIDE; ++y, to += OUT, from += SIDE) {
#pragma unroll
            for (int x = 0; x < SIDE; ++x) to[x] = from[x];
#pragma unroll
            for (int x = 0; x < 2 * MARGIN; ++x) to[SIDE + x] = 0;
        }
        for (int i = 0; i < MARGIN * OUT - MARGIN; ++i) to[i] = 0;
    }
}
#else
#define AHEAD 4  // blocks whose loads are on their way before the first store
// Four planes are AREA words of 128 bits, whatever the area. An item makes one and the same of them in every
// (items / AREA)-th block of four planes, so its four sources are worked out once and the loop has no arithmetic but two
// additions. Neighbours write neighbouring words, without regard to the edges of planes.
kernel void pad_wide(global const uint* restrict in, global uint4* restrict out, ulong planes) {
    const uint id = get_global_id(0);
    const uint first = id / AREA, word = id - first * AREA, blocks = planes / 4, step = get_global_size(0) / AREA;
    // A zero is loaded as well, from the first word of the block, and masked out: four loads without a branch.
    int from[4];
    uint mask[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const int at = word * 4 + j, plane = at / AREA, source = source_of(at - plane * AREA);
        from[j] = source >= 0 ? plane * AREA_IN + source : 0;
        mask[j] = source >= 0 ? 0xffffffffu : 0;
    }
#define WORD(q) (uint4)((q)[from[0]] & mask[0], (q)[from[1]] & mask[1], (q)[from[2]] & mask[2], (q)[from[3]] & mask[3])
    uint block = first;
    const size_t step_in = (size_t)step * (4 * AREA_IN), step_out = (size_t)step * AREA;
    global const uint* p = in + (size_t)block * (4 * AREA_IN);
    global uint4* to = out + (size_t)block * AREA + word;
    for (; block + (AHEAD - 1) * step < blocks; block += AHEAD * step, p += AHEAD * step_in, to += AHEAD * step_out) {
        uint4 v[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; ++j) v[j] = WORD(p + j * step_in);
#pragma unroll
        for (int j = 0; j < AHEAD; ++j) to[j * step_out] = v[j];
    }
    for (; block < blocks; block += step, p += step_in, to += step_out) *to = WORD(p);
    // One to three planes that make no block.
    for (size_t i = (size_t)blocks * 4 * AREA + id; i < (size_t)planes * AREA; i += get_global_size(0)) {
        const size_t plane = i / AREA;
        const int source = source_of((int)(i - plane * AREA));
        ((global uint*)out)[i] = source >= 0 ? in[plane * AREA_IN + source] : 0;
    }
}
#endif
#endif

/* family
question: How close does padding small planes come to a plain copy, and what does a private array in scratch memory
    cost?

axis images: images; auto is 1024, on a CPU 128
  whole: 1 to 65535
axis channels: planes per image; auto is 1024, on a CPU 512
  whole: 1 to 1Mi
axis side: rows and columns of an input plane
  unit: word
  whole: 1 to 1Ki
  usual: 7
axis margin: zeros added on each side of a plane
  unit: word
  whole: 0 to 1Ki
  usual: 3
axis k: planes per work-item
  whole: 1 to 64
  usual: 4
  tune: 1:64:*2
  only: runtime, constant
axis local: work-items per group; auto is 256, for wide on a CPU 1
  unit: work-item
  whole: 1 to 4Ki
  tune: auto, 32:512:*2

variant runtime: k planes per work-item through a private array whose length the compiler does not know.
variant constant: k planes per work-item, k known to the compiler.
variant flat: One output word per work-item, two divisions each.
variant wide: 128-bit stores across the edges of planes; each work-item computes its sources once.
*/
