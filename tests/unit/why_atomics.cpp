// Times that a cell cannot beat because its work-items wait for each other: atomics and barriers.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "model/work.hpp"
#include "unit/probe.hpp"
#include "unit/why_cells.hpp"

BOOST_AUTO_TEST_SUITE(why_atomics)

using namespace cllab;
using namespace test::why;

BOOST_AUTO_TEST_CASE(atomics_use_the_one_address_rate_or_else_the_fastest) {
    BOOST_TEST(bound(record(1, {.atomics = 1e6, .footprint = 4}), "atomics").seconds == 0.1, is_close);
    BOOST_TEST(bound(record(1, {.atomics = 1e6, .footprint = 4096}), "atomics").seconds == 0.01, is_close);
    BOOST_TEST(
        explanation(record(1, {.chain = "atomic", .atomics = 1})).bounds.empty());  // a chain is a matter of latency
}

BOOST_AUTO_TEST_CASE(atomics_use_the_fastest_rate_of_the_possible_addresses) {
    const auto swept = with(profile(), {figure("atomic.global.32", "atomics, 32 addresses", "op/s", 30e6),
                                        figure("atomic.global.4", "atomics, 4 addresses", "op/s", 40e6)});
    const auto rate = [&](double words) {
        return 1e6 / bound(record(1, {.atomics = 1e6, .footprint = 4 * words}), "atomics", swept).seconds;
    };
    BOOST_TEST(rate(1) == 10e6, is_close);
    BOOST_TEST(rate(2) == 40e6, is_close);
    BOOST_TEST(rate(4) == 40e6, is_close);
    BOOST_TEST(rate(8) == 40e6, is_close);  // no more than four of them may be in use
    BOOST_TEST(rate(9) == 40e6, is_close);
    BOOST_TEST(rate(32) == 30e6, is_close);  // as it was tried, though fewer were faster
    // More of them than were tried may be in other parts of a cache, which makes a bound that they may beat.
    const auto interval = [&](double words) {
        return bound(record(1, {.atomics = 1e6, .footprint = 4 * words}), "atomics", swept);
    };
    BOOST_TEST(interval(9).low == 0.01 / 1.01, is_close);
    BOOST_TEST(interval(8).low == 0.025 / 1.01, is_close);
    BOOST_TEST(interval(1).low == 0.1 / 1.01, is_close);
    BOOST_TEST(interval(32).low == 0.01 / 1.01, is_close);  // 128 may be in other parts of it
    // Where the memory adds and not a core, an address takes no more than one alone.
    const auto in_place = [&](double words) {
        auto r = record(1, {.atomics = 1e6, .footprint = 4 * words});
        r.device.type = "gpu";
        return 1e6 / bound(r, "atomics", swept).seconds;
    };
    BOOST_TEST(in_place(1) == 10e6, is_close);
    BOOST_TEST(in_place(2) == 20e6, is_close);
    BOOST_TEST(in_place(8) == 40e6, is_close);
    BOOST_TEST(in_place(1000) == 100e6, is_close);
}

BOOST_AUTO_TEST_CASE(atomic_rate_missing_in_the_profile_is_listed_as_missing) {
    auto limits = profile();
    std::erase_if(limits.figures, [](const auto& f) { return f.id.starts_with("atomic."); });
    const auto global = explanation(record(1, {.atomics = 1e6, .footprint = 4}), limits);
    BOOST_TEST(global.missing == std::vector<std::string>{"atomic.global.many"}, boost::test_tools::per_element());
    auto gpu = record(1, {.local_atomics = 1e6});
    gpu.device.type = "gpu";
    BOOST_TEST(explanation(gpu, limits).missing == std::vector<std::string>{"atomic.local.many"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(words_of_one_cache_line_count_as_fewer_words_on_a_cpu) {
    auto swept = with(profile(), {figure("atomic.global.32", "atomics, 32 addresses", "op/s", 80e6),
                                  figure("atomic.global.4", "atomics, 4 addresses", "op/s", 12e6),
                                  figure("cacheline.line", "line", "byte", 64, 0)});
    const auto rate = [&](double words, const char* type = "cpu") {
        auto r = record(1, {.atomics = 1e6, .footprint = 4 * words});
        r.device.type = type;
        return 1e6 / bound(r, "atomics", swept).seconds;
    };
    BOOST_TEST(rate(4) == 12e6, is_close);
    BOOST_TEST(rate(16) == 12e6, is_close);
    BOOST_TEST(rate(17) == 80e6, is_close);  // two lines, as 32
    BOOST_TEST(rate(16, "gpu") > 20e6);      // a memory that adds has no lines to hand over
    swept.figures.pop_back();
    BOOST_TEST(rate(16) == 80e6, is_close);
}

BOOST_AUTO_TEST_CASE(core_executes_local_atomics_of_its_groups_serially) {
    const auto limits = with(profile(), {figure("atomic.latency", "atomic latency", "s", 5e-9)});
    model::WorkInfo work{.groups = 100, .group = 64, .local_atomics = 1e6};
    BOOST_TEST(bound(record(1, work), "local_atomics", limits).seconds == 1e6 / 2 * 5e-9, is_close);
    work.groups = 3;  // one of the two units does two of the three groups
    BOOST_TEST(bound(record(1, work), "local_atomics", limits).seconds == 1e6 * 2 / 3 * 5e-9, is_close);
    auto gpu = record(1, work);
    gpu.device.type = "gpu";
    BOOST_TEST(why_not(gpu, "atomics on local memory", limits) == "the profile has no rate of them");
}

BOOST_AUTO_TEST_CASE(local_atomics_have_the_rate_of_their_declared_addresses) {
    auto swept = profile();
    for (const auto& [number, rate] : {std::pair{"one", 1e9}, {"4", 3e9}, {"32", 9e9}, {"many", 20e9}})
        swept.figures.push_back(figure(std::string("atomic.local.") + number, "local atomics", "op/s", rate));
    const auto rate = [&](double addresses, std::optional<std::int64_t> bytes = {}) {
        auto r = record(1, {.local_atomics = 1e6, .local_addresses = addresses});
        r.device.type = "gpu";
        r.code.local_bytes = bytes;
        return 1e6 / bound(r, "local_atomics", swept).seconds;
    };
    BOOST_TEST(rate(1) == 1e9, is_close);
    BOOST_TEST(rate(2) == 1e9 * std::sqrt(3), is_close);  // between those of one and of 4
    BOOST_TEST(rate(4) == 3e9, is_close);
    BOOST_TEST(rate(5) == 3e9 * std::pow(3, std::log(5 / 4.0) / std::log(8)), is_close);
    BOOST_TEST(rate(30) == 3e9 * std::pow(3, std::log(30 / 4.0) / std::log(8)), is_close);
    BOOST_TEST(rate(32) == 9e9, is_close);
    BOOST_TEST(rate(1, 1024) == 1e9, is_close);  // an array may be larger than what of it is added to
    BOOST_TEST(rate(0, 16) == 3e9, is_close);
    BOOST_TEST(rate(0) == 20e9, is_close);  // neither is known
    auto gpu = test::probe_gpu();
    gpu.max_group = 256;
    gpu.local_bytes = 48 << 10;
    const auto four = model::work_of(test::set_up_cell("atomic_local", {{"counters", "4"}}, gpu));
    BOOST_TEST(four.local_addresses == 4);
    BOOST_TEST(four.local_atomics == 1);
    // Four words beat four times one: what was measured of as many stands, and of five nothing beyond doubt.
    for (auto& f : swept.figures)
        if (f.id == "atomic.local.4") f.value = f.low = f.high = 4.5e9;
    BOOST_TEST(rate(4) == 4.5e9, is_close);
    auto five = record(1, {.local_atomics = 1e6, .local_addresses = 5});
    five.device.type = "gpu";
    const auto of_five = bound(five, "local_atomics", swept);
    BOOST_TEST(of_five.low == 1e6 / (1.01 * 9e9), is_close);  // no faster than 32, no slower than 4
    BOOST_TEST(of_five.high == 1e6 / 4.5e9, is_close);
}

BOOST_AUTO_TEST_CASE(atomic_may_be_as_near_as_the_second_level) {
    auto measured = with(profile(), {figure("atomic.latency", "atomic latency", "s", 220e-9)});
    const auto taking = [](double seconds, const char* type) {
        auto out = record(seconds, {.chain = "atomic"});
        out.device.type = type;
        return out;
    };
    const auto chain = taking(150e-9, "gpu");
    BOOST_TEST(why_not(chain, "latency", measured) ==
               "the profile has no L2 latency, and without it an atomic's shortest time is not known");
    // A core adds in its own cache.
    BOOST_TEST(bound(taking(150e-9, "cpu"), "latency", measured).low > 150e-9);
    measured.figures.push_back(figure("latency.l2.latency", "L2 latency", "s", 140e-9));
    BOOST_CHECK(explanation(chain, measured).limit == Limit::named);
    BOOST_CHECK(explanation(taking(100e-9, "gpu"), measured).limit == Limit::impossible);
}

BOOST_AUTO_TEST_CASE(barriers_use_the_largest_timed_group_that_is_no_larger) {
    const auto timed = with(profile(), {figure("barrier.plain.64", "barrier of 64", "s", 10e-9),
                                        figure("barrier.plain.1024", "barrier of 1024", "s", 40e-9)});
    const auto of = [&](double group) { return explanation(record(1, {.group = group, .barriers = 1000}), timed); };
    BOOST_TEST(bound(of(64), "barriers").seconds == 10e-6, is_close);
    BOOST_TEST(bound(of(1000), "barriers").seconds == 10e-6, is_close);
    BOOST_TEST(bound(of(1024), "barriers").seconds == 40e-6, is_close);
    BOOST_TEST(why_not(of(32), "barriers") == "the profile has no barrier time for so few work-items");
    BOOST_TEST(why_not(explanation(record(1, {.group = 1024, .barriers = 1000})), "barriers") ==
               "the profile has no barrier time");
    const auto cpu = with(profile(), {figure("barrier.item", "barrier a work-item", "s", 1e-9)});
    const model::WorkInfo work{.groups = 3, .group = 64, .barriers = 1000};  // two units go through three groups
    BOOST_TEST(bound(record(1, work), "barriers", cpu).seconds == 1e-9 * 1000 * 64 * 2, is_close);
}

BOOST_AUTO_TEST_SUITE_END()
