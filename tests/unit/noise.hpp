// Noise as a benchmark has it, for tests of what is fitted to times.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "core/random.hpp"

namespace cllab::test {

/// Relative noise as a benchmark has it: uniform +-`width`, and one point in `spike_every` slowed by up to 3x (0:
/// none).
class Noise {
public:
    Noise(std::uint64_t seed, double width, unsigned spike_every)
        : random_(seed), width_(width), spike_every_(spike_every) {}
    double operator()(double value) {
        value *= 1 + width_ * random_.real(-1, 1);
        if (spike_every_ && random_.below(spike_every_) == 0) value *= 1 + 2 * random_.real(0, 1);
        return value;
    }

private:
    Random random_;
    double width_;
    unsigned spike_every_;
};

/// Draws of the result of one arrangement.
using Draw = std::function<double(Random&)>;

inline std::vector<double> sample(Random& random, unsigned n, const Draw& draw) {
    std::vector<double> out(n);
    for (auto& x : out) x = draw(random);
    return out;
}

inline Draw normal(double mean, double sd) {
    return [=](Random& r) { return std::normal_distribution<double>(mean, sd)(r); };
}
/// Student's t with 2 degrees of freedom: no variance, now and then an arrangement that is far off.
inline Draw heavy(double centre, double scale) {
    return [=](Random& r) { return centre + scale * std::student_t_distribution<double>(2)(r); };
}
/// The bias of the side that was prepared first, which the random order turns into a sign.
inline Draw biased_by_side(double bias, double sd) {
    return [=](Random& r) { return (r() & 1 ? bias : -bias) + std::normal_distribution<double>(0, sd)(r); };
}
/// Two placements, or two codes that the compiler makes of one text, `apart` from each other: either side has either.
inline Draw bimodal(double centre, double apart, double sd) {
    return [=](Random& r) {
        const double left = r() & 1 ? apart : 0, right = r() & 1 ? apart : 0;
        return centre + left - right + std::normal_distribution<double>(0, sd)(r);
    };
}

}  // namespace cllab::test
