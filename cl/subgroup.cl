// subgroup: what the work-items of a sub-group do together without local memory. The host defines
//   OP_reduce, OP_scan, OP_broadcast or OP_shuffle
//   CHAINS   1 or 4 chains per work-item
//   REPEAT   16 or 4 links of each chain between two branches
// A link is v = operation(v + s), where s is the work-item's own number, so that the end value depends on every link. Of a sum
// of 32 it is v += sum(v): 32 * v + sum(s) stays the same after seven links, when all bits of v have left. Each work-item also
// stores its sub-group, its place in there and how many share it, by which the host computes the result.

#if defined(CHAINS)
#if defined(LAB_NVIDIA)
// NVIDIA's OpenCL C has no sub-groups; their instructions are there all the same.
#define SUB_GROUP (get_local_id(0) / 32)
#define SIZE 32
static inline uint own_lane(void) {
    uint lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
#define LANE own_lane()
static inline uint shuffle(uint v, uint from) {
    uint out;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(out) : "r"(v), "r"(from));
    return out;
}
#define broadcast shuffle
static inline uint reduce(uint v) {
#if defined(LAB_SM) && LAB_SM >= 80
    uint sum;
    asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(v));
    return sum;
#else
    for (uint distance = 16; distance > 0; distance >>= 1) v += shuffle(v, LANE ^ distance);
    return v;
#endif
}
// Adds what the lane `distance` below has, where there is one.
#define ADD_BELOW(distance)                                                                    \
    asm volatile("{.reg .pred p; .reg .b32 t; shfl.sync.up.b32 t|p, %0, " #distance             \
                 ", 0, 0xffffffff; @p add.u32 %0, %0, t;}" : "+r"(v));
static inline uint scan(uint v) {
    ADD_BELOW(1) ADD_BELOW(2) ADD_BELOW(4) ADD_BELOW(8) ADD_BELOW(16)
    return v;
}
#else
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define SUB_GROUP get_sub_group_id()
#define SIZE get_sub_group_size()
#define LANE get_sub_group_local_id()
#define broadcast sub_group_broadcast
#define reduce sub_group_reduce_add
#define scan sub_group_scan_inclusive_add
#if defined(cl_khr_subgroup_shuffle)
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#define shuffle sub_group_shuffle
#elif defined(LAB_AMD)
#define shuffle(v, from) (uint)__builtin_amdgcn_ds_bpermute((int)(4 * (from)), (int)(v))
#else
#define shuffle intel_sub_group_shuffle
#endif
#endif

#if defined(OP_reduce)
#define LINK(j) v##j += reduce(v##j);
#elif defined(OP_scan)
#define LINK(j) v##j = scan(v##j + s##j);
#elif defined(OP_broadcast)
#define LINK(j) v##j = broadcast(v##j + s##j, root);
#else
#define LINK(j) v##j = shuffle(v##j + s##j, from);
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define R4(X) X X X X
#define R16(X) R4(R4(X))
#define EACH1(M) M(0)
#define EACH4(M) M(0) M(1) M(2) M(3)
#define BEGIN(j) const uint s##j = start[CHAINS * (item % period) + j]; uint v##j = s##j;
#define END(j) out[CHAINS * item + j] = v##j;

kernel void KERNEL(global const uint* restrict start, global uint* restrict out, global uint* restrict who, uint pick,
                   uint period, int trips) {
    const uint item = (uint)get_global_id(0), size = SIZE, lane = LANE;
    who[3 * item] = SUB_GROUP;
    who[3 * item + 1] = lane;
    who[3 * item + 2] = size;
    const uint root = pick % size, from = (lane + pick) % size;
    PASTE(EACH, CHAINS)(BEGIN)
#if defined(SUBGROUP_LATENCY) && !defined(LAB_NVIDIA)  // there the work-group is one
    if (SUB_GROUP > 0) trips = 0;
#endif
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
        PASTE(R, REPEAT)(PASTE(EACH, CHAINS)(LINK))
    }
    PASTE(EACH, CHAINS)(END)
}
#endif

/* family
question: What do the operations of a sub-group cost, and how wide is it?

axis operation: reduce: the sum of all; scan: of those up to its own place; broadcast: what one has; shuffle: a rotation
  choice: reduce, scan, broadcast, shuffle
  usual: reduce, scan, broadcast, shuffle

variant latency: One sub-group: each operation waits for the one before.
variant rate: All units, four chains per work-item.
*/
