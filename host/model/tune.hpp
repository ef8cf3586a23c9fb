// The search over launch parameters that do not affect the result: which points to try, in what order. A callback
// measures a point, so tests of the search need no device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/plan.hpp"

namespace cllab::model {

/// The points of one variant that a tuning chooses from.
struct TuneSpace {
    std::vector<Axis> axes;  ///< all of the variant's; `values` are the candidates, one for an axis that is fixed
    std::vector<std::string> tuned;  ///< those with several candidates
    Point initial;                   ///< what `cllab run` would take: every axis at its own default
    double points() const;           ///< how many there are
};

/// Candidates are an axis's `tune` list, or what `settings` give for it. Axes without such a list keep their default.
/// Where no axis has one, that of an axis on request is tried.
/// Throws Error(usage) when nothing is left to tune, when an axis that may affect the result has several values, and as
/// check_settings and axes_of.
TuneSpace tune_space(const Selected& selected, const Settings& settings);

/// Resolves a point on the device; nothing when the device cannot run it.
using ResolvePoint = std::function<std::optional<Point>(const Point&)>;
/// Seconds of each point, measured side by side; nothing for one that failed or that the device cannot do.
using MeasurePoints = std::function<std::vector<std::optional<double>>(const std::vector<Point>&)>;

struct Screening {
    std::vector<std::pair<Point, double>> ranked;  ///< every point that has a time, fastest first, each once
    std::size_t tried = 0;                         ///< different points measured
    bool exhaustive = true;                        ///< these are all there are
};

inline constexpr std::size_t most_exhaustive = 300;  ///< different points; above this the search below
inline constexpr std::size_t random_starts = 48;     ///< points drawn at random by the search

/// Points that resolve to the same point count once. Tries all points when at most most_exhaustive differ. Otherwise it
/// measures the initial point and `random_starts` drawn with `seed` in turns. It then continues from the fastest: one
/// axis at a time, all its candidates in turns, until no axis gains another 1 %.
Screening screen(const TuneSpace& space, const ResolvePoint& resolve, const MeasurePoints& measure, std::uint64_t seed);

}  // namespace cllab::model
