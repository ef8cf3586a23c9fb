// Times that a cell cannot beat by the operations and chains that were counted of its launch, and by its groups.
#include <boost/test/unit_test.hpp>

#include "unit/why_counted.hpp"

BOOST_AUTO_TEST_SUITE(why_counted_operations)

using namespace cllab;
using namespace test::why;

BOOST_AUTO_TEST_CASE(arithmetic_of_each_type_is_bounded_by_its_own_peak) {
    auto counts = launch(10000);
    compute(counts, Operation::float_fma, 400, 64);
    compute(counts, Operation::float_add, 4);
    const double seconds = 2.0 * 400 * 256 * 10000 / 32e12;
    const auto e = explained(counted(1.1 * seconds, counts));
    BOOST_TEST(bound(e, "arithmetic").seconds == seconds, is_close);
    BOOST_REQUIRE(e.limiter());
    BOOST_TEST(e.limiter()->name == "double arithmetic");
}

BOOST_AUTO_TEST_CASE(few_groups_use_few_units) {
    auto counts = launch(2);
    compute(counts, Operation::float_function, 1000, 32, "exp");
    // 50 times as long as on all of the 100 units.
    BOOST_TEST(bound(explained(counted(1, counts)), "functions").seconds == 50 * 512 * 1000 / 1e12, is_close);
}

BOOST_AUTO_TEST_CASE(products_and_sums_may_be_separate_or_fused) {
    auto counts = launch(10000);
    compute(counts, Operation::float_add, 100);
    compute(counts, Operation::float_multiply, 100);
    const double both = 2.0 * 200 * 256 * 10000 / 64e12;
    const auto separate = bound(explained(counted(1.1 * both, counts)), "arithmetic");
    BOOST_TEST(separate.seconds == both, is_close);
    BOOST_TEST(says(separate.how, "512 MFLOP at 32.0 TFLOP/s"), separate.how);
    // A time of less than the two apart can only be that of the two joined.
    const auto joined = bound(explained(counted(0.55 * both, counts)), "arithmetic");
    BOOST_TEST(joined.seconds == both / 2 / 1.01, is_close);
    BOOST_TEST(says(joined.how, "without the work that the compiler must have removed"));
}

BOOST_AUTO_TEST_CASE(waiting_lanes_take_full_time) {
    auto counts = launch(10000);
    compute(counts, Operation::float_fma, 400);
    const double seconds = 2.0 * 400 * 256 * 10000 / 64e12;
    counts.lanes_active = 0.5;
    const auto r = counted(2.2 * seconds, counts);
    const auto e = explained(r);
    BOOST_TEST(bound(e, "arithmetic").seconds == 2 * seconds, is_close);
    BOOST_TEST(explain::advice(r, e, gpu()) ==
               "On average, only 50 % of a wave's lanes are active, because neighbouring work-items take different "
               "paths.");
    // A CPU's work-items wait for no other.
    auto cpu = r;
    cpu.device.type = "cpu";
    BOOST_TEST(bound(explained(cpu), "arithmetic").seconds == seconds, is_close);
}

BOOST_AUTO_TEST_CASE(function_is_bounded_by_its_own_rate_or_listed_as_missing) {
    auto counts = launch(10000);
    compute(counts, Operation::float_function, 32, 32, "exp");
    compute(counts, Operation::float_function, 32, 32, "pow");
    compute(counts, Operation::integer_divide, 10, 64);
    const auto e = explained(counted(1e-3, counts));
    BOOST_TEST(bound(e, "functions").seconds == 32.0 * 256 * 10000 / 1e12, is_close);
    BOOST_TEST(std::ranges::count(e.missing, "math.rate.pow.medium") == 1);
    BOOST_TEST(std::ranges::count(e.missing, "integer.rate.divide.64") == 1);
    BOOST_TEST(why_not(e, "64-bit division") == "the profile has no rate of it");
}

BOOST_AUTO_TEST_CASE(chain_is_waited_for_once_per_successive_group) {
    auto counts = launch(1);
    counts.path = {1000, 0, 2000, 0};
    compute(counts, Operation::float_fma, 2000);
    const double seconds = 1000 * 16e-9 + 2000 * 2e-9;  // its 2 KiB lie in the first level
    const auto e = explained(counted(1.1 * seconds, counts));
    BOOST_TEST(bound(e, "latency").seconds == seconds, is_close);
    BOOST_REQUIRE(e.limiter());
    BOOST_TEST(e.limiter()->name == "L1 latency");
    // A unit has room for ten groups of 256, so that 4000 groups are four rounds.
    auto many = launch(4000, 0, 1);
    many.path = {0, 100, 0, 0};
    BOOST_TEST(bound(explained(counted(1, many)), "latency").seconds == 4 * 100 * 12e-9, is_close);
    auto far = launch(100000);
    far.path = {3, 0, 0, 0};
    BOOST_TEST(bound(explained(counted(1, far)), "latency").seconds == 100 * 3 * 350e-9, is_close);
}

BOOST_AUTO_TEST_CASE(core_executes_group_items_serially_unless_it_overlaps_them) {
    const auto of = [](double steps, double lanes, double chains = 1) {
        auto counts = launch(1);
        counts.group_items = counts.items = counts.counted_items = 64;
        counts.path = {0, 0, steps, 0};
        compute(counts, Operation::float_fma, chains * steps);
        // Two copies of the loop, of three instructions each.
        model::HotBlock block{.share = 0.45, .instructions = 3, .elements = {{"float", lanes}}};
        if (lanes > 1) block.classes = {{"vector_256", 3}};
        return explanation(on_cpu(counts, {block, block}));
    };
    BOOST_TEST(bound(of(20000, 1), "latency").seconds == (1 - 0.5 / 60) * 64 * 20000 * 1.3e-9, is_close);
    BOOST_TEST(bound(of(20000, 8), "latency").seconds == (1 - 0.5 / 60) * 8 * 20000 * 1.3e-9, is_close);
    // A vector of the chains of one work-item, or of two.
    BOOST_TEST(bound(of(20000, 8, 8), "latency").seconds == (1 - 0.5 / 60) * 64 * 20000 * 1.3e-9, is_close);
    BOOST_TEST(bound(of(20000, 8, 4), "latency").seconds == (1 - 0.5 / 60) * 32 * 20000 * 1.3e-9, is_close);
    BOOST_TEST(why_not(of(400, 1), "latency") == "a core works on several work-items at once");
    // Of code that was not seen running it is not said that it does.
    auto counts = launch(1);
    counts.path = {0, 0, 20000, 0};
    compute(counts, Operation::float_fma, 20000);
    BOOST_TEST(why_not(on_cpu(counts, {}), "latency") == "how many work-items a core works on at once is not known");
}

BOOST_AUTO_TEST_CASE(chain_with_nearly_all_operations_includes_functions) {
    const auto limits = with(gpu(), {figure("math.latency.sqrt.medium", "sqrt latency", "s", 20e-9)});
    auto counts = launch(1);
    counts.path = {0, 0, 2000, 0};
    compute(counts, Operation::float_add, 1000);
    compute(counts, Operation::float_function, 1000, 32, "sqrt");
    const auto seconds = [&] { return bound(counted(1, counts), "latency", limits).seconds; };
    BOOST_TEST(seconds() == 1000 * 2e-9 + 1000 * 20e-9, is_close);
    counts.path.arithmetic = 1000;  // the other chains run beside this one
    BOOST_TEST(seconds() == 1000 * 2e-9, is_close);
}

BOOST_AUTO_TEST_CASE(scalar_functions_are_at_most_slightly_faster_than_the_probe) {
    const auto limits = with(profile(), {figure("math.rate.exp.medium", "exp rate", "call/s", 1e9)});
    auto counts = launch(1000);
    compute(counts, Operation::float_function, 4, 32, "exp");
    const double seconds = 256000.0 * 4 / 1e9;
    auto r = on_cpu(
        counts, {{.share = 0.95, .instructions = 20, .classes = {{"scalar_float", 9}}, .elements = {{"float", 8}}}});
    BOOST_TEST(bound(r, "functions", limits).low == 0.75 * seconds / 1.01, is_close);
    r.time = record(0.85 * seconds, {}).time;
    BOOST_TEST(bound(r, "functions", limits).seconds == 0.75 * seconds / 1.01, is_close);
    BOOST_TEST(limiter(explanation(r, limits)) == "functions");
    r.hot->blocks.front().elements["float"] = 64;  // in vectors
    BOOST_TEST(bound(r, "functions", limits).seconds == seconds / 16 / 1.01, is_close);
    r.hot.reset();
    BOOST_TEST(bound(r, "functions", limits).seconds == seconds / 16 / 1.01, is_close);
    // The one group of two units has a core for itself that the probe's two threads may have shared.
    auto one = launch(1);
    compute(one, Operation::float_function, 4000, 32, "exp");
    auto alone = on_cpu(
        one, {{.share = 0.95, .instructions = 20, .classes = {{"scalar_float", 9}}, .elements = {{"float", 8}}}});
    BOOST_TEST(bound(alone, "functions", limits).low == 0.75 / 2 * 2 * 256 * 4000 / 1.01e9, is_close);
}

BOOST_AUTO_TEST_CASE(path_of_floats_is_at_least_half_as_long) {
    auto counts = launch(1);
    counts.group_items = counts.items = counts.counted_items = 64;
    counts.path = {0, 0, 20000, 0};
    compute(counts, Operation::float_add, 20000);
    const std::vector<model::HotBlock> loop{{.share = 0.9, .instructions = 3, .elements = {{"float", 1}}}};
    const double all = 64 * 20000 * 1.3e-9, overlap = 1 / 60.0;
    BOOST_TEST(bound(on_cpu(counts, loop), "latency").low == (1 - overlap) * all / 2, is_close);
    compute(counts, Operation::float_add, 20000);  // half of them are in no path, so the path may be one of integers
    BOOST_TEST(bound(on_cpu(counts, loop), "latency").low == (1 - overlap / 2) * all / 4, is_close);
    // One of integers is known by its operations where the clock is.
    const auto limits = with(
        profile(), {figure("fma.latency.uint", "uint latency", "s", 1.2e-9), figure("fma.clock", "clock", "Hz", 2e9)});
    counts.operations.clear();
    compute(counts, Operation::integer_add, 20000);
    auto r = on_cpu(counts, {{.share = 0.9, .instructions = 3, .classes = {{"scalar_integer", 3}}}});
    r.work.instructions = 64 * 20000.0 * 3;
    BOOST_TEST(bound(r, "latency", limits).low == (1 - overlap) * 64 * 20000 * 0.5e-9 / 2, is_close);
}

BOOST_AUTO_TEST_CASE(chain_of_a_cpu_has_the_latencies_of_its_operations) {
    auto counts = launch(1);
    counts.group_items = counts.items = counts.counted_items = 64;
    counts.path = {0, 0, 20000, 0};
    compute(counts, Operation::float_add, 15000);
    const auto of = [&](const model::Limits& limits) {
        return explanation(on_cpu(counts, {{.share = 0.9, .instructions = 4, .elements = {{"float", 1}}}}), limits);
    };
    const auto limits =
        with(profile(), {figure("fma.add.float", "float add latency", "s", 0.6e-9),
                         figure("fma.multiply.float", "float multiply latency", "s", 0.9e-9),
                         figure("fma.clock", "clock", "Hz", 4e9)});
    // Those that are not floats take a cycle.
    double instructions = 15000 * 4;
    const auto part = [&] { return 64 * (1 - 0.5 * 1000 / instructions); };
    BOOST_TEST(bound(of(limits), "latency").seconds == part() * (15000 * 0.6e-9 + 5000 * 0.25e-9), is_close);
    // The fastest come first, because the others may be in no chain.
    compute(counts, Operation::float_multiply, 15000);
    instructions = 30000 * 4;
    BOOST_TEST(bound(of(limits), "latency").seconds == part() * (15000 * 0.6e-9 + 5000 * 0.9e-9), is_close);
    const auto lacks = [](const auto& e, const char* id) { return std::ranges::count(e.missing, id) == 1; };
    BOOST_TEST(!lacks(of(limits), "fma.add.float"));
    // Without their latencies, they may take half of a multiply-add's.
    const auto lacking = of(profile());
    BOOST_TEST(bound(lacking, "latency").seconds == part() * 20000 * 0.65e-9, is_close);
    BOOST_TEST((lacks(lacking, "fma.add.float") && lacks(lacking, "fma.multiply.float")));
}

BOOST_AUTO_TEST_CASE(chain_of_indices_is_as_long_as_its_loads) {
    auto counts = launch(1);
    counts.group_items = counts.items = counts.counted_items = 64;
    counts.path = {5001, 0, 0, 0};
    counts.global.loads = each(5001);
    const model::HotBlock block{
        .share = 0.45, .instructions = 4, .memory = {{"load_32", 1}, {model::HotBlock::index_chain, 1}}};
    const double overlap = 1000 / (5001.0 * 4);
    BOOST_TEST(bound(explanation(on_cpu(counts, {block, block})), "latency").seconds ==
                   64 * 5000 * 2e-9 * (1 - overlap / 2),
               is_close);
}

BOOST_AUTO_TEST_CASE(small_groups_are_the_limiter_with_advice_for_larger_ones) {
    auto counts = launch(1e6, 1, 1);
    counts.group_items = 1;
    counts.items = 1e6;
    const auto r = counted(1e6 / 1.6e9, counts);
    const auto e = explained(r);
    BOOST_TEST(limiter(e) == "groups");
    BOOST_TEST(explain::advice(r, e, gpu()) ==
               "The work-group size is 1. With size 256, the launch would have 256 times fewer work-groups.");
}

BOOST_AUTO_TEST_CASE(busy_pipe_counts_as_its_arithmetic_not_as_issue) {
    auto counts = launch(10000);
    compute(counts, Operation::float_fma, 400);
    const double seconds = 2.0 * 400 * 256 * 10000 / 64e12;
    auto r = counted(1.1 * seconds, counts);
    r.counters = {{"gpu__time_duration.sum", "ns", 1.1e9 * seconds},
                  {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "%", 95},
                  {"l1tex__throughput.avg.pct_of_peak_sustained_active", "%", 12}};
    const auto e = explained(r);
    BOOST_REQUIRE(e.limiter());
    BOOST_TEST(e.limiter()->name == "float arithmetic");
    BOOST_TEST(e.limiter()->seconds == 0.95 * r.time->median, is_close);
    BOOST_TEST(bound(e, "l1").seconds == 0.12 * 1.1 * seconds, is_close);
    // A pipe that is busy with what has no count of its own is named itself.
    r.counters[1].name = "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active";
    r.counts = std::make_shared<const Counts>(launch(10000));
    const auto other = explained(r);
    BOOST_REQUIRE(other.limiter());
    BOOST_TEST(other.limiter()->name == "instructions of pipe alu (integers, logic, comparisons)");
}

BOOST_AUTO_TEST_CASE(barrier_pipe_is_not_the_first_cache_level) {
    // A scan of 1024 in local memory on an H200 (2026-11-29): L1 59.8 % busy, pipe adu 76.6 %.
    auto r = counted(127e-6, launch(16384));
    r.counters = {{"gpu__time_duration.sum", "ns", 127e3},
                  {"sm__inst_executed_pipe_adu.avg.pct_of_peak_sustained_active", "%", 76.6},
                  {"l1tex__throughput.avg.pct_of_peak_sustained_active", "%", 59.8}};
    BOOST_TEST(bound(explained(r), "pipe").seconds == 0.766 * 127e-6, is_close);
    BOOST_TEST(bound(explained(r), "l1").seconds == 0.598 * 127e-6, is_close);
    // That of loads and stores is.
    r.counters[1].name = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active";
    BOOST_TEST(bound(explained(r), "l1").seconds == 0.766 * 127e-6, is_close);
}

BOOST_AUTO_TEST_CASE(successive_groups_pass_their_barriers_serially) {
    const auto limits = with(gpu(), {figure("barrier.plain.256", "barrier of 256", "s", 10e-9),
                                     figure("dispatch.resident", "resident work-items", "item", 2048)});
    auto counts = launch(16 * 8 * gpu().units);
    counts.barriers = each(20);
    BOOST_TEST(bound(explanation(counted(1, counts), limits), "barriers").seconds == 16 * 20 * 10e-9, is_close);
}

BOOST_AUTO_TEST_CASE(divisions_missing_from_the_hot_block_count_once) {
    const auto limits = with(profile(), {figure("integer.rate.divide.32", "32-bit integer divide", "op/s", 1e9)});
    auto counts = launch(1000);
    compute(counts, Operation::integer_divide, 1);
    auto r = on_cpu(counts, {{.share = 0.95, .instructions = 20}});
    const auto has = [&] {
        const auto e = explanation(r, limits);
        return std::ranges::any_of(e.bounds, [](const auto& b) { return b.id == "division"; });
    };
    BOOST_TEST(!has());
    r.hot->blocks.front().elements["division"] = 1;
    BOOST_TEST(has());
    // What waits for one is seen behind it.
    r.hot->blocks = {{.begin = 20, .end = 40, .share = 0.9, .instructions = 4},
                     {.begin = 10, .end = 20, .share = 0.05, .instructions = 2, .elements = {{"division", 1}}}};
    BOOST_TEST(has());
    r.hot->blocks.back().end = 16;
    BOOST_TEST(!has());
    r.hot->blocks.back().end = 20;
    r.hot->blocks.front().loops = {20};
    BOOST_TEST(!has());  // it stands in front of the loop
}

BOOST_AUTO_TEST_SUITE_END()
