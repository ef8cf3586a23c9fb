#include "compare/family_test.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/grouped.hpp"
#include "core/stats.hpp"

namespace cllab::compare {
namespace {

/// One-sided: the chance of log ratios that lie as far above `centre` as these by their errors, or farther, when they
/// are symmetric around it. What the cores that others had may make of them is not theirs.
double p_above(const Evidence& evidence, double centre) {
    centre += std::max(0.0, -evidence.tilt);
    std::vector<double> off;
    for (std::size_t i = 0; i < evidence.size(); ++i)
        if (const double x = evidence.log_ratios[i]; x != centre) off.push_back((x - centre) / evidence.error(i));
    std::ranges::sort(off, [](double a, double b) { return std::abs(a) < std::abs(b); });
    unsigned below = 0;
    for (std::size_t i = 0; i < off.size(); ++i)
        if (off[i] < 0) below += static_cast<unsigned>(i + 1);
    return signed_rank_below(static_cast<unsigned>(off.size()), below);
}

/// Of each value u of the rank sum statistic U, the part of the orders of m and n values that give it. The largest
/// value is one of the m, above all n, or one of the n: Mann and Whitney's recursion, in probabilities, so that nothing
/// cancels.
std::vector<double> rank_sum_density(std::size_t m, std::size_t n) {
    std::vector<std::vector<double>> row(n + 1, std::vector<double>(m * n + 1, 0.0));  // of the current m, by n
    for (auto& density : row) density[0] = 1;
    for (std::size_t i = 1; i <= m; ++i) {
        for (std::size_t j = 1; j <= n; ++j) {
            std::vector<double> next(m * n + 1, 0.0);
            const double mine = static_cast<double>(i) / static_cast<double>(i + j);
            for (std::size_t u = 0; u <= i * j; ++u)
                next[u] = (u >= j ? mine * row[j][u - j] : 0.0) + (1 - mine) * row[j - 1][u];
            row[j] = std::move(next);
        }
    }
    return row[n];
}

std::vector<double> differences(std::span<const double> today, std::span<const double> before) {
    std::vector<double> out;
    for (const double t : today)
        for (const double b : before) out.push_back(t - b);
    std::ranges::sort(out);
    return out;
}

/// One-sided: differences as far above `centre` as these.
double p_above_between(std::span<const double> today, std::span<const double> before, double centre) {
    if (today.empty() || before.empty()) return 1;
    const auto all = differences(today, before);
    const auto at_most = static_cast<std::size_t>(std::ranges::upper_bound(all, centre) - all.begin());
    const auto density = rank_sum_density(today.size(), before.size());
    return std::min(1.0,
                    std::accumulate(density.begin(), density.begin() + static_cast<std::ptrdiff_t>(at_most) + 1, 0.0));
}

Evidence negated(Evidence evidence) {
    for (auto& value : evidence.log_ratios) value = -value;
    evidence.tilt = -evidence.tilt;
    return evidence;
}

}  // namespace

Rules FamilyRules::of_cell() const {
    Rules out;
    out.coverage = 1 - share * family_rate / std::max(1u, cells);
    while (1 - 2 * signed_rank_below(out.least, 0) < out.coverage) ++out.least;
    return out;
}

double signed_rank_p(const Evidence& evidence, double floor) {
    return std::min(1.0, 2 * std::min(p_above(evidence, floor), p_above(negated(evidence), floor)));
}

double rank_sum_p(std::span<const double> today, std::span<const double> before, double floor) {
    return std::min(1.0, 2 * std::min(p_above_between(today, before, floor), p_above_between(before, today, floor)));
}

RatioEstimate estimate_between(std::span<const double> today, std::span<const double> before, double coverage) {
    RatioEstimate out;
    out.n = static_cast<unsigned>(std::min(today.size(), before.size()));
    if (out.n == 0) return out;
    const auto all = differences(today, before);
    out.ratio = std::exp(quantile(all, 0.5));
    invert(rank_sum_density(today.size(), before.size()), all, coverage, 0, out);
    return out;
}

std::vector<double> holm(std::span<const double> p_values) {
    auto order = places_in(p_values);
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
    std::vector<double> out(p_values.size());
    double least = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        least = std::max(least, std::min(1.0, p_values[order[i]] * static_cast<double>(order.size() - i)));
        out[order[i]] = least;
    }
    return out;
}

namespace {

double nearest_of(const std::vector<double>& log_ratios) {
    if (log_ratios.empty()) return 1;
    const auto [least, most] = std::ranges::minmax(log_ratios);
    return least > 0 ? std::exp(least) : most < 0 ? std::exp(most) : 1;
}

}  // namespace

model::CellTest test_cell(const Evidence& evidence, const Evidence& control, const FamilyRules& rules) {
    model::CellTest out;
    const double coverage = rules.of_cell().coverage;
    out.ratio = estimate(evidence, coverage);
    out.control = estimate(control, coverage);
    const double floor = floor_of(rules.threshold, out.control);
    out.floor = std::expm1(floor);
    out.adjusted = out.p = std::min(1.0, signed_rank_p(evidence, floor) / rules.share);
    out.nearest = nearest_of(evidence.log_ratios);
    return out;
}

model::CellTest looked_again(const model::CellTest& before, model::CellTest latest) {
    latest.adjusted = latest.p = std::min(before.p, latest.p);
    return latest;
}

double seconds_of_look(std::size_t number, double left, std::size_t undecided, double seconds) {
    const double part =
        left / static_cast<double>(std::max<std::size_t>(1, undecided)) / (number + 1 < looks.size() ? 2 : 1);
    return std::clamp(part, 0.0, looks[number].at_most * seconds);
}

std::size_t looks_at_a_cell(std::size_t cells) { return cells > 1 ? looks.size() : 1; }

double share_of_look(std::size_t number, std::size_t most) { return most > 1 ? looks[number].share : 1; }

void take_looks(std::size_t tested, std::size_t cells, double seconds, const LookSteps& steps) {
    constexpr double worth_it = 0.25;  // of the time of a cell: less tells no more than is known
    const auto most = looks_at_a_cell(cells);
    for (std::size_t number = 0; number < most; ++number) {
        std::vector<std::size_t> open;
        double left = seconds * static_cast<double>(cells);
        for (std::size_t cell = 0; cell < tested; ++cell) {
            left -= steps.spent(cell);
            if (number == 0 || steps.is_open(cell)) open.push_back(cell);
        }
        const double each = number == 0 ? seconds : seconds_of_look(number, left, open.size(), seconds);
        if (open.empty() || each < worth_it * seconds) break;
        for (const auto cell : open) steps.look(cell, each, number);
        steps.correct();
    }
}

model::CellTest test_recorded(std::span<const double> today, std::span<const double> before, double shift,
                              const FamilyRules& rules) {
    model::CellTest out;
    std::vector<double> own(today.begin(), today.end());
    for (auto& value : own) value -= shift;
    out.ratio = estimate_between(own, before, rules.of_cell().coverage);
    out.floor = rules.threshold;
    out.adjusted = out.p = rank_sum_p(own, before, std::log1p(rules.threshold));
    return out;
}

void correct(std::span<model::CellTest* const> tests) {
    const auto adjusted = holm(mapped(tests, [](const auto* test) { return test->p; }));
    for (std::size_t i = 0; i < tests.size(); ++i) tests[i]->adjusted = adjusted[i];
}

model::CellChange change_of(const model::CellTest& test, const FamilyRules& rules) {
    if (test.adjusted <= rules.family_rate)
        return test.ratio.ratio > 1 ? model::CellChange::slower : model::CellChange::faster;
    if (test.nearest >= rules.far) return model::CellChange::slower;
    if (test.nearest <= 1 / rules.far) return model::CellChange::faster;
    if (!test.ratio.covered()) return model::CellChange::undecided;
    const double most = std::max(std::abs(std::log(test.ratio.low)), std::abs(std::log(test.ratio.high)));
    return most <= std::log1p(rules.threshold) ? model::CellChange::same : model::CellChange::undecided;
}

model::Lean lean_of(const model::CellTest& test) {
    if (test.nearest > 1 + test.floor) return model::Lean::all_slower;
    return test.ratio.n && test.ratio.ratio > 1 + test.floor ? model::Lean::middle_slower : model::Lean::none;
}

model::Lean lean_of_recorded(const model::Timing& today, const model::Timing& before, double threshold) {
    const bool apart = today.has_interval() && before.has_interval() && today.low > before.high * (1 + threshold);
    return apart ? model::Lean::all_slower : model::Lean::middle_slower;
}

RatioEstimate common_shift(std::span<const double> log_ratios) { return estimate(log_ratios, 0.95); }

}  // namespace cllab::compare
