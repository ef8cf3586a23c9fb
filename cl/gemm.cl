// gemm: C += A B in float; A is m x k, B is k x n, C is m x n, all row by row without padding; any m, n, k >= 1.
//
// 2 m n k operations on 4 (mk + kn + 2mn) bytes: the arithmetic wins once every value fetched is used often enough. The
// variants climb that ladder: from memory each time (naive), each value fetched once per 16x16 work-group (local), once per
// 128x128 work-group and each local value used eight times from registers (tile8), the next tile fetched while this one
// is multiplied (buffered), the order of the multiply-adds changed so that neighbours share an operand (serpentine), and the
// next values read from local memory while these are multiplied, in tiles that fit the size of C (pipelined).
// What those with tiles in registers share is in include/gemm.h, which the host puts in front.
// `vector` is the ladder of a CPU: no local memory, a block of C in vector registers, rows of B in the cache.
//   TILE_M, TILE_N, TILE_K, ITEM_N, SLICES  of the variants with tiles in registers: see there
//   PREFETCH     1: pipelined reads values ahead
//   GEMM_LIMITED 1 when the build options limit the registers
//   PAD          floats between two rows of naive and local: a leading dimension that is no power of two
//   GEMM_ALIGNED 1 when k and n are multiples of four, so that rows can be read in 128-bit words
//   GEMM_WHOLE   1 when m, n and k are multiples of the tile, so that no bound needs a test
//   GEMM_PACKED  1: pipelined reads copies of A and B whose rows are aligned and which whole tiles fill
//   GEMM_STREAM  1: pipelined has as many work-groups as are resident, each with an equal share of all tiles' k: see there
//   GEMM_RED4    1 when the device adds four floats atomically in one instruction

#ifdef GEMM_NAIVE
// One element per work-item, both rows and columns straight from memory.
kernel void gemm_naive(global const float* restrict a, global const float* restrict b, global float* restrict c, int m, int n,
                       int k) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= n || row >= m) return;
    float sum = c[(size_t)row * (n + PAD) + column];
    for (int i = 0; i < k; ++i) sum = fma(a[(size_t)row * (k + PAD) + i], b[(size_t)i * (n + PAD) + column], sum);
    c[(size_t)row * (n + PAD) + column] = sum;
}
#endif

#ifdef GEMM_LOCAL
#define TILE 16
// One element a work-item; a 16x16 work-group fetches a tile of A and one of B once for all.
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void gemm_local(global const float* restrict a,
                                                                            global const float* restrict b,
                                                                            global float* restrict c, int m, int n, int k) {
    local float ta[TILE][TILE], tb[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int first = 0; first < k; first += TILE) {
        ta[y][x] = row < m && first + x < k ? a[(size_t)row * (k + PAD) + first + x] : 0;
        tb[y][x] = column < n && first + y < k ? b[(size_t)(first + y) * (n + PAD) + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int i = 0; i < TILE; ++i) sum = fma(ta[y][i], tb[i][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n) c[(size_t)row * (n + PAD) + column] += sum;
}
#endif

#if defined(GEMM_TILE8) || defined(GEMM_BUFFERED) || defined(GEMM_SERPENTINE) || defined(GEMM_PIPELINED)
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

// NVIDIA's compiler takes no limit of registers for a kernel that promises the size of its groups.
#if GEMM_LIMITED
#define PROMISE
#else
#define PROMISE __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#endif
// Of the copies: the rows of A and the floats of a row of B; k is theirs too.
#if GEMM_PACKED
#define SIZES_OF_COPIES , int rows, int pitch
#else
#define SIZES_OF_COPIES
#endif
kernel PROMISE void KERNEL(global const float* restrict a, global const float* restrict b, global float* restrict c, int m, int n, int k SIZES_OF_COPIES) {
    const int team = get_local_id(0) / TEAM, id = get_local_id(0) % TEAM, warp = id / 32, lane = id % 32;
    const int row = warp / WARPS_N * 32 + lane / 8 * 4;
    const int column = warp % WARPS_N * 8 * ITEM_N + lane % 8 * 4;
#if !GEMM_STREAM
    const int top = get_group_id(1) * TILE_M, left = get_group_id(0) * TILE_N;
#endif
    // Where the values of the item's team begin in a tile.
    const int at_a = team * TILE_K * PITCH_A + row, at_b = team * TILE_K * TILE_N + column;
    float acc[8][ITEM_N];
#if !GEMM_STREAM
#pragma unroll
    for (int i = 0; i < 8 * ITEM_N; ++i) acc[i / ITEM_N][i % ITEM_N] = 0;
#endif
    float4 fa[FETCHES_A], fb[FETCHES_B];
    source_t from;
#if !GEMM_PACKED
    const int rows = m, pitch = n;
#endif
#if !GEMM_STREAM
    point_sources(&from, a, b, top, left, rows, pitch, k);
#endif
#if defined(GEMM_TILE8)
    local float pool[TILE_SIZE_A + TILE_SIZE_B] __attribute__((aligned(16)));
    local float *ta = pool, *tb = pool + TILE_SIZE_A;
    for (int left_k = k; left_k > 0; left_k -= DEPTH) {
        if (!FILLED && left_k == k) fetch_first_tiles(fa, fb, &from, pitch, k);
        else fetch_tiles(fa, fb, &from, pitch);
        store_tiles(ta, tb, fa, fb);
        barrier(CLK_LOCAL_MEM_FENCE);
        multiply_tiles(acc, ta + at_a, tb + at_b);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    // Two tiles each: one is multiplied while the next is on its way from memory, and one barrier a tile is enough.
    local float pool[2 * (TILE_SIZE_A + TILE_SIZE_B)] __attribute__((aligned(16)));
    local float *ta = pool, *tb = pool + 2 * TILE_SIZE_A;
#if GEMM_STREAM
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
#else
    int left_k = fetch_first_tiles(fa, fb, &from, pitch, k);
    store_tiles(ta, tb, fa, fb);
    barrier(CLK_LOCAL_MEM_FENCE);
    int now = 0;
#endif
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
#endif
#if GEMM_STREAM
        if (last - first == steps) add_to_c(acc, c, top + row, left + column, m, n);
        else add_part(acc, pool, c, top, left, row, column, m, n);
    }
#else
    add_to_c(acc, c, top + row, left + column, m, n);
#endif
}
#endif

#ifdef GEMM_VECTOR
// A block of ROWS x 16 of C at a time, in 2 x ROWS vectors of eight floats: with six rows twelve accumulators, two
// vectors of B and one value of A fill the sixteen AVX registers. DEPTH rows of a strip of 16 columns of B are copied
// next to each other first, else their distance of n floats puts them into few sets of the cache. A work-item takes
// every get_global_size(0)-th strip and, of each, one of get_global_size(1) ranges of rows.
#define ROWS 6
#define DEPTH 256
static inline void pack(local float8* packed, global const float* b, int n, int depth, int columns) {
    for (int i = 0; i < depth; ++i) {
        global const float* row = b + (size_t)i * n;
        if (columns == 16) {
            packed[2 * i] = vload8(0, row);
            packed[2 * i + 1] = vload8(1, row);
        } else {
            local float* to = (local float*)(packed + 2 * i);
            for (int j = 0; j < 16; ++j) to[j] = j < columns ? row[j] : 0;
        }
    }
}

static inline void add(global float* c, float8 low, float8 high, int columns) {
    if (columns == 16) {
        vstore8(vload8(0, c) + low, 0, c);
        vstore8(vload8(1, c) + high, 1, c);
    } else {
        float sum[16];
        vstore8(low, 0, sum);
        vstore8(high, 1, sum);
        for (int j = 0; j < columns; ++j) c[j] += sum[j];
    }
}

static inline void block(global const float* a, local const float8* packed, global float* c, int n, int k, int depth, int rows,
                         int columns) {
    // Rows past the last are the last one again and not stored: one body for every height.
    global const float* pa[ROWS];
    float8 low[ROWS], high[ROWS];
#pragma unroll
    for (int y = 0; y < ROWS; ++y) {
        pa[y] = a + (size_t)min(y, rows - 1) * k;
        low[y] = high[y] = 0;
    }
    for (int i = 0; i < depth; ++i) {
        const float8 b0 = packed[2 * i], b1 = packed[2 * i + 1];
#pragma unroll
        for (int y = 0; y < ROWS; ++y) {
            const float8 av = pa[y][i];
            low[y] = fma(av, b0, low[y]);
            high[y] = fma(av, b1, high[y]);
        }
    }
#pragma unroll
    for (int y = 0; y < ROWS; ++y) {
        if (y < rows) add(c + (size_t)y * n, low[y], high[y], columns);
    }
}

kernel void gemm_vector(global const float* restrict a, global const float* restrict b, global float* restrict c, int m, int n,
                        int k) {
    local float8 packed[2 * DEPTH];
    const int blocks = (m + ROWS - 1) / ROWS;
    const int run = (blocks + (int)get_global_size(1) - 1) / (int)get_global_size(1);
    const int top = get_global_id(1) * run, bottom = min(top + run, blocks);
    for (int x = get_global_id(0) * 16; x < n; x += get_global_size(0) * 16) {
        const int columns = min(16, n - x);
        for (int first = 0; first < k; first += DEPTH) {
            const int depth = min(DEPTH, k - first);
            pack(packed, b + (size_t)first * n + x, n, depth, columns);
            for (int i = top; i < bottom; ++i) {
                const int y = i * ROWS;
                block(a + (size_t)y * k + first, packed, c + (size_t)y * n + x, n, k, depth, min(ROWS, m - y), columns);
            }
        }
    }
}
#endif
