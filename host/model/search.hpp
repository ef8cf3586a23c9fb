// The search of `tune`: chooses the points to try, and their order. Callbacks measure the points and tell how many more
// fit the time. Tests of the search therefore need no device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "model/plan.hpp"
#include "model/surrogate.hpp"

namespace cllab::model {

/// The points of one variant among which `tune` chooses.
struct TuneSpace {
    std::vector<Axis> axes;  ///< all axes of the variant; `values` are the candidates, a single one for a fixed axis
    std::vector<std::string> tuned;           ///< names of the axes with several candidates
    std::vector<Constraint> constraints;      ///< constraints that the points satisfy
    std::optional<std::vector<Point>> all{};  ///< nullopt: more than most_points
    /// The point of `cllab run`: every axis at its default. If that violates a constraint, another point.
    Point initial{};
    bool has_default = true;  ///< `initial` is the point of `cllab run`

    bool has(const Point& point) const;  ///< the point's values are candidates, and it satisfies the constraints
};

/// The space of a variant. Candidates are an axis's `tune` list, or its values in `settings`. Axes without such a list
/// keep their default. If no axis has a list, the axis on request is tried. Build options are tried if `settings` give
/// several. Throws Error(usage) if nothing is left to tune, if an axis that may affect the result has several values,
/// if the constraints exclude all points, and like check_settings and axes_of.
TuneSpace tune_space(const Selected& selected, const Settings& settings);

/// A random point of the space; nullopt if many draws give none.
std::optional<Point> drawn(const TuneSpace& space, Random& random);

enum class Strategy {
    automatic,  ///< all points if there is time for them, else as `model`
    all,        ///< every point, in random order
    random,     ///< points drawn at random
    model,      ///< some points drawn at random, then the fastest points by a model of the times
};

/// Resolves a point on the device; nullopt if the device cannot run it.
using ResolvePoint = std::function<std::optional<Point>(const Point&)>;
/// Seconds of each point, measured together in turns; nullopt for a point that failed or that the device cannot run.
using MeasurePoints = std::function<std::vector<std::optional<double>>(const std::vector<Point>&)>;
/// Number of points for which there is still time, after `measured` points; 0: none.
using Room = std::function<std::size_t(std::size_t measured)>;

struct Screening {
    /// All points with a time, fastest first, each once. Times are normalized by the fastest point's time in the same
    /// batch.
    std::vector<std::pair<Point, double>> ranked;
    std::size_t tried = 0;                  ///< number of different points
    std::size_t known = 0;                  ///< Search::known()
    std::optional<std::size_t> possible{};  ///< Search::possible()

    bool is_exhaustive() const { return tried == possible; }
};

inline constexpr std::size_t most_beside = 32;  ///< default number of points that are measured together
/// Maximum number of random points before the first use of the model.
inline constexpr std::size_t random_starts = 48;

/// Points that resolve to the same point count once. The fastest point so far is measured again with each batch, and
/// times are relative to it, so that a temporary disturbance does not make a point slow.
class Search {
public:
    /// The space must outlive this object.
    Search(const TuneSpace& space, ResolvePoint resolve, MeasurePoints measure, Room room, Strategy strategy,
           std::uint64_t seed, std::size_t at_once = most_beside);

    /// Adds a resolved point's earlier time, so that it is not measured again. False: the point is not in the space.
    bool record_known(const Point& resolved, std::optional<double> seconds);
    /// Runs to the end of the space or of the time. An exception from `measure` ends it; the results so far remain.
    void run();
    const std::optional<std::pair<Point, double>>& best() const { return best_; }
    std::size_t tried() const { return entries_.size(); }
    std::size_t known() const { return known_; }  ///< number of points with an earlier time
    /// Number of different points that the device can run; nullopt: too many to list.
    std::optional<std::size_t> possible() const { return space_.all ? std::optional(named_.size()) : std::nullopt; }
    Screening found() const;

private:
    using Values = std::vector<std::pair<std::string, std::string>>;
    struct Entry {
        Point point;
        std::optional<double> seconds;
    };

    std::optional<Values> key(const Point& point) const;
    void enter(const Values& key, const Point& point, std::optional<double> seconds);
    /// The points that belong to the space and are not measured yet, each once.
    std::vector<Point> unseen(const std::vector<Point>& points) const;
    std::vector<Point> next(std::size_t count);
    /// Measures the points for which there is room.
    void measure(const std::vector<Point>& points);
    void take_at_random();
    std::vector<Point> candidates();
    void follow_model();

    const TuneSpace& space_;
    ResolvePoint resolve_;
    MeasurePoints measure_;
    Room room_;
    Strategy strategy_;
    std::size_t at_once_;
    Random random_;
    std::map<Values, Point> named_;  ///< if the space is listed: the first of equal points, by resolved values
    /// Entries of named_ that were not taken yet. The last entry is taken next.
    std::vector<const std::map<Values, Point>::value_type*> waiting_;
    std::map<Values, Entry> entries_;
    std::optional<std::pair<Point, double>> best_;
    std::size_t measured_ = 0, known_ = 0;
};

}  // namespace cllab::model
