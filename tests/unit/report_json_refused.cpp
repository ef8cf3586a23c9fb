// Lines that are no record, or one that cannot be: the sentence that refuses them.
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>

#include "unit/record_json.hpp"

BOOST_AUTO_TEST_SUITE(report_json_refused)

using namespace cllab;
using namespace test::json;

BOOST_AUTO_TEST_CASE(an_unknown_schema_is_refused_by_number) {
    BOOST_TEST(refusal_after([](Json& j) { j["schema"] = 3; }) ==
               "the record has schema 3; this build reads schemas 1 and 2");
    BOOST_TEST(refusal_after([](Json& j) { j["schema"] = std::string(1000, 'x'); }).size() < 300u);
    BOOST_TEST(refusal_after([](Json& j) { j.erase("schema"); }) == "this is not a record: it has no 'schema'");
}

BOOST_AUTO_TEST_CASE(damaged_lines_are_refused_with_the_place) {
    const auto line = report::to_json_line(full());
    for (std::size_t size = 0; size < line.size(); ++size) BOOST_REQUIRE(!refusal(line.substr(0, size)).empty());
    BOOST_TEST(refusal("{\"schema\":1,") == "this is not a record: its JSON is damaged at byte 13 of 12");
    BOOST_TEST(refusal("[]") == "this is not a record: the line is not an object");
    BOOST_TEST(refusal("{\"schema\":1e999}") ==
               "this is not a record: its JSON is damaged: a number in it is too large");
    BOOST_TEST(refusal_after([](Json& j) { j.erase("id"); }) == "this is not a record: it has no 'id'");
    BOOST_TEST(refusal_after([](Json& j) { j["status"] = "fine"; }) ==
               "this is not a record: the status 'fine' is unknown; expected ok, unsupported, build_failed, "
               "launch_failed, wrong_result, timed_out or disagree");
    BOOST_TEST(refusal_after([](Json& j) { j["time"]["median"] = "1"; }) ==
               "this is not a record: 'time.median' is not a number");
    BOOST_TEST(refusal_after([](Json& j) { j["time"]["n"] = -1; }) ==
               "this is not a record: 'time.n' is not a whole number from 0 to 2^32-1");
    BOOST_TEST(refusal_after([](Json& j) { j["samples"] = 3; }) ==
               "this is not a record: 'samples' is not an array of numbers");
    BOOST_TEST(refusal_after([](Json& j) { j["metrics"]["bandwidth"]["better"] = "no"; }) ==
               "this is not a record: 'metrics.bandwidth.better' is 'no', not one of lower, higher, neither");
    BOOST_TEST(refusal_after([](Json& j) { j["point"]["width"] = Json::array(); }) ==
               "this is not a record: 'point.width' is neither a string nor a number");
    BOOST_TEST(refusal_after([](Json& j) { j["device"] = 1; }) == "this is not a record: 'device' is not an object");
}

BOOST_AUTO_TEST_CASE(invalid_hot_code_is_refused_with_its_place) {
    BOOST_TEST(refusal_after([](Json& j) { j["hot"]["evidence"] = "guessed"; }) ==
               "this is not a record: 'hot.evidence' is 'guessed', not one of sampled, counted, accounted, unknown");
    BOOST_TEST(refusal_after([](Json& j) { j["hot"]["blocks"][0]["share"] = "most"; }) ==
               "this is not a record: 'hot.blocks.share' is not a number");
    BOOST_TEST(refusal_after([](Json& j) { j["hot"]["blocks"] = 1; }) ==
               "this is not a record: 'hot.blocks' is not an array");
}

BOOST_AUTO_TEST_CASE(impossible_record_is_refused_with_the_reason) {
    const auto cannot = [](const std::string& what) { return "this record is impossible: " + what; };
    const auto time = [](const char* key, double value) {
        return refusal_after([&](Json& j) { j["time"][key] = value; });
    };
    BOOST_TEST(refusal_after([](Json&) {}) == "");
    BOOST_TEST(time("median", -1) == cannot("its time is -1.00 s"));
    BOOST_TEST(time("median", 0) == cannot("its time is 0 s"));
    BOOST_TEST(refusal_after([](Json& j) { j["time"].erase("median"); }) ==
               "this is not a record: it has no 'time.median'");
    BOOST_TEST(time("low", 1.3e-3) ==
               cannot("its interval from 0.00130 s to 0.00124 s excludes its median of 0.00123 s"));
    BOOST_TEST(time("high", 1e-3) ==
               cannot("its interval from 0.00122 s to 0.00100 s excludes its median of 0.00123 s"));
    BOOST_TEST(time("low", -1) == cannot("'time.low' is -1.00 s"));
    BOOST_TEST(time("min", 2) == cannot("'time.min' of 2.00 s is above its median of 0.00123 s"));
    BOOST_TEST(time("q1", 2).find("quartiles") != std::string::npos);
    BOOST_TEST(time("mad", -1) == cannot("'time.mad' is -1.00 s"));
    BOOST_TEST(time("median", 1.2275e-3) == "");
    BOOST_TEST(refusal_after([](Json& j) { j["time"]["n"] = 19; }) == cannot("'time.n' is 19 and it has 20 samples"));
    BOOST_TEST(refusal_after([](Json& j) { j["time"]["n"] = 0; }) == cannot("it has a time, but 'time.n' is 0"));
    BOOST_TEST(refusal_after([](Json& j) { j.erase("samples"); }) == "");  // a shortened record
    BOOST_TEST(refusal_after([](Json& j) { j.erase("time"); }) == cannot("it has samples and no time"));
    BOOST_TEST(refusal_after([](Json& j) {
                   for (auto& s : j["samples"]) s = 1;
               }).find("is outside its samples, 1.00 s to 1.00 s") != std::string::npos);
    BOOST_TEST(refusal_after([](Json& j) { j["status"] = "wrong_result"; }) ==
               cannot("its status is wrong_result, but it has times"));
    BOOST_TEST(refusal_after([](Json& j) { j["metrics"]["bandwidth"]["value"] = -1; }) ==
               cannot("its bandwidth is -1.00 B/s"));
}

// The time of a step is the difference of two times: a sample of it may be negative, and a step may cost nothing.
BOOST_AUTO_TEST_CASE(negative_times_are_allowed_in_differences_and_free_steps) {
    auto r = full();
    r.metrics = {{"step_time", {r.time->median, "s", model::Better::lower}}};
    r.time->min = r.samples.front() = -1e-6;
    BOOST_TEST(refusal(report::to_json_line(r)) == "");
    r.metrics.clear();
    BOOST_TEST(refusal(report::to_json_line(r)) == "this record is impossible: 'time.min' is -1.00e-6 s");
    for (auto* value : {&r.time->median, &r.time->min, &r.time->low, &r.time->q1}) *value = -1e-9;
    r.samples.front() = -1e-9;
    r.warnings = {"no-cost: between -1 and 1 s a step, which cannot be told from nothing"};
    BOOST_TEST(refusal(report::to_json_line(r)) == "");
}

BOOST_AUTO_TEST_CASE(rounds_must_match_the_samples) {
    auto r = full();
    r.rounds.push_back(21);
    auto j = Json::parse(report::to_json_line(full()));
    j["rounds"].push_back(21);
    BOOST_TEST(refusal(j.dump()).find("it has 20 samples and the rounds of 21") != std::string::npos);
    BOOST_TEST(report::from_json(report::to_json_line(r)).rounds.empty());  // what does not fit is not written
}

BOOST_AUTO_TEST_CASE(input_exceeding_stack_memory_or_time_is_refused) {
    const auto deep = [](const std::string& open, const std::string& close) {
        std::string out;
        for (int i = 0; i < 100'000; ++i) out += open;
        for (int i = 0; i < 100'000; ++i) out += close;
        return out;
    };
    const std::string too_deep = "this is not a record: its JSON is damaged: it is nested more than 64 deep";
    BOOST_TEST(refusal(deep("[", "]")) == too_deep);
    BOOST_TEST(refusal("{\"schema\":" + deep("[", "]") + "}") == too_deep);
    BOOST_TEST(refusal(deep("{\"a\":", "}")) == too_deep);
    std::string many = "{\"schema\":2";
    for (int i = 0; i < 100'000; ++i) many += ",\"" + std::to_string(i) + "\":0";
    BOOST_TEST(refusal(many + "}") ==
               "this is not a record: its JSON is damaged: an object in it has more than 1000 members");
    BOOST_TEST(refusal("{\"id\":1,\"id\":2}") ==
               "this is not a record: its JSON is damaged: an object in it has 'id' twice");
    BOOST_TEST(refusal(std::string((16 << 20) + 1, ' ')) == "this is not a record: its JSON is larger than 16 MiB");
    auto r = full();
    r.build.log.assign(20 << 20, '\x01');  // each byte takes six
    BOOST_TEST(refusal(report::to_json_line(r)) == "");
}

BOOST_AUTO_TEST_CASE(mutated_line_is_refused_or_round_trips) {
    const auto line = report::to_json_line(whole());
    std::mt19937 random(1);
    const std::string pieces =
        "{}[],:\"\\019.-+eE \t\x01\xff"
        "tfnu";
    std::size_t taken = 0;
    for (int i = 0; i < 500; ++i) {
        auto changed = line;
        const auto at = random() % changed.size();
        switch (random() % 4) {
            case 0:
                changed[at] = pieces[random() % pieces.size()];
                break;
            case 1:
                changed.erase(at, 1 + random() % 4);
                break;
            case 2:
                changed.insert(at, 1, pieces[random() % pieces.size()]);
                break;
            default:
                changed.insert(at, changed.substr(random() % changed.size(), random() % 24));
        }
        try {
            const auto written = report::to_json_line(report::from_json(changed));
            ++taken;
            if (const auto again = report::to_json_line(report::from_json(written)); again != written)
                BOOST_TEST(again == written, changed);
        } catch (const Error&) {
        }
    }
    BOOST_TEST(taken > 25u);
}

BOOST_AUTO_TEST_CASE(unknown_keys_are_accepted) {
    BOOST_TEST(refusal_after([](Json& j) {
                   j["new"] = 1;
                   j["time"]["new"] = "x";
               }) == "");
}

BOOST_AUTO_TEST_SUITE_END()
