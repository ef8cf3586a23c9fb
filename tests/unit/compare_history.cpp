#include <boost/test/unit_test.hpp>
#include <cmath>
#include <span>
#include <vector>

#include "compare/level_changes.hpp"
#include "core/random.hpp"
#include "unit/noise.hpp"

BOOST_AUTO_TEST_SUITE(regressions)

using namespace cllab;
using namespace cllab::compare;
using namespace cllab::test;
using boost::test_tools::tolerance;

BOOST_AUTO_TEST_SUITE(compare_history)

BOOST_AUTO_TEST_CASE(a_level_that_lasts_is_found_where_it_begins_and_one_slow_run_is_not) {
    Random random(53);
    auto logs = sample(random, 60, normal(-8, 0.01));
    for (std::size_t i = 37; i < logs.size(); ++i) logs[i] += 0.06;
    logs[12] += 0.8;
    const auto found = levels(logs);
    BOOST_REQUIRE(found.size() == 2u);
    BOOST_TEST(found[1].first >= 36u);
    BOOST_TEST(found[1].first <= 38u);
    BOOST_TEST(found[1].centre - found[0].centre == 0.06, tolerance(0.15));
    BOOST_TEST(!found[1].provisional);
}

BOOST_AUTO_TEST_CASE(a_series_without_a_change_seldom_gets_one) {
    Random random(59);
    unsigned wrong = 0;
    for (unsigned i = 0; i < 200; ++i)
        wrong += levels(sample(random, 10 + 2 * (i % 40), i % 2 ? normal(0, 0.02) : heavy(0, 0.02))).size() > 1;
    BOOST_TEST(wrong <= 10u);
}

BOOST_AUTO_TEST_CASE(what_begins_in_the_last_three_points_is_provisional) {
    std::vector<double> logs(20, 0.0);
    for (std::size_t i = 0; i < logs.size(); ++i) logs[i] = 0.001 * static_cast<double>(i * 7 % 5);
    for (std::size_t i = 17; i < 20; ++i) logs[i] += 0.2;
    const auto found = levels(logs);
    BOOST_REQUIRE(found.size() == 2u);
    BOOST_TEST(found[1].first == 17u);
    BOOST_TEST(found[1].provisional);
    const auto sooner = levels(std::span(logs).first(19));
    BOOST_TEST((sooner.size() == 1u || sooner.back().provisional));
}

BOOST_AUTO_TEST_CASE(a_change_smaller_than_what_is_worth_naming_is_none_and_short_series_have_one_level) {
    std::vector<double> logs(40, 0.0);
    for (std::size_t i = 20; i < 40; ++i) logs[i] = 0.005;
    BOOST_TEST(levels(logs).size() == 1u);
    BOOST_TEST(levels(std::vector<double>{1, 2, 3, 4, 5}).size() == 1u);
    BOOST_TEST(levels({}).empty());
}

BOOST_AUTO_TEST_CASE(up_and_down_again_are_two_changes_and_each_is_where_it_began) {
    Random random(61);
    auto logs = sample(random, 90, normal(0, 0.02));
    for (std::size_t i = 30; i < 60; ++i) logs[i] += 0.15;
    const auto found = levels(logs);
    BOOST_REQUIRE(found.size() == 3u);
    BOOST_TEST(found[1].first == 30u);
    BOOST_TEST(found[2].first == 60u);
    BOOST_TEST(found[1].centre - found[0].centre == 0.15, tolerance(0.15));
    BOOST_TEST(std::abs(found[2].centre - found[0].centre) < 0.02);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()
