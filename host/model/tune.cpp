#include "model/tune.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"

namespace cllab::model {
namespace {

/// A point has the axis only where it is asked for.
bool is_on_request(const Selected& selected, const std::string& axis) {
    return std::ranges::any_of(selected.experiment->axes,
                               [&](const auto& a) { return a.name == axis && a.values.empty(); });
}

/// Of a variant of which no other axis can be tuned.
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

/// The points of the axes, and where to begin.
void list_points(const Selected& selected, TuneSpace& space) {
    space.constraints = constraints_of(selected);
    space.all = cross_if_few(space.axes, space.constraints);
    if (space.all && space.all->empty()) refuse_nothing_left({selected}, points_of(space.axes));
    space.has_default = !breaks_any(space.constraints, space.initial);
    if (space.has_default) return;
    Random random(1);
    const auto other = space.all ? space.all->front() : drawn(space, random);
    if (!other)
        throw Error(Blame::usage, "of the points of '", selected.id,
                    "' too few hold all lines 'where' to find one; --axis NAME=VALUES takes fewer values of an axis");
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
                        given ? "" : " by default", " and `cllab tune` takes one; choose it with --axis ", axis.name,
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
