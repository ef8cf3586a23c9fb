// channels without a device: lines and passes, the checks, and the interleave found in curves.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "experiments/lib/fit.hpp"
#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(channels)

using namespace cllab;
using namespace cllab::test;
using model::find_interleave;

namespace {

const Axes small{{"spacing", "320"}, {"lines", "8192"}};

std::size_t place(std::uint32_t item, std::uint32_t pass) { return (item / 4 + pass * 1021) % 8192 * 20 + item % 4; }

}  // namespace

BOOST_AUTO_TEST_CASE(stores_fill_only_the_lines_of_the_passes) {
    const auto setup = set_up("channels_store", probe_gpu(), small);
    auto out = argument<std::uint32_t>(setup, "out");
    const auto key = argument<std::uint32_t>(setup, "key")[0];
    for (std::uint32_t pass = 0; pass < 2; ++pass) {
        for (std::uint32_t item = 0; item < setup.global.count(); ++item) {
            const auto at = place(item, pass);
            for (std::uint32_t k = 0; k < 4; ++k)
                out[at * 4 + k] = (static_cast<std::uint32_t>(at) * 0x9E3779B1u ^ key) + k;
        }
    }
    require_right_and_watched(setup, "out", out, 2, place(100, 1) * 4 + 3);
    require_right_and_watched(setup, "out", out, 2, 16);  // between the first line and the second
    BOOST_TEST(verdict(setup, "out", out, 9) != "", "missing passes passed");
}

BOOST_AUTO_TEST_CASE(loads_sum_the_lines_of_the_passes) {
    const auto setup = set_up("channels_load", probe_gpu(), small);
    const auto in = argument<std::uint32_t>(setup, "in");
    auto out = argument<std::uint32_t>(setup, "out");
    std::fill(out.begin(), out.end(), 0);
    for (std::uint32_t pass = 0; pass < 3; ++pass)
        for (std::uint32_t item = 0; item < out.size(); ++item)
            for (std::uint32_t k = 0; k < 4; ++k) out[item] += in[place(item, pass) * 4 + k];
    require_right_and_watched(setup, "out", out, 3, out.size() - 1);
}

BOOST_AUTO_TEST_CASE(the_interleave_is_the_last_spacing_at_full_bandwidth) {
    const std::vector<double> spacing{64, 128, 256, 320, 512, 576, 1024, 2048},
        bandwidth{98, 100, 99, 97, 52, 98, 26, 13};
    const auto found = find_interleave(spacing, bandwidth);
    BOOST_REQUIRE(found.has_value());
    BOOST_TEST(found->bytes == 256u);
    BOOST_TEST(found->ratio == 100.0 / 13, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(hashed_addresses_have_no_interleave) {
    const std::vector<double> spacing{64, 128, 256, 512, 1024}, bandwidth{100, 98, 101, 90, 95};
    BOOST_TEST(!find_interleave(spacing, bandwidth).has_value());
    BOOST_TEST(!find_interleave({}, {}).has_value());
    // An H200, 2026-11-22, twice: two lines of 64 bytes in one of 128 are quick, 8 KiB is slow, 32 KiB is not.
    const std::vector<double> all{64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    for (const auto& ps : {std::vector{92.82, 122.2, 103.5, 107.2, 99.99, 101.5, 116.9, 141.6, 130.4, 111.9},
                           std::vector{79.74, 120.5, 103.5, 103.2, 101.1, 103.6, 104.3, 150.1, 141.1, 110.0}}) {
        std::vector<double> rates;
        std::vector<std::pair<double, double>> points;
        for (std::size_t i = 0; i < all.size(); ++i) {
            rates.push_back(1 / ps[i]);
            points.emplace_back(all[i], ps[i] * 1e-15);
        }
        BOOST_TEST(!find_interleave(all, rates).has_value());
        const auto found = concluded("channels", {curve_of("load", points, {{"lines", "4096"}})}, probe_gpu());
        BOOST_TEST(std::any_of(found.begin(), found.end(),
                               [](const auto& f) { return f.id == "load.interleave" && !f.withheld.empty(); }));
    }
}

BOOST_AUTO_TEST_CASE(cpu_is_unsupported_and_split_word_is_refused) {
    BOOST_CHECK_THROW(set_up("channels_load", probe_cpu()), Unsupported);
    BOOST_CHECK_THROW(set_up("channels_load", probe_gpu(), {{"spacing", "100"}}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
