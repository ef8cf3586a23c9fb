#include "model/search.hpp"

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "core/text.hpp"

namespace cllab::model {
namespace {

constexpr double worthwhile = 0.99;    // a move must save 1 %: less is what the next measurement takes back
constexpr std::size_t few_starts = 8;  // measured side by side to begin anew
/// Minimum number of points to measure together: on PoCL the first build of a process takes a second, each further one
/// a third of that.
constexpr std::size_t least_beside = 12;

}  // namespace

Search::Search(const TuneSpace& space, ResolvePoint resolve, MeasurePoints measure, Room room, Strategy strategy,
               std::uint64_t seed, std::size_t beside)
    : space_(space),
      resolve_(std::move(resolve)),
      measure_(std::move(measure)),
      room_(std::move(room)),
      strategy_(strategy),
      beside_(beside),
      random_(seed) {
    for (const auto& axis : space_.axes)
        if (axis.values.size() > 1) tuned_.push_back(axis);
    if (!space_.all) return;
    const auto name = [&](const Point& point) {
        const auto resolved = key(point);
        return resolved && named_.emplace(*resolved, point).second;
    };
    // Try the initial point first. If several points are equal to it, use its name.
    const bool has_initial = name(space_.initial);
    for (const auto& point : *space_.all)
        if (name(point)) waiting_.push_back(point);
    std::ranges::shuffle(waiting_, random_);
    if (has_initial) waiting_.push_back(space_.initial);
}

std::optional<Search::Values> Search::key(const Point& point) const {
    const auto resolved = resolve_(point);
    return resolved ? std::optional(resolved->values()) : std::nullopt;
}

std::optional<double> Search::time(const Point& point) const {
    const auto resolved = key(point);
    const auto found = resolved ? entries_.find(*resolved) : entries_.end();
    return found == entries_.end() ? std::nullopt : found->second.seconds;
}

void Search::enter(const Values& key, const Point& point, std::optional<double> seconds) {
    entries_[key] = {point, seconds};
    if (seconds && (!best_ || *seconds < best_->second)) best_ = {point, *seconds};
}

bool Search::know(const Point& resolved, std::optional<double> seconds) {
    const auto named = named_.find(resolved.values());
    if (space_.all ? named == named_.end() : !space_.has(resolved)) return false;
    known_ += !entries_.count(resolved.values());
    enter(resolved.values(), space_.all ? named->second : resolved, seconds);
    return true;
}

std::vector<Point> Search::fresh(const std::vector<Point>& points) const {
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
            if (!entries_.count(*key(waiting_.back()))) out.push_back(waiting_.back());
        return out;
    }
    if (entries_.empty()) out = fresh({space_.initial});
    for (std::size_t draws = 0; out.size() < count && draws < 100 * count; ++draws) {
        const auto point = drawn(space_, random_);
        if (!point) break;
        out.push_back(*point);
        out = fresh(out);
    }
    return out;
}

bool Search::measure(const std::vector<Point>& points) {
    for (std::size_t at = 0; at < points.size();) {
        const auto batch = std::min({room_(measured_), beside_, points.size() - at});
        if (batch == 0) return false;
        const auto first = points.begin() + static_cast<std::ptrdiff_t>(at);
        std::vector<Point> beside(first, first + static_cast<std::ptrdiff_t>(batch));
        const auto before = best_;
        if (before) beside.push_back(before->first);
        const auto seconds = measure_(beside);
        const double scale = before && seconds.back() ? before->second / *seconds.back() : 1;
        for (std::size_t i = 0; i < batch; ++i)
            enter(*key(beside[i]), beside[i], seconds.at(i) ? std::optional(scale * *seconds[i]) : std::nullopt);
        measured_ += batch;
        at += batch;
    }
    return true;
}

std::optional<Point> Search::fastest(const std::vector<Point>& points) const {
    std::optional<std::pair<Point, double>> out;
    for (const auto& point : points)
        if (const auto seconds = time(point); seconds && (!out || *seconds < out->second)) out = {point, *seconds};
    return out ? std::optional(out->first) : std::nullopt;
}

/// As many as the strategy asks for.
void Search::take_at_random() {
    while (const auto room = std::min(room_(measured_), most_points)) {
        std::size_t count = beside_;
        const bool all_fit = space_.all && named_.size() - entries_.size() <= room;
        if (strategy_ == Strategy::local || (strategy_ == Strategy::automatic && !all_fit)) {
            const auto part = std::clamp((measured_ + room) / 4, few_starts, random_starts);
            if (measured_ >= part) return;
            count = std::min(count, part - measured_);
        }
        const auto points = next(count);
        if (points.empty()) return;
        measure(points);
    }
}

/// Moves from the point until no axis gains another 1 %. False: time ran out.
bool Search::descend(Point at) {
    for (bool moved = true; moved;) {
        moved = false;
        std::ranges::shuffle(tuned_, random_);
        for (auto axis = tuned_.begin(); axis != tuned_.end();) {
            std::vector<Point> line;  // of several axes, where they have few points
            for (; axis != tuned_.end() && fresh(line).size() < least_beside; ++axis)
                for (const auto& value : axis->values) {
                    auto point = at;
                    point.set(axis->name, value);
                    if (point != at) line.push_back(std::move(point));
                }
            if (!measure(fresh(line))) return false;
            const auto best = fastest(line);
            if (!best || *time(*best) >= worthwhile * *time(at)) continue;
            at = *best;
            moved = true;
        }
    }
    return true;
}

/// The fastest point with two axes changed at random; if that is not new, a random point. nullopt: no point is left.
std::optional<Point> Search::new_start() {
    std::vector<Point> changed;
    for (std::size_t i = 0; i < few_starts; ++i) {
        auto point = best_->first;
        for (unsigned twice = 0; twice < 2; ++twice) {
            const auto& axis = tuned_[random_.below(tuned_.size())];
            point.set(axis.name, axis.values[random_.below(axis.values.size())]);
        }
        changed.push_back(std::move(point));
    }
    auto starts = fresh(changed);
    if (starts.empty()) starts = next(few_starts);
    if (starts.empty()) return std::nullopt;
    measure(starts);
    const auto out = fastest(starts);
    return out ? out : best_->first;
}

void Search::run() {
    take_at_random();
    if (strategy_ == Strategy::all || strategy_ == Strategy::random || !best_) return;
    auto start = std::optional(best_->first);
    while (start && descend(*start) && room_(measured_) > 0) start = new_start();
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

/// Whether points have the axis only on request.
bool is_on_request(const Selected& selected, const std::string& axis) {
    return std::ranges::any_of(selected.experiment->axes,
                               [&](const auto& a) { return a.name == axis && a.values.empty(); });
}

/// For a variant without any other tunable axis.
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
        throw Error(
            Blame::usage, "of the points of '", selected.id,
            "' too few satisfy all 'where' lines to find one; --axis NAME=VALUES takes fewer values of an axis");
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
