// What kernels of hgemm share: the types of elements and sums, the order of tiles, and copies past the registers. hgemm.cl says
// what the host defines.
#if defined(TYPE_f16)
#define VALUE(p, at) vload_half(at, (p))
#define STORED half
#elif defined(TYPE_bf16)
#define VALUE(p, at) as_float((uint)(p)[at] << 16)
#define STORED ushort
#else
#define VALUE(p, at) (int)(p)[at]
#define STORED char
#endif
#if defined(TYPE_s8)
#define SUM int
#define PAIR int2
#define SUMS int4
#define SUM_REGISTER "+r"
#define PLUS_PRODUCT(sum, x, y) ((sum) + (x) * (y))
#define IN_B(row, column) ((size_t)(column) * k + (row))
#else
#define SUM float
#define PAIR float2
#define SUMS float4
#define SUM_REGISTER "+f"
#define PLUS_PRODUCT(sum, x, y) fma(x, y, sum)
#define IN_B(row, column) ((size_t)(row) * n + (column))
#endif

#ifdef BLOCK_M
#define IN_CHUNK (16 / (int)sizeof(STORED))  // elements in sixteen bytes
// Bands of eight rows of tiles, down each column of a band first: the groups that run at once share rows of A and columns of B.
#define BAND 8
static inline int2 place_of_tile(int tile, int rows, int columns) {
    const int band = tile / (BAND * columns), in_band = min(BAND, rows - band * BAND), at_band = tile - band * BAND * columns;
    return (int2)((band * BAND + at_band % in_band) * BLOCK_M, at_band / in_band * BLOCK_N);
}
// Sixteen bytes from memory to local memory past the registers, while the work-item goes on.
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
#define END_OF_COPIES asm volatile("cp.async.commit_group;" : : : "memory");
#define WAIT_FOR_COPIES(most) asm volatile("cp.async.wait_group %0;" : : "n"(most) : "memory");
#define ALL_OF(count, statement) \
    _Pragma("unroll") for (int at_ = 0; at_ < count; ++at_) statement
#endif
