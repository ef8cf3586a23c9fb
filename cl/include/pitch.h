// pitch.h: what the kernels of pitch.cl share: what they are given, one pixel when nothing is clever, parts of a region. The host puts it
// in front; e, w and D are defined in pitch.cl.
#ifndef PITCH_H
#define PITCH_H

// What nearly every kernel is given.
#define PICTURES __global const uchar* restrict src, __global uchar* restrict dst
#define REGION int width, int left, int top, int right, int bottom

// What one pixel costs when nothing is clever; p points at the pixel. The casts to 16 bits tell a vectorising compiler that it need not
// widen to 32.
static inline uchar fixed_pixel(__global const uchar* p, int n, short f, short c) {
    const ushort e = (ushort)(f * p[n] + c * p[n + 1]);
    const ushort w = (ushort)(f * p[-n] + c * p[-n - 1]);
    const short d = (short)(128 * p[0] - ((e >> 1) + (w >> 1)));
    return (uchar)((ushort)max(d, (short)-d) >> 7);
}

// The same in another type, for PITCH_ELEMENT: what the width and the sign of the arithmetic cost a vectorising compiler.
#if defined(PITCH_ELEMENT)
static inline uchar element_pixel(__global const uchar* p, int n, PITCH_ELEMENT f, PITCH_ELEMENT c) {
    const PITCH_ELEMENT e = (PITCH_ELEMENT)(f * p[n] + c * p[n + 1]) >> 1;
    const PITCH_ELEMENT w = (PITCH_ELEMENT)(f * p[-n] + c * p[-n - 1]) >> 1;
    const PITCH_ELEMENT centre = (PITCH_ELEMENT)p[0] << 7, sum = e + w;
#if defined(PITCH_UNSIGNED)
    return (uchar)((PITCH_ELEMENT)(max(centre, sum) - min(centre, sum)) >> 7);
#else
    const PITCH_ELEMENT d = centre - sum;
    return (uchar)(max(d, (PITCH_ELEMENT)-d) >> 7);
#endif
}
#endif

static inline float float_difference(float centre, float e0, float e1, float w0, float w1, float f, float c) {
    return fabs(2.0f * centre - (f * e0 + c * e1 + f * w0 + c * w1)) * 0.5f;
}

static inline uchar float_pixel(__global const uchar* p, int n, float f, float c) {
    return (uchar)float_difference(p[0], p[n], p[n + 1], p[-n], p[-n - 1], f, c);
}

// What implicit and loop compute a pixel in (axis element).
#if defined(PITCH_IN_FLOAT)
typedef float weight;
#define PIXEL float_pixel
#elif defined(PITCH_ELEMENT)
typedef short weight;
#define PIXEL element_pixel
#else
typedef short weight;
#define PIXEL fixed_pixel
#endif

// Where part i of [first, last] begins, in `parts` parts equal to a pixel. Part i ends where part i + 1 begins, so that nothing is lost and
// nothing is written twice, as columns were in the published code.
static inline int part_begin(int first, int last, size_t i, size_t parts) {
    return first + (int)((ulong)(last - first + 1) * i / parts);
}

#endif
