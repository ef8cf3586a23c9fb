// The functions of the math probe: reference, accuracy required by OpenCL C 1.2 (section 7.4), and range of arguments.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

#include "core/half.hpp"

namespace cllab::model::math {

struct Function {
    const char* name;
    long double (*reference)(long double);
    double ulp_float = 0, ulp_double = 0;  ///< largest error allowed; 0: correctly rounded
    double most = 1e30;                    ///< arguments are smaller, so that results stay finite
    bool native = false;                   ///< native_NAME and half_NAME exist
    bool is_short = false;                 ///< a few instructions on most devices
};

inline constexpr long double second_argument = 1.375L;  // exact in float, as in math.cl

inline const std::array<Function, 34>& functions() {
    using L = long double;
    static const std::array<Function, 34> all{{
        {"identity", [](L x) { return x; }, 0, 0, 1e30, false, true},
        {"fma", [](L x) { return x * x + 0.5L; }, 0, 0, 1e30, false, true},
        {"divide", [](L x) { return 1 / x; }, 2.5, 0, 1e30, true, true},
        {"recip", [](L x) { return 1 / x; }, 2.5, 0, 1e30, true, true},
        {"sqrt", [](L x) { return std::sqrt(x); }, 3, 0, 1e30, true, true},
        {"rsqrt", [](L x) { return 1 / std::sqrt(x); }, 2, 2, 1e30, true, true},
        {"cbrt", [](L x) { return std::cbrt(x); }, 2, 2},
        {"exp", [](L x) { return std::exp(x); }, 3, 3, 80, true},
        {"exp2", [](L x) { return std::exp2(x); }, 3, 3, 120, true},
        {"exp10", [](L x) { return std::pow(10.0L, x); }, 3, 3, 36, true},
        {"expm1", [](L x) { return std::expm1(x); }, 3, 3, 80},
        {"log", [](L x) { return std::log(x); }, 3, 3, 1e30, true},
        {"log2", [](L x) { return std::log2(x); }, 3, 3, 1e30, true},
        {"log10", [](L x) { return std::log10(x); }, 3, 3, 1e30, true},
        {"log1p", [](L x) { return std::log1p(x); }, 2, 2},
        {"pow", [](L x) { return std::pow(x, second_argument); }, 16, 16},
        {"powr", [](L x) { return std::pow(x, second_argument); }, 16, 16, 1e30, true},
        {"hypot", [](L x) { return std::hypot(x, second_argument); }, 4, 4},
        {"fmod", [](L x) { return std::fmod(x, second_argument); }, 0, 0},
        {"sin", [](L x) { return std::sin(x); }, 4, 4, 1e30, true},
        {"cos", [](L x) { return std::cos(x); }, 4, 4, 1e30, true},
        {"tan", [](L x) { return std::tan(x); }, 5, 5, 1e30, true},
        {"asin", [](L x) { return std::asin(x); }, 4, 4, 1},
        {"acos", [](L x) { return std::acos(x); }, 4, 4, 1},
        {"atan", [](L x) { return std::atan(x); }, 5, 5},
        {"atan2", [](L x) { return std::atan2(x, second_argument); }, 6, 6},
        {"sinh", [](L x) { return std::sinh(x); }, 4, 4, 80},
        {"tanh", [](L x) { return std::tanh(x); }, 5, 5},
        // One function computed through another by an identity. The allowed errors follow from the roundings in
        // between.
        {"exp_by_exp2", [](L x) { return std::exp(x); }, 90, 750, 80},
        {"sqrt_by_rsqrt", [](L x) { return std::sqrt(x); }, 5, 5, 1e30, false, true},
        {"asin_by_atan2", [](L x) { return std::asin(x); }, 12, 12, 1},
        {"fmax", [](L x) { return std::max(x, second_argument); }, 0, 0, 1e30, false, true},
        {"fmin", [](L x) { return std::min(x, second_argument); }, 0, 0, 1e30, false, true},
        {"erf", [](L x) { return std::erf(x); }, 16, 16},
    }};
    return all;
}

inline const Function* find(std::string_view name) {
    for (const auto& f : functions())
        if (name == f.name) return &f;
    return nullptr;
}

/// Largest allowed error of functions of half (table "ULP Values for Half-Precision Floating-Point Arithmetic
/// Operations" of OpenCL C 3.0). For one function by another, it follows from the roundings in between.
inline double ulp_half(const Function& f) {
    const std::string_view name = f.name;
    if (f.ulp_double == 0 && name != "divide" && name != "recip" && name != "sqrt") return 0;
    if (name == "divide" || name == "recip" || name == "rsqrt") return 1;
    if (name == "sqrt") return 1.5;
    if (name == "tan") return 2.5;
    if (name == "pow" || name == "powr" || name == "erf") return 4;
    return name == "exp_by_exp2" ? 24 : name == "sqrt_by_rsqrt" ? 3 : name == "asin_by_atan2" ? 6 : 2;
}

/// Limit of half arguments: neither they nor 1 / x become denormal, and results stay finite.
inline double most_half(const Function& f) {
    double most = std::min(f.most, 16000.0);
    while (std::abs(f.reference(most)) > 60000) most *= 0.75;
    return most;
}

template <typename T>
T rounded_to(long double x) {
    if constexpr (std::is_same_v<T, Half>)
        return to_half(static_cast<double>(x));
    else
        return static_cast<T>(x);
}

/// Smallest and largest argument of a class: zero, small (below pi/4), medium (some periods), large (far beyond the
/// fast reduction of trigonometric functions).
struct Interval {
    double low = 0, high = 0;
};
inline Interval arguments(const Function& f, std::string_view of_class, double most) {
    Interval i = of_class == "zero"     ? Interval{0, 0}
                 : of_class == "small"  ? Interval{0.1, 0.75}
                 : of_class == "medium" ? Interval{1, 10}
                                        : Interval{1e5, 1e6};
    const double limit = std::min(f.most, most);
    if (i.high > limit) i = {limit * (of_class == "large" ? 0.5 : 0.1), limit};
    return i;
}

/// |found - truth| in units in the last place of the truth rounded to T; 0 for the same infinity or for two NaNs.
template <typename T>
double error_ulp(T found, long double truth) {
    constexpr bool is_half = std::is_same_v<T, Half>;
    constexpr int digits = is_half ? 11 : std::numeric_limits<T>::digits,
                  least = is_half ? -14 : std::numeric_limits<T>::min_exponent - 1;
    using Number = std::conditional_t<is_half, double, T>;
    const Number rounded = rounded_to<T>(truth), got = found;
    if (std::isnan(got) && std::isnan(rounded)) return 0;
    if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : std::numeric_limits<double>::infinity();
    if (std::isnan(got) || std::isnan(rounded)) return std::numeric_limits<double>::infinity();
    const int exponent = rounded == 0 ? least : std::max(std::ilogb(rounded), least);
    const long double unit = std::ldexp(1.0L, exponent - digits + 1);
    return static_cast<double>(std::abs(static_cast<long double>(got) - truth) / unit);
}

}  // namespace cllab::model::math
