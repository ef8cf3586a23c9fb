#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "core/text.hpp"
#include "report/table/curve.hpp"
#include "report/table/layout.hpp"
#include "unit/golden.hpp"

BOOST_AUTO_TEST_SUITE(report_curve)

using namespace cllab;

namespace {

/// Three levels: 1.2 ns to 32 KiB, 3.5 ns to 1 MiB, 80 ns beyond, in steps of a factor `step`.
model::Curve latency(double step) {
    model::Curve curve;
    curve.variant = "global";
    curve.fixed.set("footprint", "2048");
    curve.fixed.set("path", "vector");
    for (double x = 2048; x <= 16 << 20; x = std::max(x + 1, std::round(x * step))) {
        const double ns = x <= 32768 ? 1.2 : x <= 1 << 20 ? 3.5 : 80;
        model::Curve::Sample s;
        s.x = x;
        s.seconds = ns * 1e-6;
        s.low = s.seconds * 0.99;
        s.high = s.seconds * 1.004;
        s.per_step = ns * 1e-9;
        curve.samples.push_back(s);
    }
    return curve;
}

const model::Axis footprint{.name = "footprint", .unit = "byte"};

const std::vector<model::Finding> levels{
    {"l1.size", "level 1 capacity", "byte", 32768, 32768, 40960, "last footprint within 5 % of the plateau"},
    {"l1.latency", "level 1 latency", "s", 1.2e-9, 1.19e-9, 1.21e-9, "median of 9 points"},
    {"l2.size", "level 2 capacity", "byte", 1 << 20, 1 << 20, 1310720,
     "last footprint within 5 % of the plateau; the rise to the next level is one point wide"},
    {"units", "compute units", "", 64, 64, 64, ""},
    {"copy", "copy bandwidth", "B/s", 4.12e12, 4.1e12, 4.14e12, "bandwidth_copy, median of 20 samples"}};

std::string curve_text(const model::Curve& curve, const std::vector<model::Finding>& findings,
                       report::TableStyle style = {}) {
    std::ostringstream out;
    report::print_curve(out, curve, "latency_global", footprint, findings, style);
    return out.str();
}

std::string findings_text(report::TableStyle style = {}) {
    std::ostringstream out;
    report::print_findings(out, levels, style);
    return out.str();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_curve_with_two_knees_prints_as_the_golden_file) {
    test::matches_golden("curve_latency.txt", curve_text(latency(2), levels) + findings_text());
}

BOOST_AUTO_TEST_CASE(long_curve_is_thinned_and_keeps_knees_and_ends) {
    const auto curve = latency(1.04);
    const auto printed = curve_text(curve, {{"x", "knee", "byte", 32768, 0, 0, ""}});
    const auto lines = split(printed, '\n');
    BOOST_TEST(lines.size() <= 52u);
    BOOST_TEST(printed.find("◄ knee") != std::string::npos);
    BOOST_TEST(printed.find(" 2 KiB  1.20 ns") != std::string::npos);
    BOOST_TEST(printed.find("of " + std::to_string(curve.samples.size()) + " points shown") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(no_line_is_wider_than_100_columns) {
    auto findings = levels;
    findings[0].name = std::string(90, 'k');
    for (const auto& line : split(curve_text(latency(1.3), findings) + findings_text(), '\n'))
        BOOST_TEST(report::display_width(line) <= 100u, line);
    for (const auto& line : split(curve_text(latency(1.3), {}, {.colour = false, .width = 72}), '\n'))
        BOOST_TEST(report::display_width(line) <= 72u, line);
}

BOOST_AUTO_TEST_CASE(flat_curve_has_linear_bars) {
    model::Curve curve;
    for (double groups = 1; groups <= 3; ++groups) {
        model::Curve::Sample s;
        s.x = groups;
        s.seconds = groups * 1e-3;
        curve.samples.push_back(s);
    }
    std::ostringstream out;
    report::print_curve(out, curve, "fma_groups", {.name = "groups"}, {}, {});
    test::matches_golden("curve_linear.txt", out.str());
}

BOOST_AUTO_TEST_CASE(points_without_a_time_are_omitted_and_counted) {
    auto curve = latency(2);
    curve.samples[3].per_step = curve.samples[3].seconds = std::numeric_limits<double>::quiet_NaN();
    const auto printed = curve_text(curve, {});
    BOOST_TEST(printed.find("nan") == std::string::npos);
    BOOST_TEST(printed.find("1 point has no valid time") != std::string::npos);
    BOOST_TEST(curve_text({}, levels) == "latency_global: time over footprint\n");
}

BOOST_AUTO_TEST_CASE(finding_outside_the_curve_or_of_another_unit_is_not_marked) {
    BOOST_TEST(curve_text(latency(2), {{"x", "far", "byte", 1e12, 0, 0, ""},
                                       {"x", "near", "byte", 1, 0, 0, ""},
                                       {"x", "other", "s", 32768, 0, 0, ""}})
                   .find("◄") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
