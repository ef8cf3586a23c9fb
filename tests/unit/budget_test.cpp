// A profile's budget: what sweeps are expected to take, and which axes cost a build.
#include "portrait/budget.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "model/registry.hpp"
#include "portrait/probes.hpp"
#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(budget)

using namespace cllab;
using namespace cllab::model;
using namespace cllab::test;
using portrait::Amount;
using portrait::Budget;

BOOST_AUTO_TEST_CASE(a_sweep_over_data_has_one_program_and_one_over_a_define_has_one_for_each_value) {
    const auto amount = [](const std::string& pattern, const std::string& axis, const std::string& values,
                           const std::vector<std::string>& data) {
        return portrait::amount_of(make_plan(select(registry(), {pattern}), {{axis, values}}), data);
    };
    const auto chase = amount("latency_global", "footprint", "4096,8192,16384", {"footprint"});
    BOOST_TEST(chase.cells == 3u);
    BOOST_TEST(chase.programs == 1u);
    const auto live = amount("registers_live", "live", "16,32,64", {"load"});
    BOOST_TEST(live.cells == 3u);
    BOOST_TEST(live.programs == 3u);
    const auto rest = (chase + live) - Amount{5, 9};
    BOOST_TEST(rest.cells == 1u);
    BOOST_TEST(rest.programs == 0u);
}

BOOST_AUTO_TEST_CASE(an_axis_that_a_probe_calls_data_is_in_no_define) {
    struct Sweep {
        std::string id, axis, one, other;
    };
    const std::vector<Sweep> sweeps{{"fma_units", "load", "50", "100"},
                                    {"launch_item", "launches", "1", "8"},
                                    {"launch_spread", "groups", "4", "8"},
                                    {"atomic_global", "counters", "1", "32"},
                                    {"latency_global", "footprint", "4096", "16384"},
                                    {"latency_global", "order", "paged", "random"},
                                    {"latency_global", "pages", "huge", "small"},
                                    {"bandwidth_reread", "size", "16384", "32768"}};
    std::set<std::string> tested, used;
    for (const auto& [id, axis, one, other] : sweeps) {
        const auto defines = [&](const std::string& value) { return set_up(id, probe_cpu(), {{axis, value}}).defines; };
        BOOST_TEST(defines(one) == defines(other), id + " " + axis);
        tested.insert(axis);
    }
    BOOST_TEST(set_up("fma_peak", probe_cpu(), {{"ilp", "8"}}).defines !=
               set_up("fma_peak", probe_cpu(), {{"ilp", "16"}}).defines);
    for (const auto& probe : portrait::probes_for(probe_cpu())) used.insert(probe.data.begin(), probe.data.end());
    BOOST_TEST(tested == used, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_many_builds_took_is_not_expected_of_a_sweep_that_needs_one) {
    Budget budget(60, {100, 10});
    budget.done({20, 10}, 10 * 0.6, 10 * 0.1);
    const double of_programs = budget.least({30, 30}), of_data = budget.least({30, 1});
    BOOST_TEST(of_programs > 4 * of_data);
    BOOST_TEST(of_data > 30 * Budget::least_sampling);
    BOOST_TEST(budget.affords({1, 1}));
    BOOST_TEST(!budget.lacks_room_for_programs());
    Budget many(60, {100, 210});
    many.done({20, 10}, 10 * 0.6, 10 * 0.1);
    BOOST_TEST(many.lacks_room_for_programs());
    many.start_over();  // the driver's cache has them now
    BOOST_TEST(!many.lacks_room_for_programs());
    BOOST_TEST(!budget.affords({1000, 1000}));
    budget.forget({100, 10});
    BOOST_TEST(budget.sampling() == 0.5);
    // Half a second a cell more, each of them of the same program: 60 s do not last for a thousand.
    Budget slow(60, {1000, 0});
    slow.done({10, 0}, 0, 10 * 0.5);
    BOOST_TEST(slow.sampling() == Budget::least_sampling);
    BOOST_TEST(!slow.lacks_room_for_programs());  // built programs would not make room for them
}

BOOST_AUTO_TEST_CASE(sweeps_of_large_data_do_not_make_sweeps_of_many_programs_dear) {
    Budget budget(60, {});
    budget.done({20, 1}, 0.1, 19 * 2.0);  // buffers of a hundred MiB
    BOOST_TEST(budget.has_room({46, 46}, {}));
    BOOST_TEST(!budget.has_room({100, 1}, {}));
    budget.done({46, 46}, 46 * 2.0, 0);
    budget.done({46, 46}, 46 * 2.0, 0);
    BOOST_TEST(!budget.has_room({46, 46}, {}));
}

BOOST_AUTO_TEST_CASE(what_cells_took_is_known_of_the_first_of_a_program_and_of_the_others_and_not_of_refused_ones) {
    const portrait::Probe probe{
        .family = "latency", .parts = {{"latency_global", {{"footprint", "4096,8192,16384"}}}}, .data = {"footprint"}};
    const auto plan = portrait::plan_of(probe.parts, false);
    std::vector<Record> records(3);
    for (auto& record : records) {
        record.status = Status::ok;
        record.phases = {{Phase::buffers, 0.1}, {Phase::sampling, 5}, {Phase::warm_up, 1}};
    }
    records[0].phases[Phase::build] = 1.9;
    records[1].status = Status::unsupported;
    records[1].phases = {{Phase::buffers, 100}};
    Budget budget(1000, {}, {probe});
    budget.learn(plan, records, 14.1);
    BOOST_TEST(budget.least({1, 1}) == 2 + Budget::least_sampling, boost::test_tools::tolerance(0.001));
    BOOST_TEST(budget.least({1, 0}) == 0.1 + Budget::least_sampling, boost::test_tools::tolerance(0.001));
    // The same program again is another point, and what the end of a process takes is shared.
    budget.learn(plan, records, 14.1 + 2.1);
    BOOST_TEST(budget.least({1, 1}) == 2 + Budget::least_sampling, boost::test_tools::tolerance(0.001));
    BOOST_TEST(budget.least({1, 0}) == (0.1 + 2.1) / 2 + Budget::least_sampling, boost::test_tools::tolerance(0.001));
}

BOOST_AUTO_TEST_CASE(repeats_of_which_it_is_known_what_they_take_end_within_the_budget) {
    const Budget budget(60, {});
    BOOST_TEST(budget.sampling_of(10, 0) == 0.5);
    const double sampling = budget.sampling_of(100, 40);
    BOOST_TEST(sampling > 0.05);
    BOOST_TEST(40 + 100 * sampling < 60);
    BOOST_TEST(budget.sampling_of(100, 70) == Budget::least_sampling);
}

BOOST_AUTO_TEST_CASE(a_probe_that_ends_a_little_beyond_the_budget_has_room_and_one_that_ends_far_beyond_has_not) {
    const Budget budget(100, {});
    const auto cells_of = [&](double seconds) {
        return Amount{static_cast<std::size_t>(seconds / budget.least({1, 0})), 0};
    };
    BOOST_TEST(budget.has_room(cells_of(50), {}));
    BOOST_TEST(budget.has_room(cells_of(53), cells_of(50)));
    BOOST_TEST(!budget.has_room(cells_of(57), cells_of(50)));
    BOOST_TEST(!budget.has_room(cells_of(110), {}));
}

BOOST_AUTO_TEST_SUITE_END()
