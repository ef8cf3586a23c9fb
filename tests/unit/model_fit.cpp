#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "experiments/lib/fit.hpp"
#include "unit/noise.hpp"

BOOST_AUTO_TEST_SUITE(model_fit)

using namespace cllab;
using namespace cllab::model;
using test::Noise;
namespace tt = boost::test_tools;
using Doubles = std::vector<double>;

namespace {

Doubles geometric(double first, double last, double factor) {
    Doubles x;
    for (double v = first; v < last * 1.0001; v *= factor) x.push_back(v);
    return x;
}

struct Level {
    double latency, capacity;
};

/// Mean latency of a random chase over levels of random replacement: a share capacity / size still hits. `spread`
/// delays the end of the transition: the excess beyond the capacity counts 1 / spread.
double chase(double size, const std::vector<Level>& levels, double spread) {
    double latency = levels.back().latency;
    for (std::size_t i = levels.size() - 1; i-- > 0;) {
        const double miss = std::clamp((size / levels[i].capacity - 1) / (spread - 1), 0.0, 1.0);
        latency = levels[i].latency * (1 - miss) + latency * miss;
    }
    return latency;
}

}  // namespace

// --- Line ------------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(line_fit_survives_20_percent_outliers) {
    Doubles x, y;
    Noise noise(1, 0.01, 0);
    for (int i = 1; i <= 50; ++i) {
        x.push_back(i);
        y.push_back(noise(5 + 0.25 * i) * (i % 5 == 0 ? 10 : 1));
    }
    const auto line = fit_line(x, y).value();
    BOOST_TEST(line.slope.value == 0.25, tt::tolerance(0.03));
    BOOST_TEST(line.intercept.value == 5.0, tt::tolerance(0.03));
    BOOST_TEST((line.slope.low < 0.25 && 0.25 < line.slope.high));
    BOOST_TEST((line.intercept.low < 5 && 5 < line.intercept.high));
}

BOOST_AUTO_TEST_CASE(an_exact_line_has_a_point_interval_and_no_residual) {
    const auto line = fit_line(Doubles{4, 1, 2, 3}, Doubles{9, 3, 5, 7}).value();
    BOOST_TEST(line.slope.value == 2);
    BOOST_TEST(line.slope.low == 2);
    BOOST_TEST(line.slope.high == 2);
    BOOST_TEST(line.intercept.value == 1);
}

BOOST_AUTO_TEST_CASE(sen_interval_has_the_ranks_of_his_formula) {
    // n = 5 points, 10 slopes: 1.96 * sqrt(5 * 4 * 15 / 18) = 8.001, so ranks floor((10 - 8.001) / 2) and ceil((10
    // + 8.001) / 2).
    const Doubles x{0, 1, 2, 3, 4}, y{0, 1, 4, 9, 16};  // slopes 1 2 3 3 4 4 5 5 6 7
    const auto line = fit_line(x, y).value();
    BOOST_TEST(line.slope.value == 4);
    BOOST_TEST(line.slope.low == 1);   // the smallest: floor(0.99) = 0
    BOOST_TEST(line.slope.high == 7);  // ceil(9.001) = 10, clamped to the last
}

BOOST_AUTO_TEST_CASE(no_line_fits_a_single_x) {
    BOOST_TEST(!fit_line(Doubles{2, 2, 2}, Doubles{1, 2, 3}).has_value());
    BOOST_TEST(!fit_line(Doubles{}, Doubles{}).has_value());
    BOOST_TEST(!fit_line(Doubles{1, 2}, Doubles{1, std::numeric_limits<double>::quiet_NaN()}).has_value());
}

// --- Plateaus --------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(cache_levels_are_found_in_a_noisy_curve_with_spikes) {
    // Shaped like a large GPU: 256 KiB at 20 ns, 24 MiB at 140 ns, memory at 500 ns; swept in 4 % steps.
    const std::vector<Level> levels{{20, 256 << 10}, {140, 24 << 20}, {500, 0}};
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Noise noise(seed, 0.02, 25);
        const auto x = geometric(2048, 512 << 20, 1.04);
        Doubles y;
        for (const double size : x) y.push_back(noise(chase(size, levels, 1.5)));
        const auto found = find_plateaus(x, y);
        BOOST_REQUIRE_MESSAGE(found.levels.size() == 3u, "seed " << seed << ": " << found.levels.size() << " levels");
        for (std::size_t i = 0; i < 3; ++i) {
            const auto& p = found.levels[i];
            BOOST_TEST(p.value.value == levels[i].latency, tt::tolerance(0.02));
            BOOST_TEST((p.value.low <= p.value.value && p.value.value <= p.value.high));
            BOOST_TEST(p.open == (i == 2));
            if (p.open) continue;
            BOOST_TEST(p.capacity.value > levels[i].capacity / 1.09);  // two steps of the sweep
            BOOST_TEST(p.capacity.value < levels[i].capacity * 1.05);
            BOOST_TEST(p.capacity.high == p.capacity.value * 1.04, tt::tolerance(1e-9));
        }
        BOOST_TEST(found.residual < 0.025);
    }
}

BOOST_AUTO_TEST_CASE(capacity_is_the_last_size_within_5_percent) {
    const Doubles x{1, 2, 3, 4, 5, 6, 7, 8, 12}, y{10, 10, 10, 10, 10.4, 10.6, 30, 30, 30};
    const auto levels = find_plateaus(x, y).levels;
    BOOST_REQUIRE(levels.size() == 2u);
    BOOST_TEST(levels[0].capacity.value == 5);
    BOOST_TEST(levels[0].capacity.high == 6);
    BOOST_TEST(levels[0].points == 5u);
    BOOST_TEST(levels[1].first_x == 7);
}

BOOST_AUTO_TEST_CASE(powers_of_two_are_enough_points) {
    Doubles x, y;
    for (int k = 0; k < 15; ++k) x.push_back(std::ldexp(2048, k)), y.push_back(k <= 4 ? 1.2 : k <= 9 ? 3.5 : 80);
    const auto levels = find_plateaus(x, y).levels;
    BOOST_REQUIRE(levels.size() == 3u);
    BOOST_TEST(levels[0].capacity.value == 32 << 10);
    BOOST_TEST(levels[0].capacity.high == 64 << 10);
    BOOST_TEST(levels[1].capacity.value == 1 << 20);
}

BOOST_AUTO_TEST_CASE(an_even_slope_has_no_plateau) {
    const auto x = geometric(1024, 1 << 28, 1.04);
    for (const double power : {0.15, 0.4, 1.0}) {
        Doubles y;
        for (const double size : x) y.push_back(std::pow(size, power));
        BOOST_TEST(find_plateaus(x, y).levels.empty(), power);
    }
}

BOOST_AUTO_TEST_CASE(scattered_points_are_no_plateau) {
    // Seen on a host with other load: order in the small sizes, a factor of two of scatter beyond.
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Noise calm(seed, 0.01, 0), wild(seed + 100, 0.4, 0);
        const auto x = geometric(2048, 64 << 20, 1.06);
        Doubles y;
        for (const double size : x) y.push_back(size <= 32 << 10 ? calm(1.6) : wild(300));
        const auto levels = find_plateaus(x, y).levels;
        BOOST_TEST(levels.size() == 1u);
        BOOST_TEST(levels.at(0).value.value == 1.6, tt::tolerance(0.01));
        BOOST_TEST(!levels.at(0).open);
    }
}

BOOST_AUTO_TEST_CASE(step_smaller_than_the_band_is_one_level) {
    const auto x = geometric(1024, 1 << 20, 1.1);
    Doubles y;
    for (const double size : x) y.push_back(size <= 32 << 10 ? 4.04 : 4.40);
    BOOST_TEST(find_plateaus(x, y).levels.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_flat_curve_is_one_open_plateau) {
    Noise noise(3, 0.03, 20);
    const auto x = geometric(1024, 1 << 24, 1.1);
    Doubles y;
    for (std::size_t i = 0; i < x.size(); ++i) y.push_back(noise(7));
    const auto levels = find_plateaus(x, y).levels;
    BOOST_REQUIRE(levels.size() == 1u);
    BOOST_TEST(levels[0].open);
    BOOST_TEST(levels[0].value.value == 7, tt::tolerance(0.02));
    BOOST_TEST(find_plateaus(Doubles{}, Doubles{}).levels.empty());
}

BOOST_AUTO_TEST_CASE(levels_before_an_endless_slope_are_found) {
    // As measured on a server core: 1.16, 3.5, 12 ns, then 50 rising to 150 ns without an end.
    const auto x = geometric(2048, 512 << 20, 1.04);
    Noise noise(9, 0.01, 30);
    Doubles y;
    for (const double size : x) {
        const double memory = 50 * std::pow(std::max(1.0, size / (40 << 20)), 0.43);
        y.push_back(noise(chase(size, {{1.16, 32 << 10}, {3.5, 512 << 10}, {12, 16 << 20}, {memory, 0}}, 2)));
    }
    const auto levels = find_plateaus(x, y).levels;
    BOOST_REQUIRE(levels.size() == 3u);
    BOOST_TEST(levels[0].value.value == 1.16, tt::tolerance(0.02));
    BOOST_TEST(levels[2].value.value == 12, tt::tolerance(0.02));
    BOOST_TEST(!levels[2].open);
}

// --- Step ------------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(the_knee_of_a_width_probe_is_the_last_point_before_the_drop) {
    Doubles x, y;
    Noise noise(4, 0.02, 0);
    for (int g = 1; g <= 1024; g *= 2) x.push_back(g), y.push_back(noise(g < 32 ? 2 : 1));
    const auto step = fit_step(x, y).value();
    BOOST_TEST(step.position.value == 16);
    BOOST_TEST(step.position.high == 32);
    BOOST_TEST(step.before == 2, tt::tolerance(0.02));
    BOOST_TEST(step.after == 1, tt::tolerance(0.02));
}

BOOST_AUTO_TEST_CASE(a_flat_curve_has_no_step) {
    // PoCL: 4.74 to 4.76 ms for g = 1..512.
    BOOST_TEST(!fit_step(Doubles{1, 2, 4, 8, 16, 32}, Doubles{4.74, 4.75, 4.76, 4.74, 4.75, 4.76}).has_value());
    BOOST_TEST(!fit_step(Doubles{1, 2, 4, 8}, Doubles{5, 5, 5, 5}).has_value());
    BOOST_TEST(!fit_step(Doubles{1}, Doubles{5}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
