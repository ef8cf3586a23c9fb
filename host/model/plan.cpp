#include "model/plan.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::model {
namespace {

std::string label_of(const Point& point, const std::vector<Axis>& axes) {
    std::vector<std::string> parts;
    for (const auto& axis : axes) {
        if (axis.values.size() > 1) parts.push_back(axis.name + "=" + point.text(axis.name));
    }
    return join(parts, ",");
}

/// The key of cells in one comparison: every axis except launch parameters that only some variants have.
std::string comparison_key(const Point& point, const std::vector<Axis>& axes) {
    std::string key;
    for (const auto& axis : axes) {
        if (axis.only.empty() || axis.tune.empty()) key += axis.name + "=" + point.text(axis.name) + "\n";
    }
    return key;
}

/// Collects the cells of one family. Cells of one comparison form a group. A variant with its own launch parameters may
/// have several cells in a comparison. The comparison then has several groups, and each has one of these cells.
class Grouping {
public:
    explicit Grouping(std::vector<Group>& out) : out_(out) {}

    void add(const Selected& selected, Point point, const std::vector<Axis>& axes) {
        const auto key = comparison_key(point, axes);
        auto& groups = groups_[key];
        const auto nth = seen_[selected.id + "\n" + key]++;
        if (nth == groups.size()) {
            groups.push_back(out_.size());
            out_.emplace_back();
        }
        auto label = label_of(point, axes);
        out_[groups[nth]].push_back(
            {selected.experiment, selected.variant, selected.id, std::move(point), std::move(label)});
    }

private:
    std::vector<Group>& out_;
    std::unordered_map<std::string, std::vector<std::size_t>> groups_;  // indices in out_, by comparison_key
    std::unordered_map<std::string, std::size_t> seen_;  // number of cells, by variant and comparison_key
};

[[noreturn]] void nothing_matched(const std::string& pattern, const std::vector<Experiment>& experiments) {
    std::vector<std::string> families, names;
    for (const auto& experiment : experiments) {
        families.push_back(experiment.family);
        names.push_back(experiment.family);
        for (const auto& variant : experiment.variants) names.push_back(experiment.id(variant));
    }
    throw Error(Blame::usage, "no kernel matches '", pattern, "'; ",
                did_you_mean(pattern, names,
                             families.empty() ? "this build has no kernels"
                                              : concat("the ", families.size(), " families are in `cllab list`")));
}

}  // namespace

std::vector<Selected> select(const std::vector<Experiment>& experiments, const std::vector<std::string>& patterns) {
    std::vector<Selected> selected;
    std::vector<bool> used(patterns.size(), false);
    for (const auto& experiment : experiments) {
        for (const auto& variant : experiment.variants) {
            const std::string id = experiment.id(variant);
            bool wanted = false;
            for (std::size_t i = 0; i < patterns.size(); ++i) {
                if (patterns[i] != experiment.family && !glob_match(patterns[i], id)) continue;
                used[i] = wanted = true;
            }
            if (wanted) selected.push_back({&experiment, &variant, id});
        }
    }
    const auto unused = std::ranges::find(used, false);
    if (unused != used.end()) nothing_matched(patterns[static_cast<std::size_t>(unused - used.begin())], experiments);
    return selected;
}

Axis build_options_axis() {
    return {.name = "options",
            .unit = "",
            .meaning = "build options of the point, behind those of the variant",
            .kind = Axis::Kind::options,
            .values = {"none"}};
}

bool has_build_options_axis(const Experiment& experiment, const Point& point) {
    const auto name = build_options_axis().name;
    return point.has(name) && std::ranges::none_of(experiment.axes, [&](const auto& a) { return a.name == name; });
}

std::vector<Axis> axes_of(const Experiment& experiment, const Variant& variant, const Settings& settings) {
    std::vector<Axis> out;
    for (const auto& axis : experiment.axes) {
        const bool is_native = variant.native != nullptr;
        if (!axis.is_of(is_native ? variant.native->like : variant.name)) continue;
        // A native loop does not use the kernel's launch parameters.
        if (is_native && !axis.only.empty() && !axis.tune.empty()) continue;
        if (axis.values.empty() &&
            std::ranges::none_of(settings, [&](const auto& setting) { return setting.first == axis.name; }))
            continue;
        out.push_back(axis);
        for (const auto* source : {&variant.axes, &settings}) {
            for (const auto& [name, list] : *source) {
                if (name == axis.name) out.back().values = expand_axis(axis, list);
            }
        }
    }
    if (variant.native) return out;  // a native loop has no build options
    auto options = build_options_axis();
    const bool own = std::ranges::any_of(experiment.axes, [&](const auto& a) { return a.name == options.name; });
    for (const auto& [name, list] : settings) {
        if (own || name != options.name) continue;
        options.values = expand_axis(options, list);
        out.push_back(options);
    }
    return out;
}

void check_settings(const std::vector<Selected>& selected, const Settings& settings) {
    std::vector<std::string> known;
    std::set<std::string> names;
    for (const auto& s : selected) {
        for (const auto& axis : s.experiment->axes) {
            if (axis.is_of(s.variant->name) && names.insert(axis.name).second) known.push_back(axis.name);
        }
    }
    for (const auto& [name, list] : settings) {
        if (names.count(name) == 0 && name != build_options_axis().name) {
            const bool one = selected.size() == 1;
            throw Error(
                Blame::usage,
                one ? "'" + selected.front().id + "' has no axis '" : "none of the selected variants has an axis '",
                name, "'; ",
                did_you_mean(name, known, (one ? "its axes are " : "their axes are ") + join(known, ", ")));
        }
    }
}

const std::vector<Constraint>& constraints_of(const Selected& selected) {
    static const std::vector<Constraint> none;
    const auto& by_variant = selected.experiment->constraints;
    const auto found = by_variant.find(selected.variant->name);
    return found == by_variant.end() ? none : found->second;
}

void refuse_nothing_left(const std::vector<Selected>& selected, double points) {
    std::vector<std::string> texts;
    for (const auto& s : selected)
        for (const auto& constraint : constraints_of(s)) add_once(texts, constraint.text);
    throw Error(Blame::usage, "no points left: ", join(texts, " and "), texts.size() > 1 ? " exclude " : " excludes ",
                points > 1 ? concat("all ", format_exact(points), " points") : "the only point",
                "; --axis NAME=VALUES gives an axis other values");
}

std::vector<Group> make_plan(const std::vector<Selected>& selected, const Settings& settings, Points which,
                             double* left_out) {
    check_settings(selected, settings);
    std::vector<Group> out;
    std::size_t cells = 0;
    double all = 0;
    for (const auto& of_family : grouped(selected, [](const auto& s) { return s.experiment; })) {
        Grouping grouping(out);
        for (const auto& s : of_family) {
            auto axes = axes_of(*s.experiment, *s.variant, settings);
            for (auto& axis : axes) {
                const bool is_set =
                    std::ranges::any_of(settings, [&](const auto& setting) { return setting.first == axis.name; });
                if (which == Points::first && !is_set) axis.values.resize(1);
            }
            auto points = cross(axes, constraints_of(s));
            cells += points.size();
            all += points_of(axes);
            if (cells > most_points)
                throw Error(Blame::usage, "the selected variants have more than ", most_points,
                            " points together; give fewer values or variants");
            for (auto& point : points) grouping.add(s, std::move(point), axes);
        }
    }
    if (cells == 0 && all > 0) refuse_nothing_left(selected, all);
    if (left_out) *left_out += all - static_cast<double>(cells);
    return out;
}

}  // namespace cllab::model
