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

/* family
question: How long does a load take, and where do the cache levels end?
over: footprint

axis footprint: size of the memory the chase goes through, whole lines of it
  unit: byte
  whole: 64 to 1e12
  usual: 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152, 65536, 98304, 131072, 196608, 262144, 393216,
    524288, 786432, 1048576, 1572864, 2097152, 3145728, 4194304, 6291456, 8388608, 12582912, 16777216, 25165824,
    33554432, 50331648, 67108864, 100663296, 134217728, 201326592, 268435456, 402653184, 536870912
axis line: distance between the words visited; auto is the line the device reports, 4096 shows pages and sets
  unit: byte
  whole: 8 to 1e9, multiples of 8
  only: global, indexed, bypass, scalar
axis order: random: each load goes to another line anywhere. paged: each load stays in one page (4 KiB, on a GPU 2 MiB)
    until all its lines are visited
  choice: random, paged
  only: global, indexed, bypass, scalar
axis pages: pages of the host's memory that a CPU's buffer asks for; without meaning on a GPU
  choice: huge, small
  only: global

variant global: One work-item chases stored addresses through global memory on the vector path.
variant indexed: The same by indices that are added to an address, as in at = x[at].
variant bypass: The same past the first level (ld.global.cg), so the second level shows from the smallest size.
  needs: nvidia
variant scalar: The same through wave-uniform addresses: AMD's scalar cache.
  needs: amd
variant local: One work-item chases stored addresses through local memory.
*/
