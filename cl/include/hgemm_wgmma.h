// hgemm_wgmma, behind hgemm.h and wgmma.h.
//
// Nine warps: the last one copies, the others multiply. Four warps make 64 rows of a tile of C from factors that the matrix units
// read from local memory. A stage holds 128 bytes of each row of A and the same part of k of B, in parts of 64 rows of 128 bytes.
// Where elements have 16 bits, a part of B is 64 columns and BLOCK_K rows; where they have 8 bits, it is 64 columns, one per row.
//
// A work-group makes one tile after the other. It copies the next tile while it writes the sums of the last one: 187 us for
// 4096x4096x4096 in bf16 on an H200 (2026-11-30).
#define WARPS 8
#define ITEMS (32 * WARPS + 32)
#define PART 8192
#define BYTES_A (BLOCK_M * 128)
#define BYTES_B (BLOCK_N * 128)
#define BYTES_STAGE (BYTES_A + BYTES_B)
#if defined(TYPE_s8)
#define FORM "m64n256k32.s32.s8.s8"
#define SIGNS ""
#define FACTOR_B(address) wgmma_factor(address, 1024, 16)
#define NEXT_B 2
#define X_OF_B(column, at_k) at_k
#define Y_OF_B(column, at_k) column
#else
#define SIGNS ", 1, 1, 0, 1"
#define FACTOR_B(address) wgmma_factor(address, 1024, PART)
#define NEXT_B 128
#define X_OF_B(column, at_k) column
#define Y_OF_B(column, at_k) at_k
#if defined(TYPE_f16)
#define FORM "m64n256k16.f32.f16.f16"
#else
#define FORM "m64n256k16.f32.bf16.bf16"
#endif
#endif

// Barriers in local memory that count arrivals and bytes (PTX ISA, "mbarrier"). A wait ends when the phase of that parity is over.
#define BARRIER_INIT(bar, arrivals) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(bar), "n"(arrivals) : "memory");
#define BARRIER_SHOW                                                    \
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory"); \
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
#define BARRIER_ARRIVE(bar) asm volatile("{.reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0];}" : : "r"(bar) : "memory");
// Arrives, and adds bytes that copies will bring in this phase.
#define BARRIER_EXPECT(bar, bytes)                                                        \
    asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1;}" \
                 : : "r"(bar), "n"(bytes) : "memory");
static inline void barrier_wait(uint bar, uint parity) {
    uint is_over;
    do {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                     : "=r"(is_over)
                     : "r"(bar), "r"(parity)
                     : "memory");
    } while (!is_over);
}

// Hopper's copy engine (PTX ISA, "cp.async.bulk.tensor"): one work-item begins a copy of 64 rows of 128 bytes to local memory, from
// column x and row y of the matrix that `map` describes. The barrier `bar` counts its bytes.
#define TILE_COPY(to, map, x, y, bar)                                                                                           \
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" \
                 : : "r"(to), "l"(map), "r"(x), "r"(y), "r"(bar) : "memory");

// Writes the description of a matrix, a "tensor map", to `to`. The matrix has `height` rows of `width` elements without gaps. The
// engine swaps chunks of 16 bytes in local memory as WGMMA_PLACE does. A whole warp calls this. `map` has 128 bytes.
#define MAP_FIELD(field, value) \
    asm volatile(SM_90A "tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], " value ";" : : "r"(at) : "memory");
#define MAP_VALUE(field, kind, value) \
    asm volatile(SM_90A "tensormap.replace.tile." field " %1;" : : "r"(at), kind(value) : "memory");
#define WARP_MEETS asm volatile("bar.warp.sync 0xffffffff;" : : : "memory");
static inline void describe_matrix(local uint* map, global uchar* to, global const STORED* from, uint width, uint height, uint lane) {
    const uint at = (uint)(size_t)map;
    map[lane] = 0;
    WARP_MEETS
    if (lane == 0) {
        MAP_VALUE("global_address.shared::cta.b1024.b64 [%0],", "l", from)
        MAP_FIELD("rank", "1")  // dimensions less one
        MAP_VALUE("box_dim.shared::cta.b1024.b32 [%0], 0,", "r", 128 / (uint)sizeof(STORED))
        MAP_FIELD("box_dim", "1, 64")
        MAP_VALUE("global_dim.shared::cta.b1024.b32 [%0], 0,", "r", width)
        MAP_VALUE("global_dim.shared::cta.b1024.b32 [%0], 1,", "r", height)
        MAP_VALUE("global_stride.shared::cta.b1024.b64 [%0], 0,", "l", (ulong)width * sizeof(STORED))
        MAP_FIELD("element_stride", "0, 1")
        MAP_FIELD("element_stride", "1, 1")
        if (sizeof(STORED) == 1) {
            MAP_FIELD("elemtype", "0")  // .u8
        } else {
            MAP_FIELD("elemtype", "1")  // .u16
        }
        MAP_FIELD("interleave_layout", "0")
        MAP_FIELD("swizzle_mode", "3")  // 128 bytes
        MAP_FIELD("fill_mode", "0")
    }
    WARP_MEETS
    asm volatile(SM_90A "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
                 : : "l"(to), "r"(at) : "memory");
    asm volatile(SM_90A "fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" : : "l"(to) : "memory");
    WARP_MEETS
}

#define NEXT_STAGE \
    if (++stage == STAGES) stage = 0, parity ^= 1;
#define EACH_TILE for (int tile = get_group_id(0); tile < rows * columns; tile += get_num_groups(0))

// `maps` has 256 bytes per work-group: the descriptions of A and B.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void hgemm_wgmma(global const STORED* restrict a,
                                                                           global const STORED* restrict b,
                                                                           global SUM* restrict c, global uchar* maps, int m,
                                                                           int n, int k) {
    local uchar pool[STAGES * BYTES_STAGE] __attribute__((aligned(1024)));
    local uint map[32] __attribute__((aligned(128)));
    local ulong full[STAGES], empty[STAGES];
    const uint start = (uint)(size_t)pool, filled = (uint)(size_t)full, freed = (uint)(size_t)empty;
    const uint item = get_local_id(0), lane = item % 32, warp = item / 32;
    const int rows = m / BLOCK_M, columns = n / BLOCK_N;
    if (item == 0) {
        for (uint i = 0; i < STAGES; ++i) {
            BARRIER_INIT(filled + 8 * i, 1)
            BARRIER_INIT(freed + 8 * i, WARPS / 4)
        }
        BARRIER_SHOW
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint stage = 0, parity = 0;
    if (warp == WARPS) {
        global uchar *const map_a = maps + 256 * get_group_id(0), *const map_b = map_a + 128;
        describe_matrix(map, map_a, a, k, m, lane);
        describe_matrix(map, map_b, b, X_OF_B(n, k), Y_OF_B(n, k), lane);
        if (lane > 0) return;
        EACH_TILE {
            const int2 place = place_of_tile(tile, rows, columns);
            for (int next = 0; next < k; next += BLOCK_K) {
                const uint to = start + stage * BYTES_STAGE, bar = filled + 8 * stage;
                barrier_wait(freed + 8 * stage, parity ^ 1);
                BARRIER_EXPECT(bar, BYTES_STAGE)
                ALL_OF(BLOCK_M / 64, TILE_COPY(to + PART * at_, map_a, next, place.x + 64 * at_, bar))
                ALL_OF(BLOCK_N / 64, TILE_COPY(to + BYTES_A + PART * at_, map_b, X_OF_B(place.y + 64 * at_, next),
                                               Y_OF_B(place.y + 64 * at_, next), bar))
                NEXT_STAGE
            }
        }
        return;
    }
    EACH_TILE {
        const int2 place = place_of_tile(tile, rows, columns);
        SUM sum[128];
        ALL_OF(128, sum[at_] = 0;)
        uint last = stage;
        for (int first = 0; first < k; first += BLOCK_K) {
            const uint from = start + stage * BYTES_STAGE;
            barrier_wait(filled + 8 * stage, parity);
            const ulong fa = wgmma_factor(from + warp / 4 * PART, 1024, 16), fb = FACTOR_B(from + BYTES_A);
            WGMMA_BEGIN
            ALL_OF(4, { WGMMA(sum, SUM_REGISTER, FORM, fa + 2 * at_, fb + NEXT_B * at_, SIGNS) })
            WGMMA_END
            WGMMA_WAIT(1)
            if (first > 0 && item % 128 == 0) BARRIER_ARRIVE(freed + 8 * last)
            last = stage;
            NEXT_STAGE
        }
        WGMMA_WAIT(0)
        if (item % 128 == 0) BARRIER_ARRIVE(freed + 8 * last)
        ALL_OF(64, {
            const int row = place.x + (int)warp * 16 + (int)lane / 4 + at_ % 2 * 8;
            const int column = place.y + at_ / 2 * 8 + (int)lane % 4 * 2;
            *(global PAIR*)(c + (size_t)row * n + column) = (PAIR)(sum[2 * at_], sum[2 * at_ + 1]);
        })
    }
}
