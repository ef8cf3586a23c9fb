// The pages beside the table of `run`, in 40 to 200 columns, for devices whose names have 5 to 120 characters: no line
// is wider, what is left out is named, and --columns has it.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "app/commands/profile.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "report/table/columns.hpp"
#include "report/table/explanation.hpp"
#include "report/table/regression.hpp"
#include "unit/probe.hpp"
#include "unit/report_records.hpp"

BOOST_AUTO_TEST_SUITE(report_pages_width)

using namespace cllab;

namespace {

const unsigned widths[] = {40, 57, 80, 100, 132, 200};
const std::string names_of_devices[] = {"H200!",
                                        "pthread-skylake-avx512-Intel(R) Xeon(R) Platinum 8481C Processor with much of "
                                        "everything, on two sockets of a host",
                                        std::string(120, 'x')};

/// The first line that is wider; "" when there is none. A word that is wider has a line of its own.
std::string too_wide(const std::string& page, std::size_t width) {
    for (const auto& line : split(page, '\n'))
        if (report::display_width(line) > width && trim(line).find(' ') != std::string::npos) return line;
    return "";
}

bool has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

/// The page as one line, so that sentences are found wherever they are broken.
std::string flat(const std::string& page) {
    std::string out;
    for (const char c : page)
        if (c != '\n' && !(c == ' ' && !out.empty() && out.back() == ' '))
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    return out;
}

portrait::Profile profile_of(const std::string& device) {
    portrait::Profile p;
    p.device = test::probe_gpu();
    p.device.name = device;
    p.seconds = 12;
    p.budget_seconds = 120;
    p.conclusions.push_back(
        {&test::family("fma"),
         {},
         {{"clock", "clock", "Hz", 2e9, 1.5e9, 2.9e9,
           "assuming that a dependent float FMA takes 4 cycles, as on every device of this kind so far"},
          {"latency.float", "float latency", "s", 2e-9, 1.98e-9, 2.02e-9,
           "slope of one dependent chain in one work-item over its length"},
          {"none", "figure without evidence", "", 0, 0, 0, "",
           "one order and one kind of pages cannot tell a cache from the TLB"}}});
    return p;
}

std::string profile_page(const std::string& device, unsigned width, const std::vector<std::string>& columns = {}) {
    std::ostringstream out;
    app::print_profile(out, profile_of(device), {false, width, columns});
    return out.str();
}

model::Regression regression_of(const std::string& device) {
    model::Regression out;
    out.baseline = "base";
    for (const auto change : {model::CellChange::slower, model::CellChange::newly_wrong}) {
        model::RegressionCell cell;
        cell.id = "himeno_interleaved";
        cell.point = {{"local", "128x1x1"}};
        cell.device.name = device;
        cell.device.selector = std::to_string(out.cells.size()) + ":0";
        cell.change = change;
        cell.reason =
            "wrong_result: dst[17] is 3 and should be 4; 41 of 67108864 bytes differ, the first of them in the second "
            "row";
        cell.test.emplace().ratio = {1.031, 1.025, 1.038, 0.999, 12};
        cell.before = 1e-3;
        cell.today = 1.03e-3;
        out.cells.push_back(cell);
    }
    out.tested = 2;
    return out;
}

std::string regression_page(unsigned width, const std::vector<std::string>& columns = {}) {
    std::ostringstream out;
    report::print_regression(out, regression_of("any"), {false, width, columns});
    return out.str();
}

}  // namespace

BOOST_AUTO_TEST_CASE(profile_fits_the_width_and_lists_omitted_columns) {
    for (const auto& device : names_of_devices) {
        for (const unsigned width : widths) {
            const auto page = profile_page(device, width);
            BOOST_TEST(too_wide(page, width) == "", device << " at " << width);
            for (const auto* part : {"clock", "2.00 GHz", "float latency", "figure without evidence: none"})
                BOOST_TEST(has(page, std::string(part).substr(0, 23)), page);
            // Each figure has its method at any width, and its interval from 80 columns on.
            BOOST_TEST(has(flat(page), "slope of one dependent chain"), page);
            BOOST_TEST((width < 80 || has(page, "±1.0%")), page);
        }
        BOOST_TEST(
            has(profile_page(device, 40, {"all"}), "slope of one dependent chain in one work-item over its length"));
        const auto how = profile_page(device, 40, {"how"});
        BOOST_TEST(has(how, "slope of one dependent chain in one work-item over its length"), how);
        BOOST_TEST(!has(how, "2.00 GHz"), how);
    }
}

BOOST_AUTO_TEST_CASE(regression_fits_the_width_and_keeps_what_changed) {
    for (const unsigned width : widths) {
        const auto page = regression_page(width);
        BOOST_TEST(too_wide(page, width) == "", width << "\n" << page);
        for (const auto* part : {"himeno_interleaved (0:0)", "slower", "newly wrong", "+3.1 %"})
            BOOST_TEST(has(page, part), page);
        BOOST_TEST(has(page, "today [ms]") != has(flat(page), "today; --columns all"), page);
    }
    BOOST_TEST(has(regression_page(40, {"all"}), "today [ms]"));
}

BOOST_AUTO_TEST_CASE(basis_of_a_bound_moves_below_it_on_narrow_pages) {
    auto record = test::cell("pitch", "implicit", 3.3e-3, test::pocl());
    model::Explanation e;
    e.limit = model::Limit::unexplained;
    e.bounds.resize(2);
    e.bounds[0] = {.id = "a",
                   .name = "group dispatch",
                   .brief = "",
                   .seconds = 2.55e-3,
                   .low = 2.5e-3,
                   .high = 2.6e-3,
                   .how = "4.19 Mgroup at 1.65 Ggroup/s (group rate)",
                   .figure = ""};
    e.bounds[1] = {.id = "b",
                   .name = "memory bandwidth",
                   .brief = "",
                   .seconds = 5.32e-4,
                   .low = 5.31e-4,
                   .high = 5.35e-4,
                   .how = "2.15 GB at 4.03 TB/s (copy bandwidth)",
                   .figure = ""};
    for (const unsigned width : {80u, 100u, 200u}) {
        const auto page = report::explanation_text(record, e, {false, width});
        BOOST_TEST(too_wide(page, width) == "", width << "\n" << page);
        const auto lines = split(page, '\n');
        for (const auto& bound : e.bounds) {
            const auto at =
                std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return has(line, bound.how); });
            BOOST_REQUIRE_MESSAGE(at != lines.end() && at != lines.begin(), page);
            BOOST_TEST(has(*(width < 100 ? at - 1 : at), bound.name), page);
        }
    }
}

BOOST_AUTO_TEST_CASE(long_lines_continue_under_their_last_column_with_names_whole) {
    BOOST_TEST(report::fit("short\n  also short\n", 40) == "short\n  also short\n");
    BOOST_TEST(report::fit("  pitch_wide  two pixels in a register each and then some more", 40) ==
               "  pitch_wide  two pixels in a register\n              each and then some more");
    BOOST_TEST(report::fit("a sentence that is a little longer than the line it is on", 40) ==
               "a sentence that is a little longer than\n    the line it is on");
    BOOST_TEST(report::fit("  size = 1024,2048,4096,8192,16384,32768,65536,131072", 40) ==
               "  size = 1024,2048,4096,8192,16384,\n      32768,65536,131072");
    const std::string name(60, 'x');
    BOOST_TEST(report::fit("  " + name + " is one word", 40) == "  " + name + "\n      is one word");
    BOOST_TEST(report::fit("µµµµ µµµµ", 9) == "µµµµ µµµµ");  // columns, not bytes
}

/// The names that --columns takes for the titles of a table's header, which have units behind them.
std::set<std::string> columns_in(const std::string& header) {
    std::set<std::string> out;
    const auto without_units = std::regex_replace(trim(header), std::regex(R"( \[[^\]]*\])"), "");
    for (const auto& title : split(std::regex_replace(without_units, std::regex("  +"), "\t"), '\t'))
        out.insert(report::column_name(title));
    return out;
}

BOOST_AUTO_TEST_CASE(help_lists_the_columns_that_a_table_has) {
    const auto of = [](const char* command) {
        const auto& names = report::columns_of_command(command);
        return std::set<std::string>(names.begin(), names.end());
    };
    const auto header_with = [](const std::string& page, const std::string& title) {
        for (const auto& line : split(page, '\n'))
            if (trim(line).starts_with(title + "  ")) return line;
        return std::string();
    };
    BOOST_TEST(columns_in(header_with(profile_page("any", 40, {"all"}), "figure")) == of("profile"),
               boost::test_tools::per_element());
    for (const auto& name : columns_in(header_with(regression_page(40, {"all"}), "cell")))
        BOOST_TEST(of("regress").count(name) == 1u, name);
}

BOOST_AUTO_TEST_CASE(unknown_column_is_refused_with_the_nearest_name) {
    report::require_known_columns({"all", "inner_loop"}, report::columns_of_command("isa"));
    BOOST_CHECK_EXCEPTION(report::require_known_columns({"inner_lop"}, report::columns_of_command("isa")), Error,
                          [](const Error& e) {
                              return e.blame() == Blame::usage && has(e.what(), "'inner_lop'") &&
                                     has(e.what(), "did you mean") && has(e.what(), "inner_loop");
                          });
    BOOST_TEST(report::columns_of_command("run").empty());
}

BOOST_AUTO_TEST_SUITE_END()
