// cuda_vectors.h: vectors as OpenCL C has them, in CUDA C++. Stands in front of cuda.h.
#ifndef LAB_CUDA_VECTORS_H
#define LAB_CUDA_VECTORS_H

template <class T, int N> struct lab_vec;

// The values of one argument of a vector literal, one after the other.
template <class T, class V> static __forceinline__ void lab_put(T* to, int& at, V v) { to[at++] = (T)v; }
template <class T, class V, int N> static __forceinline__ void lab_put(T* to, int& at, lab_vec<V, N> v) {
#pragma unroll
    for (int i = 0; i < N; ++i) to[at++] = (T)v.s[i];
}

// What is volatile is read by one instruction too, where it is as wide as one can be.
template <class V> static __forceinline__ void lab_read(V& to, const volatile V& from) {
    if constexpr (sizeof(V) == 16) {
        unsigned* to_words = (unsigned*)&to;
        asm volatile("ld.volatile.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to_words[0]), "=r"(to_words[1]), "=r"(to_words[2]), "=r"(to_words[3])
                     : "l"(&from));
    } else {
#pragma unroll
        for (int i = 0; i < (int)(sizeof(to.s) / sizeof(to.s[0])); ++i) to.s[i] = from.s[i];
    }
}

#define LAB_VECTOR(N, ALIGNED, ...)                                                                     \
    template <class T> struct __align__(ALIGNED) lab_vec<T, N> {                                        \
        union { T s[N]; __VA_ARGS__ };                                                                  \
        lab_vec() = default;                                                                            \
        lab_vec(const lab_vec&) = default;                                                              \
        lab_vec& operator=(const lab_vec&) = default;                                                   \
        __forceinline__ lab_vec(const volatile lab_vec& v) { lab_read(*this, v); }                      \
        __forceinline__ lab_vec(T v) {                                                                  \
            _Pragma("unroll") for (int i = 0; i < N; ++i) s[i] = v;                                     \
        }                                                                                               \
        template <class A, class B, class... More> __forceinline__ lab_vec(A a, B b, More... more) {    \
            int at = 0;                                                                                 \
            lab_put(s, at, a), lab_put(s, at, b);                                                       \
            (lab_put(s, at, more), ...);                                                                \
        }                                                                                               \
    };
LAB_VECTOR(2, sizeof(T) * 2, struct { T x, y; }; struct { T s0, s1; }; struct { T lo, hi; };)
LAB_VECTOR(3, sizeof(T) * 4, struct { T x, y, z; }; struct { T s0, s1, s2; };)
LAB_VECTOR(4, sizeof(T) * 4, struct { T x, y, z, w; }; struct { T s0, s1, s2, s3; };)
LAB_VECTOR(8, sizeof(T) * 8, struct { T s0, s1, s2, s3, s4, s5, s6, s7; };)
LAB_VECTOR(16, sizeof(T) * 16, struct { T s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf; };
          )

// Comparisons of vectors give -1 and 0 in an integer as wide as the element.
template <int BYTES> struct lab_integer;
template <> struct lab_integer<1> { typedef signed char type; };
template <> struct lab_integer<2> { typedef short type; };
template <> struct lab_integer<4> { typedef int type; };
template <> struct lab_integer<8> { typedef long type; };

// The other operand of a vector: an element, and nothing of which the element's type would be deduced.
template <class T> struct lab_same { typedef T type; };

#define LAB_OPERATOR(OP)                                                                                                            \
    template <class T, int N> static __forceinline__ lab_vec<T, N> operator OP(lab_vec<T, N> a, lab_vec<T, N> b) {                  \
        lab_vec<T, N> r;                                                                                                            \
        _Pragma("unroll") for (int i = 0; i < N; ++i) r.s[i] = (T)(a.s[i] OP b.s[i]);                                               \
        return r;                                                                                                                   \
    }                                                                                                                               \
    template <class T, int N> static __forceinline__ lab_vec<T, N> operator OP(lab_vec<T, N> a, typename lab_same<T>::type b) {     \
        return a OP lab_vec<T, N>(b);                                                                                               \
    }                                                                                                                               \
    template <class T, int N> static __forceinline__ lab_vec<T, N> operator OP(typename lab_same<T>::type a, lab_vec<T, N> b) {     \
        return lab_vec<T, N>(a) OP b;                                                                                               \
    }                                                                                                                               \
    template <class T, int N, class B> static __forceinline__ lab_vec<T, N>& operator OP##=(lab_vec<T, N>& a, B b) {                \
        return a = a OP b;                                                                                                          \
    }
LAB_OPERATOR(+)
LAB_OPERATOR(-)
LAB_OPERATOR(*)
LAB_OPERATOR(/)
LAB_OPERATOR(%)
LAB_OPERATOR(&)
LAB_OPERATOR(|)
LAB_OPERATOR(^)

// Shifts: the right side may be of another type, and OpenCL takes it modulo the width.
#define LAB_SHIFT(OP)                                                                                                               \
    template <class T, class U, int N> static __forceinline__ lab_vec<T, N> operator OP(lab_vec<T, N> a, lab_vec<U, N> b) {         \
        lab_vec<T, N> r;                                                                                                            \
        _Pragma("unroll") for (int i = 0; i < N; ++i) r.s[i] = (T)(a.s[i] OP(b.s[i] & (8 * sizeof(T) - 1)));                        \
        return r;                                                                                                                   \
    }                                                                                                                               \
    template <class T, int N> static __forceinline__ lab_vec<T, N> operator OP(lab_vec<T, N> a, int b) {                            \
        lab_vec<T, N> r;                                                                                                            \
        _Pragma("unroll") for (int i = 0; i < N; ++i) r.s[i] = (T)(a.s[i] OP(b & (8 * (int)sizeof(T) - 1)));                        \
        return r;                                                                                                                   \
    }                                                                                                                               \
    template <class T, int N, class B> static __forceinline__ lab_vec<T, N>& operator OP##=(lab_vec<T, N>& a, B b) {                \
        return a = a OP b;                                                                                                          \
    }
LAB_SHIFT(<<)
LAB_SHIFT(>>)

#define LAB_COMPARISON(OP)                                                                                                          \
    template <class T, int N>                                                                                                       \
    static __forceinline__ lab_vec<typename lab_integer<sizeof(T)>::type, N> operator OP(lab_vec<T, N> a, lab_vec<T, N> b) {        \
        lab_vec<typename lab_integer<sizeof(T)>::type, N> r;                                                                        \
        _Pragma("unroll") for (int i = 0; i < N; ++i) r.s[i] = a.s[i] OP b.s[i] ? -1 : 0;                                           \
        return r;                                                                                                                   \
    }
LAB_COMPARISON(<)
LAB_COMPARISON(>)
LAB_COMPARISON(<=)
LAB_COMPARISON(>=)
LAB_COMPARISON(==)
LAB_COMPARISON(!=)

template <class T, int N> static __forceinline__ lab_vec<T, N> operator-(lab_vec<T, N> a) { return lab_vec<T, N>(T(0)) - a; }
template <class T, int N> static __forceinline__ lab_vec<T, N> operator~(lab_vec<T, N> a) { return a ^ lab_vec<T, N>((T)~T(0)); }

#endif
