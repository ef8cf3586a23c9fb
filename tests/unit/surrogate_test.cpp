#include "model/surrogate.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(surrogate_test)

using namespace cllab::model;

namespace {

/// Where each value of an axis is placed, in order.
std::vector<Place> placed(const std::vector<std::string>& values) {
    Axis axis, fixed;
    axis.name = "a";
    axis.values = values;
    fixed.name = "fixed";
    fixed.values = {"7"};
    const Placing placing({fixed, axis});
    std::vector<Place> out;
    for (const auto& value : values) {
        Point point;
        point.set("fixed", "7");
        point.set("a", value);
        out.push_back(placing(point));
    }
    return out;
}

/// The squares from 0 to 1, `count` to the side.
std::vector<Place> grid(std::size_t count) {
    const auto at = [&](std::size_t i) { return static_cast<double>(i) / static_cast<double>(count - 1); };
    std::vector<Place> out;
    for (std::size_t x = 0; x < count; ++x)
        for (std::size_t y = 0; y < count; ++y) out.push_back({at(x), at(y)});
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(numbers_are_placed_by_their_logarithm) {
    const auto places = placed({"1", "3", "7", "15"});
    for (std::size_t n = 0; n < places.size(); ++n) {
        BOOST_TEST_REQUIRE(places[n].size() == 1u);  // nothing of the axis with one value
        BOOST_TEST(places[n][0] == static_cast<double>(n) / 3, boost::test_tools::tolerance(1e-12));
    }
    const auto sides = placed({"-1", "0", "1"});
    BOOST_TEST(sides[1][0] == 0.5);
}

BOOST_AUTO_TEST_CASE(shape_has_a_coordinate_for_each_extent) {
    const auto places = placed({"64x4", "64x8", "128x4", "64", "64x1"});
    for (const auto& place : places) BOOST_TEST_REQUIRE(place.size() == 2u);
    BOOST_TEST(places[0][0] == places[1][0]);
    BOOST_TEST(places[0][1] == places[2][1]);
    BOOST_TEST(places[0][0] < places[2][0]);
    BOOST_TEST(places[0][1] < places[1][1]);
    BOOST_TEST(places[3] == places[4], boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(words_are_apart_from_each_other_and_from_numbers) {
    const auto words = placed({"none", "-cl-mad-enable", "-DX=4"});
    BOOST_TEST(std::set<Place>(words.begin(), words.end()).size() == 3u);
    const auto both = placed({"auto", "1", "2"});
    BOOST_TEST(std::set<Place>(both.begin(), both.end()).size() == 3u);
}

BOOST_AUTO_TEST_CASE(most_promising_point_lies_between_the_fastest) {
    Surrogate surrogate;
    const auto seconds = [](const Place& p) { return std::exp(3 * std::fabs(p[0] - 0.5) + std::fabs(p[1] - 0.25)); };
    std::vector<Surrogate::Timed> timed;
    for (const auto& place : grid(4)) timed.emplace_back(place, seconds(place));
    for (int step = 0; step < 3; ++step) surrogate.learn(timed);
    const auto candidates = grid(9);
    const auto first = candidates[surrogate.promising(candidates, 1).front()];
    BOOST_TEST(first[0] == 0.5);
    BOOST_TEST(std::fabs(first[1] - 0.25) < 0.2);
    const auto all = surrogate.promising(candidates, candidates.size());
    BOOST_TEST(std::set<std::size_t>(all.begin(), all.end()).size() == candidates.size());
}

BOOST_AUTO_TEST_CASE(failed_points_are_as_slow_as_the_slowest) {
    // All points with x = 1 failed; of the others, those near them are faster.
    std::vector<Surrogate::Timed> timed;
    std::vector<Place> candidates;
    for (int i = 0; i <= 20; ++i)
        for (int x = 0; x <= 1; ++x) {
            const double y = i / 20.0;
            if (i % 2)
                candidates.push_back({static_cast<double>(x), y});
            else
                timed.emplace_back(Place{static_cast<double>(x), y}, x ? std::nullopt : std::optional(2 - y));
        }
    Surrogate surrogate;
    surrogate.learn(timed);
    for (const auto index : surrogate.promising(candidates, 5)) BOOST_TEST(candidates[index][0] == 0);
}

BOOST_AUTO_TEST_CASE(points_chosen_together_are_not_neighbours) {
    // The gap on the left promises more; alone, its points would be the best three.
    Surrogate surrogate;
    surrogate.learn({{{0.0}, 1.0}, {{0.5}, 1.0}, {{1.0}, 1.2}, {{1.1}, 3.0}});
    const std::vector<Place> candidates{{0.25}, {0.2501}, {0.2502}, {0.75}};
    const auto chosen = surrogate.promising(candidates, 2);
    BOOST_TEST_REQUIRE(chosen.size() == 2u);
    BOOST_TEST(chosen[0] < 3u);
    BOOST_TEST(chosen[1] == 3u);
}

BOOST_AUTO_TEST_CASE(coordinate_without_effect_counts_little) {
    // The time depends on x only: a point with the x of the fastest, far from it in y, is nothing new.
    std::vector<Surrogate::Timed> timed;
    for (const auto& place : grid(6))
        if (place[1] < 0.5) timed.emplace_back(place, std::exp(3 * std::fabs(place[0] - 0.5)));
    Surrogate surrogate;
    for (int step = 0; step < 4; ++step) surrogate.learn(timed);
    BOOST_TEST(surrogate.promising({{0.4, 1}, {0.5, 0.1}}, 1).front() == 1u);
}

BOOST_AUTO_TEST_CASE(equal_times_leave_different_points) {
    std::vector<Surrogate::Timed> timed;
    for (const auto& place : grid(3)) timed.emplace_back(place, 1.0);
    Surrogate surrogate;
    for (int step = 0; step < 3; ++step) surrogate.learn(timed);
    const auto chosen = surrogate.promising(grid(8), 20);
    BOOST_TEST(std::set<std::size_t>(chosen.begin(), chosen.end()).size() == 20u);
    BOOST_TEST(surrogate.promising(grid(2), 20).size() == 4u);
}

BOOST_AUTO_TEST_CASE(of_many_points_the_fastest_are_learnt) {
    std::vector<Surrogate::Timed> timed;
    for (const auto& place : grid(30)) timed.emplace_back(place, 1 + place[0] + place[1]);
    Surrogate surrogate;
    surrogate.learn(timed);
    const std::vector<Place> candidates{{1, 0.99}, {0.5, 0.5}, {0.01, 0.02}};
    BOOST_TEST(surrogate.promising(candidates, 1).front() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
