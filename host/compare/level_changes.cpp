#include "compare/level_changes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

#include "core/grouped.hpp"
#include "core/stats.hpp"

namespace cllab::compare {
namespace {

constexpr std::size_t least_points = 3;

/// The mean absolute distance from a level, by the differences of neighbours: their median is 1.678 times it for normal
/// noise.
double noise(std::span<const double> logs) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < logs.size(); ++i) steps.push_back(std::abs(logs[i] - logs[i - 1]));
    // 0.9539 is the median of |x - y| for two normal values of deviation 1, 0.7979 the mean distance of one from its
    // centre.
    return std::max(median_of(steps) / 0.9539 * 0.7979, 1e-4);
}

/// Sum of absolute distances from the median while values come one after the other.
class Spread {
public:
    void add(double x) {
        // The sum is the same from any place between the two middle values of an even number.
        if (!low_.empty()) sum_ += std::abs(x - std::clamp(x, low_.top(), high_is_middle() ? high_.top() : low_.top()));
        low_.push(x);
        high_.push(low_.top());
        low_.pop();
        if (low_.size() < high_.size()) {
            low_.push(high_.top());
            high_.pop();
        }
    }
    double sum() const { return sum_; }

private:
    bool high_is_middle() const { return low_.size() == high_.size(); }

    std::priority_queue<double> low_;  ///< the lower half, and the middle one of an odd number; the largest on top
    std::priority_queue<double, std::vector<double>, std::greater<>> high_;
    double sum_ = 0;
};

model::Level level_of(std::span<const double> logs, std::size_t first, std::size_t end) {
    const auto own = logs.subspan(first, end - first);
    return {first, own.size(), median_of({own.begin(), own.end()}), false};
}

}  // namespace

std::vector<model::Level> levels(std::span<const double> logs, double least) {
    const std::size_t n = logs.size();
    if (n == 0) return {};
    if (n < 2 * least_points) return {level_of(logs, 0, n)};
    const double unit = noise(logs);
    const double penalty = 3 * std::log(static_cast<double>(n));
    // best[e]: the least cost of logs[0, e); from[e]: where its last level begins.
    std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> from(n + 1, 0);
    best[0] = -penalty;
    for (std::size_t begin = 0; begin + least_points <= n; ++begin) {
        if (!std::isfinite(best[begin])) continue;
        Spread spread;
        for (std::size_t end = begin + 1; end <= n; ++end) {
            spread.add(logs[end - 1]);
            if (end - begin < least_points) continue;
            const double cost = best[begin] + penalty + spread.sum() / unit;
            if (cost < best[end]) best[end] = cost, from[end] = begin;
        }
    }
    std::vector<std::size_t> starts;
    for (std::size_t end = n; end > 0; end = from[end]) starts.push_back(from[end]);
    std::ranges::reverse(starts);
    // Neighbours that differ by less than what is worth naming become one level, the closest first.
    std::vector<model::Level> out;
    for (;;) {
        out.clear();
        for (std::size_t i = 0; i < starts.size(); ++i)
            out.push_back(level_of(logs, starts[i], i + 1 < starts.size() ? starts[i + 1] : n));
        std::size_t closest = 0;
        double distance = least;
        for (std::size_t i = 1; i < out.size(); ++i) {
            const double apart = std::abs(out[i].centre - out[i - 1].centre);
            if (apart <= distance) distance = apart, closest = i;
        }
        if (closest == 0) break;
        starts.erase(starts.begin() + static_cast<std::ptrdiff_t>(closest));
    }
    for (auto& level : out) level.provisional = level.first > 0 && level.first + least_points >= n;
    return out;
}

std::vector<model::History> histories(const std::vector<model::Record>& records) {
    const auto timed = model::rows_of(records, [](const auto& r) { return r.time && r.time->median > 0; });
    const auto key_of = [](const model::Record* r) {
        return std::tuple(r->id, r->point, r->device.platform, r->device.name, r->device.identity, r->host.name,
                          r->time->cache, r->launch, r->build.options);
    };
    std::vector<model::History> out;
    for (auto& own : grouped(timed, key_of)) {
        std::ranges::stable_sort(own, {}, &model::Record::utc);
        constexpr std::size_t most = 5000;
        if (own.size() > most) own.erase(own.begin(), own.end() - most);
        auto& history = out.emplace_back();
        history.id = own.front()->id;
        history.point = own.front()->point;
        history.device = own.front()->device;
        history.options = own.front()->build.options;
        std::vector<double> logs;
        for (const auto* r : own) {
            history.points.push_back(
                {r->utc, r->run.label, r->run.id, r->time->median, static_cast<std::size_t>(r - records.data())});
            logs.push_back(std::log(r->time->median));
        }
        history.levels = levels(logs);
    }
    return out;
}

}  // namespace cllab::compare
