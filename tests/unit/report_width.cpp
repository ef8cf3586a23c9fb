// Every page on terminals of 40 to 200 columns, for devices whose names have 5 to 120 characters: no line is wider than
// the terminal, columns stay in line, and no word is lost.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <sstream>

#include "app/screen/devices_page.hpp"
#include "core/text.hpp"
#include "report/table/device_grid.hpp"
#include "report/table/layout.hpp"
#include "report/table/table.hpp"
#include "unit/report_records.hpp"

BOOST_AUTO_TEST_SUITE(report_width)

using namespace cllab;
using model::Record;

namespace {

const unsigned widths[] = {40, 57, 80, 100, 132, 200};

/// Names of vendors' style, in words and in one piece.
std::vector<std::string> device_names() {
    const std::string words =
                          "pthread-skylake-avx512-Intel(R) Xeon(R) Platinum 8481C Processor with 300 MiB of last level "
                          "on two sockets of a host or so",
                      solid(120, 'x');
    std::vector<std::string> out;
    for (const std::size_t length : {5, 20, 49, 80, 120})
        out.insert(out.end(), {words.substr(0, length), solid.substr(0, length)});
    return out;
}

std::string without_blanks(const std::string& text) {
    std::string out;
    for (const char c : text)
        if (c != ' ' && c != '\n') out += c;
    return out;
}

/// The first line that is wider than `width` although none of its words is, with a label of 18 columns in front; ""
/// when there is none.
std::string too_wide(const std::string& page, std::size_t width) {
    for (const auto& line : split(page, '\n')) {
        std::size_t longest = 0;
        for (const auto& word : split(line, ' ')) longest = std::max(longest, report::display_width(word));
        if (report::display_width(line) > width && longest + 18 <= width) return line;
    }
    return "";
}

model::DeviceInfo named(const std::string& name, unsigned index = 0) {
    auto out = test::pocl();
    out.name = name;
    out.selector = std::to_string(index) + ":0";
    out.identity = "id " + out.selector;
    return out;
}

std::vector<Record> run_on(const model::DeviceInfo& device) {
    std::vector<Record> out;
    for (const auto& [variant, seconds] : {std::pair{"short8", 12.1e-3}, {"wide", 11.2e-3}, {"implicit", 1.1e-3}}) {
        auto r = test::moving(test::cell("pitch", variant, seconds, device), 2.0 * 8192 * 8192, 1e10);
        r.point = {{"width", "8192"}, {"height", "8192"}, {"pitch", "20.2"}};
        r.code.registers = 24;
        r.dump = "dumps/" + device.name.substr(0, 5) + "/" + r.id;
        r.warnings = {
            "host-clock: the device's timer failed its audit, so times include launch cost; compare long cells only"};
        out.push_back(r);
    }
    out.push_back(test::failed(test::cell("pitch", "local", 1, device), model::Status::wrong_result,
                               "dst[17]: 3, expected 4; 41 of 67108864 bytes differ"));
    out.back().point = out.front().point;
    return out;
}

std::string table(const std::vector<Record>& records, unsigned width, bool colour = false) {
    std::ostringstream out;
    report::print_table(out, model::rows_of(records), {colour, width});
    return out.str();
}

std::vector<std::string> rows_with(const std::string& page, const std::string& word) {
    std::vector<std::string> out;
    for (const auto& line : split(page, '\n'))
        if (line.rfind("  " + word, 0) == 0)
            out.push_back(line);
        else if (!out.empty() && line.rfind("    ", 0) == 0 && line.rfind("     ", 0) != 0)
            out.back() = line;  // the name stood above
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(table_fits_and_keeps_the_times_aligned) {
    for (const auto& name : device_names()) {
        const auto records = run_on(named(name));
        for (const unsigned width : widths) {
            const auto page = table(records, width);
            // The kernel, its status and its time always stay.
            BOOST_TEST(too_wide(page, std::max(width, 41u)) == "", name << " at " << width);
            BOOST_TEST(without_blanks(page).rfind(
                           without_blanks(name + " (0:0), Portable Computing Language, driver 3.1"), 0) == 0u,
                       page);
            const auto rows = rows_with(page, "pitch_");
            BOOST_REQUIRE_EQUAL(rows.size(), records.size());
            for (int i = 1; i < 3; ++i) BOOST_TEST(rows[i].find('.') == rows[0].find('.'), page);
            for (const auto& [column, key] : {std::pair{"±", "interval"},
                                              {"GB/s", "bandwidth"},
                                              {"of copy", "of_copy"},
                                              {"note", "note"},
                                              {"regs", "regs"},
                                              {"dump", "dump"}})
                BOOST_TEST((page.find(column) != std::string::npos || page.find(key) != std::string::npos),
                           column << " is neither there nor said to be left out:\n"
                                  << page);
        }
    }
}

BOOST_AUTO_TEST_CASE(long_names_move_above_their_row) {
    for (const std::size_t length : {20u, 60u, 90u, 300u}) {
        std::vector<Record> records;
        for (const auto& flags : {std::string("none"), std::string(length, 'y')}) {
            for (auto& r : run_on(named("a device"))) {
                r.id = std::string(length, 'x') + r.variant;
                r.point = {{"width", "8192"}, {"flags", flags}};
                records.push_back(r);
            }
        }
        for (const unsigned width : {40u, 80u, 200u}) {
            const auto page = table(records, width);
            for (const auto& line : split(page, '\n'))
                BOOST_TEST((report::display_width(line) <= width || line.find('/') != std::string::npos),
                           line << " at " << width);
            for (const auto& r : records)
                BOOST_TEST(without_blanks(page).find(r.id) != std::string::npos, r.id.size() << " at " << width);
            BOOST_TEST(without_blanks(page).find(std::string(length, 'y')) != std::string::npos,
                       length << " at " << width);
            for (const auto* column : {"time [ms]", "vs best"})
                BOOST_TEST(page.find(column) != std::string::npos, page);
            auto elsewhere = records;
            for (auto& r : elsewhere) r.device = named("another", 1);
            elsewhere.insert(elsewhere.end(), records.begin(), records.end());
            std::ostringstream both;
            report::print_by_device(both, elsewhere, {}, {}, {false, width});
            for (const auto& line : split(both.str(), '\n'))
                BOOST_TEST(report::display_width(line) <= width, line << " at " << width);
        }
    }
}

BOOST_AUTO_TEST_CASE(requested_columns_appear_at_any_width) {
    const auto records = run_on(named("a device"));
    std::ostringstream some, all;
    report::print_table(some, model::rows_of(records), {false, 40, {"regs", "width", "spills"}});
    report::print_table(all, model::rows_of(records), {false, 40, {"all"}});
    const auto rows = split(some.str(), '\n');
    BOOST_TEST(std::count(rows.begin(), rows.end(), "  kernel          width  status        regs") == 1, some.str());
    BOOST_TEST(some.str().find("no row has: spills") != std::string::npos, some.str());
    for (const auto* column : {"±", "clock", "cache", "GB/s", "of copy", "regs", "note", "dump"})
        BOOST_TEST(all.str().find(column) != std::string::npos, all.str());
}

BOOST_AUTO_TEST_CASE(colour_marks_exactly_the_device_name) {
    for (const auto& name : device_names()) {
        const auto page = table(run_on(named(name)), 40, true);
        const auto end = page.find("\x1b[0m");
        BOOST_REQUIRE(page.rfind("\x1b[1m", 0) == 0u);
        BOOST_TEST(without_blanks(page.substr(4, end - 4)) == without_blanks(name));
    }
}

BOOST_AUTO_TEST_CASE(too_wide_table_of_devices_is_split) {
    for (const auto& name : device_names()) {
        for (const unsigned devices : {2u, 27u}) {
            std::vector<Record> records;
            for (unsigned d = 0; d < devices; ++d)
                for (auto& r : run_on(named(name, d))) records.push_back(r);
            for (const unsigned width : widths) {
                std::ostringstream out;
                report::print_by_device(out, records, {{named(name, 99), "its driver ended before the first cell"}}, {},
                                        {false, width});
                const auto page = out.str();
                BOOST_TEST(too_wide(page, width) == "", name << " at " << width);
                std::size_t times = 0;
                for (const auto& row : rows_with(page, "pitch_wide"))
                    for (std::size_t at = row.find("11.2 ms"); at != std::string::npos;
                         at = row.find("11.2 ms", at + 1))
                        ++times;
                BOOST_TEST(times == devices, page);
                const auto last =
                    without_blanks(name + " (99:0), Portable Computing Language, driver 3.1; lost: its driver ended");
                BOOST_TEST(without_blanks(page).find(last) != std::string::npos, page);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(page_of_devices_fits_any_number_of_compute_units) {
    for (const auto& name : device_names()) {
        for (const unsigned units : {1u, 2u, 64u}) {
            app::DeviceRow row;
            row.facts.name = name;
            row.facts.selector = "0:0";
            row.facts.platform = "Portable Computing Language";
            row.facts.compute_units = units;
            row.timer.verdict =
                "disagree with the host's clock by more than the 20 % that are allowed, so the host's is used";
            row.binary = "PoCL's own container around an ELF object";
            for (const unsigned width : widths) {
                std::ostringstream out;
                app::print_device(out, row, {false, width});
                BOOST_TEST(too_wide(out.str(), width) == "", name << " at " << width);
                const auto text = without_blanks(out.str());
                for (const auto& part : {name, std::to_string(units) + " units", row.timer.verdict, row.binary})
                    BOOST_TEST(text.find(without_blanks(part)) != std::string::npos, out.str());
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
