// The hand-written C++ that himeno_wide is measured against: the loop of the original, one thread a core over blocks of
// planes, two fields that change places. Not a reference: the kernels are checked elsewhere.
#pragma once

#include <array>
#include <cstddef>

namespace peer {

/// Sweeps `iterations` times over a grid of i x j x k floats (k contiguous, boundary included) from p to q, from q to p and
/// so on. coefficients: a0 a1 a2 a3 b0 b1 b2 c0 c1 c2 bnd wrk1, i*j*k floats each. p and q have the same boundary. Returns
/// gosa of the last sweep. threads >= 1; the caller's is one of them.
float peer_himeno(const std::array<const float*, 12>& coefficients, float* p, float* q, std::size_t i, std::size_t j,
                  std::size_t k, unsigned iterations, unsigned threads);

}  // namespace peer
