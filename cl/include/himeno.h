// himeno.h: what the sweeps of himeno.cl are made of: the sum of a group, the coefficients, points as vectors. The host puts
// it in front.
//
// Defined by the host, because the static original has them as constants too: GRID_I, GRID_J, GRID_K (points, boundary
// included; k is contiguous), ROW (words from one row to the next), LX, LY, LZ (the work-group), LANES (points of a row
// that an item computes at once), PLANES (planes an item goes through), K_ID, J_ID, I_ID (the dimension of the NDRange along
// each axis of the grid), START (words in front of each array), HIMENO_CONTRACT (fma allowed).
#ifndef HIMENO_H
#define HIMENO_H

#if HIMENO_CONTRACT
#pragma OPENCL FP_CONTRACT ON
#endif

#define PLANE (GRID_J * ROW)
#define OMEGA 0.8f
#define GROUP (LX * LY * LZ)
#define SHAPE __attribute__((reqd_work_group_size(LX, LY, LZ)))

#if DOUBLE
typedef double wide_t;
#else
typedef float wide_t;
#endif

// Sums one value of each work-item in pairs; the error grows with the logarithm of the group's size. `sums` has GROUP
// elements. Every item of the group must call it.
static inline void store_group_sum(float mine, local float* sums, global float* partial) {
    const size_t group = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
#if GROUP == 1
    partial[group] = mine;
#else
    const int me = (int)((get_local_id(2) * LY + get_local_id(1)) * LX + get_local_id(0));
    sums[me] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = GROUP; n > 1; n = (n + 1) / 2) {
        const int half_n = (n + 1) / 2;
        if (me + half_n < n) sums[me] += sums[me + half_n];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0) partial[group] = sums[0];
#endif
}

#define COEFFICIENTS                                                                                              \
    global const float *restrict a0, global const float *restrict a1, global const float *restrict a2,            \
    global const float *restrict a3, global const float *restrict b0, global const float *restrict b1,            \
    global const float *restrict b2, global const float *restrict c0, global const float *restrict c1,            \
    global const float *restrict c2, global const float *restrict bnd, global const float *restrict wrk1

#if defined(HIMENO_REGISTERS) || defined(HIMENO_WIDE)
// LANES neighbouring points as one vector. BEFORE and AFTER are the vectors one point to the left and right of `v`.
#if LANES == 1
typedef float vec;
#define BEFORE(v, left) (left)
#define AFTER(v, right) (right)
#define SUM(v) (v)
#elif LANES == 2
typedef float2 vec;
#define BEFORE(v, left) ((float2)(left, (v).s0))
#define AFTER(v, right) ((float2)((v).s1, right))
#define SUM(v) ((v).s0 + (v).s1)
#elif LANES == 4
typedef float4 vec;
#define BEFORE(v, left) ((float4)(left, (v).s0, (v).s1, (v).s2))
#define AFTER(v, right) ((float4)((v).s1, (v).s2, (v).s3, right))
#define SUM(v) (((v).s0 + (v).s1) + ((v).s2 + (v).s3))
#elif LANES == 8
typedef float8 vec;
#define BEFORE(v, left) ((float8)(left, (v).s0, (v).s1, (v).s2, (v).s3, (v).s4, (v).s5, (v).s6))
#define AFTER(v, right) ((float8)((v).s1, (v).s2, (v).s3, (v).s4, (v).s5, (v).s6, (v).s7, right))
#define SUM(v) ((((v).s0 + (v).s1) + ((v).s2 + (v).s3)) + (((v).s4 + (v).s5) + ((v).s6 + (v).s7)))
#endif
#define LOAD(a, x) (*(global const vec*)((a) + (x)))

// The first and the last point of a row are boundary: their ss is nothing, so p keeps its value there. Whatever those two
// lanes were computed from (a neighbouring row, words between the rows) does not matter, not even a NaN.
static inline vec inside_row(vec ss, int k) {
#if LANES == 1
    return k == 0 || k == GRID_K - 1 ? 0.0f : ss;
#else
    ss.s0 = k == 0 ? 0.0f : ss.s0;
#if LANES == 2
    ss.s1 = k == GRID_K - LANES ? 0.0f : ss.s1;
#elif LANES == 4
    ss.s3 = k == GRID_K - LANES ? 0.0f : ss.s3;
#else
    ss.s7 = k == GRID_K - LANES ? 0.0f : ss.s7;
#endif
    return ss;
#endif
}
#endif

#endif
