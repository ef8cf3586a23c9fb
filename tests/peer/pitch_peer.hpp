// The hand-written C++ that pitch_wide is measured against: the loop a good engineer writes first, left to the
// compiler's vectoriser at -O3 -march=native, with one thread a core. Not a reference: the kernels are checked
// elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace peer {

/// One fixed-point pitch comparison. src and dst: width * height bytes, not overlapping; the ROI [left, right] x
/// [top, bottom] is inclusive and legal (left > n, right < width - n - 1); n is the whole part of the pitch,
/// floor_weight and ceiling_weight sum to 127 or 128. Writes the ROI of dst and nothing else. threads >= 1; the
/// caller's is one of them.
void peer_pitch(const std::uint8_t* src, std::uint8_t* dst, int width, int left, int top, int right, int bottom, int n,
                int floor_weight, int ceiling_weight, unsigned threads);

}  // namespace peer
