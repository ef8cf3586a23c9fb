// Tables of many records, and of records that somebody made up: what they print, and that twice as many take twice as
// long.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <ctime>
#include <limits>
#include <sstream>

#include "app/screen/results.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "report/records/joined.hpp"
#include "report/records/json.hpp"
#include "report/records/points.hpp"
#include "report/table/device_grid.hpp"
#include "report/table/table.hpp"
#include "unit/report_records.hpp"

BOOST_AUTO_TEST_SUITE(report_large)

using namespace cllab;
using model::Record;

namespace {

/// Everything that `cllab report` prints, but for the summaries of single families.
std::string page(const std::vector<Record>& records) {
    std::ostringstream out;
    const auto curves = portrait::curves_of_device(model::rows_of(records), "device");
    report::print_table(out, model::rows_of(records), {});
    app::print_conclusions(out, curves, {});
    report::print_by_device(out, records, {}, {}, {});
    return out.str();
}

/// Processor time of this process: other load on the machine does not count.
double seconds_of(const std::vector<Record>& records) {
    const auto start = std::clock();
    page(records);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

template <typename Change>
std::vector<Record> many(std::size_t n, Change change) {
    std::vector<Record> out;
    for (std::size_t i = 0; i < n; ++i) {
        auto r = test::cell("bandwidth", "copy", 1e-3 + 1e-9 * static_cast<double>(i));
        r.samples.clear();
        r.point = {{"size", std::to_string(i)}, {"width", "16"}};
        r.host.name = "node" + std::to_string(i % 2);
        r.utc = std::to_string(i);
        change(r, std::to_string(i));
        out.push_back(std::move(r));
    }
    return out;
}

template <typename Change>
void grows_linearly(const char* what, Change change) {
    constexpr std::size_t few = 300;
    const auto some = many(few, change), more = many(6 * few, change);
    const double base = std::min({seconds_of(some), seconds_of(some), seconds_of(some)});
    // Other work on the machine can only add to the time: one of three that is short enough will do.
    double ratio = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < 3 && !(ratio < 14); ++repeat) ratio = std::min(ratio, seconds_of(more) / base);
    BOOST_TEST(ratio < 14, what << ": six times the records take " << ratio << " times as long");  // quadratic: 36
}

std::string troubles_of(report::Joined& joined, const std::string& text) {
    std::istringstream in(text);
    joined.read(in, "a.jsonl");
    return join(joined.troubles(), "\n");
}

}  // namespace

BOOST_AUTO_TEST_CASE(page_time_grows_linearly_with_the_records) {
    grows_linearly("points", [](Record&, const std::string&) {});
    grows_linearly("no curve", [](Record& r, const std::string&) { r.family = "unknown"; });
    grows_linearly("hosts", [](Record& r, const std::string& i) { r.host.name = i; });
    grows_linearly("warnings", [](Record& r, const std::string& i) { r.warnings = {"odd: number " + i}; });
    grows_linearly("variants", [](Record& r, const std::string& i) {
        r.variant = i, r.id = "bandwidth_" + i, r.point = {{"size", "1"}};
    });
    grows_linearly("families", [](Record& r, const std::string& i) { r.family = i; });
    grows_linearly("curves", [](Record& r, const std::string& i) {
        r.point = {{"size", i.substr(i.size() - 1)}, {"width", i.substr(0, i.size() - 1) + "0"}};
    });
    grows_linearly("runs", [](Record& r, const std::string& i) {  // of two variants that took turns
        const auto number = std::stoul(i);
        r.variant = number % 2 ? "copy" : "read", r.id = "bandwidth_" + r.variant;
        r.point = {{"size", "1"}};
        r.run.id = std::to_string(number / 2);
        r.host.name = "node";
    });
    grows_linearly("dumps", [](Record& r, const std::string& i) { r.dump = "dumps/" + i + "/x"; });
}

BOOST_AUTO_TEST_CASE(devices_without_a_column_are_counted) {
    const auto text = page(many(100, [](Record& r, const std::string& i) { r.host.name = i; }));
    BOOST_TEST(text.find("\n  and 36 more without a column\n") != std::string::npos,
               text.substr(text.find("Variants by devices")));
}

BOOST_AUTO_TEST_CASE(control_characters_of_records_never_reach_the_page) {
    const std::string bad = "x\x1b[31m\x07\r\xc2\x9b\xe2\x80\xae\xff\n";
    std::vector<Record> records;
    for (const char* host : {"a", "b"}) {
        for (const char* variant : {"one", "two"}) {
            auto r = test::cell("f" + bad, variant + bad, 1e-3);
            r.device = {.platform = bad, .name = bad, .vendor = bad, .driver = bad, .type = "gpu", .selector = bad};
            r.host.name = host + bad;
            r.point = {{"axis" + bad, host + bad}};
            r.metrics = {{"metric" + bad, {1, bad, model::Better::higher}}};
            r.warnings = {"warning: " + bad};
            r.time->clock = r.time->cache = bad;
            r.dump = bad + "/x";
            r.run.label = variant + bad;
            r.code.loop = {{bad, 1}};
            records.push_back(r);
            records.push_back(test::failed(r, model::Status::wrong_result, "reason " + bad));
        }
    }
    for (const bool colour : {false, true}) {
        std::ostringstream out;
        report::print_table(out, model::rows_of(records), {.colour = colour});
        report::print_by_device(out, records, {{records.front().device, "lost " + bad}}, {}, {.colour = colour});
        std::string text = out.str();
        for (const char* own : {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[1;32m"}) {
            for (auto at = text.find(own); colour && at != std::string::npos; at = text.find(own))
                text.erase(at, std::string(own).size());
        }
        BOOST_TEST(printable(text, "\n") == text, text);
        BOOST_TEST(text.find("\\x1b[31m") != std::string::npos);
        BOOST_TEST(text.find("\\u202e") != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(numbers_of_axes_and_metrics_and_line_length_are_limited) {
    report::Joined joined;
    std::string text;
    for (int i = 0; i < 70; ++i) {
        auto r = test::cell("f", "v", 1e-3);
        r.point = {{"a" + std::to_string(i), "1"}};
        text += report::to_json_line(r) + "\n";
    }
    const auto troubles = troubles_of(joined, text);
    BOOST_TEST(joined.records().size() == 64u);
    BOOST_TEST(joined.trouble_count() == 6u);
    BOOST_TEST(
        troubles.starts_with("a.jsonl:65: its axis 'a64' exceeds the limit of 64 per family; the line is skipped\n"),
        troubles);

    report::Joined second;
    const auto good = report::to_json_line(test::cell("f", "v", 1e-3)) + "\n";
    BOOST_TEST(troubles_of(second, good + std::string((16 << 20) + 7, 'x') + "\n" + good) ==
               "a.jsonl:2: the line is longer than 16 MiB; it and the rest of the file are skipped");
    BOOST_TEST(second.records().size() == 1u);
}

BOOST_AUTO_TEST_CASE(room_for_records_follows_from_the_average_line_not_from_the_first) {
    std::string text;
    for (int i = 0; i < 2500; ++i) {
        auto r = test::cell("f", "v", 1e-3);
        r.utc = std::to_string(i);
        if (i > 0) r.build.log.assign(2000, 'x');
        text += report::to_json_line(r) + "\n";
    }
    report::Joined joined;
    joined.expect(text.size());
    BOOST_TEST(troubles_of(joined, text) == "");
    BOOST_TEST(joined.records().size() == 2500u);
    BOOST_TEST(joined.records().capacity() < 2750u);  // the first line's length would give three times as much
}

BOOST_AUTO_TEST_CASE(lines_around_the_buffer_size_are_read_completely) {
    for (std::size_t size = 65530; size < 65542; ++size) {
        for (const char* end : {"\n", "\r\n", ""}) {
            auto r = test::cell("f", "v", 1e-3);
            r.build.log.assign(1, 'x');
            const auto line = report::to_json_line(r);
            r.build.log.assign(1 + size - line.size(), 'x');
            report::Joined joined;
            BOOST_TEST(troubles_of(joined, report::to_json_line(r) + end + std::string(end)) == "", size);
            BOOST_REQUIRE(joined.records().size() == 1u);
            BOOST_TEST(joined.records().front().build.log == r.build.log);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
