#include "model/tune.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/random.hpp"
#include "core/text.hpp"

namespace cllab::model {
namespace {

constexpr double worthwhile = 0.99;  // a move must save 1 %: less is what the next measurement takes back
constexpr int most_passes = 6;

using Values = std::vector<std::pair<std::string, std::string>>;

/// Every answer of `measure` so far, by what the points resolve to; a point measured again keeps its latest time, which
/// its neighbours' were taken with.
class Ledger {
public:
    Ledger(const ResolvePoint& resolve, const MeasurePoints& measure) : resolve_(resolve), measure_(measure) {}

    /// The points without those that the device cannot do and those that are another one of them in other words.
    std::vector<Point> different(const std::vector<Point>& points) const {
        std::vector<Point> out;
        std::set<Values> seen;
        for (const auto& point : points) {
            const auto resolved = resolve_(point);
            if (resolved && seen.insert(resolved->values()).second) out.push_back(point);
        }
        return out;
    }
    /// Measures the points, all different, and returns the fastest of them with its time, or nothing when none has one.
    std::optional<std::pair<Point, double>> fastest(const std::vector<Point>& points) {
        const auto seconds = measure_(points);
        std::optional<std::pair<Point, double>> best;
        for (std::size_t n = 0; n < points.size(); ++n) {
            auto& entry = entries_[key(points[n])];
            if (entry.point.values().empty()) entry.point = points[n];
            entry.seconds = seconds.at(n);
            if (seconds[n] && (!best || *seconds[n] < best->second)) best = {points[n], *seconds[n]};
        }
        return best;
    }
    /// The last time of a point; nothing for one that was not measured or has none.
    std::optional<double> time(const Point& point) const {
        const auto found = entries_.find(key(point));
        return found == entries_.end() ? std::nullopt : found->second.seconds;
    }
    Screening result(bool exhaustive) const {
        Screening out;
        out.exhaustive = exhaustive;
        out.tried = entries_.size();
        for (const auto& [resolved, entry] : entries_)
            if (entry.seconds) out.ranked.emplace_back(entry.point, *entry.seconds);
        std::ranges::stable_sort(out.ranked, [](const auto& a, const auto& b) { return a.second < b.second; });
        return out;
    }

private:
    struct Entry {
        Point point;
        std::optional<double> seconds;
    };
    Values key(const Point& point) const { return resolve_(point).value_or(point).values(); }

    const ResolvePoint& resolve_;
    const MeasurePoints& measure_;
    std::map<Values, Entry> entries_;
};

/// The initial point and others drawn at random.
std::vector<Point> starts(const TuneSpace& space, std::uint64_t seed) {
    std::vector<Point> out{space.initial};
    Random random(seed);
    for (std::size_t draw = 0; draw < 4 * random_starts; ++draw) {
        auto& point = out.emplace_back();
        for (const auto& axis : space.axes) point.set(axis.name, axis.values[random.below(axis.values.size())]);
    }
    return out;
}

void descend(const TuneSpace& space, Ledger& ledger, Point at) {
    for (int pass = 0; pass < most_passes; ++pass) {
        bool moved = false;
        for (const auto& axis : space.axes) {
            if (axis.values.size() < 2) continue;
            std::vector<Point> line{at};  // where we are is measured beside its neighbours, whatever drifted meanwhile
            for (const auto& value : axis.values) {
                auto point = at;
                point.set(axis.name, value);
                if (point != at) line.push_back(point);
            }
            line = ledger.different(line);
            if (line.size() < 2) continue;
            const auto best = ledger.fastest(line);
            const auto here = ledger.time(at);
            if (!best || best->first == at || (here && best->second >= worthwhile * *here)) continue;
            at = best->first;
            moved = true;
        }
        if (!moved) return;
    }
}

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

}  // namespace

double TuneSpace::points() const {
    double out = 1;
    for (const auto& axis : axes) out *= static_cast<double>(axis.values.size());
    return out;
}

TuneSpace tune_space(const Selected& selected, const Settings& given_settings) {
    check_settings({selected}, given_settings);
    const auto tunable = [&](const Axis& axis) { return !axis.tune.empty() || is_on_request(selected, axis.name); };
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
    return out;
}

Screening screen(const TuneSpace& space, const ResolvePoint& resolve, const MeasurePoints& measure,
                 std::uint64_t seed) {
    Ledger ledger(resolve, measure);
    if (space.points() <= static_cast<double>(most_points)) {
        // The initial point first: of several ways to say one point that is the one to name.
        std::vector<Point> all{space.initial};
        for (auto& point : cross(space.axes)) all.push_back(std::move(point));
        all = ledger.different(all);
        if (all.size() <= most_exhaustive) {
            if (!all.empty()) ledger.fastest(all);
            return ledger.result(true);
        }
    }
    auto some = ledger.different(starts(space, seed));
    if (some.size() > random_starts + 1) some.resize(random_starts + 1);
    const auto best = some.empty() ? std::nullopt : ledger.fastest(some);
    descend(space, ledger, best ? best->first : space.initial);
    return ledger.result(false);
}

}  // namespace cllab::model
