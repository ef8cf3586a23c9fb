// reduce: the sum of an array of 32-bit integers, modulo 2^32 so that any order gives the same answer.
//
// Every integer is read once, so memory is the limit and everything else is overhead: barriers of the tree in local
// memory (RADIX decides how many), work-groups that end after one load, and the second pass over the groups' sums. The
// variants remove these one by one; `read` has none of them and shows the upper bound.
//   RADIX  elements of local memory folded into one at each step of the tree
//   LOADS  loads in flight per work-item: integers in the tree variants, 128-bit words in wide, onepass and read

// Folds the values of a work-group into one; the result is right in work-item 0. One barrier a step is enough: in each
// step an item writes its own element and reads elements that nobody writes.
#define DEFINE_GROUP_SUM(NAME, R)                                                   \
    static inline uint NAME(uint value, local uint* shared_) {                      \
        const uint lid = get_local_id(0);                                           \
        shared_[lid] = value;                                                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                               \
        for (uint left = get_local_size(0); left > 1;) {                            \
            const uint step = (left + R - 1) / R;                                   \
            if (lid < step) {                                                       \
                for (uint i = lid + step; i < left; i += step) value += shared_[i]; \
                shared_[lid] = value;                                               \
            }                                                                       \
            left = step;                                                            \
            barrier(CLK_LOCAL_MEM_FENCE);                                           \
        }                                                                           \
        return value;                                                               \
    }

#if defined(REDUCE_WIDE) || defined(REDUCE_ONEPASS) || defined(REDUCE_READ)
// The part of the sum that is this work-item's: 128-bit loads, LOADS of them before the first addition needs one.
static inline uint item_sum(global const uint* src, ulong n) {
#if defined(LAB_CPU)
    // A contiguous run, in four vectors, so that an addition need not wait for the one before; of a line each, as half as wide ones
    // take 1.13 times as long with AVX-512.
    global const uint16* restrict v = (global const uint16*)src;
    const size_t vectors = n / 16;
    const size_t run = (vectors + get_global_size(0) - 1) / get_global_size(0);
    const size_t last = min((get_global_id(0) + 1) * run, vectors);
    uint16 a = 0, b = 0, c = 0, d = 0;
    size_t i = get_global_id(0) * run;
    for (; i + 3 < last; i += 4) {
        a += v[i];
        b += v[i + 1];
        c += v[i + 2];
        d += v[i + 3];
    }
    for (; i < last; ++i) a += v[i];
    a += b + c + d;
    const uint8 half_line = a.lo + a.hi;
    const uint4 quarter = half_line.lo + half_line.hi;
    uint sum = quarter.s0 + quarter.s1 + quarter.s2 + quarter.s3;
    if (get_global_id(0) == 0) {
        for (size_t j = vectors * 16; j < n; ++j) sum += src[j];
    }
    return sum;
#else
    global const uint4* restrict v = (global const uint4*)src;
    const size_t vectors = n / 4, step = get_global_size(0);
    uint4 sum = 0;
    size_t i = get_global_id(0);
    for (; i + (LOADS - 1) * step < vectors; i += LOADS * step) {
        uint4 loaded[LOADS];
#pragma unroll
        for (int j = 0; j < LOADS; ++j) loaded[j] = v[i + j * step];
#pragma unroll
        for (int j = 0; j < LOADS; ++j) sum += loaded[j];
    }
    for (; i < vectors; i += step) sum += v[i];
    uint out = sum.x + sum.y + sum.z + sum.w;
    const size_t tail = vectors * 4 + get_global_id(0);
    if (tail < n) out += src[tail];
    return out;
#endif
}
#endif

#if defined(REDUCE_TREE2) || defined(REDUCE_TREE4) || defined(REDUCE_TREE8)
DEFINE_GROUP_SUM(first_sum, RADIX)
// LOADS integers per work-item, neighbours next to each other, then the tree.
kernel void KERNEL(global const uint* restrict src, global uint* restrict partial, ulong n, local uint* shared_) {
    const size_t first = get_group_id(0) * get_local_size(0) * LOADS + get_local_id(0);
    uint value = 0;
    for (int j = 0; j < LOADS; ++j) {
        const size_t i = first + j * get_local_size(0);
        value += i < n ? src[i] : 0;
    }
    value = first_sum(value, shared_);
    if (get_local_id(0) == 0) partial[get_group_id(0)] = value;
}
#endif

#ifdef REDUCE_SUBGROUP
#if defined(LAB_NVIDIA)
// NVIDIA's OpenCL C has no sub-group functions; the instruction is there all the same.
static inline uint lanes_sum(uint value) {
    for (int distance = 16; distance > 0; distance >>= 1) {
        uint other;
        asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(other) : "r"(value), "r"(distance));
        value += other;
    }
    return value;
}
#define SUB_GROUP (get_local_id(0) / 32)
#define SUB_GROUPS ((get_local_size(0) + 31) / 32)
#define LANE (get_local_id(0) % 32)
#define LANES 32
#else
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define lanes_sum(value) sub_group_reduce_add(value)
#define SUB_GROUP get_sub_group_id()
#define SUB_GROUPS get_num_sub_groups()
#define LANE get_sub_group_local_id()
#define LANES get_sub_group_size()
#endif
// One integer sum without local memory in a sub-group, one barrier, and one more for the sub-groups' sums.
kernel void reduce_subgroup(global const uint* restrict src, global uint* restrict partial, ulong n, local uint* shared_) {
    const size_t first = get_group_id(0) * get_local_size(0) * LOADS + get_local_id(0);
    uint value = 0;
    for (int j = 0; j < LOADS; ++j) {
        const size_t i = first + j * get_local_size(0);
        value += i < n ? src[i] : 0;
    }
    value = lanes_sum(value);
    if (LANE == 0) shared_[SUB_GROUP] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (SUB_GROUP == 0) {
        uint sum = 0;
        for (uint i = LANE; i < SUB_GROUPS; i += LANES) sum += shared_[i];
        sum = lanes_sum(sum);
        if (LANE == 0) partial[get_group_id(0)] = sum;
    }
}
#endif

#ifdef REDUCE_WIDE
DEFINE_GROUP_SUM(first_sum, 4)
// Just enough work-groups to fill the device, each with a long way through memory: few partial sums, few trees.
kernel void reduce_wide(global const uint* restrict src, global uint* restrict partial, ulong n, local uint* shared_) {
    const uint value = first_sum(item_sum(src, n), shared_);
    if (get_local_id(0) == 0) partial[get_group_id(0)] = value;
}
#endif

#ifdef REDUCE_ONEPASS
DEFINE_GROUP_SUM(first_sum, 4)
// No second launch: groups add to one word, and the last one to come moves the sum to the result and leaves zeros for
// the next launch. state: running sum, groups that have added, result.
kernel void reduce_onepass(global const uint* restrict src, volatile global uint* restrict state, ulong n, uint zero,
                           local uint* shared_) {
    const uint value = first_sum(item_sum(src, n), shared_);
    if (get_local_id(0) == 0) {
        // The count is added only when the sum's old value is back (`zero` is 0, which no compiler knows): OpenCL 1.2
        // promises no order between two atomics on different words, a data dependency does.
        const uint before = atomic_add(&state[0], value);
        const uint groups = atomic_add(&state[1], 1 + (before & zero)) + 1;
        if (groups == get_num_groups(0)) {
            state[2] = atomic_xchg(&state[0], groups & zero);
            atomic_xchg(&state[1], 0);
        }
    }
}
#endif

#ifdef REDUCE_READ
// The yardstick: all of memory is read, nothing is combined across work-items.
kernel void reduce_read(global const uint* restrict src, global uint* restrict sums, ulong n) {
    sums[get_global_id(0)] = item_sum(src, n);
}
#endif

#if defined(REDUCE_TREE2) || defined(REDUCE_TREE4) || defined(REDUCE_TREE8) || defined(REDUCE_SUBGROUP) || defined(REDUCE_WIDE)
DEFINE_GROUP_SUM(second_sum, 4)
// The second pass of every two-pass variant: one work-group over the sums of the first.
kernel void reduce_second(global const uint* restrict partial, global uint* restrict dst, uint count, local uint* shared_) {
    uint value = 0;
    for (uint i = get_local_id(0); i < count; i += get_local_size(0)) value += partial[i];
    value = second_sum(value, shared_);
    if (get_local_id(0) == 0) dst[0] = value;
}
#endif

/* family
question: How close does a sum come to the speed of reading memory, and what do barriers, passes and loads cost?

axis size: size of the array; auto is four times the last-level cache, on a CPU twice
  unit: byte
  whole: 4 to 1e15, multiples of 4
axis local: work-items per group; auto is 256, for wide, onepass and read on a CPU 1
  unit: work-item
  whole: 1 to 4Ki
  tune: auto, 64:1024:*2
axis loads: loads in flight per work-item; auto is 1 integer in the trees and subgroup, else 4 words of 128 bits
  whole: 1 to 64
  tune: auto, 1:16:*2
axis groups: work-groups per compute unit, if there is work for them; auto is 32, on a CPU 4
  whole: 1 to 4Ki
  tune: auto, 4:64:*2
  only: wide, onepass, read

variant tree2: One load per work-item, then a tree in local memory that halves at each barrier.
  defines: RADIX=2
variant tree4: A tree by four: half the barriers.
  defines: RADIX=4
variant tree8: A tree by eight: a third of the barriers.
  defines: RADIX=8
variant subgroup: Sub-groups add their values without local memory; one barrier in all.
variant wide: 128-bit loads, several in flight, with just enough groups to fill the device; a tree by four at the end.
variant onepass: wide with the groups' sums added by an atomic instead of a second launch.
variant read: Reads everything and combines nothing across work-items: the upper bound for the others.
*/
