#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "core/error.hpp"
#include "core/text.hpp"
#include "report/records/csv.hpp"
#include "report/records/json.hpp"
#include "unit/report_records.hpp"

BOOST_AUTO_TEST_SUITE(report_json)

using namespace cllab;
using Json = nlohmann::ordered_json;

namespace {

model::Record full() {
    auto r = test::moving(test::cell("pitch", "short8", 1.23e-3), 3e8, 4e12);
    r.point = {{"width", "8192"}, {"pitch", "20.2"}, {"local", "64x4"}, {"weights", "linear"}, {"odd", "007"}};
    r.metrics.push_back({"pixels", {5.4e10, "pixel/s", model::Better::higher}});
    r.samples.assign(20, 1.23e-3);
    r.samples.front() = 1.22e-3;
    r.samples.back() = 1.24e-3;
    r.aside = {2.5e-3};
    for (unsigned round = 0; round < 20; ++round) r.rounds.push_back(round < 5 ? round : round + 1);
    r.aside_rounds = {5};
    r.phases = {{Phase::build, 0.25}, {Phase::host_reference, 0.03}, {Phase::sampling, 0.4}};
    r.time->cache = "rotate";
    r.time->sets = 5;
    r.time->batch = 2;
    r.time->references = 3;
    r.time->reference_spread = 0.02;
    r.time->cores = 1.5;
    r.time->waited = 0.4;
    r.clocks = {.core_mhz_low = 1905, .core_mhz_high = 1980, .limits = {"power cap"}, .source = "NVML"};
    r.yardstick = {.bytes = 32 << 20, .bandwidth = 2.5e12, .cache = "rotate", .n = 20};
    r.device.last_level_bytes = 50 << 20;
    r.device.last_level_from = "reported by the driver";
    r.checked_by = "host code";
    r.warnings = {"throttled: the clock fell; run again when the machine is idle"};
    r.build = {.options = "-DLANES=8",
               .source = "embedded",
               .source_sha256 = std::string(64, 'a'),
               .log = "line 1\nline \"2\"\t",
               .seconds = 0.25,
               .cached = true};
    r.code.kind = "ptx";
    r.code.registers = 32;
    r.code.spills = 0;
    r.code.loop = {{"instructions", 44}, {"reuse", 3}};
    r.code.origin = {{"registers", "ptxas verbose log"}};
    r.hot =
        model::Hot{.evidence = "sampled",
                   .method = "perf_event_open, cpu-clock",
                   .samples = 430,
                   .in_kernel = 400,
                   .elsewhere = {{"libpocl.so.2", 30}},
                   .code = "work-group function",
                   .blocks = {{"k", 4448, 4480, 300, 0.75, 9, {{"vector_256", 4}}, {{"load_256", 2}}, {4400, 4448}}},
                   .loops = {{"k", 4448, 2, 0.75, 0.8, 9}}};
    r.dump = "dumps/NVIDIA-H200/pitch_short8";
    r.host = {.name = "box", .cpu = "EPYC", .os = "Debian 12", .threads = 16};
    r.utc = "2026-11-20T23:59:59Z";
    r.argv = {"cllab", "--device", "cpu"};
    r.run = {.id = "0123456789abcdef",
             .label = "before the change",
             .seed = 18446744073709551615u,
             .order = {.comparison = 2, .position = 1, .prepared = 7},
             .driver_caches = {{"POCL_CACHE_DIR", "/var/cache"}}};
    return r;
}

/// Every field has a value.
model::Record whole_record() {
    auto r = test::cell("pitch", "wide", 1e-3);
    r.point = {{"width", "4096"}, {"pitch", "20.2"}, {"local", "64x4"}, {"seed", "1e+30"}};
    r.metrics = {{"bandwidth", {1e9, "B/s", model::Better::higher}},
                 {"odd \"name\"\n", {-2, "x", model::Better::neither}}};
    r.yardstick = model::YardstickInfo{1 << 20, 2e9, "hot", 20};
    r.warnings = {"noise-floor: look", "caf\xc3\xa9"};
    r.checked_by = "host code";
    r.limit = "memory";
    r.work = {.bytes = 1e9, .flops = 2e9, .read = 5e8, .type = "float", .footprint = 1e9, .launches = 1, .groups = 4};
    r.code.registers = 28;
    r.code.loop = {{"instructions", 44}};
    r.code.origin = {{"registers", "the log"}};
    r.launch = std::string(64, 'b');
    r.above = model::Above{.level = 7, .pixels = 2, .first = {{1, 2, 9}, {3, 4, 200}}};
    r.counters = {{"dram__bytes_read.sum", "Mbyte", 3.5}};
    r.build.elsewhere = {"tile.h"};
    r.code.fingerprint = "0123";
    r.aside = {2e-3};
    r.aside_rounds = {4};
    r.clocks = model::ClockInfo{1935, 1980, {"power cap"}, "NVML"};
    r.native = model::NativeInfo{2, "GCC 12.2.0", "AVX2"};
    r.hot.emplace();
    r.hot->evidence = model::Hot::sampled;
    r.hot->method = "perf_event_open, cpu-clock";
    r.hot->samples = 430, r.hot->in_kernel = 412;
    r.hot->elsewhere = {{"libpocl.so.2", 18}};
    r.hot->code = "k, group 64";
    r.hot->blocks = {{"k", 4448, 4500, 400, 0.97, 22, {{"vector_512", 19}}, {{"load_256", 5}}, {4448}}};
    r.hot->loops = {{"k", 4448, 1, 0.97, 0.97, 22}};
    r.hot->models = model::CoreModels{"llvm-mca-15", {{"skylake", 3.5, 4}}, "another reason"};
    r.rounds.assign(r.samples.size(), 3);
    r.phases = {{Phase::build, 0.25}};
    r.argv = {"cllab", "run"};
    r.run.id = "abc";
    r.run.seed = 18446744073709551615ULL;
    r.run.driver_caches = {{"POCL_CACHE_DIR", "/x"}};
    return r;
}

std::string refusal(std::string_view line) {
    try {
        report::from_json(line);
    } catch (const Error& e) {
        BOOST_TEST((e.blame() == Blame::usage));
        return e.what();
    }
    return {};
}

/// The refusal of a good record after `change`.
template <typename F>
std::string refusal_after(F change) {
    Json j = Json::parse(report::to_json_line(full()));
    change(j);
    return refusal(j.dump());
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_record_is_one_line_with_the_keys_of_the_schema_in_order) {
    const auto line = report::to_json_line(full());
    BOOST_TEST(line.find('\n') == std::string::npos);
    std::string keys;
    const Json j = Json::parse(line);  // named: a loop over a temporary's items() would outlive it
    for (const auto& [key, value] : j.items()) keys += key + " ";
    BOOST_TEST(keys ==
               "schema id family variant point status reason device metrics time yardstick clocks samples rounds aside "
               "aside_rounds checked_by warnings build "
               "code hot dump phases host run utc argv ");
}

BOOST_AUTO_TEST_CASE(numbers_are_numbers_and_other_point_values_are_texts) {
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

BOOST_AUTO_TEST_CASE(hot_code_that_cannot_be_is_refused_by_its_place) {
    BOOST_TEST(refusal_after([](Json& j) { j["hot"]["evidence"] = "guessed"; }) ==
               "this is not a record: 'hot.evidence' is 'guessed', not one of sampled, counted, accounted, unknown");
    BOOST_TEST(refusal_after([](Json& j) { j["hot"]["blocks"][0]["share"] = "most"; }) ==
               "this is not a record: 'hot.blocks.share' is not a number");
    BOOST_TEST(refusal_after([](Json& j) { j["hot"]["blocks"] = 1; }) ==
               "this is not a record: 'hot.blocks' is not a list");
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
    auto r = whole_record();
    const auto line = report::to_json_line(r);
    BOOST_TEST(report::to_json_line(report::from_json(line)) == line);
    for (const char* key : {"work", "limit", "yardstick", "clocks", "above", "launch", "native", "hot", "counters"})
        BOOST_TEST(Json::parse(line).contains(key), key);
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

BOOST_AUTO_TEST_CASE(a_changed_line_is_refused_or_is_the_record_that_is_written_of_it) {
    const auto line = report::to_json_line(whole_record());
    std::mt19937 random(1);
    const std::string pieces =
        "{}[],:\"\\019.-+eE \t\x01\xff"
        "tfnu";
    std::size_t taken = 0;
    for (int i = 0; i < 5'000; ++i) {
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
    BOOST_TEST(taken > 250u);
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

BOOST_AUTO_TEST_CASE(a_reason_is_one_line_and_a_log_of_any_bytes_is_written) {
    auto r = full();
    r.reason = "\nfirst\nsecond";
    r.build.log = "caf\xe9 \xff";
    const auto j = Json::parse(report::to_json_line(r));
    BOOST_TEST(j["reason"] == "first");
    BOOST_TEST(j["build"]["log"] == "caf\xEF\xBF\xBD \xEF\xBF\xBD");
}

BOOST_AUTO_TEST_CASE(an_unknown_schema_is_refused_by_number) {
    BOOST_TEST(refusal_after([](Json& j) { j["schema"] = 3; }) ==
               "the record has schema 3; this build reads schemas 1 and 2");
    BOOST_TEST(refusal_after([](Json& j) { j["schema"] = std::string(1000, 'x'); }).size() < 300u);
    BOOST_TEST(refusal_after([](Json& j) { j.erase("schema"); }) == "this is not a record: it has no 'schema'");
}

BOOST_AUTO_TEST_CASE(damaged_lines_are_refused_with_the_place_of_the_damage) {
    const auto line = report::to_json_line(full());
    for (std::size_t size = 0; size < line.size(); ++size) BOOST_REQUIRE(!refusal(line.substr(0, size)).empty());
    BOOST_TEST(refusal("{\"schema\":1,") == "this is not a record: its JSON is damaged at byte 13 of 12");
    BOOST_TEST(refusal("[]") == "this is not a record: the line is not an object");
    BOOST_TEST(refusal("{\"schema\":1e999}") ==
               "this is not a record: its JSON is damaged: a number in it is too large");
    BOOST_TEST(refusal_after([](Json& j) { j.erase("id"); }) == "this is not a record: it has no 'id'");
    BOOST_TEST(refusal_after([](Json& j) { j["status"] = "fine"; }) ==
               "this is not a record: the status 'fine' is unknown; possible are ok, unsupported, build_failed, "
               "launch_failed, wrong_result and timed_out");
    BOOST_TEST(refusal_after([](Json& j) { j["time"]["median"] = "1"; }) ==
               "this is not a record: 'time.median' is not a number");
    BOOST_TEST(refusal_after([](Json& j) { j["time"]["n"] = -1; }) ==
               "this is not a record: 'time.n' is not a whole number from 0 to 2^32-1");
    BOOST_TEST(refusal_after([](Json& j) { j["samples"] = 3; }) ==
               "this is not a record: 'samples' is not a list of numbers");
    BOOST_TEST(refusal_after([](Json& j) { j["metrics"]["bandwidth"]["better"] = "no"; }) ==
               "this is not a record: 'metrics.bandwidth.better' is 'no', not one of lower, higher, neither");
    BOOST_TEST(refusal_after([](Json& j) { j["point"]["width"] = Json::array(); }) ==
               "this is not a record: 'point.width' is neither a text nor a number");
    BOOST_TEST(refusal_after([](Json& j) { j["device"] = 1; }) == "this is not a record: 'device' is not an object");
}

BOOST_AUTO_TEST_CASE(a_record_of_schema_1_is_read_and_knows_nothing_of_its_run) {
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
               "this is not a record: 'run.driver_caches.X' is not a text");
}

BOOST_AUTO_TEST_CASE(a_record_that_cannot_be_is_refused_with_the_reason) {
    const auto cannot = [](const std::string& what) { return "this record cannot be: " + what; };
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
    BOOST_TEST(refusal_after([](Json& j) { j["time"]["n"] = 0; }) == cannot("it has a time of no sample"));
    BOOST_TEST(refusal_after([](Json& j) { j.erase("samples"); }) == "");  // a shortened record
    BOOST_TEST(refusal_after([](Json& j) { j.erase("time"); }) == cannot("it has samples and no time"));
    BOOST_TEST(refusal_after([](Json& j) {
                   for (auto& s : j["samples"]) s = 1;
               }).find("is outside its samples, 1.00 s to 1.00 s") != std::string::npos);
    BOOST_TEST(refusal_after([](Json& j) { j["status"] = "wrong_result"; }) ==
               cannot("it is wrong_result and has a time; only a cell that is ok has one"));
    BOOST_TEST(refusal_after([](Json& j) { j["metrics"]["bandwidth"]["value"] = -1; }) ==
               cannot("its bandwidth is -1.00 B/s"));
}

// The time of a step is the difference of two times: a sample of it may be negative, and a step may cost nothing.
BOOST_AUTO_TEST_CASE(a_difference_may_be_negative_in_single_samples_and_a_free_step_altogether) {
    auto r = full();
    r.metrics = {{"step_time", {r.time->median, "s", model::Better::lower}}};
    r.time->min = r.samples.front() = -1e-6;
    BOOST_TEST(refusal(report::to_json_line(r)) == "");
    r.metrics.clear();
    BOOST_TEST(refusal(report::to_json_line(r)) == "this record cannot be: 'time.min' is -1.00e-6 s");
    for (auto* value : {&r.time->median, &r.time->min, &r.time->low, &r.time->q1}) *value = -1e-9;
    r.samples.front() = -1e-9;
    r.warnings = {"no-cost: between -1 and 1 s a step, which cannot be told from nothing"};
    BOOST_TEST(refusal(report::to_json_line(r)) == "");
}

BOOST_AUTO_TEST_CASE(what_would_exhaust_stack_memory_or_time_is_refused_with_the_limit) {
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

BOOST_AUTO_TEST_CASE(rounds_and_phases_come_back_and_records_of_before_have_none) {
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

BOOST_AUTO_TEST_CASE(rounds_of_other_samples_cannot_be) {
    auto r = full();
    r.rounds.push_back(21);
    auto j = Json::parse(report::to_json_line(full()));
    j["rounds"].push_back(21);
    BOOST_TEST(refusal(j.dump()).find("it has 20 samples and the rounds of 21") != std::string::npos);
    BOOST_TEST(report::from_json(report::to_json_line(r)).rounds.empty());  // what does not fit is not written
}

BOOST_AUTO_TEST_CASE(a_later_writer_may_add_keys) {
    BOOST_TEST(refusal_after([](Json& j) {
                   j["new"] = 1;
                   j["time"]["new"] = "x";
               }) == "");
}

BOOST_AUTO_TEST_CASE(csv_lines_have_as_many_fields_as_the_header_and_quote_what_must_be) {
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
    BOOST_TEST(failed.at(8) == "timed_out");
    BOOST_TEST(failed.at(10) == "");  // a failed cell has no time
}

BOOST_AUTO_TEST_CASE(no_text_in_csv_is_a_formula_or_moves_a_cursor_and_numbers_stay_numbers) {
    auto r = full();
    for (const char* formula : {"=441+2", "+441", "-441", "@SUM(A1)", " =441+2"}) {
        r.device.name = r.reason = r.run.label = r.dump = r.id = r.code.kind = formula;
        r.warnings = {formula};
        const auto line = report::to_csv_line(r);
        for (auto text : split(line, ',')) {
            if (text.find(trim(formula)) == std::string::npos) continue;
            BOOST_TEST((text.starts_with("'") || text.starts_with("\"'")), text);
        }
    }
    r = full();
    r.device.name = "\x1b[31mred\nnext \xe2\x80\xae reversed \xff";
    BOOST_TEST(report::to_csv_line(r).find("\\x1b[31mred\\x0anext \\u202e reversed \\xff") != std::string::npos);
    r.time->low = -1e-3;  // of a step
    BOOST_TEST(report::to_csv_line(r).find(",-0.001,") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
