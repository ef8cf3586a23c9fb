// Times that a cell cannot beat by the sectors, banks and atomics that were counted of its launch.
#include <boost/test/unit_test.hpp>

#include "unit/why_counted.hpp"

BOOST_AUTO_TEST_SUITE(why_counted_memory)

using namespace cllab;
using namespace test::why;

namespace {

/// A launch of which each work-item adds to the same word once.
Counts adding_to_one_word() {
    auto out = launch(1000);
    out.global_atomics = {each(1), each(1.0 / 32), each(1)};
    out.global_atomics.addresses = 1;
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(memory_is_bounded_by_the_distinct_bytes_of_all_groups) {
    const double groups = 1e6, bytes = groups * 256 * 32;
    const auto e = explained(counted(1.05 * bytes / 4e12, launch(groups, 128, 128),
                                     {.bytes = bytes, .assumed = true, .read = bytes / 2, .footprint = bytes}));
    BOOST_TEST(bound(e, "memory").seconds == (bytes - 32 * MiB) / 4e12, is_close);
    BOOST_TEST(bound(e, "memory").figure == "bandwidth.copy");
    BOOST_TEST(limiter(e) == "memory");
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

BOOST_AUTO_TEST_CASE(bytes_moved_again_come_from_caches_if_memory_alone_exceeds_the_time) {
    const double groups = 1e6, bytes = groups * 256 * 32;
    const model::WorkInfo twice{.bytes = 2 * bytes, .read = 1.5 * bytes, .footprint = bytes};
    auto counts = launch(groups, 128, 128);
    counts.global.load_bytes = each(48), counts.global.store_bytes = each(16);
    const auto of = [&](double seconds, const model::WorkInfo& work) {
        return explained(counted(seconds, counts, work));
    };
    const auto fast = of(1.05 * bytes / 4e12, twice);
    BOOST_TEST(bound(fast, "memory").seconds <= bytes / 3.8e12);
    BOOST_TEST(bool(fast.limit != model::Limit::impossible));
    BOOST_TEST(says(bound(fast, "memory").how, "a nearer cache may serve 50 % of it"), bound(fast, "memory").how);
    // A slower launch may move all of it.
    BOOST_TEST(bound(of(1, twice), "memory").seconds > 1.9 * bytes / 4.2e12);
    // The groups read one table, which the count extrapolates; the buffers are no larger than this.
    auto table = twice;
    table.footprint = 0.6 * bytes;
    BOOST_TEST(bound(of(0.6 * bytes / 4e12, table), "memory").seconds <= 0.6 * bytes / 3.8e12);
    // Caches serve nothing that the work-items do not request.
    counts.global.load_bytes = each(16);
    BOOST_TEST(bool(of(1.05 * bytes / 4e12, twice).limit == model::Limit::impossible));
    // In place: each byte is moved twice, whatever a noisy time says.
    for (auto& f : counts.footprint) f.sectors /= 2;
    const model::WorkInfo in_place{.bytes = bytes, .read = bytes / 2, .footprint = bytes / 2};
    BOOST_TEST(bound(of(0.97 * bytes / 4e12, in_place), "memory").seconds >= 0.98 * bytes / 4e12);
}

BOOST_AUTO_TEST_CASE(data_read_by_all_groups_is_loaded_once_per_unit) {
    auto counts = launch(1000, 0, 8);
    for (auto& f : counts.footprint) f.read_sectors = 1024 + f.groups * 16;
    const auto near = explain::beyond(counts, 128 * KiB, 100), far = explain::beyond(counts, 16 * KiB, 100);
    BOOST_TEST(near.read == 32 * (1024 * 100 + 16 * 1000.0), is_close);
    BOOST_TEST(far.read == 32 * (1024 * 1000 + 16 * 1000.0), is_close);
    BOOST_TEST(near.written == 32 * 8 * 1000.0, is_close);
}

BOOST_AUTO_TEST_CASE(scattered_stores_are_bounded_by_the_sector_rate) {
    const double groups = 65536;
    auto counts = launch(groups, 32, 256);
    counts.writes.least_sectors = each(4.0 / 32);
    const double seconds = groups * 256 / 80e9;
    const auto r = counted(1.1 * seconds, counts);
    const auto e = explained(r);
    BOOST_TEST(bound(e, "l2").seconds == seconds, is_close);
    BOOST_REQUIRE(e.limiter());
    BOOST_TEST(e.limiter()->name == "L2, partial sectors");
    BOOST_TEST(says(e.limiter()->how, "counted by simulation of 4 of 65536 groups"));
    BOOST_TEST(explain::advice(r, e, gpu()) ==
               "Stores move 32 bytes and use 4: 8 times as many sectors as if neighbouring work-items accessed "
               "adjacent data.");
    // Side by side they are a stream, and nothing is to be said of them.
    BOOST_TEST(bound(explained(counted(1e-3, launch(groups))), "l2").seconds == groups * 32 * 32 / 8e12, is_close);
}

BOOST_AUTO_TEST_CASE(loads_that_may_stay_in_registers_prove_nothing_impossible) {
    auto counts = launch(1000);
    counts.reads.sectors = each(1000);  // each of its sectors again and again
    const auto e = explained(counted(1e-5, counts));
    BOOST_TEST(bool(e.limit != model::Limit::impossible));
    BOOST_TEST(bound(e, "l1").seconds <= 1e-5);
}

BOOST_AUTO_TEST_CASE(bank_conflicts_of_lanes_are_serialised) {
    auto counts = launch(10000);
    counts.local = {each(64), each(1), each(256), each(4)};
    counts.local_reads = {each(2), each(16), each(2), 8};
    const double seconds = 256.0 * 10000 * 16 * 128 / 25e12;
    const auto r = counted(1.1 * seconds, counts);
    const auto e = explained(r);
    BOOST_TEST(bound(e, "local").seconds == seconds, is_close);
    BOOST_TEST(bound(e, "local").name == "local memory, bank conflicts");
    BOOST_TEST(explain::advice(r, e, gpu()) ==
               "Because of bank conflicts, local memory needs 8 times as many passes through its banks.");
    counts.local_reads.ways = each(2);
    BOOST_TEST(bound(explained(counted(1e-3, counts)), "local").name == "local memory bandwidth");
}

BOOST_AUTO_TEST_CASE(atomics_are_bounded_by_their_addresses) {
    auto counts = adding_to_one_word();
    counts.global_atomics.most_in_group = 256;
    const auto r = counted(1.1 * 256000 / 1e9, counts, {.footprint = 1 * MiB});
    const auto e = explained(r);
    BOOST_TEST(bound(e, "atomics").seconds == 256000 / 1e9, is_close);
    BOOST_REQUIRE(e.limiter());
    BOOST_TEST(explain::advice(r, e, gpu()) ==
               "256 of a work-group's 256 atomics go to one address; a sum in local memory would replace them with one "
               "atomic.");
    // Addresses that no two atomics of the counted groups share are as many more in the others.
    counts.global_atomics.addresses = 1024;
    BOOST_TEST(bound(explained(counted(1, counts, {.footprint = 1 * MiB})), "atomics").seconds == 256000 / 400e9,
               is_close);
}

BOOST_AUTO_TEST_CASE(compiler_may_merge_atomics_of_a_wave_on_one_address) {
    auto counts = adding_to_one_word();
    // Faster than the rate of all of them, slower than one of each wave.
    const double all = 256000 / 1e9;
    const auto joined = explained(counted(1.1 * all / 32, counts));
    BOOST_TEST(bound(joined, "atomics").seconds == all / 32, boost::test_tools::tolerance(0.02));  // the rate's own
    BOOST_TEST(limiter(joined) == "atomics");
    BOOST_TEST(bound(explained(counted(1.1 * all, counts)), "atomics").seconds == all, is_close);
    // Lanes with an address each leave nothing to join.
    counts.global_atomics.turns = each(1.0 / 32);
    BOOST_TEST(bool(explained(counted(1.1 * all / 32, counts)).limit == model::Limit::impossible));
}

BOOST_AUTO_TEST_CASE(local_atomics_have_the_addresses_of_one_group) {
    const auto limits = with(gpu(), {figure("atomic.local.one", "local atomics, one address", "op/s", 1e11),
                                     figure("atomic.local.32", "local atomics, 32 addresses", "op/s", 3e12)});
    auto counts = launch(1000);
    counts.local_atomics = {each(1), each(1.0 / 32), each(4.0 / 32)};
    counts.local_atomics.addresses = 32;
    const auto e = explanation(counted(1, counts), limits);
    BOOST_TEST(bound(e, "local_atomics").seconds == 256000 / 3e12, is_close);
}

BOOST_AUTO_TEST_CASE(two_largest_differences_of_counts_form_a_sentence) {
    auto a = launch(100, 32, 256), b = launch(100, 32, 32);
    a.id = "rows";
    b.id = "tile";
    const auto difference = [](const Counts& x, const Counts& y, double as_long = 1) {
        return explain::difference({&x, 1}, {&y, 1}, as_long, true);
    };
    BOOST_TEST(
        difference(a, b) ==
        "Counted: rows has 4.5 times as many sectors of global memory as tile.");
    b.barriers = each(1);
    BOOST_TEST(difference(a, b) ==
               "Counted: rows has 4.5 times as many sectors of global memory, and only tile has barriers.");
    // Only what the slower one has more of can be the reason.
    BOOST_TEST(difference(a, b, 2) == "Counted: only tile has barriers.");
    // Nothing is offered as the reason if the faster one has more of everything. Atomics are compared by memory.
    auto few = a, many = a;
    few.id = "few", many.id = "many";
    few.global_atomics = {each(0.25), each(1), each(1)}, few.local_atomics = {each(1), each(1), each(1)};
    many.global_atomics = {each(1), each(1), each(1)};
    const auto of_cpu = [&](double as_long) { return explain::difference({&few, 1}, {&many, 1}, as_long, false); };
    BOOST_TEST(of_cpu(2) == "Counted: many has 4 times as many global atomics as few.");
    BOOST_TEST(of_cpu(0.5) == "Counted: only few has local atomics.");
    few.local_atomics = {};
    BOOST_TEST(of_cpu(0.5) == "The counts do not explain it, because the faster kernel does more: many has 4 times as "
                              "many global atomics as few.");
    // A CPU has no waves: what counts is what a group touches.
    BOOST_TEST(explain::difference({&a, 1}, {&b, 1}, 1, false) ==
               "Counted: rows has 4.5 times as many distinct sectors of the counted work-groups, and only tile has "
               "barriers.");
    // On a CPU, sectors that explain less than what was named before are omitted; on a GPU they are not.
    BOOST_TEST(says(explain::difference({&a, 1}, {&b, 1}, 1, false, 4), "sectors"));
    BOOST_TEST(!says(explain::difference({&a, 1}, {&b, 1}, 1, false, 5), "sectors"));
    BOOST_TEST(says(explain::difference({&a, 1}, {&b, 1}, 1, true, 5), "sectors"));
    // A barrier beside a thousand instructions.
    auto long_one = b;
    long_one.instructions = each(1000);
    BOOST_TEST(!says(difference(a, long_one), "barriers"));
    // As many operations, one behind the other.
    auto chained = a;
    chained.id = "chained";
    a.path.arithmetic = 8, chained.path.arithmetic = 32;  // long_chain
    BOOST_TEST(difference(a, chained) ==
               "Counted: chained has 4 times as many operations in the longest chain as "
               "rows.");
    BOOST_TEST(difference(a, a) == "No counted amount of work of rows and rows differs much.");
    Counts slow = a;
    slow.id = "slow";
    for (const double as_long : {1.39, 1 / 1.39})
        BOOST_TEST(difference(a, slow, as_long) ==
                   "No counted amount of work of rows and slow differs much; `cllab isa` shows the code.");
    BOOST_TEST(difference(a, slow, 1.05) == "No counted amount of work of rows and slow differs much.");
    // What one loads as scattered as the other stores.
    auto rows = launch(100, 32, 256), columns = rows;
    rows.id = "rows", columns.id = "columns";
    std::tie(rows.reads.sectors, rows.writes.sectors) = std::pair(each(1.0 / 8), each(1));
    std::tie(columns.reads.sectors, columns.writes.sectors) = std::pair(each(1), each(1.0 / 8));
    BOOST_TEST(difference(rows, columns) ==
               "Counted: columns has 8 times as many sectors of loads, and rows has 8 times as many sectors of stores.");
    const std::array kernels{a, a};
    BOOST_TEST(explain::difference(kernels, {&a, 1}, 1, true) ==
               "Counted: rows has 2 times as many sectors of global memory, and rows has 2 times as many bytes of loads "
               "and stores.");
}

BOOST_AUTO_TEST_SUITE_END()
