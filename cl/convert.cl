// convert: what it costs to make a number of one type from one of another. The host defines
//   F_none, F_float_to_half, ...   the conversion, of a word to a word: a half is in its low 16 bits, a byte in its low 8
//   HALF                           the language has the type half
// Each conversion has an argument of its own: the result of the one before enters through `mask`, which is zero, but only
// the host knows that. A sum shows that all trips were made.

#if defined(CONVERT_LATENCY) || defined(CONVERT_RATE)
#if defined(HALF)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define TO_HALF(x) as_ushort((half)(x))
#define FROM_HALF(h) (float)as_half(h)
#elif defined(LAB_NVIDIA)
static inline ushort to_half(float x) {
    ushort h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}
static inline float from_half(ushort h) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}
#define TO_HALF to_half
#define FROM_HALF from_half
#else
static inline ushort to_half(float x) {
    ushort h;
    vstore_half(x, 0, (half*)&h);
    return h;
}
#define TO_HALF to_half
static inline float from_half(ushort h) { return vload_half(0, (const half*)&h); }
#define FROM_HALF from_half
#endif

#if defined(F_none)
#define CONVERT(w) (w)
#elif defined(F_float_to_half)
#define CONVERT(w) TO_HALF(as_float(w))
#elif defined(F_half_to_float)
#define CONVERT(w) as_uint(FROM_HALF((ushort)(w)))
#elif defined(F_float_to_int)
#define CONVERT(w) (uint)(int)as_float(w)
#elif defined(F_int_to_float)
#define CONVERT(w) as_uint((float)as_int(w))
#elif defined(F_int_to_char)
#define CONVERT(w) as_uchar(convert_char_sat(as_int(w)))
#elif defined(F_char_to_int)
#define CONVERT(w) (uint)(int)(char)(w)
#elif defined(F_float_to_uchar)
#define CONVERT(w) convert_uchar_sat(as_float(w))
#elif defined(F_uchar_to_float)
#define CONVERT(w) as_uint((float)(uchar)(w))
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define R4(X) X X X X
#if defined(CONVERT_LATENCY)
#define AFTER(k) PASTE(y, PASTE(BEFORE, k))
#define BEFORE0 3
#define BEFORE1 0
#define BEFORE2 1
#define BEFORE3 2
#else
#define AFTER(k) y##k
#endif
#define NEXT(k) y##k = CONVERT(a##k ^ (AFTER(k) & mask));

// Latency: each of four conversions waits for the one before. Rate: four chains per work-item, each waiting for itself.
kernel void KERNEL(global const uint4* restrict args, global uint4* restrict out, global uint* restrict sums,
                   uint mask, uint period, int trips) {
    const uint4 a = args[(uint)get_global_id(0) % period];
    const uint a0 = a.x, a1 = a.y, a2 = a.z, a3 = a.w;
    uint y0 = 0, y1 = 0, y2 = 0, y3 = 0, sum = 0;
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
        R4(NEXT(0) NEXT(1) NEXT(2) NEXT(3))
        sum = sum * 3 + y3;
    }
    out[get_global_id(0)] = (uint4)(y0, y1, y2, y3);
    sums[get_global_id(0)] = sum;
}
#endif

/* family
question: What does a conversion between two types cost?

axis conversion: from and to; none is the chain alone; what does not fit a byte saturates
  choice:

variant latency: One conversion after the other.
variant rate: All units, four chains per work-item.
*/
