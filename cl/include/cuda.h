// cuda.h: what OpenCL C has and CUDA C++ has not, so that one kernel text can be compiled as either (build option `-x cuda`).
// Stands, behind cuda_vectors.h, in front of a text that device/cuda.cpp has gone through: it makes `kernel` and `local` what they
// are in CUDA and vector literals calls. Images that are written, half and __local arguments are not here; a kernel with them does not
// compile.
#ifndef LAB_CUDA_H
#define LAB_CUDA_H

#define LAB_CUDA 1
#define __OPENCL_C_VERSION__ 120
#define CL_VERSION_1_0 100
#define CL_VERSION_1_1 110
#define CL_VERSION_1_2 120
#define restrict __restrict__
#define __asm__ asm
// In build options; out of the text they are taken before.
#define __global
#define __constant

typedef signed char lab_schar;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define FLT_EPSILON 1.1920928955078125e-7f
#define FLT_MAX 3.402823466e38f
#define INT_MAX 0x7fffffff
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 0xffffffffu
#define M_PI_F 3.14159274101257f
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

// The place of a work-item as CUDA programs write it: in 32 bits, and without the NDRange's offset.
static __forceinline__ size_t get_local_id(uint d) { return d == 0 ? threadIdx.x : d == 1 ? threadIdx.y : d == 2 ? threadIdx.z : 0; }
static __forceinline__ size_t get_local_size(uint d) { return d == 0 ? blockDim.x : d == 1 ? blockDim.y : d == 2 ? blockDim.z : 1; }
static __forceinline__ size_t get_group_id(uint d) { return d == 0 ? blockIdx.x : d == 1 ? blockIdx.y : d == 2 ? blockIdx.z : 0; }
static __forceinline__ size_t get_num_groups(uint d) { return d == 0 ? gridDim.x : d == 1 ? gridDim.y : d == 2 ? gridDim.z : 1; }
static __forceinline__ size_t get_global_id(uint d) {
    return d == 0   ? blockIdx.x * blockDim.x + threadIdx.x
           : d == 1 ? blockIdx.y * blockDim.y + threadIdx.y
           : d == 2 ? blockIdx.z * blockDim.z + threadIdx.z
                    : 0;
}
static __forceinline__ size_t get_global_size(uint d) { return get_num_groups(d) * get_local_size(d); }
static __forceinline__ size_t get_global_offset(uint) { return 0; }
static __forceinline__ uint get_work_dim() { return gridDim.z * blockDim.z > 1 ? 3 : gridDim.y * blockDim.y > 1 ? 2 : 1; }
static __forceinline__ void barrier(int) { __syncthreads(); }
static __forceinline__ void mem_fence(int) { __threadfence_block(); }

// --- Functions of scalars and vectors --------------------------------------------------------------------------------

// An int for a uchar is not what OpenCL's min gives, which has the type of its operands.
#define LAB_SCALARS(FUNCTION, EXPRESSION)                                                      \
    static __forceinline__ uchar FUNCTION(uchar a, uchar b) { return EXPRESSION; }             \
    static __forceinline__ lab_schar FUNCTION(lab_schar a, lab_schar b) { return EXPRESSION; } \
    static __forceinline__ ushort FUNCTION(ushort a, ushort b) { return EXPRESSION; }          \
    static __forceinline__ short FUNCTION(short a, short b) { return EXPRESSION; }
LAB_SCALARS(min, a < b ? a : b)
LAB_SCALARS(max, a > b ? a : b)

#define LAB_OF_TWO(FUNCTION)                                                                                                        \
    template <class T, int N> static __forceinline__ lab_vec<T, N> FUNCTION(lab_vec<T, N> a, lab_vec<T, N> b) {                     \
        lab_vec<T, N> r;                                                                                                            \
        _Pragma("unroll") for (int i = 0; i < N; ++i) r.s[i] = FUNCTION(a.s[i], b.s[i]);                                            \
        return r;                                                                                                                   \
    }                                                                                                                               \
    template <class T, int N> static __forceinline__ lab_vec<T, N> FUNCTION(lab_vec<T, N> a, typename lab_same<T>::type b) {        \
        return FUNCTION(a, lab_vec<T, N>(b));                                                                                       \
    }
LAB_OF_TWO(min)
LAB_OF_TWO(max)
LAB_OF_TWO(fmin)
LAB_OF_TWO(fmax)
LAB_OF_TWO(pow)

#define LAB_OF_ONE(FUNCTION)                                                                      \
    template <class T, int N> static __forceinline__ lab_vec<T, N> FUNCTION(lab_vec<T, N> a) {    \
        lab_vec<T, N> r;                                                                          \
        _Pragma("unroll") for (int i = 0; i < N; ++i) r.s[i] = FUNCTION(a.s[i]);                  \
        return r;                                                                                 \
    }
LAB_OF_ONE(fabs)
LAB_OF_ONE(sqrt)
LAB_OF_ONE(rsqrt)
LAB_OF_ONE(exp)
LAB_OF_ONE(log)
LAB_OF_ONE(sin)
LAB_OF_ONE(cos)
LAB_OF_ONE(floor)
LAB_OF_ONE(ceil)

template <class T, int N> static __forceinline__ lab_vec<T, N> fma(lab_vec<T, N> a, lab_vec<T, N> b, lab_vec<T, N> c) {
    lab_vec<T, N> r;
#pragma unroll
    for (int i = 0; i < N; ++i) r.s[i] = fma(a.s[i], b.s[i], c.s[i]);
    return r;
}
// Of which the precision is the implementation's affair: one instruction, as NVIDIA's OpenCL has it.
static __forceinline__ float mad(float a, float b, float c) { return fma(a, b, c); }
static __forceinline__ double mad(double a, double b, double c) { return fma(a, b, c); }
template <class T, int N> static __forceinline__ lab_vec<T, N> mad(lab_vec<T, N> a, lab_vec<T, N> b, lab_vec<T, N> c) { return fma(a, b, c); }
template <class T> static __forceinline__ T clamp(T x, typename lab_same<T>::type low, typename lab_same<T>::type high) { return min(max(x, T(low)), T(high)); }
template <class T, int N> static __forceinline__ T dot(lab_vec<T, N> a, lab_vec<T, N> b) {
    T r = a.s[0] * b.s[0];
#pragma unroll
    for (int i = 1; i < N; ++i) r = fma(a.s[i], b.s[i], r);
    return r;
}
static __forceinline__ uint abs_diff(int a, int b) { return a > b ? (uint)a - (uint)b : (uint)b - (uint)a; }
template <int N> static __forceinline__ lab_vec<ushort, N> abs_diff(lab_vec<short, N> a, lab_vec<short, N> b) {
    lab_vec<ushort, N> r;
#pragma unroll
    for (int i = 0; i < N; ++i) r.s[i] = (ushort)abs_diff((int)a.s[i], (int)b.s[i]);
    return r;
}
template <class T> static __forceinline__ T select(T a, T b, int c) { return c ? b : a; }
template <class T, class C, int N> static __forceinline__ lab_vec<T, N> select(lab_vec<T, N> a, lab_vec<T, N> b, lab_vec<C, N> c) {
    lab_vec<T, N> r;
#pragma unroll
    for (int i = 0; i < N; ++i) r.s[i] = c.s[i] < 0 ? b.s[i] : a.s[i];
    return r;
}
static __forceinline__ int mul_hi(int a, int b) { return __mulhi(a, b); }
static __forceinline__ uint mul_hi(uint a, uint b) { return __umulhi(a, b); }
static __forceinline__ ulong mul_hi(ulong a, ulong b) { return __umul64hi(a, b); }
static __forceinline__ int mul24(int a, int b) { return __mul24(a, b); }
static __forceinline__ uint mul24(uint a, uint b) { return __umul24(a, b); }
static __forceinline__ int mad24(int a, int b, int c) { return __mul24(a, b) + c; }
static __forceinline__ uint mad24(uint a, uint b, uint c) { return __umul24(a, b) + c; }
static __forceinline__ uint rotate(uint a, uint b) { return __funnelshift_l(a, a, b); }
static __forceinline__ int popcount(uint a) { return __popc(a); }
static __forceinline__ int clz(uint a) { return __clz((int)a); }
static __forceinline__ float native_sin(float a) { return __sinf(a); }
static __forceinline__ float native_cos(float a) { return __cosf(a); }
static __forceinline__ float native_exp(float a) { return __expf(a); }
static __forceinline__ float native_exp2(float a) { return exp2f(a); }
static __forceinline__ float native_log(float a) { return __logf(a); }
static __forceinline__ float native_log2(float a) { return __log2f(a); }
static __forceinline__ float native_sqrt(float a) { return __fsqrt_rn(a); }
static __forceinline__ float native_rsqrt(float a) { return rsqrtf(a); }
static __forceinline__ float native_recip(float a) { return __frcp_rn(a); }
static __forceinline__ float native_powr(float a, float b) { return __powf(a, b); }
static __forceinline__ float native_divide(float a, float b) { return __fdividef(a, b); }

static __forceinline__ float half_sin(float a) { return __sinf(a); }
static __forceinline__ float half_cos(float a) { return __cosf(a); }
static __forceinline__ float half_exp(float a) { return __expf(a); }
static __forceinline__ float half_log(float a) { return __logf(a); }
static __forceinline__ float half_sqrt(float a) { return __fsqrt_rn(a); }
static __forceinline__ float half_powr(float a, float b) { return __powf(a, b); }
static __forceinline__ float half_divide(float a, float b) { return __fdividef(a, b); }

#define LAB_ATOMIC(NAME, CUDA)                                                                        \
    template <class T> static __forceinline__ T NAME(volatile T* p, typename lab_same<T>::type v) {   \
        return CUDA((T*)p, v);                                                                        \
    }
LAB_ATOMIC(atomic_add, atomicAdd)
LAB_ATOMIC(atomic_sub, atomicSub)
LAB_ATOMIC(atomic_min, atomicMin)
LAB_ATOMIC(atomic_max, atomicMax)
LAB_ATOMIC(atomic_and, atomicAnd)
LAB_ATOMIC(atomic_or, atomicOr)
LAB_ATOMIC(atomic_xor, atomicXor)
LAB_ATOMIC(atomic_xchg, atomicExch)
template <class T> static __forceinline__ T atomic_inc(volatile T* p) { return atomicAdd((T*)p, T(1)); }
template <class T> static __forceinline__ T atomic_dec(volatile T* p) { return atomicAdd((T*)p, T(-1)); }
template <class T> static __forceinline__ T atomic_cmpxchg(volatile T* p, typename lab_same<T>::type was, typename lab_same<T>::type is) {
    return atomicCAS((T*)p, was, is);
}

// --- Names of types, conversions, bits as another type, and vectors in memory ------------------------------------------

template <class To, class From> static __forceinline__ To lab_bits(From v) {
    static_assert(sizeof(To) == sizeof(From), "as_TYPE of a value of another size");
    To r;
    memcpy(&r, &v, sizeof r);
    return r;
}
template <class To, class From> struct lab_convert {
    static __forceinline__ To of(From v) { return (To)v; }
};
template <class To, class From, int N> struct lab_convert<lab_vec<To, N>, lab_vec<From, N>> {
    static __forceinline__ lab_vec<To, N> of(lab_vec<From, N> v) {
        lab_vec<To, N> r;
#pragma unroll
        for (int i = 0; i < N; ++i) r.s[i] = (To)v.s[i];
        return r;
    }
};

#define LAB_CONVERSION(TYPE)                                                                                                 \
    template <class From> static __forceinline__ TYPE convert_##TYPE(From v) { return lab_convert<TYPE, From>::of(v); }      \
    template <class From> static __forceinline__ TYPE as_##TYPE(From v) { return lab_bits<TYPE>(v); }
LAB_CONVERSION(char)
LAB_CONVERSION(uchar)
LAB_CONVERSION(short)
LAB_CONVERSION(ushort)
LAB_CONVERSION(int)
LAB_CONVERSION(uint)
LAB_CONVERSION(long)
LAB_CONVERSION(ulong)
LAB_CONVERSION(float)
LAB_CONVERSION(double)

#define LAB_LANES(N)                                                                                                              \
    template <class T> static __forceinline__ lab_vec<T, N> vload##N(size_t i, const T* p) {                                      \
        lab_vec<T, N> r;                                                                                                          \
        _Pragma("unroll") for (int j = 0; j < N; ++j) r.s[j] = p[i * N + j];                                                      \
        return r;                                                                                                                 \
    }                                                                                                                             \
    template <class T> static __forceinline__ void vstore##N(lab_vec<T, N> v, size_t i, T* p) {                                   \
        _Pragma("unroll") for (int j = 0; j < N; ++j) p[i * N + j] = v.s[j];                                                      \
    }
LAB_LANES(2)
LAB_LANES(3)
LAB_LANES(4)
LAB_LANES(8)
LAB_LANES(16)

// A picture that is read by whole coordinates. For reading the code only: a texture of CUDA is no image of OpenCL, so nothing runs with it.
typedef unsigned long long image2d_t;
typedef int sampler_t;
#define CLK_NORMALIZED_COORDS_FALSE 0
#define CLK_ADDRESS_NONE 0
#define CLK_ADDRESS_CLAMP 0
#define CLK_ADDRESS_CLAMP_TO_EDGE 0
#define CLK_FILTER_NEAREST 0
#define LAB_READ_IMAGE(NAME, ELEMENT, REGISTER, TYPE)                                                                                \
    template <class At> static __forceinline__ lab_vec<ELEMENT, 4> NAME(image2d_t image, sampler_t, At at) {                         \
        lab_vec<ELEMENT, 4> r;                                                                                                       \
        asm("tex.2d.v4." TYPE ".s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                                               \
            : "=" REGISTER(r.x), "=" REGISTER(r.y), "=" REGISTER(r.z), "=" REGISTER(r.w)                                             \
            : "l"(image), "r"((int)at.x), "r"((int)at.y));                                                                           \
        return r;                                                                                                                    \
    }
LAB_READ_IMAGE(read_imagef, float, "f", "f32")
LAB_READ_IMAGE(read_imagei, int, "r", "s32")
LAB_READ_IMAGE(read_imageui, uint, "r", "u32")

// CUDA has types of some of these names, so that the OpenCL ones are macros for others.
#define LAB_TYPES(TYPE, ELEMENT)            \
    typedef lab_vec<ELEMENT, 2> cl_##TYPE##2;   \
    typedef lab_vec<ELEMENT, 3> cl_##TYPE##3;   \
    typedef lab_vec<ELEMENT, 4> cl_##TYPE##4;   \
    typedef lab_vec<ELEMENT, 8> cl_##TYPE##8;   \
    typedef lab_vec<ELEMENT, 16> cl_##TYPE##16;
LAB_TYPES(char, lab_schar)
LAB_TYPES(uchar, uchar)
LAB_TYPES(short, short)
LAB_TYPES(ushort, ushort)
LAB_TYPES(int, int)
LAB_TYPES(uint, uint)
LAB_TYPES(long, long)
LAB_TYPES(ulong, ulong)
LAB_TYPES(float, float)
LAB_TYPES(double, double)

#define LAB_VECTOR_CONVERSION(TYPE)                                                                                            \
    template <class From> static __forceinline__ cl_##TYPE convert_##TYPE(From v) { return lab_convert<cl_##TYPE, From>::of(v); } \
    template <class From> static __forceinline__ cl_##TYPE as_##TYPE(From v) { return lab_bits<cl_##TYPE>(v); }
#define LAB_VECTOR_CONVERSIONS(TYPE) \
    LAB_VECTOR_CONVERSION(TYPE##2)   \
    LAB_VECTOR_CONVERSION(TYPE##3)   \
    LAB_VECTOR_CONVERSION(TYPE##4)   \
    LAB_VECTOR_CONVERSION(TYPE##8)   \
    LAB_VECTOR_CONVERSION(TYPE##16)
LAB_VECTOR_CONVERSIONS(char)
LAB_VECTOR_CONVERSIONS(uchar)
LAB_VECTOR_CONVERSIONS(short)
LAB_VECTOR_CONVERSIONS(ushort)
LAB_VECTOR_CONVERSIONS(int)
LAB_VECTOR_CONVERSIONS(uint)
LAB_VECTOR_CONVERSIONS(long)
LAB_VECTOR_CONVERSIONS(ulong)
LAB_VECTOR_CONVERSIONS(float)
LAB_VECTOR_CONVERSIONS(double)

#define char2 cl_char2
#define char3 cl_char3
#define char4 cl_char4
#define char8 cl_char8
#define char16 cl_char16
#define uchar2 cl_uchar2
#define uchar3 cl_uchar3
#define uchar4 cl_uchar4
#define uchar8 cl_uchar8
#define uchar16 cl_uchar16
#define short2 cl_short2
#define short3 cl_short3
#define short4 cl_short4
#define short8 cl_short8
#define short16 cl_short16
#define ushort2 cl_ushort2
#define ushort3 cl_ushort3
#define ushort4 cl_ushort4
#define ushort8 cl_ushort8
#define ushort16 cl_ushort16
#define int2 cl_int2
#define int3 cl_int3
#define int4 cl_int4
#define int8 cl_int8
#define int16 cl_int16
#define uint2 cl_uint2
#define uint3 cl_uint3
#define uint4 cl_uint4
#define uint8 cl_uint8
#define uint16 cl_uint16
#define long2 cl_long2
#define long3 cl_long3
#define long4 cl_long4
#define long8 cl_long8
#define long16 cl_long16
#define ulong2 cl_ulong2
#define ulong3 cl_ulong3
#define ulong4 cl_ulong4
#define ulong8 cl_ulong8
#define ulong16 cl_ulong16
#define float2 cl_float2
#define float3 cl_float3
#define float4 cl_float4
#define float8 cl_float8
#define float16 cl_float16
#define double2 cl_double2
#define double3 cl_double3
#define double4 cl_double4
#define double8 cl_double8
#define double16 cl_double16

#endif
