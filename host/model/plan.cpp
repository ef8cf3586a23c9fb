#include "model/plan.hpp"

#include <algorithm>
#include <map>

#include "core/text.hpp"

namespace cllab::model {
namespace {

/// The family's axes with the variant's own defaults, then the command line's values.
std::vector<Axis> redefine(const Experiment& experiment, const Variant& variant,
                           const std::vector<std::pair<std::string, std::string>>& overrides) {
    auto axes = experiment.axes;
    for (auto& axis : axes) {
        for (const auto* settings : {&variant.axes, &overrides}) {
            for (const auto& [name, list] : *settings) {
                if (name == axis.name) axis.values = expand_axis(axis, list);
            }
        }
    }
    return axes;
}

void reject_unknown_axes(const std::vector<const Experiment*>& families,
                         const std::vector<std::pair<std::string, std::string>>& overrides) {
    std::vector<std::string> known;
    for (const auto* family : families) {
        for (const auto& axis : family->axes) {
            if (std::find(known.begin(), known.end(), axis.name) == known.end()) known.push_back(axis.name);
        }
    }
    for (const auto& [name, list] : overrides) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        const auto near = nearest(name, known);
        throw Error(Blame::usage, "none of the selected families has an axis '" + name + "'; " +
                                      (near.empty() ? "their axes are " + join(known, ", ") : "did you mean " + join(near, ", ") + "?"));
    }
}

std::string label_of(const Point& point, const std::vector<Axis>& axes) {
    std::vector<std::string> parts;
    for (const auto& axis : axes) {
        if (axis.values.size() > 1) parts.push_back(axis.name + "=" + point.text(axis.name));
    }
    return join(parts, ",");
}

}  // namespace

std::vector<Group> make_plan(const std::vector<Selected>& selected,
                             const std::vector<std::pair<std::string, std::string>>& overrides) {
    std::vector<const Experiment*> families;
    for (const auto& s : selected) {
        if (std::find(families.begin(), families.end(), s.experiment) == families.end()) families.push_back(s.experiment);
    }
    reject_unknown_axes(families, overrides);
    std::vector<Group> out;
    for (const auto* family : families) {
        // Variants with the same point are one group: a comparison. Those with axes of their own make groups of their own.
        const auto first = out.size();
        for (const auto& s : selected) {
            if (s.experiment != family) continue;
            const auto axes = redefine(*family, *s.variant, overrides);
            for (const auto& point : cross(axes)) {
                auto group = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                                          [&](const Group& g) { return g.front().point == point; });
                if (group == out.end()) group = out.emplace(out.end());
                group->push_back({family, s.variant, s.id, point, label_of(point, axes)});
            }
        }
    }
    return out;
}

}  // namespace cllab::model
