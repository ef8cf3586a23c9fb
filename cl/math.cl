// math: what a call of a built-in function costs, and how large its error is. The host defines
//   TYPE, BITS, AS_TYPE, AS_BITS   float, uint, as_float, as_uint; or the same of double or of half
//   F                              the function's full name, e.g. native_sin; F_pow and the like where it needs a
//                                  second argument or is no function at all
//   BY_INSTRUCTION                 half through NVIDIA's instructions, as its OpenCL has no cl_khr_fp16: TYPE is ushort
//   REPEAT                         1 or 4 rounds of four calls between two branches: 1 for the long functions
// A chain x <- sin(x) would run into a fixed point. Here every call has an argument of its class: the result of the
// call before enters through `mask`, which is zero, but only the host knows that. In bits, so that an infinity stays
// harmless.

#ifdef TYPE
#if defined(BY_INSTRUCTION)
#define INSTRUCTION(name, text) \
    static inline ushort name(ushort x) { ushort y; asm(text : "=h"(y) : "h"(x)); return y; }
INSTRUCTION(half_exp2_approx, "ex2.approx.f16 %0, %1;")
INSTRUCTION(half_tanh_approx, "tanh.approx.f16 %0, %1;")
#elif defined(MATH_LATENCY_FP16) || defined(MATH_RATE_FP16)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#if defined(F_identity)
#define CALL(x) (x)
#elif defined(BY_INSTRUCTION) && defined(F_exp2)
#define CALL(x) half_exp2_approx(x)
#elif defined(BY_INSTRUCTION) && defined(F_tanh)
#define CALL(x) half_tanh_approx(x)
#elif defined(F_divide)
#define CALL(x) ((TYPE)1 / (x))
#elif defined(F_native_divide) || defined(F_half_divide)
#define CALL(x) F((TYPE)1, x)
#elif defined(F_fma)
#define CALL(x) fma(x, x, (TYPE)0.5)
#elif defined(F_pow) || defined(F_powr) || defined(F_native_powr) || defined(F_half_powr) || defined(F_atan2) || \
    defined(F_hypot) || defined(F_fmod) || defined(F_fmax) || defined(F_fmin)
#define CALL(x) F(x, (TYPE)1.375)
#elif defined(F_exp_by_exp2)
#define CALL(x) exp2((x) * (TYPE)1.4426950408889634)
#elif defined(F_sqrt_by_rsqrt)
#define CALL(x) ((x) * rsqrt(x))
#elif defined(F_asin_by_atan2)
#define CALL(x) atan2(x, sqrt(((TYPE)1 - (x)) * ((TYPE)1 + (x))))
#else
#define CALL(x) F(x)
#endif

#define NEXT(k, bits) AS_TYPE((BITS)(AS_BITS(a##k) ^ (bits & mask)))
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define R1(X) X
#define R4(X) X X X X

#define PROLOGUE                                                  \
    const uint first = 4 * ((uint)get_global_id(0) % period);     \
    const TYPE a0 = args[first], a1 = args[first + 1], a2 = args[first + 2], a3 = args[first + 3]; \
    TYPE y0 = 0, y1 = 0, y2 = 0, y3 = 0;                          \
    uint sum = 0;
// The last results, and a sum that every trip has changed.
#define EPILOGUE                                                  \
    const size_t at = 4 * get_global_id(0);                       \
    out[at] = y0; out[at + 1] = y1; out[at + 2] = y2; out[at + 3] = y3; \
    sums[get_global_id(0)] = sum;
#define SUM sum = sum * 3 + (uint)AS_BITS(y3);
#endif

#if defined(MATH_LATENCY) || defined(MATH_LATENCY_NATIVE) || defined(MATH_LATENCY_HALF) || \
    defined(MATH_LATENCY_FAST) || defined(MATH_LATENCY_DOUBLE) || defined(MATH_LATENCY_FP16)
// Each call waits for the one before.
kernel void KERNEL(global const TYPE* restrict args, global TYPE* restrict out, global uint* restrict sums, BITS mask,
                   uint period, int trips) {
    PROLOGUE
    for (int i = 0; i < trips; ++i) {
        PASTE(R, REPEAT)(
           y0 = CALL(NEXT(0, AS_BITS(y3)));
           y1 = CALL(NEXT(1, AS_BITS(y0)));
           y2 = CALL(NEXT(2, AS_BITS(y1)));
           y3 = CALL(NEXT(3, AS_BITS(y2)));
           SUM)
    }
    EPILOGUE
}
#endif

#if defined(MATH_RATE) || defined(MATH_RATE_NATIVE) || defined(MATH_RATE_HALF) || defined(MATH_RATE_FAST) || \
    defined(MATH_RATE_DOUBLE) || defined(MATH_RATE_FP16)
// Four chains per work-item, each waiting only for itself.
kernel void KERNEL(global const TYPE* restrict args, global TYPE* restrict out, global uint* restrict sums, BITS mask,
                   uint period, int trips) {
    PROLOGUE
    for (int i = 0; i < trips; ++i) {
        PASTE(R, REPEAT)(
           y0 = CALL(NEXT(0, AS_BITS(y0)));
           y1 = CALL(NEXT(1, AS_BITS(y1)));
           y2 = CALL(NEXT(2, AS_BITS(y2)));
           y3 = CALL(NEXT(3, AS_BITS(y3)));
           SUM)
    }
    EPILOGUE
}
#endif

/* family
question: What does a call of a built-in function cost, and how accurate is it?

axis function: built-in function; identity is the chain without a call
  choice:
  usual: identity, divide, sqrt, exp, log, pow, sin
axis class: arguments: zero, small (below pi/4), medium (1 to 10), large (1e5 to 1e6, less where results would overflow)
  choice: zero, small, medium, large
  usual: medium

variant latency: Float calls one after the other.
variant rate: Float calls on all units, four chains per work-item.
variant latency_native: The native_ functions, one after the other.
  with function: identity,divide,sqrt,exp,log,powr,sin
variant rate_native: The native_ functions on all units.
  with function: identity,divide,sqrt,exp,log,powr,sin
variant latency_half: The half_ functions (float arguments, 8192 ulp), one after the other.
  with function: identity,divide,sqrt,exp,log,powr,sin
variant rate_half: The half_ functions on all units.
  with function: identity,divide,sqrt,exp,log,powr,sin
variant latency_fast: Float calls under -cl-fast-relaxed-math, one after the other.
  defines: -cl-fast-relaxed-math
variant rate_fast: Float calls under -cl-fast-relaxed-math, on all units.
  defines: -cl-fast-relaxed-math
variant latency_double: Double calls one after the other.
  needs: fp64
variant rate_double: Double calls on all units.
  needs: fp64
variant latency_fp16: Calls of half (the type), one after the other; on NVIDIA its instructions exp2 and tanh.
variant rate_fp16: Calls of half (the type) on all units; on NVIDIA its instructions exp2 and tanh.
*/
