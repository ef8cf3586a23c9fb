// Lines, plateaus and steps. The models with whole parameters are in fit_models.cpp.
#include "experiments/lib/fit.hpp"

#include <algorithm>
#include <cmath>

#include "core/stats.hpp"

namespace cllab::model {
namespace {

/// Non-decreasing curve nearest to y in absolute error: pool adjacent violators (Barlow et al. 1972), each pool at its
/// lower median, so that a spike is pooled with the point after it and vanishes.
std::vector<double> isotonic(const std::vector<double>& y) {
    std::vector<std::vector<double>> pools;  // each sorted
    const auto level = [](const std::vector<double>& pool) { return pool[(pool.size() - 1) / 2]; };
    for (const double value : y) {
        pools.push_back({value});
        while (pools.size() > 1 && level(pools[pools.size() - 2]) > level(pools.back())) {
            auto last = std::move(pools.back());
            pools.pop_back();
            const auto middle = static_cast<long>(pools.back().size());
            pools.back().insert(pools.back().end(), last.begin(), last.end());
            std::inplace_merge(pools.back().begin(), pools.back().begin() + middle, pools.back().end());
        }
    }
    std::vector<double> out;
    for (const auto& pool : pools) out.insert(out.end(), pool.size(), level(pool));
    return out;
}

struct Run {
    std::size_t first, last;
};

constexpr double least_span = 1.6;  ///< last x over first x: a shorter stretch is part of a slope
constexpr std::size_t least_points = 3;

/// Flat stretches of the monotone curve `smooth`, longest in x first, then left and right of it.
class RunFinder {
public:
    RunFinder(const std::vector<double>& x, const std::vector<double>& smooth, double tolerance)
        : x_(x), smooth_(smooth), tolerance_(tolerance) {}

    void find(std::size_t begin, std::size_t end, std::vector<Run>& runs) const {
        double best_span = 0;
        Run best{0, 0};
        for (std::size_t first = begin; first < end; ++first) {
            std::size_t last = first;
            while (last + 1 < end && within(first, last + 1)) ++last;
            const double span = x_[last] / x_[first];
            if (last + 1 - first < least_points || span < least_span || is_slope(first, last)) continue;
            if (span > best_span) best_span = span, best = {first, last};
        }
        if (best_span == 0) return;
        find(begin, best.first, runs);
        runs.push_back(best);
        find(best.last + 1, end, runs);
    }

private:
    double middle(std::size_t first, std::size_t last) const { return smooth_[(first + last) / 2]; }
    bool within(std::size_t first, std::size_t last) const {
        const double level = middle(first, last);
        return smooth_[last] <= level * tolerance_ && smooth_[first] >= level / tolerance_;
    }
    /// An even climb through the band rises by half of it between its quartiles; a plateau that creeps at its end,
    /// hardly.
    bool is_slope(std::size_t first, std::size_t last) const {
        const std::size_t quarter = (last - first) / 4;
        return std::log(smooth_[last - quarter] / smooth_[first + quarter]) > 0.35 * 2 * std::log(tolerance_);
    }

    const std::vector<double>&x_, &smooth_;
    double tolerance_;
};

Plateau make_plateau(const Run& run, const std::vector<double>& x, const std::vector<double>& y,
                     const std::vector<double>& smooth, double tolerance) {
    const Summary s = summarise(std::span(y).subspan(run.first, run.last + 1 - run.first));
    std::size_t first = run.first, last = run.last;
    while (first > 0 && smooth[first - 1] >= s.median / tolerance) --first;
    while (last > first && smooth[last] > s.median * tolerance) --last;
    while (last + 1 < x.size() && smooth[last + 1] <= s.median * tolerance) ++last;
    Plateau p;
    p.value = {s.median, s.low, s.high};
    p.first_x = x[first];
    p.open = last + 1 == x.size();
    p.capacity = {x[last], x[last], p.open ? x[last] : x[last + 1]};
    p.points = last + 1 - first;
    return p;
}

}  // namespace

std::optional<Line> fit_line(std::span<const double> xs, std::span<const double> ys) {
    const auto [x, y] = fit::clean(xs, ys, false);
    std::vector<double> slopes;
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = i + 1; j < x.size(); ++j)
            if (x[i] != x[j]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
    if (slopes.empty()) return std::nullopt;
    std::ranges::sort(slopes);
    // Sen's interval: ranks (N -+ 1.96 * sigma of Kendall's S) / 2 of the N slopes.
    const double n = static_cast<double>(x.size()), count = static_cast<double>(slopes.size());
    const double reach = 1.96 * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
    const auto at = [&](double rank) { return slopes[static_cast<std::size_t>(std::clamp(rank, 0.0, count - 1))]; };
    Line line;
    line.slope = {quantile(slopes, 0.5), at(std::floor((count - reach) / 2)), at(std::ceil((count + reach) / 2))};
    const auto offsets = [&, &xv = x, &yv = y](double slope) {
        std::vector<double> out;
        for (std::size_t i = 0; i < xv.size(); ++i) out.push_back(yv[i] - slope * xv[i]);
        return out;
    };
    const auto residues = offsets(line.slope.value);
    const Summary base = summarise(residues);
    // The intercept is uncertain by its own scatter and by the slope's: the wider of the two.
    const double one = summarise(offsets(line.slope.low)).median, other = summarise(offsets(line.slope.high)).median;
    line.intercept = {base.median, std::min({base.low, one, other}), std::max({base.high, one, other})};
    return line;
}

Plateaus find_plateaus(std::span<const double> xs, std::span<const double> ys, double tolerance) {
    Plateaus result;
    const auto [x, y] = fit::clean(xs, ys, true);
    if (x.empty()) return result;
    const auto smooth = isotonic(y);
    std::vector<Run> runs;
    RunFinder(x, smooth, tolerance).find(0, x.size(), runs);
    const auto points_of = [&, &yv = y](const Run& r) { return std::span(yv).subspan(r.first, r.last + 1 - r.first); };
    // The isotonic curve is flat wherever its points scatter without order: half of them must lie near the level.
    std::erase_if(runs, [&](const Run& r) {
        const Summary s = summarise(points_of(r));
        return s.mad > s.median * (tolerance - 1);
    });
    // What the longest-first search cut in two is one level still: within the width of the band, and nothing between.
    for (std::size_t i = 0; i + 1 < runs.size();) {
        const auto level = [&](const Run& r) { return summarise(points_of(r)).median; };
        const bool touching = runs[i + 1].first == runs[i].last + 1;
        const double limit = touching ? tolerance * tolerance : tolerance;
        if (level(runs[i + 1]) <= level(runs[i]) * limit) {
            runs[i].last = runs[i + 1].last;
            runs.erase(runs.begin() + static_cast<long>(i) + 1);
        } else {
            ++i;
        }
    }
    std::vector<double> errors;
    for (const auto& run : runs) {
        auto plateau = make_plateau(run, x, y, smooth, tolerance);
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x[i] >= plateau.first_x && x[i] <= plateau.capacity.value)
                errors.push_back(std::abs(y[i] / plateau.value.value - 1));
        result.levels.push_back(plateau);
    }
    if (!errors.empty()) result.residual = summarise(errors).median;
    return result;
}

std::optional<StepFit> fit_step(std::span<const double> xs, std::span<const double> ys) {
    const auto [x, y] = fit::clean(xs, ys, true);
    std::optional<StepFit> best;
    for (std::size_t split = 1; split < x.size(); ++split) {
        if (x[split] == x[split - 1]) continue;
        StepFit step;
        step.before = summarise(std::span(y).first(split)).median;
        step.after = summarise(std::span(y).subspan(split)).median;
        step.position = {x[split - 1], x[split - 1], x[split]};
        for (std::size_t i = 0; i < x.size(); ++i)
            step.residual +=
                std::abs(y[i] / (i < split ? step.before : step.after) - 1) / static_cast<double>(x.size());
        if (!best || step.residual < best->residual) best = step;
    }
    if (!best) return std::nullopt;
    const double height = std::abs(best->after - best->before) / std::min(best->after, best->before);
    if (height <= std::max(4 * best->residual, fit::least_effect)) return std::nullopt;
    return best;
}

}  // namespace cllab::model
