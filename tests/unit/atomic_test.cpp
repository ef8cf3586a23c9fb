// atomic without a device: sums after additions one by one, and the check.
#include <boost/test/unit_test.hpp>

#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(atomic)

using namespace cllab;
using namespace cllab::test;

BOOST_AUTO_TEST_CASE(global_counters_count_every_addition) {
    for (const auto* counters : {"1", "32", "4096"}) {
        const auto setup = set_up("atomic_global", probe_gpu(), {{"counters", counters}});
        auto counter = argument<std::uint32_t>(setup, "counter");
        const std::uint32_t mask = argument<std::uint32_t>(setup, "counter_mask")[0];
        for (std::uint32_t trip = 0; trip < 37; ++trip)
            for (std::uint32_t item = 0; item < setup.global.count(); ++item)
                counter[(item + trip) & mask] += 1 + item % 3;
        require_right_and_watched(setup, "counter", counter, 37, counter.size() / 2);
    }
}

BOOST_AUTO_TEST_CASE(local_counters_count_every_addition_of_their_group) {
    const auto setup = set_up("atomic_local", probe_gpu(), {{"counters", "4"}});
    auto out = argument<std::uint32_t>(setup, "out");
    const auto lanes = setup.local.count(), groups = setup.global.count() / lanes;
    BOOST_REQUIRE_EQUAL(out.size(), groups * 4);
    std::fill(out.begin(), out.end(), 0);
    for (std::size_t group = 0; group < groups; ++group)
        for (std::uint32_t trip = 0; trip < 7; ++trip)
            for (std::uint32_t lane = 0; lane < lanes; ++lane) out[group * 4 + ((lane + trip) & 3)] += 1 + lane % 3;
    require_right_and_watched(setup, "out", out, 7, out.size() - 1);
}

BOOST_AUTO_TEST_CASE(chain_visits_the_counters_in_turn) {
    const auto setup = set_up("atomic_chain", probe_gpu(), {{"counters", "4"}});
    auto counter = argument<std::uint32_t>(setup, "counter");
    const auto key = argument<std::uint32_t>(setup, "key")[0];
    std::uint32_t rounds = 0;
    for (std::uint32_t trip = 0; trip < 11; ++trip) {
        const std::uint32_t expected = trip == 0 ? 0 : (trip - 1) >> argument<std::uint32_t>(setup, "counter_log2")[0];
        auto& at = counter[(trip + (rounds - expected)) & 3];
        rounds = at++ - key;
    }
    require_right_and_watched(setup, "counter", counter, 11, 3);
    BOOST_TEST(counter[0] == key + 3);
}

BOOST_AUTO_TEST_CASE(counters_are_a_power_of_two) {
    BOOST_CHECK_THROW(set_up("atomic_global", probe_gpu(), {{"counters", "3"}}), Error);
    BOOST_CHECK_THROW(set_up("atomic_local", probe_gpu(), {{"counters", "65536"}}), Unsupported);
    BOOST_CHECK_THROW(set_up("atomic_local", probe_cpu()), Unsupported);
}

BOOST_AUTO_TEST_CASE(the_conclusion_gives_rates_and_the_latency) {
    const auto found = concluded("atomic",
                                 {curve_of("global", {{1, 1e-9}, {32, 1e-10}, {4096, 1e-11}}),
                                  curve_of("chain", {{1, 400e-9}, {32, 250e-9}, {4096, 300e-9}})},
                                 probe_gpu());
    require_finding(found, "global atomics, one address", 1e9);
    require_finding(found, "global atomics, 32 addresses", 1e10);
    require_finding(found, "global atomics, 4096 addresses", 1e11);
    require_finding(found, "atomic latency", 300e-9);
    const auto latency = of_id(found, "latency");
    BOOST_TEST(latency.low <= 250e-9);
    BOOST_TEST(latency.high >= 400e-9);
}

BOOST_AUTO_TEST_CASE(one_disturbed_address_does_not_withhold_the_overall_latency) {
    auto chain = curve_of("chain", {{1, 6.9e-9}, {4, 6.6e-9}, {32, 6.1e-9}, {256, 6.5e-9}});
    const auto known_within = [&](double part) {
        for (auto& s : chain.samples) s.low = s.seconds * (1 - part), s.high = s.seconds * (1 + part);
    };
    const auto latency = [&] { return concluded("atomic", {chain}, probe_gpu()).front(); };
    known_within(0.02);
    chain.samples.front().low = 4.2e-9, chain.samples.front().high = 12.2e-9;
    BOOST_TEST(latency().low > 5.9e-9);
    BOOST_TEST(latency().high < 7.1e-9);
    known_within(0.5);
    BOOST_TEST(latency().high > 9e-9, "where most are disturbed the figure is");
}

BOOST_AUTO_TEST_SUITE_END()
