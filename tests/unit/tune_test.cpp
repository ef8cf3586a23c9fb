#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "model/registry.hpp"
#include "model/search.hpp"
#include "unit/tuned_family.hpp"

BOOST_AUTO_TEST_SUITE(tuning)

using namespace cllab;
using namespace cllab::test::tuned;

BOOST_AUTO_TEST_CASE(space_has_the_axes_that_the_variant_uses) {
    const auto e = family();
    const auto plain = tune_space(selected(e, 0), {}), wide = tune_space(selected(e, 1), {});
    BOOST_TEST(plain.tuned == (std::vector<std::string>{"x", "y"}), boost::test_tools::per_element());
    BOOST_TEST(points_of(plain.axes) == 21.0 * 20);
    BOOST_TEST(points_of(wide.axes) == 21.0 * 20 * 20);
    BOOST_TEST(plain.initial.text("x") == "auto");
    BOOST_TEST(plain.initial.text("y") == "4");
}

BOOST_AUTO_TEST_CASE(command_line_sets_candidates_and_values) {
    const auto e = family();
    const auto space = tune_space(selected(e, 0), {{"x", "2,3"}, {"size", "128"}});
    BOOST_TEST(points_of(space.axes) == 2.0 * 20);
    BOOST_TEST(space.initial.text("x") == "2");
    BOOST_TEST(space.initial.text("size") == "128");
    const auto fixed = tune_space(selected(e, 0), {{"x", "5"}});
    BOOST_TEST(fixed.tuned == (std::vector<std::string>{"y"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(untunable_space_has_a_clear_error) {
    auto e = family();
    BOOST_TEST(refusal(e, {{"size", "1,2"}}) ==
               "axis 'size' has 2 values, but `cllab tune` takes one; choose it with --axis size=VALUE (the axes it "
               "tunes are x, y)");
    BOOST_TEST(refusal(e, {{"z", "1,2"}}) == "'f_plain' has no axis 'z'; its axes are size, x, y");
    BOOST_TEST(refusal(e, {{"x", "1"}, {"y", "1"}}) ==
               "every axis of 'f_plain' is fixed to one value; the axes to tune are x, y");
    BOOST_TEST(refusal(e, {{"warp", "1"}}) == "'f_plain' has no axis 'warp'; its axes are size, x, y");
    for (auto& axis : e.axes) axis.tune.clear();
    BOOST_TEST(refusal(e, {}) == "'f_plain' has no launch parameter to tune: every axis affects the result");
}

BOOST_AUTO_TEST_CASE(constraints_that_exclude_all_points_give_one_sentence) {
    auto e = family();
    e.constraints["plain"] = {whole_multiples()};
    BOOST_TEST(
        refusal(e, {{"x", "3,5"}, {"y", "2,4"}}) ==
        "no points left: 'where x % y == 0' excludes all 4 points; --axis NAME=VALUES gives an axis other values");
}

BOOST_AUTO_TEST_CASE(candidates_of_every_family_are_legal_and_include_the_default) {
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
