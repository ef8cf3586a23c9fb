#include "model/tolerance.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace cllab::model {
namespace {

/// Bits in the order of the numbers: neighbors differ by one, both zeros are 0.
template <typename Signed, typename T>
Signed ordered(T v) {
    const auto bits = std::bit_cast<Signed>(v);
    return bits < 0 ? static_cast<Signed>(std::numeric_limits<Signed>::min() - bits) : bits;
}

}  // namespace

double ulps_between(float a, float b) { return distance(ordered<std::int32_t>(a), ordered<std::int32_t>(b)); }
double ulps_between(double a, double b) { return distance(ordered<std::int64_t>(a), ordered<std::int64_t>(b)); }

void Errors::merge(const Errors& other) {
    absolute_ = std::max(absolute_, other.absolute_);
    relative_ = std::max(relative_, other.relative_);
    ulp_ = std::max(ulp_, other.ulp_);
    floating_ = floating_ || other.floating_;
}

}  // namespace cllab::model
