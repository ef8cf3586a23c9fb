// Loops over large data with the widest vectors of this processor. The program is built for any of its kind.
#pragma once

namespace cllab {

enum class Vectors { of_the_build, avx2, avx512 };

/// The widest ones that this processor has and that loops are compiled for.
inline Vectors widest_vectors() {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2")) return Vectors::of_the_build;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
               ? Vectors::avx512
               : Vectors::avx2;
#endif
    return Vectors::of_the_build;
}

#if defined(__x86_64__)
template <typename Loop>
[[gnu::flatten, gnu::target("avx2,avx512f,avx512bw,avx512dq,avx512vl")]] void with_avx512(Loop loop) {
    loop();
}
template <typename Loop>
[[gnu::flatten, gnu::target("avx2")]] void with_avx2(Loop loop) {
    loop();
}
#endif

/// Calls `loop`, which is compiled once for each kind of vectors. All compute the same, for nothing is contracted.
template <typename Loop>
void widest(Loop loop) {
#if defined(__x86_64__)
    static const auto vectors = widest_vectors();
    if (vectors == Vectors::avx512) return with_avx512(loop);
    if (vectors == Vectors::avx2) return with_avx2(loop);
#endif
    loop();
}

}  // namespace cllab
