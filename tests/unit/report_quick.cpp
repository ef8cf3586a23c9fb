// The quick reader of records: whatever it takes is what the careful one takes, and it takes what the lab writes.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>

#include "core/error.hpp"
#include "report/records/json.hpp"
#include "report/records/quick_record.hpp"
#include "unit/report_records.hpp"

BOOST_AUTO_TEST_SUITE(report_quick)

using namespace cllab;

namespace {

std::string whole_record() {
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
    return report::to_json_line(r);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_record_as_the_lab_writes_it_is_read_quickly_and_wholly) {
    report::QuickReader quick;
    for (int again = 0; again < 3; ++again) {
        const auto line = whole_record();
        const auto record = quick.read(line);
        BOOST_REQUIRE(record);
        BOOST_TEST(report::to_json_line(*record) == line);
        BOOST_TEST(report::to_json_line(*record) == report::to_json_line(report::from_json(line)));
    }
}

BOOST_AUTO_TEST_CASE(code_whose_executions_were_counted_is_read_quickly_and_wholly) {
    auto r = report::from_json(whole_record());
    model::Hot counted{.evidence = model::Hot::counted,
                       .method = "ncu, inst_executed",
                       .executed = 9'000'000'000,
                       .code = "SASS as it ran, by ncu"};
    counted.blocks = {{"k", 48, 112, 0, 0.99, 4, {{"fp32", 1}}, {{"global_load_128", 1}}, {48}, 8'900'000'000}};
    r.hot = counted;
    const auto line = report::to_json_line(r);
    const auto record = report::QuickReader().read(line);
    BOOST_REQUIRE(record);
    BOOST_TEST(record->hot->executed == 9'000'000'000u);
    BOOST_TEST(record->hot->blocks.front().executed == 8'900'000'000u);
    BOOST_TEST(report::to_json_line(*record) == line);
    BOOST_TEST(report::to_json_line(report::from_json(line)) == line);
}

BOOST_AUTO_TEST_CASE(whatever_the_quick_reader_takes_the_careful_one_takes_as_the_same) {
    report::QuickReader quick;
    const auto line = whole_record();
    std::mt19937 random(1);
    const std::string pieces =
        "{}[],:\"\\019.-+eE \t\x01\xff"
        "tfnu";
    std::size_t taken = 0;
    for (int i = 0; i < 10'000; ++i) {
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
        const auto record = quick.read(changed);
        if (!record) continue;
        ++taken;
        std::string careful;
        try {
            careful = report::to_json_line(report::from_json(changed));
        } catch (const Error& e) {
            careful = e.what();
        }
        if (report::to_json_line(*record) != careful) BOOST_TEST(report::to_json_line(*record) == careful, changed);
    }
    BOOST_TEST(taken > 500u);
}

BOOST_AUTO_TEST_CASE(what_is_not_plainly_a_record_is_left_to_the_careful_reader) {
    report::QuickReader quick;
    const auto line = whole_record();
    const auto with = [&](const std::string& from, const std::string& to) {
        auto changed = line;
        const auto at = changed.find(from);
        BOOST_REQUIRE_MESSAGE(at != std::string::npos, from);
        return changed.replace(at, from.size(), to);
    };
    for (const auto& changed :
         {std::string(), std::string("{"), std::string("[]"), line + "x", line + "{}",
          with("\"schema\":2", "\"schema\":3"), with("\"id\":", "\"later\":1,\"id\":"),
          with("\"id\":", "\"id\":\"twice\",\"id\":"), with("\"status\":\"ok\"", "\"status\":\"fine\""),
          with("\"n\":", "\"n\":1.5,\"x\":"), with("\"width\":4096", "\"width\":null"),
          with("\"status\":\"ok\"", "\"status\":\"wrong_result\""), with("\"run\":{", "\"walk\":{")})
        BOOST_TEST(!quick.read(changed), changed.substr(0, 100));
}

BOOST_AUTO_TEST_SUITE_END()
