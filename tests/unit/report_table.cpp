// The table of a run: its columns, its rows and what stands above them.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "report/table/layout.hpp"
#include "unit/golden.hpp"
#include "unit/report_tables.hpp"

BOOST_AUTO_TEST_SUITE(report_table)

using namespace cllab;
using model::Record;
using test::at;
using test::table;

namespace {

/// The pitch family on two devices: items chosen by each variant, one wrong, one unsupported, one throttled, one by
/// host clock.
std::vector<Record> pitch_run() {
    constexpr double bytes = 2.0 * 8192 * 8192, gpu_copy = 4.0e12, cpu_copy = 1.2e10;
    const auto on_gpu = [&](const std::string& variant, double seconds, const std::string& items) {
        auto r =
            at(test::moving(test::cell("pitch", variant, seconds), bytes, gpu_copy),
               {{"width", "8192"}, {"height", "8192"}, {"pitch", "20.2"}, {"items", items}, {"weights", "linear"}});
        r.code.registers = 24;
        r.dump = "dumps/NVIDIA-H200/" + r.id;
        return r;
    };
    const auto on_cpu = [&](const std::string& variant, double seconds) {
        auto r = at(test::moving(test::cell("pitch", variant, seconds, test::pocl()), bytes, cpu_copy),
                    {{"width", "8192"}, {"height", "8192"}, {"pitch", "20.2"}, {"items", "2"}, {"weights", "linear"}});
        r.dump = "dumps/cpu-EPYC/" + r.id;
        r.time->clock = "host";
        r.warnings = {
            "host-clock: the device's timer failed its audit, so times include launch cost; compare long cells only"};
        return r;
    };
    std::vector<Record> records{on_gpu("implicit", 210.4e-6, "8388608"), on_cpu("short8", 12.1e-3),
                                on_gpu("short8", 98.31e-6, "132"),       on_gpu("wide", 42.75e-6, "4194304"),
                                on_gpu("struct", 42.9e-6, "4194304"),    on_cpu("wide", 11.2e-3)};
    records[2].code.registers = 255;
    records[2].code.spills = 16;
    records[2].code.loop = {{"instructions", 180}, {"reuse", 12}};
    records[3].code.loop = {{"instructions", 96}};
    records[4].code.loop = {{"instructions", 11}, {"v", 5}, {"s", 4}};
    records[2].warnings = {
        "throttled: the reference kernel slowed by more than 10 % while this cell ran; run it again on a cooler "
        "device"};
    records.push_back(test::failed(on_gpu("local", 1e-3, "auto"), model::Status::wrong_result,
                                   "dst[17]: 3, expected 4; 41 of 67108864 bytes differ"));
    records.push_back(
        test::failed(on_gpu("image", 1e-3, "auto"), model::Status::unsupported, "the device has no images"));
    records[6].code.registers.reset();
    return records;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_run_on_two_devices_prints_as_the_golden_file) {
    test::matches_golden("table_pitch.txt", table(pitch_run()));
}

BOOST_AUTO_TEST_CASE(narrow_terminal_drops_columns_and_lists_them) {
    const auto text = table(pitch_run(), {.colour = false, .width = 80});
    test::matches_golden("table_pitch_80.txt", text);
    for (const auto& line : split(text, '\n')) BOOST_TEST(report::display_width(line) <= 80u, line);
}

BOOST_AUTO_TEST_CASE(colour_depends_on_the_style_and_changes_nothing_else) {
    const auto plain = table(pitch_run()), coloured = table(pitch_run(), {.colour = true, .width = 0});
    BOOST_TEST(plain.find('\x1b') == std::string::npos);
    BOOST_TEST(coloured.find("\x1b[1;31mwrong_result\x1b[0m") != std::string::npos);
    std::string stripped;
    for (std::size_t i = 0; i < coloured.size(); ++i) {
        if (coloured[i] == '\x1b')
            i = coloured.find('m', i);
        else
            stripped += coloured[i];
    }
    BOOST_TEST(stripped == plain);
}

BOOST_AUTO_TEST_CASE(a_sweep_groups_the_variants_of_each_point) {
    std::vector<Record> records;
    for (const char* width : {"1024", "2048"})
        for (const char* variant : {"read", "copy"}) {
            auto r = at(test::moving(test::cell("bandwidth", variant, variant[0] == 'r' ? 1e-3 : 1.5e-3),
                                     variant[0] == 'r' ? 1e9 : 2e9, 2e12),
                        {{"width", width}});
            r.metrics.push_back({"upload", {2.5e-3, "s", model::Better::lower}});
            r.metrics.push_back({"lines", {3, "line", model::Better::neither}});
            records.push_back(r);
        }
    std::swap(records[1], records[2]);  // measured round by round
    test::matches_golden("table_sweep.txt", table(records));
}

BOOST_AUTO_TEST_CASE(step_time_of_a_slope_is_the_time_and_not_repeated) {
    std::vector<Record> records;
    for (const double ns : {1.16, 3.5, 152.0}) {
        auto r = at(test::cell("latency", "global", ns * 1e-9, test::pocl()),
                    {{"footprint", std::to_string(static_cast<int>(ns * 1024))}});
        r.metrics.push_back({"step_time", {ns * 1e-9, "s", model::Better::lower}});
        r.time->cache = "cold";
        records.push_back(r);
    }
    test::matches_golden("table_steps.txt", table(records));
}

BOOST_AUTO_TEST_CASE(shared_cache_state_is_above_the_rows_else_in_a_column) {
    auto left = test::cell("saxpy", "w32", 1e-3), right = test::cell("saxpy", "w128", 2e-3);
    BOOST_TEST(table({left, right}).find("cache") == std::string::npos);
    left.device.last_level_bytes = right.device.last_level_bytes = 32 << 20;
    left.device.last_level_from = right.device.last_level_from = "reported by the driver";
    left.time->cache = right.time->cache = "cold";
    BOOST_TEST(
        table({left, right}).find("\nsaxpy: cache=cold (4 times the last level, 32 MiB reported by the driver)\n") !=
        std::string::npos);
    right.time->cache = "hot";
    BOOST_TEST(table({left, right}).find("cache=") == std::string::npos);
    BOOST_TEST(table({left, right}).find("  cache") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(step_time_is_shown_only_without_a_rate) {
    auto r = test::cell("barrier", "local", 1e-3);
    r.metrics.push_back({"step_time", {2e-8, "s", model::Better::lower}});
    BOOST_TEST(table({r}).find("per step [ns]") != std::string::npos);
    r = test::moving(r, 1e9, 1e12);
    BOOST_TEST(table({r}).find("per step") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(time_column_is_found_by_name_without_intervals) {
    // What costs nothing: an interval in percent of 0 is none.
    const auto text = table({test::cell("divergence", "straight", 0)}, {.columns = {"time"}});
    BOOST_TEST(text.find("time [s]") != std::string::npos, text);
    BOOST_TEST(text.find("no row has") == std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(a_dump_without_timing_prints_no_empty_columns) {
    auto r = test::cell("muladd", "float", 1);
    r.time.reset();
    r.code.registers = 10;
    r.dump = "dumps/NVIDIA-H200/muladd_float";
    test::matches_golden("table_dump.txt", table({r}));
    BOOST_TEST(table({}) == "");
}

BOOST_AUTO_TEST_CASE(columns_align_decimal_points_and_share_a_unit) {
    auto c = report::quantity_column({.title = "time"}, {1.5e-3, 980e-6, 12e-3, std::nullopt}, "s");
    BOOST_TEST(c.title == "time [ms]");
    BOOST_TEST(c.cells.at(0) == "1.50 ");
    BOOST_TEST(c.cells.at(1) == "0.980");
    BOOST_TEST(c.cells.at(2) == "12.0  ");
    BOOST_TEST(c.cells.at(3) == "-    ");
}

BOOST_AUTO_TEST_CASE(distant_values_have_their_own_units) {
    const auto c = report::quantity_column({.title = "time"}, {1e-9, 1e-3}, "s");
    BOOST_TEST(c.title == "time");
    BOOST_TEST(c.cells.at(0) == "1.00 ns");
    BOOST_TEST(c.cells.at(1) == "1.00 ms");
    BOOST_TEST(report::quantity_column({.title = "size"}, {65536.0}, "byte").cells.at(0) == "64 KiB");
    BOOST_TEST(report::quantity_column({.title = ""}, {4.2e12}, "B/s").title == "GB/s");
    BOOST_TEST(report::quantity_column({.title = ""}, {4.2e12}, "FLOP/s").title == "TFLOP/s");
    BOOST_TEST(report::quantity_column({.title = "n"}, {3.0, 12.0}, "line").cells.at(0) == "3");
    BOOST_TEST(report::quantity_column({.title = "of copy"}, {91.26}, "%").cells.at(0) == "91.3%");
}

BOOST_AUTO_TEST_CASE(wrapped_lines_keep_the_width_and_every_word) {
    const auto text =
        report::wrap("one two three four a_word_longer_than_the_line five a/path/is/to/be/copied", "  ", 12);
    BOOST_TEST(text ==
               "  one two\n  three four\n  a_word_lon\n  ger_than_t\n  he_line\n  five\n  a/path/is/to/be/copied\n");
    BOOST_TEST(report::wrap("", "  ", 12) == "");
}

BOOST_AUTO_TEST_CASE(asymmetric_interval_has_two_numbers) {
    auto r = test::cell("pitch", "wide", 609e-6);
    r.time->low = 580e-6;
    r.time->high = 1110e-6;
    BOOST_TEST(table({r}).find("-4.8/+82%") != std::string::npos, table({r}));
}

BOOST_AUTO_TEST_CASE(equal_code_at_a_point_shows_one_loop) {
    auto a = test::cell("pitch", "wide", 1e-3), b = test::cell("pitch", "loop", 1e-3);
    a.code.loop = {{"instructions", 45}};
    b.code.loop = {{"instructions", 47}};
    a.code.fingerprint = "one";
    b.code.fingerprint = "other";
    BOOST_TEST(table({a, b}).find("47") != std::string::npos, table({a, b}));
    a.code.fingerprint = b.code.fingerprint = "one";
    BOOST_TEST(table({a, b}).find("47") == std::string::npos, table({a, b}));
    a.point = {{"width", "32"}};
    b.point = {{"width", "64"}};
    BOOST_TEST(table({a, b}).find("47") != std::string::npos, table({a, b}));
}

BOOST_AUTO_TEST_SUITE_END()
