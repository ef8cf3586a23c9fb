// A record as a line of JSON, and the record that is read of it.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "unit/golden.hpp"
#include "unit/record_json.hpp"

BOOST_AUTO_TEST_SUITE(report_json)

using namespace cllab;
using namespace test::json;

namespace {

/// Fields that `schema` has and `value` lacks, as "/time/cores".
void add_lacking(const Json& schema, const Json& value, const std::string& place, std::set<std::string>& out) {
    if (value.is_array() && !value.empty() && schema.contains("items"))
        return add_lacking(schema["items"], value.front(), place, out);
    if (!schema.contains("properties")) return;
    for (const auto& [key, field] : schema["properties"].items()) {
        if (value.contains(key))
            add_lacking(field, value[key], place + "/" + key, out);
        else
            out.insert(place + "/" + key);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(record_is_one_line_with_the_schema_keys_in_order) {
    const auto line = report::to_json_line(full());
    BOOST_TEST(line.find('\n') == std::string::npos);
    std::string keys;
    const Json j = Json::parse(line);  // named: a loop over a temporary's items() would outlive it
    for (const auto& [key, value] : j.items()) keys += key + " ";
    BOOST_TEST(
        keys ==
        "schema id family variant point status reason device metrics time yardstick clocks energy samples rounds aside "
        "aside_rounds checked_by warnings build "
        "code hot dump phases host run utc argv ");
}

BOOST_AUTO_TEST_CASE(numbers_stay_numbers_and_other_point_values_are_strings) {
    const auto j = Json::parse(report::to_json_line(full()));
    BOOST_TEST(j["schema"] == 2);
    BOOST_TEST(j["point"]["width"] == 8192);
    BOOST_TEST(j["point"]["pitch"] == 20.2);
    BOOST_TEST(j["point"]["local"] == "64x4");
    BOOST_TEST(j["point"]["odd"] == "007");
    BOOST_TEST(j["time"]["median"] == 1.23e-3);
    BOOST_TEST(j["time"]["unit"] == "s");
    BOOST_TEST(j["time"]["n"] == 20);
    BOOST_TEST(j["metrics"]["bandwidth"]["value"] == 3e8 / 1.23e-3);
    BOOST_TEST(j["metrics"]["bandwidth"]["better"] == "higher");
    BOOST_TEST(j["code"]["registers"] == 32);
    BOOST_TEST(!j["code"].contains("local_bytes"));
    BOOST_TEST(j["build"]["cached"] == true);
}

BOOST_AUTO_TEST_CASE(a_record_survives_the_round_trip) {
    auto r = full();
    const auto line = report::to_json_line(r);
    const auto back = report::from_json(line);
    BOOST_TEST(report::to_json_line(back) == line);  // everything that is written
    BOOST_TEST((back.point == r.point));
    BOOST_TEST(back.time->median == r.time->median);
    BOOST_TEST(back.time->settled);
    BOOST_TEST(back.samples == r.samples, boost::test_tools::per_element());
    BOOST_TEST(back.metrics.at(2).first == "pixels");
    BOOST_TEST(back.build.log == r.build.log);
    BOOST_TEST(back.code.registers.value() == 32);
    BOOST_TEST(back.code.loop.at("instructions") == 44);
    BOOST_TEST(back.code.loop.at("reuse") == 3);
    BOOST_TEST(!back.code.local_bytes.has_value());
    BOOST_TEST(back.host.threads == 16u);
    BOOST_TEST(back.run.seed.value() == 18446744073709551615u);
    BOOST_TEST(back.run.label == "before the change");
    BOOST_TEST(back.run.order.prepared == 7u);
    BOOST_TEST(back.run.driver_caches.at("POCL_CACHE_DIR") == "/var/cache");
    const auto failed =
        report::from_json(report::to_json_line(test::failed(r, model::Status::wrong_result, "dst[17]: 3, expected 4")));
    BOOST_TEST((failed.status == model::Status::wrong_result));
    BOOST_TEST(failed.reason == "dst[17]: 3, expected 4");
    BOOST_TEST(!failed.time.has_value());
    BOOST_TEST(report::to_json_line(report::from_json(report::to_json_pretty(r))) == line);
    auto shortened = Json::parse(line);
    shortened.erase("samples");
    shortened.erase("rounds");  // which say nothing without them
    BOOST_TEST(report::to_json_line(report::from_json(shortened.dump())) == shortened.dump());
}

BOOST_AUTO_TEST_CASE(every_field_survives_the_round_trip) {
    auto r = whole();
    const auto line = report::to_json_line(r);
    BOOST_TEST(report::to_json_line(report::from_json(line)) == line);
    const auto schema = Json::parse(test::golden("../../tools/record.schema.json"))["$defs"]["cell"];
    const std::set<std::string> excluded{"/hot/reason", "/hot/executed", "/hot/blocks/executed"};
    std::set<std::string> lacking;
    add_lacking(schema, Json::parse(line), "", lacking);
    for (const auto& field : lacking) BOOST_TEST(excluded.contains(field), "whole() lacks " << field);
    BOOST_TEST(lacking.size() == excluded.size());
    r.hot = {
        .evidence = model::Hot::counted,
        .method = "ncu, inst_executed",
        .executed = 9'000'000'000,
        .code = "SASS as it ran, by ncu",
        .blocks = {
            {"k", 48, 112, 0, 0.99, 4, {{"fp32", 1}}, {{"global_load_128", 1}}, {48}, 8'900'000'000, {{"float", 16}}}}};
    const auto counted = report::to_json_line(r);
    const auto back = report::from_json(counted);
    BOOST_TEST(back.hot->executed == 9'000'000'000u);
    BOOST_TEST(back.hot->blocks.front().executed == 8'900'000'000u);
    BOOST_TEST(report::to_json_line(back) == counted);
}

BOOST_AUTO_TEST_CASE(non_finite_numbers_are_never_written) {
    auto r = full();
    r.time->mad = std::numeric_limits<double>::quiet_NaN();
    r.time->high = std::numeric_limits<double>::infinity();
    r.samples.push_back(std::numeric_limits<double>::infinity());
    r.metrics.push_back({"broken", {std::nan(""), "B/s", model::Better::higher}});
    r.build.seconds = std::nan("");
    const auto j = Json::parse(report::to_json_line(r));
    BOOST_TEST(!j["time"].contains("mad"));
    BOOST_TEST(!j["time"].contains("high"));
    BOOST_TEST(j["samples"].size() == 20u);
    BOOST_TEST(!j["metrics"].contains("broken"));
    BOOST_TEST(!j["build"].contains("seconds"));
    BOOST_TEST(report::to_json_line(r).find("null") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(reason_is_one_line_and_log_may_have_any_bytes) {
    auto r = full();
    r.reason = "\nfirst\nsecond";
    r.build.log = "caf\xe9 \xff";
    const auto j = Json::parse(report::to_json_line(r));
    BOOST_TEST(j["reason"] == "first");
    BOOST_TEST(j["build"]["log"] == "caf\xEF\xBF\xBD \xEF\xBF\xBD");
}

BOOST_AUTO_TEST_CASE(record_of_schema_1_is_read_without_a_run) {
    Json j = Json::parse(report::to_json_line(full()));
    j["schema"] = 1;
    j.erase("run");
    const auto back = report::from_json(j.dump());
    BOOST_TEST(back.schema == 1);
    BOOST_TEST(back.run.id == "");
    BOOST_TEST(!back.run.seed.has_value());
    BOOST_TEST(back.time->median == 1.23e-3);
    BOOST_TEST(refusal_after([](Json& json) { json.erase("run"); }) == "this is not a record: it has no 'run'");
    BOOST_TEST(refusal_after([](Json& json) { json["run"]["order"].erase("position"); }) ==
               "this is not a record: it has no 'run.order.position'");
    BOOST_TEST(refusal_after([](Json& json) { json["run"]["driver_caches"]["X"] = 1; }) ==
               "this is not a record: 'run.driver_caches.X' is not a string");
}

BOOST_AUTO_TEST_CASE(rounds_and_phases_are_read_back_if_present) {
    const auto line = report::to_json_line(full());
    const auto back = report::from_json(line);
    BOOST_TEST(back.rounds == full().rounds);
    BOOST_TEST(back.aside_rounds == full().aside_rounds);
    BOOST_TEST((back.phases == full().phases));
    auto before = Json::parse(line);
    for (const auto* key : {"rounds", "aside_rounds", "phases"}) before.erase(key);
    const auto old = report::from_json(before.dump());
    BOOST_TEST(old.rounds.empty());
    BOOST_TEST(old.phases.empty());
    BOOST_TEST(old.samples == full().samples);
}

BOOST_AUTO_TEST_SUITE_END()
