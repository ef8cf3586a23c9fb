// The search of a tuning: which points to try, in what order. Callbacks measure them and say for how many there is
// time, so tests of the search need no device.
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

enum class Strategy {
    automatic,  ///< all points where there is time for them, else as `local`
    all,        ///< every point, in random order
    random,     ///< points drawn at random
    local,      ///< some drawn at random, then one axis at a time from the fastest
};

/// Resolves a point on the device; nothing when the device cannot run it.
using ResolvePoint = std::function<std::optional<Point>(const Point&)>;
/// Seconds of each point, measured side by side; nothing for one that failed or that the device cannot do.
using MeasurePoints = std::function<std::vector<std::optional<double>>(const std::vector<Point>&)>;
/// For how many more points there is time, where so many were measured; 0: it is over.
using Room = std::function<std::size_t(std::size_t measured)>;

struct Screening {
    /// Every point that has a time, fastest first, each once. The time is what it would be beside the fastest one.
    std::vector<std::pair<Point, double>> ranked;
    std::size_t tried = 0;                  ///< different points
    std::size_t known = 0;                  ///< Search::known()
    std::optional<std::size_t> possible{};  ///< Search::possible()

    bool is_exhaustive() const { return tried == possible; }
};

inline constexpr std::size_t most_beside = 32;    ///< points that are measured side by side, by default
inline constexpr std::size_t random_starts = 48;  ///< points drawn at random by the local search

/// Points that resolve to the same point count once. The fastest so far is measured again beside all others, and what
/// they take is counted in its time: what disturbs a machine for a while makes no point slow.
class Search {
public:
    /// The space outlives this.
    Search(const TuneSpace& space, ResolvePoint resolve, MeasurePoints measure, Room room, Strategy strategy,
           std::uint64_t seed, std::size_t beside = most_beside);

    /// What a resolved point took earlier, so that it is not measured again. False: it is no point of the space.
    bool know(const Point& resolved, std::optional<double> seconds);
    /// To the end of the space, or of the time. What `measure` throws ends it, with what was found.
    void run();
    const std::optional<std::pair<Point, double>>& best() const { return best_; }
    std::size_t tried() const { return entries_.size(); }
    std::size_t known() const { return known_; }  ///< of them: earlier
    /// Different points that the device can do; nothing: too many to list.
    std::optional<std::size_t> possible() const { return space_.all ? std::optional(named_.size()) : std::nullopt; }
    Screening found() const;

private:
    using Values = std::vector<std::pair<std::string, std::string>>;
    struct Entry {
        Point point;
        std::optional<double> seconds;
    };

    std::optional<Values> key(const Point& point) const;
    std::optional<double> time(const Point& point) const;
    void enter(const Values& key, const Point& point, std::optional<double> seconds);
    /// Of the points, those of the space that are not measured, each once.
    std::vector<Point> fresh(const std::vector<Point>& points) const;
    std::vector<Point> next(std::size_t count);
    /// False: there was no time for all of them.
    bool measure(const std::vector<Point>& points);
    /// The fastest of them that has a time.
    std::optional<Point> fastest(const std::vector<Point>& points) const;
    void take_at_random();
    bool descend(Point at);
    std::optional<Point> new_start();

    const TuneSpace& space_;
    ResolvePoint resolve_;
    MeasurePoints measure_;
    Room room_;
    Strategy strategy_;
    std::size_t beside_;
    Random random_;
    std::vector<Axis> tuned_;        ///< in the order in which they are walked along
    std::map<Values, Point> named_;  ///< of a space that is listed: each different point, as it is named
    std::vector<Point> waiting_;     ///< likewise, those not taken yet; the next one is the last
    std::map<Values, Entry> entries_;
    std::optional<std::pair<Point, double>> best_;
    std::size_t measured_ = 0, known_ = 0;
};

}  // namespace cllab::model
