// How many instructions a CPU executes for what was counted, by the code that its samples lie in.
#include "unit/why_counted.hpp"

namespace cllab::test {

using namespace why;

BOOST_AUTO_TEST_SUITE(why_instructions)

BOOST_AUTO_TEST_CASE(executed_instructions_follow_from_counts_and_hot_code) {
    const auto limits = with(profile(), {figure("issue.rate", "instruction rate", "instr/s", 10e9)});
    auto counts = launch(1000);
    compute(counts, Operation::float_fma, 64);
    const double items = 256000;
    auto r = on_cpu(counts, {{.share = 0.95, .instructions = 20, .elements = {{"float", 32}}}});
    // What has the other samples runs as fast.
    BOOST_TEST(bound(r, "issue", limits).seconds == items * 64 / 32 * 20 / 0.95 / 10e9, is_close);
    BOOST_TEST(bound(r, "issue", limits).low == 0.8 * items * 64 / 32 * 20 / 10.1e9, is_close);
    r.hot->blocks = {{.share = 0.5, .instructions = 7, .elements = {{"float", 2}}},
                     {.share = 0.4, .instructions = 6, .elements = {{"float", 1}}}};
    BOOST_TEST(bound(r, "issue", limits).seconds == items * 64 / (0.5 * 2 / 7 + 0.4 / 6) / 10e9, is_close);
    r.hot->blocks.pop_back();
    BOOST_TEST(why_not(r, "instruction issue", limits) == "how often the hot block runs is not known");
    // Code that computes none of it and waits for nothing runs as fast as any; what loads may wait.
    r.hot->blocks.push_back({.share = 0.4, .instructions = 6, .memory = {{"stack_load_32", 1}}});
    BOOST_TEST(bound(r, "issue", limits).seconds == items * 64 / (0.5 * 2 / 7) / 10e9, is_close);
    r.hot->blocks.back().memory["load_32"] = 1;
    BOOST_TEST(why_not(r, "instruction issue", limits) == "how often the hot block runs is not known");
    // Hardly in local memory, which lies in the first level.
    counts.local = {each(20), each(4), each(80), each(16)};
    r.counts = std::make_shared<const Counts>(counts);
    BOOST_TEST(bound(r, "issue", limits).seconds == items * 64 / (0.5 * 2 / 7) / 10e9, is_close);
    r.hot->blocks.back().classes["atomic"] = 1;
    BOOST_TEST(why_not(r, "instruction issue", limits) == "how often the hot block runs is not known");
    // A few samples do not stand for all.
    r.hot->blocks = {{.share = 0.2, .instructions = 7, .elements = {{"float", 2}}}, {.share = 0.7, .instructions = 6}};
    BOOST_TEST(why_not(r, "instruction issue", limits) == "how often the hot block runs is not known");
    auto products = launch(1000);
    compute(products, Operation::integer_multiply, 64, 64);
    const auto wide = on_cpu(products, {{.share = 0.95, .instructions = 10, .elements = {{"product", 1}}}});
    BOOST_TEST(bound(wide, "issue", limits).seconds == items * 64 * 10 / 0.95 / 10e9, is_close);
}

BOOST_AUTO_TEST_CASE(operations_hoisted_by_the_compiler_are_no_bound) {
    const auto limits = with(profile(), {figure("issue.rate", "instruction rate", "instr/s", 10e9)});
    auto counts = launch(1000);
    compute(counts, Operation::integer_multiply, 64);
    auto r = on_cpu(counts, {{.share = 1, .instructions = 93, .elements = {{"product", 1}}}});
    r.time = record(0.02, {}).time;
    auto e = explanation(r, limits);
    BOOST_CHECK(e.limit == Limit::impossible);
    explain::drop_removed(r, e);
    BOOST_CHECK(e.limit == Limit::unexplained);
    BOOST_TEST(says(why_not(e, "instruction issue"), "the compiler removed a part of it"));
}

BOOST_AUTO_TEST_CASE(assumed_bytes_do_not_give_an_instruction_count) {
    const auto limits = with(profile(), {figure("issue.rate", "instruction rate", "instr/s", 10e9)});
    auto counts = launch(1000);
    compute(counts, Operation::float_fma, 64);
    auto r = on_cpu(counts, {{.share = 0.95, .instructions = 20, .elements = {{"float", 32}}}});
    r.work.instructions = 1e6;
    BOOST_TEST(bound(r, "issue", limits).seconds == 1e6 / 10e9, is_close);
    r.work.assumed = true;
    BOOST_TEST(bound(r, "issue", limits).seconds == 256000.0 * 64 / 32 * 20 / 0.95 / 10e9, is_close);
    // Unless each of them is touched once, is stored once, and the instructions are enough for what is computed.
    const auto tells = [&](double bytes, double instructions) {
        r.work.bytes = bytes;
        r.work.instructions = instructions;
        r.counts = std::make_shared<const Counts>(counts);
        return bound(r, "issue", limits).seconds == instructions / 10e9;
    };
    const double once = 64 * 32.0 * 1000;
    BOOST_TEST(tells(once, 9e6));
    BOOST_TEST(!tells(once, 8e6));
    BOOST_TEST(!tells(1.2 * once, 9e6));
    counts.global.store_bytes = each(8);
    BOOST_TEST(!tells(once, 9e6));
    counts.global.store_bytes = each(4);
    BOOST_TEST(tells(once, 9e6));
    counts.private_memory.stores = each(1);
    BOOST_TEST(!tells(once, 9e6));
}

BOOST_AUTO_TEST_CASE(instructions_are_not_named_if_memory_would_take_as_long) {
    // 64 MiB, each byte once, in a level of 256 MiB that others use too: at 10 GB/s they take 7 ms of a second.
    auto limits = with(profile(), {figure("issue.rate", "instruction rate", "instr/s", 10e9)});
    limits.caches.push_back(256 << 20);
    auto r = on_cpu(launch(32768), {{.share = 0.95, .instructions = 10}});
    r.work.bytes = r.work.footprint = 64 * MiB;
    r.work.read = 32 * MiB;
    r.work.instructions = 9e9;
    const auto limiter = [&] { return why::limiter(explanation(r, limits)); };
    BOOST_TEST(limiter() == "issue");
    for (auto& f : limits.figures)
        if (f.id.starts_with("bandwidth.")) f.value = f.low = f.high = 64 * MiB / 0.7;
    BOOST_TEST(limiter() == "");
    limits.caches.back() = 0;  // nor in memory
    BOOST_TEST(limiter() == "");
}

BOOST_AUTO_TEST_CASE(samples_name_no_limiter_but_say_where_to_look) {
    // Instructions take 0.54 of a time of 0.77 ms, and 95 % of the samples lie in them.
    const auto limits = with(profile(), {figure("issue.rate", "instruction rate", "instr/s", 20e9)});
    auto counts = launch(1000);
    compute(counts, Operation::float_fma, 64);
    auto r = on_cpu(counts, {{.share = 0.95, .instructions = 20, .elements = {{"float", 32}}}});
    r.time = record(0.77e-3, {}).time;
    const auto e = explanation(r, limits);
    BOOST_CHECK(e.limit == Limit::unexplained);
    BOOST_TEST(bound(e, "issue").seconds > 0.6 * r.time->median);
    BOOST_TEST(says(report::explanation_text(r, e, {}), "isa " + r.id + " --hot --device "),
               report::explanation_text(r, e, {}));
}

BOOST_AUTO_TEST_CASE(instructions_of_one_group_run_on_one_core) {
    const auto limits = with(profile(), {figure("issue.rate", "instruction rate", "instr/s", 10e9),
                                         figure("barrier.item", "time per work-item", "s", 1e-9)});
    auto counts = launch(1);
    counts.barriers = each(1000);
    compute(counts, Operation::float_fma, 64000);
    auto r = on_cpu(counts, {{.share = 1, .instructions = 20, .elements = {{"float", 32}}}});
    const double half = 256.0 * 64000 / 32 * 20 / 10e9;  // of two cores
    BOOST_TEST(bound(r, "issue", limits).seconds == 2 * half, is_close);
    BOOST_TEST(bound(r, "issue", limits).low == 0.8 * half / 1.01, is_close);  // the probe's two may share one
    // What a core does between barriers is what a barrier takes.
    r.time = record(2 * half, {}).time;
    BOOST_TEST(bound(r, "barriers", limits).seconds == 1000 * 256e-9, is_close);
    r.time = record(2.1 * half, {}).time;
    auto slow = limits;
    slow.figures.back() = figure("barrier.item", "time per work-item", "s", 1.8 * half / 1000 / 256);
    BOOST_TEST(limiter(explanation(r, slow)) == "issue");
}

BOOST_AUTO_TEST_CASE(only_cores_of_other_processes_lengthen_a_bound) {
    const auto limits = with(profile(), {figure("issue.rate", "instruction rate", "instr/s", 10e9)});
    auto counts = launch(1000);
    compute(counts, Operation::float_fma, 64);
    auto r = on_cpu(counts, {{.share = 1, .instructions = 20, .elements = {{"float", 32}}}});
    const double seconds = 256000.0 * 64 / 32 * 20 / 10e9;
    const auto issue = [&](double time, double cores, double waited = 0) {
        r.time = record(time, {}).time;
        r.time->cores = cores;
        r.time->waited = waited;
        return bound(r, "issue", limits).seconds;
    };
    BOOST_TEST(issue(1.5 * seconds, 1.6) == seconds, is_close);  // idle cores
    BOOST_TEST(issue(2 * seconds, 1.5, 0.25) == seconds / 0.875, is_close);  // other processes had them
    r.work.groups = 1;
    BOOST_TEST(issue(1.5 * seconds, 1.6) == 2 * seconds, is_close);  // there is no work for the other
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace cllab::test
