// Expands a request to the cells of a run: variants times points. Independent of devices.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/registry.hpp"

namespace cllab::model {

/// Text and options of an earlier build, to be built again unchanged.
struct StoredBuild {
    std::string text, options;
};

struct Cell {
    const Experiment* experiment = nullptr;
    const Variant* variant = nullptr;
    std::string id;     ///< family_variant
    Point point;        ///< values of the variant's axes
    std::string label;  ///< values of the axes that vary in this plan: "width=1024,height=512"; empty if none varies
    std::string options{};  ///< appended to the build options, after those of the user
    /// If set, this is built instead of the family's text and options.
    std::shared_ptr<const StoredBuild> stored{};
};

/// Cells of one family at one point: a comparison, whose samples are interleaved round by round.
using Group = std::vector<Cell>;

/// The --axis settings: name and value list; each name once.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The variant's axes, with the values of `settings`, else the variant's defaults, else the family's. Throws
/// Error(usage) for a value that an axis does not accept.
std::vector<Axis> axes_of(const Experiment& experiment, const Variant& variant, const Settings& settings = {});

/// The axis `options`, which every family has without declaring it: --axis options=,-cl-mad-enable. A family may
/// declare its own axis of this name instead.
Axis build_options_axis();
bool has_build_options_axis(const Experiment& experiment, const Point& point);

/// Which values of an axis are used if no setting names it: all, or only the first.
enum class Points { all, first };

/// Throws Error(usage) for an axis that no selected variant has, with the nearest names.
void check_settings(const std::vector<Selected>& selected, const Settings& settings);

/// The constraints of the variant's points.
const std::vector<Constraint>& constraints_of(const Selected& selected);
/// Throws Error(usage): the constraints of the variants exclude all of `points` points.
[[noreturn]] void refuse_nothing_left(const std::vector<Selected>& selected, double points);

/// All cells of the selected variants, at most most_points, without points that violate a constraint; their number is
/// added to `left_out`. Throws Error(usage) like check_settings and axes_of, and if no point is left.
std::vector<Group> make_plan(const std::vector<Selected>& selected, const Settings& settings,
                             Points points = Points::all, double* left_out = nullptr);

}  // namespace cllab::model
