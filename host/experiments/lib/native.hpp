// The hand-written C++ that --native puts beside the kernels of a family: what a good engineer writes first and leaves
// to the compiler's vectorizer, on one thread or on one per core. Each loop is compiled for several instruction sets,
// and the best that this processor has is taken, as with -O3 -march=native on the machine itself; the record says
// which. Not references: the results are held against the same ones as those of the kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/experiment.hpp"

namespace cllab::model::native {

/// Experiment::native of a family: the loop on one thread, `native`, and on a thread for each core, `native_all`.
/// like: the variant whose arguments, work and check it has. meaning: one sentence without a full stop.
std::vector<Variant> loops(const std::string& like, const std::string& meaning,
                           const std::function<void(const HostMemory&, const Point&, unsigned threads)>& loop);

// Arrays are row by row and do not overlap. threads >= 1; the caller's is one of them.

/// y = a x + y for n floats that are `stride` apart.
void saxpy(const float* x, float* y, float a, std::size_t n, std::size_t stride, unsigned threads);
std::uint32_t sum(const std::uint32_t* src, std::size_t n, unsigned threads);
/// c (m x n) += a (m x k) b (k x n)
void gemm(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k, unsigned threads);

/// The region of interest [left, right] x [top, bottom], inclusive; n: the whole part of the pitch. The two weights sum
/// to 128 or less.
struct Pitch {
    std::int32_t width, left, top, right, bottom, n;
    std::int16_t floor_weight, ceiling_weight;
};
/// The fixed-point pitch comparison. Writes the region of dst and nothing else.
void pitch(const std::uint8_t* src, std::uint8_t* dst, const Pitch& what, unsigned threads);

/// Points of a grid, boundary included, and words from one row to the next.
struct Grid {
    std::size_t i, j, k, row;
};
/// One sweep from p to q, the interior only. coefficients: a0 a1 a2 a3 b0 b1 b2 c0 c1 c2 bnd wrk1. Returns gosa.
double himeno(const std::array<const float*, 12>& coefficients, const float* p, float* q, const Grid& grid,
              unsigned threads);

}  // namespace cllab::model::native
