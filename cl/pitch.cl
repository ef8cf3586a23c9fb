// pitch.cl: compares every pixel of a periodic pattern with its neighbours one pitch to the east and to the west, so that the pattern
// cancels and a defect stays. The pitch is a real number, N = floor(pitch), so each neighbour lies between two samples and is interpolated.
// For the pixel C = src[y * width + x] of the inclusive region of interest (ROI) [left, right] x [top, bottom]:
//
//   e = (f * src[at + N] + c * src[at + N + 1]) >> 1          f weighs the sample at floor(pitch),
//   w = (f * src[at - N] + c * src[at - N - 1]) >> 1          c the one at ceiling(pitch); f + c is 128, or 127 for
//   D = |128 * C - (e + w)| >> 7                              the weights published in 2013
//
// Every intermediate is at most 128 * 255 = 32640, so 16 bits are enough. The float variants compute |2 C - (f E0 + c E1 + f W0 + c W1)| /
// 2, truncated, in this order and without fused operations. The host guarantees N + 1 <= left and right + N + 1 < width, so no variant may
// read or write anywhere else. What the kernels share is in include/pitch.h, which the host puts in front.

// --- One work-item per pixel ------------------------------------------------------------------------------------

// The NDRange is the ROI itself and the compiler is left to make vectors of neighbouring work-items. Where no local size divides the ROI
// the host rounds the NDRange up and defines PITCH_PARTIAL, which costs the test.
#if defined(PITCH_IMPLICIT) || defined(PITCH_FLOAT)
// The hint is the published kernel's. It stops Intel's vectorizer (tests/device/README.md): -DPITCH_UNHINTED leaves it out.
#ifndef PITCH_UNHINTED
__attribute__((vec_type_hint(short8)))
#endif
__kernel void KERNEL(PICTURES, REGION, int n, weight f, weight c) {
    const int x = left + (int)get_global_id(0), y = top + (int)get_global_id(1);
#ifdef PITCH_PARTIAL
    if (x > right || y > bottom) return;
#endif
    const size_t at = (size_t)y * width + x;
    dst[at] = PIXEL(src + at, n, f, c);
}
#endif

// The usual GPU form: the NDRange covers the image, and a work-item outside the ROI leaves before it reads anything.
#if defined(PITCH_ROI)
__kernel void pitch_roi(PICTURES, REGION, int n, float f, float c) {
    const int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (x < left || x > right || y < top || y > bottom) return;
    const size_t at = (size_t)y * width + x;
    dst[at] = float_pixel(src + at, n, f, c);
}
#endif

// pitch_roi with its arguments behind pointers: every work-item loads from global memory what the by-value form finds in constant
// registers. Published for NVIDIA in 2013: 428 MB/s against 1006.
typedef struct { int width, left, top, right, bottom; } Region;
typedef struct { int n; float f, c; } Interpolation;

// struct_constant: the same pointers to __constant memory, whose loads at one address a GPU makes once for a group, or puts into constant
// registers again.
#if defined(ARGUMENTS)
__kernel void KERNEL(PICTURES, ARGUMENTS const Region* region, ARGUMENTS const Interpolation* weights) {
    const int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (x < region->left || x > region->right || y < region->top || y > region->bottom) return;
    const size_t at = (size_t)y * region->width + x;
    dst[at] = float_pixel(src + at, weights->n, weights->f, weights->c);
}
#endif

// struct_value: the structs themselves as arguments, which is what made the kernel of 2013 fast again.
#if defined(PITCH_STRUCT_VALUE)
__kernel void pitch_struct_value(PICTURES, const Region region, const Interpolation weights) {
    const int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (x < region.left || x > region.right || y < region.top || y > region.bottom) return;
    const size_t at = (size_t)y * region.width + x;
    dst[at] = float_pixel(src + at, weights.n, weights.f, weights.c);
}
#endif

// The GPU kernel as it was published and annotated, instruction by instruction: every work-item loads its five pixels and computes, and
// only the store is guarded. No restrict, a division by two, and contraction as the compiler likes. The loads of work-items outside the
// region may lie outside the image, which is why it stands PITCH_MARGIN bytes into its buffer.
#if defined(PITCH_PUBLISHED)
#pragma OPENCL FP_CONTRACT ON
__kernel void pitch_published(__global const uchar* src, __global uchar* dst, REGION, int n, float f, float c) {
    const int x = (int)get_global_id(0), y = (int)get_global_id(1);
    const size_t at = (size_t)y * width + x;
    __global const uchar* p = src + PITCH_MARGIN + at;
    const float west = (float)p[-n - 1] * c + (float)p[-n] * f;
    const float east = (float)p[n] * f + (float)p[n + 1] * c;
    const float difference = ((float)p[0] * 2.0f - (east + west)) / 2.0f;
    if (x >= left && x <= right && y >= top && y <= bottom) dst[at] = (uchar)fabs(difference);
}
#endif

// A work-group first copies its pixels and N + 1 more on either side into local memory, so each byte comes from global memory once a
// work-group and not five times. tile is get_local_size(1) rows of get_local_size(0) + 2 (N + 1) bytes.
#if defined(PITCH_LOCAL)
__kernel void pitch_local(PICTURES, __local uchar* tile, REGION, int n, float f, float c) {
    const int x = left + (int)get_global_id(0), y = top + (int)get_global_id(1);
    const int lanes = (int)get_local_size(0), lane = (int)get_local_id(0), halo = n + 1, stride = lanes + 2 * halo;
    __local uchar* row = tile + (int)get_local_id(1) * stride;
    const int first = x - lane - halo;                         // column of row[0]
    const int count = min(stride, right + halo + 1 - first);   // the last work-group's tile stops with the image
    if (y <= bottom) {
        __global const uchar* from = src + (size_t)y * width + first;
        for (int i = lane; i < count; i += lanes) row[i] = from[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x > right || y > bottom) return;
    __local const uchar* p = row + halo + lane;
    dst[(size_t)y * width + x] = (uchar)float_difference(p[0], p[n], p[n + 1], p[-n], p[-n - 1], f, c);
}
#endif

// pitch_roi reading through the texture path: its cache is laid out in two dimensions, which a one-dimensional stencil cannot use, and on a
// CPU every read is a function call.
#if defined(PITCH_IMAGE)
__constant sampler_t pixel_sampler = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

static inline float image_pixel(__read_only image2d_t src, int x, int y) {
    return (float)read_imageui(src, pixel_sampler, (int2)(x, y)).x;
}

__kernel void pitch_image(__read_only image2d_t src, __global uchar* restrict dst, REGION, int n, float f, float c) {
    const int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (x < left || x > right || y < top || y > bottom) return;
    dst[(size_t)y * width + x] =
        (uchar)float_difference(image_pixel(src, x, y), image_pixel(src, x + n, y), image_pixel(src, x + n + 1, y),
                                image_pixel(src, x - n, y), image_pixel(src, x - n - 1, y), f, c);
}
#endif

// --- One work-item a band of rows or a strip of columns --------------------------------------------------------------

// What work-item i takes of the region: a band of whole rows, or with PITCH_COLUMNS (axis layout) a strip of columns, as published. A band
// of rows is one stream; a strip jumps from page to page with every row and the prefetcher starts anew.
#if defined(PITCH_COLUMNS)
#define PART_ROWS(i, parts) const int first_row = top, end_row = bottom + 1
#define PART_COLUMNS(i, parts) \
    const int begin = part_begin(left, right, i, parts), end = part_begin(left, right, i + 1, parts)
#else
#define PART_ROWS(i, parts) \
    const int first_row = part_begin(top, bottom, i, parts), end_row = part_begin(top, bottom, i + 1, parts)
#define PART_COLUMNS(i, parts) const int begin = left, end = right + 1
#endif

#if defined(PITCH_LOOP)
__kernel void pitch_loop(PICTURES, REGION, int n, weight f, weight c) {
    const size_t i = get_global_id(0), parts = get_global_size(0);
    PART_ROWS(i, parts);
    PART_COLUMNS(i, parts);
    for (int y = first_row; y < end_row; ++y) {
        __global const uchar* from = src + (size_t)y * width;
        __global uchar* to = dst + (size_t)y * width;
        for (int x = begin; x < end; ++x) to[x] = PIXEL(from + x, n, f, c);
    }
}
#endif

// Steps of eight pixels, the remainder one by one: pitch_vload8 as it was published, pitch_short8 as it should be on a CPU. They differ in
// two things, each seen under PoCL (3.1, LLVM 15, AVX2), and by default in their layout:
// * vstore8 of uchar takes the vector apart and stays eight byte stores (movb). A store through a packed type is one
//   vmovq. vload8 is innocent: LLVM puts its eight byte loads together again (vpmovzxbw).
// * abs_diff, like abs, is written for pairs of elements and becomes 50 instructions of shuffles. max(d, -d) is one
//   vpabsw. (So is d < 0 ? -d : d of scalars, but of vectors clang makes a blend of five instructions.)
#if defined(PITCH_SHORT8) || defined(PITCH_VLOAD8)
#if defined(PITCH_SHORT8) && LAB_UNALIGNED
#define LOAD8(p) (*(__global const uchar8_packed*)(p))
#define STORE8(v, p) (*(__global uchar8_packed*)(p) = (v))
#else
#define LOAD8(p) vload8(0, p)
#define STORE8(v, p) vstore8(v, 0, p)
#endif

static inline ushort8 distance8(short8 a, short8 b) {
#if defined(PITCH_SHORT8)
    const short8 d = a - b;
    return as_ushort8(max(d, -d));
#else
    return abs_diff(a, b);
#endif
}

__kernel void KERNEL(PICTURES, REGION, int n, short f, short c) {
    const size_t i = get_global_id(0), parts = get_global_size(0);
    PART_ROWS(i, parts);
    PART_COLUMNS(i, parts);
    for (int y = first_row; y < end_row; ++y) {
        __global const uchar* from = src + (size_t)y * width;
        __global uchar* to = dst + (size_t)y * width;
        int x = begin;
        for (; x + 8 <= end; x += 8) {
            __global const uchar* p = from + x;
            const short8 e = (convert_short8(LOAD8(p + n)) * f + convert_short8(LOAD8(p + n + 1)) * c) >> (short8)1;
            const short8 w = (convert_short8(LOAD8(p - n)) * f + convert_short8(LOAD8(p - n - 1)) * c) >> (short8)1;
            const short8 centre = convert_short8(LOAD8(p)) << (short8)7;
            STORE8(convert_uchar8(distance8(centre, e + w) >> (ushort8)7), to + x);
        }
        for (; x < end; ++x) to[x] = fixed_pixel(from + x, n, f, c);
    }
}
#endif

// --- Geometry known to the compiler ----------------------------------------------------------------------------------
// The host defines PITCH_N, PITCH_F and PITCH_C (N, f and c above), so shifts, masks and offsets are constants. The form for CPUs, in
// vectors, is in include/pitch_wide.h.

// Packed 32-bit arithmetic, for GPUs: a work-item makes sixteen neighbouring pixels that begin at a multiple of 16 bytes of the buffer,
// with 128-bit loads and one 128-bit store; the neighbours at any byte offset are put together from two aligned loads each, which the
// level-1 cache answers. A 32-bit word then holds two pixels as 16-bit fields, so one multiply-add serves two pixels, and since no field
// exceeds 65535 none carries into the next:
//   E = f E0 + c E1 <= 32640 (twice e when its lowest bit is cleared), W likewise, S = E + W <= 65280, 256 C <= 65280,
//   D = |256 C - S| >> 8, that is max - min and then the upper byte of each field.
#if defined(PITCH_SWAR) || (defined(PITCH_WIDE) && !defined(LAB_CPU))
#define LOW_BYTES 0x00ff00ffu

// permute_bytes: bytes of the pair (low, high), numbered 0 to 7, picked by the four hexadecimal digits of `pick`, the lowest digit for the
// lowest byte: one instruction on NVIDIA. Elsewhere the shifts below, which compilers know.
#if defined(LAB_NVIDIA)
static inline uint permute_bytes(uint low, uint high, uint pick) {
    uint r;
    __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(pick));
    return r;
}
static inline uint odd_bytes(uint v) { return permute_bytes(v, 0, 0x4341); }
static inline uint even_bytes_up(uint v) { return permute_bytes(v, 0, 0x2404); }
static inline uint middle_fields(uint low, uint high) { return permute_bytes(low, high, 0x5432); }
static inline uint4 interleave_upper(uint4 even, uint4 odd) {
    return (uint4)(permute_bytes(even.x, odd.x, 0x7351), permute_bytes(even.y, odd.y, 0x7351),
                   permute_bytes(even.z, odd.z, 0x7351), permute_bytes(even.w, odd.w, 0x7351));
}
#else
static inline uint odd_bytes(uint v) { return (v >> 8) & LOW_BYTES; }
static inline uint even_bytes_up(uint v) { return (v << 8) & ~LOW_BYTES; }
static inline uint middle_fields(uint low, uint high) {
    // Two shifts would become a funnel shift, which Oclgrind 21.10 does not know.
    return as_uint((ushort2)(as_ushort2(low).y, as_ushort2(high).x));
}
static inline uint4 interleave_upper(uint4 even, uint4 odd) { return ((even >> 8) & LOW_BYTES) | (odd & ~LOW_BYTES); }
#endif

// |a - b| in both fields. max.u16x2 needs sm_90; elsewhere ushort2, which AMD packs as well.
static inline uint field_distance(uint a, uint b) {
#if defined(LAB_NVIDIA) && LAB_SM >= 90
    uint high, low;
    __asm__("max.u16x2 %0, %1, %2;" : "=r"(high) : "r"(a), "r"(b));
    __asm__("min.u16x2 %0, %1, %2;" : "=r"(low) : "r"(a), "r"(b));
    return high - low;  // no field is negative, so nothing is borrowed
#else
    const ushort2 p = as_ushort2(a), q = as_ushort2(b);
    return as_uint(max(p, q) - min(p, q));
#endif
}

// Bytes b and b + 2 of the sequence of words v as two fields; b is a constant once the loops are unrolled.
static inline uint fields_at(const uint* v, int b) {
    const uint low = b & 1 ? odd_bytes(v[b / 4]) : v[b / 4] & LOW_BYTES;
    if (!(b & 2)) return low;
    const uint high = b & 1 ? odd_bytes(v[b / 4 + 1]) : v[b / 4 + 1] & LOW_BYTES;
    return middle_fields(low, high);
}

// first * byte b + second * byte b + 1, and the same two bytes on: E or W in two fields. The lowest bit is dropped, as the shift by one
// drops it; f and c that are both even never set it.
static inline uint interpolate(const uint* v, int b, uint first, uint second) {
    const uint sum = first * fields_at(v, b) + second * fields_at(v, b + 1);
    return (PITCH_F | PITCH_C) & 1 ? sum & 0xfffefffeu : sum;
}

// The neighbours of a block begin inside the aligned blocks EAST bytes after it and WEST bytes before it.
#define EAST (PITCH_N / 16 * 16)
#define EAST_SHIFT (PITCH_N % 16)
#define WEST ((PITCH_N + 1 + 15) / 16 * 16)
#define WEST_SHIFT (WEST - PITCH_N - 1)

static inline void two_blocks(__global const uchar* p, uint* v) {
    const uint4 a = ((__global const uint4*)p)[0], b = ((__global const uint4*)p)[1];
    v[0] = a.x; v[1] = a.y; v[2] = a.z; v[3] = a.w;
    v[4] = b.x; v[5] = b.y; v[6] = b.z; v[7] = b.w;
}

// 256 D (and a rest below) of pixels 4 j and 4 j + 2 in two fields, then of the two odd ones.
static inline uint even_pixels(uint centre, const uint* east, const uint* west, int j) {
    return field_distance(even_bytes_up(centre), interpolate(east, EAST_SHIFT + 4 * j, PITCH_F, PITCH_C) +
                                                     interpolate(west, WEST_SHIFT + 4 * j, PITCH_C, PITCH_F));
}
static inline uint odd_pixels(uint centre, const uint* east, const uint* west, int j) {
    return field_distance(centre & ~LOW_BYTES, interpolate(east, EAST_SHIFT + 4 * j + 1, PITCH_F, PITCH_C) +
                                                   interpolate(west, WEST_SHIFT + 4 * j + 1, PITCH_C, PITCH_F));
}

static inline uint4 sixteen_packed(__global const uchar* p) {
    const uint4 c = *(__global const uint4*)p;
    uint east[8], west[8];
    two_blocks(p + EAST, east);
    two_blocks(p - WEST, west);
    const uint4 even = (uint4)(even_pixels(c.x, east, west, 0), even_pixels(c.y, east, west, 1),
                               even_pixels(c.z, east, west, 2), even_pixels(c.w, east, west, 3));
    const uint4 odd = (uint4)(odd_pixels(c.x, east, west, 0), odd_pixels(c.y, east, west, 1),
                              odd_pixels(c.z, east, west, 2), odd_pixels(c.w, east, west, 3));
    return interleave_upper(even, odd);
}

// Work-item (i, j) makes the i-th block that touches the ROI in its row j. Blocks are aligned in the buffer and not in the row, so their
// columns differ from row to row where the width is no multiple of 16. A block that lies wholly inside the ROI and whose aligned loads end
// inside the buffer (they begin inside it because the neighbours do) takes the fast way, the others go pixel by pixel.
__kernel void KERNEL(PICTURES, REGION, int height) {
    const int y = top + (int)get_global_id(1);
    if (y > bottom) return;
    const size_t begin = (size_t)y * width, at = ((begin + left) & ~(size_t)15) + get_global_id(0) * 16;
    const int x = (int)((long)at - (long)begin);
    if (x >= left && x + 15 <= right && at + EAST + 32 <= (size_t)width * height) {
        *(__global uint4*)(dst + at) = sixteen_packed(src + at);
    } else {
        const int last = min(x + 15, right);
        for (int i = max(x, left); i <= last; ++i)
            dst[begin + i] = fixed_pixel(src + begin + i, PITCH_N, PITCH_F, PITCH_C);
    }
}
#endif

/* family
question: How fast can each pixel of a periodic pattern be compared with its neighbours one pitch away?
inputs: src

axis width: columns of the image; a file given by --input decides instead
  unit: pixel
  whole: 5 to 1Mi
  usual: 4096
axis height: rows of the image; a file given by --input decides instead
  unit: pixel
  whole: 1 to 1Mi
  usual: 4096
axis left: first column of the region of interest; auto is the first with neighbours in the image
  unit: pixel
  whole: 0 to 1Mi
axis top: first row of the region of interest; auto is the first
  unit: pixel
  whole: 0 to 1Mi
axis right: last column of the region of interest; auto is the last with neighbours in the image
  unit: pixel
  whole: 0 to 1Mi
axis bottom: last row of the region of interest; auto is the last
  unit: pixel
  whole: 0 to 1Mi
axis pitch: distance from a pixel to its two neighbours, may have a fraction
  unit: pixel
  real: 1 to 1Mi
  usual: 20.2
axis local: work-group; auto is chosen by the variant, on a CPU by the driver
  unit: work-item
  shape: 1 to 1Mi
  tune: auto, 32x1, 64x1, 128x1, 256x1, 32x4, 64x4, 128x2, 32x8, 16x16, 8x8
  only: implicit, float, roi, struct, struct_value, struct_constant, published, local, image, swar, wide
axis items: work-items, each with a band of rows or a strip of columns. auto: one per compute unit; for wide, eight
    (wide has this axis on a CPU only)
  whole: 1 to 1Mi
  tune: auto, 1:16:*2, 64, 256, 1024, 4096, 16384, 65536
  only: loop, short8, vload8, wide
axis layout: part of the image per work-item. rows: a band of rows. columns: a strip of columns. auto: rows; for vload8
    columns, as published
  choice: rows, columns
  usual: auto
  tune: auto, rows, columns
  only: loop, short8, vload8
axis element: what a pixel is computed in
  choice: short, ushort, int, uint, float
  tune: short
  only: implicit, loop
axis weights: linear: linear interpolation; published: the arithmetic of 2013, with exchanged weights that sum to 127
  choice: linear, published
axis transfers: how the image gets to the device and back: copied, or mapped where host and device share memory
  choice: copied, mapped

variant implicit: One work-item per pixel in 16-bit integers; vectorising is left to the compiler.
variant float: One work-item per pixel in float, launched over the region of interest.
  defines: PITCH_IN_FLOAT, PITCH_UNHINTED
variant loop: A loop over a band of rows in each work-item; vectorising is left to the compiler.
variant short8: loop in steps of eight pixels, with whole vectors loaded and stored.
variant vload8: short8 as published: strips of columns, vload8, vstore8 and abs_diff, which PoCL compiles to byte moves
    and shuffles.
variant roi: float launched over the whole image, with the bounds check in the kernel.
variant struct: roi with its arguments behind pointers to structs in global memory.
  defines: ARGUMENTS=__global
variant struct_value: struct with both structs passed by value: the fast form of 2013.
variant struct_constant: struct with both structs behind pointers to __constant memory.
  defines: ARGUMENTS=__constant
variant published: The GPU kernel as published: loads first, contraction on, a division, and only the store guarded. Its
    check allows a difference of 1: contraction may truncate to either side of a whole number.
variant local: float from a tile in local memory, each byte fetched once per work-group.
variant image: roi reading from an image2d_t.
  needs: image
variant swar: Sixteen pixels per work-item, two in each 32-bit word, 128-bit loads and stores.
variant wide: On a CPU whole rows in vectors that take even and odd pixels apart, elsewhere swar.
*/
