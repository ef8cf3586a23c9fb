// matrix: what a matrix unit does. A wave multiplies one tile by another and adds the product to its sums, d = a * b + d, as
// often as it is told. The host defines
//   TYPE_f16, TYPE_bf16, TYPE_tf32, TYPE_f64, TYPE_s8 or TYPE_fp8   the elements of a and b
//   ELEMENT, SUM            their type in memory, and that of the sums
//   TILE_M, TILE_N, TILE_K  rows of a, columns of b, and what is summed over
//   LANES                   work-items of a wave that hold a tile together
//   TILES                   products of a wave that do not wait for each other
//   UNIT_...                the instruction: MMA, WGMMA (NVIDIA), MFMA, WMMA, WMMA12 (AMD), DPAS (Intel)
// In memory a has rows of TILE_K elements and b columns of as many; the sums have rows of TILE_N. Which lane holds which
// element is that of NVIDIA's PTX ISA, AMD's matrix instruction calculator, and cl_intel_subgroup_matrix_multiply_accumulate.

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define R2(X) X X
#define R8(X) R2(R2(R2(X)))
#define EACH1(M) M(0)
#define EACH2(M) EACH1(M) M(1)
#define EACH4(M) EACH2(M) M(2) M(3)
#define EACH8(M) EACH4(M) M(4) M(5) M(6) M(7)

#if defined(UNIT_MMA)
// Four lanes share a row of a and a column of b; a register has as many elements as go into 32 bits.
#define ROW (lane / 4)
#define COLUMN (lane % 4)
#define SUMS PASTE(SUM, SUMS_OF_LANE)
#define SUM_ROW(e) (ROW + 8 * ((e) / 2))
#define SUM_COLUMN(e) (2 * COLUMN + (e) % 2)
#if defined(TYPE_f64)
#define SUMS_OF_LANE 2
#define OPERANDS const double a0 = a[TILE_K * ROW + COLUMN], b0 = b[TILE_K * ROW + COLUMN];
#define PRODUCT(d)                                                                       \
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" \
                 : "+d"(d.s0), "+d"(d.s1) : "d"(a0), "d"(b0));
#else
#define SUMS_OF_LANE 4
#define WORDS (TILE_K * (int)sizeof(ELEMENT) / 4)
#define WORD(p, row, word) ((global const uint*)(p))[WORDS * (row) + (word)]
#define OPERANDS                                                                                    \
    const uint a0 = WORD(a, ROW, COLUMN), a1 = WORD(a, ROW + 8, COLUMN), a2 = WORD(a, ROW, COLUMN + 4), \
               a3 = WORD(a, ROW + 8, COLUMN + 4), b0 = WORD(b, ROW, COLUMN), b1 = WORD(b, ROW, COLUMN + 4);
#if defined(TYPE_f16)
#define FORM "m16n8k16.row.col.f32.f16.f16.f32"
#elif defined(TYPE_bf16)
#define FORM "m16n8k16.row.col.f32.bf16.bf16.f32"
#elif defined(TYPE_tf32)
#define FORM "m16n8k8.row.col.f32.tf32.tf32.f32"
#elif defined(TYPE_fp8)
#define FORM "m16n8k32.row.col.f32.e4m3.e4m3.f32"
#else
#define FORM "m16n8k32.row.col.s32.s8.s8.s32"
#endif
#if defined(TYPE_s8)
#define SUM_REGISTER "+r"
#else
#define SUM_REGISTER "+f"
#endif
#define PRODUCT(d)                                                                                         \
    asm volatile("mma.sync.aligned." FORM " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"          \
                 : SUM_REGISTER(d.s0), SUM_REGISTER(d.s1), SUM_REGISTER(d.s2), SUM_REGISTER(d.s3)            \
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#endif

#elif defined(UNIT_WGMMA)
// A work-group is one "wave" of four warps. 32 bytes of each row of a and each column of b are copied to local memory.
#define SUMS_OF_LANE 128
#define SUM_ROW(e) (lane / 32 * 16 + lane % 32 / 4 + (e) / 2 % 2 * 8)
#define SUM_COLUMN(e) ((e) / 4 * 8 + lane % 4 * 2 + (e) % 2)
#define DECLARE(d) SUM d[SUMS_OF_LANE];
#define TO_LOCAL(to, from, rows) \
    for (int i = lane; i < (rows) * 8; i += LANES)                               \
        to[WGMMA_PLACE(i / 8, i % 8 / 4) / 4 + i % 4] = ((global const uint*)from)[i];
#define OPERANDS                                                                      \
    local uint la[TILE_M * 32] __attribute__((aligned(1024)));                        \
    local uint lb[TILE_N * 32] __attribute__((aligned(1024)));                        \
    TO_LOCAL(la, a, TILE_M)                                                           \
    TO_LOCAL(lb, b, TILE_N)                                                           \
    WGMMA_SHOW                                                                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                                     \
    const ulong a0 = wgmma_factor((uint)(size_t)la, 1024, 16), b0 = wgmma_factor((uint)(size_t)lb, 1024, 16);
#if defined(TYPE_f16)
#define PRODUCT(d) WGMMA(d, "+f", "m64n256k16.f32.f16.f16", a0, b0, ", 1, 1, 0, 0")
#elif defined(TYPE_bf16)
#define PRODUCT(d) WGMMA(d, "+f", "m64n256k16.f32.bf16.bf16", a0, b0, ", 1, 1, 0, 0")
#elif defined(TYPE_tf32)
#define PRODUCT(d) WGMMA(d, "+f", "m64n256k8.f32.tf32.tf32", a0, b0, ", 1, 1")
#elif defined(TYPE_fp8)
#define PRODUCT(d) WGMMA(d, "+f", "m64n256k32.f32.e4m3.e4m3", a0, b0, ", 1, 1")
#else
#define PRODUCT(d) WGMMA(d, "+r", "m64n256k32.s32.s8.s8", a0, b0, "")
#endif
#define BEFORE WGMMA_BEGIN
#define AFTER WGMMA_END WGMMA_WAIT(1)
#define AT_LAST WGMMA_WAIT(0)

#elif defined(UNIT_MFMA) || defined(UNIT_WMMA) || defined(UNIT_WMMA12)
// A lane has a run of a row of a and the same run of a column of b. On gfx11 both halves of a wave have the whole of both.
// gfx12's halves lie in its registers in another order, the same for a and b, so that it changes no sum. None of these ran on hardware.
#define ROW (lane % 16)
#define PART (lane / 16)
#if defined(UNIT_WMMA)
#define RUN TILE_K
#define FIRST 0
#else
#define RUN (TILE_K * 16 / LANES)
#define FIRST (RUN * PART)
#endif
#define RUN_OF(p) *(global const OPERAND*)((p) + TILE_K * ROW + FIRST)
#define OPERANDS const OPERAND a0 = RUN_OF(a), b0 = RUN_OF(b);
#define SUM_COLUMN(e) ROW
#if defined(UNIT_MFMA) && defined(TYPE_f64)
#define SUM_ROW(e) (PART + 4 * (e))
#elif defined(UNIT_MFMA)
#define SUM_ROW(e) (4 * PART + (e))
#elif defined(UNIT_WMMA12)
#define SUM_ROW(e) (8 * PART + (e))
#else
#define SUM_ROW(e) (2 * (e) + PART)
#endif
#if defined(UNIT_MFMA)
#define SUMS_OF_LANE 4
#define PRODUCT(d) d = BUILTIN(a0, b0, d, 0, 0, 0);
#if defined(TYPE_f16)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define OPERAND half4
#define BUILTIN __builtin_amdgcn_mfma_f32_16x16x16f16
#elif defined(TYPE_bf16)
#define OPERAND short4
#define BUILTIN __builtin_amdgcn_mfma_f32_16x16x16bf16_1k
#elif defined(TYPE_tf32)
#define OPERAND float2
#define BUILTIN __builtin_amdgcn_mfma_f32_16x16x8_xf32
#elif defined(TYPE_f64)
#define OPERAND double
#define BUILTIN __builtin_amdgcn_mfma_f64_16x16x4f64
#elif TILE_K == 32
#define OPERAND long
#define BUILTIN __builtin_amdgcn_mfma_i32_16x16x32_i8
#else
#define OPERAND int
#define BUILTIN __builtin_amdgcn_mfma_i32_16x16x16i8
#endif
#else
#define SUMS_OF_LANE 8
#if defined(UNIT_WMMA12)
#define SUFFIX _w32_gfx12
#else
#define SUFFIX _w32
#endif
#if defined(TYPE_s8)
#define OPERAND PASTE(int, WORDS_OF_RUN)
#define PRODUCT(d) d = PASTE(__builtin_amdgcn_wmma_i32_16x16x16_iu8, SUFFIX)(true, a0, true, b0, d, false);
#if defined(UNIT_WMMA12)
#define WORDS_OF_RUN 2
#else
#define WORDS_OF_RUN 4
#endif
#else
#if defined(UNIT_WMMA12)
#define ELEMENTS_OF_RUN 8
#else
#define ELEMENTS_OF_RUN 16
#endif
#define PRODUCT(d) d = PASTE(PASTE(__builtin_amdgcn_wmma_f32_16x16x16_, NAME), SUFFIX)(a0, b0, d);
#if defined(TYPE_f16)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define NAME f16
#define OPERAND PASTE(half, ELEMENTS_OF_RUN)
#elif defined(TYPE_fp8)
#define NAME fp8_fp8
#define OPERAND int2
#else
#define NAME bf16
#define OPERAND PASTE(short, ELEMENTS_OF_RUN)
#endif
#endif
#endif
#define SUMS PASTE(SUM, SUMS_OF_LANE)

#elif defined(UNIT_DPAS)
// Lane n has column n of b and of the sums; of a each lane has its words of all eight rows.
#define SUMS_OF_LANE 8
#define SUM_ROW(e) (e)
#define SUM_COLUMN(e) lane
#define SUMS PASTE(SUM, 8)
#define WORDS (TILE_K * (int)sizeof(ELEMENT) / 4)
#define WORD(w) ((global const uint*)b)[WORDS * lane + (w)]
#if LANES == 8
#define OPERAND int
#else
#define OPERAND short
#endif
#define OF_ROW(m) ((global const OPERAND*)a)[LANES * (m) + lane]
#define OPERANDS                                                                                                         \
    const PASTE(OPERAND, 8) a0 = {OF_ROW(0), OF_ROW(1), OF_ROW(2), OF_ROW(3), OF_ROW(4), OF_ROW(5), OF_ROW(6), OF_ROW(7)}; \
    const int8 b0 = {WORD(0), WORD(1), WORD(2), WORD(3), WORD(4), WORD(5), WORD(6), WORD(7)};
// Declared here for compilers whose header does not have it (ocloc of Debian 12).
#if defined(TYPE_f16)
#define MAD intel_sub_group_f16_f16_matrix_mad_k16
#elif defined(TYPE_bf16)
#define MAD intel_sub_group_bf16_bf16_matrix_mad_k16
#else
#define MAD intel_sub_group_i8_i8_matrix_mad_k32
#endif
#if !defined(cl_intel_subgroup_matrix_multiply_accumulate)
SUMS __attribute__((overloadable)) MAD(PASTE(OPERAND, 8), int8, SUMS);
#endif
#define PRODUCT(d) d = MAD(a0, b0, d);
#define WAVE __attribute__((intel_reqd_sub_group_size(LANES)))
#endif

#if defined(PRODUCT)
#if !defined(WAVE)
#define WAVE
#endif
#if !defined(DECLARE)
#define DECLARE(d) SUMS d;
#define BEFORE
#define AFTER
#define AT_LAST
#endif
#define BEGIN(j)                                                                                                    \
    DECLARE(d##j)                                                                                                   \
    _Pragma("unroll") for (int e = 0; e < SUMS_OF_LANE; ++e) d##j[e] = c[TILE_N * (j * TILE_M + SUM_ROW(e)) + SUM_COLUMN(e)];
#define MULTIPLY(j) PRODUCT(d##j)
#define END(j) \
    _Pragma("unroll") for (int e = 0; e < SUMS_OF_LANE; ++e) d[TILE_N * (j * TILE_M + SUM_ROW(e)) + SUM_COLUMN(e)] = d##j[e];

// Waves further on than `period` have the operands of earlier ones.
WAVE kernel void KERNEL(global const ELEMENT* restrict a, global const ELEMENT* restrict b, global const SUM* restrict c,
                        global SUM* restrict d, int period, int trips) {
    const int lane = (int)get_global_id(0) % LANES, wave = (int)get_global_id(0) / LANES, of = wave % period;
    a += of * TILE_M * TILE_K;
    b += of * TILE_K * TILE_N;
    c += of * TILES * TILE_M * TILE_N;
    d += (size_t)wave * TILES * TILE_M * TILE_N;
    OPERANDS
    PASTE(EACH, TILES)(BEGIN)
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
        BEFORE
        R8(PASTE(EACH, TILES)(MULTIPLY))
        AFTER
    }
    AT_LAST
    PASTE(EACH, TILES)(END)
}
#endif

/* family
question: How long does a matrix unit take for one product, and how many does the device do?
over: tiles

axis type: elements of the factors; sums are float, of s8 int, of f64 double
  choice: f16, bf16, tf32, f64, s8, fp8
  usual: f16, bf16, tf32, f64, s8, fp8
axis tiles: products of a wave that do not wait for each other; auto is 4, for latency 1
  whole: 1 to 8, powers of two
  only: latency, rate

variant latency: One wave: each product waits for the one before.
variant rate: All units, with 1 to 8 products in flight in each wave.
  with tiles: 1,2,4,8
variant wgmma: All units of Hopper, by products of four waves whose factors lie in local memory.
  header: wgmma.h
*/
