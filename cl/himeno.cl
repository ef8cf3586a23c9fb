// himeno: a 19-point Jacobi sweep with twelve coefficient streams, bound by memory at 34 operations for 56 bytes per point.
// Every variant computes each point with the same operations in the same order, so the new field equals the host's bit
// for bit; variants differ in which work-item computes a point, where its neighbours come from, and what else is moved.
// What they share is in include/himeno.h, which the host puts in front and which says what it defines.

// The residual from the sums of the groups: one group of GOSA_ITEMS work-items, in double where the device has it.
kernel __attribute__((reqd_work_group_size(GOSA_ITEMS, 1, 1)))
void himeno_gosa(global const float* restrict partial, const int count, global float* restrict gosa) {
    local wide_t sums[GOSA_ITEMS];
    const int me = (int)get_local_id(0);
    wide_t sum = 0;
    for (int n = me; n < count; n += GOSA_ITEMS) sum += partial[n];
    sums[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = GOSA_ITEMS; n > 1; n = (n + 1) / 2) {
        const int half_n = (n + 1) / 2;
        if (me + half_n < n) sums[me] += sums[me + half_n];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0) *gosa = (float)sums[0];
}

#if defined(HIMENO_TRANSFERS) || defined(HIMENO_REGION) || defined(HIMENO_WHOLE) || defined(HIMENO_DATA) || \
    defined(HIMENO_RESIDENT) || defined(HIMENO_SCHEDULE) || defined(HIMENO_PADDED)
#define POINT_SWEEP 1
#define K_FIRST 1      // as the loops of the original begin: an item's k is its index plus one
#define COPY_KERNEL 1
#elif defined(HIMENO_SWAP)
#define POINT_SWEEP 1
#define K_FIRST 0      // the first item of a row idles, and the loads of a row begin where the row does: aligned
#endif

#if defined(HIMENO_REGION)
// A compiler that moves array sections gives the device array the section's shape: of the coefficients the points inside the
// boundary, so that no row begins where a row of p does, nor at any alignment.
#define HERE(a) a[((i - 1) * (GRID_J - 2) + j - 1) * (GRID_K - 2) + k - 1]
#else
#define HERE(a) a[x]
#endif

#if POINT_SWEEP
// One work-item a point, or PLANES of them one behind the other: the neighbours come from the caches.
kernel SHAPE void KERNEL(global const float* restrict p, global float* restrict q, COEFFICIENTS,
                         global float* restrict partial) {
    local float sums[GROUP];
    const int k = (int)get_global_id(K_ID) + K_FIRST, j = (int)get_global_id(J_ID) + 1;
    const int first = (int)get_global_id(I_ID) * PLANES + 1, last = min(first + PLANES, GRID_I - 1);
    float gosa = 0;
    for (int i = first; i < last; ++i) {
        if (!(k > 0 && k < GRID_K - 1 && j < GRID_J - 1)) break;
        const int x = START + i * PLANE + j * ROW + k;
        const float s0 =
            HERE(a0) * p[x + PLANE] + HERE(a1) * p[x + ROW] + HERE(a2) * p[x + 1] +
            HERE(b0) * (p[x + PLANE + ROW] - p[x + PLANE - ROW] - p[x - PLANE + ROW] + p[x - PLANE - ROW]) +
            HERE(b1) * (p[x + ROW + 1] - p[x - ROW + 1] - p[x + ROW - 1] + p[x - ROW - 1]) +
            HERE(b2) * (p[x + PLANE + 1] - p[x - PLANE + 1] - p[x + PLANE - 1] + p[x - PLANE - 1]) +
            HERE(c0) * p[x - PLANE] + HERE(c1) * p[x - ROW] + HERE(c2) * p[x - 1] + HERE(wrk1);
        const float ss = (s0 * HERE(a3) - p[x]) * HERE(bnd);
        gosa += ss * ss;
        q[x] = p[x] + OMEGA * ss;
    }
    store_group_sum(gosa, sums, partial);
}
#endif

#if COPY_KERNEL
// What the original does after each sweep: 8 of its 64 bytes a point.
kernel SHAPE void himeno_copy(global float* restrict p, global const float* restrict q) {
    const int k = (int)get_global_id(K_ID) + K_FIRST, j = (int)get_global_id(J_ID) + 1;
    const int first = (int)get_global_id(I_ID) * PLANES + 1, last = min(first + PLANES, GRID_I - 1);
    if (k >= GRID_K - 1 || j >= GRID_J - 1) return;
    for (int i = first; i < last; ++i) {
        const int x = START + i * PLANE + j * ROW + k;
        p[x] = q[x];
    }
}
#endif

#ifdef HIMENO_INTERLEAVED
// The coefficients as the first C version has them, the short index last: a[point][4], b[point][3], c[point][3]. A load of
// one component by neighbouring items is strided by 16 or 12 bytes.
kernel SHAPE void KERNEL(global const float* restrict p, global float* restrict q, global const float* restrict a,
                         global const float* restrict b, global const float* restrict c, global const float* restrict bnd,
                         global const float* restrict wrk1, global float* restrict partial) {
    local float sums[GROUP];
    const int k = (int)get_global_id(0), j = (int)get_global_id(1) + 1, i = (int)get_global_id(2) + 1;
    float gosa = 0;
    if (k > 0 && k < GRID_K - 1 && j < GRID_J - 1 && i < GRID_I - 1) {
        const int x = i * PLANE + j * ROW + k;
        const size_t x4 = (size_t)x * 4, x3 = (size_t)x * 3;
        const float s0 =
            a[x4] * p[x + PLANE] + a[x4 + 1] * p[x + ROW] + a[x4 + 2] * p[x + 1] +
            b[x3] * (p[x + PLANE + ROW] - p[x + PLANE - ROW] - p[x - PLANE + ROW] + p[x - PLANE - ROW]) +
            b[x3 + 1] * (p[x + ROW + 1] - p[x - ROW + 1] - p[x + ROW - 1] + p[x - ROW - 1]) +
            b[x3 + 2] * (p[x + PLANE + 1] - p[x - PLANE + 1] - p[x + PLANE - 1] + p[x - PLANE - 1]) +
            c[x3] * p[x - PLANE] + c[x3 + 1] * p[x - ROW] + c[x3 + 2] * p[x - 1] + wrk1[x];
        const float ss = (s0 * a[x4 + 3] - p[x]) * bnd[x];
        gosa = ss * ss;
        q[x] = p[x] + OMEGA * ss;
    }
    store_group_sum(gosa, sums, partial);
}
#endif

#ifdef HIMENO_LOCAL
// 2.5-D blocking: a group keeps a tile of three planes with its rim in local memory and goes along i. The fourth slot
// takes the plane to come while slower items still read the other three, so one barrier a plane is enough. A group that is
// LZ > 1 planes deep keeps LZ planes and one on either side, as the article's compiler did (18x6x6 for 16x4x4), and reads
// LZ + 2 planes for LZ; it waits twice, before it overwrites the tile and before it reads it.
#define TILE_K (LX + 2)
#define TILE_J (LY + 2)
#define TILE (TILE_K * TILE_J)
static inline void load_tile(local float* tile, global const float* plane, int j0, int k0) {
    for (int t = (int)((get_local_id(2) * LY + get_local_id(1)) * LX + get_local_id(0)); t < TILE; t += GROUP) {
        // What lies outside the plane is never used: it is read from the edge. No `%`: LLVM makes one division of both and
        // freezes its operand, an instruction that Oclgrind 21.10 cannot follow when it looks for uninitialised values.
        const int row = t / TILE_K, column = t - row * TILE_K;
        const int j = min(j0 + row, GRID_J - 1), k = clamp(k0 + column, 0, GRID_K - 1);
        tile[t] = plane[j * ROW + k];
    }
}

kernel SHAPE void KERNEL(global const float* restrict p, global float* restrict q, COEFFICIENTS,
                         global float* restrict partial) {
    local float sums[GROUP];
#if LZ == 1
#define SLOTS 4
#else
#define SLOTS (LZ + 2)
#endif
    local float planes[SLOTS * TILE];
    const int k = (int)get_global_id(0), j = (int)get_global_id(1) + 1;
    const int first = (int)get_group_id(2) * PLANES + 1, last = min(first + PLANES, GRID_I - 1);
    const int j0 = (int)get_group_id(1) * LY, k0 = (int)get_group_id(0) * LX - 1;
    const int at = ((int)get_local_id(1) + 1) * TILE_K + (int)get_local_id(0) + 1;
    const bool inside = k > 0 && k < GRID_K - 1 && j < GRID_J - 1;
    float gosa = 0;
#if LZ == 1
    load_tile(planes + ((first - 1) & 3) * TILE, p + (first - 1) * PLANE, j0, k0);
    load_tile(planes + (first & 3) * TILE, p + first * PLANE, j0, k0);
#endif
    for (int bottom = first; bottom < last; bottom += LZ) {
#if LZ == 1
        const int i = bottom;
        load_tile(planes + ((i + 1) & 3) * TILE, p + (i + 1) * PLANE, j0, k0);
        local const float* m = planes + ((i - 1) & 3) * TILE + at;
        local const float* c = planes + (i & 3) * TILE + at;
        local const float* n = planes + ((i + 1) & 3) * TILE + at;
#else
        const int i = bottom + (int)get_local_id(2);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int slot = 0; slot < SLOTS; ++slot)
            load_tile(planes + slot * TILE, p + min(bottom - 1 + slot, GRID_I - 1) * PLANE, j0, k0);
        local const float* m = planes + (int)get_local_id(2) * TILE + at;
        local const float* c = m + TILE;
        local const float* n = c + TILE;
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        if (inside && i < last) {
            const int x = i * PLANE + j * ROW + k;
            const float s0 = a0[x] * n[0] + a1[x] * c[TILE_K] + a2[x] * c[1] +
                             b0[x] * (n[TILE_K] - n[-TILE_K] - m[TILE_K] + m[-TILE_K]) +
                             b1[x] * (c[TILE_K + 1] - c[1 - TILE_K] - c[TILE_K - 1] + c[-TILE_K - 1]) +
                             b2[x] * (n[1] - m[1] - n[-1] + m[-1]) +
                             c0[x] * m[0] + c1[x] * c[-TILE_K] + c2[x] * c[-1] + wrk1[x];
            const float ss = (s0 * a3[x] - c[0]) * bnd[x];
            gosa += ss * ss;
            q[x] = c[0] + OMEGA * ss;
        }
    }
    store_group_sum(gosa, sums, partial);
}
#endif

#if defined(HIMENO_REGISTERS) || (defined(HIMENO_WIDE) && !defined(LAB_CPU))
// 2.5-D march with the planes in registers: an item goes along i, and of each plane it keeps its own points and their
// four direct neighbours for the two planes to come: 5 of 19 values of p are new from memory, 4 (the diagonals of the
// middle plane) come from the first-level cache, 10 were here already. Names: m, c, n for the planes i-1, i, i+1; u and d
// for the rows j+1 and j-1; l and r for the points left and right of the vector.
kernel SHAPE void KERNEL(global const float* restrict p, global float* restrict q, COEFFICIENTS,
                         global float* restrict partial) {
    local float sums[GROUP];
    const int k = (int)get_global_id(0) * LANES, j = (int)get_global_id(1) + 1;
    const int first = (int)get_global_id(2) * PLANES + 1, last = min(first + PLANES, GRID_I - 1);
    float gosa = 0;
    if (k < GRID_K && j < GRID_J - 1 && first < last) {
        int x = first * PLANE + j * ROW + k;
        vec m = LOAD(p, x - PLANE), mu = LOAD(p, x - PLANE + ROW), md = LOAD(p, x - PLANE - ROW);
        vec c = LOAD(p, x), cu = LOAD(p, x + ROW), cd = LOAD(p, x - ROW);
        float ml = p[x - PLANE - 1], mr = p[x - PLANE + LANES], cl = p[x - 1], cr = p[x + LANES];
        vec squares = (vec)(0.0f);
        for (int i = first; i < last; ++i, x += PLANE) {
            const vec n = LOAD(p, x + PLANE), nu = LOAD(p, x + PLANE + ROW), nd = LOAD(p, x + PLANE - ROW);
            const float nl = p[x + PLANE - 1], nr = p[x + PLANE + LANES];
            const float cul = p[x + ROW - 1], cur = p[x + ROW + LANES], cdl = p[x - ROW - 1], cdr = p[x - ROW + LANES];
            const vec s0 = LOAD(a0, x) * n + LOAD(a1, x) * cu + LOAD(a2, x) * AFTER(c, cr) +
                           LOAD(b0, x) * (nu - nd - mu + md) +
                           LOAD(b1, x) * (AFTER(cu, cur) - AFTER(cd, cdr) - BEFORE(cu, cul) + BEFORE(cd, cdl)) +
                           LOAD(b2, x) * (AFTER(n, nr) - AFTER(m, mr) - BEFORE(n, nl) + BEFORE(m, ml)) +
                           LOAD(c0, x) * m + LOAD(c1, x) * cd + LOAD(c2, x) * BEFORE(c, cl) + LOAD(wrk1, x);
            const vec ss = inside_row((s0 * LOAD(a3, x) - c) * LOAD(bnd, x), k);
            squares += ss * ss;
            *(global vec*)(q + x) = c + OMEGA * ss;
            m = c, mu = cu, md = cd, ml = cl, mr = cr;
            c = n, cu = nu, cd = nd, cl = nl, cr = nr;
        }
        gosa = SUM(squares);
    }
    store_group_sum(gosa, sums, partial);
}
#endif

#if defined(HIMENO_WIDE) && defined(LAB_CPU)
// On a CPU the prefetchers follow rows, not columns: an item takes PLANES planes and walks every row with vectors. Loads at
// k-1 and k+1 are unaligned vectors; building them from two aligned ones costs more shuffles than it saves loads.
#if LANES == 1
#define LOAD_ANY(x) p[x]
#elif LAB_UNALIGNED
typedef vec __attribute__((aligned(4))) vec_anywhere;
#define LOAD_ANY(x) (*(global const vec_anywhere*)(p + (x)))
#elif LANES == 2
#define LOAD_ANY(x) vload2(0, p + (x))
#elif LANES == 4
#define LOAD_ANY(x) vload4(0, p + (x))
#else
#define LOAD_ANY(x) vload8(0, p + (x))
#endif

// Twelve coefficients beside p and q are more streams than the prefetchers of a core follow, so each array is asked for a few lines
// ahead. Where all of them lie in a cache that gains nothing and costs 4 % (S). PoCL's prefetch() is empty (3.1), clang's is not.
#if defined(LAB_POCL) && 56ul * GRID_I * GRID_J * GRID_K > (64ul << 20)
#define AHEAD 64
static inline void ask_for(global const float* a, int x) { __builtin_prefetch((const void*)(size_t)(a + x + AHEAD)); }
#else
static inline void ask_for(global const float* a, int x) {}
#endif

kernel SHAPE void KERNEL(global const float* restrict p, global float* restrict q, COEFFICIENTS,
                         global float* restrict partial) {
    const int first = (int)get_global_id(0) * PLANES + 1, last = min(first + PLANES, GRID_I - 1);
    wide_t gosa = 0;
    for (int i = first; i < last; ++i) {
        for (int j = 1; j < GRID_J - 1; ++j) {
            const int row = i * PLANE + j * ROW;
            vec squares = (vec)(0.0f);
            for (int k = 0; k < GRID_K; k += LANES) {
                const int x = row + k;
                if (k % 16 == 0) {  // a line of 64 bytes
                    ask_for(a0, x), ask_for(a1, x), ask_for(a2, x), ask_for(a3, x), ask_for(b0, x), ask_for(b1, x);
                    ask_for(b2, x), ask_for(c0, x), ask_for(c1, x), ask_for(c2, x), ask_for(bnd, x), ask_for(wrk1, x);
                }
                const vec c = LOAD(p, x);
                const vec s0 =
                    LOAD(a0, x) * LOAD(p, x + PLANE) + LOAD(a1, x) * LOAD(p, x + ROW) + LOAD(a2, x) * LOAD_ANY(x + 1) +
                    LOAD(b0, x) * (LOAD(p, x + PLANE + ROW) - LOAD(p, x + PLANE - ROW) - LOAD(p, x - PLANE + ROW) +
                                   LOAD(p, x - PLANE - ROW)) +
                    LOAD(b1, x) * (LOAD_ANY(x + ROW + 1) - LOAD_ANY(x - ROW + 1) - LOAD_ANY(x + ROW - 1) +
                                   LOAD_ANY(x - ROW - 1)) +
                    LOAD(b2, x) * (LOAD_ANY(x + PLANE + 1) - LOAD_ANY(x - PLANE + 1) - LOAD_ANY(x + PLANE - 1) +
                                   LOAD_ANY(x - PLANE - 1)) +
                    LOAD(c0, x) * LOAD(p, x - PLANE) + LOAD(c1, x) * LOAD(p, x - ROW) + LOAD(c2, x) * LOAD_ANY(x - 1) +
                    LOAD(wrk1, x);
                const vec ss = inside_row((s0 * LOAD(a3, x) - c) * LOAD(bnd, x), k);
                squares += ss * ss;
                *(global vec*)(q + x) = c + OMEGA * ss;
            }
            gosa += SUM(squares);
        }
    }
    partial[get_global_id(0)] = (float)gosa;
}
#endif

/* family
question: How close does a 19-point Jacobi sweep come to the bandwidth of memory, and what does each step towards it
    gain?

axis size: grid, boundary included; auto is S on a CPU, and L on a GPU that has room for it
  choice:
  usual: auto
axis data: coefficients while timing: the benchmark's constants, or random ones. The first verification always uses
    random ones
  choice: prescribed, random
axis contract: whether the compiler may fuse multiply and add; the result is then compared within a tolerance
  choice: off, on
axis sweeps: iterations between the transfers
  whole: 1 to 1000
  usual: 10
  only: region, whole
axis local: work-group: work-items along x, y and z, which are k, j and i where no order says otherwise; auto is chosen
    by the variant
  unit: work-item
  shape:
  tune: auto, 32x1, 32x2, 32x4, 32x8, 64x1, 64x2, 64x4, 64x8, 128x1, 128x2, 128x4, 256x1, 256x2, 512x1, 1024x1, 16x4x4,
    32x2x2
axis pad: words added to each row; auto is 32 for padded, 1 for the steps before it, as in the static C version, else 0
  unit: word
  whole: 0 to 1Ki
  tune: auto, 0, 8, 16, 32, 64
axis start: words in front of each array: its rows then begin at no alignment
  unit: word
  whole: 0 to 1Ki
  usual: 0
  tune: 0
  only: swap
axis order: the loops: which of i, j and k lies along x, y and z of the NDRange; rows of memory run along k
  choice: kji, kij, jki, jik, ikj, ijk
  tune: kji, kij, jki, jik, ikj, ijk
  only: swap
axis planes: planes that a work-item or a tile passes through; auto fills the device several times, for schedule it is a
    16th of the grid
  whole: 1 to 512
  tune: auto, 1, 4, 8, 16, 32, 64, 128, 254
  only: schedule, local, registers, wide
axis lanes: points of a row that a work-item computes at once; auto is 4, on a CPU 8, on a simulator 1
  choice: 1, 2, 4, 8
  usual: auto
  tune: auto, 1, 2, 4, 8
  only: wide

variant transfers: Step 1 of the article: in each iteration every array goes to the device and p comes back.
variant region: Step 2: transfers only around a loop of iterations, plane by plane, into arrays of the shape of the
    sections that a compiler moves.
variant whole: Step 3: the same with one transfer per array.
variant data: Step 4: the arrays stay on the device; the residual comes back in each iteration.
variant resident: Step 5: nothing comes back inside the loop.
variant schedule: Step 6: work-groups are rows of up to 256 points instead of tiles of 16x16, 16 of them along i; `cllab
    tune` varies them.
variant padded: Step 7: rows begin at multiples of 32 words.
variant swap: No copy kernel: old and new p change places; both have the boundary.
variant interleaved: swap with the coefficients interleaved as in the first C version: a[point][4], b[point][3],
    c[point][3].
variant local: 2.5-D blocking: a tile in local memory moves along i; local=16x4x4 makes it 18x6x6 points, 256 makes it
    258x3x3.
variant registers: 2.5-D blocking in registers: each work-item keeps five values of each plane as it moves along i.
variant wide: registers on vectors of `lanes` points; on a CPU each work-item takes whole rows of its planes.
*/
