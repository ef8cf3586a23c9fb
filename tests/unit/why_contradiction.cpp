// What is said where a declaration and the counts contradict each other.
#include "unit/why_counted.hpp"

BOOST_AUTO_TEST_SUITE(why_contradiction)

using namespace cllab;
using namespace cllab::test::why;

namespace {

/// 65536 groups that were not all counted, of 1 KiB read and written each.
Counts stream() { return launch(65536); }

std::size_t contradicted(model::WorkInfo work, const Counts& counts) {
    return explain::contradictions(counted(1, counts, std::move(work))).size();
}

}  // namespace

BOOST_AUTO_TEST_CASE(more_declared_than_requested_bytes_are_a_contradiction) {
    const auto counts = stream();  // 8 bytes a work-item
    model::WorkInfo work;
    work.footprint = 8 * counts.items;
    work.bytes = 8 * counts.items;
    BOOST_TEST(contradicted(work, counts) == 0u);
    work.bytes = 16 * counts.items;
    const auto said = explain::contradictions(counted(1, counts, work));
    BOOST_REQUIRE(said.size() == 1u);
    BOOST_TEST(said.front() ==
               "268 MB are declared, but the work-items request at most 134 MB, counted by "
               "simulation of 4 of 65536 groups");
    work.assumed = true;  // nobody declared them
    BOOST_TEST(contradicted(work, counts) == 0u);
}

BOOST_AUTO_TEST_CASE(less_than_half_of_the_touched_bytes_is_a_contradiction) {
    auto counts = stream();
    model::WorkInfo work;
    work.footprint = 8 * counts.items;
    work.bytes = 4.1 * counts.items;
    BOOST_TEST(contradicted(work, counts) == 0u);
    work.bytes = 3.9 * counts.items;
    BOOST_TEST(contradicted(work, counts) == 1u);
    // Of a sector that is touched for one word the others are nobody's.
    counts.reads.least_sectors = each(counts.reads.sectors.mean / 8);
    BOOST_TEST(contradicted(work, counts) == 0u);
}

BOOST_AUTO_TEST_CASE(flops_contradict_beyond_a_factor_of_two_either_way) {
    auto counts = stream();
    compute(counts, Operation::float_fma, 10);
    model::WorkInfo work;
    for (const auto& [flops, is_contradiction] : {std::pair{20.0, 0u}, {11.0, 0u}, {39.0, 0u}, {9.0, 1u}, {41.0, 1u}}) {
        work.flops = flops * counts.items;
        BOOST_TEST(contradicted(work, counts) == is_contradiction, flops);
    }
    work.flops = 41 * counts.items;
    auto of_integers = counts;
    compute(of_integers, Operation::integer_add, 10);  // which some call FLOP
    BOOST_TEST(contradicted(work, of_integers) == 0u);
    compute(counts, Operation::float_function, 1, 32, "exp");  // which may count as many
    BOOST_TEST(contradicted(work, counts) == 0u);
    work.type = "uint";
    work.flops = counts.items;
    BOOST_TEST(contradicted(work, counts) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
