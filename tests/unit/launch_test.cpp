// launch and dispatch: every launch and every counted work-item must have left its mark.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(launch_and_dispatch)

using namespace cllab;
using namespace cllab::model;
using namespace cllab::test;

BOOST_AUTO_TEST_CASE(dropped_launch_is_a_wrong_result) {
    const auto setup = set_up("launch_item", probe_gpu(), {{"launches", "8"}});
    BOOST_TEST(setup.steps.size() == 8u);
    const auto token = argument<std::uint32_t>(setup, "token").front();
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < 8; ++i) out.push_back(token ^ i);
    BOOST_TEST(verdict(setup, "out", out) == "");
    out[5] = 0x5EED;
    BOOST_TEST(verdict(setup, "out", out).find("launch 5 left") == 0u);
}

BOOST_AUTO_TEST_CASE(extra_arguments_affect_the_result) {
    const auto setup = set_up("launch_arguments", probe_gpu(), {{"launches", "1"}});
    std::uint32_t sum = 0;
    for (int i = 0; i < 24; ++i) sum += argument<std::uint32_t>(setup, "a" + std::to_string(i)).front();
    const auto token = argument<std::uint32_t>(setup, "token").front();
    BOOST_TEST(verdict(setup, "out", std::vector<std::uint32_t>{token ^ sum}) == "");
    BOOST_TEST(verdict(setup, "out", std::vector<std::uint32_t>{token}) != "");
}

BOOST_AUTO_TEST_CASE(slope_over_launches_is_the_cost_of_one_more) {
    Curve curve;
    curve.variant = "item";
    for (const double n : {1.0, 2.0, 8.0, 32.0}) curve.samples.push_back({n, 5e-6 + (n - 1) * 2e-6, 0, 0, {}, 0, {}});
    const auto findings = concluded("launch", {curve}, probe_gpu());
    require_finding(findings, "launch to launch", 2e-6, 1e-6);
    require_finding(findings, "empty kernel of one work-item", 5e-6, 1e-9);
    // One of them takes twice as long for others' sake.
    curve.samples.push_back({128, 5e-6 + 127 * 2e-6, 0, 0, {}, 0, {}});
    curve.samples[3].seconds *= 2;
    const auto disturbed = *finding(concluded("launch", {curve}, probe_gpu()), "launch to launch");
    BOOST_TEST(disturbed.value == 2e-6, boost::test_tools::tolerance(0.1));
    BOOST_TEST(disturbed.high - disturbed.low < disturbed.value);
}

BOOST_AUTO_TEST_CASE(time_without_work_is_the_ramp_up_of_the_units) {
    const auto setup = set_up("launch_spread", probe_cpu(), {{"groups", "2"}});
    const auto token = argument<std::uint32_t>(setup, "token").front();
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < argument<std::uint32_t>(setup, "out").size(); ++i) {
        out.push_back(token ^ i);
        for (int k = 0; k < 2000; ++k) out.back() = out.back() * 1664525u + 1013904223u;
    }
    BOOST_TEST(verdict(setup, "out", out) == "");
    out.front() += 1;
    BOOST_TEST(verdict(setup, "out", out).find("work-group 0 left") == 0u);
    Curve curve;
    curve.variant = "spread";
    for (const double n : {4.0, 8.0, 16.0, 32.0, 64.0}) curve.samples.push_back({n, 8e-6 + n * 2e-6, 0, 0, {}, 0, {}});
    require_finding(concluded("launch", {curve}, probe_cpu()), "launch to all units", 8e-6, 1e-6);
    for (auto& sample : curve.samples) sample.seconds -= 9e-6;
    BOOST_TEST(finding(concluded("launch", {curve}, probe_cpu()), "launch to all units")->value == 0);
    // It is not measured on a GPU, and its page says why.
    curve.variant = "device";
    const auto of_gpu = finding(concluded("launch", {curve}, probe_gpu()), "launch to all units");
    BOOST_REQUIRE(of_gpu);
    BOOST_TEST(!of_gpu->withheld.empty());
    BOOST_TEST(!finding(concluded("launch", {curve}, probe_cpu()), "launch to all units"));
}

BOOST_AUTO_TEST_CASE(missing_work_item_is_found_in_every_dimension) {
    for (const std::string id : {"dispatch_1d", "dispatch_2d", "dispatch_3d"}) {
        const auto setup = set_up(id, probe_cpu(), {{"side", "4"}});
        BOOST_TEST(setup.global.dims == static_cast<unsigned>(id[9] - '0'));
        const auto token = argument<std::uint32_t>(setup, "token").front();
        const auto every = argument<std::uint32_t>(setup, "mask").front() + 1;
        std::vector<std::uint32_t> out;
        for (std::size_t i = 0; i < setup.global.count(); i += every)
            out.push_back(static_cast<std::uint32_t>(i) ^ token);
        BOOST_TEST(out.size() * 4 == argument<std::byte>(setup, "out").size());
        BOOST_TEST(verdict(setup, "out", out) == "");
        out.back() ^= 64;
        BOOST_TEST(verdict(setup, "out", out).find("work-item ") == 0u);
    }
}

BOOST_AUTO_TEST_CASE(groups_beyond_the_device_limit_are_unsupported) {
    BOOST_CHECK_THROW(set_up("dispatch_1d", probe_gpu(), {{"side", "2048"}}), Unsupported);
    BOOST_CHECK_THROW(set_up("dispatch_3d", probe_gpu(), {{"side", "17"}}), Unsupported);
}

BOOST_AUTO_TEST_CASE(published_vega10_rows_give_both_rates_and_the_wave) {
    // Published as work-items a clock at 1.536 GHz: 1-D 0.25 B up to 64; 2-D and 3-D rows that are no multiple of 64.
    const auto time_of_group = [](double items, double rate) { return items / rate / 1.536e9; };
    std::vector<std::pair<double, double>> one, two, three;
    for (double b = 1; b <= 1024; b *= 2) one.emplace_back(b, time_of_group(b, std::min(64.0, 0.25 * b)));
    for (const auto& [side, rate] : {std::pair{16.0, 64.0},
                                     {17.0, 58.0},
                                     {18.0, 54.0},
                                     {19.0, 60.0},
                                     {20.0, 57.0},
                                     {21.0, 63.0},
                                     {24.0, 64.0},
                                     {32.0, 64.0}})
        two.emplace_back(side, time_of_group(side * side, rate));
    for (const auto& [side, rate] : {std::pair{6.0, 54.0}, {7.0, 57.0}, {8.0, 64.0}})
        three.emplace_back(side, time_of_group(side * side * side, rate));
    const auto findings =
        concluded("dispatch", {curve_of("1d", one), curve_of("2d", two), curve_of("3d", three)}, probe_gpu());
    BOOST_REQUIRE(finding(findings, "group rate"));
    BOOST_REQUIRE(finding(findings, "wave rate"));
    BOOST_REQUIRE(finding(findings, "wave width"));
    BOOST_TEST(finding(findings, "group rate")->value / 1.536e9 == 0.25, boost::test_tools::tolerance(0.02));
    BOOST_TEST(finding(findings, "wave rate")->value / 1.536e9 == 1.0, boost::test_tools::tolerance(0.02));
    require_finding(findings, "wave width", 64, 1e-9);
}

BOOST_AUTO_TEST_CASE(residency_sawtooth_gives_the_resident_work_items) {
    // As on an RTX 3080 Ti: one group a clock, and 80 units that hold 1536 work-items for 290 clocks.
    auto device = probe_gpu();
    device.compute_units = 80;
    std::vector<std::pair<double, double>> points;
    for (const double b : {1., 8., 32., 64., 96., 128., 192., 256., 320., 384., 448., 512., 640., 768., 896., 1024.}) {
        const double resident = 80 * std::floor(1536 / b) * b / 290;
        points.emplace_back(b, b / std::min(b, resident) * 1e-9);
    }
    const auto findings = concluded("dispatch", {curve_of("1d", points)}, device);
    require_finding(findings, "resident work-items a unit", 1536, 1e-9);
}

BOOST_AUTO_TEST_CASE(figures_hidden_by_a_single_group_rate_are_withheld) {
    // As on an H200: 1.64 groups a nanosecond, of whatever size.
    std::vector<std::pair<double, double>> points;
    for (const double b : {1., 8., 32., 48., 64., 96., 128., 192., 256., 512.}) points.emplace_back(b, 1 / 1.64e9);
    const auto findings = concluded("dispatch", {curve_of("1d", points)}, probe_gpu());
    require_finding(findings, "group rate", 1.64e9, 0.01);
    for (const std::string name : {"wave width", "resident work-items", "time per group"}) {
        const auto f = finding(findings, name);
        BOOST_TEST((f && !f->withheld.empty()), name);
    }
    BOOST_TEST(concluded("dispatch", {curve_of("1d", {points[0], points[1]})}, probe_gpu()).empty(),
               "two points show nothing");
}

/// `groups` groups of one work-item in `seconds`, give or take a tenth.
model::Curve groups_in(double groups, double seconds) {
    auto curve = curve_of("1d", {{1, seconds / groups}});
    auto& sample = curve.samples.front();
    sample.seconds = seconds;
    sample.low = 0.9 * seconds;
    sample.high = 1.1 * seconds;
    return curve;
}

BOOST_AUTO_TEST_CASE(cpu_group_cost_is_the_slope_without_the_launch) {
    // As on 16 CPUs: 100 us until all threads work, then 2 ns for each.
    const auto findings = concluded("dispatch", {groups_in(1e5, 300e-6), groups_in(4e5, 900e-6)}, probe_cpu());
    require_finding(findings, "time per group", 2e-9, 1e-9);
    BOOST_TEST(finding(findings, "time per group")->low * 3e5 == 0.9 * 900e-6 - 1.1 * 300e-6,
               boost::test_tools::tolerance(1e-9));
    for (const auto& f : findings) BOOST_TEST((f.id == "group.time" || !f.withheld.empty()), f.id);
    for (const auto& told_nothing :
         {std::vector{groups_in(1e5, 300e-6)}, {groups_in(1e5, 300e-6), groups_in(4e5, 290e-6)}})
        BOOST_TEST(!finding(concluded("dispatch", told_nothing, probe_cpu()), "time per group")->withheld.empty());
}

BOOST_AUTO_TEST_SUITE_END()
