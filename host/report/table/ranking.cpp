#include "report/table/ranking.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "core/grouped.hpp"
#include "core/units.hpp"
#include "model/warning.hpp"
#include "report/records/points.hpp"

namespace cllab::report {
namespace {

using model::Record;

/// The axes that split the rows into comparable groups. Excludes those whose values the variants chose themselves.
Points comparable_points(const Rows& rows, const MayBeAuto& may_be_auto) {
    Points points(rows, [](const Record& r) { return r.variant; });
    if (!points.tell_apart()) return points;  // one cell run twice: keep every axis
    points.drop_if([&](std::size_t i) {
        const bool possible = !may_be_auto || may_be_auto(rows.front()->family, points.names()[i]);
        // In a sweep, all variants have the same values.
        return possible && points.differs_by_owner(i) && points.tell_apart(i);
    });
    // An axis that some variants do not have is a launch parameter of the others: their values compete.
    points.drop_if([&](std::size_t i) { return !points.everywhere(i); });
    return points;
}

/// The cost of the same work: the inverse of the rate, or the time if there is no rate. 0 if unknown.
double cost_of(const Record& r, const std::string& rate) {
    if (!r.time || !(r.time->median > 0)) return 0;
    if (rate.empty()) return r.time->median;
    const double value = metric_value(r, rate).value_or(0);
    return value > 0 ? 1 / value : 0;
}

/// Relative change of a time by the placement of buffers alone. Equal code under two names, with other placement, took
/// up to 1.11 times as long on CPUs and 1.03 on a GPU (`tests/trial/verdicts.py`, `tests/trial/tables.py`). Other
/// machines may be worse: a third more.
double placement_of(const Record& r) { return r.device.type == "gpu" ? 0.04 : 0.15; }

/// The smallest relative difference in cost for which the faster of two is named: 0.2 is 20 %. It combines three
/// effects that one replicate cannot tell from a difference of the kernels. They are: the placement of buffers; how
/// much the reference kernel varied next to these samples (rule 14 of host/README.md); and the cores that either
/// lacked. The first is a constant, the others come from the records.
double least_difference(const Record& a, const Record& b) {
    const double varied = std::max(a.time->reference_spread, b.time->reference_spread);
    const double cores = std::min(model::cores_share(a), model::cores_share(b));
    // A row that lacks cores takes up to this factor longer than its share of cores explains
    // (`tests/trial/beside_load.py`).
    constexpr double beside_load = 1.5;
    return (1 + placement_of(a)) * (1 + varied) / cores * (cores < model::nearly_all_cores ? beside_load : 1) - 1;
}

/// `timed`: indices of rows that took turns.
void rank_set(const Rows& rows, const std::vector<std::size_t>& timed, std::vector<Rank>& ranks) {
    if (timed.size() < 2) return;
    std::string rate;
    // A rate of assumed bytes tells nothing about equal work.
    const bool assumed = std::ranges::any_of(timed, [&](std::size_t i) { return rows[i]->work.assumed; });
    for (const char* candidate : {assumed ? "" : "bandwidth", "flops"})
        if (rate.empty() && std::ranges::all_of(timed, [&](std::size_t i) { return cost_of(*rows[i], candidate) > 0; }))
            rate = candidate;
    const auto cost = [&](std::size_t i) { return cost_of(*rows[i], rate); };
    const auto best = *std::ranges::min_element(timed, {}, cost);
    ranks[best].fastest = true;
    // Rates of equal work are times.
    const bool of_times = std::ranges::all_of(timed, [&](std::size_t i) {
        const double median = rows[i]->time->median;
        return std::abs(cost(i) / cost(best) * rows[best]->time->median - median) < 0.01 * median;
    });
    for (const auto i : timed) {
        ranks[i].compared = true;
        ranks[i].ratio = cost(i) / cost(best);
        ranks[i].per = of_times ? "" : rate == "bandwidth" ? "byte" : "operation";
        if (i == best || clearly_before(*rows[best], cost(best), *rows[i], cost(i))) continue;
        ranks[i].indistinct = ranks[best].indistinct = true;
        ranks[best].fastest = false;
        ranks[i].allowed = least_difference(*rows[best], *rows[i]);
    }
}

/// The problem that a row solves, as text: a kernel with its results, its reference, else the size of its buffers.
/// Empty if its bytes are declared. Rows with equal text may be ranked. `bytes`: the buffers of each variant.
std::string problem_of(const Record& r, const std::map<std::string, double>& bytes) {
    constexpr double little = 1.1;  // variants may have partial results of their own
    constexpr std::string_view by = "reference ";
    if (!r.problem.empty() || !r.work.assumed) return r.problem;
    if (r.checked_by == "is the reference") return r.variant;
    if (const auto at = r.checked_by.find(by); at != r.checked_by.npos)
        return r.checked_by.substr(at + by.size(), r.checked_by.find(',', at) - at - by.size());
    auto values = mapped(bytes, [](const auto& one) { return one.second; });
    std::ranges::sort(values, std::greater());
    double least = bytes.at(r.variant);
    for (const double value : values)
        if (value < least && least < little * value) least = value;
    return std::to_string(least);
}

/// `members`: indices of rows at one point. `sets`: number of sets ranked before.
void rank_group(const Rows& rows, const std::vector<std::size_t>& members, std::vector<Rank>& ranks, std::size_t& sets,
                bool& apart) {
    // Rows whose guessed sizes differ took turns, but not with the same problem.
    using Sizes = std::pair<std::optional<model::Turns>, std::string>;
    std::map<Sizes, std::map<std::string, std::vector<std::size_t>>> took_turns;
    std::map<std::string, double> bytes;
    for (const auto i : members) bytes.try_emplace(rows[i]->variant, rows[i]->work.bytes);
    for (const auto i : members)
        if (cost_of(*rows[i], "") > 0 && rows[i]->time->has_interval())
            took_turns[{model::turns_of(*rows[i]), model::text_of(*rows[i], model::Warning::unlike_sizes)}]
                      [problem_of(*rows[i], bytes)]
                          .push_back(i);
    apart = apart || (!took_turns.empty() && took_turns.begin()->first.first != took_turns.rbegin()->first.first);
    for (auto& [key, problems] : took_turns)
        for (auto& [problem, set] : problems) {
            for (const auto i : set) ranks[i].set = sets, ranks[i].unlike = key.first && problems.size() > 1;
            ++sets;
            if (key.first) rank_set(rows, set, ranks);
        }
}

/// If some rows are ranked, sorts all by time. Rows that took turns stay together in the order of their ranks. So do
/// the sets of one run, in the order in which they ran, at the position of the fastest. `members`: indices of rows at
/// one point.
void put_fastest_first(const Rows& rows, std::vector<std::size_t>& members, const std::vector<Rank>& ranks) {
    const auto seconds = [&](std::size_t i) { return rows[i]->time ? rows[i]->time->median : HUGE_VAL; };
    std::map<std::string, double> least;  // by run
    for (const auto i : members)
        if (ranks[i].compared) {
            auto& of_set = least.try_emplace(rows[i]->run.id, HUGE_VAL).first->second;
            of_set = std::min(of_set, seconds(i));
        }
    if (least.empty()) return;
    std::ranges::stable_sort(members, {}, [&](std::size_t i) {
        return ranks[i].compared ? std::tuple(least.at(rows[i]->run.id), ranks[i].set, ranks[i].ratio)
                                 : std::tuple(seconds(i), ranks.size(), 0.0);
    });
}

}  // namespace

std::string rank_text(const Rank& rank) {
    if (!rank.compared) return "";
    return (rank.fastest ? "fastest" : (rank.indistinct ? "~" : "") + format_significant(rank.ratio, 3) + "x") +
           (rank.per.empty()     ? ""
            : rank.per == "byte" ? "/B"
                                 : "/op");
}

bool clearly_before(const Record& a, double cost_a, const Record& b, double cost_b) {
    const auto cost_at = [](double cost, const Record& r, double time) { return cost * time / r.time->median; };
    // More samples shrink the interval of a median, but not the differences between processes. If the shortest time of
    // the slower row is near the times of the faster row, another process may reverse the order of the medians: on two
    // cores of an EPYC VM, one process ran a kernel in 77 to 260 us, the next one in 66 to 95 us.
    const bool apart = cost_at(cost_a, a, std::max(a.time->high, a.time->q3)) * (1 + placement_of(a)) <
                       cost_at(cost_b, b, std::min(b.time->low, b.time->min));
    const auto turns = model::turns_of(a);
    return turns && turns == model::turns_of(b) && apart && cost_a * (1 + least_difference(a, b)) < cost_b;
}

Comparison compare(const Rows& rows, const MayBeAuto& may_be_auto) {
    const auto points = comparable_points(rows, may_be_auto);
    const auto group_of = points.groups();
    auto groups = grouped(places_in(rows), [&](std::size_t i) { return group_of[i]; });
    Comparison out;
    out.axes = points.names();
    out.groups_of_several = groups.size() > 1 && groups.size() < rows.size();
    std::vector<Rank> ranks(rows.size());
    std::size_t sets = 0;
    for (auto& members : groups) {
        rank_group(rows, members, ranks, sets, out.apart);
        put_fastest_first(rows, members, ranks);
        for (const auto i : members) {
            out.rows.push_back(rows[i]);
            out.group.push_back(group_of[i]);
            out.ranks.push_back(ranks[i]);
        }
    }
    return out;
}

}  // namespace cllab::report
