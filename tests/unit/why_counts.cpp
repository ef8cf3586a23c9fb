// Times that a cell cannot beat by what was counted of its launch: with made counts, and a made profile of a GPU.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>

#include "explain/counted.hpp"
#include "unit/why_cells.hpp"

BOOST_AUTO_TEST_SUITE(why_counts)

using namespace cllab;
using namespace test::why;
using model::Counts;
using model::Operation;

namespace {

/// A GPU of 100 units with levels of 128 KiB and 32 MiB.
model::Limits gpu() {
    model::Limits out;
    out.utc = "2026-01-01T00:00:00Z";
    out.units = 100;
    out.figures = {figure("bandwidth.l1.size", "L1 capacity", "byte", 128 * KiB, 0),
                   figure("bandwidth.l2.size", "L2 capacity", "byte", 32 * MiB, 0),
                   figure("bandwidth.copy", "copy bandwidth", "B/s", 4e12),
                   figure("bandwidth.read", "read bandwidth", "B/s", 3.8e12),
                   figure("bandwidth.write", "write bandwidth", "B/s", 4.2e12),
                   figure("bandwidth.triad", "triad bandwidth", "B/s", 4.1e12),
                   figure("bandwidth.l1.rate", "level 1 read bandwidth", "B/s", 32e12),
                   figure("bandwidth.l2.rate", "level 2 read bandwidth", "B/s", 8e12),
                   figure("scatter.store.rate", "store block rate", "block/s", 80e9),
                   figure("scatter.load.rate", "load block rate", "block/s", 160e9),
                   figure("banks.rate", "local memory bandwidth", "B/s", 25e12),
                   figure("fma.peak.float", "float peak", "FLOP/s", 64e12),
                   figure("fma.peak.double", "double peak", "FLOP/s", 32e12),
                   figure("fma.latency.float", "float latency", "s", 2e-9),
                   figure("math.rate.exp.medium", "exp rate", "call/s", 1e12),
                   figure("launch.empty.item", "empty kernel", "s", 5e-6),
                   figure("dispatch.group.rate", "group rate", "group/s", 1.6e9),
                   figure("latency.l1.size", "L1 capacity", "byte", 128 * KiB, 0),
                   figure("latency.l2.size", "L2 capacity", "byte", 32 * MiB, 0),
                   figure("latency.l1.latency", "L1 latency", "s", 16e-9),
                   figure("latency.l2.latency", "L2 latency", "s", 140e-9),
                   figure("latency.memory.latency", "memory latency", "s", 350e-9),
                   figure("latency.local.latency", "local memory latency", "s", 12e-9),
                   figure("atomic.global.one", "atomics, one address", "op/s", 1e9),
                   figure("atomic.global.32", "atomics, 32 addresses", "op/s", 30e9),
                   figure("atomic.global.4096", "atomics, 4096 addresses", "op/s", 100e9),
                   figure("atomic.global.many", "atomics, many addresses", "op/s", 400e9)};
    return out;
}

model::Amount each(double number) { return {number, number, number}; }

/// A launch of so many groups of 256, of which each reads and writes so many sectors of its own; four were counted.
Counts launch(double groups, double read = 32, double written = 32) {
    Counts out;
    out.groups = groups;
    out.group_items = 256;
    out.items = 256 * groups;
    out.counted_groups = std::min(4.0, groups);
    out.counted_items = 256 * out.counted_groups;
    for (double n = 1; n <= out.counted_groups; ++n)
        out.footprint.push_back({n, n * (read + written), n * read, n * written, n * (read + written) / 4});
    out.reads = {each(1.0 / 32), each(read / 256), each(read / 256), 4};
    out.writes = {each(1.0 / 32), each(written / 256), each(written / 256), 4};
    out.global = {each(1), each(1), each(4), each(4)};
    return out;
}

model::Record counted(double seconds, const Counts& counts, model::WorkInfo work = {}) {
    work.launches = 1;
    work.groups = counts.groups;
    work.group = counts.group_items;
    if (work.type.empty()) work.type = "float";
    auto out = record(seconds, std::move(work));
    out.device.type = "gpu";
    out.counts = std::make_shared<const Counts>(counts);
    return out;
}

model::Explanation explained(const model::Record& r) { return explain::explain(r, gpu()); }

void compute(Counts& counts, Operation kind, double number, unsigned bits = 32, const std::string& function = "") {
    counts.operations.push_back({kind, bits, function, each(number)});
}

}  // namespace

BOOST_AUTO_TEST_CASE(memory_is_bounded_by_the_different_bytes_that_all_groups_touch) {
    const double groups = 1e6, bytes = groups * 256 * 32;
    const auto e = explained(counted(1.05 * bytes / 4e12, launch(groups, 128, 128),
                                     {.bytes = bytes, .assumed = true, .read = bytes / 2, .footprint = bytes}));
    BOOST_TEST(bound(e, "memory").seconds == (bytes - 32 * MiB) / 4e12, is_close);
    BOOST_TEST(bound(e, "memory").figure == "bandwidth.copy");
    BOOST_REQUIRE(e.limiter());
    BOOST_TEST(e.limiter()->id == "memory");
    // A buffer that is hardly touched counts for what is touched of it.
    const auto little =
        explained(counted(1e-3, launch(groups, 128, 128),
                          {.bytes = 100 * bytes, .assumed = true, .read = 50 * bytes, .footprint = 100 * bytes}));
    BOOST_TEST(bound(little, "memory").seconds == (bytes - 32 * MiB) / 4e12, is_close);
    // Groups that read the same data touch no more than the buffers have.
    const auto shared =
        explain::distinct(launch(groups, 128, 128), {.bytes = bytes / 2, .assumed = true, .read = bytes / 8});
    BOOST_TEST(shared.read == bytes / 8, is_close);
}

BOOST_AUTO_TEST_CASE(what_all_groups_read_passes_once_for_each_unit_that_holds_it) {
    auto counts = launch(1000, 0, 8);
    for (auto& f : counts.footprint) f.read_sectors = 1024 + f.groups * 16;
    const auto near = explain::beyond(counts, 128 * KiB, 100), far = explain::beyond(counts, 16 * KiB, 100);
    BOOST_TEST(near.read == 32 * (1024 * 100 + 16 * 1000.0), is_close);
    BOOST_TEST(far.read == 32 * (1024 * 1000 + 16 * 1000.0), is_close);
    BOOST_TEST(near.written == 32 * 8 * 1000.0, is_close);
}

BOOST_AUTO_TEST_CASE(stores_that_touch_a_sector_each_are_bounded_by_the_rate_of_sectors) {
    const double groups = 65536;
    auto counts = launch(groups, 32, 256);
    counts.writes.least_sectors = each(4.0 / 32);
    const double seconds = groups * 256 / 80e9;
    const auto r = counted(1.1 * seconds, counts);
    const auto e = explained(r);
    BOOST_TEST(bound(e, "l2").seconds == seconds, is_close);
    BOOST_REQUIRE(e.limiter());
    BOOST_TEST(e.limiter()->name == "L2, partial sectors");
    BOOST_TEST(e.limiter()->how.find("counted by simulation of 4 of 65536 groups") != std::string::npos);
    BOOST_TEST(explain::advice(r, e) ==
               "Stores move 32 bytes for 4 used: 8 times the sectors of neighbours side by side.");
    // Side by side they are a stream, and nothing is to be said of them.
    BOOST_TEST(bound(explained(counted(1e-3, launch(groups))), "l2").seconds == groups * 32 * 32 / 8e12, is_close);
}

BOOST_AUTO_TEST_CASE(lanes_that_meet_in_a_bank_take_turns) {
    auto counts = launch(10000);
    counts.local = {each(64), each(1), each(256), each(4)};
    counts.local_reads = {each(2), each(16), each(2), 8};
    const double seconds = 256.0 * 10000 * 16 * 128 / 25e12;
    const auto r = counted(1.1 * seconds, counts);
    const auto e = explained(r);
    BOOST_TEST(bound(e, "local").seconds == seconds, is_close);
    BOOST_TEST(bound(e, "local").name == "local memory, bank conflicts");
    BOOST_TEST(explain::advice(r, e) == "Conflicts make local memory take 8 times as many turns as without.");
    counts.local_reads.ways = each(2);
    BOOST_TEST(bound(explained(counted(1e-3, counts)), "local").name == "local memory bandwidth");
}

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

BOOST_AUTO_TEST_CASE(few_groups_have_few_units) {
    auto counts = launch(2);
    compute(counts, Operation::float_function, 1000, 32, "exp");
    // 50 times as long as on all of the 100 units.
    BOOST_TEST(bound(explained(counted(1, counts)), "functions").seconds == 50 * 512 * 1000 / 1e12, is_close);
}

BOOST_AUTO_TEST_CASE(products_and_sums_may_be_one_instruction_each_or_joined) {
    auto counts = launch(10000);
    compute(counts, Operation::float_add, 100);
    compute(counts, Operation::float_multiply, 100);
    const double both = 2.0 * 200 * 256 * 10000 / 64e12;
    BOOST_TEST(bound(explained(counted(1.1 * both, counts)), "arithmetic").seconds == both, is_close);
    // A time of less than the two apart can only be that of the two joined.
    const auto joined = bound(explained(counted(0.55 * both, counts)), "arithmetic");
    BOOST_TEST(joined.seconds == both / 2 / 1.01, is_close);
    BOOST_TEST(joined.how.find("lowered to what the compiler cannot join") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(lanes_that_wait_for_others_take_as_long) {
    auto counts = launch(10000);
    compute(counts, Operation::float_fma, 400);
    const double seconds = 2.0 * 400 * 256 * 10000 / 64e12;
    counts.lanes_active = 0.5;
    const auto r = counted(2.2 * seconds, counts);
    const auto e = explained(r);
    BOOST_TEST(bound(e, "arithmetic").seconds == 2 * seconds, is_close);
    BOOST_TEST(explain::advice(r, e) == "Of a wave's lanes 50 % are active on average: neighbours go different ways.");
    // A CPU's work-items wait for no other.
    auto cpu = r;
    cpu.device.type = "cpu";
    BOOST_TEST(bound(explained(cpu), "arithmetic").seconds == seconds, is_close);
}

BOOST_AUTO_TEST_CASE(a_function_is_bounded_by_its_own_rate_and_one_without_a_rate_is_missing) {
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

BOOST_AUTO_TEST_CASE(atomics_are_bounded_by_the_addresses_that_they_go_to) {
    auto counts = launch(1000);
    counts.global_atomics = {each(1), each(1.0 / 32), each(1)};
    counts.global_atomics.addresses = 1;
    counts.global_atomics.most_in_group = 256;
    const auto r = counted(1.1 * 256000 / 1e9, counts, {.footprint = 1 * MiB});
    const auto e = explained(r);
    BOOST_TEST(bound(e, "atomics").seconds == 256000 / 1e9, is_close);
    BOOST_REQUIRE(e.limiter());
    BOOST_TEST(explain::advice(r, e) ==
               "256 of a group's 256 atomics meet on one address; a sum in local memory would make one of them.");
    // Addresses that no two atomics of the counted groups share are as many more in the others.
    counts.global_atomics.addresses = 1024;
    BOOST_TEST(bound(explained(counted(1, counts, {.footprint = 1 * MiB})), "atomics").seconds == 256000 / 400e9,
               is_close);
}

BOOST_AUTO_TEST_CASE(a_chain_is_waited_for_as_often_as_groups_follow_each_other) {
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

BOOST_AUTO_TEST_CASE(a_core_goes_through_the_work_items_of_a_group_unless_it_looks_ahead_to_the_next) {
    const auto of = [](double steps, double lanes) {
        auto counts = launch(1);
        counts.group_items = counts.items = counts.counted_items = 64;
        counts.path = {0, 0, steps, 0};
        compute(counts, Operation::float_fma, steps);
        auto r = counted(1, counts);
        r.device.type = "cpu";
        r.hot = model::Hot{.evidence = model::Hot::sampled};
        // Two copies of the loop, of three instructions each.
        const model::HotBlock block{.share = 0.45, .instructions = 3, .elements = {{"float", lanes}}};
        r.hot->blocks = {block, block};
        if (lanes > 1)
            for (auto& b : r.hot->blocks) b.classes = {{"vector_256", 3}};
        return explain::explain(r, profile());
    };
    BOOST_TEST(bound(of(20000, 1), "latency").seconds == (1 - 0.5 / 60) * 64 * 20000 * 1.3e-9, is_close);
    BOOST_TEST(bound(of(20000, 8), "latency").seconds == (1 - 0.5 / 60) * 8 * 20000 * 1.3e-9, is_close);
    BOOST_TEST(why_not(of(400, 1), "latency") == "a core works on several work-items at once");
}

BOOST_AUTO_TEST_CASE(functions_are_in_a_chain_that_has_nearly_all_operations) {
    auto limits = gpu();
    limits.figures.push_back(figure("math.latency.sqrt.medium", "sqrt latency", "s", 20e-9));
    auto counts = launch(1);
    counts.path = {0, 0, 2000, 0};
    compute(counts, Operation::float_add, 1000);
    compute(counts, Operation::float_function, 1000, 32, "sqrt");
    const auto seconds = [&] { return bound(explain::explain(counted(1, counts), limits), "latency").seconds; };
    BOOST_TEST(seconds() == 1000 * 2e-9 + 1000 * 20e-9, is_close);
    counts.path.arithmetic = 1000;  // the other chains run beside this one
    BOOST_TEST(seconds() == 1000 * 2e-9, is_close);
}

BOOST_AUTO_TEST_CASE(a_hot_block_runs_as_often_as_its_operations_add_up_to_the_counted_ones) {
    auto limits = profile();
    limits.figures.push_back(figure("issue.rate", "instruction rate", "instr/s", 10e9));
    auto counts = launch(1000);
    compute(counts, Operation::float_fma, 64);
    auto r = counted(1, counts);
    r.device.type = "cpu";
    r.hot = model::Hot{.evidence = model::Hot::sampled};
    r.hot->blocks = {{.share = 0.95, .instructions = 20, .elements = {{"float", 32}}}};
    BOOST_TEST(bound(explain::explain(r, limits), "issue").seconds == 256000.0 * 64 / 32 * 20 / 10e9, is_close);
    r.hot->blocks.front().share = 0.5;
    BOOST_TEST(why_not(explain::explain(r, limits), "instruction issue") ==
               "how often the hot block runs is not known");
}

BOOST_AUTO_TEST_CASE(groups_of_few_work_items_are_named_with_what_would_be_fewer) {
    auto counts = launch(1e6, 1, 1);
    counts.group_items = 1;
    counts.items = 1e6;
    const auto r = counted(1e6 / 1.6e9, counts);
    const auto e = explained(r);
    BOOST_REQUIRE(e.limiter());
    BOOST_TEST(e.limiter()->id == "groups");
    BOOST_TEST(explain::advice(r, e) == "The groups are of size 1; of size 256 there are 256 times fewer to start.");
}

BOOST_AUTO_TEST_CASE(a_busy_pipe_is_the_arithmetic_that_it_executes_and_what_is_issued_is_that) {
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
    BOOST_TEST(other.limiter()->name == "instructions of pipe alu");
}

BOOST_AUTO_TEST_CASE(a_compiler_may_join_the_atomics_of_a_wave_on_one_address) {
    auto counts = launch(1000);
    counts.global_atomics = {each(1), each(1.0 / 32), each(1)};
    counts.global_atomics.addresses = 1;
    // Faster than the rate of all of them, slower than one of each wave.
    const double all = 256000 / 1e9;
    const auto joined = explained(counted(1.1 * all / 32, counts));
    BOOST_TEST(bound(joined, "atomics").seconds == all / 32, boost::test_tools::tolerance(0.02));  // the rate's own
    BOOST_REQUIRE(joined.limiter());
    BOOST_TEST(joined.limiter()->id == "atomics");
    BOOST_TEST(bound(explained(counted(1.1 * all, counts)), "atomics").seconds == all, is_close);
    // Lanes with an address each leave nothing to join.
    counts.global_atomics.turns = each(1.0 / 32);
    BOOST_TEST(bool(explained(counted(1.1 * all / 32, counts)).limit == model::Limit::impossible));
}

BOOST_AUTO_TEST_CASE(local_atomics_go_to_as_many_addresses_as_one_group_has) {
    auto limits = gpu();
    limits.figures.push_back(figure("atomic.local.one", "local atomics, one address", "op/s", 1e11));
    limits.figures.push_back(figure("atomic.local.32", "local atomics, 32 addresses", "op/s", 3e12));
    auto counts = launch(1000);
    counts.local_atomics = {each(1), each(1.0 / 32), each(4.0 / 32)};
    counts.local_atomics.addresses = 32;
    const auto e = explain::explain(counted(1, counts), limits);
    BOOST_TEST(bound(e, "local_atomics").seconds == 256000 / 3e12, is_close);
}

BOOST_AUTO_TEST_CASE(loads_that_a_compiler_may_keep_in_registers_prove_nothing_impossible) {
    auto counts = launch(1000);
    counts.reads.sectors = each(1000);  // each of its sectors again and again
    const auto e = explained(counted(1e-5, counts));
    BOOST_TEST(bool(e.limit != model::Limit::impossible));
    BOOST_TEST(bound(e, "l1").seconds <= 1e-5);
}

BOOST_AUTO_TEST_CASE(divisions_that_the_hot_block_has_none_of_are_done_once_for_all) {
    auto limits = profile();
    limits.figures.push_back(figure("integer.rate.divide.32", "32-bit integer divide", "op/s", 1e9));
    auto counts = launch(1000);
    compute(counts, Operation::integer_divide, 1);
    auto r = counted(1, counts);
    r.device.type = "cpu";
    r.hot = model::Hot{.evidence = model::Hot::sampled};
    r.hot->blocks = {{.share = 0.95, .instructions = 20}};
    const auto has = [&] {
        const auto e = explain::explain(r, limits);
        return std::ranges::any_of(e.bounds, [](const auto& b) { return b.id == "division"; });
    };
    BOOST_TEST(!has());
    r.hot->blocks.front().elements["division"] = 1;
    BOOST_TEST(has());
}

BOOST_AUTO_TEST_CASE(the_two_largest_differences_of_counts_are_a_sentence) {
    auto a = launch(100, 32, 256), b = launch(100, 32, 32);
    a.id = "rows";
    b.id = "tile";
    BOOST_TEST(explain::difference(a, b) == "Counted: 4.5 times the sectors of global memory in rows against tile.");
    b.barriers = each(1);
    BOOST_TEST(explain::difference(a, b) ==
               "Counted: barriers only in tile, and 4.5 times the sectors of global memory in rows.");
    BOOST_TEST(explain::difference(a, a) == "rows and rows execute alike, within a tenth.");
}

BOOST_AUTO_TEST_SUITE_END()
