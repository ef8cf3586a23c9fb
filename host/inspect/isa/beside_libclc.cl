// What libclc lacks for NVPTX, linked in front of it: native_ functions, of which it makes what ends the compiler, and
// the functions of half, which are those of float, rounded. Built by the clang that then compiles the kernels.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define OVER __attribute__((overloadable))
#define VECTORS(M, ...) M(2, __VA_ARGS__) M(3, __VA_ARGS__) M(4, __VA_ARGS__) M(8, __VA_ARGS__) M(16, __VA_ARGS__)
#define LANES(M, ...) M(, __VA_ARGS__) VECTORS(M, __VA_ARGS__)

// --- native_: the instructions that NVIDIA's compiler takes ----------------------------------------------------------

#define PARTS(type, name, a, b) \
    OVER type native_##name(type x) { return (type)(native_##name(a), native_##name(b)); }
#define NATIVE(name, ...) \
    OVER float native_##name(float x) { return __VA_ARGS__; } \
    PARTS(float2, name, x.s0, x.s1) PARTS(float3, name, x.s01, x.s2) PARTS(float4, name, x.lo, x.hi) \
    PARTS(float8, name, x.lo, x.hi) PARTS(float16, name, x.lo, x.hi)
NATIVE(exp2, __nvvm_ex2_approx_f(x))
NATIVE(log2, __nvvm_lg2_approx_f(x))
NATIVE(sin, __nvvm_sin_approx_f(x))
NATIVE(cos, __nvvm_cos_approx_f(x))
NATIVE(tan, __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x)))
#define OF_BASE_2(n, _) \
    OVER float##n native_exp(float##n x) { return native_exp2(x * 0x1.715476p+0f); } \
    OVER float##n native_exp10(float##n x) { return native_exp2(x * 0x1.a934f0p+1f); } \
    OVER float##n native_log(float##n x) { return native_log2(x) * 0x1.62e430p-1f; } \
    OVER float##n native_log10(float##n x) { return native_log2(x) * 0x1.344136p-2f; } \
    OVER float##n native_powr(float##n x, float##n y) { return native_exp2(y * native_log2(x)); }
LANES(OF_BASE_2, )

// --- half ------------------------------------------------------------------------------------------------------------

#define CONVERT(n, to, from) \
    OVER to##n convert_##to##n(from##n x) { return __builtin_convertvector(x, to##n); }
#define CONVERTS(type) \
    OVER half convert_half(type x) { return (half)x; } \
    OVER type convert_##type(half x) { return (type)x; } \
    VECTORS(CONVERT, half, type) VECTORS(CONVERT, type, half)
CONVERTS(char) CONVERTS(uchar) CONVERTS(short) CONVERTS(ushort) CONVERTS(int) CONVERTS(uint)
CONVERTS(long) CONVERTS(ulong) CONVERTS(float)
OVER half convert_half(half x) { return x; }
VECTORS(CONVERT, half, half)

// The function of float is taken before that of half is there: clang declares its own where the text has none.
#define F(n, x) convert_float##n(x)
#define PLAIN_1(n, name) static OVER float##n plain_##name(float##n x) { return name(x); }
#define HALF_1(n, name) OVER half##n name(half##n x) { return convert_half##n(plain_##name(F(n, x))); }
#define PLAIN_2(n, name) static OVER float##n plain_##name(float##n x, float##n y) { return name(x, y); }
#define HALF_2(n, name) \
    OVER half##n name(half##n x, half##n y) { return convert_half##n(plain_##name(F(n, x), F(n, y))); }
#define PLAIN_3(n, name) \
    static OVER float##n plain_##name(float##n x, float##n y, float##n z) { return name(x, y, z); }
#define HALF_3(n, name) \
    OVER half##n name(half##n x, half##n y, half##n z) { \
        return convert_half##n(plain_##name(F(n, x), F(n, y), F(n, z))); \
    }
#define UNARY(name) LANES(PLAIN_1, name) LANES(HALF_1, name)
#define BINARY(name) LANES(PLAIN_2, name) LANES(HALF_2, name)
#define TERNARY(name) LANES(PLAIN_3, name) LANES(HALF_3, name)
UNARY(acos) UNARY(asin) UNARY(atan) UNARY(ceil) UNARY(cos) UNARY(cosh) UNARY(erf) UNARY(exp) UNARY(exp2)
UNARY(exp10) UNARY(expm1) UNARY(fabs) UNARY(floor) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p)
UNARY(rint) UNARY(round) UNARY(rsqrt) UNARY(sin) UNARY(sinh) UNARY(sqrt) UNARY(tan) UNARY(tanh) UNARY(trunc)
BINARY(fmax) BINARY(fmin) BINARY(max) BINARY(min) BINARY(fmod) BINARY(pow) BINARY(powr)
TERNARY(fma) TERNARY(mad) TERNARY(clamp) TERNARY(mix)
#define PLAIN_DOT(n, _) static OVER float plain_dot(float##n x, float##n y) { return dot(x, y); }
#define HALF_DOT(n, _) OVER half dot(half##n x, half##n y) { return (half)plain_dot(F(n, x), F(n, y)); }
PLAIN_DOT(2, ) PLAIN_DOT(3, ) PLAIN_DOT(4, ) HALF_DOT(2, ) HALF_DOT(3, ) HALF_DOT(4, )

#define LOAD(n, space) \
    OVER half##n vload##n(size_t i, const space half* p) { \
        half##n v; \
        for (int k = 0; k < n; ++k) ((half*)&v)[k] = p[n * i + k]; \
        return v; \
    }
#define STORE(n, space) \
    OVER void vstore##n(half##n v, size_t i, space half* p) { \
        for (int k = 0; k < n; ++k) p[n * i + k] = ((half*)&v)[k]; \
    }
VECTORS(LOAD, __global) VECTORS(LOAD, __local) VECTORS(LOAD, __constant) VECTORS(LOAD, __private)
VECTORS(STORE, __global) VECTORS(STORE, __local) VECTORS(STORE, __private)
