#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <sstream>

#include "report/table/comparison.hpp"
#include "report/table/regression.hpp"

BOOST_AUTO_TEST_SUITE(report_regression)

using namespace cllab;
using model::CellChange;

namespace {

model::RegressionCell cell(const std::string& id, const std::string& width, CellChange change) {
    model::RegressionCell out;
    out.id = id;
    out.point = {{"width", width}, {"height", "256"}};
    out.device.name = "a \"device\" & more";
    out.device.selector = "0:0";
    out.change = change;
    return out;
}

model::CellTest test_of(double ratio, double low, double high) {
    model::CellTest out;
    out.ratio = {ratio, low, high, 0.999, 12};
    out.control = {1.001, 0.998, 1.003, 0.999, 12};
    out.floor = 0.02;
    out.p = 0.0004;
    out.adjusted = 0.0008;
    return out;
}

model::Regression example() {
    model::Regression out;
    out.baseline = "base";
    out.cells = {cell("pitch_loop", "512", CellChange::same_code), cell("pitch_loop", "1024", CellChange::slower),
                 cell("pitch_wide", "512", CellChange::slower), cell("saxpy_w32", "512", CellChange::newly_wrong)};
    out.cells[1].test = test_of(1.031, 1.025, 1.038);
    out.cells[1].before = 1e-3;
    out.cells[1].today = 1.03e-3;
    out.cells[2].test = test_of(2.5, 2.4, 2.6);
    out.cells[3].reason = "wrong_result: dst[17] is 3 < 4";
    out.tested = 2;
    out.seconds = 12;
    return out;
}

std::string printed(const model::Regression& regression) {
    std::ostringstream out;
    report::print_regression(out, regression, {});
    return out.str();
}

std::size_t at(const std::string& text, const std::string& part) {
    const auto found = text.find(part);
    BOOST_REQUIRE_MESSAGE(found != std::string::npos, "'" << part << "' is not in\n" << text);
    return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(regression_table_is_worst_first_and_identifies_cells) {
    const auto text = printed(example());
    BOOST_TEST(at(text, "saxpy_w32 ") < at(text, "pitch_wide"));
    BOOST_TEST(at(text, "pitch_wide ") < at(text, "pitch_loop width=1024"));
    BOOST_TEST(at(text, "pitch_loop width=1024") < at(text, "pitch_loop width=512"));
    at(text, "+3.1 %");
    at(text, "  change         time  interval");
    auto lead = text;
    std::ranges::replace(lead, '\n', ' ');
    at(lead, "The column time is paired: both texts took turns today. The columns recorded and today are separate runs.");
    at(text, "+2.5 % to +3.8 %");
    at(text, "x2.5");
    at(text, "wrong_result: dst[17] is 3 < 4");
    at(text, "at most 1.0 % of runs raise a false alarm (Holm's correction).");
    at(text, "1 newly wrong, 2 slower, 1 same code; 12 s");
}

BOOST_AUTO_TEST_CASE(repeated_looks_are_reported_with_their_correction) {
    auto looked = example();
    looked.looks = 3;
    looked.cells[1].looks = 2;
    looked.cells[1].arrangements.push_back({});
    std::string text = printed(looked);
    std::replace(text.begin(), text.end(), '\n', ' ');
    at(text, "(Holm's correction; each cell is tested up to 3");
    const auto lines = report::regression_json(looked);
    at(lines[2], "\"looks\":2");
    at(lines[4], "\"looks\":3");
}

BOOST_AUTO_TEST_CASE(common_shift_is_printed_separately_with_its_meaning) {
    auto shifted = example();
    shifted.shift = {1.05, 1.04, 1.06, 0.97, 6};
    BOOST_TEST(at(printed(shifted), "Common to all 6 cells: +5.0 %") > 0u);
    BOOST_TEST(printed(shifted).find("Both sides took turns today") != std::string::npos);
    shifted.recorded = true;
    BOOST_TEST(printed(shifted).find("The figures above exclude it") != std::string::npos);
    shifted.recorded = false;
    shifted.shift = {1.001, 0.99, 1.01, 0.97, 6};
    BOOST_TEST(printed(shifted).find("Common") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(stored_times_are_not_called_paired) {
    auto recorded = example();
    recorded.recorded = true;
    BOOST_TEST(printed(recorded).find("aired") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(junit_counts_and_escapes) {
    const auto text = report::regression_junit(example());
    at(text, "tests=\"4\" failures=\"2\" errors=\"1\" skipped=\"0\"");
    at(text, "classname=\"a &quot;device&quot; &amp; more\" name=\"pitch_loop width=1024 height=256\"");
    at(text, "is 3 &lt; 4");
    at(text, "<failure type=\"slower\" message=\"slower: +3.1 %, interval +2.5 % to +3.8 %, 12 replicates");
    BOOST_TEST(text.find("is 3 < 4") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(regression_json_has_a_line_per_cell_and_a_summary) {
    const auto lines = report::regression_json(example());
    BOOST_REQUIRE(lines.size() == 5u);
    for (const auto& line : lines) BOOST_TEST(report::is_comparison(line));
    at(lines[0], "\"id\":\"saxpy_w32\"");
    at(lines[1], "\"p_adjusted\":0.0008");
    at(lines[4], "\"changes\":{\"same code\":1,\"slower\":2,\"newly wrong\":1}");
}

BOOST_AUTO_TEST_SUITE_END()
