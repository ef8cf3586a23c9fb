// channels: the whole device visits many lines at a fixed spacing again and again. When the spacing is a multiple of the
// interleave times a power of two, a fraction of the memory channels (and of the slices of the second level in front of
// them) gets all the work. The number of lines is the same for every spacing, so the
// caches hold as much; within a pass no two work-items touch the same 16 bytes.
#if defined(CHANNELS_STORE) || defined(CHANNELS_LOAD)
#define LINE_WORDS 4     // of 16 bytes
#define PASS_STEP 1021u  // odd: from pass to pass a work-item goes through all lines

// Place of this pass, in words of 16 bytes.
#define AT(pass) ((size_t)((line + (uint)(pass) * PASS_STEP) & line_mask) * spacing_words + part)

#ifdef CHANNELS_STORE
// What is stored follows from the place alone: whoever stores there again stores the same.
kernel void channels_store(global uint4* out, uint line_mask, uint spacing_words, uint key, int trips) {
#else
// Volatile, or the first level would answer.
kernel void channels_load(global const volatile uint4* in, global uint* out, uint line_mask, uint spacing_words, int trips) {
    uint4 sum = (uint4)(0);
#endif
    const uint item = get_global_id(0);
    const uint line = item / LINE_WORDS, part = item % LINE_WORDS;
    for (int pass = 0; pass < trips; ++pass) {
        const size_t at = AT(pass);
#ifdef CHANNELS_STORE
        const uint first = (uint)at * 0x9E3779B1u ^ key;
        out[at] = (uint4)(first, first + 1u, first + 2u, first + 3u);
#else
        sum += in[at];
#endif
    }
#ifdef CHANNELS_LOAD
    out[item] = sum.x + sum.y + sum.z + sum.w;
#endif
}
#endif

/* family
question: At which distances do lines fall on the same memory channels?
over: spacing

axis spacing: distance from line to line; by default powers of two, and powers of two plus one line
  unit: byte
  whole: 64 to 16Mi, multiples of 16
  usual: 64, 128, 256, 320, 512, 576, 1024, 1088, 2048, 2112, 4096, 4160, 8192, 8256, 16384, 16448, 32768, 32832
axis lines: lines of 64 bytes visited; auto is 4096, on a simulator 64
  unit: line
  whole: 4 to 16Mi, powers of two

variant store: The whole device stores to the lines, 16 bytes per work-item and pass.
variant load: The whole device loads from the lines past the first level, 16 bytes per work-item and pass.
*/
