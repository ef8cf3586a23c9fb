// registers and divergence: checks against emulated kernels, conclusions from curves of known shape.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "core/parallel.hpp"
#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(registers_and_divergence)

using namespace cllab;
using namespace cllab::model;
using namespace cllab::test;

namespace {

float chain(float x, float c, std::int64_t steps) {
    for (std::int64_t i = 0; i < steps; ++i) x = std::fmaf(x, x, c);
    return x;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_live_value_affects_the_result) {
    const auto setup = set_up("registers_live", probe_gpu(), {{"live", "16"}, {"items", "4"}});
    const auto start = argument<float>(setup, "start");
    const auto kernel = [&](std::size_t units) {
        std::vector<float> out;
        for (std::size_t i = 0; i < 4 * 16; ++i) {
            for (std::size_t e = 0; e < 8; ++e) {
                float sum = 0;
                for (std::size_t k = 0; k < units; ++k)
                    sum += chain(start[i % 4 + 8 * k + e], -1.9f, 3 * 8);  // 8 rounds a trip at 16 values
                out.push_back(sum);
            }
        }
        return out;
    };
    BOOST_TEST(verdict(setup, "out", kernel(2), 3) == "");
    BOOST_TEST(verdict(setup, "out", kernel(1), 3) != "");
}

BOOST_AUTO_TEST_CASE(registers_on_a_cpu_are_unsupported_with_an_alternative) {
    BOOST_CHECK_EXCEPTION(set_up("registers_live", probe_cpu()), Unsupported,
                          [](const Unsupported& e) { return says(e.what(), "SIMD"); });
    BOOST_CHECK_THROW(set_up("registers_live", probe_gpu(), {{"live", "12"}}), Error);
}

BOOST_AUTO_TEST_CASE(the_register_limit_is_where_the_time_jumps_and_spills_begin) {
    Curve curve = curve_of("live",
                           {{64, 1e-12},
                            {128, 1e-12},
                            {192, 1.01e-12},
                            {224, 1e-12},
                            {240, 1e-12},
                            {256, 4e-12},
                            {288, 5e-12},
                            {320, 4.5e-12}},
                           {{"items", "256"}});
    for (auto& s : curve.samples) {
        s.metrics["registers"] = std::min(255.0, s.x + 10);
        s.metrics["spills"] = s.x > 240 ? 100 : 0;
    }
    const auto findings = concluded("registers", {curve}, probe_gpu());
    require_finding(findings, "registers per work-item with groups of 256", 255, 1e-9);
    require_finding(findings, "live values without spills with groups of 256", 240, 1e-9);
    BOOST_TEST(finding(findings, "live values without spills with groups of 256")->high == 256);
    require_finding(findings, "live values at full speed with groups of 256", 240, 1e-9);
}

BOOST_AUTO_TEST_CASE(work_items_must_take_the_branch_of_their_grain) {
    const auto setup = set_up("divergence_width", probe_gpu(), {{"grain", "8"}, {"items", "32"}, {"fill", "one"}});
    const auto start = argument<float>(setup, "start");
    std::vector<float> out, other;
    for (std::size_t i = 0; i < 32; ++i) {
        out.push_back(chain(start[i % 4], i / 8 % 2 ? -1.9f + 0.00390625f : -1.9f, 2 * 64));
        other.push_back(chain(start[i % 4], -1.9f, 2 * 64));
    }
    BOOST_TEST(verdict(setup, "out", out, 2) == "");
    BOOST_TEST(verdict(setup, "out", other, 2).find("out[8] is ") == 0u);
}

BOOST_AUTO_TEST_CASE(swap_exchanges_the_values) {
    const auto kernel = [](const Setup& setup, bool swaps) {
        const auto start = argument<float>(setup, "start");
        std::vector<float> out;
        for (std::size_t i = 0; i < argument<std::uint32_t>(setup, "out").size(); ++i) {
            const bool odd = swaps && i % 2;
            float x = start[i % 4];
            for (int k = 0; k < 32; ++k) {
                x = std::fmaf(x, x, odd ? -1.7f : -1.9f);
                x = std::fmaf(x, x, odd ? -1.9f : -1.7f);
            }
            out.push_back(x);
        }
        return out;
    };
    for (const std::string variant : {"branch", "select", "plain"}) {
        const auto setup = set_up("divergence_" + variant, probe_cpu(), {{"items", "16"}, {"fill", "one"}});
        BOOST_TEST(verdict(setup, "out", kernel(setup, variant != "plain"), 1) == "");
        BOOST_TEST(verdict(setup, "out", kernel(setup, variant == "plain"), 1) != "");
    }
}

// A check asks for what it expects from several threads. A reference that kept the ends of the last trip count crashed
// on a GPU of 132 units, whose output is several pieces long. 64 ways take long enough to be made twice at once.
BOOST_AUTO_TEST_CASE(large_output_is_checked_in_parallel_for_any_trip_order) {
    constexpr std::size_t ways = 64;
    auto device = probe_gpu();
    device.compute_units = 256;
    const auto setup = set_up("divergence_paths", device, {{"paths", std::to_string(ways)}});
    const auto start = argument<float>(setup, "start");
    std::vector<float> out(argument<std::uint32_t>(setup, "out").size()), ends(ways);
    BOOST_REQUIRE(out.size() > 4 * parallel_piece);
    for (int trips = 1; trips < 40; ++trips) {
        for (std::size_t way = 0; way < ways; ++way)  // 64 is a multiple of the four starts
            ends[way] = chain(start[way % 4], -1.9f + static_cast<float>(way) * 0.00390625f, trips * 64);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = ends[i % ways];
        BOOST_TEST(verdict(setup, "out", out, trips) == "", "trips " << trips);
    }
}

BOOST_AUTO_TEST_CASE(straight_and_looped_give_the_same_result) {
    for (const std::string variant : {"straight", "looped"}) {
        const auto setup = set_up("divergence_" + variant, probe_cpu(), {{"items", "16"}});
        const auto start = argument<float>(setup, "start");
        std::vector<float> ends, out;
        for (std::size_t i = 0; i < 4; ++i) ends.push_back(chain(start[i], -1.9f, 256));
        for (std::size_t i = 0; i < argument<std::uint32_t>(setup, "out").size(); ++i) out.push_back(ends[i % 4]);
        BOOST_TEST(verdict(setup, "out", out) == "");
        out[3] = 0;
        BOOST_TEST(verdict(setup, "out", out) != "");
    }
}

BOOST_AUTO_TEST_CASE(cpu_has_no_simt_width_and_names_the_alternative) {
    for (const std::string id : {"divergence_width", "divergence_paths"})
        BOOST_CHECK_EXCEPTION(set_up(id, probe_cpu()), Unsupported,
                              [](const Unsupported& e) { return says(e.what(), "divergence_straight"); });
}

BOOST_AUTO_TEST_CASE(width_is_the_first_grain_without_cost) {
    std::vector<std::pair<double, double>> points;
    for (double grain = 1; grain <= 512; grain *= 2) points.emplace_back(grain, grain < 32 ? 2e-9 : 1e-9);
    auto findings = concluded("divergence", {curve_of("width", points, {{"fill", "full"}})}, probe_gpu());
    require_finding(findings, "SIMT width, all units busy", 32, 1e-9);
    for (auto& [grain, time] : points) time = 1e-9;
    findings = concluded("divergence", {curve_of("width", points, {{"fill", "full"}})}, probe_gpu());
    require_finding(findings, "SIMT width, all units busy", 1, 1e-9);
}

BOOST_AUTO_TEST_SUITE_END()
