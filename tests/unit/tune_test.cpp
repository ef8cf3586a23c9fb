#include "model/tune.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "model/registry.hpp"

BOOST_AUTO_TEST_SUITE(tuning)

using namespace cllab;
using namespace cllab::model;

namespace {

Axis integer_axis(const char* name, std::vector<std::string> values, std::vector<std::string> tune = {}) {
    Axis axis;
    axis.name = name;
    axis.values = std::move(values);
    axis.tune = std::move(tune);
    axis.may_be_auto = true;
    return axis;
}

/// x and y tuned by every variant, z by `wide` only, size by none.
Experiment family() {
    Experiment out;
    out.family = "f";
    auto z = integer_axis("z", {"1"}, {"1:20:+1"});
    z.only = {"wide"};
    out.axes = {integer_axis("size", {"64"}), integer_axis("x", {"auto"}, {"auto", "1:20:+1"}),
                integer_axis("y", {"4"}, {"1:20:+1"}), z};
    out.variants = {{.name = "plain"}, {.name = "wide"}};
    return out;
}

Selected selected(const Experiment& e, std::size_t variant) {
    return {&e, &e.variants[variant], e.id(e.variants[variant])};
}

std::string refusal(const Experiment& e, const Settings& settings) {
    try {
        tune_space(selected(e, 0), settings);
    } catch (const Error& error) {
        return error.blame() == Blame::usage ? error.what() : "";
    }
    return {};
}

/// A bowl with its bottom at x=13, y=7, z=3; "auto" is as slow as x=1.
double bowl(const Point& p) {
    const double x = p.is_auto("x") ? 1 : p.real("x");
    return 1 + std::pow(x - 13, 2) / 100 + std::pow(p.real("y") - 7, 2) / 100 +
           (p.has("z") ? std::pow(p.real("z") - 3, 2) / 100 : 0);
}

/// A device that takes every point as it is.
std::optional<Point> as_it_is(const Point& p) { return p; }

MeasurePoints measure(double (*cost)(const Point&), std::vector<std::size_t>* batches = nullptr) {
    return [cost, batches](const std::vector<Point>& points) {
        if (batches) batches->push_back(points.size());
        std::vector<std::optional<double>> out;
        for (const auto& p : points) out.emplace_back(cost(p));
        return out;
    };
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_space_has_the_axes_that_the_variant_looks_at) {
    const auto e = family();
    const auto plain = tune_space(selected(e, 0), {}), wide = tune_space(selected(e, 1), {});
    BOOST_TEST(plain.tuned == (std::vector<std::string>{"x", "y"}), boost::test_tools::per_element());
    BOOST_TEST(plain.points() == 21.0 * 20);
    BOOST_TEST(wide.points() == 21.0 * 20 * 20);
    BOOST_TEST(plain.initial.text("x") == "auto");
    BOOST_TEST(plain.initial.text("y") == "4");
}

BOOST_AUTO_TEST_CASE(the_command_line_gives_candidates_and_values) {
    const auto e = family();
    const auto space = tune_space(selected(e, 0), {{"x", "2,3"}, {"size", "128"}});
    BOOST_TEST(space.points() == 2.0 * 20);
    BOOST_TEST(space.initial.text("x") == "2");
    BOOST_TEST(space.initial.text("size") == "128");
    const auto fixed = tune_space(selected(e, 0), {{"x", "5"}});
    BOOST_TEST(fixed.tuned == (std::vector<std::string>{"y"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_space_that_cannot_be_tuned_gets_its_sentence) {
    auto e = family();
    BOOST_TEST(refusal(e, {{"size", "1,2"}}) ==
               "axis 'size' has 2 values and `cllab tune` takes one; choose it with --axis size=VALUE (the axes it "
               "tunes are x, y)");
    BOOST_TEST(refusal(e, {{"z", "1,2"}}) == "'f_plain' has no axis 'z'; its axes are size, x, y");
    BOOST_TEST(refusal(e, {{"x", "1"}, {"y", "1"}}) ==
               "every axis of 'f_plain' is fixed to one value; the axes to tune are x, y");
    BOOST_TEST(refusal(e, {{"warp", "1"}}) == "'f_plain' has no axis 'warp'; its axes are size, x, y");
    for (auto& axis : e.axes) axis.tune.clear();
    BOOST_TEST(refusal(e, {}) == "'f_plain' has no launch parameter to tune: every axis affects the result");
}

BOOST_AUTO_TEST_CASE(up_to_three_hundred_points_are_all_tried_once_and_side_by_side) {
    const auto e = family();
    const auto space = tune_space(selected(e, 0), {{"x", "1:15:+1"}});
    std::vector<std::size_t> batches;
    const auto found = screen(space, as_it_is, measure(bowl, &batches), 1);
    BOOST_TEST(batches == (std::vector<std::size_t>{300}), boost::test_tools::per_element());
    BOOST_TEST(found.exhaustive);
    BOOST_TEST(found.tried == 300u);
    BOOST_TEST(found.ranked.size() == 300u);
    BOOST_TEST(found.ranked.front().first.text("x") == "13");
    BOOST_TEST(found.ranked.front().first.text("y") == "7");
    for (std::size_t n = 1; n < found.ranked.size(); ++n)
        BOOST_TEST(found.ranked[n - 1].second <= found.ranked[n].second);
}

BOOST_AUTO_TEST_CASE(above_that_the_search_finds_the_bottom_of_a_bowl_with_few_points) {
    const auto e = family();
    const auto space = tune_space(selected(e, 1), {});
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const auto found = screen(space, as_it_is, measure(bowl), seed);
        BOOST_TEST(!found.exhaustive);
        BOOST_TEST(found.tried < 250u);
        BOOST_TEST(found.ranked.size() == found.tried);
        BOOST_TEST(found.ranked.front().second <= 1.011);  // an axis moves only for 1 %
        std::set<std::vector<std::pair<std::string, std::string>>> once;
        for (const auto& [point, seconds] : found.ranked) BOOST_TEST(once.insert(point.values()).second);
    }
}

BOOST_AUTO_TEST_CASE(points_that_are_the_same_on_the_device_are_tried_once_and_impossible_ones_never) {
    const auto e = family();
    // y is looked at in steps of 5 and cannot be above 10; x is not looked at.
    const auto device = [](const Point& p) -> std::optional<Point> {
        Point out = p;
        out.set("x", "1");
        const auto y = p.integer("y");
        if (y > 10) return std::nullopt;
        out.set("y", std::to_string((y + 4) / 5 * 5));
        return out;
    };
    const auto space = tune_space(selected(e, 0), {});
    std::vector<std::size_t> batches;
    const auto found = screen(space, device, measure(bowl, &batches), 1);
    BOOST_TEST(space.points() == 21.0 * 20);
    BOOST_TEST(found.exhaustive);
    BOOST_TEST(found.tried == 2u);
    BOOST_TEST(batches == (std::vector<std::size_t>{2}), boost::test_tools::per_element());
    // Of the points that are one, the default is named.
    BOOST_TEST((std::any_of(found.ranked.begin(), found.ranked.end(),
                            [&](const auto& r) { return r.first == space.initial; })));
}

BOOST_AUTO_TEST_CASE(a_large_space_of_few_different_points_asks_for_each_of_them_once_per_round) {
    const auto e = family();
    const auto space = tune_space(selected(e, 1), {});
    std::size_t asked_twice = 0;
    const auto found = screen(
        space,
        [](const Point& p) {
            Point out = p;
            if (p.is_auto("x") || p.integer("x") < 20) out.set("x", "1");
            return std::optional<Point>(out);
        },
        [&](const std::vector<Point>& points) {
            std::set<std::pair<std::string, std::string>> seen;
            std::vector<std::optional<double>> out;
            for (const auto& p : points) {
                const bool large = !p.is_auto("x") && p.integer("x") == 20;
                asked_twice += !seen.insert({p.text("y") + (large ? "l" : "s"), p.text("z")}).second;
                out.emplace_back(bowl(p));
            }
            return out;
        },
        1);
    BOOST_TEST(!found.exhaustive);
    BOOST_TEST(asked_twice == 0u);
}

BOOST_AUTO_TEST_CASE(the_default_is_always_among_the_points_tried) {
    const auto e = family();
    const auto space = tune_space(selected(e, 1), {});
    const auto found = screen(space, as_it_is, measure(bowl), 3);
    bool seen = false;
    for (const auto& [point, seconds] : found.ranked) seen = seen || point == space.initial;
    BOOST_TEST(seen);
}

BOOST_AUTO_TEST_CASE(points_without_a_time_are_passed_over) {
    const auto e = family();
    const auto space = tune_space(selected(e, 1), {});
    const auto odd_only = [](const std::vector<Point>& points) {
        std::vector<std::optional<double>> out;
        for (const auto& p : points) {
            if (p.is_auto("x") || p.integer("x") % 2 == 0)
                out.emplace_back();
            else
                out.emplace_back(bowl(p));
        }
        return out;
    };
    const auto found = screen(space, as_it_is, odd_only, 5);
    BOOST_TEST(found.ranked.size() < found.tried);
    BOOST_TEST(found.ranked.front().second <= 1.011);
    const auto nothing = [](const std::vector<Point>& points) {
        return std::vector<std::optional<double>>(points.size());
    };
    BOOST_TEST(screen(space, as_it_is, nothing, 5).ranked.empty());
}

BOOST_AUTO_TEST_CASE(the_candidates_of_every_family_are_legal_and_hold_its_default) {
    std::set<std::string> families;
    for (const auto& experiment : registry()) {
        for (const auto& axis : experiment.axes) {
            if (axis.tune.empty()) continue;
            families.insert(experiment.family);
            const auto values = expand_axis(axis, join(axis.tune, ","));
            BOOST_TEST(std::set<std::string>(values.begin(), values.end()).size() == values.size(),
                       experiment.family + " " + axis.name);
            if (axis.values.size() == 1)
                BOOST_TEST((std::find(values.begin(), values.end(), axis.values.front()) != values.end()),
                           experiment.family + " " + axis.name);
        }
    }
    for (const auto* family : {"himeno", "pitch", "saxpy", "gemm", "reduce", "pad", "nchw", "batchnorm", "bandwidth"})
        BOOST_TEST(families.count(family) == 1u, family);
}

BOOST_AUTO_TEST_SUITE_END()
