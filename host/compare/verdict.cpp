#include "compare/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "core/grouped.hpp"
#include "core/stats.hpp"

namespace cllab::compare {
namespace {

constexpr unsigned rounds_of_a_block = 2;

using Blocks = std::map<unsigned, std::vector<double>>;  ///< logs, by pair of rounds

Blocks blocks_of(std::span<const Turns> cells, std::set<unsigned>& rounds) {
    Blocks out;
    for (const auto& cell : cells)
        for (std::size_t i = 0; i < cell.seconds.size(); ++i) {
            const auto round = i < cell.rounds.size() ? cell.rounds[i] : static_cast<unsigned>(i);
            if (cell.seconds[i] <= 0) continue;
            rounds.insert(round);
            out[round / rounds_of_a_block].push_back(std::log(cell.seconds[i]));
        }
    return out;
}

Evidence evidence_of(std::span<const model::Arrangement> arrangements, double model::Arrangement::*log_ratio,
                     double model::Arrangement::*error) {
    Evidence out;
    for (const auto& a : arrangements) {
        out.log_ratios.push_back(a.*log_ratio);
        out.errors.push_back(std::hypot(a.*error, between_arrangements));
    }
    return out;
}

/// The median and its standard error. The rank of a median of n values has the standard error 1 / (2 sqrt(n)), as a
/// share of the values. A round counts as four values, one per pair of cells. The width is read at twice this rank
/// error, which varies less by chance, but within the quartiles.
Differences::Centre median_of_rounds(const std::vector<double>& sorted, std::size_t rounds) {
    const double standard = 1 / (4 * std::sqrt(static_cast<double>(rounds)));
    const double off = std::min(2 * standard, 0.25);
    return {quantile(sorted, 0.5), (quantile(sorted, 0.5 + off) - quantile(sorted, 0.5 - off)) / 2 * standard / off};
}

/// Half the width of the closest quarter of the values.
double width_of_core(const std::vector<double>& sorted) {
    constexpr double least = 5e-4;  // the step of a timer may hide smaller widths
    const auto quarter = std::max<std::size_t>(3, sorted.size() / 4);
    double width = sorted.back() - sorted.front();
    for (std::size_t i = 0; i + quarter <= sorted.size(); ++i)
        width = std::min(width, sorted[i + quarter - 1] - sorted[i]);
    return std::max(width / 2, least);
}

/// The centre (biweight) of the core that contains the median, and its error; nullopt without a core.
std::optional<Differences::Centre> core_of(const std::vector<double>& sorted) {
    constexpr std::size_t few = 3;
    // Each sample is in several differences, so half of them count as independent.
    constexpr double reach = 4.5, shared = 2;
    constexpr int turns = 20;
    if (sorted.size() < few) return std::nullopt;
    const double scale = reach * width_of_core(sorted);
    double middle = quantile(sorted, 0.5);
    for (int turn = 0; turn < turns; ++turn) {
        double weights = 0, sum = 0;
        for (const double x : sorted) {
            const double u = (x - middle) / scale;
            if (std::abs(u) >= 1) continue;
            const double weight = (1 - u * u) * (1 - u * u);
            weights += weight;
            sum += weight * x;
        }
        if (weights <= 0) return std::nullopt;
        middle = sum / weights;
    }
    std::size_t inside = 0;
    double squares = 0, slope = 0;
    for (const double x : sorted) {
        const double u = (x - middle) / scale, rest = 1 - u * u;
        if (rest <= 0) continue;
        ++inside;
        squares += rest * rest * rest * rest * (x - middle) * (x - middle);
        slope += rest * (1 - 5 * u * u);
    }
    if (inside < few || slope <= 0) return std::nullopt;
    return Differences::Centre{middle, std::sqrt(shared * squares) / slope};
}

/// Weighted averages of the pairs i <= j, ascending. At such a value, the ranks of i and j swap or a sign changes. The
/// median of the averages is the Hodges-Lehmann estimate, and their quantiles are its interval.
std::vector<double> walsh_averages(const Evidence& x) {
    std::vector<double> out;
    out.reserve(x.size() * (x.size() + 1) / 2);
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = i; j < x.size(); ++j)
            out.push_back((x.log_ratios[i] * x.error(j) + x.log_ratios[j] * x.error(i)) / (x.error(i) + x.error(j)));
    std::ranges::sort(out);
    return out;
}

/// For each value w of the statistic, the share of the 2^n sign patterns that give w.
std::vector<double> signed_rank_density(unsigned n) {
    std::vector<double> density(std::size_t{n} * (n + 1) / 2 + 1, 0.0);
    density[0] = 1;
    std::size_t top = 0;
    for (unsigned rank = 1; rank <= n; ++rank) {
        top += rank;
        for (std::size_t w = top + 1; w-- > 0;) density[w] = 0.5 * (density[w] + (w >= rank ? density[w - rank] : 0.0));
    }
    return density;
}

}  // namespace

Evidence ratios_of(std::span<const model::Arrangement> arrangements) {
    auto out = evidence_of(arrangements, &model::Arrangement::log_ratio, &model::Arrangement::error);
    std::vector<double> tilts;
    for (const auto& a : arrangements) tilts.push_back(std::log(a.left_cores / a.right_cores));
    const double tilt = tilts.empty() ? 0 : median_of(tilts);
    if (std::abs(tilt) > -std::log(model::nearly_all_cores)) out.tilt = tilt;
    return out;
}

Evidence controls_of(std::span<const model::Arrangement> arrangements) {
    return evidence_of(arrangements, &model::Arrangement::control, &model::Arrangement::control_error);
}

void Differences::add(std::span<const Turns> left, std::span<const Turns> right) {
    std::set<unsigned> rounds;
    const auto ours = blocks_of(left, rounds), theirs = blocks_of(right, rounds);
    for (const auto& [block, logs] : ours) {
        const auto found = theirs.find(block);
        if (found == theirs.end()) continue;
        for (const double l : logs)
            for (const double r : found->second) logs_.push_back(l - r);
    }
    rounds_ = std::max(rounds_, rounds.size());
}

Differences::Centre Differences::centre() const {
    if (logs_.empty()) return {std::numeric_limits<double>::quiet_NaN(), 0};
    auto sorted = logs_;
    std::ranges::sort(sorted);
    // With six rounds, the inner half of the differences may come from one disturbed pair: on a GPU an arrangement was
    // off by 6 % and reported 0.06 %.
    constexpr std::size_t enough_rounds = 12;
    const auto core = rounds_ >= enough_rounds ? core_of(sorted) : std::nullopt;
    return core ? *core : median_of_rounds(sorted, rounds_);
}

double signed_rank_below(unsigned n, unsigned w) {
    const auto density = signed_rank_density(n);
    const auto last = std::min<std::size_t>(w, density.size() - 1);
    return std::min(1.0,
                    std::accumulate(density.begin(), density.begin() + static_cast<std::ptrdiff_t>(last) + 1, 0.0));
}

RatioEstimate estimate(const Evidence& evidence, double coverage) {
    RatioEstimate out;
    out.n = static_cast<unsigned>(evidence.size());
    if (out.n == 0) return out;
    const auto averages = walsh_averages(evidence);
    out.ratio = std::exp(quantile(averages, 0.5));
    invert(signed_rank_density(out.n), averages, coverage, evidence.tilt, out);
    return out;
}

void invert(const std::vector<double>& density, const std::vector<double>& sorted, double coverage, double tilt,
            RatioEstimate& out) {
    // [sorted(k), sorted(last - k)] misses when the statistic is at most k, on either side.
    std::size_t k = 0;
    double below = density[0];
    if (1 - 2 * below < coverage) return;
    while (k + 1 < sorted.size() / 2 && 1 - 2 * (below + density[k + 1]) >= coverage) below += density[++k];
    out.coverage = 1 - 2 * below;
    out.low = std::exp(sorted[k] + std::min(0.0, tilt));
    out.high = std::exp(sorted[sorted.size() - 1 - k] + std::max(0.0, tilt));
}

Judgement judge(const Evidence& evidence, const Evidence& control, bool same_code, const Rules& rules) {
    Judgement out;
    out.ratio = estimate(evidence, rules.coverage);
    out.control = estimate(control, rules.coverage);
    const double floor = floor_of(rules.margin, out.control);
    out.floor = std::expm1(floor);
    if (same_code) {
        out.verdict = Verdict::same_code;
        return out;
    }
    if (!out.ratio.covered()) return out;
    const double low = std::log(out.ratio.low), high = std::log(out.ratio.high);
    out.within = std::expm1(std::max(std::abs(low), std::abs(high)));
    if (high < -floor)
        out.verdict = Verdict::faster;
    else if (low > floor)
        out.verdict = Verdict::slower;
    else if (out.within <= rules.same)
        out.verdict = Verdict::same;
    return out;
}

double floor_of(double margin, const RatioEstimate& control) {
    return std::max(std::log1p(margin), control.n > 0 ? std::abs(std::log(control.ratio)) : 0.0);
}

bool enough(const Evidence& evidence, const Rules& rules) {
    return evidence.size() >= rules.least &&
           estimate(evidence, rules.coverage).half_width() <= std::log1p(rules.precise);
}

double sampling_seconds(double overhead, double seconds) {
    constexpr double most = 16, few = 11;
    double wanted = std::max(overhead, std::min(3 * overhead, seconds / most - overhead));
    if (few * (overhead + wanted) > seconds) wanted = std::max(overhead / 2, seconds / few - overhead);
    return std::min(wanted, late * seconds / Rules{}.least - overhead);
}

double sampling_that_suffices(std::span<const model::Arrangement> arrangements, std::span<const double> seconds,
                              const Rules& rules) {
    // Eight arrangements with errors of 0.6 times `precise` have an interval of 1.4 times this error. The rounds cause
    // the smaller part of the error.
    constexpr double part = 0.3;
    const double wanted = part * rules.precise;
    std::vector<double> costs;
    for (std::size_t i = 0; i < std::min(arrangements.size(), seconds.size()); ++i)
        costs.push_back(std::pow(arrangements[i].error, 2) * seconds[i]);
    if (costs.size() < 2 || wanted <= 0) return std::numeric_limits<double>::infinity();
    std::ranges::sort(costs);
    return costs[3 * (costs.size() - 1) / 4] / (wanted * wanted);  // one in four may be worse
}

bool same_launch(const model::Record& a, const model::Record& b) {
    return a.launch.empty() || b.launch.empty() || a.launch == b.launch;
}

bool same_code(const model::Record& a, const model::Record& b) {
    return !a.code.fingerprint.empty() && a.code.fingerprint == b.code.fingerprint && same_launch(a, b);
}

namespace {

/// One-sided p-value: the chance of log ratios at least as far above `centre`, in units of their errors, if they are
/// symmetric around it. The effect of cores that other processes took is excluded.
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

/// For each value u of the rank sum statistic U, the share of the orders of m and n values that give u. The recursion
/// of Mann and Whitney, in probabilities so that nothing cancels: the largest value belongs either to the m and is
/// above all n, or to the n.
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
    constexpr double worth_it = 0.25;  // share of a cell's time; a shorter look gives no new evidence
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
