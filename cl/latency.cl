// latency: how long one load takes when the next one needs its result. A pointer chase through every line of a footprint in
// random order: nothing to prefetch, nothing to overlap. The words hold whole addresses, so each step is one load and no
// arithmetic; with indices a shift and an add would count as latency.
//
// Addresses need not last from launch to launch, so the chain is linked on the device, by a kernel that has nothing to do
// when state[1] still holds the address it was linked for. It writes in visiting order: what its writes leave in a cache
// is then what the chase comes to last. The chase goes on where the last launch stopped; from a fixed start a short one
// would meet lines that the launch before had just brought in.
#if defined(LATENCY_GLOBAL) || defined(LATENCY_BYPASS) || defined(LATENCY_SCALAR) || defined(LATENCY_INDEXED)
#ifdef LATENCY_INDEXED
#define WORD(i) (ulong)(i)
#define FROM_BYTES(start) ((start) / sizeof(ulong))
#define TO_BYTES(p) ((p) * sizeof(ulong))
#else
#define WORD(i) (ulong)(size_t)(chain + (i))
#define FROM_BYTES(start) ((ulong)(size_t)chain + (start))
#define TO_BYTES(p) ((p) - (ulong)(size_t)chain)
#endif
kernel void latency_link(global const uint* restrict slot, global ulong* restrict chain, global const ulong* restrict state,
                         uint count) {
    if (state[1] == (ulong)(size_t)chain) return;
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0))
        chain[slot[i]] = WORD(slot[i + 1 == count ? 0 : i + 1]);
}

#if defined(LATENCY_INDEXED)
// What an address of two parts adds: a shift and an add, or a clock more of the load itself.
#define LOAD p = chain[p];
#define LANE get_global_id(0)
#elif defined(LATENCY_BYPASS)
// Cached at the second level only.
#define LOAD asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(p) : "l"(p) : "memory");
#define LANE 0
#elif defined(LATENCY_SCALAR)
// One address for the whole wave, known at compile time to be so, and memory that nobody writes: s_load.
#define LOAD p = *(constant const ulong*)(size_t)p;
#define LANE 0
#else
// From a start loaded for each lane: a wave-uniform chase compiles to scalar loads on AMD, another cache.
#define LOAD p = *(global const ulong*)(size_t)p;
#define LANE get_global_id(0)
#endif
#define LOAD_4 LOAD LOAD LOAD LOAD

kernel void KERNEL(global ulong* chain, global ulong* state, int trips) {
    ulong p = FROM_BYTES(state[LANE]);
    for (int i = 0; i < trips; ++i) {
        LOAD_4 LOAD_4 LOAD_4 LOAD_4
    }
    state[LANE] = TO_BYTES(p);
    state[1] = (ulong)(size_t)chain;
}
#endif

#ifdef LATENCY_LOCAL
#ifdef LAB_CUDA
#error "a pointer of CUDA is no 32-bit address of local memory, which this kernel stores there"
#endif
// ADDRESS: what holds an address of local memory. The group links the chain, then one work-item walks it.
#define LOAD p = *(local const ADDRESS*)(size_t)p;
#define LOAD_4 LOAD LOAD LOAD LOAD
kernel void latency_local(global const uint* restrict slot, global ulong* state, uint count, int trips) {
    local ADDRESS chain[WORDS];
    for (uint i = get_local_id(0); i < count; i += get_local_size(0))
        chain[slot[i]] = (ADDRESS)(size_t)(chain + slot[i + 1 == count ? 0 : i + 1]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) != 0) return;
    ADDRESS p = (ADDRESS)(size_t)chain + (ADDRESS)state[0];
    for (int i = 0; i < trips; ++i) {
        LOAD_4 LOAD_4 LOAD_4 LOAD_4
    }
    state[0] = p - (ADDRESS)(size_t)chain;
}
#endif
