// Records as lines of CSV.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "core/text.hpp"
#include "report/records/csv.hpp"
#include "unit/record_json.hpp"

BOOST_AUTO_TEST_SUITE(report_csv)

using namespace cllab;
using namespace test::json;

BOOST_AUTO_TEST_CASE(csv_lines_match_the_header_and_are_quoted_if_needed) {
    auto r = full();
    r.reason = "said \"no\", twice";
    r.warnings = {"a: b", "c: d"};
    const auto header = split(report::csv_header(), ',');
    const auto line = report::to_csv_line(r);
    BOOST_TEST(line.find("\"said \"\"no\"\", twice\"") != std::string::npos);
    r.reason.clear();
    const auto fields = split(report::to_csv_line(r), ',');
    BOOST_TEST(fields.size() == header.size());
    const auto value = [&](const std::string& title) {
        return fields.at(static_cast<std::size_t>(std::find(header.begin(), header.end(), title) - header.begin()));
    };
    BOOST_TEST(value("id") == "pitch_short8");
    BOOST_TEST(value("point") == "width=8192;pitch=20.2;local=64x4;weights=linear;odd=007");
    BOOST_TEST(value("median_s") == "0.00123");
    BOOST_TEST(value("other_metrics") == "pixels=5.4e+10 pixel/s");
    BOOST_TEST(value("registers") == "32");
    BOOST_TEST(value("loop") == "instructions=44;reuse=3");
    BOOST_TEST(value("warnings") == "a: b; c: d");
    BOOST_TEST(value("label") == "before the change");
    BOOST_TEST(value("run") == "0123456789abcdef");
    const auto failed = split(report::to_csv_line(test::failed(r, model::Status::timed_out, "60 s")), ',');
    BOOST_TEST(failed.size() == header.size());
    const auto place = [&](const std::string& title) {
        return static_cast<std::size_t>(std::ranges::find(header, title) - header.begin());
    };
    BOOST_TEST(failed.at(place("status")) == "timed_out");
    BOOST_TEST(failed.at(place("median_s")) == "");  // a failed cell has no time
    BOOST_TEST(std::set(header.begin(), header.end()).size() == header.size(), "two columns have one title");
}

BOOST_AUTO_TEST_CASE(csv_text_is_no_formula_or_control_code_and_numbers_stay) {
    auto r = full();
    for (const char* formula : {"=441+2", "+441", "-441", "@SUM(A1)", " =441+2"}) {
        r.device.name = r.reason = r.run.label = r.dump = r.id = r.code.kind = formula;
        r.warnings = {formula};
        std::size_t found = 0;
        for (const auto& text : split(report::to_csv_line(r), ',')) {
            if (text.find(trim(formula)) == std::string::npos) continue;
            ++found;
            BOOST_TEST((text.starts_with("'") || text.starts_with("\"'")), text);
        }
        BOOST_TEST(found == 7u, formula);
    }
    r = full();
    r.device.name = "\x1b[31mred\nnext \xe2\x80\xae reversed \xff";
    BOOST_TEST(report::to_csv_line(r).find("\\x1b[31mred\\x0anext \\u202e reversed \\xff") != std::string::npos);
    r.time->low = -1e-3;  // of a step
    BOOST_TEST(report::to_csv_line(r).find(",-0.001,") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
