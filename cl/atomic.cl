// atomic: additions to shared counters. Work-item i adds to counter (i + trip) % n: with n = 1 all add to one word; with n at
// least the number of work-items each has its own. Counters lie side by side, as in a histogram. The sums prove that no
// addition was lost.
#ifdef ATOMIC_GLOBAL
kernel void atomic_global(global uint* counter, uint counter_mask, int trips) {
    const uint item = get_global_id(0);
    for (int trip = 0; trip < trips; ++trip) atomic_add(&counter[(item + (uint)trip) & counter_mask], 1u + item % 3u);
}
#endif

#ifdef ATOMIC_LOCAL
// COUNTERS: words of local memory. Each group stores its sums in a row of its own. The loops
// end at a run-time number, because PoCL 3.1 ends the process (ParallelRegion::Verify) on a loop known to run once.
kernel void atomic_local(global uint* out, uint counter_mask, int trips) {
    local uint counter[COUNTERS];
    const uint lane = get_local_id(0), lanes = get_local_size(0), counters = counter_mask + 1;
    for (uint i = lane; i < counters; i += lanes) counter[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int trip = 0; trip < trips; ++trip) atomic_add(&counter[(lane + (uint)trip) & counter_mask], 1u + lane % 3u);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < counters; i += lanes) out[get_group_id(0) * COUNTERS + i] = counter[i];
}
#endif

#ifdef ATOMIC_CHAIN
// One work-item goes round the counters. Each address depends on the value that the addition before returned, so the times
// of single additions add up: a counter starts at `key`, and the one of the trip before has been round trip / n times, so
// the difference is always 0, which no compiler knows.
kernel void atomic_chain(global uint* counter, uint counter_mask, uint counter_log2, uint key, int trips) {
    uint rounds = 0;
    for (int trip = 0; trip < trips; ++trip) {
        const uint expected = trip == 0 ? 0u : (uint)(trip - 1) >> counter_log2;
        const uint at = ((uint)trip + (rounds - expected)) & counter_mask;
        rounds = atomic_add(&counter[at], 1u) - key;
    }
}
#endif

/* family
question: How many atomic additions per second does a device do, on shared and on separate addresses, and how long does
    one take?
over: counters

axis counters: words that the additions go to
  unit: address
  whole: 1 to 16Mi, powers of two
  usual: 1, 4, 32, 256, 4096, 65536

variant global: Every work-item adds to counters in global memory, to the next one in each trip.
variant local: Every work-item adds to counters in local memory, to the next one in each trip.
variant chain: One work-item adds to the counters in turn; each addition waits for the result of the one before.
*/
