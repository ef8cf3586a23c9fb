// fma: the check against a kernel emulated element by element, and the conclusions from curves of known shape.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "experiments/lib/chain.hpp"
#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(fma_family)

using namespace cllab;
using namespace cllab::model;
using namespace cllab::test;

namespace {

/// What the kernel computes, written as it is in fma.cl: chain j of item i starts at start[i % 4 + j * width + e].
std::vector<float> kernel_fma(const Setup& setup, std::size_t items, std::size_t ilp, std::size_t width,
                              std::int64_t steps) {
    const auto start = argument<float>(setup, "start");
    const float c = argument<float>(setup, "constant_c").front();
    std::vector<float> out;
    for (std::size_t i = 0; i < items; ++i) {
        for (std::size_t e = 0; e < width; ++e) {
            float sum = 0;
            for (std::size_t j = 0; j < ilp; ++j) {
                float x = start[i % 4 + j * width + e];
                for (std::int64_t s = 0; s < steps; ++s) x = std::fmaf(x, x, c);
                sum += x;
            }
            out.push_back(sum);
        }
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(check_accepts_chains_and_rejects_one_step_or_bit_off) {
    const auto setup = set_up("fma_ilp", probe_gpu(), {{"ilp", "2"}, {"waves", "1"}, {"unroll", "4"}});
    auto out = kernel_fma(setup, 32, 2, 1, 5 * 4);
    BOOST_TEST(verdict(setup, "out", out, 5) == "");
    BOOST_TEST(verdict(setup, "out", kernel_fma(setup, 32, 2, 1, 5 * 4 - 1), 5) != "");
    out[17] = std::nextafter(out[17], 9.0f);
    BOOST_TEST(verdict(setup, "out", out, 5).find("out[17] is ") == 0u);
}

BOOST_AUTO_TEST_CASE(chains_of_additions_or_products_detect_one_missing_step) {
    for (const bool adds : {true, false}) {
        const std::string variant = adds ? "add" : "multiply";
        const auto setup = set_up("fma_" + variant, probe_cpu(), {{"type", "float"}, {"unroll", "4"}});
        const float c = argument<float>(setup, "constant_c").front();
        const auto end = [&](int steps) {
            auto x = argument<float>(setup, "start").front();
            for (int i = 0; i < steps; ++i) x = adds ? x + c : x * c;
            return std::vector{x};
        };
        BOOST_TEST(verdict(setup, "out", end(20), 5) == "");
        BOOST_TEST(verdict(setup, "out", end(19), 5) != "");
        const auto last = static_cast<int>(setup.slope->high * setup.slope->steps_per_trip);
        BOOST_TEST(end(last) != end(last - 1));
        BOOST_TEST(std::isfinite(end(last).front()));
        BOOST_TEST(setup.work.flops == 1);
        const auto found = concluded("fma", {curve_of(variant, {{0, 1e-9}}, {{"type", "double"}})}, probe_cpu());
        BOOST_TEST(of_id(found, variant + ".double").value == 1e-9);
        BOOST_CHECK_THROW(set_up("fma_" + variant, probe_cpu(), {{"type", "uint"}}), Unsupported);
    }
}

BOOST_AUTO_TEST_CASE(integer_chain_detects_an_even_number_of_missing_steps) {
    const auto setup = set_up("fma_latency", probe_gpu(), {{"type", "uint"}});
    const auto start = argument<std::uint32_t>(setup, "start");
    const auto c = argument<std::uint32_t>(setup, "constant_c").front();
    for (const auto x : start) {
        const auto end = lib::run_chain(x, c, 1000);
        for (const int fewer : {2, 4, 16, 256}) BOOST_TEST(lib::run_chain(x, c, 1000 - fewer) != end);
    }
}

BOOST_AUTO_TEST_CASE(ushort_chain_ends_before_it_repeats) {
    for (const std::string variant : {"latency", "ilp", "loop", "nested", "code", "peak", "units"}) {
        const auto setup = set_up("fma_" + variant, probe_cpu(), {{"type", "ushort"}});
        const auto steps = static_cast<std::int64_t>(setup.slope->high * setup.slope->steps_per_trip);
        BOOST_TEST(steps < 65536, variant);
        const auto begin = argument<std::uint16_t>(setup, "start").front(),
                   c = argument<std::uint16_t>(setup, "constant_c").front();
        std::set<std::uint16_t> seen;
        for (auto x = begin; seen.insert(x).second;) x = lib::chain_step(x, c);
        BOOST_TEST(seen.size() == 65536u);
    }
}

BOOST_AUTO_TEST_CASE(vector_elements_are_independent_chains) {
    const auto setup = set_up("fma_peak", probe_gpu(),
                              {{"type", "float"}, {"width", "4"}, {"ilp", "2"}, {"unroll", "1"}, {"load", "25"}});
    BOOST_TEST(argument<std::byte>(setup, "out").size() == 256u * 4 * 4);
    BOOST_TEST(verdict(setup, "out", kernel_fma(setup, 256, 2, 4, 3), 3) == "");
}

BOOST_AUTO_TEST_CASE(half_arithmetic_rounds_like_hardware) {
    // Half chains are checked on devices that have half; here the arithmetic they are checked with. 2049 lies between
    // 2048 and 2050, the tie goes to even; 0x1p-25 is half the smallest subnormal.
    const auto setup = set_up("fma_peak", probe_gpu(),
                              {{"type", "half"}, {"width", "1"}, {"ilp", "1"}, {"unroll", "1"}, {"load", "25"}});
    const auto start = argument<std::uint16_t>(setup, "start");
    const auto value = [](std::uint16_t bits) {
        return (bits & 0x8000 ? -1 : 1) * (bits >> 10 & 31 ? std::ldexp(1024 + (bits & 1023), (bits >> 10 & 31) - 25)
                                                           : std::ldexp(bits & 1023, -24));
    };
    const double c = value(argument<std::uint16_t>(setup, "constant_c").front());
    BOOST_TEST(c == -1.900390625);  // the half nearest to -1.9
    std::vector<std::uint16_t> out;
    for (std::size_t i = 0; i < 256; ++i) {
        const double x = value(start[i % 4]), y = x * x + c;
        // Nearest half by search through all of them.
        std::uint16_t best = 0;
        for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
            if ((bits >> 10 & 31) == 31) continue;
            const double d = std::abs(value(static_cast<std::uint16_t>(bits)) - y), least = std::abs(value(best) - y);
            if (d < least || (d == least && bits % 2 == 0 && best % 2 == 1)) best = static_cast<std::uint16_t>(bits);
        }
        out.push_back(best);
        if (i >= 4) out.back() = out[i % 4];
    }
    BOOST_TEST(verdict(setup, "out", out, 1) == "");
    out[2] ^= 1;
    BOOST_TEST(verdict(setup, "out", out, 1) != "");
}

BOOST_AUTO_TEST_CASE(stuck_counter_is_a_wrong_result) {
    const auto setup = set_up("fma_clock", probe_gpu());
    BOOST_TEST(verdict<std::uint64_t>(setup, "out", {64 * 1024 + 30}, 64) == "");
    BOOST_TEST(verdict<std::uint64_t>(setup, "out", {0}, 64).find("the counter advanced by 0") == 0u);
    // A thread that lost its core for some milliseconds waited all the same; no counter runs for hours meanwhile.
    BOOST_TEST(verdict<std::uint64_t>(setup, "out", {64 * 1024 + 50'000'000}, 64) == "");
    BOOST_TEST(verdict<std::uint64_t>(setup, "out", {1ull << 45}, 64) != "");
}

BOOST_AUTO_TEST_CASE(missing_features_are_unsupported_and_bad_points_are_errors) {
    BOOST_CHECK_THROW(set_up("fma_peak", probe_cpu(), {{"type", "half"}}), Unsupported);
    BOOST_CHECK_THROW(set_up("fma_ilp", probe_gpu(), {{"waves", "64"}}), Unsupported);
    BOOST_CHECK_THROW(set_up("fma_ilp", probe_gpu(), {{"ilp", "3"}}), Error);
}

// An H200 whose driver says 1980 MHz at most once gave 2.01 GHz, +-1 %.
BOOST_AUTO_TEST_CASE(clock_above_the_gpu_maximum_is_withheld_with_its_cycles) {
    auto device = probe_gpu();
    device.clock_mhz = 1980;
    auto clock = curve_of("clock", {{0, 1 / 2.06e9}});
    auto& sample = clock.samples.front();
    const auto with = [&](double most_hz) {
        sample.high = sample.seconds * 2.06e9 / most_hz;
        sample.low = sample.seconds;
        return concluded("fma", {curve_of("latency", {{0, 2e-9}}, {{"type", "float"}}), clock}, device);
    };
    auto findings = with(2.01e9);  // as near to the highest clock as two clocks agree
    BOOST_REQUIRE(finding(findings, "clock"));
    BOOST_TEST(finding(findings, "clock")->withheld == "");
    findings = with(2.03e9);
    BOOST_TEST(says(finding(findings, "clock")->withheld, "2.06 GHz"));
    BOOST_TEST(!finding(findings, "float latency in cycles"));
    device.clock_mhz = 0;  // not known
    BOOST_TEST(finding(with(2.03e9), "clock")->withheld == "");
}

BOOST_AUTO_TEST_CASE(cpu_has_a_peak_for_each_vector_width) {
    auto curve = curve_of("peak", {{4, 1e-9}, {8, 1e-9}, {16, 1e-9}}, {{"type", "float"}, {"ilp", "8"}});
    for (auto& sample : curve.samples) sample.metrics["flops"] = 1e9 * sample.x;
    auto wide = curve_of("peak", {{4, 1e-9}, {16, 1e-9}}, {{"type", "double"}, {"ilp", "8"}});
    for (auto& sample : wide.samples) sample.metrics["flops"] = 1e9 * sample.x;
    const auto findings = concluded("fma", {curve, wide}, probe_cpu());
    const auto rate = [&](const char* id) { return of_id(findings, id).value; };
    const auto is_close = boost::test_tools::tolerance(1e-9);
    BOOST_TEST(rate("peak.float") == 16e9, is_close);
    BOOST_TEST(rate("peak.float.128") == 4e9, is_close);
    BOOST_TEST(rate("peak.float.256") == 8e9, is_close);
    BOOST_CHECK_THROW(rate("peak.float.512"), std::runtime_error);  // that is the peak itself
    BOOST_TEST(rate("peak.double.256") == 4e9, is_close);
    BOOST_TEST(!finding(concluded("fma", {curve}, probe_gpu()), "float peak in vectors of 128 bits"));
}

BOOST_AUTO_TEST_CASE(clock_follows_from_latency_when_no_counter_exists) {
    const auto findings = concluded("fma", {curve_of("latency", {{0, 2e-9}}, {{"type", "float"}})}, probe_cpu());
    require_finding(findings, "clock (if a float FMA takes 4 cycles)", 2e9, 1e-9);
    BOOST_TEST(!finding(findings, "float latency in cycles"));
}

BOOST_AUTO_TEST_CASE(counter_gives_the_latency_in_cycles) {
    const auto findings = concluded(
        "fma", {curve_of("latency", {{0, 2e-9}}, {{"type", "float"}}), curve_of("clock", {{0, 0.5e-9}})}, probe_gpu());
    require_finding(findings, "float latency in cycles", 4, 1e-9);
    require_finding(findings, "clock", 2e9, 1e-9);
}

BOOST_AUTO_TEST_CASE(counter_of_unknown_unit_gives_no_clock) {
    for (auto device : {probe_cpu(), probe_gpu()}) {
        device.implementation = model::Implementation::pocl;
        const auto findings = concluded(
            "fma", {curve_of("latency", {{0, 2e-9}}, {{"type", "float"}}), curve_of("clock", {{0, 1e-9}})}, device);
        require_finding(findings, "clock (if a float FMA takes 4 cycles)", 2e9, 1e-9);
        BOOST_TEST(says(finding(findings, "float latency in cycles")->withheld, "1.00 GHz"));
    }
}

BOOST_AUTO_TEST_CASE(staircase_gives_the_units_despite_the_driver) {
    // 6 units where the driver claims 4: loads in percent of 4.
    std::vector<std::pair<double, double>> points;
    for (int groups = 1; groups <= 18; ++groups) points.emplace_back(groups * 25.0, 1e-3 * std::ceil(groups / 6.0));
    const auto findings = concluded("fma", {curve_of("units", points)}, probe_gpu());
    require_finding(findings, "compute units", 6, 1e-9);
}

BOOST_AUTO_TEST_CASE(loop_cost_is_the_time_of_a_trip_beyond_its_steps) {
    std::vector<std::pair<double, double>> points;
    for (const double unroll : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0})
        points.emplace_back(unroll, (3e-9 + unroll * 1e-9) / unroll);
    const auto findings = concluded("fma", {curve_of("loop", points)}, probe_gpu());
    require_finding(findings, "loop overhead per trip", 3e-9, 1e-6);
}

BOOST_AUTO_TEST_CASE(compute_units_survive_disturbance_or_are_withheld) {
    // Two units; the medians lie, the modes do not.
    auto curve = curve_of("units", {{50, 1}, {100, 1.8}, {150, 2.3}, {200, 2.9}, {250, 3.4}, {300, 4}});
    for (std::size_t i = 0; i < curve.samples.size(); ++i) {
        curve.samples[i].metrics["mode"] = 1.0 + static_cast<double>(i / 2);
        curve.samples[i].metrics["mode_share"] = 0.4;
    }
    auto device = probe_cpu();
    device.compute_units = 2;
    const auto units = [&] { return of_id(concluded("fma", {curve}, device), "units"); };
    BOOST_TEST(units().value == 2);
    BOOST_TEST(units().withheld == "");
    device.compute_units = 4;  // a busy neighbour makes fewer steps as clean as these
    for (auto& s : curve.samples) s.x /= 2;
    BOOST_TEST(says(units().withheld, "the steps show 2, but the driver reports 4"), units().withheld);
    device.compute_units = 2;
    for (auto& s : curve.samples) s.x *= 2;
    curve.samples[3].metrics["mode_share"] = 0.1;
    BOOST_TEST(says(units().withheld, "10 % of the samples"), units().withheld);
    for (auto& s : curve.samples) s.metrics.clear();
    BOOST_TEST(!units().withheld.empty());
}

BOOST_AUTO_TEST_SUITE_END()
