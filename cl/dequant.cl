// dequant: y = W x, where W is kept in 4 bits: m rows of k weights, in blocks of 32 that share a scale. A weight is
// scale * (q - 8). 18 bytes a block, 0.5625 a weight, must be read; x and y are small. What a variant gains is the width of
// its loads and who does the arithmetic. The host defines
//   LANES   work-items that share a row (all variants but `row`), a power of two
//   ROWS    rows that the same work-items make (`dot`), so that what they read of x serves all of them
//   HAS_NO_ALLOCATE   NVIDIA's GPUs with reads that leave L1 as it is (sm_70 and later)
// Layouts: `blocks` is llama.cpp's q4_0: a scale in half and 16 bytes behind each other; byte i has weight i in its
// low four bits and weight 16 + i in its high ones. `split` has the same 18 bytes apart: all scales of W, then, from
// a multiple of 16 bytes on, all words.

#define BLOCK 32
#define BLOCK_BYTES 18

#define LOW(w, i) ((int)((w) >> 8 * (i) & 15) - 8)
#define HIGH(w, i) ((int)((w) >> (8 * (i) + 4) & 15) - 8)

#ifdef LANES
// The sum over the work-items that share a row, left in the first.
static inline float sum_of_row(local float* part, float sum) {
    const int item = get_local_id(0), lane = item % LANES;
    part[item] = sum;
    for (int half_of = LANES / 2; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_of) part[item] += part[item + half_of];
    }
    return part[item];
}
#define PLACE                                                        \
    local float part[GROUP];                                         \
    const int lane = get_local_id(0) % LANES;                        \
    const int row = get_group_id(0) * (GROUP / LANES) + get_local_id(0) / LANES, blocks = k / BLOCK; \
    float sum = 0;
#define END                                   \
    sum = sum_of_row(part, sum);              \
    if (lane == 0 && row < m) y[row] = sum;
#endif

#ifdef DEQUANT_ROW
// A work-item per row, byte by byte.
kernel void dequant_row(global const uchar* restrict w, global const float* restrict x, global float* restrict y, int m,
                        int k) {
    const int row = get_global_id(0);
    if (row >= m) return;
    global const uchar* at = w + (size_t)row * (k / BLOCK) * BLOCK_BYTES;
    float sum = 0;
    for (int first = 0; first < k; first += BLOCK, at += BLOCK_BYTES) {
        const float scale = vload_half(0, (global const half*)at);
        float part = 0;
        for (int i = 0; i < 16; ++i) {
            part += LOW(at[2 + i], 0) * x[first + i];
            part += HIGH(at[2 + i], 0) * x[first + 16 + i];
        }
        sum += scale * part;
    }
    y[row] = sum;
}
#endif

#ifdef DEQUANT_LANES
// Neighbours take neighbouring blocks of a row, byte by byte.
kernel void dequant_lanes(global const uchar* restrict w, global const float* restrict x, global float* restrict y, int m,
                          int k) {
    PLACE
    if (row < m) {
        for (int block = lane; block < blocks; block += LANES) {
            global const uchar* at = w + ((size_t)row * blocks + block) * BLOCK_BYTES;
            const float scale = vload_half(0, (global const half*)at);
            float part_of = 0;
            for (int i = 0; i < 16; ++i) {
                part_of += LOW(at[2 + i], 0) * x[block * BLOCK + i];
                part_of += HIGH(at[2 + i], 0) * x[block * BLOCK + 16 + i];
            }
            sum += scale * part_of;
        }
    }
    END
}
#endif

// The scales and words of a row of `split`.
#define SPLIT_ROW                                                                            \
    global const half* scales = (global const half*)w + (size_t)row * blocks;                \
    global const uint4* words =                                                              \
        (global const uint4*)(w + ((size_t)m * blocks * 2 + 15) / 16 * 16) + (size_t)row * blocks;

// Eight products of a word: its low fours begin at x, its high ones 16 further on.
#define EIGHT(word, x)                                                                                                  \
    dot((float4)(LOW(word, 0), LOW(word, 1), LOW(word, 2), LOW(word, 3)), vload4(0, x)) +                               \
        dot((float4)(HIGH(word, 0), HIGH(word, 1), HIGH(word, 2), HIGH(word, 3)), vload4(0, (x) + 16))

#ifdef DEQUANT_WORDS
// Half a block per work-item in 16-bit words, the widest that blocks of 18 bytes are aligned for.
kernel void dequant_words(global const ushort* restrict w, global const float* restrict x, global float* restrict y, int m,
                          int k) {
    PLACE
    if (row < m) {
        for (int half_block = lane; half_block < 2 * blocks; half_block += LANES) {
            const int block = half_block / 2, part_of = half_block % 2;
            global const ushort* at = w + ((size_t)row * blocks + block) * (BLOCK_BYTES / 2);
            const float scale = vload_half(0, (global const half*)at);
            at += 1 + 4 * part_of;
            const uint first = at[0] | (uint)at[1] << 16, second = at[2] | (uint)at[3] << 16;
            global const float* of = x + block * BLOCK + 8 * part_of;
            sum += scale * (EIGHT(first, of) + EIGHT(second, of + 4));
        }
    }
    END
}
#endif

#ifdef DEQUANT_SPLIT
// Scales and words apart: a block's weights are one load of 16 bytes.
kernel void dequant_split(global const uchar* restrict w, global const float* restrict x, global float* restrict y, int m,
                          int k) {
    PLACE
    if (row < m) {
        SPLIT_ROW
        for (int block = lane; block < blocks; block += LANES) {
            const uint4 q = words[block];
            global const float* of = x + block * BLOCK;
            sum += vload_half(block, scales) *
                   (EIGHT(q.x, of) + EIGHT(q.y, of + 4) + EIGHT(q.z, of + 8) + EIGHT(q.w, of + 12));
        }
    }
    END
}
#endif

#ifdef DEQUANT_DOT
// The same with x in bytes too, as llama.cpp's q8_0 has it: four products are one instruction where the device has it.
// Of a block of x the sum of its values is known, so that 8 is taken off once: sum q x - 8 sum x.
#if defined(LAB_NVIDIA)
static inline int dot4(uint q, uint x, int sum) {
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(q), "r"(x));
    return sum;
}
#elif defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
static inline int dot4(uint q, uint x, int sum) { return sum + dot_4x8packed_us_int(q, x); }
#else
static inline int dot4(uint q, uint x, int sum) {
    const char4 factor = as_char4(x);
    const int4 products = convert_int4(as_uchar4(q)) * convert_int4(factor);
    return sum + products.x + products.y + products.z + products.w;
}
#endif
#define FOURS(word) ((word) & 0x0F0F0F0Fu)
static inline int products_of(uint4 q, uint4 low, uint4 high) {
    int sum = dot4(FOURS(q.x), low.x, 0);
    sum = dot4(FOURS(q.y), low.y, sum);
    sum = dot4(FOURS(q.z), low.z, sum);
    sum = dot4(FOURS(q.w), low.w, sum);
    sum = dot4(FOURS(q.x >> 4), high.x, sum);
    sum = dot4(FOURS(q.y >> 4), high.y, sum);
    sum = dot4(FOURS(q.z >> 4), high.z, sum);
    return dot4(FOURS(q.w >> 4), high.w, sum);
}
// The words are read once. Past L1, they do not displace x there.
#if defined(LAB_NVIDIA) && defined(HAS_NO_ALLOCATE)
static inline uint4 read_once(global const uint4* from) {
    uint4 v;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
    return v;
}
#else
static inline uint4 read_once(global const uint4* from) { return *from; }
#endif
kernel void dequant_dot(global const uchar* restrict w, global const uint4* restrict x,
                        global const float2* restrict x_scales, global float* restrict y, int m, int k) {
    local float part[ROWS][GROUP];
    const int item = get_local_id(0), lane = item % LANES, blocks = k / BLOCK;
    const int row = (get_group_id(0) * (GROUP / LANES) + item / LANES) * ROWS;
    float sum[ROWS] = {0};
    if (row < m) {
        SPLIT_ROW
// The loads of several rows are enough in flight; those of several blocks as well only take registers.
#if ROWS > 1
#pragma unroll 1
#endif
        for (int block = lane; block < blocks; block += LANES) {
            const uint4 low = x[2 * block], high = x[2 * block + 1];
            const float2 scale_and_sum = x_scales[block];
            uint4 q[ROWS];
            float scale[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                q[r] = read_once(words + block + r * blocks);
                scale[r] = vload_half(block + r * blocks, scales);
            }
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                sum[r] += scale[r] * (scale_and_sum.x * products_of(q[r], low, high) - 8 * scale_and_sum.y);
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) part[r][item] = sum[r];
    for (int half_of = LANES / 2; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_of) {
#pragma unroll
            for (int r = 0; r < ROWS; ++r) part[r][item] += part[r][item + half_of];
        }
    }
    if (lane == 0 && row < m) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) y[row + r] = part[r][item];
    }
}
#endif

/* family
question: How fast are 4-bit weights, in blocks that share a scale, multiplied by a vector?
over: m

axis m: rows; auto is 32768, on a CPU 4096
  whole: 1 to 16Mi
axis k: weights of a row; auto is 8192, on a CPU 4096
  unit: weight
  whole: 32 to 128Ki, multiples of 32
axis local: work-group; auto is 128, on a CPU 16
  unit: work-item
  whole: 1 to 4Ki
  tune: auto, 32, 64, 128, 256
axis lanes: work-items that share a row; auto is 4, of dot 16, on a CPU 1
  unit: work-item
  whole: 1 to 1Ki, powers of two
  tune: auto, 1, 4, 8, 16, 32, 64, 128
  only: lanes, words, split, dot
axis rows: rows that the same work-items make, a divisor of m; auto is 4 where that divides m, on a CPU 1
  unit: row
  whole: 1 to 16
  tune: auto, 1, 2, 4, 8
  only: dot

variant row: A work-item per row, byte by byte.
variant lanes: Neighbours share a row and take neighbouring blocks, byte by byte.
variant words: Half a block per work-item, in 16-bit words: as wide as blocks of 18 bytes allow.
variant split: Scales and weights apart: a block's weights are one load of 16 bytes.
variant dot: split with x in bytes: four products are one instruction where the device has it.
*/
