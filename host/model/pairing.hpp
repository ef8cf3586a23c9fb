// Two variants whose samples were taken in turns: which is faster, and is the difference more than this machine's own.
#pragma once

#include <span>

namespace cllab::model {

enum class Verdict { faster, slower, same, ambiguous };

struct Pairing {
    double ratio = 1, low = 1, high = 1;  ///< time of left over right, the median over rounds with its 95 % interval
    double floor = 0;                     ///< how far from 1 the same comparison comes out for one variant with itself
    unsigned rounds = 0;
    Verdict verdict = Verdict::ambiguous;  ///< of left: faster than right, …
};

/// `left` and `right`: seconds, sample i of both from round i; the longer one's rest is left out. Ratios of one round are
/// free of the drift both share. The floor compares each round with the next one of the same variant. Faster and slower
/// need an interval without 1 and a ratio beyond the floor; same needs an interval within the floor or 1 %, whichever is
/// more; anything else, and fewer than 6 rounds, is ambiguous.
Pairing pair_up(std::span<const double> left, std::span<const double> right);

}  // namespace cllab::model
