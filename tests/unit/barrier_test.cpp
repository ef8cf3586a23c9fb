// barrier without a device: results pass by pass, and the check.
#include <boost/test/unit_test.hpp>

#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(barrier)

using namespace cllab;
using namespace cllab::test;

BOOST_AUTO_TEST_CASE(exchange_passes_values_to_the_neighbour) {
    const auto setup = set_up("barrier_exchange", probe_gpu(), {{"group", "32"}});
    const auto c = argument<std::uint32_t>(setup, "c")[0];
    std::vector<std::uint32_t> x(32);
    for (std::uint32_t lane = 0; lane < 32; ++lane) x[lane] = lane;
    for (int pass = 0; pass < 8 * 5; ++pass) {
        const auto before = x;
        for (std::size_t lane = 0; lane < 32; ++lane) x[lane] = before[(lane + 1) % 32] + c;
    }
    require_right_and_watched(setup, "out", x, 5, 13);
}

BOOST_AUTO_TEST_CASE(an_exchange_without_barriers_is_wrong) {
    const auto setup = set_up("barrier_exchange", probe_gpu(), {{"group", "64"}});
    const auto c = argument<std::uint32_t>(setup, "c")[0];
    std::vector<std::uint32_t> x(64);
    for (std::uint32_t lane = 0; lane < 64; ++lane) x[lane] = lane;
    // Lane by lane: each reads what its neighbour left before it wrote, as a wave ahead of the others would.
    for (int pass = 0; pass < 8; ++pass)
        for (std::size_t lane = 0; lane < 64; ++lane) x[lane] = x[(lane + 1) % 64] + c;
    BOOST_TEST(verdict(setup, "out", x, 1) != "");
}

BOOST_AUTO_TEST_CASE(plain_counts_its_passes) {
    const auto setup = set_up("barrier_plain", probe_gpu(), {{"group", "32"}});
    const auto c = argument<std::uint32_t>(setup, "c")[0];
    std::vector<std::uint32_t> x(32);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        x[lane] = lane;
        for (int pass = 0; pass < 8 * 3; ++pass) x[lane] = 5 * x[lane] + c;
    }
    require_right_and_watched(setup, "out", x, 3, 0);
    BOOST_TEST(verdict(setup, "out", x, 2) != "", "a trip too many passed");
}

BOOST_AUTO_TEST_CASE(cpu_conclusion_is_the_barrier_cost_per_work_item) {
    const auto found = concluded(
        "barrier", {curve_of("plain", {{32, 40e-9}, {1024, 1024e-9}}), curve_of("none", {{32, 10e-9}, {1024, 128e-9}})},
        probe_cpu());
    require_finding(found, "barrier per work-item", 1024e-9 / 1024);
    require_finding(found, "loop with barriers against without", 8);
    const auto sizes = concluded("barrier", {curve_of("plain", {{32, 10e-9}, {1024, 25e-9}})}, probe_gpu());
    require_finding(sizes, "barrier of 1024", 25e-9);
    require_finding(sizes, "barrier of 32", 10e-9);
}

BOOST_AUTO_TEST_CASE(too_large_group_is_unsupported) {
    BOOST_CHECK_THROW(set_up("barrier_plain", probe_gpu(), {{"group", "2048"}}), Unsupported);
}

BOOST_AUTO_TEST_CASE(faster_loop_with_barriers_withholds_their_cost) {
    const auto found =
        concluded("barrier", {curve_of("plain", {{1024, 100e-9}}), curve_of("none", {{1024, 1200e-9}})}, probe_cpu());
    const auto split = of_id(found, "split");
    BOOST_TEST(says(split.withheld, "takes 100 ns with barriers and 1.20 us without"), split.withheld);
}

BOOST_AUTO_TEST_SUITE_END()
