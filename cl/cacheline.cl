// cacheline: how much one miss brings in. A chase that visits a random line and then a word at a known distance from it: the
// second load is fast as long as the first one brought its word in. Three thresholds can show: the sector, the fetch and
// the line. Linked and resumed like the chase of latency.cl, for the
// reasons given there. `lone` leaves the second load out; it is interleaved with `pair`, so that drift hits both alike.
#if defined(CACHELINE_PAIR) || defined(CACHELINE_LONE)
#define GRANULE_WORDS 16  // one pair every 128 bytes
#define HOME(visit) (slot[visit] * GRANULE_WORDS + OFFSET / 8)

kernel void cacheline_link(global const uint* restrict slot, global ulong* restrict chain, global const ulong* restrict state,
                           uint count) {
    if (state[1] == (ulong)(size_t)chain) return;
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0)) {
        const ulong next = (ulong)(size_t)(chain + HOME(i + 1 == count ? 0 : i + 1));
#ifdef CACHELINE_PAIR
        chain[HOME(i)] = (ulong)(size_t)(chain + HOME(i) + DISTANCE / 8);
        chain[HOME(i) + DISTANCE / 8] = next;
#else
        chain[HOME(i)] = next;
#endif
    }
}

#define LOAD p = *(global const ulong*)(size_t)p;
#ifdef CACHELINE_PAIR
#define VISIT LOAD LOAD
#else
#define VISIT LOAD
#endif

kernel void KERNEL(global ulong* chain, global ulong* state, int trips) {
    ulong p = (ulong)(size_t)chain + state[get_global_id(0)];
    for (int i = 0; i < trips; ++i) {
        VISIT VISIT VISIT VISIT VISIT VISIT VISIT VISIT
    }
    state[get_global_id(0)] = p - (ulong)(size_t)chain;
    state[1] = (ulong)(size_t)chain;
}
#endif

/* family
question: How many bytes does one miss bring in: sector, fetch and line?
over: distance

axis distance: distance from the first word of a pair to the second; no multiple of 128, where other pairs begin
  unit: byte
  whole: 8 to 4Ki, multiples of 8
  usual: 8, 24, 40, 72, 136, 264
axis offset: offset of the pair in its block of 128 bytes; half a line moves the thresholds by half a line
  unit: byte
  whole: 0 to 120, multiples of 8
  usual: 0
axis footprint: size of the memory visited; auto is beyond all caches
  unit: byte
  whole: 1Ki to 1e12, multiples of 128

variant pair: Visits a random block, then the word a fixed distance after it, then the next random block.
variant lone: Visits only the random blocks: the cost of the pair's first load.
*/
