// A family without a device, for the tests of tuning: its space, and how its points are measured.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "model/search.hpp"

namespace cllab::test::tuned {

using namespace cllab::model;

inline Axis integer_axis(const char* name, std::vector<std::string> values, std::vector<std::string> tune = {}) {
    Axis axis;
    axis.name = name;
    axis.values = std::move(values);
    axis.tune = std::move(tune);
    axis.may_be_auto = true;
    return axis;
}

/// x and y tuned by every variant, z by `wide` only, size by none.
inline Experiment family() {
    Experiment out;
    out.family = "f";
    auto z = integer_axis("z", {"1"}, {"1:20:+1"});
    z.only = {"wide"};
    out.axes = {integer_axis("size", {"64"}), integer_axis("x", {"auto"}, {"auto", "1:20:+1"}),
                integer_axis("y", {"4"}, {"1:20:+1"}), z};
    out.variants = {{.name = "plain"}, {.name = "wide"}};
    return out;
}

inline Selected selected(const Experiment& e, std::size_t variant) {
    return {&e, &e.variants[variant], e.id(e.variants[variant])};
}

inline std::string refusal(const Experiment& e, const Settings& settings) {
    try {
        tune_space(selected(e, 0), settings);
    } catch (const Error& error) {
        return error.blame() == Blame::usage ? error.what() : "";
    }
    return {};
}

/// A bowl with its bottom at x=13, y=7, z=3; "auto" is as slow as x=1.
inline double bowl(const Point& p) {
    const double x = p.is_auto("x") ? 1 : p.real("x");
    return 1 + std::pow(x - 13, 2) / 100 + std::pow(p.real("y") - 7, 2) / 100 +
           (p.has("z") ? std::pow(p.real("z") - 3, 2) / 100 : 0);
}

/// A device that takes every point as it is.
inline std::optional<Point> as_it_is(const Point& p) { return p; }

inline MeasurePoints measured_by(double (*cost)(const Point&), std::vector<std::size_t>* batches = nullptr) {
    return [cost, batches](const std::vector<Point>& points) {
        if (batches) batches->push_back(points.size());
        std::vector<std::optional<double>> out;
        for (const auto& p : points) out.emplace_back(cost(p));
        return out;
    };
}

/// Time for so many points.
inline Room points(std::size_t most) {
    return [most](std::size_t measured) { return most - std::min(most, measured); };
}

inline Screening search(const TuneSpace& space, const ResolvePoint& resolve, const MeasurePoints& measure,
                        std::uint64_t seed, std::size_t most = 300, Strategy strategy = Strategy::automatic) {
    Search out(space, resolve, measure, points(most), strategy, seed);
    out.run();
    return out.found();
}

inline Constraint whole_multiples() {
    return {"'where x % y == 0'", {"x", "y"}, [](const Point& p) {
                return !p.is_auto("x") && p.integer("x") % p.integer("y") == 0;
            }};
}

}  // namespace cllab::test::tuned
