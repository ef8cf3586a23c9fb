#include <boost/test/unit_test.hpp>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "report/records/csv.hpp"
#include "report/records/json.hpp"
#include "report/table/layout.hpp"
#include "report/table/ranking.hpp"
#include "report/table/table.hpp"
#include "unit/golden.hpp"
#include "unit/report_records.hpp"

BOOST_AUTO_TEST_SUITE(report_table)

using namespace cllab;
using model::Record;

namespace {

std::string table(const std::vector<Record>& records, report::TableStyle style = {}) {
    std::ostringstream out;
    report::print_table(out, records, style);
    return out.str();
}

Record at(Record r, std::vector<std::pair<std::string, std::string>> point) {
    r.point = std::move(point);
    return r;
}

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

std::vector<std::vector<std::string>> groups(const std::vector<Record>& records) {
    std::vector<const Record*> rows;
    for (const auto& r : records) rows.push_back(&r);
    const auto c = report::compare(rows);
    std::vector<std::vector<std::string>> out;
    for (std::size_t i = 0; i < c.rows.size(); ++i) {
        if (c.group[i] >= out.size()) out.resize(c.group[i] + 1);
        out[c.group[i]].push_back(c.rows[i]->variant + (c.ranks[i].fastest ? "!" : ""));
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_run_on_two_devices_prints_as_the_golden_file) {
    test::matches_golden("table_pitch.txt", table(pitch_run()));
}

BOOST_AUTO_TEST_CASE(a_narrow_terminal_loses_columns_but_is_told_which) {
    const auto text = table(pitch_run(), {.colour = false, .width = 80});
    test::matches_golden("table_pitch_80.txt", text);
    for (const auto& line : split(text, '\n')) BOOST_TEST(report::display_width(line) <= 80u, line);
}

BOOST_AUTO_TEST_CASE(colour_comes_by_the_style_only_and_changes_nothing_else) {
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

BOOST_AUTO_TEST_CASE(steps_of_a_slope_are_the_time_and_are_not_shown_twice) {
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

BOOST_AUTO_TEST_CASE(a_cache_state_that_all_rows_share_stands_above_them_and_one_that_differs_in_a_column) {
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

BOOST_AUTO_TEST_CASE(the_time_of_a_step_is_shown_only_where_no_rate_says_it) {
    auto r = test::cell("barrier", "local", 1e-3);
    r.metrics.push_back({"step_time", {2e-8, "s", model::Better::lower}});
    BOOST_TEST(table({r}).find("per step [ns]") != std::string::npos);
    r = test::moving(r, 1e9, 1e12);
    BOOST_TEST(table({r}).find("per step") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_dump_without_timing_prints_no_empty_columns) {
    auto r = test::cell("muladd", "float", 1);
    r.time.reset();
    r.code.registers = 10;
    r.dump = "dumps/NVIDIA-H200/muladd_float";
    test::matches_golden("table_dump.txt", table({r}));
    BOOST_TEST(table({}) == "");
}

BOOST_AUTO_TEST_CASE(axes_that_each_variant_chose_for_itself_do_not_split_a_group) {
    const auto cell = [](const char* variant, const char* width, const char* items, double s) {
        return at(test::cell("pitch", variant, s), {{"width", width}, {"items", items}});
    };
    // items = width for a, width / 8 for b: both are functions of the swept width.
    const auto g = groups({cell("a", "1024", "1024", 2), cell("b", "1024", "128", 1), cell("a", "2048", "2048", 3),
                           cell("b", "2048", "256", 4)});
    BOOST_REQUIRE(g.size() == 2u);
    BOOST_TEST(g[0] == (std::vector<std::string>{"a", "b!"}), boost::test_tools::per_element());
    BOOST_TEST(g[1] == (std::vector<std::string>{"a!", "b"}), boost::test_tools::per_element());
    // A sweep that both run splits.
    BOOST_TEST(groups({cell("a", "1024", "1", 2), cell("a", "1024", "2", 1), cell("b", "1024", "1", 2),
                       cell("b", "1024", "2", 3)})
                   .size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_fastest_is_by_rate_where_the_work_differs) {
    // The copy takes longer but moves twice the bytes.
    const auto g = groups({test::moving(test::cell("bandwidth", "read", 1e-3), 1e9, 1e12),
                           test::moving(test::cell("bandwidth", "copy", 1.5e-3), 2e9, 1e12)});
    BOOST_TEST(g.at(0).at(1) == "copy!");
}

BOOST_AUTO_TEST_CASE(what_the_placement_of_buffers_can_make_names_no_fastest) {
    const auto ranks_of = [](const char* type, double second, double third) {
        std::vector<Record> records{test::cell("f", "a", 1e-3), test::cell("f", "b", second),
                                    test::cell("f", "c", third)};  // each +-0.5 %
        for (auto& record : records) record.device.type = type;
        return report::compare({&records[0], &records[1], &records[2]}).ranks;
    };
    // One process differs by up to 15 % between placements on a CPU: b may be as fast as a, c is not.
    auto ranks = ranks_of("cpu", 1.11e-3, 1.20e-3);
    BOOST_TEST(!ranks[0].fastest);
    BOOST_TEST(ranks[0].indistinct);
    BOOST_TEST(ranks[1].indistinct);
    BOOST_TEST(!ranks[2].indistinct);
    BOOST_TEST(ranks[2].ratio == 1.20, boost::test_tools::tolerance(1e-9));
    ranks = ranks_of("gpu", 1.11e-3, 1.20e-3);
    BOOST_TEST(ranks[0].fastest);
    BOOST_TEST(!ranks[1].indistinct);
    ranks = ranks_of("gpu", 1.015e-3, 1.20e-3);
    BOOST_TEST(!ranks[0].fastest);
    BOOST_TEST(ranks[1].indistinct);
}

BOOST_AUTO_TEST_CASE(overlapping_intervals_are_not_told_apart_however_far_the_medians) {
    auto a = test::cell("f", "a", 1e-3), b = test::cell("f", "b", 2e-3);
    a.device.type = b.device.type = "gpu";
    b.time->low = 0.9e-3;
    const auto ranks = report::compare({&a, &b}).ranks;
    BOOST_TEST(!ranks[0].fastest);
    BOOST_TEST(ranks[1].indistinct);
}

BOOST_AUTO_TEST_CASE(a_failed_cell_and_a_cell_alone_are_not_compared) {
    const auto a = test::cell("f", "a", 1e-3),
               b = test::failed(test::cell("f", "b", 1), model::Status::timed_out, "60 s");
    const auto ranks = report::compare({&a, &b}).ranks;
    BOOST_TEST(!ranks[0].compared);
    BOOST_TEST(!ranks[1].compared);
}

BOOST_AUTO_TEST_CASE(columns_line_up_their_decimal_points_and_share_a_unit) {
    auto c = report::quantity_column("time", {1.5e-3, 980e-6, 12e-3, std::nullopt}, "s");
    BOOST_TEST(c.title == "time [ms]");
    BOOST_TEST(c.cells.at(0) == "1.50 ");
    BOOST_TEST(c.cells.at(1) == "0.980");
    BOOST_TEST(c.cells.at(2) == "12.0  ");
    BOOST_TEST(c.cells.at(3) == "-    ");
}

BOOST_AUTO_TEST_CASE(values_far_apart_carry_their_own_units) {
    const auto c = report::quantity_column("time", {1e-9, 1e-3}, "s");
    BOOST_TEST(c.title == "time");
    BOOST_TEST(c.cells.at(0) == "1.00 ns");
    BOOST_TEST(c.cells.at(1) == "1.00 ms");
    BOOST_TEST(report::quantity_column("size", {65536.0}, "byte").cells.at(0) == "64 KiB");
    BOOST_TEST(report::quantity_column("", {4.2e12}, "B/s").title == "GB/s");
    BOOST_TEST(report::quantity_column("", {4.2e12}, "FLOP/s").title == "TFLOP/s");
    BOOST_TEST(report::quantity_column("n", {3.0, 12.0}, "line").cells.at(0) == "3");
    BOOST_TEST(report::quantity_column("of copy", {91.26}, "%").cells.at(0) == "91.3%");
}

BOOST_AUTO_TEST_CASE(wrapped_lines_keep_the_width_and_every_word) {
    const auto text =
        report::wrap("one two three four a_word_longer_than_the_line five a/path/is/to/be/copied", "  ", 12);
    BOOST_TEST(text ==
               "  one two\n  three four\n  a_word_lon\n  ger_than_t\n  he_line\n  five\n  a/path/is/to/be/copied\n");
    BOOST_TEST(report::wrap("", "  ", 12) == "");
}

BOOST_AUTO_TEST_CASE(an_axis_that_only_some_variants_have_does_not_split_the_comparison) {
    const std::vector<Record> records{at(test::cell("pad", "runtime", 3e-3), {{"side", "7"}, {"k", "1"}}),
                                      at(test::cell("pad", "runtime", 2e-3), {{"side", "7"}, {"k", "4"}}),
                                      at(test::cell("pad", "flat", 1e-3), {{"side", "7"}})};
    const auto comparison = report::compare({&records[0], &records[1], &records[2]});
    BOOST_TEST(comparison.ranks[0].ratio == 3, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(comparison.ranks[1].ratio == 2, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(comparison.ranks[2].fastest);
}

BOOST_AUTO_TEST_CASE(below_six_samples_a_row_says_how_many_and_is_not_ranked) {
    std::vector<Record> records{test::cell("pitch", "wide", 1e-3), test::cell("pitch", "short8", 2e-3),
                                test::cell("pitch", "struct", 3e-3)};
    records[0].time->n = 5;
    std::ostringstream page;
    report::print_table(page, records, {});
    std::map<std::string, std::string> rows;
    for (const auto& line : split(page.str(), '\n'))
        for (const auto& record : records)
            if (line.find(record.id) != std::string::npos) rows[record.variant] = line;
    BOOST_TEST(rows["wide"].find("n = 5") != std::string::npos, page.str());
    BOOST_TEST(rows["wide"].find("fastest") == std::string::npos, page.str());
    BOOST_TEST(rows["wide"].find('%') == std::string::npos, page.str());
    BOOST_TEST(rows["short8"].find("fastest") != std::string::npos, page.str());
    BOOST_TEST(rows["struct"].find("1.50x") != std::string::npos, page.str());
    records[1].time->n = 5;
    records[2].time->n = 5;
    std::ostringstream unranked;
    report::print_table(unranked, records, {});
    BOOST_TEST(unranked.str().find("vs best") == std::string::npos, unranked.str());
    BOOST_TEST(report::to_json_line(records[0]).find("\"low\"") == std::string::npos);
    BOOST_TEST(split(report::to_csv_line(records[0]), ',')[11] == "");  // low_s
}

namespace {

/// What each row is said to be, as "wide 1.56x", in the order of the rows.
std::vector<std::string> said(const std::vector<Record>& records) {
    const auto c = report::compare(model::rows_of(records));
    std::vector<std::string> out;
    for (std::size_t i = 0; i < c.rows.size(); ++i) {
        const auto& rank = c.ranks[i];
        out.push_back(c.rows[i]->variant + (rank.fastest      ? " fastest"
                                            : rank.indistinct ? " ~"
                                            : rank.compared   ? " slower"
                                                              : ""));
    }
    return out;
}

Record of_run(Record r, const std::string& run, std::uint64_t comparison = 0) {
    r.run.id = run;
    r.run.order.comparison = comparison;
    return r;
}

}  // namespace

BOOST_AUTO_TEST_CASE(only_what_took_turns_is_ranked) {
    using Said = std::vector<std::string>;
    const auto wide = test::cell("pitch", "wide", 547e-6), loop = test::cell("pitch", "loop", 853e-6),
               other = test::cell("pitch", "short8", 1400e-6);
    BOOST_TEST(said({of_run(wide, "a"), of_run(loop, "a")}) == (Said{"wide fastest", "loop slower"}));
    BOOST_TEST(said({of_run(wide, "a"), of_run(loop, "b")}) == (Said{"wide", "loop"}));
    BOOST_TEST(said({of_run(wide, "a", 0), of_run(loop, "a", 1)}) == (Said{"wide", "loop"}));
    auto late = of_run(loop, "a");
    late.time->batch = 2;
    BOOST_TEST(said({of_run(wide, "a"), late}) == (Said{"wide", "loop"}));
    auto old = wide, older = loop;
    old.schema = older.schema = 1;
    BOOST_TEST(said({old, older}) == (Said{"wide", "loop"}));
    // Each run has its own ranks, and the table says so.
    const std::vector<Record> two{of_run(wide, "b"), of_run(other, "b"), of_run(loop, "a"), of_run(other, "a")};
    BOOST_TEST(said(two) == (Said{"wide fastest", "short8 slower", "loop fastest", "short8 slower"}));
    BOOST_TEST(table(two).find("took turns in one run") != std::string::npos);
    BOOST_TEST(table({two[0], two[1]}).find("took turns in one run") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_row_that_did_not_have_its_cores_is_not_ranked) {
    auto wide = test::cell("pitch", "wide", 1e-3, test::pocl()), loop = test::cell("pitch", "loop", 3e-3, test::pocl()),
         other = test::cell("pitch", "short8", 6e-3, test::pocl());
    BOOST_TEST(said({wide, loop, other}).front() == "wide fastest");
    wide.time->cores = 1.06;
    wide.time->waited = 0.9;
    BOOST_TEST(said({wide, loop, other}) == (std::vector<std::string>{"wide", "loop fastest", "short8 slower"}));
    loop.time->cores = 1.06;
    loop.time->waited = 0.9;
    BOOST_TEST(said({wide, loop, other}) == (std::vector<std::string>{"wide", "loop", "short8"}));
}

BOOST_AUTO_TEST_CASE(what_the_machine_was_seen_to_vary_by_names_no_fastest) {
    const auto rows = [](double reference, double cores) {
        auto a = test::cell("pitch", "wide", 1e-3, test::pocl()),
             b = test::cell("pitch", "loop", 1.19e-3, test::pocl());
        for (auto* r : {&a, &b}) {
            r->time->reference_spread = reference;
            r->time->cores = cores;
            r->time->waited = 2 - cores;
            r->host.threads = 2;
        }
        return std::vector<Record>{a, b};
    };
    BOOST_TEST(said(rows(0.01, 2)).front() == "wide fastest");
    BOOST_TEST(said(rows(0.08, 2)).front() == "wide ~");
    BOOST_TEST(said(rows(0.01, 1.84)).front() == "wide ~");
    BOOST_TEST(table(rows(0.08, 2)).find("can make 24 % here") != std::string::npos, table(rows(0.08, 2)));
}

BOOST_AUTO_TEST_CASE(an_interval_that_is_not_symmetric_has_two_numbers) {
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
