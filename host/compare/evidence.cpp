#include "compare/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/stats.hpp"
#include "model/rankable.hpp"

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

/// The median. A quantile is off by 1 / (2 sqrt(n)) of the values, for n of them; four pairs of cells a round are as
/// good as four values. Twice that is less of chance, but no farther out than the quartiles.
Differences::Centre median_of_rounds(const std::vector<double>& sorted, std::size_t rounds) {
    const double standard = 1 / (4 * std::sqrt(static_cast<double>(rounds)));
    const double off = std::min(2 * standard, 0.25);
    return {quantile(sorted, 0.5), (quantile(sorted, 0.5 + off) - quantile(sorted, 0.5 - off)) / 2 * standard / off};
}

/// Half the width of the closest quarter of the values.
double width_of_core(const std::vector<double>& sorted) {
    constexpr double least = 5e-4;  // timers have steps
    const auto quarter = std::max<std::size_t>(3, sorted.size() / 4);
    double width = sorted.back() - sorted.front();
    for (std::size_t i = 0; i + quarter <= sorted.size(); ++i)
        width = std::min(width, sorted[i + quarter - 1] - sorted[i]);
    return std::max(width / 2, least);
}

/// The biweight's middle of the core that the median lies in, and its error; nothing where there is no core.
std::optional<Differences::Centre> core_of(const std::vector<double>& sorted) {
    constexpr std::size_t few = 3;
    // Each sample is in several differences: half of them are as good as independent.
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
    // Of six rounds a inside of the differences may be those of one disturbed pair: on a GPU an arrangement was off
    // by 6 % and said 0.06 %.
    constexpr std::size_t enough_rounds = 12;
    const auto core = rounds_ >= enough_rounds ? core_of(sorted) : std::nullopt;
    return core ? *core : median_of_rounds(sorted, rounds_);
}

}  // namespace cllab::compare
