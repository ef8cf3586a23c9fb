// gemm.h: what gemm's variants with tiles in registers are made of: how a work-group cuts C, fetches tiles, multiplies
// them and adds the sums to C. The host puts it in front of gemm.cl, and gemm_pipelined.h between them where that is built.
//   TILE_M, TILE_N, TILE_K, ITEM_N, SLICES  how C and k are cut: see below
//   GEMM_LIMITED 1 when the build options limit the registers
//   GEMM_ALIGNED 1 when k and n are multiples of four, so that rows can be read in 128-bit words
//   GEMM_WHOLE   1 when m, n and k are multiples of the tile, so that no bound needs a test
//   GEMM_PACKED  1: pipelined reads copies of A and B whose rows are aligned and which whole tiles fill
#ifndef GEMM_H
#define GEMM_H

#if defined(GEMM_TILE8) || defined(GEMM_BUFFERED) || defined(GEMM_SERPENTINE) || defined(GEMM_PIPELINED)
// A work-group makes TILE_M x TILE_N of C, a work-item 8 x ITEM_N of it in registers, as 4x4 blocks so that the 128-bit reads
// of local memory by 32 neighbours fall into different banks: 32 items cover 32 rows (4 x 4 + 16) and 8 x ITEM_N columns.
// Each step of k reads 8 + ITEM_N floats per work-item from local memory for 8 ITEM_N multiply-adds. With SLICES above 1, so
// many teams of work-items share the tile's k among them and add their sums up at the end.
#define TEAM (TILE_M * TILE_N / 8 / ITEM_N)
#define GROUP (TEAM * SLICES)
#define DEPTH (TILE_K * SLICES)
#define WARPS_N (TILE_N / 8 / ITEM_N)
// 128-bit words: of a row of A's tile and of B's, and those of each tile that a work-item fetches.
#define WORDS_K (DEPTH / 4)
#define WORDS_N (TILE_N / 4)
#define FETCHES_A (TILE_M * WORDS_K / GROUP)
#define FETCHES_B (DEPTH * WORDS_N / GROUP)
// Rows of A's tile in local memory, in floats. A is kept transposed; four floats of padding put its 4-byte stores of
// neighbouring work-items into different banks and keep rows aligned to 16 bytes.
#define PITCH_A (TILE_M + 4)
#define TILE_SIZE_A (DEPTH * PITCH_A)
#define TILE_SIZE_B (DEPTH * TILE_N)

// NVIDIA's compiler takes no limit of registers for a kernel that promises the size of its groups.
#if GEMM_LIMITED
#define PROMISE
#else
#define PROMISE __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#endif

// Declares which team a work-item is in, its number there, and where in a tile of C its first element is.
#define PLACE_ITEM                                                                                                   \
    const int team = get_local_id(0) / TEAM, id = get_local_id(0) % TEAM, warp = id / 32, lane = id % 32;            \
    const int row = warp / WARPS_N * 32 + lane / 8 * 4;                                                              \
    const int column = warp % WARPS_N * 8 * ITEM_N + lane % 8 * 4;
// Declares where the values of its team begin in a tile of A and in one of B.
#define PLACE_VALUES const int at_a = team * TILE_K * PITCH_A + row, at_b = team * TILE_K * TILE_N + column;

// A function that is called and not inlined would have to keep its private arrays in memory.
#define INLINE static inline __attribute__((always_inline))

#if GEMM_WHOLE
#define INSIDE(test) 1
#else
#define INSIDE(test) (test)
#endif
// How what the tiles are read from lies there: A and B, or their copies.
#define FILLED (GEMM_WHOLE || GEMM_PACKED)
#define ALIGNED (GEMM_ALIGNED || GEMM_PACKED)
#define WHOLE(size, tile) (((size) + (tile) - 1) / (tile) * (tile))

// Where a work-item fetches from. Rows of A and columns of B outside the matrix are those of the edge again: their products
// go to elements of C that are not stored. What does not fill a tile of k comes first. So the loop needs no test for either.
typedef struct {
    global const float *a[FETCHES_A], *b[FETCHES_B];
    int ka, kb;  // k of the first word of A and of the first row of B
    int next[4]; // where the floats of a word of B are, from its first one
} source_t;

INLINE void point_sources(source_t* s, global const float* a, global const float* b, int top, int left, int m, int n, int k) {
    const int id = get_local_id(0);
    s->ka = id % WORDS_K * 4;
    s->kb = id / WORDS_N;
    const int column = min(left + id % WORDS_N * 4, n - (ALIGNED ? 4 : 1));
#pragma unroll
    for (int i = 0; i < 4; ++i) s->next[i] = min(i, n - 1 - column);
#pragma unroll
    for (int i = 0; i < FETCHES_A; ++i) s->a[i] = a + (size_t)min(top + id / WORDS_K + i * (GROUP / WORDS_K), m - 1) * k + s->ka;
#pragma unroll
    for (int i = 0; i < FETCHES_B; ++i) s->b[i] = b + (size_t)(s->kb + i * (GROUP / WORDS_N)) * n + column;
}

// The words of the next tile.
INLINE void fetch_tiles(float4* fa, float4* fb, source_t* s, int n) {
#pragma unroll
    for (int i = 0; i < FETCHES_A; ++i) {
        global const float* from = s->a[i];
#if ALIGNED
        fa[i] = *(global const float4*)from;
#else
        fa[i] = (float4)(from[0], from[1], from[2], from[3]);
#endif
        s->a[i] += DEPTH;
    }
#pragma unroll
    for (int i = 0; i < FETCHES_B; ++i) {
        global const float* from = s->b[i];
#if ALIGNED
        fb[i] = *(global const float4*)from;
#else
        fb[i] = (float4)(from[0], from[s->next[1]], from[s->next[2]], from[s->next[3]]);
#endif
        s->b[i] += (size_t)DEPTH * n;
    }
}

// The words of the first tile, whose k is `depth` deep: zeros behind it. Returns how deep what is left is.
INLINE int fetch_first_tiles(float4* fa, float4* fb, source_t* s, int n, int k) {
#if FILLED
    fetch_tiles(fa, fb, s, n);
    return k - DEPTH;
#else
    const int depth = (k - 1) % DEPTH + 1;
#pragma unroll
    for (int i = 0; i < FETCHES_A; ++i) {
        global const float* from = s->a[i];
        fa[i] = 0;
        if (s->ka < depth) fa[i].x = from[0];
        if (s->ka + 1 < depth) fa[i].y = from[1];
        if (s->ka + 2 < depth) fa[i].z = from[2];
        if (s->ka + 3 < depth) fa[i].w = from[3];
        s->a[i] += depth;
    }
#pragma unroll
    for (int i = 0; i < FETCHES_B; ++i) {
        global const float* from = s->b[i];
        fb[i] = 0;
        if (s->kb + i * (GROUP / WORDS_N) < depth) fb[i] = (float4)(from[0], from[s->next[1]], from[s->next[2]], from[s->next[3]]);
        s->b[i] += (size_t)depth * n;
    }
    return k - depth;
#endif
}

INLINE void store_tiles(local float* ta, local float* tb, const float4* fa, const float4* fb) {
    const int id = get_local_id(0);
#pragma unroll
    for (int i = 0; i < FETCHES_A; ++i) {
        const int at = id + i * GROUP;
        local float* column = ta + at % WORDS_K * 4 * PITCH_A + at / WORDS_K;
        column[0] = fa[i].x;
        column[PITCH_A] = fa[i].y;
        column[2 * PITCH_A] = fa[i].z;
        column[3 * PITCH_A] = fa[i].w;
    }
#pragma unroll
    for (int i = 0; i < FETCHES_B; ++i) ((local float4*)tb)[id + i * GROUP] = fb[i];
}

#if defined(GEMM_SERPENTINE) || defined(GEMM_PIPELINED)
// Row by row, but every second row from right to left: neighbours in the order share their A value or, at the turn,
// their B value, which the hardware can then take from a reuse cache instead of a register bank.
#define COLUMN(row, i) ((row) & 1 ? ITEM_N - 1 - (i) : (i))
#else
#define COLUMN(row, i) (i)
#endif

// The values of a step of k: of eight rows of A and of ITEM_N columns of B.
INLINE void read_values(float* av, float* bv, local const float* a, local const float* b) {
    const float4 a0 = *(local const float4*)a, a1 = *(local const float4*)(a + 16);
    av[0] = a0.x, av[1] = a0.y, av[2] = a0.z, av[3] = a0.w;
    av[4] = a1.x, av[5] = a1.y, av[6] = a1.z, av[7] = a1.w;
#pragma unroll
    for (int h = 0; h < ITEM_N / 4; ++h) {
        const float4 word = *(local const float4*)(b + 32 * h);
        bv[4 * h] = word.x, bv[4 * h + 1] = word.y, bv[4 * h + 2] = word.z, bv[4 * h + 3] = word.w;
    }
}

INLINE void multiply(float (*acc)[ITEM_N], const float* av, const float* bv) {
#pragma unroll
    for (int y = 0; y < 8; ++y) {
#pragma unroll
        for (int x = 0; x < ITEM_N; ++x) acc[y][COLUMN(y, x)] = fma(av[y], bv[COLUMN(y, x)], acc[y][COLUMN(y, x)]);
    }
}

// acc += (8 rows of A) x (ITEM_N columns of B), one step of k after the other.
INLINE void multiply_tiles(float (*acc)[ITEM_N], local const float* ta, local const float* tb) {
#pragma unroll
    for (int i = 0; i < TILE_K; ++i) {
        float av[8], bv[ITEM_N];
        read_values(av, bv, ta + i * PITCH_A, tb + i * TILE_N);
        multiply(acc, av, bv);
    }
}

#if ITEM_N > 8 || (GEMM_ALIGNED && TILE_M * TILE_N >= 128 * 128)
// Large tiles were slower with more than a word of C at a time, and with one in the form below (4100 cubed: 3.34 ms, 3.07 so; H200).
INLINE void add_to_c(float (*acc)[ITEM_N], global float* c, int row, int column, int m, int n) {
#pragma unroll
    for (int y = 0; y < 8; ++y) {
        const int r = row + (y & 3) + (y >> 2) * 16;
        if (INSIDE(r < m)) {
#pragma unroll
            for (int h = 0; h < ITEM_N / 4; ++h) {
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
#else
// Words of C that are read before they are written: no read may pass a write to the same matrix, so that each would wait for the one before.
#define WORDS_AT_ONCE (GEMM_ALIGNED ? 4 : 8)
INLINE void add_to_c(float (*acc)[ITEM_N], global float* c, int row, int column, int m, int n) {
#pragma unroll
    for (int first = 0; first < 2 * ITEM_N; first += WORDS_AT_ONCE) {
        float4 sums[WORDS_AT_ONCE];
        global float* p[WORDS_AT_ONCE];
#pragma unroll
        for (int i = 0; i < WORDS_AT_ONCE; ++i) {
            const int word = first + i, y = word / (ITEM_N / 4), h = word % (ITEM_N / 4);
            const int r = row + (y & 3) + (y >> 2) * 16, x = column + h * 32;
            p[i] = c + (size_t)r * n + x;
            sums[i] = (float4)(acc[y][4 * h], acc[y][4 * h + 1], acc[y][4 * h + 2], acc[y][4 * h + 3]);
#if GEMM_ALIGNED
            if (INSIDE(r < m && x < n)) sums[i] += *(global float4*)p[i];
#else
            if (r < m && x < n) sums[i].x += p[i][0];
            if (r < m && x + 1 < n) sums[i].y += p[i][1];
            if (r < m && x + 2 < n) sums[i].z += p[i][2];
            if (r < m && x + 3 < n) sums[i].w += p[i][3];
#endif
        }
#pragma unroll
        for (int i = 0; i < WORDS_AT_ONCE; ++i) {
            const int word = first + i, y = word / (ITEM_N / 4), h = word % (ITEM_N / 4);
            const int r = row + (y & 3) + (y >> 2) * 16, x = column + h * 32;
#if GEMM_ALIGNED
            if (INSIDE(r < m && x < n)) *(global float4*)p[i] = sums[i];
#else
            if (r < m && x < n) p[i][0] = sums[i].x;
            if (r < m && x + 1 < n) p[i][1] = sums[i].y;
            if (r < m && x + 2 < n) p[i][2] = sums[i].z;
            if (r < m && x + 3 < n) p[i][3] = sums[i].w;
#endif
        }
    }
}
#endif
#endif

#endif
