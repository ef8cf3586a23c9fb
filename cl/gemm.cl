// gemm: C += A B in float; A is m x k, B is k x n, C is m x n, all row by row without padding; any m, n, k >= 1.
//
// 2 m n k operations on 4 (mk + kn + 2mn) bytes: the arithmetic wins once every value fetched is used often enough. The
// variants climb that ladder: from memory each time (naive), each value fetched once per 16x16 work-group (local), once per
// 128x128 work-group and each local value used eight times from registers (tile8), the next tile fetched while this one
// is multiplied (buffered), the order of the multiply-adds changed so that neighbours share an operand (serpentine), and the
// next values read from local memory while these are multiplied, in tiles that fit the size of C (pipelined).
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
// Large tiles were slower with more than a word of C at a time, and with one in the form below (4100 cubed: 3.34 ms, 3.07 so; H200, 2026-11-23).
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
