// Functions that libclc lacks for NVPTX, linked before it: native_ functions (libclc's make the compiler fail),
// functions of half (those of float, rounded) and image functions. The clang that compiles the kernels builds it.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#define OVER __attribute__((overloadable))
#define VECTORS(M, ...) M(2, __VA_ARGS__) M(3, __VA_ARGS__) M(4, __VA_ARGS__) M(8, __VA_ARGS__) M(16, __VA_ARGS__)
#define LANES(M, ...) M(, __VA_ARGS__) VECTORS(M, __VA_ARGS__)

// --- native_: the instructions that NVIDIA's compiler uses -----------------------------------------------------------

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

// plain_ calls the function of float, because no function of half exists yet. clang declares built-in functions itself.
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

// --- Images: texture and surface instructions, which take handles from registers -------------------------------------

// Each kind has its name in instructions, and its coordinates as integers and as floats. Each type has the suffix of
// its functions, its name in PTX, and its letter in an operand of asm.
#define KINDS(M, ...) \
    M(1d, 1d, int, float, __VA_ARGS__) M(1d_array, a1d, int2, float2, __VA_ARGS__) \
    M(2d, 2d, int2, float2, __VA_ARGS__) M(2d_array, a2d, int4, float4, __VA_ARGS__) \
    M(3d, 3d, int4, float4, __VA_ARGS__)
#define BUFFER(M, ...) M(1d_buffer, 1d, int, float, __VA_ARGS__)
#define TYPES(M, ...) \
    M(f, float, f32, "f", __VA_ARGS__) M(i, int, s32, "r", __VA_ARGS__) M(ui, uint, u32, "r", __VA_ARGS__)

// Coordinates; of an array the layer comes first. If there are three, the instructions take a fourth.
#define AT_1d "{%[x]}"
#define AT_2d "{%[x], %[y]}"
#define AT_3d "{%[x], %[y], %[z], %[z]}"
#define AT_a1d "{%[layer], %[x]}"
#define AT_a2d "{%[layer], %[x], %[y], %[y]}"
#define GIVE_1d(r, c) [x] r(c)
#define GIVE_2d(r, c) [x] r(c.x), [y] r(c.y)
#define GIVE_3d(r, c) [x] r(c.x), [y] r(c.y), [z] r(c.z)
#define GIVE_a1d(r, c) [layer] "r"(layer(c.y)), [x] r(c.x)
#define GIVE_a2d(r, c) [layer] "r"(layer(c.z)), [x] r(c.x), [y] r(c.y)
static OVER int layer(int i) { return i; }
static OVER int layer(float i) { return __nvvm_f2i_rn(i); }

// read_only, with a sampler or without one. Without one, whole coordinates select the nearest pixel.
#define TEX(type, as, r, dim, from, at, with) \
    type##4 v; \
    __asm__("tex." #dim ".v4." #as "." #from " {%0, %1, %2, %3}, [%[image], %[sampler], " AT_##dim "];" \
            : "=" r(v.x), "=" r(v.y), "=" r(v.z), "=" r(v.w) \
            : [image] "l"(image), [sampler] "l"(with), GIVE_##dim(at, c)); \
    return v;
#define SAMPLE(kind, dim, whole, real, f, type, as, r) \
    OVER type##4 read_image##f(read_only image##kind##_t image, sampler_t sampler, whole c) { \
        TEX(type, as, r, dim, s32, "r", sampler) \
    } \
    OVER type##4 read_image##f(read_only image##kind##_t image, sampler_t sampler, real c) { \
        TEX(type, as, r, dim, f32, "f", sampler) \
    }
#define READ(kind, dim, whole, real, f, type, as, r) \
    OVER type##4 read_image##f(read_only image##kind##_t image, whole c) { \
        TEX(type, as, r, dim, s32, "r", (ulong)CLK_FILTER_NEAREST) \
    }
#define READ_ONLY(f, type, as, r, _) \
    KINDS(SAMPLE, f, type, as, r) KINDS(READ, f, type, as, r) BUFFER(READ, f, type, as, r)
TYPES(READ_ONLY, )

// Surfaces: stores convert to the image's format. Loads do not convert, and take x in bytes: here for four channels of
// 32 bits.
static OVER int in_bytes(int c) { return 16 * c; }
static OVER int2 in_bytes(int2 c) { return (int2)(16 * c.x, c.y); }
static OVER int4 in_bytes(int4 c) { return (int4)(16 * c.x, c.yzw); }
#define LOAD_SURFACE(kind, dim, whole, real, f, type, r) \
    OVER type##4 read_image##f(read_write image##kind##_t image, whole c) { \
        type##4 v; \
        c = in_bytes(c); \
        __asm__ volatile("suld.b." #dim ".v4.b32.trap {%0, %1, %2, %3}, [%[image], " AT_##dim "];" \
                         : "=" r(v.x), "=" r(v.y), "=" r(v.z), "=" r(v.w) \
                         : [image] "l"(image), GIVE_##dim("r", c)); \
        return v; \
    }
#define STORE_SURFACE(kind, dim, whole, real, access, f, type, r) \
    OVER void write_image##f(access image##kind##_t image, whole c, type##4 v) { \
        __asm__ volatile("sust.p." #dim ".v4.b32.trap [%[image], " AT_##dim "], {%0, %1, %2, %3};" \
                         : \
                         : r(v.x), r(v.y), r(v.z), r(v.w), [image] "l"(image), GIVE_##dim("r", c) \
                         : "memory"); \
    }
#define SURFACE(f, type, as, r, _) \
    KINDS(LOAD_SURFACE, f, type, r) BUFFER(LOAD_SURFACE, f, type, r) \
    KINDS(STORE_SURFACE, write_only, f, type, r) BUFFER(STORE_SURFACE, write_only, f, type, r) \
    KINDS(STORE_SURFACE, read_write, f, type, r) BUFFER(STORE_SURFACE, read_write, f, type, r)
TYPES(SURFACE, )

#define READ_HALF(kind, dim, whole, real, access) \
    OVER half4 read_imageh(access image##kind##_t image, whole c) { return convert_half4(read_imagef(image, c)); }
#define SAMPLE_HALF(kind, dim, whole, real, _) \
    OVER half4 read_imageh(read_only image##kind##_t image, sampler_t sampler, whole c) { \
        return convert_half4(read_imagef(image, sampler, c)); \
    } \
    OVER half4 read_imageh(read_only image##kind##_t image, sampler_t sampler, real c) { \
        return convert_half4(read_imagef(image, sampler, c)); \
    }
#define WRITE_HALF(kind, dim, whole, real, access) \
    OVER void write_imageh(access image##kind##_t image, whole c, half4 v) { \
        write_imagef(image, c, convert_float4(v)); \
    }
KINDS(SAMPLE_HALF, )
KINDS(READ_HALF, read_only) KINDS(READ_HALF, read_write) BUFFER(READ_HALF, read_only) BUFFER(READ_HALF, read_write)
KINDS(WRITE_HALF, write_only) KINDS(WRITE_HALF, read_write)
BUFFER(WRITE_HALF, write_only) BUFFER(WRITE_HALF, read_write)

#define ASK(type, what, access, txq, kind) \
    OVER type get_image_##what(access image##kind##_t image) { \
        int v; \
        __asm__(#txq "." #what ".b32 %0, [%1];" : "=r"(v) : "l"(image)); \
        return v; \
    }
#define ASK_ALL(kind, dim, whole, real, access, txq) \
    ASK(int, width, access, txq, kind) ASK(int, channel_order, access, txq, kind) \
    ASK(int, channel_data_type, access, txq, kind)
#define ASK_2D(access, txq, kind) \
    ASK(int, height, access, txq, kind) \
    OVER int2 get_image_dim(access image##kind##_t image) { \
        return (int2)(get_image_width(image), get_image_height(image)); \
    }
#define QUERIES(access, txq) \
    KINDS(ASK_ALL, access, txq) BUFFER(ASK_ALL, access, txq) \
    ASK_2D(access, txq, 2d) ASK_2D(access, txq, 2d_array) \
    ASK(size_t, array_size, access, txq, 1d_array) ASK(size_t, array_size, access, txq, 2d_array) \
    ASK(int, height, access, txq, 3d) ASK(int, depth, access, txq, 3d) \
    OVER int4 get_image_dim(access image3d_t image) { \
        return (int4)(get_image_width(image), get_image_height(image), get_image_depth(image), 0); \
    }
QUERIES(read_only, txq) QUERIES(write_only, suq) QUERIES(read_write, suq)
