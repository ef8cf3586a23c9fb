#include "report/table/ranking.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "core/grouped.hpp"
#include "core/units.hpp"
#include "model/rankable.hpp"
#include "report/records/points.hpp"

namespace cllab::report {
namespace {

using model::Record;

/// The axes that split the rows into comparable groups: those whose values no variant chose for itself.
Points comparable_points(const Rows& rows, const MayBeAuto& may_be_auto) {
    Points points(rows, [](const Record& r) { return r.variant; });
    if (!points.tell_apart()) return points;  // one cell run twice: keep every axis
    points.drop_if([&](std::size_t i) {
        const bool possible = !may_be_auto || may_be_auto(rows.front()->family, points.name(i));
        // A sweep would give each variant the same values.
        return possible && points.differs_by_owner(i) && points.tell_apart_without(i);
    });
    // An axis that some variants do not have is a launch parameter of the others: their values compete.
    points.drop_if([&](std::size_t i) { return !points.everywhere(i); });
    return points;
}

/// What the same work costs: the inverse of the rate, or the time where there is no rate. 0 when unknown.
double cost_of(const Record& r, const std::string& rate) {
    if (!r.time || !(r.time->median > 0)) return 0;
    if (rate.empty()) return r.time->median;
    const double value = metric_value(r, rate).value_or(0);
    return value > 0 ? 1 / value : 0;
}

}  // namespace

std::string rank_text(const Rank& rank) {
    if (rank.fastest) return "fastest";
    return rank.compared ? (rank.indistinct ? "~" : "") + format_significant(rank.ratio, 3) + "x" : "";
}

double least_difference(const Record& a, const Record& b) {
    // Equal code under two names, its buffers in other places: up to 1.11 times the time on CPUs, 1.03 on a GPU
    // (`tests/trial/verdicts.py`, `tests/trial/tables.py`). Other machines may place them worse: a third more.
    const double placement = a.device.type == "gpu" ? 0.04 : 0.15;
    const double varied = std::max(a.time->reference_spread, b.time->reference_spread);
    const double cores = std::min(model::cores_share(a), model::cores_share(b));
    return (1 + placement) * (1 + varied) / cores - 1;
}

bool clearly_before(const Record& a, double cost_a, const Record& b, double cost_b) {
    const auto cost_at = [](double cost, const Record& r, double time) { return cost * time / r.time->median; };
    // Where the middle halves of the samples overlap, another process may well have the medians the other way round: an
    // interval of the median shrinks with the number of samples, what changes from process to process does not.
    const bool apart =
        cost_at(cost_a, a, std::max(a.time->high, a.time->q3)) < cost_at(cost_b, b, std::min(b.time->low, b.time->q1));
    const auto turns = model::turns_of(a);
    return turns && turns == model::turns_of(b) && apart && cost_a * (1 + least_difference(a, b)) < cost_b;
}

namespace {

/// `timed`: rows that took turns.
void rank_set(Comparison& c, const std::vector<std::size_t>& timed) {
    const Rows& rows = c.rows;
    auto& ranks = c.ranks;
    if (timed.size() < 2) return;
    std::string rate;
    for (const char* candidate : {"bandwidth", "flops"})
        if (rate.empty() && std::ranges::all_of(timed, [&](std::size_t i) { return cost_of(*rows[i], candidate) > 0; }))
            rate = candidate;
    const auto cost = [&](std::size_t i) { return cost_of(*rows[i], rate); };
    const auto best = *std::ranges::min_element(timed, [&](std::size_t a, std::size_t b) { return cost(a) < cost(b); });
    ranks[best].fastest = true;
    for (const auto i : timed) {
        ranks[i].compared = true;
        ranks[i].ratio = cost(i) / cost(best);
        if (i == best || clearly_before(*rows[best], cost(best), *rows[i], cost(i))) continue;
        ranks[i].indistinct = ranks[best].indistinct = true;
        ranks[best].fastest = false;
        c.difference = std::max(c.difference, least_difference(*rows[best], *rows[i]));
    }
}

/// `members`: rows at one point. `sets`: how many were ranked before.
void rank_group(Comparison& c, const std::vector<std::size_t>& members, std::size_t& sets) {
    std::map<std::optional<model::Turns>, std::vector<std::size_t>> took_turns;
    for (const auto i : members) {
        const Record& row = *c.rows[i];
        if (cost_of(row, "") > 0 && row.time->has_interval()) took_turns[model::turns_of(row)].push_back(i);
    }
    c.apart = c.apart || took_turns.size() > 1;
    for (auto& [turns, set] : took_turns) {
        for (const auto i : set) c.ranks[i].set = sets;
        ++sets;
        std::erase_if(set, [&](std::size_t i) { return !model::had_its_cores(*c.rows[i]); });
        if (turns) rank_set(c, set);
    }
}

/// Rows that took turns come in the order of their ranks, where the first of them stood. `members`: rows at one point.
void fastest_first(Comparison& c, const std::vector<std::size_t>& members) {
    const auto place = [&](std::size_t i) {
        const Rank& rank = c.ranks[i];
        if (!rank.compared) return std::tuple(i, 0.0);
        const auto first = *std::ranges::find_if(
            members, [&](std::size_t k) { return c.ranks[k].compared && c.ranks[k].set == rank.set; });
        return std::tuple(first, rank.ratio);
    };
    auto order = members;
    std::ranges::stable_sort(order, {}, place);
    const auto rows = c.rows;
    const auto ranks = c.ranks;
    for (std::size_t n = 0; n < members.size(); ++n) {
        c.rows[members[n]] = rows[order[n]];
        c.ranks[members[n]] = ranks[order[n]];
    }
}

}  // namespace

std::vector<std::string> ranking_notes(double difference, bool apart) {
    std::vector<std::string> out;
    if (difference > 0)
        out.push_back("~: too close to call; the samples overlap, or differ by no more than the " +
                      format_significant(100 * difference, 2) +
                      " % that buffer placement, drift and lost cores alone can make here (use --vs).");
    if (apart)
        out.emplace_back(
            "Only cells that took turns in one run are ranked against each other; to rank the others, run them "
            "together or use --vs.");
    return out;
}

Comparison compare(const std::vector<const model::Record*>& rows, const MayBeAuto& may_be_auto) {
    const auto points = comparable_points(rows, may_be_auto);
    const auto group_of = points.groups();
    std::vector<std::size_t> places(rows.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    const auto groups = grouped(places, [&](std::size_t i) { return group_of[i]; });
    Comparison result;
    result.axes = points.names();
    result.groups_of_several = groups.size() > 1 && groups.size() < rows.size();
    for (const auto& group : groups)
        for (const auto i : group) {
            result.rows.push_back(rows[i]);
            result.group.push_back(group_of[i]);
        }
    result.ranks.resize(rows.size());
    std::size_t sets = 0;
    std::size_t first = 0;
    for (const auto& group : groups) {
        std::vector<std::size_t> members(group.size());
        std::iota(members.begin(), members.end(), first);
        first += group.size();
        rank_group(result, members, sets);
        fastest_first(result, members);
    }
    return result;
}

}  // namespace cllab::report
