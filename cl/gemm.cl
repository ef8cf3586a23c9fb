// gemm: C += A B in float; A is m x k, B is k x n, C is m x n, all row by row without padding; any m, n, k >= 1.
//
// 2 m n k operations on 4 (mk + kn + 2mn) bytes: the arithmetic wins once every value fetched is used often enough. The
// variants climb that ladder: from memory each time (naive), each value fetched once per 16x16 work-group (local), once per
// 128x128 work-group and each local value used eight times from registers (tile8), the next tile fetched while this one
// is multiplied (buffered), and the order of the multiply-adds changed so that neighbours share an operand (serpentine).
// What those with tiles in registers share is in include/gemm.h, which the host puts in front; the kernel of the step
// beyond the ladder, pipelined, is in include/gemm_pipelined.h.
// `vector` is the ladder of a CPU: no local memory, a block of C in vector registers, rows of B in the cache.
//   PAD  floats between two rows of naive and local: a leading dimension that is no power of two
//   The other macros are those of gemm.h.

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

#ifdef GEMM_TILE8
kernel PROMISE void gemm_tile8(global const float* restrict a, global const float* restrict b, global float* restrict c, int m,
                               int n, int k) {
    PLACE_ITEM
    const int top = get_group_id(1) * TILE_M, left = get_group_id(0) * TILE_N;
    PLACE_VALUES
    float acc[8][ITEM_N];
#pragma unroll
    for (int i = 0; i < 8 * ITEM_N; ++i) acc[i / ITEM_N][i % ITEM_N] = 0;
    float4 fa[FETCHES_A], fb[FETCHES_B];
    source_t from;
    point_sources(&from, a, b, top, left, m, n, k);
    local float pool[TILE_SIZE_A + TILE_SIZE_B] __attribute__((aligned(16)));
    local float *ta = pool, *tb = pool + TILE_SIZE_A;
    for (int left_k = k; left_k > 0; left_k -= DEPTH) {
        if (!FILLED && left_k == k) fetch_first_tiles(fa, fb, &from, n, k);
        else fetch_tiles(fa, fb, &from, n);
        store_tiles(ta, tb, fa, fb);
        barrier(CLK_LOCAL_MEM_FENCE);
        multiply_tiles(acc, ta + at_a, tb + at_b);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    add_to_c(acc, c, top + row, left + column, m, n);
}
#endif

#if defined(GEMM_BUFFERED) || defined(GEMM_SERPENTINE)
// Two tiles each: one is multiplied while the next is on its way from memory, and one barrier a tile is enough.
kernel PROMISE void KERNEL(global const float* restrict a, global const float* restrict b, global float* restrict c, int m, int n,
                           int k) {
    PLACE_ITEM
    const int top = get_group_id(1) * TILE_M, left = get_group_id(0) * TILE_N;
    PLACE_VALUES
    float acc[8][ITEM_N];
#pragma unroll
    for (int i = 0; i < 8 * ITEM_N; ++i) acc[i / ITEM_N][i % ITEM_N] = 0;
    float4 fa[FETCHES_A], fb[FETCHES_B];
    source_t from;
    point_sources(&from, a, b, top, left, m, n, k);
    local float pool[2 * (TILE_SIZE_A + TILE_SIZE_B)] __attribute__((aligned(16)));
    local float *ta = pool, *tb = pool + 2 * TILE_SIZE_A;
    int left_k = fetch_first_tiles(fa, fb, &from, n, k);
    store_tiles(ta, tb, fa, fb);
    barrier(CLK_LOCAL_MEM_FENCE);
    int now = 0;
    for (; left_k > -DEPTH; left_k -= DEPTH) {
        if (left_k > 0) fetch_tiles(fa, fb, &from, n);
        multiply_tiles(acc, ta + now * TILE_SIZE_A + at_a, tb + now * TILE_SIZE_B + at_b);
        now ^= 1;
        if (left_k > 0) store_tiles(ta + now * TILE_SIZE_A, tb + now * TILE_SIZE_B, fa, fb);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    add_to_c(acc, c, top + row, left + column, m, n);
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

/* family
question: What do tiles in local memory, tiles in registers, double buffering and the order of the FMAs each add to C +=
    A B?
over: m

axis m: rows of A and C; auto is 4096, on a CPU 512
  whole: 1 to 16Mi
axis n: columns of B and C; auto is m
  whole: 1 to 16Mi
axis k: columns of A, rows of B; auto is m
  whole: 1 to 8Mi
axis pad: floats between two rows of each matrix, of naive and local
  unit: float
  whole: 0 to 4Ki
  usual: 0
  tune: 0
  only: naive, local
axis tile_k: depth of the tiles
  choice: 8, 16
  tune: 8, 16
  only: tile8, buffered, serpentine, pipelined
axis tile: rows and columns of C that a work-group makes; auto by the size and the compute units
  choice: 64x64, 64x128, 128x64, 128x128, 128x256, 256x128
  usual: auto
  tune: auto, 64x64, 64x128, 128x64, 128x128, 128x256, 256x128
  only: pipelined
axis pack: 1: first copies A and B into aligned rows and whole tiles, within the operation. auto: where rows are not
    aligned, from 192 on
  choice: 0, 1
  usual: auto
  tune: auto, 0, 1
  only: pipelined
axis slices: teams of a work-group that share the k of its tile; auto by the size and the compute units
  choice: 1, 2, 4
  usual: auto
  tune: auto, 1, 2, 4
  only: pipelined
axis schedule: tiles: one work-group per tile. stream: resident groups take whole tiles and equal shares of the k of the
    rest. auto: by size and compute units; tiles except on NVIDIA
  choice: tiles, stream
  usual: auto
  tune: auto, tiles, stream
  only: pipelined

variant naive: One element of C per work-item, operands straight from memory.
variant local: A 16x16 work-group shares tiles of A and B in local memory.
variant tile8: 8x8 elements of C in the registers of each work-item, 128x128 per work-group, 128-bit loads.
variant buffered: tile8 with two tiles: one is multiplied while the next is fetched.
variant serpentine: buffered with every second row of multiply-adds in reverse order, so operands repeat.
variant pipelined: serpentine with values read ahead from local memory, tiles by the size, and teams that share the k of
    small ones or work-groups that share that of the last.
variant vector: 6x16 elements of C in vector registers, strips of B packed: the form for a CPU.
  needs: cpu
*/
