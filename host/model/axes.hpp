// Axes and points, the parameters of a kernel. Plain data and its text form; independent of OpenCL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cllab::model {

/// One parameter of a family. `--axis name=values` redefines the values.
struct Axis {
    enum class Kind {
        integer,  ///< whole number; accepts 4096, 4Ki, 4K, and ranges 1Ki:1Mi:*2 or 1:9:+2
        real,     ///< number with a fraction, e.g. 20.2; ranges likewise
        choice,   ///< one of `choices`
        shape,    ///< 64, 64x4 or 8x8x4
        options,  ///< build options, e.g. -cl-mad-enable; "none" or an empty value: no options
    };
    std::string name;
    std::string unit;     ///< "pixel", "byte"; empty when the value is a pure number
    std::string meaning;  ///< one clause for `describe`
    Kind kind = Kind::integer;
    std::vector<std::string> values;  ///< default values, several for a sweep; empty: the axis exists only on request
    std::vector<std::string> choices{};                ///< Kind::choice only
    double least = 0;                                  ///< smallest legal number, inclusive
    double most = std::numeric_limits<double>::max();  ///< largest legal number, inclusive
    bool may_be_auto = false;                          ///< "auto" is a legal value; the family resolves it
    /// Candidates of `cllab tune`, in the syntax of --axis, e.g. {"auto", "8:64:*2"}. Only for an axis that does not
    /// affect the result.
    std::vector<std::string> tune{};
    std::vector<std::string> only{};  ///< variants that have the axis; empty: all
    std::int64_t multiple_of = 1;     ///< legal integers are multiples of this
    bool power_of_two = false;        ///< legal integers are powers of two

    bool is_of(const std::string& variant) const;  ///< whether the variant has the axis
};

/// An NDRange extent of one to three dimensions, in work-items. dims == 0: the driver chooses.
struct Extent {
    std::array<std::size_t, 3> size{1, 1, 1};
    unsigned dims = 0;
    Extent() = default;
    Extent(std::size_t x) : size{x, 1, 1}, dims(1) {}
    Extent(std::size_t x, std::size_t y) : size{x, y, 1}, dims(2) {}
    Extent(std::size_t x, std::size_t y, std::size_t z) : size{x, y, z}, dims(3) {}
    std::size_t count() const { return size[0] * size[1] * size[2]; }
    std::string text() const;  ///< "64x4"; "driver's choice" when dims == 0
};

/// The value of every axis of one cell, in the order of the family's axes.
class Point {
public:
    void set(const std::string& axis, std::string value);
    bool has(std::string_view axis) const;
    bool is_auto(std::string_view axis) const;
    const std::string& text(std::string_view axis) const;
    std::int64_t integer(std::string_view axis) const;
    double real(std::string_view axis) const;
    Extent shape(std::string_view axis) const;
    const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }
    bool operator==(const Point&) const = default;

private:
    std::vector<std::pair<std::string, std::string>> values_;
};

/// Expands one `--axis` value list ("1024,2048", "1Ki:1Mi:*2", "64x4") to canonical values ("1Ki" becomes "1024"). A
/// geometric or stepped range always ends on its last value. Throws Error(usage) with the axis and its legal values.
std::vector<std::string> expand_axis(const Axis& axis, std::string_view list);

/// The legal values of an axis in words: "powers of two from 1 to 16".
std::string legal_values(const Axis& axis);

inline constexpr std::size_t most_points = 100'000;  ///< maximum of one run: at 50 ms per point, more than an hour

/// A condition that every point must satisfy.
struct Constraint {
    std::string text;  ///< the text as written, with its place in the file
    /// Names that decide it; a name that is not an axis is constant or follows from axes.
    std::set<std::string> names;
    std::function<bool(const Point&)> holds;
};

/// The Cartesian product of the axes' values, last axis fastest, without points that violate a constraint; nullopt if
/// there are more than most_points. Throws Error(usage) for an axis without values.
std::optional<std::vector<Point>> cross_if_few(const std::vector<Axis>& axes,
                                               const std::vector<Constraint>& constraints = {});
/// The same; throws Error(usage) for more than most_points.
std::vector<Point> cross(const std::vector<Axis>& axes, const std::vector<Constraint>& constraints = {});
/// Number of points, including those that violate a constraint.
double points_of(const std::vector<Axis>& axes);

}  // namespace cllab::model
