// Proves a matrix product in time proportional to the matrices: Freivalds' check (1977) with exact arithmetic.
//
// All values are integers so small that every sum of products fits into the 24 bits of a float's significand. The
// product is then exact in any order of summation, with or without fused operations. So C = C0 + A B holds in the
// integers, and modulo 2^64. Then C x = C0 x + A (B x) for a random vector x of 64-bit words. A C with any wrong
// element passes with a probability of at most 2^-39. Its error there is at most 2^25, so it has at most 25 trailing
// zero bits. For a product of 0 modulo 2^64, the 39 low bits of the random word must be 0.
#pragma once

#include "experiments/lib/family.hpp"

namespace cllab::model::gemm {

struct Matrices {
    std::size_t m = 0, n = 0, k = 0;
    SharedBytes a, b, c;  ///< floats, row by row: m x k, k x n, m x n; an empty c means zeros

    std::span<const float> c_before() const { return c ? lib::view<float>(c) : std::span<const float>(); }
};

/// Largest absolute value of an element of A and B. With it, an element of C (below 2^19) plus k products, added twice,
/// stays below 2^24. Reason: the product is checked after one operation and after two.
inline std::int32_t largest_element(std::size_t k, int most = 1023) {
    const double room = (0x1p24 - 0x1p19) / 2;
    return std::max(1, std::min(most, static_cast<int>(std::sqrt(room / static_cast<double>(k)))));
}

/// Elements of A and B have absolute values of at most `largest`.
inline Matrices random_matrices(std::size_t m, std::size_t n, std::size_t k, std::uint64_t seed, int largest = 1023) {
    const auto whole = [&](std::size_t count, std::uint64_t s, std::int32_t most) {
        const auto range = static_cast<std::uint64_t>(2 * most + 1);
        return lib::random_values<float>(count, s, [=](std::uint32_t w) {
            return static_cast<float>(static_cast<std::int32_t>((w * range) >> 32) - most);
        });
    };
    const auto most = largest_element(k, largest);
    return {m,
            n,
            k,
            whole(m * k, 3 * seed, most),
            whole(k * n, 3 * seed + 1, most),
            whole(m * n, 3 * seed + 2, (1 << 19) - 1)};
}

inline std::uint64_t word(float v) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(v)); }

/// Product of a matrix of `rows` rows and a vector, modulo 2^64.
inline std::vector<std::uint64_t> times(std::span<const float> matrix, std::size_t rows,
                                        std::span<const std::uint64_t> x) {
    std::vector<std::uint64_t> out(rows);
    in_parallel(rows, 64, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) {
            std::uint64_t sum = 0;
            const float* row = matrix.data() + r * x.size();
            for (std::size_t i = 0; i < x.size(); ++i) sum += word(row[i]) * x[i];
            out[r] = sum;
        }
    });
    return out;
}

/// The first element of row `r` that differs from C0 + `times` A B, computed element by element.
inline std::optional<std::string> difference_in_row(const Matrices& in, std::span<const float> found, std::size_t r,
                                                    std::uint64_t times) {
    const auto a = lib::view<float>(in.a), b = lib::view<float>(in.b), c = in.c_before();
    std::vector<std::int64_t> expected(in.n);
    for (std::size_t j = 0; j < in.n && !c.empty(); ++j) expected[j] = static_cast<std::int64_t>(c[r * in.n + j]);
    for (std::size_t i = 0; i < in.k; ++i) {
        const auto factor = static_cast<std::int64_t>(times) * static_cast<std::int64_t>(a[r * in.k + i]);
        for (std::size_t j = 0; j < in.n; ++j) expected[j] += factor * static_cast<std::int64_t>(b[i * in.n + j]);
    }
    for (std::size_t j = 0; j < in.n; ++j) {
        const float v = found[r * in.n + j], e = static_cast<float>(expected[j]);
        if (!(v == e)) return concat("c[", r, "][", j, "] is ", lib::shown(v), ", expected ", lib::shown(e));
    }
    return std::nullopt;
}

/// The first difference of `found` (m x n) from C0 + `operations` A B in words, or nullopt; for one or two operations.
inline std::optional<std::string> check(const Matrices& in, std::span<const float> found, std::uint64_t seed,
                                        std::uint64_t operations = 1) {
    const auto odd = lib::first_wrong(found.size(), [&](std::size_t i) {
        // Not an integer of at most 2^24 (or NaN): compute the row exactly to tell the expected value.
        const bool exact = std::abs(found[i]) <= 0x1p24f && found[i] == std::trunc(found[i]);
        return exact ? std::nullopt : difference_in_row(in, found, i / in.n, operations);
    });
    if (odd) return odd;
    std::vector<std::uint64_t> x(in.n);
    Random random(mix64(seed));
    for (auto& v : x) v = random();
    const auto expected = times(lib::view<float>(in.a), in.m, times(lib::view<float>(in.b), in.k, x));
    const auto c = in.c_before();
    const auto before = c.empty() ? std::vector<std::uint64_t>(in.m) : times(c, in.m, x);
    const auto after = times(found, in.m, x);
    for (std::size_t r = 0; r < in.m; ++r)
        if (after[r] != before[r] + operations * expected[r]) return difference_in_row(in, found, r, operations);
    return std::nullopt;
}

}  // namespace cllab::model::gemm
