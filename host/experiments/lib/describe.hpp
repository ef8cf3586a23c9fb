// How a family says which axes and variants it has: what an axis takes, its usual value and who has it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/params.hpp"

namespace cllab::model::lib {

using Texts = std::vector<std::string>;

/// A name among several.
template <typename Names = std::initializer_list<std::string_view>>
bool is_one_of(std::string_view name, const Names& names) {
    return std::ranges::find(names, name) != names.end();
}

/// An Axis in the making. Its usual value is "auto", which the family then resolves, unless usually() gives others.
class AxisMaker {
public:
    AxisMaker(Axis::Kind kind, std::string name, std::string unit, std::string meaning) {
        axis_.name = std::move(name);
        axis_.unit = std::move(unit);
        axis_.meaning = std::move(meaning);
        axis_.kind = kind;
        usually("auto");
    }
    operator Axis() const { return axis_; }

    /// Several values make a sweep.
    AxisMaker& usually(Texts values) {
        axis_.may_be_auto = false;
        for (const auto& value : values) axis_.may_be_auto = axis_.may_be_auto || value == "auto";
        axis_.values = std::move(values);
        return *this;
    }
    AxisMaker& usually(const char* value) { return usually(Texts{value}); }
    AxisMaker& from(double least, double most) {
        axis_.least = least;
        axis_.most = most;
        return *this;
    }
    AxisMaker& choices(Texts all) {
        axis_.choices = std::move(all);
        return *this;
    }
    /// What `cllab tune` tries.
    AxisMaker& tune(Texts values) {
        axis_.tune = std::move(values);
        return *this;
    }
    /// `cllab tune` tries the usual value and every choice.
    AxisMaker& tuned() {
        axis_.tune = axis_.choices;
        if (axis_.may_be_auto) axis_.tune.insert(axis_.tune.begin(), "auto");
        return *this;
    }
    /// The variants that have the axis.
    AxisMaker& only(Texts variants) {
        axis_.only = std::move(variants);
        return *this;
    }
    AxisMaker& multiple_of(std::int64_t factor) {
        axis_.multiple_of = factor;
        return *this;
    }
    AxisMaker& power_of_two() {
        axis_.power_of_two = true;
        return *this;
    }

private:
    Axis axis_;
};

/// Whole numbers from `least` to `most`.
inline AxisMaker count_axis(const char* name, const char* unit, const char* meaning, double least, double most,
                            const Texts& usual = {"auto"}) {
    return AxisMaker(Axis::Kind::integer, name, unit, meaning).from(least, most).usually(usual);
}
inline AxisMaker real_axis(const char* name, const char* unit, const char* meaning, double least, double most,
                           const Texts& usual = {"auto"}) {
    return AxisMaker(Axis::Kind::real, name, unit, meaning).from(least, most).usually(usual);
}
/// The first choice is the usual one.
inline AxisMaker choice_axis(const char* name, const char* meaning, const Texts& choices) {
    return AxisMaker(Axis::Kind::choice, name, "", meaning).choices(choices).usually(Texts{choices.front()});
}
inline AxisMaker shape_axis(const char* name, const char* meaning) {
    return {Axis::Kind::shape, name, "work-item", meaning};
}
/// Bytes of a buffer.
inline AxisMaker size_axis(const char* meaning) { return count_axis("size", "byte", meaning, 4, 1e15).multiple_of(4); }
/// Work-items of a one-dimensional work-group, as lib::group() reads them.
inline AxisMaker local_axis(const char* meaning) { return count_axis("local", "work-item", meaning, 1, 4096); }

/// A Variant in the making.
class VariantMaker {
public:
    VariantMaker(std::string name, std::string meaning) : variant_{std::move(name), std::move(meaning)} {}
    operator Variant() const { return variant_; }

    VariantMaker& defines(Texts all) {
        variant_.defines = std::move(all);
        return *this;
    }
    VariantMaker& needs(Texts all) {
        variant_.needs = std::move(all);
        return *this;
    }
    /// Usual values of the axis that differ from the family's, in the syntax of --axis.
    VariantMaker& with(const char* axis, const char* values) {
        variant_.axes.emplace_back(axis, values);
        return *this;
    }
    VariantMaker& over(const char* axis) {
        variant_.curve_over = axis;
        return *this;
    }

private:
    Variant variant_;
};

inline VariantMaker variant(const char* name, const char* meaning) { return {name, meaning}; }

/// An Experiment of cells that `setup` makes.
inline Experiment family(const char* name, const char* question, Setup (*setup)(const Request&, Params&)) {
    Experiment out;
    out.family = name;
    out.question = question;
    out.setup = setup;
    return out;
}
/// The same of a family whose axes may be auto, or make no sense together: `shape` reads all of them, by the device and
/// the variant's name or by the whole request; `setup` makes a cell of what they are.
template <typename Shape>
Experiment family(const char* name, const char* question, const std::function<Shape(const Request&, Params&)>& shape,
                  Setup (*setup)(const Request&, const Shape&)) {
    auto out = family(name, question, nullptr);
    out.resolve = [shape](const Request& request, Params& params) { shape(request, params); };
    out.setup = [shape, setup](const Request& request, Params& params) {
        return setup(request, shape(request, params));
    };
    return out;
}
template <typename Shape>
Experiment family(const char* name, const char* question,
                  Shape (*shape)(const Device&, const std::string& variant, Params&),
                  Setup (*setup)(const Request&, const Shape&)) {
    return family<Shape>(
        name, question,
        [shape](const Request& request, Params& params) { return shape(request.device, request.variant.name, params); },
        setup);
}

}  // namespace cllab::model::lib
