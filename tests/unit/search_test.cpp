#include "model/search.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "unit/tuned_family.hpp"

BOOST_AUTO_TEST_SUITE(search_test)

using namespace cllab;
using namespace cllab::test::tuned;

BOOST_AUTO_TEST_CASE(constraints_exclude_points_and_move_the_default) {
    auto e = family();
    e.constraints["plain"] = {whole_multiples()};
    const auto space = tune_space(selected(e, 0), {});
    BOOST_TEST_REQUIRE(space.all.has_value());
    std::size_t pairs = 0;
    for (int x = 1; x <= 20; ++x)
        for (int y = 1; y <= x; ++y) pairs += x % y == 0;
    BOOST_TEST(space.all->size() == pairs);
    BOOST_TEST(!space.has_default);  // x is auto
    BOOST_TEST(space.has(space.initial));
    BOOST_TEST(tune_space(selected(e, 1), {}).has_default);
    const auto found = search(space, as_it_is, measured_by(bowl), 1);
    BOOST_TEST(found.is_exhaustive());
    BOOST_TEST(found.tried == pairs);
    for (const auto& [point, seconds] : found.ranked) BOOST_TEST(space.has(point));
}

BOOST_AUTO_TEST_CASE(unlisted_large_space_is_searched_within_its_constraints) {
    auto e = family();
    for (auto& axis : e.axes)
        if (!axis.tune.empty()) axis.tune = {"1:100:+1"};
    e.constraints["wide"] = {{"'where x > y'", {"x", "y"}, [](const Point& p) { return p.real("x") > p.real("y"); }}};
    const auto space = tune_space(selected(e, 1), {{"x", "1:100:+1"}});
    BOOST_TEST(!space.all);
    const auto found = search(space, as_it_is, measured_by(bowl), 1);
    BOOST_TEST(!found.possible);
    BOOST_TEST(found.tried == 300u);
    for (const auto& [point, seconds] : found.ranked) BOOST_TEST(point.real("x") > point.real("y"));
    BOOST_TEST(found.ranked.front().second < 1.5);
}

BOOST_AUTO_TEST_CASE(all_points_are_tried_next_to_the_fastest_if_time_permits) {
    const auto e = family();
    const auto space = tune_space(selected(e, 0), {{"x", "1:15:+1"}});
    std::vector<std::size_t> batches;
    const auto found = search(space, as_it_is, measured_by(bowl, &batches), 1);
    BOOST_TEST(batches.front() == most_beside);
    for (std::size_t n = 1; n + 1 < batches.size(); ++n) BOOST_TEST(batches[n] == most_beside + 1);
    BOOST_TEST(found.is_exhaustive());
    BOOST_TEST(found.tried == 300u);
    BOOST_TEST(found.ranked.size() == 300u);
    BOOST_TEST(found.ranked.front().first.text("x") == "13");
    BOOST_TEST(found.ranked.front().first.text("y") == "7");
    for (std::size_t n = 1; n < found.ranked.size(); ++n)
        BOOST_TEST(found.ranked[n - 1].second <= found.ranked[n].second);
}

BOOST_AUTO_TEST_CASE(slow_batch_makes_none_of_its_points_slow) {
    const auto e = family();
    const auto space = tune_space(selected(e, 0), {{"x", "1:15:+1"}});
    int batch = 0;
    const auto found = search(
        space, as_it_is,
        [&](const std::vector<Point>& all) {
            const double load = ++batch % 2 ? 1 : 3;
            std::vector<std::optional<double>> out;
            for (const auto& p : all) out.emplace_back(load * bowl(p));
            return out;
        },
        1);
    BOOST_TEST(found.ranked.front().first.text("x") == "13");
    BOOST_TEST(found.ranked.front().first.text("y") == "7");
    for (const auto& [point, seconds] : found.ranked) BOOST_TEST(std::fabs(seconds - bowl(point)) < 1e-9);
}

BOOST_AUTO_TEST_CASE(search_of_a_large_space_finds_the_minimum_with_few_points) {
    const auto e = family();
    const auto space = tune_space(selected(e, 1), {});
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const auto found = search(space, as_it_is, measured_by(bowl), seed);
        BOOST_TEST(!found.is_exhaustive());
        BOOST_TEST(found.tried == 300u);
        BOOST_TEST(found.ranked.size() == found.tried);
        BOOST_TEST(found.ranked.front().second <= 1.011);  // an axis moves only for 1 %
        std::set<std::vector<std::pair<std::string, std::string>>> once;
        for (const auto& [point, seconds] : found.ranked) BOOST_TEST(once.insert(point.values()).second);
    }
}

BOOST_AUTO_TEST_CASE(each_strategy_matches_its_name) {
    const auto e = family();
    const auto space = tune_space(selected(e, 0), {});  // 420 points
    const auto all = search(space, as_it_is, measured_by(bowl), 1, 1000, Strategy::all);
    BOOST_TEST(all.is_exhaustive());
    BOOST_TEST(search(space, as_it_is, measured_by(bowl), 1, 100, Strategy::all).tried == 100u);
    BOOST_TEST(search(space, as_it_is, measured_by(bowl), 1, 100, Strategy::random).tried == 100u);
    const auto local = search(space, as_it_is, measured_by(bowl), 1, 100, Strategy::local);
    BOOST_TEST(local.tried == 100u);
    BOOST_TEST(local.ranked.front().second <= 1.011);
    // A local search goes on where an automatic one has tried all there is time for.
    BOOST_TEST(search(space, as_it_is, measured_by(bowl), 1, 1000, Strategy::local).is_exhaustive());
}

BOOST_AUTO_TEST_CASE(known_points_are_not_measured_again) {
    const auto e = family();
    const auto space = tune_space(selected(e, 0), {{"x", "1:15:+1"}});
    std::set<std::string> asked;
    Search again(
        space, as_it_is,
        [&](const std::vector<Point>& all) {
            std::vector<std::optional<double>> out;
            for (const auto& p : all) asked.insert(p.text("x") + " " + p.text("y")), out.emplace_back(10 * bowl(p));
            return out;
        },
        points(300), Strategy::automatic, 1);
    auto other = space.initial;
    other.set("x", "77");
    BOOST_TEST(!again.know(other, 1.0));
    for (const auto& point : *space.all)
        if (point.integer("x") > 5) BOOST_TEST(again.know(point, bowl(point)));
    again.run();
    const auto found = again.found();
    BOOST_TEST(found.is_exhaustive());
    BOOST_TEST(found.known == 200u);
    BOOST_TEST(asked.size() == 101u);  // and the fastest that is known, beside them
    BOOST_TEST(found.ranked.front().first.text("x") == "13");
    for (const auto& [point, seconds] : found.ranked) BOOST_TEST(std::fabs(seconds - bowl(point)) < 1e-9);
}

BOOST_AUTO_TEST_CASE(interrupted_search_keeps_earlier_results) {
    const auto e = family();
    const auto space = tune_space(selected(e, 0), {{"x", "1:15:+1"}});
    int batch = 0;
    Search cut(
        space, as_it_is,
        [&](const std::vector<Point>& all) {
            if (++batch == 3) throw std::runtime_error("Ctrl-C");
            return measured_by(bowl)(all);
        },
        points(300), Strategy::automatic, 1);
    BOOST_CHECK_THROW(cut.run(), std::runtime_error);
    BOOST_TEST(cut.found().tried == 2 * most_beside);
    BOOST_TEST(cut.best()->second == cut.found().ranked.front().second);
}

BOOST_AUTO_TEST_CASE(equal_points_are_tried_once_and_impossible_ones_never) {
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
    const auto found = search(space, device, measured_by(bowl, &batches), 1);
    BOOST_TEST(points_of(space.axes) == 21.0 * 20);
    BOOST_TEST(found.is_exhaustive());
    BOOST_TEST(found.tried == 2u);
    BOOST_TEST(batches == (std::vector<std::size_t>{2}), boost::test_tools::per_element());
    // Of the points that are one, the default is named.
    BOOST_TEST((std::any_of(found.ranked.begin(), found.ranked.end(),
                            [&](const auto& r) { return r.first == space.initial; })));
}

BOOST_AUTO_TEST_CASE(large_space_of_few_points_measures_each_once_per_round) {
    const auto e = family();
    const auto space = tune_space(selected(e, 1), {});
    std::size_t asked_twice = 0;
    const auto found = search(
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
    BOOST_TEST(!found.is_exhaustive());
    BOOST_TEST(asked_twice == 0u);
}

BOOST_AUTO_TEST_CASE(default_is_always_among_the_tried_points) {
    const auto e = family();
    const auto space = tune_space(selected(e, 1), {});
    const auto found = search(space, as_it_is, measured_by(bowl), 3);
    bool seen = false;
    for (const auto& [point, seconds] : found.ranked) seen = seen || point == space.initial;
    BOOST_TEST(seen);
}

BOOST_AUTO_TEST_CASE(points_without_a_time_are_skipped) {
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
    const auto found = search(space, as_it_is, odd_only, 5);
    BOOST_TEST(found.ranked.size() < found.tried);
    BOOST_TEST(found.ranked.front().second <= 1.011);
    const auto nothing = [](const std::vector<Point>& points) {
        return std::vector<std::optional<double>>(points.size());
    };
    BOOST_TEST(search(space, as_it_is, nothing, 5).ranked.empty());
}

BOOST_AUTO_TEST_SUITE_END()
