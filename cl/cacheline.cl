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
