// What the plugin wrote, as counts of a launch.
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "core/error.hpp"
#include "count/simulated.hpp"
#include "json/read.hpp"
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
            {"footprint", {sectors, sectors, 0, 2}},
            {"operations", {64 * instructions}}};
}

Json file(const Json& groups, double of) {
    return {{"kernel", "k"},
            {"items", 64 * of},
            {"groups", of},
            {"group_items", 64},
            {"wave", 32},
            {"seconds", 0.5},
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

}  // namespace

BOOST_AUTO_TEST_CASE(sums_of_groups_become_amounts_per_work_item) {
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
    BOOST_TEST(model::moved_bytes(c) == 4);
    BOOST_TEST(model::distinct_bytes(c) == 4);
    BOOST_TEST_REQUIRE(c.footprint.size() == 1u);
    BOOST_TEST(c.footprint[0].sectors == 8);
    BOOST_TEST(c.footprint[0].read_sectors == 8);
    BOOST_TEST(c.footprint[0].written_sectors == 0);
    BOOST_TEST(c.footprint[0].lines == 2);
    BOOST_TEST(c.longest.loads == 7);
    BOOST_TEST(c.path.arithmetic == 1);
    BOOST_TEST(model::per_launch(c, c.instructions) == 640);
}

BOOST_AUTO_TEST_CASE(groups_between_stand_for_those_that_were_not_counted) {
    // The first and the last stand for themselves, the third for the eight between.
    const auto c = read(file(Json::array({group(10), group(20), group(40)}), 10));
    BOOST_TEST(c.instructions.mean == (10 + 20 + 8 * 40) / 10.0);
    BOOST_TEST(c.instructions.low == 10);
    auto narrow = group(40);
    narrow["issued"] = 40 * 64;
    const double lanes = 10 + 20 + 8 * 40, slots = (10 + 20) / 16.0 + 8 * 40;  // a wave has 32
    BOOST_TEST(read(file(Json::array({group(10), group(20), narrow}), 10)).lanes_active == lanes / (32 * slots));
    BOOST_TEST(c.instructions.high == 40);
    BOOST_TEST(model::per_launch(c, c.instructions) == 64 * (10 + 20 + 8 * 40));
    // Where only two were counted, the first stands for all but the last.
    BOOST_TEST(read(file(Json::array({group(10), group(20)}), 10)).instructions.mean == (9 * 10 + 20) / 10.0);
    // A launch that was counted whole is what it is.
    BOOST_TEST(read(file(Json::array({group(10), group(20), group(40)}), 3)).instructions.mean == 70 / 3.0);
}

BOOST_AUTO_TEST_CASE(the_costliest_line_is_the_first) {
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

BOOST_AUTO_TEST_CASE(what_was_not_counted_is_said) {
    auto images = group(10), part = group(10);
    images["images"] = 128;
    part["whole"] = false;
    BOOST_TEST(read(file(Json::array({group(10)}), 1)).not_counted.empty());
    BOOST_TEST(read(file(Json::array({images}), 1)).not_counted.at(0).what == "the bytes of 2 image accesses per item");
    BOOST_TEST(read(file(Json::array({part}), 1)).not_counted.at(0).what == "the rest of the first group");
}

BOOST_AUTO_TEST_CASE(a_file_that_is_none_of_the_plugins_is_refused) {
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
