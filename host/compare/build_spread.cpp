#include "compare/build_spread.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/stats.hpp"

namespace cllab::compare {
namespace {

/// Logs of the processes' medians, by code.
std::map<std::string, std::vector<double>> logs_by_code(std::span<const BuiltRun> runs) {
    std::map<std::string, std::vector<double>> out;
    for (const auto& run : runs)
        if (!run.samples.empty()) out[run.code].push_back(std::log(median_of(run.samples)));
    return out;
}

double mean_of(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::vector<CodeTimes> codes_of(std::span<const BuiltRun> runs) {
    std::map<std::string, unsigned> counts;
    for (const auto& run : runs) ++counts[run.code];
    auto logs = logs_by_code(runs);
    std::vector<CodeTimes> out;
    for (const auto& [code, count] : counts) {
        auto& own = logs[code];
        out.push_back({code, count, own.empty() ? 0 : std::exp(median_of(own))});
    }
    std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.runs > b.runs; });
    return out;
}

SpreadSplit split(std::span<const BuiltRun> runs) {
    SpreadSplit out;
    std::vector<double> within;
    for (const auto& run : runs) {
        if (run.samples.size() < 3) continue;
        std::vector<double> logs;
        for (const double s : run.samples)
            if (s > 0) logs.push_back(std::log(s));
        if (logs.size() >= 3) within.push_back(1.4826 * summarise(logs).mad);
    }
    if (!within.empty()) out.within = median_of(within);
    // One-way analysis of variance with unequal groups (Searle, Casella, McCulloch: Variance Components, 1992, 3.6):
    // what the codes add is what their means differ by beyond what processes of one code differ by.
    const auto logs = logs_by_code(runs);
    double squares = 0, n = 0, n_squares = 0, sum = 0;
    for (const auto& [code, own] : logs) {
        const double mean = mean_of(own);
        for (const double v : own) squares += (v - mean) * (v - mean);
        const auto count = static_cast<double>(own.size());
        n += count;
        n_squares += count * count;
        sum += count * mean;
    }
    const auto groups = static_cast<double>(logs.size());
    if (n <= groups) return out;  // no code was run twice
    const double own_variance = squares / (n - groups);
    out.between_arrangements = std::sqrt(own_variance);
    if (groups < 2) return out;
    double between = 0;
    for (const auto& [code, own] : logs) {
        const double off = mean_of(own) - sum / n;
        between += static_cast<double>(own.size()) * off * off;
    }
    const double per_group = (n - n_squares / n) / (groups - 1);
    out.between_codes = std::sqrt(std::max(0.0, (between / (groups - 1) - own_variance) / per_group));
    return out;
}

}  // namespace cllab::compare
