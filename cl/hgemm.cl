// hgemm: C = A B with elements of 16 bits and sums of float, or of 8 bits and sums of int; A is m x k, B is k x n, C is m x n,
// row by row, but B column by column where its elements have 8 bits. The ladder from one element per work-item to matrix units
// that are fed without a wait. The host defines
//   TYPE_f16, TYPE_bf16 or TYPE_s8
//   BLOCK_M, BLOCK_N, BLOCK_K   the tile of C that a work-group makes, and the part of k in local memory at a time
//   STAGES                      tiles in local memory at once, of which one is multiplied and the others are on their way
// The kernels with matrix units are NVIDIA's, by PTX that OpenCL C takes as inline assembly (sm_80 and later).
// What kernels share is in include/hgemm.h, which the host puts in front; wgmma is in include/hgemm_wgmma.h.

#ifdef HGEMM_NAIVE
// One element per work-item, operands straight from memory.
kernel void hgemm_naive(global const STORED* restrict a, global const STORED* restrict b, global SUM* restrict c, int m, int n,
                        int k) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= n || row >= m) return;
    SUM sum = 0;
    for (int i = 0; i < k; ++i) sum = PLUS_PRODUCT(sum, VALUE(a, (size_t)row * k + i), VALUE(b, IN_B(i, column)));
    c[(size_t)row * n + column] = sum;
}
#endif

#ifdef HGEMM_LOCAL
#define TILE 16
// A 16x16 work-group fetches a tile of A and one of B once for all, and converts them once.
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void hgemm_local(global const STORED* restrict a,
                                                                             global const STORED* restrict b,
                                                                             global SUM* restrict c, int m, int n, int k) {
    local SUM ta[TILE][TILE], tb[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_global_id(0), row = get_global_id(1);
    SUM sum = 0;
    for (int first = 0; first < k; first += TILE) {
        ta[y][x] = row < m && first + x < k ? VALUE(a, (size_t)row * k + first + x) : 0;
        tb[y][x] = column < n && first + y < k ? VALUE(b, IN_B(first + y, column)) : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int i = 0; i < TILE; ++i) sum = PLUS_PRODUCT(sum, ta[y][i], tb[i][x]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n) c[(size_t)row * n + column] = sum;
}
#endif

#if defined(HGEMM_MMA) || defined(HGEMM_BUFFERED) || defined(HGEMM_ASYNC)
// Eight warps, two by four: each makes WARP_M x WARP_N of C from fragments of 16x16 of A and 16x8 of B (16x32 and 32x8 of
// bytes). Sixteen bytes, a chunk, is what a work-item copies and what ldmatrix reads of a row at a time.
#define WARP_M (BLOCK_M / 2)
#define WARP_N (BLOCK_N / 4)
#define ROWS_OF_C (WARP_M / 16)
#define COLUMNS_OF_C (WARP_N / 8)
#define ITEMS 256
#define STEP_K (2 * IN_CHUNK)
#define CHUNKS_A (BLOCK_K / IN_CHUNK)
#define BYTES_A (16 * BLOCK_M * CHUNKS_A)
#define BYTES_B (16 * BLOCK_N * CHUNKS_A)
#define COPIES_A (BYTES_A / 16 / ITEMS)
#define COPIES_B (BYTES_B / 16 / ITEMS)
// The chunks of a row change places by its number, so that the eight rows that ldmatrix reads at once lie in other banks.
#define PLACE_A(row, chunk) (16 * ((row) * CHUNKS_A + ((chunk) ^ (row) / (8 / CHUNKS_A) % CHUNKS_A)))

// A tile of B has rows of B, which ldmatrix turns into columns. It cannot turn bytes: a B of bytes is stored by columns,
// and its tile lies as one of A does. FRAGMENT_B(tile, at, j): columns 16 j to 16 j + 15 of a warp, part `at` of k.
#if defined(TYPE_s8)
#define FORM "m16n8k32.row.col.s32.s8.s8.s32"
#define CHUNKS_B CHUNKS_A
#define PLACE_B PLACE_A
#define FRAGMENT_B(tile, at, j) \
    fragment(tile + PLACE_B(warp_column + 16 * (j) + lane / 16 * 8 + lane % 8, 2 * (at) + lane / 8 % 2))
#define FROM_B(at, first) (b + (size_t)(left + ROW_B(at)) * k + (first) + IN_CHUNK * CHUNK_B(at))
#define PITCH_B k
#define NEXT_B BLOCK_K
#else
#define CHUNKS_B (BLOCK_N / IN_CHUNK)
#define PLACE_B(row, chunk) (16 * ((row) * CHUNKS_B + ((chunk) ^ (row) % 8)))
#define FRAGMENT_B(tile, at, j) \
    transposed(tile + PLACE_B(16 * (at) + lane % 16, warp_column / 8 + 2 * (j) + lane / 16))
#define FROM_B(at, first) (b + (size_t)((first) + ROW_B(at)) * n + left + IN_CHUNK * CHUNK_B(at))
#define PITCH_B n
#define NEXT_B ((size_t)BLOCK_K * n)
#if defined(TYPE_f16)
#define FORM "m16n8k16.row.col.f32.f16.f16.f32"
#else
#define FORM "m16n8k16.row.col.f32.bf16.bf16.f32"
#endif
#endif

static inline uint4 fragment(uint address) {
    uint4 v;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address));
    return v;
}

static inline uint4 transposed(uint address) {
    uint4 v;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address));
    return v;
}

#define MULTIPLY(sum, a, b0, b1)                                                                       \
    asm volatile("mma.sync.aligned." FORM " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"      \
                 : SUM_REGISTER(sum.x), SUM_REGISTER(sum.y), SUM_REGISTER(sum.z), SUM_REGISTER(sum.w)   \
                 : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));

#define MULTIPLY_FRAGMENTS(a, b)                                        \
    _Pragma("unroll") for (int i = 0; i < ROWS_OF_C; ++i) {             \
        _Pragma("unroll") for (int j = 0; j < COLUMNS_OF_C / 2; ++j) {  \
            MULTIPLY(sum[i][2 * j], a[i], b[j].x, b[j].y)               \
            MULTIPLY(sum[i][2 * j + 1], a[i], b[j].z, b[j].w)           \
        }                                                               \
    }

// Adds the product of the tiles at the addresses `ta` and `tb` of local memory.
static inline void multiply_tiles(SUMS sum[ROWS_OF_C][COLUMNS_OF_C], uint ta, uint tb, uint warp_row,
                                  uint warp_column, uint lane) {
#pragma unroll
    for (int at = 0; at < BLOCK_K / STEP_K; ++at) {
        uint4 a[ROWS_OF_C], b[COLUMNS_OF_C / 2];
#pragma unroll
        for (int i = 0; i < ROWS_OF_C; ++i) a[i] = fragment(ta + PLACE_A(warp_row + 16 * i + lane % 16, 2 * at + lane / 16));
#pragma unroll
        for (int j = 0; j < COLUMNS_OF_C / 2; ++j) b[j] = FRAGMENT_B(tb, at, j);
        MULTIPLY_FRAGMENTS(a, b)
    }
}

// Chunk number `at` of a work-item: its row and its place in the row.
#define ROW_A(at) ((item + ITEMS * (at)) / CHUNKS_A)
#define CHUNK_A(at) ((item + ITEMS * (at)) % CHUNKS_A)
#define ROW_B(at) ((item + ITEMS * (at)) / CHUNKS_B)
#define CHUNK_B(at) ((item + ITEMS * (at)) % CHUNKS_B)
#define FROM_A(at, first) (a + (size_t)(top + ROW_A(at)) * k + (first) + IN_CHUNK * CHUNK_A(at))

// From memory to registers, and from there to local memory.
#define FETCH(first)                                                        \
    ALL_OF(COPIES_A, fa[at_] = *(global const uint4*)FROM_A(at_, first);)      \
    ALL_OF(COPIES_B, fb[at_] = *(global const uint4*)FROM_B(at_, first);)
#define KEEP(stage)                                                                                          \
    ALL_OF(COPIES_A, *(local uint4*)(pool + (stage) * (BYTES_A + BYTES_B) + PLACE_A(ROW_A(at_), CHUNK_A(at_))) = fa[at_];) \
    ALL_OF(COPIES_B, *(local uint4*)(pool + (stage) * (BYTES_A + BYTES_B) + BYTES_A +                \
                                     PLACE_B(ROW_B(at_), CHUNK_B(at_))) = fb[at_];)
#define MULTIPLY_STAGE(stage)                                                                                         \
    multiply_tiles(sum, start + (stage) * (BYTES_A + BYTES_B), start + (stage) * (BYTES_A + BYTES_B) + BYTES_A, warp_row, \
                   warp_column, lane);

// `async` reads the next fragments along k while it multiplies these. Once the last ones of a stage are in registers
// everywhere, its place is free for the next copies. Reads and copies stand between the products: a warp begins its
// instructions in their order, and all warps of a group come from the barrier at once, so that those in front of all
// products would leave the matrix units idle.
#define READ_A(to, i, at) fa[to][i] = fragment(tiles + PLACE_A(warp_row + 16 * (i) + lane % 16, 2 * (at) + lane / 16));
#define READ_B(to, j, at) fb[to][j] = FRAGMENT_B(tiles + BYTES_A, at, j);
#define COPY_A(i) COPY(free + PLACE_A(ROW_A(i), CHUNK_A(i)), from_a + (size_t)(i) * (ITEMS / CHUNKS_A) * k)
#define COPY_B(i) COPY(free + BYTES_A + PLACE_B(ROW_B(i), CHUNK_B(i)), from_b + (size_t)(i) * (ITEMS / CHUNKS_B) * PITCH_B)
#define STEP(now, then, ends)                                                                   \
    if (ends) {                                                                                 \
        WAIT_FOR_COPIES(STAGES - 2)                                                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                                           \
        free = tiles;                                                                           \
        tiles = tiles == start + (STAGES - 1) * (BYTES_A + BYTES_B) ? start : tiles + (BYTES_A + BYTES_B); \
    }                                                                                           \
    _Pragma("unroll") for (int i = 0; i < ROWS_OF_C; ++i) {                                     \
        READ_A(then, i, (ends) ? 0 : 1)                                                         \
        _Pragma("unroll") for (int j = i; j < COLUMNS_OF_C / 2; j += ROWS_OF_C) {               \
            READ_B(then, j, (ends) ? 0 : 1)                                                     \
        }                                                                                       \
        _Pragma("unroll") for (int j = 0; j < COLUMNS_OF_C / 2; ++j) {                          \
            MULTIPLY(sum[i][2 * j], fa[now][i], fb[now][j].x, fb[now][j].y)                     \
            MULTIPLY(sum[i][2 * j + 1], fa[now][i], fb[now][j].z, fb[now][j].w)                 \
        }                                                                                       \
        if ((ends) && more > 0) {                                                               \
            _Pragma("unroll") for (int c_ = i; c_ < COPIES_A; c_ += ROWS_OF_C) {                \
                COPY_A(c_)                                                                      \
            }                                                                                   \
            _Pragma("unroll") for (int c_ = i; c_ < COPIES_B; c_ += ROWS_OF_C) {                \
                COPY_B(c_)                                                                      \
            }                                                                                   \
        }                                                                                       \
    }                                                                                           \
    if (ends) {                                                                                 \
        END_OF_COPIES                                                                           \
        from_a += BLOCK_K;                                                                      \
        from_b += NEXT_B;                                                                       \
        more -= BLOCK_K;                                                                        \
    }

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void KERNEL(global const STORED* restrict a,
                                                                      global const STORED* restrict b, global SUM* restrict c,
                                                                      int m, int n, int k) {
    local uchar pool[STAGES * (BYTES_A + BYTES_B)] __attribute__((aligned(128)));
    const uint start = (uint)(size_t)pool;
    const uint item = get_local_id(0), lane = item % 32, warp = item / 32;
    const uint warp_row = warp / 4 * WARP_M, warp_column = warp % 4 * WARP_N;
    const int2 place = place_of_tile(get_group_id(0), m / BLOCK_M, n / BLOCK_N);
    const int top = place.x, left = place.y;

    SUMS sum[ROWS_OF_C][COLUMNS_OF_C];
#pragma unroll
    for (int i = 0; i < ROWS_OF_C * COLUMNS_OF_C; ++i) sum[i / COLUMNS_OF_C][i % COLUMNS_OF_C] = 0;

#if defined(HGEMM_MMA)
    uint4 fa[COPIES_A], fb[COPIES_B];
    for (int first = 0; first < k; first += BLOCK_K) {
        FETCH(first)
        KEEP(0)
        barrier(CLK_LOCAL_MEM_FENCE);
        MULTIPLY_STAGE(0)
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#elif defined(HGEMM_BUFFERED)
    uint4 fa[COPIES_A], fb[COPIES_B];
    FETCH(0)
    KEEP(0)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int first = 0, stage = 0; first < k; first += BLOCK_K, stage ^= 1) {
        const int next = first + BLOCK_K;
        if (next < k) {
            FETCH(next)
        }
        MULTIPLY_STAGE(stage)
        if (next < k) {
            KEEP(stage ^ 1)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    uint4 fa[2][ROWS_OF_C], fb[2][COLUMNS_OF_C / 2];
    global const STORED *from_a = FROM_A(0, 0), *from_b = FROM_B(0, 0);
    uint tiles = start, free = start;
    int more = k;
#pragma unroll
    for (int stage = 0; stage < STAGES; ++stage, more -= BLOCK_K, free += BYTES_A + BYTES_B) {
        if (more > 0) {
            ALL_OF(COPIES_A, COPY_A(at_))
            ALL_OF(COPIES_B, COPY_B(at_))
            from_a += BLOCK_K;
            from_b += NEXT_B;
        }
        END_OF_COPIES
    }
    WAIT_FOR_COPIES(STAGES - 1)
    barrier(CLK_LOCAL_MEM_FENCE);
    ALL_OF(ROWS_OF_C, READ_A(0, at_, 0))
    ALL_OF(COLUMNS_OF_C / 2, READ_B(0, at_, 0))
    for (int first = 0; first < k; first += 2 * STEP_K) {
        STEP(0, 1, BLOCK_K == STEP_K)
        STEP(1, 0, 1)
    }
#endif

#pragma unroll
    for (int i = 0; i < ROWS_OF_C; ++i) {
#pragma unroll
        for (int j = 0; j < COLUMNS_OF_C; ++j) {
            const int row = top + warp_row + 16 * i + lane / 4, column = left + warp_column + 8 * j + 2 * (lane % 4);
            *(global PAIR*)(c + (size_t)row * n + column) = sum[i][j].lo;
            *(global PAIR*)(c + (size_t)(row + 8) * n + column) = sum[i][j].hi;
        }
    }
}
#endif

/* family
question: What does each step of a product of 16-bit or 8-bit elements gain, up to matrix units?
over: m

axis m: rows of A and C; auto is 4096, on a CPU 256
  whole: 1 to 16Mi
axis n: columns of B and C; auto is m
  whole: 1 to 16Mi
axis k: columns of A, rows of B; auto is m
  whole: 1 to 8Mi
axis type: elements of A and B; sums are float, of s8, whose B is stored by columns, int
  choice: bf16, f16, s8
axis block: rows and columns of C that a work-group makes, and the part of k in local memory, of s8 twice that
  choice: 128x256x32, 256x128x32, 128x128x32, 128x256x16, 128x128x16
  tune: 128x256x32, 256x128x32, 128x128x32, 128x256x16, 128x128x16
  only: mma, buffered, async
axis stages: blocks in local memory at once; auto is what it holds, up to 4
  whole: 2 to 8
  tune: auto, 2, 3, 4, 5, 6
  only: async, wgmma

variant naive: One element of C per work-item, operands straight from memory.
variant local: A 16x16 work-group shares tiles of A and B in local memory.
variant mma: Matrix units: 128x128 of C per work-group, tiles through local memory, ldmatrix.
variant buffered: mma with two tiles: one is multiplied while the next is fetched into registers.
variant async: mma with copies straight to local memory, several blocks ahead.
variant wgmma: Matrix units of Hopper that read local memory themselves: products of four warps at once.
  header: wgmma.h
*/
