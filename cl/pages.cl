// pages: streams that touch one line of each page against streams that touch as many lines of as few pages as hold them. The caches
// keep as many lines of either, so what is slower apart is the translation of addresses.
//
// Lines apart lie at another place in each page: at the same one they would meet in one set of a cache. Lines together are visited in an
// order that jumps as well: in their own, prefetchers would follow, which they do over no page's end.
//   LINE_WORDS, PAGE_WORDS  words of 32 bits of a line and of a page
//   LINES                   lines of a page
//   WAVE                    lanes that read a line together, a word each
//   ODD                     from one line together to the next visited; shares no factor with their number, a power of two
#if defined(PAGES_APART)
#define PLACE(k) ((size_t)(k) * PAGE_WORDS + (k) % LINES * LINE_WORDS)
#else
#define PLACE(k) ((size_t)((k) * ODD & mask) * LINE_WORDS)
#endif

// Writes each line; the rest of the pages is never touched.
kernel void pages_fill(global const uint* restrict words, global uint* restrict region, uint mask) {
    const uint i = get_global_id(0), lane = i % WAVE;
    if (i / WAVE <= mask) region[PLACE(i / WAVE) + lane] = words[i];
}

kernel void KERNEL(global const uint* restrict region, global uint* restrict sums, uint mask, int trips) {
    const uint lane = get_local_id(0) % WAVE, stream = get_global_id(0) / WAVE, streams = get_global_size(0) / WAVE;
    uint sum = 0;
#ifdef LAB_CPU
    // A core goes through all lines from a start of its own.
    uint k = (uint)((ulong)stream * (mask + 1) / streams);
    const uint step = 1;
#else
    // The waves go through them side by side.
    uint k = stream & mask;
    const uint step = streams;
#endif
#define READ sum += region[PLACE(k) + lane]; k = (k + step) & mask;
    for (int trip = 0; trip < trips; ++trip) {
        READ READ READ READ
    }
    sums[get_global_id(0)] = sum;
}

/* family
question: How many pages can streams go through before the translation of addresses costs time?
over: count

axis count: pages, with one line read from each; for together, as many adjacent lines
  unit: page
  whole: 4 to 16Mi, powers of two
  usual: 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384
axis page: from one line to the next when they are apart; auto is 4 KiB, in huge pages and on a GPU 2 MiB
  unit: byte
  whole: 64 to 1Gi, powers of two
axis pages: pages of the host's memory that a CPU's buffer asks for; without meaning on a GPU
  choice: huge, small
  usual: small

variant apart: Reads one line of each page, at another place in each.
variant together: Reads as many adjacent lines, also in a jumping order.
*/
