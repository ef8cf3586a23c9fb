// What the counts of a device show in times: compute units, dispatch rates, banks of local memory, cache lines.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "experiments/lib/fit.hpp"
#include "unit/noise.hpp"

BOOST_AUTO_TEST_SUITE(model_fit_units)

using namespace cllab;
using namespace cllab::model;
using test::Noise;
namespace tt = boost::test_tools;
using Doubles = std::vector<double>;

namespace {

BankCase lanes(unsigned count, unsigned stride_words, double time) {
    BankCase c;
    c.time = time;
    for (unsigned lane = 0; lane < count; ++lane) c.byte_addresses.push_back(lane * stride_words * 4);
    return c;
}

}  // namespace

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
    BOOST_TEST(s.residual < 0.01);
}

BOOST_AUTO_TEST_CASE(line_from_the_origin_is_one_unit_and_other_lines_none) {
    BOOST_TEST(fit_staircase(Doubles{1, 2, 3, 4}, Doubles{10.1, 20, 30.2, 40}).value().period.value == 1);
    BOOST_TEST(!fit_staircase(Doubles{1, 2, 3, 4}, Doubles{110, 120, 130, 140}).has_value());
}

BOOST_AUTO_TEST_CASE(many_units_are_counted_despite_noise_spikes_and_overhead) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Noise noise(seed, 0.01, 20);
        Doubles groups, seconds;
        for (int g = 1; g <= 396; ++g)
            groups.push_back(g), seconds.push_back(noise(20e-6 + 1e-3 * std::ceil(g / 132.0)));
        const auto s = fit_staircase(groups, seconds).value();
        BOOST_TEST(s.period.value == 132);
    }
}

BOOST_AUTO_TEST_CASE(sparse_group_counts_give_an_interval_of_periods) {
    const auto s =
        fit_staircase(Doubles{16, 32, 48, 64, 80, 96, 112, 128, 144}, Doubles{1, 1, 1, 1, 2, 2, 2, 2, 3}).value();
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

BOOST_AUTO_TEST_CASE(rx_6600_rates_are_recovered_from_28_noisy_rows) {
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

BOOST_AUTO_TEST_CASE(powers_of_two_leave_the_wave_width_open) {
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

BOOST_AUTO_TEST_CASE(slots_count_distinct_words_of_the_worst_bank_per_pass) {
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

BOOST_AUTO_TEST_CASE(ada_table_is_53_cycles_plus_two_per_further_way) {
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

BOOST_AUTO_TEST_CASE(vega_table_is_one_cycle_per_slot_of_32_banks) {
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

BOOST_AUTO_TEST_CASE(every_bank_geometry_is_recovered_from_all_strides_with_noise) {
    for (const auto& [banks, bytes] :
         std::vector<std::pair<unsigned, unsigned>>{{16, 4}, {32, 4}, {64, 4}, {16, 8}, {32, 8}, {64, 8}}) {
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

BOOST_AUTO_TEST_SUITE_END()
