// The samples of a record as a density.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "core/stats.hpp"
#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"

namespace cllab::report::html {
namespace {

/// Height of the density at `steps` places from `low` to `high`, by Gaussian kernels. Half of Silverman's width, which
/// is made for one mode and hides two.
std::vector<double> density(const std::vector<double>& sorted, double low, double high, int steps) {
    const double n = static_cast<double>(sorted.size());
    const double iqr = quantile(sorted, 0.75) - quantile(sorted, 0.25);
    const double width = std::max(0.45 * iqr / 1.34 * std::pow(n, -0.2), (high - low) / steps);
    std::vector<double> out;
    for (int i = 0; i <= steps; ++i) {
        const double x = low + (high - low) * i / steps;
        double sum = 0;
        for (const double s : sorted) {
            const double z = (s - x) / width;
            if (std::abs(z) < 4) sum += std::exp(-z * z / 2);
        }
        out.push_back(sum);
    }
    const double most = *std::ranges::max_element(out);
    for (auto& y : out) y = most > 0 ? y / most : 0;
    return out;
}

}  // namespace

void write_density(std::ostream& out, const model::Record& r) {
    auto sorted = r.samples;
    std::ranges::sort(sorted);
    if (sorted.size() < 8 || !(sorted.back() > sorted.front())) {
        out << fmt::format(R"(<span class="dim">{}</span>)",
                           sorted.empty()
                               ? "no samples"
                               : fmt::format("{}{} samples", sorted.size(), sorted.size() < 8 ? "" : " equal"));
        return;
    }
    // A few wild samples must not squeeze the rest into one peak: they are counted beside the chart.
    const double inner_low = quantile(sorted, 0.02), inner_high = quantile(sorted, 0.98),
                 margin = 0.1 * (inner_high - inner_low);
    const double low = inner_high > inner_low ? std::max(sorted.front(), inner_low - margin) : sorted.front();
    const double high = inner_high > inner_low ? std::min(sorted.back(), inner_high + margin) : sorted.back();
    constexpr int steps = 60;
    std::string path = "M0 28";
    for (int i = 0; const double height : density(sorted, low, high, steps))
        path += fmt::format("L{} {}", i++, format_exact(std::round(10 * (28 - 26 * height)) / 10));
    out << R"(<svg class="density" viewBox="0 0 60 28" preserveAspectRatio="none" role="img" )";
    out << fmt::format(R"(aria-label="density of the samples"><path d="{}L60 28Z"/></svg>)", path);
    out << fmt::format(R"(<span class="range"><span>{}</span><span>{}</span></span>)", format_seconds(low),
                       format_seconds(high));
    const auto beyond = std::ranges::count_if(sorted, [&](double s) { return s < low || s > high; });
    constexpr double worth_saying = 1.25;  // times as far as what is drawn
    if (beyond > 0 && sorted.back() - sorted.front() > worth_saying * (high - low))
        out << fmt::format(R"(<span class="beyond">{} of {} outside, {} to {}</span>)", beyond, sorted.size(),
                           format_seconds(sorted.front()), format_seconds(sorted.back()));
}

}  // namespace cllab::report::html
