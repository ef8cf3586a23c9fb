// hgemm_wgmma, behind hgemm.h and wgmma.h.
//
// Two times four warps: each four make 64 rows of a tile from factors that the matrix units read from local memory themselves. A
// part of k is 128 bytes of a row of A; B has as much of k, in four parts of 64 columns, or, with 8 bits, a row of 128 bytes for
// each column. While one stage is multiplied, one that was multiplied before is filled again.
#define ITEMS 256
#define BYTES_A (BLOCK_M * 128)
#define BYTES_B (BLOCK_N * 128)
#define PART_B (BLOCK_K * 128)
#if defined(TYPE_s8)
#define FORM "m64n256k32.s32.s8.s8"
#define SIGNS ""
#define FACTOR_B(address) wgmma_factor(address, 1024, 16)
#define NEXT_B 2
#define COPY_B(at)                                              \
    COPY(free + BYTES_A + WGMMA_PLACE(item / 8 + (at) * 32, item % 8), \
         b + (size_t)(place.y + (int)item / 8 + (at) * 32) * k + next + item % 8 * IN_CHUNK)
#else
#define SIGNS ", 1, 1, 0, 1"
#define FACTOR_B(address) wgmma_factor(address, 1024, PART_B)
#define NEXT_B 128
#define COPY_B(at)                                                                              \
    COPY(free + BYTES_A + item % 32 / 8 * PART_B + WGMMA_PLACE(item / 32 + (at) * 8, item % 8), \
         b + (size_t)(next + (int)item / 32 + (at) * 8) * n + place.y + item % 32 * IN_CHUNK)
#if defined(TYPE_f16)
#define FORM "m64n256k16.f32.f16.f16"
#else
#define FORM "m64n256k16.f32.bf16.bf16"
#endif
#endif
#define COPY_A(at)                                         \
    COPY(free + WGMMA_PLACE(item / 8 + (at) * 32, item % 8), \
         a + (size_t)(place.x + (int)item / 8 + (at) * 32) * k + next + item % 8 * IN_CHUNK)
#define FILL                                      \
    if (next < k) {                               \
        ALL_OF(BYTES_A / 16 / ITEMS, COPY_A(at_)) \
        ALL_OF(BYTES_B / 16 / ITEMS, COPY_B(at_)) \
    }                                             \
    END_OF_COPIES                                 \
    next += BLOCK_K;                              \
    free = free == last ? start : free + BYTES_A + BYTES_B;

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void hgemm_wgmma(global const STORED* restrict a,
                                                                           global const STORED* restrict b,
                                                                           global SUM* restrict c, int m, int n, int k) {
    local uchar pool[STAGES * (BYTES_A + BYTES_B)] __attribute__((aligned(1024)));
    const uint start = (uint)(size_t)pool, last = start + (STAGES - 1) * (BYTES_A + BYTES_B);
    const uint item = get_local_id(0), lane = item % 32, warp = item / 32;
    const int2 place = place_of_tile(get_group_id(0), m / BLOCK_M, n / BLOCK_N);
    uint free = start, stage = start;
    int next = 0;
    SUM sum[128];
    ALL_OF(128, sum[at_] = 0;)
    ALL_OF(STAGES - 2, { FILL })
    for (int first = 0; first < k; first += BLOCK_K) {
        WAIT_FOR_COPIES(STAGES - 3)
        WGMMA_SHOW
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong fa = wgmma_factor(stage + warp / 4 * 8192, 1024, 16), fb = FACTOR_B(stage + BYTES_A);
        WGMMA_BEGIN
        ALL_OF(4, { WGMMA(sum, SUM_REGISTER, FORM, fa + 2 * at_, fb + NEXT_B * at_, SIGNS) })
        WGMMA_END
        WGMMA_WAIT(1)
        FILL
        stage = stage == last ? start : stage + BYTES_A + BYTES_B;
    }
    WGMMA_WAIT(0)
    ALL_OF(64, {
        const int row = place.x + (int)warp * 16 + (int)lane / 4 + at_ % 2 * 8;
        const int column = place.y + at_ / 2 * 8 + (int)lane % 4 * 2;
        *(global PAIR*)(c + (size_t)row * n + column) = (PAIR)(sum[2 * at_], sum[2 * at_ + 1]);
    })
}
