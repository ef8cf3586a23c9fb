#include "model/search.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/grouped.hpp"
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
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const auto found = search(space, as_it_is, measured_by(bowl), seed);
        BOOST_TEST(!found.is_exhaustive());
        BOOST_TEST(found.tried == 300u);
        BOOST_TEST(found.ranked.size() == found.tried);
        BOOST_TEST(found.ranked.front().second <= 1.011);
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
    const auto model = search(space, as_it_is, measured_by(bowl), 1, 100, Strategy::model);
    BOOST_TEST(model.tried == 100u);
    BOOST_TEST(model.ranked.front().second <= 1.011);
    BOOST_TEST(search(space, as_it_is, measured_by(bowl), 1, 1000, Strategy::model).is_exhaustive());
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
    BOOST_TEST(!again.record_known(other, 1.0));
    for (const auto& point : *space.all)
        if (point.integer("x") > 5) BOOST_TEST(again.record_known(point, bowl(point)));
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

namespace {

double value(const Point& p, const char* axis) { return p.is_auto(axis) ? 1 : p.real(axis); }

/// x and y are best where their product is 64, larger z is slower, and x or y beyond 12 takes four times as long.
std::optional<double> tiles(const Point& p) {
    const double x = value(p, "x"), y = value(p, "y"), z = value(p, "z");
    const double area = std::fabs(std::log2(x * y / 64)), shape = std::fabs(std::log2(x / y) - 1);
    return (1 + area / 2 + shape / 4 + z / 20) * (x > 12 || y > 12 ? 4 : 1);
}

/// One value of each axis takes half the time; others differ by nothing.
std::optional<double> needle(const Point& p) {
    return (value(p, "x") == 13 ? 0.5 : 1) * (value(p, "y") == 7 ? 0.5 : 1) * (value(p, "z") == 3 ? 0.5 : 1);
}

/// Half of the points fail, and the faster a point, the nearer it is to those.
std::optional<double> failing(const Point& p) {
    const double x = value(p, "x"), y = value(p, "y"), z = value(p, "z");
    if (x + y > 16) return std::nullopt;
    return 2 - (x + y) / 17 + std::fabs(z - 9) / 10;
}

/// Of 30 searches with 100 of 4096 points, by the model and at random, those that end within `factor` of the fastest.
std::pair<std::size_t, std::size_t> good(std::optional<double> (*cost)(const Point&), double factor) {
    const auto e = family();
    const auto space = tune_space(selected(e, 1), {{"x", "1:16:+1"}, {"y", "1:16:+1"}, {"z", "1:16:+1"}});
    double fastest = 1e9;
    for (const auto& point : *space.all) fastest = std::min(fastest, cost(point).value_or(1e9));
    std::pair<std::size_t, std::size_t> out;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Search search(
            space, as_it_is, [&](const std::vector<Point>& points) { return mapped(points, cost); }, points(100),
            Strategy::automatic, seed);
        search.run();
        BOOST_TEST(search.tried() == 100u);
        out.first += search.best()->second <= factor * fastest;
        Random random(seed);
        bool is_lucky = false;
        for (int n = 0; n < 100; ++n) is_lucky |= cost(*drawn(space, random)).value_or(1e9) <= factor * fastest;
        out.second += is_lucky;
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(hundred_points_find_what_random_ones_do_not) {
    const auto [by_model, at_random] = good(tiles, 1.02);
    BOOST_TEST(by_model >= 27u);
    BOOST_TEST(at_random <= 10u);
}

BOOST_AUTO_TEST_CASE(fastest_point_is_found_beside_points_that_fail) {
    const auto [by_model, at_random] = good(failing, 1.02);
    BOOST_TEST(by_model >= 27u);
    BOOST_TEST(at_random <= 15u);
}

BOOST_AUTO_TEST_CASE(fast_value_of_each_axis_is_joined_to_one_point) {
    const auto [by_model, at_random] = good(needle, 1);
    BOOST_TEST(by_model >= 20u);
    BOOST_TEST(at_random <= 5u);
}

BOOST_AUTO_TEST_CASE(points_near_failed_ones_are_avoided) {
    const auto e = family();
    const auto space = tune_space(selected(e, 1), {});
    std::size_t failed = 0, first = 0;
    Search search(
        space, as_it_is,
        [&](const std::vector<Point>& points) {
            const auto out = mapped(points, failing);
            (first == 0 ? first : failed) += static_cast<std::size_t>(std::ranges::count(out, std::optional<double>()));
            return out;
        },
        points(100), Strategy::automatic, 1);
    search.run();
    BOOST_TEST(first > 25 / 2u);
    BOOST_TEST(failed < 75 / 3u);
}

BOOST_AUTO_TEST_CASE(search_goes_on_until_a_point_has_a_time) {
    const auto e = family();
    const auto space = tune_space(selected(e, 1), {});
    const auto rare = [](const std::vector<Point>& points) {
        return mapped(points, [](const Point& p) {
            return value(p, "x") == 13 && value(p, "z") < 9 ? std::optional(bowl(p)) : std::nullopt;
        });
    };
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto found = search(space, as_it_is, rare, seed);
        BOOST_TEST(found.tried == 300u);
        BOOST_TEST_REQUIRE(!found.ranked.empty());
        BOOST_TEST(found.ranked.front().second <= 1.011);
    }
}

BOOST_AUTO_TEST_CASE(seed_decides_the_order) {
    const auto e = family();
    const auto space = tune_space(selected(e, 1), {});
    const auto order = [&](std::uint64_t seed) {
        std::vector<std::string> out;
        search(
            space, as_it_is,
            [&](const std::vector<Point>& points) {
                for (const auto& p : points) out.push_back(p.text("x") + " " + p.text("y") + " " + p.text("z"));
                return measured_by(bowl)(points);
            },
            seed, 100);
        return out;
    };
    const auto once = order(1);
    BOOST_TEST(once == order(1), boost::test_tools::per_element());
    BOOST_TEST((once != order(2)));
}

BOOST_AUTO_TEST_CASE(known_points_replace_the_random_ones) {
    const auto e = family();
    const auto space = tune_space(selected(e, 1), {});
    std::vector<std::size_t> batches;
    Search again(space, as_it_is, measured_by(bowl, &batches), points(24), Strategy::model, 1);
    Random random(5);
    for (int n = 0; n < 60; ++n) {
        const auto point = *drawn(space, random);
        again.record_known(point, bowl(point));
    }
    again.run();
    BOOST_TEST(batches.front() == 9u);  // and the fastest that is known, beside them
    BOOST_TEST(again.best()->second <= 1.05);
}

BOOST_AUTO_TEST_SUITE_END()
