// Axes that a variant sets for itself: a probe's family holds several sweeps.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "model/plan.hpp"

BOOST_AUTO_TEST_SUITE(model_plan_variants)

using namespace cllab::model;

namespace {

Experiment probe() {
    Experiment out;
    out.family = "fma";
    out.curve_over = "load";
    out.axes = {{.name = "load", .values = {"1"}}, {.name = "ilp", .values = {"1"}}};
    out.variants = {
        {.name = "latency"}, {.name = "chains", .axes = {{"ilp", "1,2"}}, .curve_over = "ilp"}, {.name = "twin"}};
    return out;
}

std::string plan_of(const std::vector<std::pair<std::string, std::string>>& overrides, Points points = Points::all) {
    const std::vector<Experiment> all{probe()};
    std::string out;
    for (const auto& group : make_plan(select(all, {"fma"}), overrides, points)) {
        for (const auto& cell : group)
            out += cell.variant->name + ":" + cell.point.text("ilp") +
                   (cell.label.empty() ? " " : "(" + cell.label + ") ");
        out += "| ";
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(variant_sweeps_its_values_and_shares_groups_at_equal_points) {
    BOOST_TEST(plan_of({}) == "latency:1 chains:1(ilp=1) twin:1 | chains:2(ilp=2) | ");
}

BOOST_AUTO_TEST_CASE(command_line_overrides_the_values_of_a_variant) {
    BOOST_TEST(plan_of({{"ilp", "4"}}) == "latency:4 chains:4 twin:4 | ");
}

BOOST_AUTO_TEST_CASE(first_points_use_first_values_of_unset_axes_and_all_set_ones) {
    BOOST_TEST(plan_of({}, Points::first) == "latency:1 chains:1 twin:1 | ");
    BOOST_TEST(plan_of({{"ilp", "4,8"}}, Points::first) == plan_of({{"ilp", "4,8"}}));
    BOOST_TEST(plan_of({{"load", "3,5"}}, Points::first) ==
               "latency:1(load=3) chains:1(load=3) twin:1(load=3) | "
               "latency:1(load=5) chains:1(load=5) twin:1(load=5) | ");
}

BOOST_AUTO_TEST_CASE(variant_has_its_own_curve_or_inherits_that_of_the_family) {
    const auto e = probe();
    BOOST_TEST(e.swept_axis(e.variants[0]) == "load");
    BOOST_TEST(e.swept_axis(e.variants[1]) == "ilp");
}

/// Seconds that planning one axis of so many values takes at best.
double planning_seconds(std::size_t values) {
    Experiment e;
    e.family = "f";
    e.axes = {{.name = "a", .values = {"1"}}, {.name = "b", .values = {"1"}}};
    for (std::size_t i = 1; i < values / 100; ++i) e.axes[0].values.push_back(std::to_string(i + 1));
    for (std::size_t i = 1; i < 100; ++i) e.axes[1].values.push_back(std::to_string(i + 1));
    e.variants = {{.name = "v"}};
    const std::vector<Experiment> all{e};
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
        const auto start = std::chrono::steady_clock::now();
        BOOST_TEST(make_plan(select(all, {"f"}), {}).size() == values);
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

BOOST_AUTO_TEST_CASE(planning_time_does_not_grow_quadratically) {
    BOOST_TEST(planning_seconds(40'000) < 12 * planning_seconds(10'000));
}

BOOST_AUTO_TEST_CASE(excessive_number_of_points_is_refused) {
    const std::vector<Experiment> all{probe()};
    const auto refusal = [&](const std::string& load, const std::string& ilp) -> std::string {
        try {
            make_plan(select(all, {"fma"}), {{"load", load}, {"ilp", ilp}});
        } catch (const cllab::Error& e) {
            return e.what();
        }
        return {};
    };
    BOOST_TEST(refusal("1:200:+1", "1:100:+1") == "");
    BOOST_TEST(refusal("1:200:+1", "1:200:+1") ==
               "the selected variants have more than 100000 points together; give fewer values or variants");
    BOOST_TEST(refusal("1:1000:+1", "1:1000:+1") == "the axes make more than 100000 points together; give fewer values");
}

BOOST_AUTO_TEST_SUITE_END()
