// gemm_pipelined: serpentine with the next values read from local memory while these are multiplied, in tiles that fit
// the size of C. gemm.h in front of it says what it is made of.
//   PREFETCH     1: values are read ahead, which takes registers that small tiles rather have for more groups
//   GEMM_STREAM  1: as many work-groups as are resident, each with an equal share of all tiles' k
//   GEMM_RED4    1 when the device adds four floats atomically in one instruction
// A tile's loop over k stands in both kernels: a form in which both called a function for it took ten more integer
// instructions in each step, and 14 % longer at 2048 and more (H200; cllab run gemm_pipelined --axis m=2048,4096).

#if GEMM_STREAM
// Stream-K (Osama, Merrill, Cecka, Garland, Owens: "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication
// on the GPU", PPoPP 2023): only as many work-groups as are resident at once, so that none idles through a last round of few tiles. Each
// makes the same number of whole tiles, as many as there are for all. The k of the tiles left over, one tile after the other, is cut into
// equal shares, in steps of DEPTH, whatever tiles a cut divides. A group does its share first: the atomic additions that it takes
// are still under way while whole tiles are multiplied.
// The fewest steps of a share, so that sums are not added for next to no work. A guess: no other number was tried.
#define LEAST_STEPS 4

INLINE void add_atomically(global float* p, float value) {
#if defined(LAB_NVIDIA)
    __asm__ volatile("red.global.add.f32 [%0], %1;" : : "l"(p), "f"(value) : "memory");
#else
    int was, now = 0;  // the first exchange fails and tells what is there, so that nothing is read beside atomic operations
    do {
        was = now;
        now = atomic_cmpxchg((volatile global int*)p, was, as_int(as_float(was) + value));
    } while (now != was);
#endif
}

// acc to a tile that other groups add to as well; top and left are the tile's, row and column the item's in it.
INLINE void add_part(float (*acc)[ITEM_N], local float* pool, global float* c, int top, int left, int row, int column, int m, int n) {
#ifdef GEMM_RED4
#pragma unroll
    for (int y = 0; y < 8; ++y) {
        const int r = top + row + (y & 3) + (y >> 2) * 16;
#pragma unroll
        for (int h = 0; h < ITEM_N / 4; ++h) {
            const int x = left + column + h * 32;
            global float* p = c + (size_t)r * n + x;
            const float* v = acc[y] + 4 * h;
            if (INSIDE(r < m && x < n))
                __asm__ volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" : : "l"(p), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]) : "memory");
        }
    }
#else
    // Through local memory, an eighth of the tile's rows at a time, so that neighbouring items add to neighbouring floats: as they are, the sums of 32
    // items that one instruction adds lie in 16 sectors, two in each.
#pragma unroll
    for (int y = 0; y < 8; ++y) {
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int h = 0; h < ITEM_N / 4; ++h)
            *(local float4*)(pool + (row / 32 * 4 + row % 32 / 4) * TILE_N + column + 32 * h) =
                (float4)(acc[y][4 * h], acc[y][4 * h + 1], acc[y][4 * h + 2], acc[y][4 * h + 3]);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
        for (int at = get_local_id(0); at < TILE_M / 8 * TILE_N; at += GROUP) {
            const int from = at / TILE_N, r = top + from / 4 * 32 + from % 4 * 4 + (y & 3) + (y >> 2) * 16, x = left + at % TILE_N;
            if (INSIDE(r < m && x < n)) add_atomically(c + (size_t)r * n + x, pool[at]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}
#endif

#if SLICES > 1
// The sums of the upper half of the teams are added to those of the lower half, until the first team has all. The tiles, which
// nobody needs any more, take them, `rows` of the eight at a time.
INLINE void add_slices(float (*acc)[ITEM_N], local float* pool, int team, int id) {
    const int need = SLICES / 2 * TILE_M * TILE_N, have = 2 * (TILE_SIZE_A + TILE_SIZE_B);
    const int rows = need <= have ? 8 : need <= 2 * have ? 4 : 2;
#pragma unroll
    for (int teams = SLICES / 2; teams > 0; teams /= 2) {
#pragma unroll
        for (int first = 0; first < 8; first += rows) {
            if (team >= teams && team < 2 * teams) {
                local float* to = pool + (team - teams) * rows * ITEM_N * TEAM + id;
#pragma unroll
                for (int i = 0; i < rows * ITEM_N; ++i) to[i * TEAM] = acc[first + i / ITEM_N][i % ITEM_N];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (team < teams) {
                local const float* from = pool + team * rows * ITEM_N * TEAM + id;
#pragma unroll
                for (int i = 0; i < rows * ITEM_N; ++i) acc[first + i / ITEM_N][i % ITEM_N] += from[i * TEAM];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}
#endif

#if GEMM_PACKED
// Copies of A and of B, as the NDRange's dimension 2 says, in which whole tiles lie: zeros right of the last column and below the
// last row. A work-item makes PACK rows of a column.
#define PACK 8
kernel void gemm_pack(global const float* restrict a, global const float* restrict b, global float* restrict packed_a,
                      global float* restrict packed_b, int m, int n, int k) {
    const int x = get_global_id(0), top = get_global_id(1) * PACK;
    const bool is_a = get_global_id(2) == 0;
    global const float* from = is_a ? a : b;
    global float* to = is_a ? packed_a : packed_b;
    const int rows = is_a ? m : k, columns = is_a ? k : n;
    const int wide = is_a ? WHOLE(k, DEPTH) : WHOLE(n, TILE_N), high = is_a ? WHOLE(m, TILE_M) : WHOLE(k, DEPTH);
    if (x >= wide) return;
    float column[PACK];
#pragma unroll
    for (int i = 0; i < PACK; ++i) column[i] = top + i < rows && x < columns ? from[(size_t)(top + i) * columns + x] : 0;
#pragma unroll
    for (int i = 0; i < PACK; ++i) {
        if (top + i < high) to[(size_t)(top + i) * wide + x] = column[i];
    }
}
#endif

// Of the copies: the rows of A and the floats of a row of B; k is theirs too.
#if GEMM_PACKED
#define SIZES_OF_COPIES , int rows, int pitch
#else
#define SIZES_OF_COPIES
#endif

#if !GEMM_STREAM
// A work-group makes a tile of C.
kernel PROMISE void KERNEL(global const float* restrict a, global const float* restrict b, global float* restrict c, int m, int n,
                           int k SIZES_OF_COPIES) {
    PLACE_ITEM
    const int top = get_group_id(1) * TILE_M, left = get_group_id(0) * TILE_N;
    PLACE_VALUES
    float acc[8][ITEM_N];
#pragma unroll
    for (int i = 0; i < 8 * ITEM_N; ++i) acc[i / ITEM_N][i % ITEM_N] = 0;
    float4 fa[FETCHES_A], fb[FETCHES_B];
    source_t from;
#if !GEMM_PACKED
    const int rows = m, pitch = n;
#endif
    point_sources(&from, a, b, top, left, rows, pitch, k);
    local float pool[2 * (TILE_SIZE_A + TILE_SIZE_B)] __attribute__((aligned(16)));
    local float *ta = pool, *tb = pool + 2 * TILE_SIZE_A;
    int left_k = fetch_first_tiles(fa, fb, &from, pitch, k);
    store_tiles(ta, tb, fa, fb);
    barrier(CLK_LOCAL_MEM_FENCE);
    int now = 0;
#if PREFETCH
    // The next step's values are on their way from local memory while one step's are multiplied, into the next tile too.
    // m > 0 always holds, which the compiler does not know. If it saw that both ways into the loop end with the same reads, it
    // would make them one at the loop's head, and the first multiplications would wait for it.
    float av[2][8], bv[2][ITEM_N];
#pragma unroll
    for (int i = 0; i < 8; ++i) av[0][i] = 0;
#pragma unroll
    for (int i = 0; i < ITEM_N; ++i) bv[0][i] = 0;
    if (m > 0) read_values(av[0], bv[0], ta + now * TILE_SIZE_A + at_a, tb + now * TILE_SIZE_B + at_b);
#endif
    for (; left_k > -DEPTH; left_k -= DEPTH) {
        if (left_k > 0) fetch_tiles(fa, fb, &from, pitch);
#if PREFETCH
#pragma unroll
        for (int i = 0; i < TILE_K; ++i) {
            if (i == TILE_K - 1) {
                // The last time too, when nobody reads what it stores: a branch here would keep the compiler from overlapping.
                now ^= 1;
                store_tiles(ta + now * TILE_SIZE_A, tb + now * TILE_SIZE_B, fa, fb);
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            const int next = (i + 1) % TILE_K;
            read_values(av[next & 1], bv[next & 1], ta + now * TILE_SIZE_A + at_a + next * PITCH_A,
                        tb + now * TILE_SIZE_B + at_b + next * TILE_N);
            multiply(acc, av[i & 1], bv[i & 1]);
        }
#else
        multiply_tiles(acc, ta + now * TILE_SIZE_A + at_a, tb + now * TILE_SIZE_B + at_b);
        now ^= 1;
        if (left_k > 0) store_tiles(ta + now * TILE_SIZE_A, tb + now * TILE_SIZE_B, fa, fb);
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
#if SLICES > 1
    barrier(CLK_LOCAL_MEM_FENCE);
    add_slices(acc, pool, team, id);
    if (team > 0) return;
#endif
    add_to_c(acc, c, top + row, left + column, m, n);
}
#endif

#if GEMM_STREAM
// A work-group makes its share of the tiles left over, then its whole tiles.
kernel PROMISE void KERNEL(global const float* restrict a, global const float* restrict b, global float* restrict c, int m, int n,
                           int k SIZES_OF_COPIES) {
    PLACE_ITEM
    PLACE_VALUES
    float acc[8][ITEM_N];
    float4 fa[FETCHES_A], fb[FETCHES_B];
    source_t from;
#if !GEMM_PACKED
    const int rows = m, pitch = n;
#endif
    local float pool[2 * (TILE_SIZE_A + TILE_SIZE_B)] __attribute__((aligned(16)));
    local float *ta = pool, *tb = pool + 2 * TILE_SIZE_A;
    int now = 0;
    const int groups = get_num_groups(0), steps = (k + DEPTH - 1) / DEPTH, wide = (n + TILE_N - 1) / TILE_N;
    const int tiles = (m + TILE_M - 1) / TILE_M * wide, whole = tiles / groups * groups, shared_steps = (tiles - whole) * steps;
    const int share = max((shared_steps + groups - 1) / groups, LEAST_STEPS);
    int tile = get_group_id(0), step = min(tile * share, shared_steps);
    const int end = min(step + share, shared_steps);
    while (step < end || tile < whole) {
        // Steps first to last - 1 of the tile. If k fills no last one, step 0 is short.
        int at = tile, first = 0, last = steps;
        if (step < end) {
            at = whole + step / steps;
            first = step % steps;
            last = min(steps, first + end - step);
            step += last - first;
        } else {
            tile += groups;
        }
        const int top = at / wide * TILE_M, left = at % wide * TILE_N;
        const int first_k = first == 0 ? 0 : FILLED ? first * DEPTH : (k - 1) % DEPTH + 1 + (first - 1) * DEPTH;
        int left_k = (last - first - 1) * DEPTH;
#pragma unroll
        for (int i = 0; i < 8 * ITEM_N; ++i) acc[i / ITEM_N][i % ITEM_N] = 0;
        point_sources(&from, a + first_k, b + (size_t)first_k * pitch, top, left, rows, pitch, k);
        if (FILLED || first > 0) fetch_tiles(fa, fb, &from, pitch);
        else fetch_first_tiles(fa, fb, &from, pitch, k);
        now ^= 1;  // others may still read from the tile that the piece before left there
        store_tiles(ta + now * TILE_SIZE_A, tb + now * TILE_SIZE_B, fa, fb);
        barrier(CLK_LOCAL_MEM_FENCE);
#if PREFETCH
        float av[2][8], bv[2][ITEM_N];
#pragma unroll
        for (int i = 0; i < 8; ++i) av[0][i] = 0;
#pragma unroll
        for (int i = 0; i < ITEM_N; ++i) bv[0][i] = 0;
        if (m > 0) read_values(av[0], bv[0], ta + now * TILE_SIZE_A + at_a, tb + now * TILE_SIZE_B + at_b);
#endif
        for (; left_k > -DEPTH; left_k -= DEPTH) {
            if (left_k > 0) fetch_tiles(fa, fb, &from, pitch);
#if PREFETCH
#pragma unroll
            for (int i = 0; i < TILE_K; ++i) {
                if (i == TILE_K - 1) {
                    now ^= 1;
                    store_tiles(ta + now * TILE_SIZE_A, tb + now * TILE_SIZE_B, fa, fb);
                    barrier(CLK_LOCAL_MEM_FENCE);
                }
                const int next = (i + 1) % TILE_K;
                read_values(av[next & 1], bv[next & 1], ta + now * TILE_SIZE_A + at_a + next * PITCH_A,
                            tb + now * TILE_SIZE_B + at_b + next * TILE_N);
                multiply(acc, av[i & 1], bv[i & 1]);
            }
#else
            multiply_tiles(acc, ta + now * TILE_SIZE_A + at_a, tb + now * TILE_SIZE_B + at_b);
            now ^= 1;
            if (left_k > 0) store_tiles(ta + now * TILE_SIZE_A, tb + now * TILE_SIZE_B, fa, fb);
            barrier(CLK_LOCAL_MEM_FENCE);
#endif
        }
        if (last - first == steps) add_to_c(acc, c, top + row, left + column, m, n);
        else add_part(acc, pool, c, top, left, row, column, m, n);
    }
}
#endif
