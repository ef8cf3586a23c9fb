// Lines, plateaus and steps; then the models with integer parameters.
#include "experiments/lib/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/stats.hpp"

namespace cllab::model {
namespace {

/// Non-decreasing curve nearest to y in absolute error: pool adjacent violators (Barlow et al. 1972). Each pool has its
/// lower median, so that a spike is pooled with the point after it and vanishes.
std::vector<double> isotonic(const std::vector<double>& y) {
    std::vector<std::vector<double>> pools;  // each pool is sorted
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

/// Finds flat stretches of the monotone curve `smooth`: the longest in x first, then those on its left and right.
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
    /// An even climb through the band rises by half of the band between its quartiles. A plateau that rises at its end
    /// hardly rises there.
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
    // The intercept is uncertain by its own scatter and by the slope's. Use the wider of the two.
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
    // The isotonic curve is flat wherever points scatter without order. So half of the points must be near the level.
    std::erase_if(runs, [&](const Run& r) {
        const Summary s = summarise(points_of(r));
        return s.mad > s.median * (tolerance - 1);
    });
    // Merge the parts of a level that the longest-first search has split: within the width of the band, with nothing
    // between.
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

// The models with integer parameters: each candidate is fitted, and the likeliest one is taken.

namespace fit {
namespace {

double mean_error(std::span<const double> k, std::span<const double> y, double base, double slope) {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += std::abs(1 - (base + slope * k[i]) / y[i]);
    return sum / static_cast<double>(y.size());
}

/// The scale a that minimizes sum |1 - a * f|: the median of 1 / f, weighted by f.
double weighted_scale(const std::vector<double>& f) {
    std::vector<double> sorted;
    double total = 0;
    for (const double x : f)
        if (x > 0) sorted.push_back(x), total += x;
    if (sorted.empty()) return 0;
    std::ranges::sort(sorted, std::greater<>());  // 1 / f ascending
    double seen = 0;
    for (const double x : sorted)
        if ((seen += x) >= total / 2) return 1 / x;
    return 1 / sorted.back();
}

}  // namespace

std::pair<std::vector<double>, std::vector<double>> clean(std::span<const double> x, std::span<const double> y,
                                                          bool positive) {
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        const bool usable = std::isfinite(x[i]) && std::isfinite(y[i]) && (!positive || (x[i] > 0 && y[i] > 0));
        if (usable) points.emplace_back(x[i], y[i]);
    }
    std::ranges::stable_sort(points, [](const auto& a, const auto& b) { return a.first < b.first; });
    std::pair<std::vector<double>, std::vector<double>> out;
    for (const auto& [a, b] : points) out.first.push_back(a), out.second.push_back(b);
    return out;
}

Affine fit_affine(std::span<const double> k, std::span<const double> y) {
    // Divide each row by its y: 1 = base * u + slope * v. Errors are then relative.
    std::vector<double> u, v, weight(y.size(), 1.0);
    for (std::size_t i = 0; i < y.size(); ++i) u.push_back(1 / y[i]), v.push_back(k[i] / y[i]);
    Affine fit;
    constexpr int iterations = 40;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            uu += weight[i] * u[i] * u[i];
            uv += weight[i] * u[i] * v[i];
            vv += weight[i] * v[i] * v[i];
            u1 += weight[i] * u[i];
            v1 += weight[i] * v[i];
        }
        const double determinant = uu * vv - uv * uv;
        if (!(determinant > 1e-12 * uu * vv)) break;  // all k are equal, so the slope is unknown: see below
        fit.base = (u1 * vv - v1 * uv) / determinant;
        fit.slope = (v1 * uu - u1 * uv) / determinant;
        for (std::size_t i = 0; i < y.size(); ++i)
            weight[i] = 1 / std::max(std::abs(1 - fit.base * u[i] - fit.slope * v[i]), 1e-6);
    }
    fit.residual = mean_error(k, y, fit.base, fit.slope);
    if (fit.base >= 0 && fit.slope > 0) return fit;
    // On a bound, only one parameter is free, and its fit is a weighted median.
    const double level = weighted_scale(u), scale = weighted_scale(v);
    const Affine flat{level, 0, mean_error(k, y, level, 0)}, through_origin{0, scale, mean_error(k, y, 0, scale)};
    return flat.residual <= through_origin.residual ? flat : through_origin;
}

bool as_likely(double residual, double best, std::size_t points, double margin) {
    const double ratio = std::max(residual, residual_floor) / std::max(best, residual_floor);
    return static_cast<double>(points) * std::log(ratio) <= margin;
}

}  // namespace fit

std::optional<Staircase> fit_staircase(std::span<const double> groups, std::span<const double> seconds) {
    const auto [g, t] = fit::clean(groups, seconds, true);
    if (g.size() < 3) return std::nullopt;
    std::vector<std::pair<unsigned, fit::Affine>> tried;
    const auto most = static_cast<unsigned>(std::min(g.back(), 1e5));
    std::vector<double> steps(g.size());
    for (unsigned period = 1; period < most; ++period) {
        for (std::size_t i = 0; i < g.size(); ++i) steps[i] = std::ceil(g[i] / period);
        const auto affine = fit::fit_affine(steps, t);
        // Without this bound, a flat curve would fit a staircase of any period on a high floor. A curve that drifts
        // upwards would fit one of period 1. Groups that saturate a unit take far longer than a launch.
        if (affine.base <= affine.slope / 2) tried.emplace_back(period, affine);
    }
    if (tried.empty()) return std::nullopt;
    const auto best = std::ranges::min_element(tried, {}, [](const auto& one) { return one.second.residual; });
    const auto& [period, affine] = *best;
    const double height = affine.slope / summarise(t).median;
    if (height <= std::max(4 * affine.residual, fit::least_effect)) return std::nullopt;
    Staircase s;
    s.period = {static_cast<double>(period), static_cast<double>(period), static_cast<double>(period)};
    s.residual = affine.residual;
    // Likely periods adjacent to the best one. An unlikely period ends the range.
    for (auto it = best; it != tried.end() && fit::as_likely(it->second.residual, affine.residual, g.size()); ++it)
        s.period.high = it->first;
    for (auto it = best; fit::as_likely(it->second.residual, affine.residual, g.size()); --it) {
        s.period.low = it->first;
        if (it == tried.begin()) break;
    }
    return s;
}

namespace {

/// Groups per unit of time are min(group_rate, wave_rate / waves). So each split of the wave counts into "limited by
/// groups" and "by waves" gives both rates as medians. `width` 0: groups limit every point.
Dispatch fit_width(const std::vector<double>& sizes, const std::vector<double>& rates, unsigned width) {
    std::vector<double> waves, group_rates;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        waves.push_back(width == 0 ? 1 : std::ceil(sizes[i] / width));
        group_rates.push_back(rates[i] / sizes[i]);
    }
    const std::set<double> counts(waves.begin(), waves.end());
    std::optional<Dispatch> best;
    for (const double most_by_groups : counts) {
        std::vector<double> by_groups, by_waves;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            if (waves[i] <= most_by_groups)
                by_groups.push_back(group_rates[i]);
            else
                by_waves.push_back(group_rates[i] * waves[i]);
        Dispatch d;
        const Summary groups = summarise(by_groups);
        d.group_rate = {groups.median, groups.low, groups.high};
        if (!by_waves.empty()) {
            const Summary all = summarise(by_waves);
            d.wave_rate = Estimate{all.median, all.low, all.high};
            d.width = width;
        }
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const double limit = d.wave_rate ? std::min(groups.median, d.wave_rate->value / waves[i]) : groups.median;
            d.residual += std::abs(group_rates[i] / limit - 1) / static_cast<double>(sizes.size());
        }
        if (!best || d.residual < best->residual) best = d;
    }
    return *best;
}

}  // namespace

std::optional<Dispatch> fit_dispatch(std::span<const double> group_sizes, std::span<const double> rates) {
    const auto [sizes, rate] = fit::clean(group_sizes, rates, true);
    if (sizes.size() < 3) return std::nullopt;
    std::vector<Dispatch> tried;
    for (const unsigned width : {8u, 16u, 32u, 64u, 128u}) tried.push_back(fit_width(sizes, rate, width));
    auto best = *std::ranges::min_element(tried, {}, &Dispatch::residual);
    // Claim a wave rate only if the group rate alone explains the points markedly worse. A wave rate adds a rate, a
    // width and a split, chosen as the best of dozens. So mere noise gains up to about 3 in log likelihood; a real
    // limit gains tens.
    constexpr double wave_margin = 6;
    const auto groups_only = fit_width(sizes, rate, 0);
    if (fit::as_likely(groups_only.residual, best.residual, sizes.size(), wave_margin)) return groups_only;
    if (best.wave_rate)
        for (const auto& d : tried)
            if (d.wave_rate && fit::as_likely(d.residual, best.residual, sizes.size())) best.widths.push_back(d.width);
    return best;
}

unsigned bank_slots(std::span<const std::uint32_t> byte_addresses, unsigned banks, unsigned bank_bytes,
                    unsigned lanes_per_pass) {
    unsigned slots = 0;
    for (std::size_t first = 0; first < byte_addresses.size(); first += lanes_per_pass) {
        std::map<unsigned, std::set<std::uint32_t>> words;  // per bank
        for (const auto address :
             byte_addresses.subspan(first, std::min<std::size_t>(lanes_per_pass, byte_addresses.size() - first)))
            words[address / bank_bytes % banks].insert(address / bank_bytes);
        std::size_t turns = 0;
        for (const auto& [bank, distinct] : words) turns = std::max(turns, distinct.size());
        slots += static_cast<unsigned>(turns);
    }
    return slots;
}

std::optional<Banks> fit_banks(std::span<const BankCase> cases, unsigned lanes_per_pass) {
    std::vector<double> times;
    std::vector<const BankCase*> usable;
    for (const auto& c : cases)
        if (std::isfinite(c.time) && c.time > 0 && !c.byte_addresses.empty())
            usable.push_back(&c), times.push_back(c.time);
    if (usable.size() < 3 || lanes_per_pass == 0) return std::nullopt;
    std::vector<Banks> tried;
    std::vector<double> most_extra;
    // The most common first, because the first of equals is taken.
    for (const auto& [banks, bytes] :
         std::initializer_list<std::pair<unsigned, unsigned>>{{32, 4}, {64, 4}, {16, 4}, {32, 8}, {64, 8}, {16, 8}}) {
        std::vector<double> extra;
        for (const auto* c : usable) {
            const auto passes = (c->byte_addresses.size() + lanes_per_pass - 1) / lanes_per_pass;
            extra.push_back(static_cast<double>(bank_slots(c->byte_addresses, banks, bytes, lanes_per_pass)) -
                            static_cast<double>(passes));
        }
        const auto affine = fit::fit_affine(extra, times);
        tried.push_back({banks, bytes, affine.base, affine.slope, affine.residual, {}});
        most_extra.push_back(*std::ranges::max_element(extra));
    }
    const auto chosen =
        std::ranges::min_element(tried, [](const Banks& a, const Banks& b) { return a.residual < b.residual - 1e-9; });
    Banks best = *chosen;
    const double effect = best.per_slot * most_extra[static_cast<std::size_t>(chosen - tried.begin())];
    if (effect <= best.base * std::max(4 * best.residual, fit::least_effect)) return std::nullopt;
    for (auto it = tried.begin(); it != tried.end(); ++it)
        if (it != chosen && fit::as_likely(it->residual, best.residual, usable.size()))
            best.alternatives.emplace_back(it->banks, it->bank_bytes);
    return best;
}

std::optional<Interleave> find_interleave(std::span<const double> spacing, std::span<const double> bandwidth) {
    double best = 0, worst = 0;
    std::uint64_t full = 0;
    for (std::size_t i = 0; i < spacing.size() && i < bandwidth.size(); ++i) {
        const auto bytes = static_cast<std::uint64_t>(spacing[i]);
        if ((bytes & (bytes - 1)) != 0 || !(bandwidth[i] > 0)) continue;
        if (worst > 0 && bandwidth[i] >= std::min(0.75 * best, 1.25 * worst)) return std::nullopt;
        if (best == 0 || bandwidth[i] >= 0.75 * best) {
            best = bandwidth[i] > best ? bandwidth[i] : best;
            full = bytes;
        } else if (worst == 0 || bandwidth[i] < worst) {
            worst = bandwidth[i];
        }
    }
    if (worst == 0) return std::nullopt;
    return Interleave{full, best / worst};
}

std::vector<Granule> granules(std::span<const double> distance, std::span<const double> second, double noise) {
    std::vector<Granule> out;
    double level = second.empty() ? 0 : std::max(second.front(), 0.0);
    for (std::size_t i = 1; i < distance.size() && i < second.size(); ++i) {
        if (second[i] <= 1.3 * level || second[i] - level <= noise) continue;
        std::uint64_t bytes = 1;
        while (2.0 * static_cast<double>(bytes) <= distance[i]) bytes *= 2;
        out.push_back({bytes, level, second[i]});
        level = second[i];
    }
    return out;
}

}  // namespace cllab::model
