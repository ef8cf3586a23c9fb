// banks without a device: the ring, its check, and banks found in curves.
#include <boost/test/unit_test.hpp>

#include "experiments/lib/fit.hpp"
#include "model/work.hpp"
#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(banks)

using namespace cllab;
using namespace cllab::test;

BOOST_AUTO_TEST_CASE(every_lane_ends_where_its_loads_lead) {
    const auto setup = set_up("banks_word", probe_gpu(), {{"stride", "33"}});
    const auto start = argument<std::uint32_t>(setup, "start");
    BOOST_REQUIRE_EQUAL(start.size(), 32u);
    std::vector<std::uint32_t> ring(4096), out;
    for (std::uint32_t i = 0; i < ring.size(); ++i) ring[i] = (i + 37) % 4096;
    for (auto at : start) {
        for (int load = 0; load < 16 * 3; ++load) at = ring[at];
        out.push_back(at);
    }
    require_right_and_watched(setup, "out", out, 3, 31);
    BOOST_TEST(verdict(setup, "out", out, 4) != "", "a missing trip passed");
}

BOOST_AUTO_TEST_CASE(four_chains_of_each_work_item_end_where_their_loads_lead) {
    const auto setup = set_up("banks_rate", probe_gpu(), {{"stride", "2"}});
    const auto start = argument<std::uint32_t>(setup, "start");
    std::vector<std::uint32_t> out;
    for (std::size_t i = 0; i < setup.global.count(); ++i) {
        std::uint32_t sum = 0;
        for (std::uint32_t k = 0; k < 4; ++k) {
            auto at = (start[i % start.size()] + 64 * k) % 4096;
            for (int load = 0; load < 4 * 3; ++load) at = (at + 37) % 4096;
            sum += at;
        }
        out.push_back(sum);
    }
    require_right_and_watched(setup, "out", out, 3, 31);
    BOOST_TEST(verdict(setup, "out", out, 4) != "", "a missing trip passed");
    const auto work = model::work_of(setup);
    BOOST_TEST(work.local_bytes == 1, boost::test_tools::tolerance(1e-9));  // a step is a byte
    const auto found = concluded("banks", {curve_of("rate", {{1, 1e-13}, {2, 2e-13}, {32, 32e-13}})}, probe_gpu());
    require_finding(found, "local memory bandwidth", 1e13);
    require_finding(found, "bank conflicts at the worst stride", 32);
}

BOOST_AUTO_TEST_CASE(conclusion_finds_the_banks_behind_the_curve) {
    std::vector<std::pair<double, double>> points;
    for (const auto& text : family("banks").axes.front().values) {
        const auto stride = static_cast<std::uint32_t>(std::stoul(text));
        std::vector<std::uint32_t> addresses;
        for (std::uint32_t lane = 0; lane < 32; ++lane) addresses.push_back(lane * stride * 4);
        points.emplace_back(stride, 13e-9 + 1.1e-9 * (model::bank_slots(addresses, 32, 4) - 1));
    }
    const auto found = concluded("banks", {curve_of("word", points)}, probe_gpu());
    require_finding(found, "local memory banks, 4 bytes", 32);
    require_finding(found, "bank width, 4 bytes", 4);
    require_finding(found, "bank conflict, time per further lane, 4 bytes", 1.1e-9);
    require_finding(found, "local memory load, 4 bytes", 13e-9);
}

BOOST_AUTO_TEST_CASE(flat_curve_has_no_banks_and_cpu_is_unsupported) {
    const auto found =
        concluded("banks", {curve_of("word", {{0, 1e-9}, {1, 1e-9}, {2, 1e-9}, {32, 1e-9}})}, probe_gpu());
    BOOST_TEST(!finding(found, "local memory banks, 4 bytes"));
    BOOST_CHECK_THROW(set_up("banks_word", probe_cpu()), Unsupported);
}

BOOST_AUTO_TEST_SUITE_END()
