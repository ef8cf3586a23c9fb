// pitch_wide on a CPU; elsewhere it is the packed form of pitch.cl. PITCH_N, PITCH_F and PITCH_C are constants, as there.

// Vectors, for CPUs: a block of pixels is one load of whole bytes, taken as 16-bit fields. The even pixels lie in the lower bytes of the
// fields and the odd ones in the upper, so no byte is widened: widening is a shuffle, for which an x86 core has one or two units and
// AVX-512 one. The load at p + N has E0 and E1 of the even pixels as the two bytes of each field, the load at p + N + 1 those of the odd
// ones; E = f E0 + c E1 of a field is then one instruction where there is pmaddubsw. With E, W <= 32640, the lowest bit dropped from both,
// S = E + W and 256 C fit 16 bits, and D = |256 C - S| >> 8. A work-item makes a band of whole rows, so that memory is walked in one
// direction. The blocks at the ends of a row overlap their neighbours instead of leaving pixels for a scalar loop (the same work-item
// writes the same values twice), and the first is followed by aligned ones, as a store across two lines counts twice.
#if defined(PITCH_WIDE) && defined(LAB_CPU)
#if defined(__AVX512BW__) && LAB_UNALIGNED
#define BLOCK 64
#elif LAB_UNALIGNED
#define BLOCK 32
#else
#define BLOCK 16
#endif
// clang may be asked for a vector that OpenCL C has no name for.
typedef ushort fields __attribute__((ext_vector_type(BLOCK / 2)));
#if LAB_UNALIGNED
typedef ushort fields_anywhere __attribute__((ext_vector_type(BLOCK / 2), aligned(1)));
#define LOAD_BLOCK(p) (*(__global const fields_anywhere*)(p))
#define STORE_BLOCK(v, p) (*(__global fields_anywhere*)(p) = (v))
#else
#define LOAD_BLOCK(p) as_ushort8(vload16(0, p))
#define STORE_BLOCK(v, p) vstore16(as_uchar16(v), 0, p)
#endif

// lower * the lower byte of each field + upper * the upper one. pmaddubsw takes its second factors as signed bytes.
#if defined(__AVX2__) && BLOCK >= 32 && PITCH_F < 128 && PITCH_C < 128
typedef char factors __attribute__((vector_size(BLOCK)));
static inline fields interpolated(fields v, int lower, int upper) {
    const fields weights = (fields)(ushort)(lower | upper << 8);
#if BLOCK == 64
    return __builtin_astype(__builtin_ia32_pmaddubsw512(__builtin_astype(v, factors), __builtin_astype(weights, factors)), fields);
#else
    return __builtin_astype(__builtin_ia32_pmaddubsw256(__builtin_astype(v, factors), __builtin_astype(weights, factors)), fields);
#endif
}
#else
static inline fields interpolated(fields v, int lower, int upper) {
    return (v & (ushort)0xff) * (ushort)lower + (v >> (ushort)8) * (ushort)upper;
}
#endif

// The shift by one drops the lowest bit; f and c that are both even never set it.
static inline fields without_lowest(fields v) { return (PITCH_F | PITCH_C) & 1 ? v & (ushort)0xfffe : v; }

static inline fields fields_apart(fields a, fields b) { return (a > b ? a : b) - (a < b ? a : b); }  // max and min, not abs_diff: see pitch_vload8

static inline fields block_of_pixels(__global const uchar* p) {
    const fields even = without_lowest(interpolated(LOAD_BLOCK(p + PITCH_N), PITCH_F, PITCH_C)) +
                        without_lowest(interpolated(LOAD_BLOCK(p - PITCH_N - 1), PITCH_C, PITCH_F));
    const fields odd = without_lowest(interpolated(LOAD_BLOCK(p + PITCH_N + 1), PITCH_F, PITCH_C)) +
                       without_lowest(interpolated(LOAD_BLOCK(p - PITCH_N), PITCH_C, PITCH_F));
    const fields centre = LOAD_BLOCK(p), upper = 0xff00;
    return (fields_apart(centre << (ushort)8, even) >> (ushort)8) | (fields_apart(centre & upper, odd) & upper);
}

__kernel void pitch_wide(PICTURES, REGION) {
    const size_t i = get_global_id(0), parts = get_global_size(0);
    const int end = part_begin(top, bottom, i + 1, parts), last = right - (BLOCK - 1);
    for (int y = part_begin(top, bottom, i, parts); y < end; ++y) {
        __global const uchar* from = src + (size_t)y * width;
        __global uchar* to = dst + (size_t)y * width;
        if (last < left) {
            for (int x = left; x <= right; ++x) to[x] = fixed_pixel(from + x, PITCH_N, PITCH_F, PITCH_C);
            continue;
        }
        STORE_BLOCK(block_of_pixels(from + left), to + left);
        for (int x = left + BLOCK - (int)((size_t)(to + left) % BLOCK); x < last; x += BLOCK) STORE_BLOCK(block_of_pixels(from + x), to + x);
        STORE_BLOCK(block_of_pixels(from + last), to + last);
    }
}
#endif
