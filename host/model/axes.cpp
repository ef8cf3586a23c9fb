#include "model/axes.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::model {
namespace {

constexpr std::size_t most_values = 10'000;  // maximum per axis, so that a mistyped step does not fill the memory

/// How values of an axis are written.
std::string syntax(const Axis& axis) {
    switch (axis.kind) {
        case Axis::Kind::integer:
            return axis.power_of_two ? ", written as 4, 4Ki or 1:8:*2" : ", written as 4, 4Ki, 1:8:*2 or 1:9:+2";
        case Axis::Kind::real:
            return ", written as 20.2, 1:64:*2 or 1:2:+0.25";
        case Axis::Kind::choice:
            break;
        case Axis::Kind::shape:
            return ", written as 64, 64x4 or 8x8x4";
        case Axis::Kind::options:
            return ", written as -cl-fast-relaxed-math or none";
    }
    return {};
}

[[noreturn]] void refuse(const Axis& axis, std::string_view found) {
    throw Error(Blame::usage, "axis '", axis.name, "' cannot be '", excerpt(found), "'; it takes ", legal_values(axis),
                syntax(axis), or_did_you_mean(found, axis.choices));
}

[[noreturn]] void too_many(const Axis& axis, std::string_view found) {
    throw Error(Blame::usage, "axis '", axis.name, "': '", excerpt(found), "' makes more than ", most_values,
                " values");
}

void require_within(const Axis& axis, double value, std::string_view found) {
    if (!(value >= axis.least && value <= axis.most)) refuse(axis, found);
}

/// The three parts of FIRST:LAST:*FACTOR or FIRST:LAST:+STEP, as text. A single value is both ends, without a step.
struct Range {
    std::string first, last, step{};
    bool geometric = false;
};

Range read_range(const Axis& axis, const std::string& item) {
    if (item.find(':') == std::string::npos) return {item, item};
    const auto parts = split(item, ':');
    if (parts.size() != 3 || parts[2].size() < 2 || (parts[2][0] != '*' && parts[2][0] != '+')) refuse(axis, item);
    return {parts[0], parts[1], parts[2].substr(1), parts[2][0] == '*'};
}

/// The ends of a range, converted to numbers by `parse` and checked.
template <typename Parse>
auto read_ends(const Axis& axis, const Range& range, const std::string& item, Parse parse) {
    const auto first = parse(range.first), last = parse(range.last);
    if (!first || !last) refuse(axis, item);
    if (*first > *last)
        throw Error(Blame::usage, "axis '", axis.name, "': the range '", excerpt(item), "' ends before it starts");
    require_within(axis, static_cast<double>(*first), item);
    require_within(axis, static_cast<double>(*last), item);
    return std::pair(*first, *last);
}

/// The factor of a geometric range. Checks it and the number of steps to `last`.
double read_factor(const Axis& axis, const Range& range, double first, double last, const std::string& item) {
    const auto factor = parse_real(range.step);
    if (!factor || !(*factor > 1) || !(first > 0))
        throw Error(Blame::usage, "axis '", axis.name, "': the range '", excerpt(item),
                    "' must start above 0 and multiply by a factor above 1");
    if (std::log(last / first) / std::log(*factor) > 100 * most_values) too_many(axis, item);
    return *factor;
}

std::vector<std::string> expand_integers(const Axis& axis, const std::string& item) {
    const auto range = read_range(axis, item);
    const auto [first, last] = read_ends(axis, range, item, parse_integer);
    if (range.step.empty()) return {std::to_string(first)};
    std::vector<std::int64_t> values{first};
    if (range.geometric) {
        const double factor = read_factor(axis, range, static_cast<double>(first), static_cast<double>(last), item);
        // Computes each value from the start, not from its rounded predecessor. Otherwise a factor of 1.04 drifts or
        // stalls.
        for (int i = 1;; ++i) {
            const long double exact = static_cast<long double>(first) * std::pow(static_cast<long double>(factor), i);
            if (!(exact < static_cast<long double>(last))) break;
            const auto value = static_cast<std::int64_t>(std::llround(exact));
            if (value > values.back()) values.push_back(value);
            if (values.size() > most_values) too_many(axis, item);
        }
    } else {
        const auto step = parse_integer(range.step);
        if (!step || *step < 1) refuse(axis, item);
        // Count the steps before the loop. last - first may need all 64 bits, so the difference is unsigned.
        const auto span = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
        const auto steps = span / static_cast<std::uint64_t>(*step);
        if (steps >= most_values) too_many(axis, item);
        for (std::uint64_t i = 1; i <= steps; ++i)
            values.push_back(
                static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + i * static_cast<std::uint64_t>(*step)));
    }
    if (values.back() != last) values.push_back(last);
    return mapped(values, [](auto value) { return std::to_string(value); });
}

std::vector<std::string> expand_reals(const Axis& axis, const std::string& item) {
    const auto range = read_range(axis, item);
    const auto [first, last] = read_ends(axis, range, item, parse_real);
    if (range.step.empty()) return {format_exact(first)};
    double step = 0, steps = 0;
    if (range.geometric) {
        step = read_factor(axis, range, first, last, item);
        steps = std::log(last / first) / std::log(step);
    } else {
        const auto parsed = parse_real(range.step);
        if (!parsed || !(*parsed > 0)) refuse(axis, item);
        step = *parsed;
        steps = (last - first) / step;
    }
    if (!(steps < most_values)) too_many(axis, item);
    std::vector<std::string> out;
    // A value within a millionth of a step of the end is a rounded form of the end.
    for (int i = 0; i < steps - 1e-6; ++i) {
        const double value = range.geometric ? first * std::pow(step, i) : first + i * step;
        out.push_back(format_exact(*parse_real(format_general(value, 12))));  // 1.3, not 1.3000000000000003
    }
    out.push_back(format_exact(last));
    return out;
}

std::optional<Extent> parse_shape(const std::string& text) {
    const auto parts = split(text, 'x');
    if (parts.size() > 3) return std::nullopt;
    Extent extent;
    extent.dims = static_cast<unsigned>(parts.size());
    std::size_t count = 1;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto size = parse_integer(parts[i]);
        if (!size || *size < 1) return std::nullopt;
        extent.size[i] = static_cast<std::size_t>(*size);
        if (__builtin_mul_overflow(count, extent.size[i], &count)) return std::nullopt;
    }
    return extent;
}

void require_regular(const Axis& axis, const std::vector<std::string>& values) {
    for (const auto& text : values) {
        const auto value = *parse_integer(text);
        if (value % axis.multiple_of != 0 || (axis.power_of_two && (value < 1 || (value & (value - 1)) != 0)))
            refuse(axis, text);
    }
}

std::vector<std::string> expand_item(const Axis& axis, const std::string& item) {
    if (item == "auto" && axis.may_be_auto) return {item};
    switch (axis.kind) {
        case Axis::Kind::integer: {
            auto values = expand_integers(axis, item);
            require_regular(axis, values);
            return values;
        }
        case Axis::Kind::real:
            return expand_reals(axis, item);
        case Axis::Kind::choice:
            if (std::ranges::find(axis.choices, item) == axis.choices.end()) refuse(axis, item);
            return {item};
        case Axis::Kind::options:
            if (item.empty() || item == "none") return {"none"};
            if (item.front() != '-') refuse(axis, item);
            return {item};
        case Axis::Kind::shape:
            break;
    }
    const auto shape = parse_shape(item);
    if (!shape) refuse(axis, item);
    require_within(axis, static_cast<double>(shape->count()), item);
    return {shape->text()};
}

}  // namespace

std::string legal_values(const Axis& axis) {
    std::string bounds;
    if (axis.least > std::numeric_limits<double>::lowest()) bounds += " from " + format_exact(axis.least);
    if (axis.most < std::numeric_limits<double>::max()) bounds += " to " + format_exact(axis.most);
    const char* automatic = axis.may_be_auto ? "auto, or " : "";
    switch (axis.kind) {
        case Axis::Kind::integer:
            return automatic +
                   (axis.power_of_two      ? "powers of two"
                    : axis.multiple_of > 1 ? concat("multiples of ", axis.multiple_of)
                                           : "whole numbers") +
                   bounds;
        case Axis::Kind::real:
            return automatic + ("numbers" + bounds);
        case Axis::Kind::choice:
            break;
        case Axis::Kind::shape:
            return automatic + ("shapes of" + (bounds.empty() ? " any number of" : bounds)) + " work-items";
        case Axis::Kind::options:
            return "build options, which begin with '-'";
    }
    return automatic + ("one of " + join(axis.choices, ", "));
}

bool Axis::is_of(const std::string& variant) const {
    return only.empty() || std::ranges::find(only, variant) != only.end();
}

std::string Extent::text() const {
    if (dims == 0) return "driver's choice";
    std::string out = std::to_string(size[0]);
    for (unsigned i = 1; i < dims; ++i) (out += 'x') += std::to_string(size[i]);
    return out;
}

void Point::set(const std::string& axis, std::string value) {
    if (auto* old = find_in(values_, axis))
        *old = std::move(value);
    else
        values_.emplace_back(axis, std::move(value));
}

bool Point::has(std::string_view axis) const { return find_in(values_, axis) != nullptr; }

bool Point::is_auto(std::string_view axis) const { return text(axis) == "auto"; }

const std::string& Point::text(std::string_view axis) const {
    if (const auto* value = find_in(values_, axis)) return *value;
    throw Error(Blame::result, "the point has no axis '", axis, "'");
}

/// The value of the axis, converted by `parse`. Throws Error(result) if it is not `wanted`.
template <typename Parse>
static auto parsed(const Point& point, std::string_view axis, Parse parse, const char* wanted) {
    const auto value = parse(point.text(axis));
    if (!value) throw Error(Blame::result, "axis '", axis, "' is '", point.text(axis), "', not ", wanted);
    return *value;
}

std::int64_t Point::integer(std::string_view axis) const {
    return parsed(*this, axis, parse_integer, "a whole number");
}
double Point::real(std::string_view axis) const { return parsed(*this, axis, parse_real, "a number"); }
Extent Point::shape(std::string_view axis) const { return parsed(*this, axis, parse_shape, "a shape such as 64x4"); }

std::vector<std::string> expand_axis(const Axis& axis, std::string_view list) {
    std::vector<std::string> values;
    std::set<std::string> seen;
    for (const auto& item : split(list, ',')) {
        for (auto& value : expand_item(axis, trim(item))) {
            if (!seen.insert(value).second)
                throw Error(Blame::usage, "axis '", axis.name, "' is given the value ", value, " twice");
            values.push_back(std::move(value));
        }
        if (values.size() > most_values) too_many(axis, list);
    }
    return values;
}

namespace {

bool holds_all(const std::vector<const Constraint*>& constraints, const Point& point) {
    return std::ranges::all_of(constraints, [&](const auto* c) { return c->holds(point); });
}

}  // namespace

std::optional<std::vector<Point>> cross_if_few(const std::vector<Axis>& axes,
                                               const std::vector<Constraint>& constraints) {
    auto open = mapped(constraints, [](const Constraint& constraint) { return &constraint; });
    std::set<std::string> known;
    std::vector<Point> points(1);
    for (const auto& axis : axes) {
        if (axis.values.empty()) throw Error(Blame::usage, "axis '", axis.name, "' has no values");
        known.insert(axis.name);
        // Drop points that already violate a constraint before multiplying by the other axes.
        std::vector<const Constraint*> decided;
        std::erase_if(open, [&](const auto* c) {
            const bool is_decided = !c->names.empty() && std::ranges::includes(known, c->names);
            if (is_decided) decided.push_back(c);
            return is_decided;
        });
        std::vector<Point> longer;
        for (const auto& point : points) {
            for (const auto& value : axis.values) {
                auto next = point;
                next.set(axis.name, value);
                if (!holds_all(decided, next)) continue;
                if (longer.size() == most_points) return std::nullopt;
                longer.push_back(std::move(next));
            }
        }
        points = std::move(longer);
    }
    std::erase_if(points, [&](const auto& point) { return !holds_all(open, point); });
    return points;
}

std::vector<Point> cross(const std::vector<Axis>& axes, const std::vector<Constraint>& constraints) {
    auto out = cross_if_few(axes, constraints);
    if (!out) throw Error(Blame::usage, "the axes make more than ", most_points, " points together; give fewer values");
    return std::move(*out);
}

double points_of(const std::vector<Axis>& axes) {
    double out = 1;
    for (const auto& axis : axes) out *= static_cast<double>(axis.values.size());
    return out;
}

}  // namespace cllab::model
