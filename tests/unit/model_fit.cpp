#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.hpp"
#include "model/fit.hpp"

BOOST_AUTO_TEST_SUITE(model_fit)

using namespace cllab;
using namespace cllab::model;
namespace tt = boost::test_tools;
using Doubles = std::vector<double>;

namespace {

/// Relative noise as a benchmark has it: uniform +-`width`, and one point in `spike_every` slowed by up to 3x (0: none).
class Noise {
public:
    Noise(std::uint64_t seed, double width, unsigned spike_every) : random_(seed), width_(width), spike_every_(spike_every) {}
    double operator()(double value) {
        value *= 1 + width_ * random_.real(-1, 1);
        if (spike_every_ && random_.below(spike_every_) == 0) value *= 1 + 2 * random_.real(0, 1);
        return value;
    }

private:
    Random random_;
    double width_;
    unsigned spike_every_;
};

Doubles geometric(double first, double last, double factor) {
    Doubles x;
    for (double v = first; v < last * 1.0001; v *= factor) x.push_back(v);
    return x;
}

struct Level {
    double latency, capacity;
};

/// Mean latency of a random chase over levels of random replacement: a share capacity / size still hits. `spread` delays
/// the end of the transition: the excess beyond the capacity counts 1 / spread.
double chase(double size, const std::vector<Level>& levels, double spread) {
    double latency = levels.back().latency;
    for (std::size_t i = levels.size() - 1; i-- > 0;) {
        const double miss = std::clamp((size / levels[i].capacity - 1) / (spread - 1), 0.0, 1.0);
        latency = levels[i].latency * (1 - miss) + latency * miss;
    }
    return latency;
}

BankCase lanes(unsigned count, unsigned stride_words, double time) {
    BankCase c;
    c.time = time;
    for (unsigned lane = 0; lane < count; ++lane) c.byte_addresses.push_back(lane * stride_words * 4);
    return c;
}

}  // namespace

// --- Line ------------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_line_survives_a_fifth_of_wild_points) {
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
    BOOST_TEST(line.residual < 0.3);
}

BOOST_AUTO_TEST_CASE(an_exact_line_has_a_point_interval_and_no_residual) {
    const auto line = fit_line(Doubles{4, 1, 2, 3}, Doubles{9, 3, 5, 7}).value();
    BOOST_TEST(line.slope.value == 2);
    BOOST_TEST(line.slope.low == 2);
    BOOST_TEST(line.slope.high == 2);
    BOOST_TEST(line.intercept.value == 1);
    BOOST_TEST(line.residual == 0);
}

BOOST_AUTO_TEST_CASE(sens_interval_has_the_ranks_of_his_formula) {
    // n = 5 points, 10 slopes: 1.96 * sqrt(5 * 4 * 15 / 18) = 8.001, so ranks floor((10 - 8.001) / 2) and ceil((10 + 8.001) / 2).
    const Doubles x{0, 1, 2, 3, 4}, y{0, 1, 4, 9, 16};  // slopes 1 2 3 3 4 4 5 5 6 7
    const auto line = fit_line(x, y).value();
    BOOST_TEST(line.slope.value == 4);
    BOOST_TEST(line.slope.low == 1);   // the smallest: floor(0.99) = 0
    BOOST_TEST(line.slope.high == 7);  // ceil(9.001) = 10, clamped to the last
}

BOOST_AUTO_TEST_CASE(no_line_goes_through_one_x) {
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
            BOOST_TEST(p.transition > 1.3);
            BOOST_TEST(p.transition < 1.75);
        }
        BOOST_TEST(found.residual < 0.025);
        BOOST_TEST(found.covered > 0.85);
    }
}

BOOST_AUTO_TEST_CASE(a_sharp_transition_is_told_from_a_drawn_out_one) {
    const auto x = geometric(4096, 64 << 20, 1.04);
    const auto width = [&](double spread) {
        Doubles y;
        for (const double size : x) y.push_back(chase(size, {{10, 1 << 20}, {100, 0}}, spread));
        const auto levels = find_plateaus(x, y).levels;
        BOOST_REQUIRE(levels.size() == 2u);
        BOOST_TEST(!levels[0].open);
        return levels[0].transition;
    };
    BOOST_TEST(width(1.001) < 1.05);
    BOOST_TEST(width(4) > 3);
}

BOOST_AUTO_TEST_CASE(the_capacity_is_the_last_size_within_five_percent) {
    const Doubles x{1, 2, 3, 4, 5, 6, 7, 8, 12}, y{10, 10, 10, 10, 10.4, 10.6, 30, 30, 30};
    const auto levels = find_plateaus(x, y, {.least_span = 1.5}).levels;
    BOOST_REQUIRE(levels.size() == 2u);
    BOOST_TEST(levels[0].capacity.value == 5);
    BOOST_TEST(levels[0].capacity.high == 6);
    BOOST_TEST(levels[0].points == 5u);
    BOOST_TEST(levels[1].first_x == 7);
    BOOST_TEST(levels[0].transition == 1.4, tt::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(powers_of_two_are_enough_points) {
    Doubles x, y;
    for (int k = 0; k < 15; ++k) x.push_back(std::ldexp(2048, k)), y.push_back(k <= 4 ? 1.2 : k <= 9 ? 3.5 : 80);
    const auto levels = find_plateaus(x, y).levels;
    BOOST_REQUIRE(levels.size() == 3u);
    BOOST_TEST(levels[0].capacity.value == 32 << 10);
    BOOST_TEST(levels[0].capacity.high == 64 << 10);
    BOOST_TEST(levels[1].capacity.value == 1 << 20);
    BOOST_TEST(levels[1].transition == 2);
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

BOOST_AUTO_TEST_CASE(a_level_that_steps_by_less_than_the_band_is_one_level) {
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
    BOOST_TEST(levels[0].transition == 0);
    BOOST_TEST(find_plateaus(Doubles{}, Doubles{}).levels.empty());
}

BOOST_AUTO_TEST_CASE(levels_before_a_slope_that_never_ends_are_found_and_the_slope_is_not) {
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

// --- Staircase -------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(vega_has_64_compute_units) {
    // 10.630..10.963 ms for 1..64 groups, 21.376 ms at 65.
    Doubles groups, ms;
    for (int g = 1; g <= 64; ++g) groups.push_back(g), ms.push_back(10.630 + 0.333 * (g - 1) / 63);
    groups.push_back(65), ms.push_back(21.376);
    const auto s = fit_staircase(groups, ms).value();
    BOOST_TEST(s.period.value == 64);
    BOOST_TEST(s.period.low == 64);
    BOOST_TEST(s.period.high == 64);
    BOOST_TEST(s.residual < 0.02);
}

BOOST_AUTO_TEST_CASE(two_threads_are_two_compute_units) {
    const auto s = fit_staircase(Doubles{1, 2, 3, 4, 5, 6}, Doubles{155, 157, 308, 308, 462, 463}).value();
    BOOST_TEST(s.period.value == 2);
    BOOST_TEST(s.step == 154, tt::tolerance(0.02));
    BOOST_TEST(s.residual < 0.01);
}

BOOST_AUTO_TEST_CASE(one_compute_unit_is_a_line_from_the_origin_and_other_lines_are_nothing) {
    BOOST_TEST(fit_staircase(Doubles{1, 2, 3, 4}, Doubles{10.1, 20, 30.2, 40}).value().period.value == 1);
    BOOST_TEST(!fit_staircase(Doubles{1, 2, 3, 4}, Doubles{110, 120, 130, 140}).has_value());
}

BOOST_AUTO_TEST_CASE(many_units_are_counted_under_noise_spikes_and_launch_overhead) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Noise noise(seed, 0.01, 20);
        Doubles groups, seconds;
        for (int g = 1; g <= 396; ++g) groups.push_back(g), seconds.push_back(noise(20e-6 + 1e-3 * std::ceil(g / 132.0)));
        const auto s = fit_staircase(groups, seconds).value();
        BOOST_TEST(s.period.value == 132);
        BOOST_TEST(s.step == 1e-3, tt::tolerance(0.02));
    }
}

BOOST_AUTO_TEST_CASE(sparse_group_counts_give_an_interval_of_periods) {
    const auto s = fit_staircase(Doubles{16, 32, 48, 64, 80, 96, 112, 128, 144}, Doubles{1, 1, 1, 1, 2, 2, 2, 2, 3}).value();
    BOOST_TEST(s.period.low == 64);  // 64 in one round, 128 in two, 144 not
    BOOST_TEST(s.period.high == 71);
}

BOOST_AUTO_TEST_CASE(a_curve_without_a_step_has_no_period) {
    Doubles groups, flat;
    Noise noise(2, 0.02, 0);
    for (int g = 1; g <= 40; ++g) groups.push_back(g), flat.push_back(noise(3));
    BOOST_TEST(!fit_staircase(groups, flat).has_value());
    BOOST_TEST(!fit_staircase(Doubles{1, 2}, Doubles{1, 2}).has_value());
}

// --- Dispatch --------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(published_vega_rows_give_a_quarter_group_one_wave_of_64) {
    // Work-items per clock as published for powers of two (0.25 B up to 64), squares and cubes.
    const Doubles size{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 17 * 17, 18 * 18, 19 * 19, 20 * 20, 21 * 21, 24 * 24, 32 * 32, 216, 343, 512};
    const Doubles rate{0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 64, 64, 58, 54, 60, 57, 63, 64, 64, 54, 57, 64};
    const auto d = fit_dispatch(size, rate).value();
    BOOST_TEST(d.width == 64u);
    BOOST_TEST(d.widths == std::vector<unsigned>{64}, tt::per_element());
    BOOST_TEST(d.group_rate.value == 0.25, tt::tolerance(0.01));
    BOOST_TEST(d.wave_rate.value().value == 1.0, tt::tolerance(0.01));
    BOOST_TEST(d.residual < 0.005);
}

BOOST_AUTO_TEST_CASE(a_card_with_the_rx_6600_rates_is_recovered_from_28_noisy_rows) {
    Doubles size, rate;
    Noise noise(6, 0.005, 14);
    for (int i = 1; i <= 28; ++i) {
        const double b = i <= 11 ? std::ldexp(1, i - 1) : (i - 3) * (i - 3);
        size.push_back(b);
        rate.push_back(noise(std::min(0.996 * b, 1.3245 * b / std::ceil(b / 32))));
    }
    const auto d = fit_dispatch(size, rate).value();
    BOOST_TEST(d.width == 32u);
    BOOST_TEST(d.group_rate.value == 0.996, tt::tolerance(0.005));
    BOOST_TEST(d.wave_rate.value().value == 1.3245, tt::tolerance(0.005));
    BOOST_TEST((d.wave_rate->low <= 1.3245 && 1.3245 <= d.wave_rate->high));
}

BOOST_AUTO_TEST_CASE(powers_of_two_leave_the_wave_width_open_and_say_so) {
    const Doubles size{16, 32, 64, 128, 256, 512, 1024}, rate{4, 8, 16, 32, 64, 64, 64};
    const auto d = fit_dispatch(size, rate).value();
    BOOST_TEST(d.widths.size() > 1u);
    BOOST_TEST(d.group_rate.value == 0.25);
}

BOOST_AUTO_TEST_CASE(a_device_limited_by_groups_alone_has_no_wave_rate) {
    // PoCL: about 3 ns per group whatever its size.
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Doubles size, rate;
        Noise noise(seed, 0.03, 0);
        for (int b = 1; b <= 4096; b *= 2) size.push_back(b), rate.push_back(noise(b / 3.0));
        const auto d = fit_dispatch(size, rate).value();
        BOOST_TEST(!d.wave_rate.has_value());
        BOOST_TEST(d.width == 0u);
        BOOST_TEST(d.group_rate.value == 1 / 3.0, tt::tolerance(0.03));
    }
    BOOST_TEST(!fit_dispatch(Doubles{1, 2}, Doubles{1, 2}).has_value());
}

// --- Banks -----------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(slots_count_distinct_words_of_the_worst_bank_in_each_pass) {
    BOOST_TEST(bank_slots(lanes(32, 1, 0).byte_addresses, 32, 4) == 1u);
    BOOST_TEST(bank_slots(lanes(32, 2, 0).byte_addresses, 32, 4) == 2u);
    BOOST_TEST(bank_slots(lanes(32, 3, 0).byte_addresses, 32, 4) == 1u);
    BOOST_TEST(bank_slots(lanes(32, 32, 0).byte_addresses, 32, 4) == 32u);
    BOOST_TEST(bank_slots(lanes(32, 33, 0).byte_addresses, 32, 4) == 1u);  // padding by one word
    BOOST_TEST(bank_slots(lanes(32, 0, 0).byte_addresses, 32, 4) == 1u);   // broadcast
    BOOST_TEST(bank_slots(lanes(64, 2, 0).byte_addresses, 32, 4) == 4u);   // two halves of a wave of 64
    BOOST_TEST(bank_slots(lanes(64, 1, 0).byte_addresses, 32, 4, 64) == 2u);
    BOOST_TEST(bank_slots(lanes(32, 3, 0).byte_addresses, 16, 8) == 2u);
}

BOOST_AUTO_TEST_CASE(the_ada_table_is_53_cycles_and_two_for_each_further_way) {
    std::vector<BankCase> cases;
    const double cycles[]{53, 55, 59, 67, 83, 115};
    for (unsigned k = 0; k < 6; ++k) cases.push_back(lanes(32, 1u << k, cycles[k]));
    const auto b = fit_banks(cases).value();
    BOOST_TEST(b.banks == 32u);
    BOOST_TEST(b.bank_bytes == 4u);
    BOOST_TEST(b.base == 53, tt::tolerance(1e-3));
    BOOST_TEST(b.per_slot == 2, tt::tolerance(1e-3));
    BOOST_TEST(b.residual < 1e-3);
    // Power-of-two strides fit 16 banks of 8 bytes exactly as well.
    BOOST_TEST((b.alternatives == std::vector<std::pair<unsigned, unsigned>>{{16, 8}}));
}

BOOST_AUTO_TEST_CASE(the_vega_table_is_one_cycle_for_each_slot_of_32_banks) {
    std::vector<BankCase> cases;
    const double cycles[]{87, 90, 87, 93, 87, 87, 85, 99};
    for (unsigned stride = 1; stride <= 8; ++stride) cases.push_back(lanes(64, stride, cycles[stride - 1]));
    cases.push_back(lanes(64, 16, 115));
    const auto b = fit_banks(cases).value();
    BOOST_TEST(b.banks == 32u);
    BOOST_TEST(b.bank_bytes == 4u);
    BOOST_TEST(b.per_slot == 1, tt::tolerance(0.1));
    BOOST_TEST(std::abs(b.base - 86) < 1.5);
    BOOST_TEST(b.residual * b.base < 2.4);
}

BOOST_AUTO_TEST_CASE(every_bank_geometry_is_recovered_from_all_strides_under_noise) {
    for (const auto& [banks, bytes] : std::vector<std::pair<unsigned, unsigned>>{{16, 4}, {32, 4}, {64, 4}, {16, 8}, {32, 8}, {64, 8}}) {
        Noise noise(banks + bytes, 0.01, 20);
        std::vector<BankCase> cases;
        for (unsigned stride = 0; stride <= 64; ++stride) {
            auto c = lanes(32, stride, 0);
            c.time = noise(40 + 2.0 * (bank_slots(c.byte_addresses, banks, bytes) - 1));
            cases.push_back(c);
        }
        const auto b = fit_banks(cases).value();
        BOOST_TEST(b.banks == banks);
        BOOST_TEST(b.bank_bytes == bytes);
        BOOST_TEST(b.per_slot == 2, tt::tolerance(0.03));
        BOOST_TEST(b.alternatives.empty());
    }
}

BOOST_AUTO_TEST_CASE(memory_without_banks_has_no_bank_model) {
    // PoCL: 46 ns for every stride.
    std::vector<BankCase> cases;
    Noise noise(5, 0.02, 0);
    for (unsigned stride = 1; stride <= 32; ++stride) cases.push_back(lanes(64, stride, noise(46)));
    BOOST_TEST(!fit_banks(cases).has_value());
    BOOST_TEST(!fit_banks({}).has_value());
}

// --- Line size -------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(the_published_strides_give_a_line_of_64_bytes) {
    const auto line = fit_line_size(Doubles{16, 32, 64, 128, 256}, Doubles{361, 476, 682, 681, 706}).value();
    BOOST_TEST(line.line_bytes == 64u);
    BOOST_TEST(line.hit == 239, tt::tolerance(0.1));
    BOOST_TEST(line.miss == 682, tt::tolerance(0.04));
    BOOST_TEST(line.residual < 0.04);
    BOOST_TEST(!fit_line_size(Doubles{16, 32, 64, 128}, Doubles{100, 101, 100, 101}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
