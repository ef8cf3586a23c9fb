// scatter: one access of a wave spread over K blocks of memory instead of one. Lane l touches word l / K of block l % K, so the
// number of bytes never changes and no two lanes share a word; only the number of blocks does. Blocks lie in a region that
// the second level holds, and each trip goes on to others.
//   WAVE    lanes per wave, also the words per block (K = 1 is the fully coalesced access)
//   SPREAD  K
#if defined(SCATTER_STORE) || defined(SCATTER_LOAD)
#define WORD_AT(trip) \
    (((home + (trip) * step) & block_mask) * WAVE + word)

#ifdef SCATTER_STORE
// The value follows from the place alone: whoever writes a word again writes the same.
kernel void scatter_store(global uint* out, uint block_mask, uint key, int trips) {
#else
kernel void scatter_load(global const uint* in, global uint* out, uint block_mask, int trips) {
    uint sum = 0;
#endif
    const uint lane = get_local_id(0) % WAVE;
    const uint home = (uint)(get_global_id(0) / WAVE) * SPREAD + lane % SPREAD;
    const uint step = (uint)(get_global_size(0) / WAVE) * SPREAD;
    const uint word = lane / SPREAD;
    for (int trip = 0; trip < trips; ++trip) {
        const uint at = WORD_AT((uint)trip);
#ifdef SCATTER_STORE
        out[at] = at * 0x9E3779B1u ^ key;
#else
        sum += in[at];
#endif
    }
#ifdef SCATTER_LOAD
    out[get_global_id(0)] = sum;
#endif
}
#endif

/* family
question: What does it cost when the lanes of a wave touch many blocks of memory instead of one?
over: spread

axis spread: blocks that the lanes of one wave touch
  unit: block
  whole: 1 to 128, powers of two
  usual: 1, 2, 4, 8, 16, 32, 64

variant store: Each lane stores one word; the wave's words are spread over `spread` blocks.
variant load: Each lane loads one word; the wave's words are spread over `spread` blocks.
*/
