// What limits a cell: bounds from declared work and measured peaks, and when one of them may be named.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "explain/claim.hpp"
#include "explain/limiter.hpp"
#include "explain/limits.hpp"
#include "model/work.hpp"
#include "report/explanation.hpp"
#include "unit/cells.hpp"
#include "unit/probe_setup.hpp"
#include "unit/report_records.hpp"

BOOST_AUTO_TEST_SUITE(why)

using namespace cllab;
using model::Limit;

namespace {

constexpr double KiB = 1 << 10, MiB = 1 << 20;

model::Figure figure(const std::string& id, const std::string& name, const std::string& unit, double value, double spread = 0.01) {
    return {id, name, unit, value, value * (1 - spread), value * (1 + spread)};
}

/// A device of two units with caches of 32 KiB and 1 MiB.
model::Limits profile() {
    model::Limits out;
    out.utc = "2026-01-01T00:00:00Z";
    out.caches = {32 << 10, 1 << 20};
    out.units = 2;
    out.figures = {figure("bandwidth.streamed", "streamed", "byte", 64 * MiB, 0),
                   figure("bandwidth.copy", "copy bandwidth", "B/s", 10e9),      figure("bandwidth.read", "read bandwidth", "B/s", 12e9),
                   figure("bandwidth.write", "write bandwidth", "B/s", 8e9),     figure("bandwidth.triad", "triad bandwidth", "B/s", 11e9),
                   figure("bandwidth.l1.rate", "L1 read bandwidth", "B/s", 200e9), figure("bandwidth.l2.rate", "L2 read bandwidth", "B/s", 50e9),
                   figure("fma.peak.float", "float peak", "FLOP/s", 100e9),      figure("fma.peak.double", "double peak", "FLOP/s", 50e9),
                   figure("launch.empty.item", "empty kernel", "s", 1e-6),       figure("launch.next.item", "launch to launch", "s", 2e-6),
                   figure("latency.l1.latency", "L1 latency", "s", 2e-9),        figure("latency.memory.latency", "memory latency", "s", 100e-9),
                   figure("fma.latency.float", "float latency", "s", 1.3e-9),    figure("atomic.global.one", "atomics, one address", "op/s", 10e6),
                   figure("atomic.global.many", "atomics, many addresses", "op/s", 100e6)};
    return out;
}

/// A record that took so long and declares this.
model::Record record(double seconds, model::WorkInfo work) {
    auto out = test::cell("any", "cell", seconds, test::pocl());
    out.work = std::move(work);
    return out;
}

/// Reads and writes as much of 100 MiB.
model::WorkInfo copying() { return {.bytes = 100 * MiB, .read = 50 * MiB, .type = "float", .footprint = 100 * MiB, .launches = 1}; }

const model::Bound& bound(const model::Explanation& e, const std::string& id) {
    const auto found = std::find_if(e.bounds.begin(), e.bounds.end(), [&](const auto& b) { return b.id == id; });
    BOOST_REQUIRE_MESSAGE(found != e.bounds.end(), "no bound " + id);
    return *found;
}

std::string why_not(const model::Explanation& e, const std::string& what) {
    for (const auto& [name, why] : e.unbounded)
        if (name == what) return why;
    return "";
}

std::string said(const model::Record& r, const model::Limits& limits = profile()) {
    return report::limit_sentence(explain::explain(r, limits), *r.time);
}

/// Bounds of these parts of a time of one second, each known to 1 %.
Limit judged(const std::vector<double>& parts, double spread = 0.01) {
    std::vector<model::Bound> bounds;
    for (const double part : parts) bounds.push_back({"b", "b", "b", part, part * (1 - spread), part * (1 + spread), "", ""});
    return explain::limit_of(bounds, model::Timing{.median = 1, .low = 0.99, .high = 1.01, .n = 20});
}

const auto is_close = boost::test_tools::tolerance(1e-9);

}  // namespace

BOOST_AUTO_TEST_CASE(a_limiter_is_named_when_its_bound_is_most_of_the_time_and_clear_of_the_next) {
    BOOST_CHECK(judged({0.95, 0.3}) == Limit::named);
    BOOST_CHECK(judged({0.81}) == Limit::named);
    BOOST_CHECK(judged({0.79, 0.1}) == Limit::unexplained);
    BOOST_CHECK(judged({}) == Limit::unexplained);
}

BOOST_AUTO_TEST_CASE(of_two_bounds_near_to_each_other_none_is_named) {
    BOOST_CHECK(judged({0.95, 0.9}) == Limit::close);
    BOOST_CHECK(judged({0.95, 0.78}) == Limit::close);
    BOOST_CHECK(judged({0.95, 0.7}) == Limit::named);
    BOOST_CHECK(judged({0.95, 0.7}, 0.2) == Limit::close);  // their intervals overlap
    BOOST_CHECK(judged({0.95, 0.1, 0.94}) == Limit::close);  // whatever their order
}

BOOST_AUTO_TEST_CASE(a_bound_above_the_time_cannot_be_and_names_nothing) {
    BOOST_CHECK(judged({1.03, 0.1}) == Limit::named);
    BOOST_CHECK(judged({1.2, 0.1}) == Limit::impossible);
    BOOST_CHECK(judged({1.2, 0.1}, 0.3) == Limit::named);  // the peak may be that much higher
    const auto sentence = said(record(5e-3, copying()));
    BOOST_TEST(sentence.rfind("cannot be: memory bandwidth alone takes at least ", 0) == 0u, sentence);
}

BOOST_AUTO_TEST_CASE(memory_is_bounded_by_the_stream_that_reads_and_writes_in_the_same_proportion) {
    const auto of = [](double read) {
        auto work = copying();
        work.read = read * work.bytes;
        return bound(explain::explain(record(1, work), profile()), "memory");
    };
    BOOST_TEST(of(0.5).figure == "bandwidth.copy");
    BOOST_TEST(of(0.5).seconds == 100 * MiB / 10e9, is_close);
    BOOST_TEST(of(0.5).low == 100 * MiB / 10.1e9, is_close);
    BOOST_TEST(of(0.5).high == 100 * MiB / 9.9e9, is_close);
    BOOST_TEST(of(1).figure == "bandwidth.read");
    BOOST_TEST(of(0).figure == "bandwidth.write");
    BOOST_TEST(of(2.0 / 3).figure == "bandwidth.triad");
    BOOST_TEST(of(0.9).figure == "bandwidth.read");  // the fastest of all: nothing was measured in this proportion
    auto unknown = copying();
    unknown.read.reset();
    BOOST_TEST(bound(explain::explain(record(1, unknown), profile()), "memory").figure == "bandwidth.read");
}

BOOST_AUTO_TEST_CASE(a_footprint_lies_in_the_first_level_that_holds_it_less_what_the_level_before_may_hold) {
    const auto reads = [](double footprint, const std::string& cache = "hot") {
        auto r = record(1, {.bytes = footprint, .read = footprint, .footprint = footprint});
        r.time->cache = cache;
        return explain::explain(r, profile()).bounds.front();
    };
    BOOST_TEST(reads(60 * KiB).id == "l1");  // either unit may hold a part of it
    BOOST_TEST(reads(60 * KiB).seconds == 60 * KiB / 200e9, is_close);
    BOOST_TEST(reads(128 * KiB).id == "l2");
    BOOST_TEST(reads(128 * KiB).seconds == 64 * KiB / 50e9, is_close);
    BOOST_TEST(reads(1024 * KiB).id == "l2");
    BOOST_TEST(reads(4 * MiB).id == "memory");
    BOOST_TEST(reads(4 * MiB).seconds == 3 * MiB / 12e9, is_close);
    BOOST_TEST(reads(64 * MiB).seconds == 64 * MiB / 12e9, is_close);  // as the streams that were measured
    BOOST_TEST(reads(60 * KiB, "cold").id == "memory");
    BOOST_TEST(reads(60 * KiB, "cold").seconds == 60 * KiB / 12e9, is_close);
}

BOOST_AUTO_TEST_CASE(no_level_is_slower_than_what_lies_behind_it) {
    auto disturbed = profile();
    for (auto& f : disturbed.figures)
        if (f.id == "bandwidth.l2.rate") f.value = f.low = f.high = 5e9;
    BOOST_TEST(explain::explain(record(1, {.bytes = MiB, .read = MiB, .footprint = MiB}), disturbed).bounds.front().figure == "bandwidth.read");
}

BOOST_AUTO_TEST_CASE(of_a_cache_only_the_reads_are_bounded) {
    auto work = model::WorkInfo{.bytes = 200 * KiB, .read = 100 * KiB, .footprint = 200 * KiB};
    BOOST_TEST(bound(explain::explain(record(1, work), profile()), "l2").seconds == 68 * KiB / 50e9, is_close);
    work.read.reset();
    BOOST_TEST(why_not(explain::explain(record(1, work), profile()), "memory traffic").find("how many of the bytes are read is not known") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(arithmetic_is_bounded_by_the_peak_of_its_type_and_without_one_is_not_bounded) {
    BOOST_TEST(said(record(1.05e-3, {.flops = 100e6, .type = "float", .launches = 1})) == "limited by float arithmetic: 95 % of the time");
    BOOST_TEST(said(record(2.1e-3, {.flops = 100e6, .type = "double", .launches = 1})) == "limited by double arithmetic: 95 % of the time");
    const auto half = explain::explain(record(1e-3, {.flops = 100e6, .type = "half"}), profile());
    BOOST_TEST(half.bounds.empty());
    BOOST_TEST(why_not(half, "arithmetic") == "the profile has no half peak");
    BOOST_TEST(report::limit_sentence(half, *record(1, {}).time) == "not explained: no bound is known");
}

BOOST_AUTO_TEST_CASE(arithmetic_of_narrow_vectors_is_bounded_by_their_own_peak_where_all_code_that_ran_was_seen) {
    auto measured = profile();
    measured.figures.push_back(figure("fma.peak.float.256", "float peak in vectors of 256 bits", "FLOP/s", 50e9));
    auto r = record(2.1e-3, {.flops = 100e6, .type = "float"});
    const auto figure_with = [&](std::vector<model::HotBlock> blocks, const std::string& evidence = model::Hot::sampled) {
        r.hot = model::Hot{.evidence = evidence, .blocks = std::move(blocks)};
        return bound(explain::explain(r, measured), "arithmetic").figure;
    };
    BOOST_TEST(bound(explain::explain(r, measured), "arithmetic").figure == "fma.peak.float");
    BOOST_TEST(figure_with({{.share = 0.6, .classes = {{"vector_256", 4}}}, {.share = 0.39, .classes = {{"vector_128", 4}}}}) == "fma.peak.float.256");
    BOOST_TEST(said(r, measured) == "limited by float arithmetic in vectors of 256 bits: 95 % of the time");
    BOOST_TEST(figure_with({{.share = 0.9, .classes = {{"vector_256", 4}}}, {.share = 0.09, .classes = {{"vector_512", 1}}}}) == "fma.peak.float");
    BOOST_TEST(figure_with({{.share = 0.9, .classes = {{"vector_256", 4}}}}) == "fma.peak.float");  // a tenth of it is elsewhere
    BOOST_TEST(figure_with({{.share = 1, .classes = {{"vector_256", 4}}}}, model::Hot::unknown) == "fma.peak.float");
}

BOOST_AUTO_TEST_CASE(groups_that_leave_units_idle_take_longer_where_the_units_were_measured) {
    model::WorkInfo work{.flops = 100e6, .type = "float", .groups = 3};
    BOOST_TEST(explain::explain(record(1, work), profile()).bounds.front().id == "arithmetic");
    auto counted = profile();
    counted.figures.push_back(figure("fma.units", "compute units", "", 2, 0));
    const auto e = explain::explain(record(1, work), counted);
    BOOST_TEST(e.bounds.front().id == "units");
    BOOST_TEST(e.bounds.front().seconds == 100e6 / 100e9 * 4 / 3, is_close);
    work.groups = 400;
    BOOST_TEST(explain::explain(record(1, work), counted).bounds.front().id == "arithmetic");
}

BOOST_AUTO_TEST_CASE(launches_in_a_row_are_bounded_by_the_first_and_what_each_more_takes) {
    BOOST_TEST(bound(explain::explain(record(1, {.launches = 1}), profile()), "launch").seconds == 1e-6, is_close);
    BOOST_TEST(bound(explain::explain(record(1, {.launches = 5}), profile()), "launch").seconds == 9e-6, is_close);
    BOOST_TEST(explain::explain(record(1, {}), profile()).bounds.empty());  // of a slope, launching cancels
    // What a launch takes changes by more than a rate does.
    BOOST_TEST(said(record(0.6e-6, {.launches = 1})) == "limited by launch: 100 % of the time");
    BOOST_TEST(said(record(0.2e-6, {.launches = 1})).rfind("cannot be: launch alone takes at least 250 ns", 0) == 0u);
}

BOOST_AUTO_TEST_CASE(atomics_on_one_word_are_bounded_by_the_rate_of_one_address_and_others_by_the_fastest) {
    BOOST_TEST(bound(explain::explain(record(1, {.atomics = 1e6, .footprint = 4}), profile()), "atomics").seconds == 0.1, is_close);
    BOOST_TEST(bound(explain::explain(record(1, {.atomics = 1e6, .footprint = 4096}), profile()), "atomics").seconds == 0.01, is_close);
    BOOST_TEST(explain::explain(record(1, {.chain = "atomic", .atomics = 1}), profile()).bounds.empty());  // a chain is a matter of latency
}

BOOST_AUTO_TEST_CASE(latency_is_bounded_only_where_a_chain_is_declared) {
    BOOST_TEST(said(record(2.1e-9, {.chain = "load", .footprint = 16 * KiB})) == "limited by L1 latency: 95 % of the time");
    BOOST_TEST(said(record(104.2e-9, {.chain = "load", .footprint = 100 * MiB})) == "limited by memory latency: 95 % of the time");
    BOOST_TEST(said(record(1.37e-9, {.type = "float", .chain = "multiply_add"})) == "limited by float latency: 95 % of the time");
    const auto l2 = explain::explain(record(1e-8, {.chain = "load", .footprint = 512 * KiB}), profile());
    BOOST_TEST(bound(l2, "latency").figure == "latency.l1.latency");  // no nearer than that, for the part that L1 cannot hold
    BOOST_TEST(bound(l2, "latency").seconds == 2e-9 * 15 / 16, is_close);
    BOOST_TEST(bound(l2, "latency").how.ends_with(", since the profile has no L2 latency"), bound(l2, "latency").how);
    auto none = profile();
    std::erase_if(none.figures, [](const auto& f) { return f.id.starts_with("latency.l"); });
    BOOST_TEST(why_not(explain::explain(record(1e-8, {.chain = "load", .footprint = 512 * KiB}), none), "latency") == "the profile has no L2 latency");
    BOOST_TEST(bound(explain::explain(record(1, {.chain = "load", .footprint = 100 * MiB, .links = 1000}), profile()), "latency").seconds == 1000 * 99e-9,
               boost::test_tools::tolerance(0.001));
    BOOST_TEST(why_not(explain::explain(record(1, {}), profile()), "latency") == "what waits for what is not known");
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_into_the_last_level_whose_end_is_known_is_at_least_in_the_next_one) {
    auto gpu = profile();
    gpu.caches.clear();
    gpu.figures.push_back(figure("latency.l1.size", "L1 capacity", "byte", 256 * KiB, 0));
    auto chase = record(150e-9, {.chain = "load", .footprint = 8 * MiB});
    chase.device.last_level_bytes = 60 << 20;
    BOOST_TEST(bound(explain::explain(chase, gpu), "latency").figure == "latency.l1.latency");  // no further level was seen
    gpu.figures.push_back(figure("latency.l2.latency", "L2 latency", "s", 140e-9));
    const auto found = bound(explain::explain(chase, gpu), "latency");
    BOOST_TEST(found.figure == "latency.l2.latency");
    BOOST_TEST(found.seconds == 140e-9 * 31 / 32, is_close);
    chase.work.footprint = 128 * KiB;
    BOOST_TEST(bound(explain::explain(chase, gpu), "latency").figure == "latency.l1.latency");
    chase.work.footprint = 200 * MiB;
    BOOST_TEST(bound(explain::explain(chase, gpu), "latency").figure == "latency.memory.latency");
}

BOOST_AUTO_TEST_CASE(a_level_of_which_every_unit_has_its_own_holds_no_more_of_what_every_group_goes_through) {
    model::WorkInfo work{.bytes = 60 * KiB, .read = 60 * KiB, .footprint = 60 * KiB};
    BOOST_TEST(explain::explain(record(1, work), profile()).bounds.front().id == "l1");
    work.shared = true;
    BOOST_TEST(explain::explain(record(1, work), profile()).bounds.front().id == "l2");
    BOOST_TEST(test::set_up_cell("bandwidth_reread", {{"size", "65536"}}, test::probe_cpu()).shared);
}

BOOST_AUTO_TEST_CASE(the_units_of_a_device_that_is_elsewhere_are_those_that_were_counted) {
    model::Device elsewhere;
    elsewhere.compute_units = 0;
    BOOST_TEST(explain::limits_of({figure("fma.units", "compute units", "", 132, 0)}, {}, "", elsewhere).units == 132u);
    BOOST_TEST(explain::limits_of({}, {}, "", elsewhere).units == 1u);
    elsewhere.compute_units = 2;
    BOOST_TEST(explain::limits_of({figure("fma.units", "compute units", "", 132, 0)}, {}, "", elsewhere).units == 2u);
}

BOOST_AUTO_TEST_CASE(atomics_have_the_fastest_rate_of_as_many_addresses_as_there_is_room_for) {
    auto swept = profile();
    swept.figures.push_back(figure("atomic.global.32", "atomics, 32 addresses", "op/s", 30e6));
    swept.figures.push_back(figure("atomic.global.4", "atomics, 4 addresses", "op/s", 40e6));
    const auto rate = [&](double words) { return 1e6 / bound(explain::explain(record(1, {.atomics = 1e6, .footprint = 4 * words}), swept), "atomics").seconds; };
    BOOST_TEST(rate(1) == 10e6, is_close);
    BOOST_TEST(rate(2) == 40e6, is_close);
    BOOST_TEST(rate(4) == 40e6, is_close);
    BOOST_TEST(rate(8) == 40e6, is_close);  // no more than four of them may be in use
    BOOST_TEST(rate(9) == 100e6, is_close);  // they may lie better than those that were tried
}

BOOST_AUTO_TEST_CASE(an_atomic_may_be_as_near_as_the_level_behind_the_first) {
    auto measured = profile();
    measured.figures.push_back(figure("atomic.latency", "atomic latency", "s", 220e-9));
    const auto chain = record(150e-9, {.chain = "atomic"});
    BOOST_TEST(why_not(explain::explain(chain, measured), "latency") == "how near an atomic can be is not known without the latency of L2");
    measured.figures.push_back(figure("latency.l2.latency", "L2 latency", "s", 140e-9));
    BOOST_CHECK(explain::explain(chain, measured).limit == Limit::named);
    BOOST_CHECK(explain::explain(record(100e-9, {.chain = "atomic"}), measured).limit == Limit::impossible);
}

BOOST_AUTO_TEST_CASE(barriers_are_bounded_by_the_largest_group_that_was_timed_and_is_no_larger) {
    auto timed = profile();
    timed.figures.push_back(figure("barrier.plain.64", "barrier of 64", "s", 10e-9));
    timed.figures.push_back(figure("barrier.plain.1024", "barrier of 1024", "s", 40e-9));
    const auto of = [&](double group) { return explain::explain(record(1, {.group = group, .barriers = 1000}), timed); };
    BOOST_TEST(bound(of(64), "barriers").seconds == 10e-6, is_close);
    BOOST_TEST(bound(of(1000), "barriers").seconds == 10e-6, is_close);
    BOOST_TEST(bound(of(1024), "barriers").seconds == 40e-6, is_close);
    BOOST_TEST(why_not(of(32), "barriers") == "the profile has no time of a barrier of so few work-items");
    auto cpu = profile();
    cpu.figures.push_back(figure("barrier.item", "barrier a work-item", "s", 1e-9));
    const model::WorkInfo work{.groups = 3, .group = 64, .barriers = 1000};  // two units go through three groups
    BOOST_TEST(bound(explain::explain(record(1, work), cpu), "barriers").seconds == 1e-9 * 1000 * 64 * 2, is_close);
}

BOOST_AUTO_TEST_CASE(what_a_launch_takes_adds_to_the_rest_and_both_are_named_where_together_they_are_the_time) {
    const auto judged_after = [](double launch, const std::vector<double>& parts, double time = 1) {
        std::vector<model::Bound> bounds{{"launch", "launch", "launch", launch, launch / 4, launch, "", ""}};
        for (const double part : parts) bounds.push_back({"b", "b", "b", part, 0.99 * part, 1.01 * part, "", ""});
        std::stable_sort(bounds.begin(), bounds.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
        return explain::after_launch(bounds, model::Timing{.median = time, .low = 0.99 * time, .high = 1.01 * time, .n = 20});
    };
    BOOST_TEST(judged_after(0.6, {0.35}) == 1u);
    BOOST_TEST(judged_after(0.35, {0.6}) == 1u);
    BOOST_TEST(judged_after(0.6, {0.35, 0.1}) == 1u);
    BOOST_TEST(judged_after(0.3, {0.6, 0.1}) == 1u);
    BOOST_TEST(judged_after(0.3, {0.55, 0.5}) == 0u);   // which of the two follows is not clear
    BOOST_TEST(judged_after(0.45, {0.38}) == 0u);       // a sixth of the time is something else
    BOOST_TEST(judged_after(0.75, {0.05}) == 0u);       // a trifle
    BOOST_TEST(judged_after(0.7, {0.6}) == 0u);         // more than the time
    auto work = model::WorkInfo{.flops = 50e3, .type = "float", .launches = 1};  // 0.5 us behind a launch of 1 us
    const auto e = explain::explain(record(1.6e-6, work), profile());
    BOOST_TEST(e.limiter()->id == "launch");
    BOOST_TEST(e.follower()->id == "arithmetic");
    BOOST_TEST(said(record(1.6e-6, work)) == "limited by launch and, not at the same time, float arithmetic: 62 % and 31 % of the time");
    BOOST_TEST(explain::limit_in_a_word(record(1.6e-6, work), profile()) == "launch+float");
    const auto text = report::explanation_text(record(1.6e-6, work), e, {});
    BOOST_TEST(text.find("[" + std::string(38, '#') + std::string(18, '+') + std::string(4, '.') + "]") != std::string::npos, text);
    const auto json = nlohmann::json::parse(report::explanation_json(record(1.6e-6, work), e));
    BOOST_TEST(json["limiter"] == "launch");
    BOOST_TEST(json["follower"] == "arithmetic");
    work.launches = 2;  // what the second one waits for may be done meanwhile
    BOOST_CHECK(explain::explain(record(4e-6, work), profile()).limit == Limit::unexplained);
}

BOOST_AUTO_TEST_CASE(what_a_profiler_counted_takes_the_place_of_what_is_declared_and_says_so) {
    // pitch_wide on an H200 (2026-11-22): 551 us by OpenCL, and what `cllab ncu` counted of the same launch.
    auto r = record(551e-6, {.bytes = 4.29e9, .footprint = 4.29e9, .launches = 1});
    auto peaks = profile();
    for (auto& f : peaks.figures) {
        if (f.id.starts_with("bandwidth.")) f.value *= 400, f.low *= 400, f.high *= 400;
        if (f.id == "fma.peak.float") f.value = 66.5e12, f.low = 66.4e12, f.high = 66.6e12;
    }
    peaks.figures.push_back(figure("divergence.width.full", "SIMT width", "item", 32, 0));
    BOOST_TEST(why_not(explain::explain(r, peaks), "instruction issue") == "executed instructions are not counted");
    r.counters = {{"dram__bytes_read.sum", "Gbyte", 1.07},
                  {"dram__bytes_write.sum", "Mbyte", 1060},
                  {"lts__t_sectors_op_read.sum", "sector", 50e6},
                  {"smsp__inst_executed.sum", "inst", 329383936}, {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", "%", 57.4},
                  {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "%", 20.3}};
    const auto e = explain::explain(r, peaks);
    const auto& memory = bound(e, "memory");
    BOOST_TEST(memory.seconds == 2.13e9 / 4.8e12, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(memory.how.find("2.13 GB at ") == 0u, memory.how);
    BOOST_TEST(memory.how.find(", counted by ncu") != std::string::npos, memory.how);
    BOOST_TEST(bound(e, "l2").seconds == 1.6e9 / 20e12, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(bound(e, "pipe").seconds == 0.574 * 551e-6, is_close);
    BOOST_TEST(bound(e, "pipe").name == "instructions of pipe alu");
    BOOST_TEST(bound(e, "issue").seconds == 329383936 / (66.5e12 / 64), boost::test_tools::tolerance(1e-6));
    BOOST_TEST(bound(e, "issue").how.find("329383936 warp instructions, counted by ncu") == 0u, bound(e, "issue").how);
    // Of a step of a slope a whole launch's counters say nothing.
    r.work.launches = 0;
    BOOST_TEST(why_not(explain::explain(r, peaks), "instruction issue").find("the counters are of a whole launch") == 0u);
    BOOST_TEST(bound(explain::explain(r, peaks), "memory").how.find("ncu") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_same_work_in_other_groups_takes_as_long_unless_the_groups_are_the_limiter) {
    auto peaks = profile();
    peaks.figures.push_back(figure("dispatch.group.rate", "group rate", "group/s", 1e6));
    auto r = record(10.6e-3, copying());
    r.work.groups = 1000;  // 1 ms
    r.work.group = 256;
    auto halves = r.work;
    halves.groups = 2000;
    halves.group = 128;
    const auto stays = explain::predict(r, explain::explain(r, peaks), halves, peaks);
    BOOST_REQUIRE(stays);
    BOOST_TEST(stays->divided);
    BOOST_TEST(stays->low < 1);
    BOOST_TEST(stays->high > 1);
    BOOST_TEST(stays->high < 1.2);
    auto bound_by_groups = r;
    bound_by_groups.work.bytes = *bound_by_groups.work.read = 0;
    bound_by_groups.time = record(1.05e-3, {}).time;
    halves.bytes = *halves.read = 0;
    const auto doubles = explain::predict(bound_by_groups, explain::explain(bound_by_groups, peaks), halves, peaks);
    BOOST_REQUIRE(doubles);
    BOOST_TEST(doubles->low > 1.6);
    halves.groups = 1100;
    BOOST_TEST(!explain::predict(r, explain::explain(r, peaks), halves, peaks));
    auto twice = r.work;  // more work is no division
    twice.groups *= 2;
    twice.bytes *= 2;
    *twice.read *= 2;
    BOOST_TEST(!explain::predict(r, explain::explain(r, peaks), twice, peaks)->divided);
}

BOOST_AUTO_TEST_CASE(what_families_declare_becomes_the_work_of_their_records) {
    const auto work = [](const std::string& id, const test::Axes& axes) { return model::work_of(test::set_up_cell(id, axes, test::probe_cpu())); };
    const auto copy = work("bandwidth_copy", {{"size", "65536"}});
    BOOST_TEST(copy.bytes == 131072);
    BOOST_TEST(copy.read.value_or(0) == 65536);
    BOOST_TEST(copy.footprint == 131072);
    BOOST_TEST(copy.launches == 1u);
    const auto reread = work("bandwidth_reread", {{"size", "65536"}});
    BOOST_TEST(reread.bytes == 1);
    BOOST_TEST(reread.read.value_or(0) == 1);
    BOOST_TEST(reread.launches == 0u);
    BOOST_TEST(work("fma_latency", {{"type", "double"}}).chain == "multiply_add");
    BOOST_TEST(work("fma_latency", {{"type", "double"}}).type == "double");
    BOOST_TEST(work("fma_peak", {{"type", "uint"}, {"width", "4"}}).type == "uint");
    BOOST_TEST(work("fma_peak", {{"type", "float"}, {"width", "4"}}).chain == "");
    BOOST_TEST(work("atomic_global", {{"counters", "1"}}).atomics == 1);
    BOOST_TEST(work("atomic_global", {{"counters", "1"}}).footprint == 4);
    BOOST_TEST(work("latency_global", {{"footprint", "16384"}}).chain == "load");
    BOOST_TEST(work("latency_global", {{"footprint", "16384"}}).links == 1);
    BOOST_TEST(reread.shared);
    // The sums are each group's own, and 2 MiB of them on a GPU.
    BOOST_TEST(model::work_of(test::set_up_cell("bandwidth_reread", {{"size", "65536"}}, test::probe_gpu())).footprint == 65536);
    BOOST_TEST(!copy.shared);
}

BOOST_AUTO_TEST_CASE(a_claim_predicts_the_time_of_more_work_and_of_the_same_time_only_what_others_do_not) {
    const auto predicted = [](const model::Record& r, const model::WorkInfo& changed) {
        return explain::predict(r, explain::explain(r, profile()), changed, profile());
    };
    // Arithmetic is 95 %: twice as much of it takes twice its bound, and the rest once or twice.
    const auto arithmetic = record(1.05e-3, {.flops = 100e6, .type = "float", .launches = 1});
    auto more = arithmetic.work;
    more.flops *= 2;
    const auto twice = predicted(arithmetic, more);
    BOOST_REQUIRE(twice);
    BOOST_TEST(twice->low == 0.9 * 2 / 1.05, is_close);
    BOOST_TEST(twice->high == 1.1 * (2 + 0.1) / 1.05, is_close);
    BOOST_TEST(!predicted(arithmetic, arithmetic.work));  // nothing changes, whatever the limiter is
    // The launch is all of it: eight times the work takes as long, where any other limiter would take eight times as long.
    const auto launch = record(1.05e-6, {.bytes = 64, .read = 64, .footprint = 64, .launches = 1});
    more = launch.work;
    more.bytes = *more.read = more.footprint = 512;
    const auto as_long = predicted(launch, more);
    BOOST_REQUIRE(as_long);
    BOOST_TEST(as_long->low < 1);
    BOOST_TEST(as_long->high > 1);
    BOOST_TEST(as_long->high < 2);
    // What is not named predicts nothing.
    BOOST_TEST(!predicted(record(1, arithmetic.work), more));
}

BOOST_AUTO_TEST_CASE(data_in_a_faster_level_must_make_a_kernel_faster_that_the_slower_one_limits) {
    const auto r = record(9.2e-3, {.bytes = 100 * MiB, .read = 100 * MiB, .footprint = 100 * MiB, .launches = 1});
    const auto claim = explain::explain(r, profile());
    BOOST_REQUIRE(claim.limiter());
    BOOST_TEST(claim.limiter()->id == "memory");
    const model::WorkInfo small{.bytes = MiB, .read = MiB, .footprint = MiB, .launches = 1};
    const auto predicted = explain::predict(r, claim, small, profile());
    BOOST_REQUIRE(predicted);
    BOOST_TEST(predicted->elsewhere);
    BOOST_TEST(predicted->low == 0.9 * 15 / 16 * MiB / 50e9 / 9.2e-3, is_close);
    BOOST_TEST(predicted->high == 0.95 / 100, is_close);
}

BOOST_AUTO_TEST_CASE(a_claim_is_withdrawn_when_a_whole_interval_lies_beside_what_it_predicts) {
    using model::Outcome;
    const auto found = [](double low, double high) { return model::RatioEstimate{(low + high) / 2, low, high, 0.99, 10}; };
    BOOST_CHECK(explain::judge(1, 2, found(1.2, 1.8)) == Outcome::as_predicted);
    BOOST_CHECK(explain::judge(1, 2, found(0.9, 1.8)) == Outcome::undecided);
    BOOST_CHECK(explain::judge(1, 2, found(0.5, 0.9)) == Outcome::otherwise);
    BOOST_CHECK(explain::judge(1, 2, found(2.1, 2.2)) == Outcome::otherwise);
    BOOST_CHECK(explain::judge(1, 2, model::RatioEstimate{}) == Outcome::undecided);
    auto claim = explain::explain(record(11e-3, copying()), profile());
    BOOST_CHECK(claim.limit == Limit::named);
    claim.tests.resize(2);
    claim.tests[0].outcome = Outcome::as_predicted;
    explain::conclude(claim);
    BOOST_CHECK(claim.limit == Limit::named);
    claim.tests[1].outcome = Outcome::otherwise;
    explain::conclude(claim);
    BOOST_CHECK(claim.limit == Limit::withdrawn);
    BOOST_TEST(!claim.limiter());
    BOOST_TEST(report::limit_sentence(claim, *record(11e-3, copying()).time) == "withdrawn: limited by memory bandwidth does not stand its test");
}

BOOST_AUTO_TEST_CASE(the_bar_makes_all_of_the_time) {
    auto work = copying();
    work.flops = 500e6;
    work.type = "float";
    const auto r = record(20e-3, work);  // memory 52 %, arithmetic 25 %
    const auto e = explain::explain(r, profile());
    const auto text = report::explanation_text(r, e, {});
    BOOST_TEST(text.find("not explained: 48 %") != std::string::npos, text);
    const auto from = text.find('['), to = text.find(']');
    BOOST_TEST(text.substr(from, to - from + 1) == "[" + std::string(15, '=') + std::string(16, '#') + std::string(29, '.') + "]", text);
    BOOST_TEST(text.find("not bounded: latency (what waits for what is not known)") != std::string::npos, text);
    const auto json = nlohmann::json::parse(report::explanation_json(r, e));
    BOOST_TEST(json["record"] == "why");
    BOOST_TEST(json["limit"] == "not explained");
    BOOST_TEST(!json.contains("limiter"));
    BOOST_TEST(json["bounds"][0]["id"] == "memory");
    BOOST_TEST(json["bounds"].size() == 3u);
}

BOOST_AUTO_TEST_CASE(the_column_has_the_limiter_in_a_word_or_a_dash) {
    BOOST_TEST(explain::limit_in_a_word(record(11e-3, copying()), profile()) == "memory");
    BOOST_TEST(explain::limit_in_a_word(record(30e-3, copying()), profile()) == "-");
}

BOOST_AUTO_TEST_SUITE_END()
