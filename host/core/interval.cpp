#include "core/interval.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace cllab {

std::string format_interval(double value, double low, double high) {
    if (!(value > 0) || !(low <= value) || !(high >= value) || !std::isfinite(high)) return {};
    const double below = 100 * (value - low) / value, above = 100 * (high - value) / value;
    const auto text = [](double x) {
        std::array<char, 32> out{};
        std::snprintf(out.data(), out.size(), "%.*f", x < 0.0995 ? 2 : x < 9.95 ? 1 : 0, x);
        return std::string(out.data());
    };
    const auto wide = text(std::max(below, above));
    if (std::max(below, above) <= 2 * std::min(below, above)) return "±" + wide;
    return below > above ? "-" + wide + "/+" + text(above) : "-" + text(below) + "/+" + wide;
}

}  // namespace cllab
