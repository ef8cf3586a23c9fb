#include "explain/limiter.hpp"

#include <algorithm>

namespace cllab::explain {

using model::Limit;

Limit limit_of(const std::vector<model::Bound>& bounds, const model::Timing& time) {
    // What one interval of 95 % leaves out, and the drift of a clock between the profile and today.
    constexpr double tolerance = 1.05;
    if (bounds.empty()) return Limit::unexplained;
    for (const auto& bound : bounds)
        if (bound.low > tolerance * time.high) return Limit::impossible;
    const auto& first = bounds.front();
    if (first.seconds < most_of_the_time * time.median) return Limit::unexplained;
    const bool clear = std::all_of(bounds.begin() + 1, bounds.end(), [&](const auto& next) {
        return next.high < first.low && next.seconds <= clear_of_the_next * first.seconds;
    });
    return clear ? Limit::named : Limit::close;
}

model::Explanation explain(const model::Record& record, const model::Limits& limits) {
    auto out = bounds_of(record, limits);
    if (record.time) out.limit = limit_of(out.bounds, *record.time);
    return out;
}

std::string limit_in_a_word(const model::Record& record, const model::Limits& limits) {
    const auto found = explain(record, limits);
    const auto* limiter = found.limiter();
    return limiter ? limiter->brief : "-";
}

}  // namespace cllab::explain
