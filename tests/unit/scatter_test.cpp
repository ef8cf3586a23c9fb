// scatter without a device: where lanes go, and the checks.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(scatter)

using namespace cllab;
using namespace cllab::test;

namespace {

std::uint32_t place(std::uint32_t item, std::uint32_t items, std::uint32_t spread, std::uint32_t mask,
                    std::uint32_t trip) {
    const std::uint32_t lane = item % 32, home = item / 32 * spread + lane % spread;
    return ((home + trip * (items / 32) * spread) & mask) * 32 + lane / spread;
}

}  // namespace

BOOST_AUTO_TEST_CASE(stores_land_only_at_the_defined_places) {
    for (const std::uint32_t spread : {1u, 4u, 32u}) {
        const auto setup = set_up("scatter_store", probe_gpu(), {{"spread", std::to_string(spread)}});
        auto out = argument<std::uint32_t>(setup, "out");
        const auto key = argument<std::uint32_t>(setup, "key")[0],
                   mask = argument<std::uint32_t>(setup, "block_mask")[0];
        const auto items = static_cast<std::uint32_t>(setup.global.count());
        const auto hole = place(17, items, spread, mask, 2);
        for (std::uint32_t trip = 0; trip < 3; ++trip) {
            std::set<std::uint32_t> seen;
            for (std::uint32_t item = 0; item < items; ++item) {
                const auto at = place(item, items, spread, mask, trip);
                BOOST_REQUIRE_MESSAGE(seen.insert(at).second, "two work-items share word " << at << " in one trip");
                out[at] = at * 0x9E3779B1u ^ key;
            }
        }
        require_right_and_watched(setup, "out", out, 3, hole);
        // At the widest spread a trip reaches every block, and the next one stores the same again.
        BOOST_TEST((verdict(setup, "out", out, 4) != "") == (spread < 32), "a missing trip passed");
    }
}

BOOST_AUTO_TEST_CASE(store_outside_the_blocks_of_the_trips_is_detected) {
    const auto setup = set_up("scatter_store", probe_gpu(), {{"spread", "1"}});
    const auto key = argument<std::uint32_t>(setup, "key")[0];
    auto out = argument<std::uint32_t>(setup, "out");
    const auto items = static_cast<std::uint32_t>(setup.global.count());
    for (std::uint32_t at = 0; at < items; ++at) out[at] = at * 0x9E3779B1u ^ key;
    require_right_and_watched(setup, "out", out, 1, out.size() - 1);
}

BOOST_AUTO_TEST_CASE(loads_sum_the_words_at_their_addresses) {
    const auto setup = set_up("scatter_load", probe_gpu(), {{"spread", "8"}});
    const auto in = argument<std::uint32_t>(setup, "in");
    const auto mask = argument<std::uint32_t>(setup, "block_mask")[0];
    auto out = argument<std::uint32_t>(setup, "out");
    const auto items = static_cast<std::uint32_t>(out.size());
    std::fill(out.begin(), out.end(), 0);
    for (std::uint32_t trip = 0; trip < 5; ++trip)
        for (std::uint32_t item = 0; item < items; ++item) out[item] += in[place(item, items, 8, mask, trip)];
    require_right_and_watched(setup, "out", out, 5, items / 2);
    BOOST_TEST(verdict(setup, "out", out, 6) != "", "a missing trip passed");
}

BOOST_AUTO_TEST_CASE(a_cpu_and_too_wide_a_spread_are_unsupported) {
    BOOST_CHECK_THROW(set_up("scatter_load", probe_cpu()), Unsupported);
    BOOST_CHECK_THROW(set_up("scatter_load", probe_gpu(), {{"spread", "64"}}), Unsupported);
    BOOST_CHECK_THROW(set_up("scatter_load", probe_gpu(), {{"spread", "3"}}), Error);
}

BOOST_AUTO_TEST_CASE(conclusion_has_ratio_and_block_rate) {
    std::vector<std::pair<double, double>> points;
    for (const double k : {1, 2, 4, 8, 16, 32}) points.emplace_back(k, 1e-10 * (1 + k));
    const auto found = concluded("scatter", {curve_of("store", points)}, probe_gpu());
    require_finding(found, "scattered store, 32 blocks per wave", 16.5);
    require_finding(found, "scattered store rate", 1e10);
}

BOOST_AUTO_TEST_CASE(block_rate_comes_from_spreads_with_constant_extra_cost) {
    // An H200, 2026-11-22: one, two and four blocks cost nearly the same.
    const auto rate = [](const std::vector<double>& ps) {
        std::vector<std::pair<double, double>> points;
        for (std::size_t i = 0; i < ps.size(); ++i) points.emplace_back(1 << i, ps[i] * 1e-12);
        const auto found = concluded("scatter", {curve_of("store", points)}, probe_gpu());
        return of_id(found, "store.rate");
    };
    const auto store = rate({24.37, 27.07, 39.15, 104.9, 211.6, 421.3}),
               load = rate({20.52, 20.99, 23.34, 49.06, 101.0, 198.8});
    BOOST_TEST(store.value == 24e12 / (421.3 - 104.9), boost::test_tools::tolerance(1e-9));
    BOOST_TEST(load.value == 28e12 / (198.8 - 23.34), boost::test_tools::tolerance(1e-9));
    for (const auto& f : {store, load}) {
        BOOST_TEST(f.low <= f.value);
        BOOST_TEST(f.value <= f.high);
        BOOST_TEST(f.high / f.low < 1.15);
    }
    BOOST_TEST(rate({20, 21, 23, 50, 100, 300}).withheld != "");
    BOOST_TEST(rate({20, 20, 20, 20, 20, 20}).withheld != "");
}

BOOST_AUTO_TEST_SUITE_END()
