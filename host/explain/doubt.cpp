#include "explain/doubt.hpp"

#include <algorithm>

#include "explain/limiter.hpp"

namespace cllab::explain {

using model::Figure;
using model::Limit;

const model::Bound* doubted(const model::Explanation& e, const model::Timing& time) {
    constexpr double much = most_of_the_time / 2;  // a peak that was half as fast as it is still explains the time
    if (e.bounds.empty()) return nullptr;
    if (e.limit == Limit::impossible)
        return &*std::ranges::max_element(e.bounds, [](const auto& a, const auto& b) { return a.low < b.low; });
    // It changes within seconds: `cllab run issue` six times found 20 to 41 G/s on two idle cores.
    if (const auto* limiter = e.limit == Limit::named ? e.limiter() : nullptr;
        limiter && limiter->figure == "issue.rate")
        return limiter;
    return e.limit == Limit::unexplained && e.bounds.front().seconds >= much * time.median ? &e.bounds.front()
                                                                                           : nullptr;
}

double gain(const Figure& before, const Figure& now) {
    if (!(before.value > 0) || !(now.value > 0)) return 0;
    return now.unit.ends_with("/s") ? now.value / before.value : before.value / now.value;
}

std::vector<Figure> slower_of(const std::vector<Figure>& first, const std::vector<Figure>& second) {
    std::vector<Figure> out;
    for (const auto& a : first) {
        const auto b = std::ranges::find_if(second, [&](const auto& f) { return f.id == a.id; });
        if (b != second.end()) out.push_back(gain(a, *b) < 1 ? *b : a);
    }
    return out;
}

bool is_faster(const Figure& before, const Figure& now) {
    constexpr double widest = 0.5;  // what is known no better may be the slower one after all
    return gain(before, now) > alike && now.high - now.low <= widest * now.value;
}

bool is_slower(const Figure& before, const Figure& now) {
    const bool rate = now.unit.ends_with("/s");
    const bool apart = rate ? std::max(now.high, now.value) < std::min(before.low, before.value)
                            : std::min(now.low, now.value) > std::max(before.high, before.value);
    return apart && gain(before, now) * alike < 1;
}

bool is_alike(double seconds, double other) {
    constexpr double tolerance = alike * alike;  // of two times, each as far off
    return other > 0 && seconds <= tolerance * other && other <= tolerance * seconds;
}

bool second_stands(const model::Timing& first, const model::Timing& second, Limit limit) {
    if (limit == Limit::unsteady) return second.spread() <= widest_spread;
    return !is_alike(second.median, first.median) && (second.median < first.median) == (limit == Limit::unexplained);
}

void replace(model::Limits& limits, Figure now) {
    now.of_profile = false;
    for (auto& figure : limits.figures)
        if (figure.id == now.id) figure = now;
}

std::vector<model::PeakAgain> still_used(std::vector<model::PeakAgain> first, const model::Limits& limits) {
    std::erase_if(first, [&](const auto& peak) {
        const auto* figure = limits.find(peak.figure);
        return !peak.used || !figure || figure->of_profile || figure->value != peak.now;
    });
    return first;
}

}  // namespace cllab::explain
