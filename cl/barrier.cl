// barrier: the cost of a work-group barrier over the size of the group. There is only one group, so that no other group
// fills the time. `plain` is the barrier and one multiply-add; `exchange` is what barriers are for, a value handed on through local
// memory, and its result is wrong when one barrier is missing; `none` is the loop of `plain` without the barriers, for
// CPUs, where a barrier splits the kernel into loops over the work-items and private variables move to memory. (On PoCL
// that can pay: the split loops are vectorised over the work-items, a loop inside a work-item is not.)
#if defined(BARRIER_PLAIN) || defined(BARRIER_NONE)
#ifdef BARRIER_PLAIN
#define WAIT barrier(CLK_LOCAL_MEM_FENCE);
#else
#define WAIT
#endif
// x -> 5 x + c: the number of passes shows in the result. Of barriers with nothing in between, PoCL keeps one.
#define PASS x = x * 5u + c; WAIT

kernel void KERNEL(global uint* out, uint c, int trips) {
    uint x = get_local_id(0);
    for (int trip = 0; trip < trips; ++trip) {
        PASS PASS PASS PASS PASS PASS PASS PASS
    }
    out[get_global_id(0)] = x;
}
#endif

#ifdef BARRIER_EXCHANGE
// From the neighbour, plus c. Two places per work-item, used in turn, so that one barrier per pass is enough.
#define PASS(half) \
    place[(half) * lanes + lane] = x; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    x = place[(half) * lanes + neighbour] + c;

kernel void barrier_exchange(global uint* out, local uint* place, uint c, int trips) {
    const uint lane = get_local_id(0), lanes = get_local_size(0);
    const uint neighbour = lane + 1u == lanes ? 0u : lane + 1u;
    uint x = lane;
    for (int trip = 0; trip < trips; ++trip) {
        PASS(0) PASS(1) PASS(0) PASS(1) PASS(0) PASS(1) PASS(0) PASS(1)
    }
    out[get_global_id(0)] = x;
}
#endif

/* family
question: What does a work-group barrier cost?
over: group

axis group: work-items in the group
  unit: item
  whole: 1 to 64Ki
  usual: 32, 64, 128, 256, 512, 1024

variant plain: A multiply-add and a barrier, over and over.
variant exchange: A value handed to the neighbour through local memory, one barrier per step.
variant none: The loop of plain without barriers.
*/
