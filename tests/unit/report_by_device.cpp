#include <boost/test/unit_test.hpp>
#include <sstream>

#include "report/records/joined.hpp"
#include "report/records/json.hpp"
#include "report/table/device_grid.hpp"
#include "report/table/table.hpp"
#include "unit/golden.hpp"
#include "unit/report_records.hpp"

BOOST_AUTO_TEST_SUITE(report_by_device)

using namespace cllab;
using model::Record;

namespace {

using Point = std::vector<std::pair<std::string, std::string>>;

model::DeviceInfo oclgrind() {
    return {.platform = "Oclgrind",
            .name = "Oclgrind Simulator",
            .driver = "21.10",
            .type = "accelerator",
            .selector = "2:0"};
}

Record pitch(const std::string& variant, double seconds, const model::DeviceInfo& device, Point point) {
    auto r = test::cell("pitch", variant, seconds, device);
    r.point = std::move(point);
    r.host.name = "node1";
    return r;
}

bool items_may_be_auto(const std::string& family, const std::string& axis) {
    return family == "pitch" && axis == "items";
}

std::string page(const std::vector<Record>& records, const std::vector<report::LostDevice>& lost = {}) {
    std::ostringstream out;
    report::print_by_device(out, records, lost, items_may_be_auto, {});
    return out.str();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Two variants at one width on H200 and PoCL.
std::vector<Record> two_by_two(double wide_gpu, double short_gpu, double wide_cpu, double short_cpu) {
    const Point at{{"width", "1024"}};
    return {pitch("wide", wide_gpu, test::h200(), at), pitch("short8", short_gpu, test::h200(), at),
            pitch("wide", wide_cpu, test::pocl(), at), pitch("short8", short_cpu, test::pocl(), at)};
}

std::string refused(report::Joined& joined, const std::string& text) {
    std::istringstream in(text);
    const auto before = joined.troubles().size();
    joined.read(in, "a.jsonl");
    return joined.troubles().size() == before ? "" : joined.troubles().back();
}

}  // namespace

BOOST_AUTO_TEST_CASE(four_devices_print_as_the_golden_file) {
    std::vector<Record> records;
    for (const char* width : {"1024", "8192"}) {
        const double k = std::string(width) == "1024" ? 1 : 64;
        // The number of items was auto: each device and variant chose its own, which does not make another row.
        records.push_back(
            pitch("wide", k * 4e-6, test::h200(), {{"width", width}, {"items", "4096"}, {"pitch", "20.2"}}));
        records.push_back(
            pitch("short8", k * 9e-6, test::h200(), {{"width", width}, {"items", "132"}, {"pitch", "20.2"}}));
        records.push_back(pitch("wide", k * 3e-4, test::pocl(), {{"width", width}, {"items", "2"}, {"pitch", "20.2"}}));
        records.push_back(
            pitch("short8", k * 2e-4, test::pocl(), {{"width", width}, {"items", "2"}, {"pitch", "20.2"}}));
        records.push_back(
            test::failed(pitch("image", 1, test::pocl(), {{"width", width}, {"items", "auto"}, {"pitch", "20.2"}}),
                         model::Status::unsupported, "the device has no images"));
        records.push_back(
            pitch("image", k * 4.01e-6, test::h200(), {{"width", width}, {"items", "4096"}, {"pitch", "20.2"}}));
        auto simulated = pitch("wide", k * 1e-2, oclgrind(), {{"width", width}, {"items", "1"}, {"pitch", "20.2"}});
        simulated.warnings = {"simulated: Oclgrind's times are of a simulation; use it for races and bounds"};
        records.push_back(simulated);
        records.push_back(
            test::failed(pitch("short8", 1, oclgrind(), {{"width", width}, {"items", "1"}, {"pitch", "20.2"}}),
                         model::Status::wrong_result, "dst[17]: 3, expected 4"));
    }
    test::matches_golden(
        "by_device.txt",
        page(records, {{{.platform = "rusticl", .name = "llvmpipe", .driver = "22.3.6", .selector = "3:0"},
                        "device 3:0: the driver's process was killed by SIGSEGV before its first cell"}}));
}

BOOST_AUTO_TEST_CASE(one_device_has_no_table_by_device) {
    auto records = two_by_two(1, 2, 1, 2);
    records.resize(2);
    BOOST_TEST(page(records) == "");
    BOOST_TEST(page({}, {{test::h200(), "a"}, {test::pocl(), "b"}}) == "");
}

BOOST_AUTO_TEST_CASE(agreeing_devices_are_reported) {
    const auto text = page(two_by_two(1, 2, 1, 3));
    BOOST_TEST(has(text, "pitch_wide wins on A and B.\n"), text);
    BOOST_TEST(!has(text, "differs"), text);
}

BOOST_AUTO_TEST_CASE(difference_within_placement_effects_is_no_winner) {
    const auto text = page(two_by_two(1, 1.015, 1.1, 1));  // 1.5 % on the GPU, 10 % on the CPU
    BOOST_TEST(!has(text, "wins"), text);
    BOOST_TEST(!has(text, "fastest  "), text);
    BOOST_TEST(has(text, "~1.00x"), text);
    BOOST_TEST(has(text, "~1.10x"), text);
}

BOOST_AUTO_TEST_CASE(losers_in_another_order_are_named_under_one_winner) {
    auto records = two_by_two(2, 3, 3, 2);
    records.push_back(pitch("best", 1, test::h200(), {{"width", "1024"}}));
    records.push_back(pitch("best", 1, test::pocl(), {{"width", "1024"}}));
    const auto text = page(records);
    BOOST_TEST(has(text, "pitch_best wins on A and B; order changes beyond the intervals: pitch_wide before"), text);
    BOOST_TEST(!has(text, "differs"), text);
}

BOOST_AUTO_TEST_CASE(times_of_a_simulator_are_shown_but_not_ranked) {
    auto records = two_by_two(1, 2, 2, 1);
    for (auto& r : records)
        if (r.device.type == "cpu") r.warnings = {"simulated: Oclgrind's times are of a simulation"};
    const auto text = page(records);
    BOOST_TEST(has(text, "  pitch_wide    1.00 s  fastest  2.00 s\n  pitch_short8  2.00 s    2.00x  1.00 s\n"), text);
    BOOST_TEST(!has(text, "wins"), text);
}

BOOST_AUTO_TEST_CASE(variant_that_did_not_run_is_not_beaten) {
    auto records = two_by_two(2, 3, 2, 3);
    records.push_back(pitch("best", 1, test::h200(), {{"width", "1024"}}));
    const auto text = page(records);
    BOOST_TEST(has(text, "The ranking differs: pitch_best wins on A, pitch_wide on B; pitch_best has no time on B;"),
               text);
    records.erase(records.begin());
    const auto apart = page(records);
    BOOST_TEST(
        has(apart,
            "      pitch_best wins on A, pitch_wide on B; pitch_best has no time on B, pitch_wide has no time on\n"),
        apart);
    BOOST_TEST(!has(apart, "differs"), apart);
}

BOOST_AUTO_TEST_CASE(latest_record_of_a_repeated_cell_counts) {
    auto records = two_by_two(1, 2, 1, 2);
    for (auto& r : records) r.utc = "2026-11-21T10:00:00Z";
    auto again = pitch("wide", 7, test::pocl(), {{"width", "1024"}});
    again.utc = "2026-11-21T11:00:00Z";
    records.insert(records.begin(), again);
    const auto text = page(records);
    BOOST_TEST(has(text, "7.00 s    3.50x"), text);
    BOOST_TEST(has(text, "Not shown: 1 earlier record(s) of cells that ran again.\n"), text);
}

BOOST_AUTO_TEST_CASE(requested_axes_make_separate_rows) {
    // One width on each device: nothing beside each other, and nothing ranked across.
    const auto text = page(
        {pitch("wide", 1, test::h200(), {{"width", "1024"}}), pitch("wide", 2, test::pocl(), {{"width", "2048"}})});
    BOOST_TEST(has(text, "1024"), text);
    BOOST_TEST(has(text, "2048"), text);
    // In the records of two runs the variants' own tables are not ranked across widths either.
    std::ostringstream out;
    const std::vector<Record> records{pitch("wide", 1, test::h200(), {{"width", "1024"}}),
                                      pitch("short8", 2, test::h200(), {{"width", "2048"}})};
    report::print_table(out, model::rows_of(records), {}, items_may_be_auto);
    BOOST_TEST(!has(out.str(), "fastest"), out.str());
}

BOOST_AUTO_TEST_CASE(device_is_identified_by_uuid_or_address_or_name_with_host) {
    const auto key = [](const std::string& identity, const std::string& host, const std::string& selector,
                        const char* type = "gpu") {
        Record r;
        r.device = {.name = "X", .type = type, .selector = selector, .identity = identity};
        r.host.name = host;
        return model::device_key(r);
    };
    BOOST_TEST(key("UUID 01", "a", "0:0") == key("UUID 01", "b", "1:3"));
    BOOST_TEST(key("UUID 01", "a", "0:0") != key("UUID 02", "a", "0:0"));
    BOOST_TEST(key("UUID 01", "a", "0:0", "cpu") != key("UUID 01", "b", "0:0", "cpu"));
    BOOST_TEST(key("PCI 0000:01:00.0", "a", "0:0") == key("PCI 0000:01:00.0", "a", "1:2"));
    BOOST_TEST(key("PCI 0000:01:00.0", "a", "0:0") != key("PCI 0000:01:00.0", "b", "0:0"));
    BOOST_TEST(key("", "a", "0:1") == key("", "a", "2:1"));  // another driver was installed in front
    BOOST_TEST(key("", "a", "0:1") != key("", "a", "0:0"));  // the platform's second device of that name
    BOOST_TEST(key("", "a", "0:0") != key("", "b", "0:0"));
}

BOOST_AUTO_TEST_CASE(hosts_are_named_only_if_there_are_several) {
    auto records = two_by_two(1, 2, 1, 2);
    BOOST_TEST(!has(page(records), "node1"));
    records.back().host.name = records[2].host.name = "node2";
    BOOST_TEST(has(page(records), "driver 3.1 on node2\n"));
    std::ostringstream out;
    report::print_table(out, model::rows_of(records), {});
    BOOST_TEST(has(out.str(), "driver 570.86.15 on node1\n"));
}

BOOST_AUTO_TEST_CASE(joined_records_appear_once) {
    const auto record = two_by_two(1, 2, 1, 2).front();
    auto line = report::to_json_line(record);
    line.replace(line.rfind('}'), 1, ",\"later\":1}");
    report::Joined joined;
    BOOST_TEST(refused(joined, line + "\r\n\n" + line + "\n") == "");
    BOOST_TEST(joined.records().size() == 1u);
    // Another run, place in it, time of day, status, point or sample is another record.
    for (const auto change : {0, 1, 2, 3, 4, 5, 6}) {
        auto other = record;
        if (change == 0) other.utc = "2026-11-21T00:00:00Z";
        if (change == 1) other = test::failed(other, model::Status::timed_out, "60 s");
        if (change == 2) other.point.front().second = "7";
        if (change == 3) other.samples.back() = other.time->high;
        if (change == 5) other.run.id = "another";
        if (change == 6) other.run.order.position = 5;
        if (change == 4) other.host.name = "node2", other.device = test::pocl();
        BOOST_TEST(refused(joined, report::to_json_line(other)) == "");
    }
    BOOST_TEST(joined.records().size() == 8u);
}

BOOST_AUTO_TEST_CASE(invalid_record_is_reported_with_file_and_line) {
    report::Joined joined;
    BOOST_TEST(refused(joined, "\n{\"schema\":1,\n") ==
               "a.jsonl:2: this is not a record: its JSON is damaged at byte 13 of 12; the line is skipped");
    BOOST_TEST(refused(joined, "{\"schema\":3}") ==
               "a.jsonl:1: the record has schema 3; this build reads schemas 1 and 2; the line is skipped");
    BOOST_TEST(joined.records().empty());
}

BOOST_AUTO_TEST_CASE(cells_of_different_runs_are_not_ranked) {
    auto records = two_by_two(1, 2, 1, 2);
    for (auto& r : records) r.utc = "2026-11-21T10:00:00Z", r.run.id = "first";
    auto again = pitch("wide", 7, test::pocl(), {{"width", "1024"}});
    again.utc = "2026-11-21T11:00:00Z";
    again.run.id = "later";
    records.push_back(again);
    const auto text = page(records);
    BOOST_TEST(has(text, "7.00 s"), text);
    BOOST_TEST(!has(text, "3.50x"), text);
    BOOST_TEST(!has(text, "wins on"), text);
    BOOST_TEST(has(text, "Only cells that took turns in one run are ranked"), text);
}

BOOST_AUTO_TEST_SUITE_END()
