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
    BOOST_TEST(why_not(l2, "latency") == "the profile has no L2 latency");
    BOOST_TEST(why_not(explain::explain(record(1, {}), profile()), "latency") == "what waits for what is not known");
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
