#include "model/search.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>

#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"

namespace cllab::model {
namespace {

/// Minimum batch; also the number of fastest points whose neighbours are candidates.
constexpr std::size_t few_points = 8;
constexpr std::size_t batches = 10;           // approximate number of batches for the points after the random ones
constexpr std::ptrdiff_t most_along = 32;     // maximum number of neighbours of a point along an axis
constexpr std::size_t most_candidates = 600;  // random candidates, if the space is listed
constexpr std::size_t most_drawn = 100;       // random candidates otherwise; few draws may satisfy the constraints

}  // namespace

Search::Search(const TuneSpace& space, ResolvePoint resolve, MeasurePoints measure, Room room, Strategy strategy,
               std::uint64_t seed, std::size_t at_once)
    : space_(space),
      resolve_(std::move(resolve)),
      measure_(std::move(measure)),
      room_(std::move(room)),
      strategy_(strategy),
      at_once_(at_once),
      random_(seed) {
    if (!space_.all) return;
    const auto name = [&](const Point& point) {
        const auto resolved = key(point);
        if (!resolved) return;
        if (const auto [named, is_new] = named_.emplace(*resolved, point); is_new) waiting_.push_back(&*named);
    };
    // Try the initial point first. If several points are equal to it, use its name.
    name(space_.initial);
    const auto has_initial = static_cast<std::ptrdiff_t>(waiting_.size());
    for (const auto& point : *space_.all) name(point);
    std::ranges::shuffle(waiting_.begin() + has_initial, waiting_.end(), random_);
    std::ranges::reverse(waiting_);  // the last entry is taken next
}

std::optional<Search::Values> Search::key(const Point& point) const {
    const auto resolved = resolve_(point);
    return resolved ? std::optional(resolved->values()) : std::nullopt;
}

void Search::enter(const Values& key, const Point& point, std::optional<double> seconds) {
    entries_[key] = {point, seconds};
    if (seconds && (!best_ || *seconds < best_->second)) best_ = {point, *seconds};
}

bool Search::record_known(const Point& resolved, std::optional<double> seconds) {
    const auto named = named_.find(resolved.values());
    if (space_.all ? named == named_.end() : !space_.has(resolved)) return false;
    known_ += !entries_.count(resolved.values());
    enter(resolved.values(), space_.all ? named->second : resolved, seconds);
    return true;
}

std::vector<Point> Search::unseen(const std::vector<Point>& points) const {
    std::vector<Point> out;
    std::set<Values> seen;
    for (const auto& point : points) {
        if (!space_.has(point)) continue;
        const auto resolved = key(point);
        if (resolved && !entries_.count(*resolved) && seen.insert(*resolved).second) out.push_back(point);
    }
    return out;
}

std::vector<Point> Search::next(std::size_t count) {
    std::vector<Point> out;
    if (space_.all) {
        for (; out.size() < count && !waiting_.empty(); waiting_.pop_back())
            if (!entries_.count(waiting_.back()->first)) out.push_back(waiting_.back()->second);
        return out;
    }
    if (entries_.empty()) out = unseen({space_.initial});
    for (std::size_t draws = 0; out.size() < count && draws < 100 * count; ++draws) {
        const auto point = drawn(space_, random_);
        if (!point) break;
        out.push_back(*point);
        out = unseen(out);
    }
    return out;
}

void Search::measure(const std::vector<Point>& points) {
    for (std::size_t at = 0; at < points.size();) {
        const auto batch = std::min({room_(measured_), at_once_, points.size() - at});
        if (batch == 0) return;
        const auto first = points.begin() + static_cast<std::ptrdiff_t>(at);
        std::vector<Point> together(first, first + static_cast<std::ptrdiff_t>(batch));
        const auto before = best_;
        if (before) together.push_back(before->first);
        const auto seconds = measure_(together);
        const double scale = before && seconds.back() ? before->second / *seconds.back() : 1;
        for (std::size_t i = 0; i < batch; ++i)
            enter(*key(together[i]), together[i], seconds.at(i) ? std::optional(scale * *seconds[i]) : std::nullopt);
        measured_ += batch;
        at += batch;
    }
}

/// Measures random points, as many as the strategy requires.
void Search::take_at_random() {
    while (const auto room = std::min(room_(measured_), most_points)) {
        std::size_t count = at_once_;
        const bool all_fit = space_.all && named_.size() - entries_.size() <= room;
        if (strategy_ == Strategy::model || (strategy_ == Strategy::automatic && !all_fit)) {
            const auto part = std::clamp((measured_ + room) / 4, few_points, random_starts);
            if (entries_.size() >= part && best_) return;
            count = std::min(count, entries_.size() < part ? part - entries_.size() : few_points);
        }
        const auto points = next(count);
        if (points.empty()) return;
        measure(points);
    }
}

/// Points that are not measured yet: neighbours of the fastest, and others at random.
std::vector<Point> Search::candidates() {
    std::vector<Point> out;
    for (const auto& [point, seconds] : found().ranked | std::views::take(few_points))
        for (const auto& axis : space_.axes) {
            std::vector<std::string> values;
            std::ranges::sample(axis.values, std::back_inserter(values), most_along, random_);
            for (const auto& value : values) out.emplace_back(point).set(axis.name, value);
        }
    if (!space_.all) {
        for (std::size_t draw = 0; draw < most_drawn; ++draw)
            if (auto point = drawn(space_, random_)) out.push_back(std::move(*point));
    } else {
        std::ranges::shuffle(waiting_, random_);
        for (const auto* named : waiting_ | std::views::take(most_candidates)) out.push_back(named->second);
    }
    return unseen(out);
}

void Search::follow_model() {
    const Placing placing(space_.axes);
    Surrogate surrogate;
    while (const auto room = std::min(room_(measured_), most_points)) {
        auto from = candidates();
        if (from.empty()) from = next(few_points);
        if (from.empty()) return;
        surrogate.learn(mapped(entries_, [&](const auto& entry) {
            return Surrogate::Timed(placing(entry.second.point), entry.second.seconds);
        }));
        const auto count = std::min(room, std::max(few_points, (measured_ + room) / batches));
        const auto next = surrogate.promising(mapped(from, placing), count);
        measure(mapped(next, [&](std::size_t index) { return from[index]; }));
    }
}

void Search::run() {
    take_at_random();
    if (strategy_ != Strategy::all && strategy_ != Strategy::random && best_) follow_model();
}

Screening Search::found() const {
    Screening out;
    out.tried = entries_.size();
    out.known = known_;
    out.possible = possible();
    for (const auto& [resolved, entry] : entries_)
        if (entry.seconds) out.ranked.emplace_back(entry.point, *entry.seconds);
    std::ranges::stable_sort(out.ranked, [](const auto& a, const auto& b) { return a.second < b.second; });
    return out;
}

namespace {

/// Whether a point has the axis only on request.
bool is_on_request(const Selected& selected, const std::string& axis) {
    return std::ranges::any_of(selected.experiment->axes,
                               [&](const auto& a) { return a.name == axis && a.values.empty(); });
}

/// The tunable axis that exists only on request. Throws Error(usage) if the variant has none.
const Axis& axis_on_request(const Selected& selected) {
    std::string others;
    for (const auto& axis : selected.experiment->axes) {
        if (!axis.values.empty() || !axis.is_of(selected.variant->name)) continue;
        if (!axis.tune.empty()) return axis;
        others = "; '" + axis.name + "' is given, and --axis " + axis.name + "=VALUES tries others";
    }
    throw Error(Blame::usage, "'", selected.id, "' has no launch parameter to tune: every axis affects the result",
                others);
}

bool breaks_any(const std::vector<Constraint>& constraints, const Point& point) {
    return std::ranges::any_of(constraints, [&](const auto& c) { return !c.holds(point); });
}

/// Sets the points of the space and its initial point.
void list_points(const Selected& selected, TuneSpace& space) {
    space.constraints = constraints_of(selected);
    space.all = cross_if_few(space.axes, space.constraints);
    if (space.all && space.all->empty()) refuse_nothing_left({selected}, points_of(space.axes));
    space.has_default = !breaks_any(space.constraints, space.initial);
    if (space.has_default) return;
    Random random(1);
    const auto other = space.all ? space.all->front() : drawn(space, random);
    if (!other)
        throw Error(Blame::usage, "none of ", most_points, " random points of '", selected.id,
                    "' satisfies all 'where' lines; give an axis fewer values with --axis NAME=VALUES");
    space.initial = *other;
}

}  // namespace

bool TuneSpace::has(const Point& point) const {
    const bool candidates = std::ranges::all_of(axes, [&](const auto& axis) {
        return point.has(axis.name) && std::ranges::find(axis.values, point.text(axis.name)) != axis.values.end();
    });
    return candidates && !breaks_any(constraints, point);
}

std::optional<Point> drawn(const TuneSpace& space, Random& random) {
    for (std::size_t draw = 0; draw < most_points; ++draw) {
        Point point;
        for (const auto& axis : space.axes) point.set(axis.name, axis.values[random.below(axis.values.size())]);
        if (!breaks_any(space.constraints, point)) return point;
    }
    return std::nullopt;
}

TuneSpace tune_space(const Selected& selected, const Settings& given_settings) {
    check_settings({selected}, given_settings);
    const auto tunable = [&](const Axis& axis) {
        return !axis.tune.empty() || (axis.kind == Axis::Kind::options && axis.values.size() > 1) ||
               is_on_request(selected, axis.name);
    };
    std::vector<std::string> possible;
    for (const auto& axis : axes_of(*selected.experiment, *selected.variant, given_settings))
        if (tunable(axis)) possible.push_back(axis.name);
    auto settings = given_settings;
    if (possible.empty()) {
        const auto axis = axis_on_request(selected);
        possible.push_back(axis.name);
        settings.emplace_back(axis.name, join(axis.tune, ","));
    }
    TuneSpace out;
    for (auto axis : axes_of(*selected.experiment, *selected.variant, settings)) {
        const bool tune = tunable(axis);
        const bool given = std::ranges::any_of(settings, [&](const auto& s) { return s.first == axis.name; });
        const auto first = axis.values.front();
        if (tune && !given) axis.values = expand_axis(axis, join(axis.tune, ","));
        if (!tune && axis.values.size() > 1)
            throw Error(Blame::usage, "axis '", axis.name, "' has ", axis.values.size(), " values",
                        given ? "" : " by default", ", but `cllab tune` takes one; choose it with --axis ", axis.name,
                        "=VALUE (the axes it tunes are ", join(possible, ", "), ")");
        // Tuning starts at the axis's own default, if that is a candidate at all.
        out.initial.set(axis.name,
                        std::ranges::find(axis.values, first) != axis.values.end() ? first : axis.values.front());
        if (axis.values.size() > 1) out.tuned.push_back(axis.name);
        out.axes.push_back(std::move(axis));
    }
    if (out.tuned.empty())
        throw Error(Blame::usage, "every axis of '", selected.id, "' is fixed to one value; the axes to tune are ",
                    join(possible, ", "));
    list_points(selected, out);
    return out;
}

}  // namespace cllab::model
