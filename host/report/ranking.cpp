#include "report/ranking.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace cllab::report {
namespace {

using model::Record;
using Rows = std::vector<const Record*>;
using Key = std::vector<std::string>;

std::string value_at(const Record& r, const std::string& axis) {
    for (const auto& [name, value] : r.point)
        if (name == axis) return value;
    return {};
}

bool has_axis(const Record& r, const std::string& axis) {
    return std::any_of(r.point.begin(), r.point.end(), [&](const auto& p) { return p.first == axis; });
}

Key key_of(const Record& r, const std::vector<std::string>& axes) {
    Key key;
    for (const auto& axis : axes) key.push_back(value_at(r, axis));
    return key;
}

/// True when the variants do not all run the same values of this axis: a sweep would give each of them the same.
bool chosen_by_variant(const Rows& rows, const std::string& axis) {
    std::map<std::string, std::set<std::string>> values;
    for (const auto* row : rows) values[row->variant].insert(value_at(*row, axis));
    return std::any_of(values.begin(), values.end(), [&](const auto& v) { return v.second != values.begin()->second; });
}

/// True when no two rows of one variant fall together under these axes.
bool tells_points_apart(const Rows& rows, const std::vector<std::string>& axes) {
    std::map<std::string, std::set<Key>> seen;
    return std::all_of(rows.begin(), rows.end(), [&](const Record* r) { return seen[r->variant].insert(key_of(*r, axes)).second; });
}

std::vector<std::string> comparable_axes(const Rows& rows, const MayBeAuto& may_be_auto) {
    std::vector<std::string> axes;
    for (const auto* row : rows)
        for (const auto& [axis, value] : row->point)
            if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
    if (!tells_points_apart(rows, axes)) return axes;  // one cell run twice: keep every axis
    for (std::size_t i = 0; i < axes.size();) {
        auto fewer = axes;
        fewer.erase(fewer.begin() + static_cast<long>(i));
        const bool possible = !may_be_auto || may_be_auto(rows.front()->family, axes[i]);
        if (possible && chosen_by_variant(rows, axes[i]) && tells_points_apart(rows, fewer)) axes = std::move(fewer);
        else ++i;
    }
    // An axis that some variants do not have is a launch parameter of the others: their values compete.
    std::erase_if(axes, [&](const auto& axis) {
        return !std::all_of(rows.begin(), rows.end(), [&](const Record* r) { return has_axis(*r, axis); });
    });
    return axes;
}

/// What the same work costs: the inverse of the rate, or the time where there is no rate. 0 when unknown.
double cost_of(const Record& r, const std::string& rate) {
    if (r.status != model::Status::ok || !r.time || !(r.time->median > 0)) return 0;
    if (rate.empty()) return r.time->median;
    for (const auto& [name, metric] : r.metrics)
        if (name == rate && metric.value > 0) return 1 / metric.value;
    return 0;
}

void rank_group(const Rows& rows, const std::vector<std::size_t>& members, std::vector<Rank>& ranks) {
    std::vector<std::size_t> timed;
    for (const auto i : members)
        if (cost_of(*rows[i], "") > 0) timed.push_back(i);
    if (timed.size() < 2) return;
    std::string rate;
    for (const char* candidate : {"bandwidth", "flops"})
        if (rate.empty() && std::all_of(timed.begin(), timed.end(), [&](std::size_t i) { return cost_of(*rows[i], candidate) > 0; })) rate = candidate;
    const auto cost = [&](std::size_t i) { return cost_of(*rows[i], rate); };
    const auto best = *std::min_element(timed.begin(), timed.end(), [&](std::size_t a, std::size_t b) { return cost(a) < cost(b); });
    const double best_high = cost(best) * rows[best]->time->high / rows[best]->time->median;
    for (const auto i : timed) {
        ranks[i].compared = true;
        ranks[i].fastest = i == best;
        ranks[i].ratio = cost(i) / cost(best);
        ranks[i].indistinct = i != best && cost(i) * rows[i]->time->low / rows[i]->time->median <= best_high;
    }
}

}  // namespace

Comparison compare(const std::vector<const model::Record*>& rows, const MayBeAuto& may_be_auto) {
    const auto axes = comparable_axes(rows, may_be_auto);
    std::vector<Key> keys;  // in order of first appearance
    std::vector<std::vector<const Record*>> members;
    for (const auto* row : rows) {
        const auto key = key_of(*row, axes);
        const auto at = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
        if (at == keys.size()) keys.push_back(key), members.emplace_back();
        members[at].push_back(row);
    }
    Comparison result;
    result.axes = axes;
    std::vector<std::vector<std::size_t>> positions(members.size());
    for (std::size_t g = 0; g < members.size(); ++g) {
        result.groups_of_several = result.groups_of_several || members[g].size() > 1;
        for (const auto* row : members[g]) {
            positions[g].push_back(result.rows.size());
            result.rows.push_back(row);
            result.group.push_back(g);
        }
    }
    result.groups_of_several = result.groups_of_several && members.size() > 1;
    result.ranks.resize(rows.size());
    for (const auto& group : positions) rank_group(result.rows, group, result.ranks);
    return result;
}

}  // namespace cllab::report
