#include <boost/test/unit_test.hpp>
#include <cmath>

#include "core/random.hpp"
#include "run/measure.hpp"

BOOST_AUTO_TEST_SUITE(measure)

using namespace cllab::run;

BOOST_AUTO_TEST_CASE(a_sample_of_short_kernels_lasts_100_us) {
    BOOST_TEST(operations_per_sample(1e-6, 1e-9, 0, 0, {}) == 100u);
}

BOOST_AUTO_TEST_CASE(a_coarse_timer_asks_for_200_of_its_steps) {
    BOOST_TEST(operations_per_sample(10e-6, 1e-6, 0, 0, {}) == 20u);
}

BOOST_AUTO_TEST_CASE(a_sample_lasts_at_least_20_empty_launches) {
    BOOST_TEST(operations_per_sample(10e-6, 0, 5e-5, 0, {}) == 100u);
}

BOOST_AUTO_TEST_CASE(event_takes_at_most_a_200th_of_the_sample_it_times) {
    BOOST_TEST(operations_per_sample(100e-6, 0, 5e-6, 6e-6, {}) == 12u);
}

BOOST_AUTO_TEST_CASE(long_kernel_is_one_sample_and_samples_stay_below_100_ms) {
    BOOST_TEST(operations_per_sample(3.0, 1e-9, 1e-6, 0, {}) == 1u);
    BOOST_TEST(operations_per_sample(60e-3, 1e-3, 0, 0, {}) == 1u);
}

BOOST_AUTO_TEST_CASE(two_agreeing_windows_are_settled_and_a_drift_is_not) {
    std::vector<double> flat(16, 1.0), drift;
    for (int i = 0; i < 16; ++i) drift.push_back(1.0 - 0.01 * i);
    BOOST_TEST(settled(flat, {}));
    BOOST_TEST(!settled(drift, {}));
    BOOST_TEST(!settled(std::vector<double>(15, 1.0), {}));
}

BOOST_AUTO_TEST_CASE(quiet_samples_stop_at_the_first_check_as_precise) {
    StopRule rule{{}};
    std::vector<double> samples;
    unsigned n = 0;
    do samples.push_back(1.0 + 1e-4 * (samples.size() % 3));
    while (!rule.enough(samples, 0.001) && ++n < 1000);
    BOOST_TEST(samples.size() == 20u);
    BOOST_TEST(rule.reason() == "precise");
}

BOOST_AUTO_TEST_CASE(noise_that_more_samples_do_not_reduce_stops_as_noise_floor) {
    StopRule rule{{}};
    std::vector<double> samples;
    // Two modes, equally often: the interval of the median spans both however many samples there are.
    do samples.push_back(samples.size() % 2 ? 1.0 : 1.5);
    while (!rule.enough(samples, 0.001) && samples.size() < 1000);
    BOOST_TEST(rule.reason() == "noise-floor");
    BOOST_TEST(samples.size() == 40u);
}

BOOST_AUTO_TEST_CASE(narrowing_interval_is_sampled_up_to_the_cap) {
    StopRule rule{{}};
    std::vector<double> samples;
    // Evenly spread over 40 %: twice as many narrow the interval by 0.7, and 320 are not enough for 1 %.
    do samples.push_back(1 + 0.4 * std::fmod(0.6180339887 * static_cast<double>(samples.size()), 1.0));
    while (!rule.enough(samples, 0.001) && samples.size() < 1000);
    BOOST_TEST(rule.reason() == "cap");
    BOOST_TEST(samples.size() == 320u);
}

BOOST_AUTO_TEST_CASE(the_time_cap_ends_sampling_with_at_least_six_samples) {
    StopRule rule{{}};
    std::vector<double> samples;
    do samples.push_back(1.0 + 0.1 * (samples.size() % 2));
    while (!rule.enough(samples, 0.9) && samples.size() < 1000);
    BOOST_TEST(samples.size() == 6u);
    BOOST_TEST(rule.reason() == "timeout");
}

BOOST_AUTO_TEST_CASE(very_long_kernels_end_with_three_samples) {
    StopRule rule{{}};
    std::vector<double> samples;
    do samples.push_back(2.0 + 0.2 * (samples.size() % 2));
    while (!rule.enough(samples, 2.0 * samples.size()) && samples.size() < 1000);
    BOOST_TEST(samples.size() == 3u);
}

BOOST_AUTO_TEST_CASE(time_of_zero_is_impossible_unless_work_may_be_free) {
    const auto around = [](double middle) {
        return to_timing(std::vector<double>{middle - 1e-9, middle, middle + 1e-9});
    };
    BOOST_TEST((plausible(around(-1e-12), false) == Plausible::no));
    BOOST_TEST((plausible(around(0), false) == Plausible::no));
    BOOST_TEST((plausible(around(-1e-12), true) == Plausible::nothing));
    BOOST_TEST((plausible(around(1e-12), true) == Plausible::nothing));
    // Its whole interval below zero: a launch that costs 0.3 us more or less than its neighbours, on a busy machine.
    BOOST_TEST((plausible(around(-2e-9), true) == Plausible::nothing));
    BOOST_TEST((plausible(around(2e-9), true) == Plausible::yes));
    BOOST_TEST((plausible(to_timing(std::vector<double>{NAN, NAN}), true) == Plausible::no));
    cllab::model::Record record;
    record.status = cllab::model::Status::wrong_result;
    record.reason = std::string(implausible_step) + "-1.00e-14 s";
    BOOST_TEST(is_below_noise(record));
    record.reason = "out[0] is 3, expected 4";
    BOOST_TEST(!is_below_noise(record));
}

BOOST_AUTO_TEST_CASE(times_on_a_line_pass_and_others_report_their_distance) {
    const std::vector<double> low{1, 1.01, 1}, high{3, 3.02, 3};
    BOOST_TEST(!not_linear(low, std::vector<double>{2, 2.01, 2.05}, high, false).has_value());
    BOOST_TEST(!not_linear(low, std::vector<double>{2.08, 2.09, 2.08}, high, false).has_value());
    BOOST_TEST(not_linear(low, std::vector<double>{2.12, 2.13, 2.12}, high, false).has_value());
    BOOST_TEST(not_linear(low, std::vector<double>{2.3, 2.31, 2.3}, high, false)
                   .value_or("")
                   .find("15 % of their difference above") != std::string::npos);
    BOOST_TEST(not_linear(low, std::vector<double>{1.7, 1.71, 1.7}, high, false).value_or("").find("below the line") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(noise_does_not_count_against_a_line) {
    const std::vector<double> low{1, 1, 1}, high{3, 3, 3};
    BOOST_TEST(!not_linear(low, std::vector<double>{2.5, 2.4, 2.0}, high, false).has_value());
    const std::vector<double> disturbed{9, 1, 1, 1, 1}, middle{2, 2, 2, 2, 2}, three{3, 3, 3, 3, 3};
    BOOST_TEST(!not_linear(disturbed, middle, three, false).has_value());
}

BOOST_AUTO_TEST_CASE(a_time_that_does_not_grow_is_no_work_unless_it_may_be_free) {
    const std::vector<double> flat{1, 1.01, 0.99}, also{1.01, 0.99, 1};
    BOOST_TEST(not_linear(flat, flat, also, false).value_or("") ==
               "the time does not grow with the trip count beyond the noise");
    BOOST_TEST(!not_linear(flat, flat, also, true).has_value());
}

namespace {
/// `n` times around `seconds`, off by up to `noise` of them.
std::vector<double> times(double seconds, double noise, std::size_t n, std::uint64_t seed) {
    cllab::Random random(seed);
    std::vector<double> out;
    for (std::size_t i = 0; i < n; ++i)
        out.push_back(seconds * (1 + noise * (static_cast<double>(random.below(2001)) / 1000 - 1)));
    return out;
}
}  // namespace

BOOST_AUTO_TEST_CASE(data_that_takes_a_tenth_longer_is_detected) {
    using Answer = std::optional<bool>;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const auto original = times(1e-3, 0.02, 6, seed), same = times(1e-3, 0.02, 6, seed + 100),
                   shorter = times(1e-3 / 1.1, 0.02, 6, seed + 200), longer = times(1.1e-3, 0.02, 6, seed + 300);
        BOOST_TEST((same_time(original, same, false) == Answer(true)));
        BOOST_TEST((same_time(original, shorter, false) == Answer(false)));
        BOOST_TEST((same_time(original, longer, false) == Answer(false)));
    }
}

BOOST_AUTO_TEST_CASE(three_rounds_detect_a_kernel_without_remaining_work) {
    BOOST_TEST((same_time(times(20e-3, 0.2, 3, 1), times(36e-6, 0.2, 3, 2), false) == std::optional(false)));
    BOOST_TEST((same_time(times(20e-3, 0.2, 2, 1), times(36e-6, 0.2, 2, 2), false) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(noise_is_not_taken_for_a_difference_of_data) {
    unsigned differ = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const auto known = same_time(times(1e-3, 0.3, 32, seed), times(1e-3, 0.3, 32, seed + 1000), true);
        BOOST_TEST_REQUIRE(known.has_value());
        differ += *known ? 0 : 1;
    }
    BOOST_TEST(differ <= 10u);
}

BOOST_AUTO_TEST_CASE(cell_waiting_for_cores_ends_at_the_timeout_or_cap) {
    for (const double spent_at_the_end : {0.001, 0.5}) {
        StopRule rule{{}};
        std::vector<double> samples;
        do samples.push_back(1.0);
        while (!rule.enough(samples, samples.size() < 1000 ? 0.001 : spent_at_the_end, [] { return false; }) &&
               samples.size() < 10000);
        BOOST_TEST(samples.size() == (spent_at_the_end > 0.4 ? 1000u : 5120u));
        BOOST_TEST(rule.reason() == (spent_at_the_end > 0.4 ? "timeout" : "cap"));
    }
}

BOOST_AUTO_TEST_CASE(returning_cores_end_the_wait) {
    StopRule rule{{}};
    std::vector<double> samples;
    do samples.push_back(1.0);
    while (!rule.enough(samples, 0.001, [&] { return samples.size() > 50; }) && samples.size() < 10000);
    BOOST_TEST(samples.size() == 80u);
    BOOST_TEST(rule.reason() == "precise");
}

BOOST_AUTO_TEST_SUITE_END()
