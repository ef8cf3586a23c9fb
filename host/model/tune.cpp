#include "model/tune.hpp"

#include <algorithm>
#include <map>

#include "core/random.hpp"
#include "core/text.hpp"

namespace cllab::model {
namespace {

constexpr double worthwhile = 0.99;  // a move must save 1 %: less is what the next measurement takes back
constexpr int most_passes = 6;

bool tunable(const Axis& axis, const Variant& variant) {
    const auto& only = axis.tune_only;
    return !axis.tune.empty() && (only.empty() || std::find(only.begin(), only.end(), variant.name) != only.end());
}

Point point_of(const std::vector<Axis>& axes, const std::vector<std::size_t>& choice) {
    Point out;
    for (std::size_t a = 0; a < axes.size(); ++a) out.set(axes[a].name, axes[a].values[choice[a]]);
    return out;
}

/// Every answer of `measure` so far; a point measured again keeps its latest time, which its neighbours' were taken with.
class Ledger {
public:
    explicit Ledger(const MeasurePoints& measure) : measure_(measure) {}

    /// Measures the points and returns the fastest of them with its time, or nothing when none has one.
    std::optional<std::pair<Point, double>> fastest(const std::vector<Point>& points) {
        const auto seconds = measure_(points);
        std::optional<std::pair<Point, double>> best;
        for (std::size_t n = 0; n < points.size(); ++n) {
            times_[points[n].values()] = seconds.at(n);
            if (seconds[n] && (!best || *seconds[n] < best->second)) best = {points[n], *seconds[n]};
        }
        return best;
    }
    /// The last time of a point; nothing for one that was not measured or has none.
    std::optional<double> time(const Point& point) const {
        const auto found = times_.find(point.values());
        return found == times_.end() ? std::nullopt : found->second;
    }
    Screening result(bool exhaustive) const {
        Screening out;
        out.exhaustive = exhaustive;
        out.tried = times_.size();
        for (const auto& [values, seconds] : times_) {
            if (!seconds) continue;
            Point point;
            for (const auto& [axis, value] : values) point.set(axis, value);
            out.ranked.emplace_back(std::move(point), *seconds);
        }
        std::stable_sort(out.ranked.begin(), out.ranked.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        return out;
    }

private:
    const MeasurePoints& measure_;
    std::map<std::vector<std::pair<std::string, std::string>>, std::optional<double>> times_;
};

std::vector<Point> starts(const TuneSpace& space, std::uint64_t seed) {
    std::vector<Point> out{space.initial};
    Random random(seed);
    // Drawing the same point twice is possible; a bounded number of draws ends in any case.
    for (std::size_t draw = 0; draw < 4 * random_starts && out.size() <= random_starts; ++draw) {
        std::vector<std::size_t> choice;
        for (const auto& axis : space.axes) choice.push_back(random.below(axis.values.size()));
        const auto point = point_of(space.axes, choice);
        if (std::find(out.begin(), out.end(), point) == out.end()) out.push_back(point);
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
            const auto best = ledger.fastest(line);
            const auto here = ledger.time(at);
            if (!best || best->first == at || (here && best->second >= worthwhile * *here)) continue;
            at = best->first;
            moved = true;
        }
        if (!moved) return;
    }
}

}  // namespace

double TuneSpace::points() const {
    double out = 1;
    for (const auto& axis : axes) out *= static_cast<double>(axis.values.size());
    return out;
}

TuneSpace tune_space(const Experiment& experiment, const Variant& variant,
                     const std::vector<std::pair<std::string, std::string>>& overrides) {
    TuneSpace out;
    std::vector<std::string> known, possible;
    for (const auto& axis : experiment.axes) {
        known.push_back(axis.name);
        if (tunable(axis, variant)) possible.push_back(axis.name);
    }
    const auto id = experiment.id(variant);
    for (const auto& [name, list] : overrides) {
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw Error(Blame::usage, "'" + id + "' has no axis '" + name + "'; its axes are " + join(known, ", "));
    }
    for (auto axis : experiment.axes) {
        const bool tune = tunable(axis, variant);
        auto initial = axis.values;
        bool given = false;
        if (tune) axis.values = expand_axis(axis, join(axis.tune, ","));
        for (const auto& [name, list] : overrides) {
            if (name == axis.name) axis.values = initial = expand_axis(axis, list), given = true;
        }
        if (!tune && axis.values.size() > 1)
            throw Error(Blame::usage, "axis '" + axis.name + "' has " + std::to_string(axis.values.size()) + " values" +
                                          (given ? "" : " by default") + ", and `cllab tune` tunes at one; give one with --axis " +
                                          axis.name + "=VALUE" + (possible.empty() ? "" : " (it tunes " + join(possible, ", ") + ")"));
        // The axis's own default is where one starts, if it may be taken at all.
        const auto& first = initial.front();
        out.initial.set(axis.name, std::find(axis.values.begin(), axis.values.end(), first) != axis.values.end() ? first
                                                                                                                 : axis.values.front());
        if (axis.values.size() > 1) out.tuned.push_back(axis.name);
        out.axes.push_back(std::move(axis));
    }
    if (possible.empty())
        throw Error(Blame::usage, "'" + id + "' has no axis that changes no answer, so there is nothing to tune");
    if (out.tuned.empty())
        throw Error(Blame::usage, "every axis of '" + id + "' is fixed to one value; it tunes " + join(possible, ", "));
    return out;
}

Screening screen(const TuneSpace& space, const MeasurePoints& measure, std::uint64_t seed) {
    Ledger ledger(measure);
    if (space.points() <= static_cast<double>(most_exhaustive)) {
        ledger.fastest(cross(space.axes));
        return ledger.result(true);
    }
    const auto best = ledger.fastest(starts(space, seed));
    descend(space, ledger, best ? best->first : space.initial);
    return ledger.result(false);
}

}  // namespace cllab::model
