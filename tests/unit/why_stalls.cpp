// What a launch's warps wait for names a limiter where no bound alone does.
#include "explain/limiter.hpp"
#include "unit/why_counted.hpp"

namespace {

using namespace cllab;
using namespace cllab::test::why;

BOOST_AUTO_TEST_SUITE(why_stalls)

/// A launch of so many microseconds whose warps wait so long for each of these, per instruction.
model::Record waiting(double microseconds, const std::vector<std::pair<std::string, double>>& stalls) {
    auto counts = launch(1000);
    auto r = counted(1e-6 * microseconds, counts);
    r.counters = {{"gpu__time_duration.sum", "ns", 1000 * (microseconds - 5)}};
    for (const auto& [name, ratio] : stalls)
        r.counters.push_back({"smsp__average_warps_issue_stalled_" + name + "_per_issue_active.ratio", "inst", ratio});
    return r;
}

void add_counter(model::Record& r, const std::string& name, double percent) {
    r.counters.push_back({name, "%", percent});
}

constexpr const char* level_2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* level_1 = "l1tex__throughput.avg.pct_of_peak_sustained_active";

BOOST_AUTO_TEST_CASE(warps_waiting_for_loads_on_an_idle_gpu_have_latency_limits) {
    const auto r = waiting(100, {{"long_scoreboard", 8}, {"barrier", 2}, {"selected", 1}, {"not_selected", 3}});
    const auto e = explained(r);
    BOOST_TEST(limiter(e) == "latency");
    BOOST_TEST(e.limiter()->seconds == 0.8 * 95e-6, is_close);
    BOOST_TEST(e.limiter()->how == "its share of all waiting (ncu), of the time without the launch");
    BOOST_TEST(report::explanation_text(r, e, {.width = 120})
                   .find("\n  waits: 80 % of the waiting of its warps is for global memory, counted by ncu\n") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(mostly_busy_level_is_what_loads_wait_for) {
    auto r = waiting(100, {{"long_scoreboard", 8}, {"wait", 1}});
    add_counter(r, level_2, 70);
    const auto e = explained(r);
    BOOST_TEST(limiter(e) == "l2");
}

BOOST_AUTO_TEST_CASE(drain_waits_of_a_launch_with_atomics_are_atomics) {
    auto r = waiting(100, {{"drain", 8}});
    BOOST_TEST(!explained(r).limiter());
    auto counts = *r.counts;
    counts.global_atomics.number = each(1);
    counts.global_atomics.addresses = 16;
    counts.global_atomics.most_on_address = 1000;
    r.counts = std::make_shared<const Counts>(counts);
    const auto e = explained(r);
    BOOST_TEST(limiter(e) == "atomics");
}

BOOST_AUTO_TEST_CASE(waits_of_a_launch_with_atomics_of_unknown_rate_name_nothing) {
    auto r = waiting(100, {{"long_scoreboard", 8}});
    auto counts = *r.counts;
    counts.global_atomics.number = each(1);
    counts.global_atomics.addresses = 16;
    counts.global_atomics.most_on_address = 1000;
    r.counts = std::make_shared<const Counts>(counts);
    BOOST_TEST(limiter(explained(r)) == "atomics");
    auto quick = gpu();
    std::erase_if(quick.figures, [](const auto& f) { return f.id.starts_with("atomic.global"); });
    const auto e = explanation(r, quick);
    BOOST_TEST(!e.limiter());  // it was "memory latency"
    BOOST_TEST(std::ranges::count(e.missing, "atomic.global.many") == 1);
}

BOOST_AUTO_TEST_CASE(no_limiter_is_named_if_warps_wait_for_several_things) {
    BOOST_TEST(!explained(waiting(100, {{"long_scoreboard", 4}, {"barrier", 3}, {"wait", 3}})).limiter());
}

BOOST_AUTO_TEST_CASE(busy_unit_unrelated_to_the_waits_names_no_limiter) {
    auto r = waiting(100, {{"long_scoreboard", 8}});
    add_counter(r, "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", 70);
    BOOST_TEST(!explained(r).limiter());
}

BOOST_AUTO_TEST_CASE(waits_of_a_very_short_launch_name_nothing) {
    // 5 us of 8 us are the launch itself.
    BOOST_TEST(!explained(waiting(8, {{"long_scoreboard", 9}})).limiter());
}

BOOST_AUTO_TEST_CASE(counters_of_a_slope_step_name_no_wait) {
    auto r = waiting(100, {{"long_scoreboard", 8}});
    BOOST_TEST(explain::longest_wait(r).has_value());
    r.work.launches = 0;
    BOOST_TEST(!explain::longest_wait(r).has_value());
}

BOOST_AUTO_TEST_CASE(level_is_named_even_if_the_next_one_is_nearly_as_busy) {
    auto r = waiting(100, {});
    add_counter(r, level_2, 92);
    add_counter(r, level_1, 90);
    const auto e = explained(r);
    BOOST_TEST(limiter(e) == "l2");
    auto other = e.bounds;
    other[1].id = "issue";
    BOOST_TEST((explain::limit_of(other, *r.time) == Limit::close));
}

BOOST_AUTO_TEST_CASE(partly_executed_text_count_does_not_hide_run_counters) {
    // Its text asks for a thousand times of what passed the second level.
    auto r = waiting(100, {});
    auto counts = launch(1000, 32e6, 1);
    r.counts = std::make_shared<const Counts>(counts);
    add_counter(r, level_2, 90);
    const auto e = explained(r);
    BOOST_TEST(bound(e, "l2").seconds == 0.9 * 95e-6, is_close);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
