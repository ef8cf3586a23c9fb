// What the plugin wrote, as counts of a launch.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "core/error.hpp"
#include "count/simulated.hpp"
#include "inspect/tools/tool.hpp"
#include "json/read.hpp"
#include "report/records/json.hpp"
#include "report/table/table.hpp"

BOOST_AUTO_TEST_SUITE(count_simulated)

namespace {

using namespace cllab;
using Json = nlohmann::json;

/// A group whose 64 work-items execute so many instructions and additions each.
Json group(double instructions, double sectors = 8) {
    const Json none{0, 0, 0, 0};
    return {{"items", 64},
            {"whole", true},
            {"instructions", 64 * instructions},
            {"issued", 4 * instructions},
            {"barriers", 64},
            {"images", 0},
            {"private", none},
            {"global", {64, 0, 256, 0}},
            {"constant", none},
            {"local", {64, 0, 256, 0}},
            {"reads", {2, sectors, 8, sectors / 2}},
            {"writes", none},
            {"local_reads", {2, 18, 2, 9}},
            {"local_writes", none},
            {"global_atomics", {2, 64, 2, 32}},
            {"local_atomics", none},
            {"atomics", {64, 0}},
            {"footprint", {sectors, sectors, 0, 2, 4 * sectors}},
            {"operations", {64 * instructions}}};
}

const Json no_code{{"weighs", false}, {"barrier", false},           {"image", false}, {"touches", 0}, {"atomics", 0},
                   {"line", 0},       {"operations", Json::array()}};

Json file(const Json& groups, double of) {
    return {{"kernel", "k"},
            {"items", 64 * of},
            {"groups", of},
            {"group_items", 64},
            {"wave", 32},
            {"seconds", 0.5},
            {"ended", true},
            {"by_place", true},
            {"by_data", false},
            {"never", no_code},
            {"uneven", no_code},
            {"odd_bits", 0},
            {"operations", {{"float_add", 32, ""}, {"float_function", 32, "sqrt"}}},
            {"counted", groups},
            {"global_addresses", {3, 32, 64, 128}},
            {"local_addresses", {0, 0, 0, 0}},
            {"longest", {7, 1, 20, 0}},
            {"path", {7, 0, 1, 0}},
            {"lines", Json::array({Json::array({"a.cl", {3, 640, 256, 8, 8, 0, 0, 0}}),
                                   Json::array({"a.cl", {4, 64, 256, 64, 8, 0, 0, 0}})})}};
}

model::Counts read(const Json& j) { return count::read_simulated(j.dump()); }

std::string page_of(const std::vector<model::Counts>& all) {
    std::ostringstream out;
    report::print_counts(out, all, {});
    return out.str();
}

}  // namespace

BOOST_AUTO_TEST_CASE(group_sums_become_amounts_per_work_item) {
    const auto c = read(file(Json::array({group(10)}), 1));
    BOOST_TEST(c.counted_items == 64);
    BOOST_TEST(model::operations(c, model::Operation::float_add) == 10);
    BOOST_TEST(model::flops(c, 32) == 10);
    BOOST_TEST(model::flops(c, 64) == 0);
    BOOST_TEST(c.operations.size() == 1u);  // sqrt was not executed
    BOOST_TEST(c.lanes_active == 0.5);
    BOOST_TEST(c.barriers.mean == 1);
    BOOST_TEST(c.reads.sectors.mean / c.reads.requests.mean == 4);
    BOOST_TEST(c.reads.worst_sectors == 4);
    BOOST_TEST(c.local_reads.ways.mean / c.local_reads.requests.mean == 9);
    BOOST_TEST(c.global_atomics.turns.mean / c.global_atomics.requests.mean == 32);
    BOOST_TEST(c.global_atomics.most_on_address == 128);
    BOOST_TEST(model::asked_bytes(c) == 4);
    BOOST_TEST(model::moved_amount(c).mean == 4);
    BOOST_TEST(model::distinct_bytes(c).value() == 32);  // and not the 256 of its sectors
    BOOST_TEST_REQUIRE(c.footprint.size() == 1u);
    BOOST_TEST(c.footprint[0].sectors == 8);
    BOOST_TEST(c.footprint[0].read_sectors == 8);
    BOOST_TEST(c.footprint[0].written_sectors == 0);
    BOOST_TEST(c.footprint[0].lines == 2);
    BOOST_TEST(c.longest.loads == 7);
    BOOST_TEST(c.path.arithmetic == 1);
    BOOST_TEST(model::per_launch(c, c.instructions) == 640);
}

BOOST_AUTO_TEST_CASE(fully_counted_launch_has_no_margin) {
    const auto c = read(file(Json::array({group(10), group(20), group(40)}), 3));
    BOOST_TEST(c.instructions.mean == 70 / 3.0);
    BOOST_TEST(c.instructions.low == 10);
    BOOST_TEST(c.instructions.high == 40);
    BOOST_TEST(c.instructions.margin == 0);
    BOOST_TEST(c.instructions.known);
    BOOST_TEST(model::per_launch(c, c.instructions) == 64 * 70);
}

BOOST_AUTO_TEST_CASE(drawn_pairs_represent_other_groups_with_an_interval) {
    // The first and the last of ten stand for themselves, two pairs for the eight between.
    const auto c = read(file(Json::array({group(10), group(20), group(40), group(60), group(20), group(40)}), 10));
    BOOST_TEST(c.instructions.mean == (10 + 20 + 4 * (100 + 60) / 2) / 10.0);
    // Of the pairs 100 and 60: s = 28.3, of 2 in 4, so that half of the interval is 12.7 * 28.3 / sqrt(2) * sqrt(1/2).
    BOOST_TEST(c.instructions.margin == 4 * 12.706 * 20 * std::sqrt(0.5) / 10, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(c.instructions.known);
    BOOST_TEST(c.not_counted.empty());
    BOOST_TEST(!model::distinct_bytes(c), "groups that were not counted may touch others");
    const auto page = page_of({c});
    BOOST_TEST(std::regex_search(page, std::regex("distinct bytes, launch +not known\n")), page);
    BOOST_TEST(std::regex_search(page, std::regex("float32 add +35 ± 72 \\[10 \\.\\. 60\\]\n")), page);
}

BOOST_AUTO_TEST_CASE(too_few_groups_bound_the_mean_only_if_all_are_alike) {
    auto j = file(Json::array({group(10), group(20)}), 10);
    auto c = read(j);
    BOOST_TEST(!c.instructions.known);
    BOOST_TEST(!c.bounded);
    BOOST_TEST(!c.reads.sectors.known);
    BOOST_TEST(c.instructions.high == 20);
    BOOST_TEST(c.not_counted.at(0).what == "8 of 10 groups");
    BOOST_TEST(page_of({c}).find("not known [10 .. 20]") != std::string::npos);
    // One pair has no interval.
    BOOST_TEST(!read(file(Json::array({group(10), group(20), group(9), group(8)}), 10)).instructions.known);
    // Where neither place nor data decide what is executed, the others do the same; what they touch may be elsewhere.
    j["by_place"] = false;
    c = read(j);
    BOOST_TEST(c.bounded);
    BOOST_TEST(c.unlike_groups == 0);
    BOOST_TEST(c.instructions.known);
    BOOST_TEST(!c.reads.sectors.known);
    j["by_data"] = true;
    BOOST_TEST(!read(j).instructions.known);
}

BOOST_AUTO_TEST_CASE(group_cut_short_by_the_budget_leaves_the_mean_open) {
    const auto six = Json::array({group(10), group(10), group(10), group(10), group(10), group(10)});
    // Two pairs: a share of 78 % would have been missed once in twenty times.
    BOOST_TEST(read(file(six, 100)).unlike_groups == 1 - std::sqrt(0.05), boost::test_tools::tolerance(1e-12));
    BOOST_TEST(read(file(six, 6)).unlike_groups == 0);
    auto j = file(six, 10);
    BOOST_TEST(read(j).instructions.known);
    j["ended"] = false;
    const auto c = read(j);
    BOOST_TEST(!c.instructions.known);
    BOOST_TEST(c.not_counted.at(0).what == "4 of 10 groups");
    BOOST_TEST(c.not_counted.at(0).why == "the budget ended in one of them, which may do more than those before it");
}

BOOST_AUTO_TEST_CASE(figures_depending_on_unexecuted_code_are_unknown) {
    const auto six = Json::array({group(10), group(10), group(10), group(10), group(10), group(10)});
    auto j = file(six, 10);
    j["never"] = {{"weighs", true}, {"barrier", false}, {"image", false},   {"touches", 8},
                  {"atomics", 2},   {"line", 7},        {"operations", {1}}};
    const auto c = read(j);
    BOOST_TEST(c.bounded);
    BOOST_TEST(!c.issued.known);
    BOOST_TEST(!c.local.loads.known);
    BOOST_TEST(!c.global_atomics.number.known);
    BOOST_TEST(c.global.loads.known);
    BOOST_TEST(c.barriers.known);
    BOOST_TEST_REQUIRE(c.operations.size() == 2u);  // sqrt is in that code
    BOOST_TEST(c.operations[0].per_item.known);
    BOOST_TEST(!c.operations[1].per_item.known);
    BOOST_TEST(!model::flop_amount(c).known);
    BOOST_TEST(c.not_counted.at(0).what == "the code at line 7");
    const auto page = page_of({c});
    BOOST_TEST(std::regex_search(page, std::regex("float32 sqrt +not known \\[0\\]\n")), page);
    BOOST_TEST(std::regex_search(page, std::regex("FLOP per work-item +2.236 or more\n")), page);
    const auto line = Json::parse(report::counts_json(c));
    BOOST_TEST(!line["issued"].contains("mean"));
    BOOST_TEST(line["barriers"].contains("mean"));
    // All ten leave nothing open.
    j["groups"] = 6;
    BOOST_TEST(read(j).issued.known);
}

BOOST_AUTO_TEST_CASE(loop_with_varying_trips_leaves_no_upper_bound) {
    auto j = file(Json::array({group(10), group(10), group(10), group(10), group(10), group(10)}), 100);
    // None of two pairs differs, and so up to 78 % of the groups do.
    BOOST_TEST(read(j).instructions.margin == 10 * (1 - std::sqrt(0.05)), boost::test_tools::tolerance(1e-12));
    j["uneven"] = no_code;
    j["uneven"]["weighs"] = true;
    j["uneven"]["operations"] = {0};
    auto c = read(j);
    BOOST_TEST(!c.instructions.known);
    BOOST_TEST(c.instructions.at_least == 10 * std::sqrt(0.05), boost::test_tools::tolerance(1e-12));
    BOOST_TEST(c.barriers.known);  // which is not in the loop
    BOOST_TEST(std::regex_search(page_of({c}), std::regex("float32 add +2.236 or more \\[10\\]\n")), page_of({c}));
    auto line = Json::parse(report::counts_json(c));
    BOOST_TEST(!line["instructions"].contains("mean"));
    BOOST_TEST(line["instructions"].contains("at_least"));
    j["counted"][4] = group(16);
    c = read(j);
    BOOST_TEST(c.instructions.known);
    BOOST_TEST(c.instructions.open);
    BOOST_TEST(std::regex_search(page_of({c}), std::regex("float32 add +11.47 ± 18 or more \\[10 \\.\\. 16\\]\n")),
               page_of({c}));
    line = Json::parse(report::counts_json(c));
    BOOST_TEST(line["instructions"]["open"] == true);
    // All groups leave nothing open.
    j["groups"] = 6;
    BOOST_TEST(!read(j).instructions.open);
}

BOOST_AUTO_TEST_CASE(a_wave_has_no_more_work_items_than_its_group) {
    auto j = file(Json::array({group(10)}), 1);
    j["items"] = j["group_items"] = j["counted"][0]["items"] = 1;
    j["counted"][0]["issued"] = 5;
    auto c = read(j);
    BOOST_TEST(model::items_per_wave(c) == 1);
    const auto page = page_of({c});
    BOOST_TEST(std::regex_search(page, std::regex("instructions per wave +5\n")), page);
    c.group_items = 48;
    BOOST_TEST(model::items_per_wave(c) == 24);
}

BOOST_AUTO_TEST_CASE(launches_with_equal_execution_share_the_first_count) {
    const inspect::TempFolder folder;
    const auto path = folder.path() / "counts";
    std::ofstream(path.string() + ".1") << file(Json::array({group(10)}), 1);
    std::ofstream(path.string() + ".2") << file(Json::array({group(20)}), 1);
    std::ofstream(path.string() + ".3") << R"({"same_as": 1})";
    const auto all = count::read_launches(path, 3);
    BOOST_TEST_REQUIRE(all.size() == 2u);
    BOOST_TEST(all[0].launches == 2);
    BOOST_TEST(all[0].launch == "1 of 3");
    BOOST_TEST(all[1].launches == 1);
}

BOOST_AUTO_TEST_CASE(costliest_line_comes_first) {
    const auto j = file(Json::array({group(10)}), 1);
    const auto c = read(j);
    BOOST_REQUIRE(c.lines.size() == 2u);
    BOOST_TEST(c.lines[0].line == 4u);
    BOOST_TEST(c.lines[0].sectors == 1);
    BOOST_TEST(c.lines[1].instructions == 10);
    // Turns of banks and of atomics cost as much as sectors do.
    for (const int turns : {5, 7}) {
        auto other = j;
        other["lines"][0][1][turns] = 100;
        BOOST_TEST(read(other).lines[0].line == 3u);
    }
}

BOOST_AUTO_TEST_CASE(uncounted_parts_are_reported) {
    auto images = group(10), part = group(10);
    images["images"] = 128;
    part["whole"] = false;
    BOOST_TEST(read(file(Json::array({group(10)}), 1)).not_counted.empty());
    BOOST_TEST(read(file(Json::array({images}), 1)).not_counted.at(0).what == "the bytes of 2 image accesses per item");
    BOOST_TEST(read(file(Json::array({part}), 1)).not_counted.at(0).what == "the rest of the first group");
    BOOST_TEST(!read(file(Json::array({part}), 1)).instructions.known);
    BOOST_TEST(!model::moved_amount(read(file(Json::array({images}), 1))).known);
    const auto page = page_of({read(file(Json::array({images}), 1))});
    BOOST_TEST(std::regex_search(page, std::regex("bytes moved in sectors +not known\n")), page);
    auto odd = file(Json::array({group(10)}), 1);
    odd["odd_bits"] = 2;
    BOOST_CHECK_EXCEPTION(read(odd), Error, [](const Error& e) {
        return std::string(e.what()).find("2-bit integers") != std::string::npos;
    });
}

BOOST_AUTO_TEST_CASE(file_not_written_by_the_plugin_is_refused) {
    BOOST_CHECK_THROW(count::read_simulated("{"), JsonRefused);
    BOOST_CHECK_THROW(count::read_simulated("{}"), Error);
    BOOST_CHECK_THROW(read(file(Json::array(), 1)), Error);
    auto unknown = file(Json::array({group(10)}), 1);
    unknown["operations"][0][0] = "teleport";
    BOOST_CHECK_THROW(read(unknown), Error);
    auto wrong = file(Json::array({group(10)}), 1);
    wrong["counted"][0]["reads"] = {1};
    BOOST_CHECK_THROW(read(wrong), Error);
}

BOOST_AUTO_TEST_CASE(the_page_marks_rows_that_differ) {
    auto one = read(file(Json::array({group(10)}), 1)), two = read(file(Json::array({group(10, 64)}), 1));
    one.id = one.kernel = "one";
    two.id = two.kernel = "two";
    std::ostringstream page;
    report::print_counts(page, {one, two}, {});
    const auto text = page.str();
    BOOST_TEST(text.find("\n* sectors per read (least)") != std::string::npos, text);
    BOOST_TEST(std::regex_search(text, std::regex("4 \\(4\\) +32 \\(4\\)\n")), text);
    BOOST_TEST(text.find("\n  barriers") != std::string::npos, text);
    BOOST_TEST(text.find("lanes that meet per request") != std::string::npos, text);
    BOOST_TEST(text.find("atomics on local memory") == std::string::npos, text);
}

BOOST_AUTO_TEST_SUITE_END()
