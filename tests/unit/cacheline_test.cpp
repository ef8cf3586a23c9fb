// cacheline without a device: the chase of pairs, its check, and the sizes that curves yield.
#include <boost/test/unit_test.hpp>

#include "experiments/lib/fit.hpp"
#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(cacheline)

using namespace cllab;
using namespace cllab::test;
using model::granules;

BOOST_AUTO_TEST_CASE(the_chase_ends_on_the_home_that_its_visits_lead_to) {
    const auto setup =
        set_up("cacheline_pair", probe_gpu(), {{"distance", "40"}, {"offset", "64"}, {"footprint", "8192"}});
    const auto slot = argument<std::uint32_t>(setup, "slot");
    std::map<std::uint64_t, std::uint64_t> next;
    for (std::size_t i = 0; i < slot.size(); ++i) {
        const auto home = [&](std::size_t visit) { return slot[visit % slot.size()] * 128ull + 64; };
        BOOST_TEST(next.emplace(home(i), home(i) + 40).second, "two links in one word");
        BOOST_TEST(next.emplace(home(i) + 40, home(i + 1)).second, "two links in one word");
    }
    auto state = argument<std::uint64_t>(setup, "state");
    for (int load = 0; load < 2 * 8 * 3; ++load) state[0] = next.at(state[0]);
    require_right_and_watched(setup, "state", state, 3, 0);
    state[0] = next.at(state[0]);
    BOOST_TEST(verdict(setup, "state", state, 3) != "", "a chase one load too far passed");
}

BOOST_AUTO_TEST_CASE(lone_chase_makes_one_load_per_visit) {
    const auto setup = set_up("cacheline_lone", probe_gpu(), {{"footprint", "8192"}});
    const auto slot = argument<std::uint32_t>(setup, "slot");
    auto state = argument<std::uint64_t>(setup, "state");
    state[0] = slot[8 * 3] * 128ull;
    require_right_and_watched(setup, "state", state, 3, 0);
}

BOOST_AUTO_TEST_CASE(noise_is_no_jump) {
    const std::vector<double> distance{8, 24, 40, 72}, second{1.0, 3.5, -0.5, 2.9};
    BOOST_TEST(granules(distance, second, 4).empty());
    BOOST_TEST(granules({}, {}, 4).empty());
}

BOOST_AUTO_TEST_CASE(the_conclusion_subtracts_the_lone_miss) {
    const Axes fixed{{"offset", "0"}, {"footprint", "8388608"}};
    // Everything was slower at 24: a drift, which both took part in.
    const auto found =
        concluded("cacheline",
                  {curve_of("pair", {{8, 620e-9}, {24, 680e-9}, {40, 750e-9}, {72, 750e-9}, {136, 1200e-9}}, fixed),
                   curve_of("lone", {{8, 600e-9}, {24, 660e-9}, {40, 600e-9}, {72, 600e-9}, {136, 600e-9}}, fixed)},
                  probe_gpu());
    require_finding(found, "latency of one cache miss", 600e-9);
    require_finding(found, "cache sector", 32);
    require_finding(found, "cache line", 128);
}

BOOST_AUTO_TEST_CASE(first_jump_on_a_cpu_is_the_line_and_later_ones_prefetch) {
    const Axes fixed{{"offset", "0"}, {"footprint", "134217728"}};
    const auto found = concluded(
        "cacheline",
        {curve_of("pair", {{8, 151e-9}, {24, 152e-9}, {40, 151e-9}, {72, 190e-9}, {136, 191e-9}, {264, 300e-9}}, fixed),
         curve_of("lone", {{8, 150e-9}, {24, 150e-9}, {40, 150e-9}, {72, 150e-9}, {136, 150e-9}, {264, 150e-9}},
                  fixed)},
        probe_cpu());
    require_finding(found, "cache line", 64);
    require_finding(found, "cache fetch", 256);
    for (const auto& finding : found)
        if (finding.name == "latency of one cache miss") BOOST_TEST(says(finding.how, "in 128 MiB"));
}

BOOST_AUTO_TEST_CASE(line_is_withheld_when_no_distance_costs_more) {
    // Nanoseconds of an EPYC beside a neighbour.
    const Axes fixed{{"offset", "0"}, {"footprint", "67108864"}};
    const auto found = concluded(
        "cacheline",
        {curve_of("pair", {{8, 206e-9}, {24, 194e-9}, {40, 189e-9}, {72, 186e-9}, {136, 191e-9}, {264, 192e-9}}, fixed),
         curve_of("lone", {{8, 180e-9}, {24, 180e-9}, {40, 174e-9}, {72, 175e-9}, {136, 172e-9}, {264, 170e-9}},
                  fixed)},
        probe_cpu());
    BOOST_TEST(found.size() == 2u);
    BOOST_TEST(found.back().id == "line");
    BOOST_TEST(found.back().withheld.find("a second load costs no more at any distance") == 0u);
}

BOOST_AUTO_TEST_CASE(jump_away_from_the_reported_cpu_line_is_not_the_line) {
    const Axes fixed{{"offset", "0"}, {"footprint", "67108864"}};
    auto device = probe_cpu();
    device.cacheline_bytes = 64;
    const auto found = concluded(
        "cacheline",
        {curve_of("pair", {{8, 181e-9}, {24, 181e-9}, {40, 181e-9}, {72, 182e-9}, {136, 182e-9}, {264, 212e-9}}, fixed),
         curve_of("lone", {{8, 180e-9}, {24, 180e-9}, {40, 180e-9}, {72, 180e-9}, {136, 180e-9}, {264, 180e-9}},
                  fixed)},
        device);
    BOOST_TEST(found.size() == 2u);
    BOOST_TEST(found.back().withheld.find("a second load costs more from 256 B on, and the driver says 64 B") == 0u,
               found.back().withheld);
}

BOOST_AUTO_TEST_CASE(distances_that_touch_other_pairs_are_refused) {
    BOOST_CHECK_THROW(set_up("cacheline_pair", probe_gpu(), {{"distance", "256"}}), Error);
    BOOST_CHECK_THROW(set_up("cacheline_pair", probe_gpu(), {{"distance", "12"}}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
