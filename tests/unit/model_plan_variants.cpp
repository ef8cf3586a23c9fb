// Axes that a variant sets for itself: a probe's family holds several sweeps.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "model/plan.hpp"

using namespace cllab::model;

namespace {

Experiment probe() {
    Experiment out;
    out.family = "fma";
    out.curve_over = "load";
    out.axes = {{.name = "load", .values = {"1"}}, {.name = "ilp", .values = {"1"}}};
    out.variants = {{.name = "latency"}, {.name = "chains", .axes = {{"ilp", "1,2"}}, .curve_over = "ilp"}, {.name = "twin"}};
    return out;
}

std::string plan_of(const std::vector<std::pair<std::string, std::string>>& overrides) {
    const std::vector<Experiment> all{probe()};
    std::string out;
    for (const auto& group : make_plan(select(all, {"fma"}), overrides)) {
        for (const auto& cell : group) out += cell.variant->name + ":" + cell.point.text("ilp") + (cell.label.empty() ? " " : "(" + cell.label + ") ");
        out += "| ";
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_plan_variants)

BOOST_AUTO_TEST_CASE(a_variant_sweeps_its_own_values_and_shares_a_group_where_the_point_is_the_same) {
    BOOST_TEST(plan_of({}) == "latency:1 chains:1(ilp=1) twin:1 | chains:2(ilp=2) | ");
}

BOOST_AUTO_TEST_CASE(the_command_line_wins_over_a_variants_own_values) {
    BOOST_TEST(plan_of({{"ilp", "4"}}) == "latency:4 chains:4 twin:4 | ");
}

BOOST_AUTO_TEST_CASE(a_variant_names_its_own_curve_or_inherits_the_familys) {
    const auto e = probe();
    BOOST_TEST(e.swept_axis(e.variants[0]) == "load");
    BOOST_TEST(e.swept_axis(e.variants[1]) == "ilp");
}

BOOST_AUTO_TEST_SUITE_END()
