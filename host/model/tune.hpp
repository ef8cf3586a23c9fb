// The space that a tuning searches: launch parameters that do not affect the result, with what must hold between them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "model/plan.hpp"

namespace cllab::model {

/// The points of one variant that a tuning chooses from.
struct TuneSpace {
    std::vector<Axis> axes;  ///< all of the variant's; `values` are the candidates, one for an axis that is fixed
    std::vector<std::string> tuned;           ///< those with several candidates
    std::vector<Constraint> constraints;      ///< that points hold
    std::optional<std::vector<Point>> all{};  ///< nothing: more than most_points
    /// What `cllab run` would take: every axis at its own default. Where that is no point: another one.
    Point initial{};
    bool has_default = true;  ///< `initial` is what `cllab run` would take

    bool has(const Point& point) const;  ///< its values are candidates, and it breaks no constraint
};

/// Candidates are an axis's `tune` list, or what `settings` give for it. Axes without such a list keep their default.
/// Where no axis has one, that of an axis on request is tried. Build options are tried where `settings` give several.
/// Throws Error(usage) when nothing is left to tune, when an axis that may affect the result has several values, when
/// the constraints leave nothing, and as check_settings and axes_of.
TuneSpace tune_space(const Selected& selected, const Settings& settings);

/// A point of the space at random; nothing where none of many draws is one.
std::optional<Point> drawn(const TuneSpace& space, Random& random);

}  // namespace cllab::model
