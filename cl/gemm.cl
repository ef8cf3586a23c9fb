// gemm: C += A B in float; A is m x k, B is k x n, C is m x n, all row by row without padding; any m, n, k >= 1.
//
// 2 m n k operations on 4 (mk + kn + 2mn) bytes: the arithmetic wins once every value fetched is used often enough. The
// variants climb that ladder: from memory each time (naive), each value fetched once per 16x16 work-group (local), once per
// 128x128 work-group and each local value used eight times from registers (tile8), the next tile fetched while this one
// is multiplied (buffered), and the order of the multiply-adds changed so that neighbours share an operand (serpentine).
// `vector` is the ladder of a CPU: no local memory, a block of C in vector registers, rows of B in the cache.
//   TILE_K       depth of a tile of tile8, buffered and serpentine
//   PAD          floats between two rows of naive and local: a leading dimension that is no power of two
//   GEMM_ALIGNED 1 when k and n are multiples of four, so that rows can be read in 128-bit words
//   GEMM_WHOLE   1 when m, n and k are multiples of the tile, so that no bound needs a test

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

#if defined(GEMM_TILE8) || defined(GEMM_BUFFERED) || defined(GEMM_SERPENTINE)
// 256 work-items make 128x128 of C, each 8x8 in registers, as four 4x4 blocks so that the 128-bit reads of local memory
// by 32 neighbours fall into different banks: 32 items cover 32 rows (4 x 4 + 16) and 64 columns (8 x 4 + 32). Each step
// of k reads 16 floats per work-item from local memory for 64 multiply-adds.
#define SIDE 128
#define GROUP 256
// Rows of the tiles in local memory, in floats. A is kept transposed; four floats of padding put its 4-byte stores of
// neighbouring work-items into different banks and keep rows aligned to 16 bytes.
#define PITCH_A (SIDE + 4)
#define PITCH_B SIDE
// 128-bit words of each tile that a work-item fetches.
#define FETCHES (SIDE * TILE_K / 4 / GROUP)
#define WORDS_K (TILE_K / 4)

// A function that is called and not inlined would have to keep its private arrays in memory.
#define INLINE static inline __attribute__((always_inline))

#if GEMM_WHOLE
#define INSIDE(test) 1
#else
#define INSIDE(test) (test)
#endif

// Where a work-item fetches from. Rows of A and columns of B outside the matrix are those of the edge again: their
// products go to elements of C that are not stored, and the loop needs no test for them.
typedef struct {
    global const float *a[FETCHES], *b[FETCHES];
    int ka, kb;  // k of the first word of A and of the first row of B
    int columns; // of B from the first word's on
} source_t;

INLINE void point_sources(source_t* s, global const float* a, global const float* b, int top, int left, int m, int n, int k) {
    const int id = get_local_id(0);
    s->ka = id % WORDS_K * 4;
    s->kb = id / (SIDE / 4);
    int column = left + id % (SIDE / 4) * 4;
    s->columns = n - column;
#if GEMM_ALIGNED
    column = min(column, n - 4);
#endif
#pragma unroll
    for (int i = 0; i < FETCHES; ++i) {
        const int row = min(top + id / WORDS_K + i * (GROUP / WORDS_K), m - 1);
        s->a[i] = a + (size_t)row * k + s->ka;
        s->b[i] = b + (size_t)(s->kb + i * (GROUP * 4 / SIDE)) * n + column;
    }
}

// Four floats, of which `valid` or more lie in the matrix; zeros for the others.
INLINE float4 fetch(global const float* from, int valid) {
#if GEMM_ALIGNED
    return INSIDE(valid > 0) ? *(global const float4*)from : (float4)(0);
#else
    float4 out = 0;
    if (valid > 0) out.x = from[0];
    if (valid > 1) out.y = from[1];
    if (valid > 2) out.z = from[2];
    if (valid > 3) out.w = from[3];
    return out;
#endif
}

// The words of the next tile, `left_k` deep or less.
INLINE void fetch_tiles(float4* fa, float4* fb, source_t* s, int n, int left_k) {
#pragma unroll
    for (int i = 0; i < FETCHES; ++i) {
        fa[i] = fetch(s->a[i], left_k - s->ka);
        const int row = s->kb + i * (GROUP * 4 / SIDE);
#if GEMM_ALIGNED
        fb[i] = fetch(s->b[i], left_k - row);
#else
        fb[i] = fetch(s->b[i], row < left_k ? s->columns : 0);
#endif
        s->a[i] += TILE_K;
        s->b[i] += (size_t)TILE_K * n;
    }
}

INLINE void store_tiles(local float* ta, local float* tb, const float4* fa, const float4* fb) {
    const int id = get_local_id(0);
#pragma unroll
    for (int i = 0; i < FETCHES; ++i) {
        const int at = id + i * GROUP;
        local float* column = ta + at % WORDS_K * 4 * PITCH_A + at / WORDS_K;
        column[0] = fa[i].x;
        column[PITCH_A] = fa[i].y;
        column[2 * PITCH_A] = fa[i].z;
        column[3 * PITCH_A] = fa[i].w;
        *(local float4*)(tb + at / (SIDE / 4) * PITCH_B + at % (SIDE / 4) * 4) = fb[i];
    }
}

#if defined(GEMM_SERPENTINE)
// Row by row, but every second row from right to left: neighbours in the order share their A value or, at the turn,
// their B value, which the hardware can then take from a reuse cache instead of a register bank.
#define COLUMN(row, i) ((row) & 1 ? 7 - (i) : (i))
#else
#define COLUMN(row, i) (i)
#endif

// acc += (8 rows of A) x (8 columns of B), one step of k after the other.
INLINE void multiply_tiles(float (*acc)[8], local const float* ta, local const float* tb, int row, int column) {
#pragma unroll
    for (int i = 0; i < TILE_K; ++i) {
        const float4 a0 = *(local const float4*)(ta + i * PITCH_A + row);
        const float4 a1 = *(local const float4*)(ta + i * PITCH_A + row + 16);
        const float4 b0 = *(local const float4*)(tb + i * PITCH_B + column);
        const float4 b1 = *(local const float4*)(tb + i * PITCH_B + column + 32);
        const float av[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
        const float bv[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
        for (int y = 0; y < 8; ++y) {
#pragma unroll
            for (int x = 0; x < 8; ++x) acc[y][COLUMN(y, x)] = fma(av[y], bv[COLUMN(y, x)], acc[y][COLUMN(y, x)]);
        }
    }
}

INLINE void add_to_c(float (*acc)[8], global float* c, int row, int column, int m, int n) {
#pragma unroll
    for (int y = 0; y < 8; ++y) {
        const int r = row + (y & 3) + (y >> 2) * 16;
        if (INSIDE(r < m)) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const int x = column + h * 32;
                global float* p = c + (size_t)r * n + x;
#if GEMM_ALIGNED
                if (INSIDE(x < n))
                    *(global float4*)p += (float4)(acc[y][4 * h], acc[y][4 * h + 1], acc[y][4 * h + 2], acc[y][4 * h + 3]);
#else
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    if (x + j < n) p[j] += acc[y][4 * h + j];
                }
#endif
            }
        }
    }
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void KERNEL(global const float* restrict a,
                                                                      global const float* restrict b,
                                                                      global float* restrict c, int m, int n, int k) {
    const int id = get_local_id(0), warp = id / 32, lane = id % 32;
    const int row = warp / 2 * 32 + lane / 8 * 4;          // 4 x 32 rows of work-items
    const int column = warp % 2 * 64 + lane % 8 * 4;       // 2 x 64 columns
    const int top = get_group_id(1) * SIDE, left = get_group_id(0) * SIDE;
    float acc[8][8];
#pragma unroll
    for (int i = 0; i < 64; ++i) acc[i / 8][i % 8] = 0;
    float4 fa[FETCHES], fb[FETCHES];
    source_t from;
    point_sources(&from, a, b, top, left, m, n, k);
#if defined(GEMM_TILE8)
    local float ta[TILE_K * PITCH_A] __attribute__((aligned(16))), tb[TILE_K * PITCH_B] __attribute__((aligned(16)));
    for (int left_k = k; left_k > 0; left_k -= TILE_K) {
        fetch_tiles(fa, fb, &from, n, left_k);
        store_tiles(ta, tb, fa, fb);
        barrier(CLK_LOCAL_MEM_FENCE);
        multiply_tiles(acc, ta, tb, row, column);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    // Two tiles each: one is multiplied while the next is on its way from memory, and one barrier a tile is enough.
    local float ta[2 * TILE_K * PITCH_A] __attribute__((aligned(16))), tb[2 * TILE_K * PITCH_B] __attribute__((aligned(16)));
    fetch_tiles(fa, fb, &from, n, k);
    store_tiles(ta, tb, fa, fb);
    barrier(CLK_LOCAL_MEM_FENCE);
    int now = 0;
    for (int left_k = k - TILE_K; left_k > -TILE_K; left_k -= TILE_K) {
        if (left_k > 0) fetch_tiles(fa, fb, &from, n, left_k);
        multiply_tiles(acc, ta + now * TILE_K * PITCH_A, tb + now * TILE_K * PITCH_B, row, column);
        now ^= 1;
        if (left_k > 0) store_tiles(ta + now * TILE_K * PITCH_A, tb + now * TILE_K * PITCH_B, fa, fb);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#endif
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
