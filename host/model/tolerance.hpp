// Allowed and observed differences from the expected results, so that a cell's time is shown with the accuracy that its
// build options cost.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace cllab::model {

/// A result within one of the three is near enough.
struct Tolerance {
    double absolute = 0, relative = 0, ulp = 0;
};

/// |a - b| of whole numbers, taken before it is rounded: two that differ may be one double.
template <typename T>
double distance(T a, T b) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<double>(
        static_cast<Unsigned>(static_cast<Unsigned>(std::max(a, b)) - static_cast<Unsigned>(std::min(a, b))));
}

/// Steps between neighboring floating-point numbers of the type from `a` to `b`.
template <std::floating_point T>
double ulps_between(T a, T b) {
    using Signed = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    // Bits in the order of the numbers: neighbors differ by one, both zeros are 0.
    const auto ordered = [](T v) {
        const auto bits = std::bit_cast<Signed>(v);
        return bits < 0 ? static_cast<Signed>(std::numeric_limits<Signed>::min() - bits) : bits;
    };
    return distance(ordered(a), ordered(b));
}

/// Judges results one after the other and keeps the largest errors. For one thread; others merge theirs.
class Errors {
public:
    explicit Errors(const Tolerance& allowed) : allowed_(allowed) {}

    /// Whether the result is near enough.
    template <typename T>
    bool tolerates(T found, T expected) {
        if constexpr (std::is_floating_point_v<T>)
            return tolerates_floating(static_cast<double>(found), static_cast<double>(expected),
                                      [&] { return ulps_between(found, expected); });
        else
            return tolerates_distance(distance(found, expected), static_cast<double>(expected));
    }
    /// The same for a floating-point result of any size: `ulps` is asked for finite numbers that differ.
    template <typename Ulps>
    bool tolerates_floating(double found, double expected, Ulps ulps) {
        floating_ = true;
        // Zeros of either sign are one value.
        if (found == expected || (std::isnan(found) && std::isnan(expected))) return true;
        if (!std::isfinite(found) || !std::isfinite(expected)) return false;
        const double steps = ulps();
        ulp_ = std::max(ulp_, steps);
        return tolerates_distance(std::abs(found - expected), expected) || steps <= allowed_.ulp;
    }
    /// A result of any type by its distance.
    bool tolerates_distance(double apart, double expected) {
        absolute_ = std::max(absolute_, apart);
        if (expected != 0) relative_ = std::max(relative_, apart / std::abs(expected));
        return apart <= allowed_.absolute || apart <= allowed_.relative * std::abs(expected);
    }
    void merge(const Errors& other) {
        absolute_ = std::max(absolute_, other.absolute_);
        relative_ = std::max(relative_, other.relative_);
        ulp_ = std::max(ulp_, other.ulp_);
        floating_ = floating_ || other.floating_;
    }

    const Tolerance& allowed() const { return allowed_; }
    // The largest so far. An expected value of 0 gives no relative error; only floating-point results have ulps.
    double absolute() const { return absolute_; }
    double relative() const { return relative_; }
    double ulp() const { return ulp_; }
    bool of_floating_point() const { return floating_; }

private:
    Tolerance allowed_;
    double absolute_ = 0, relative_ = 0, ulp_ = 0;
    bool floating_ = false;
};

}  // namespace cllab::model
