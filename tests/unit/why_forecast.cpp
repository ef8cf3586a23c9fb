// Forecasts by a profile alone: the least time, what of it is sure, and what would limit.
#include <cmath>
#include <optional>

#include "explain/limiter.hpp"
#include "report/table/explanation.hpp"
#include "unit/why_counted.hpp"

BOOST_AUTO_TEST_SUITE(why_forecast)

using namespace cllab;
using namespace cllab::test::why;

namespace {

model::Explanation forecast(const Counts& counts, model::WorkInfo work = {}) {
    return explain::forecast(counted(1, counts, std::move(work)), gpu());
}

std::optional<model::Bound> find(const model::Explanation& e, const std::string& id) {
    const auto found = std::ranges::find_if(e.bounds, [&](const auto& b) { return b.id == id; });
    return found == e.bounds.end() ? std::nullopt : std::optional(*found);
}

/// 65536 groups that were not all counted, of 1 KiB read and written each.
Counts stream() { return launch(65536); }
constexpr double stream_bytes = 65536 * 64 * 32.0;

}  // namespace

BOOST_AUTO_TEST_CASE(a_stream_takes_its_bytes_at_the_fast_end_of_the_bandwidth) {
    const auto out = forecast(stream());
    const auto memory = find(out, "memory");
    BOOST_REQUIRE(memory);
    BOOST_TEST(!memory->simulated);
    // A quarter of it may be in the second level, which holds 32 MiB of 128.
    BOOST_TEST(memory->seconds == stream_bytes * 0.75 / 4.04e12, boost::test_tools::tolerance(0.001));
    BOOST_TEST(out.bounds.front().id == "groups");  // 65536 of them at 1.6 G/s, and one load
    BOOST_TEST(report::forecast_sentence(out).starts_with("at least 40.7 us; group dispatch would limit it"));
}

BOOST_AUTO_TEST_CASE(a_profile_whose_cells_lacked_cores_is_no_lower_bound_and_the_page_says_so) {
    auto limits = gpu();
    const auto heading = [&] { return report::forecast_heading(counted(1, stream()), limits, {.width = 400}); };
    BOOST_TEST(heading().find("Other processes") == std::string::npos);
    limits.disturbed = 0.12;
    BOOST_TEST(heading().find("Other processes had cores of 12 % of this profile's cells, so a launch may be faster "
                              "than it says.") != std::string::npos,
               heading());
}

BOOST_AUTO_TEST_CASE(no_time_is_needed_and_none_is_looked_at) {
    auto slow = counted(1e3, stream()), fast = counted(1e-9, stream());
    BOOST_TEST(explain::forecast(slow, gpu()).bounds.front().seconds ==
               explain::forecast(fast, gpu()).bounds.front().seconds);
    slow.time.reset();
    BOOST_TEST(explain::forecast(slow, gpu()).bounds.size() == explain::forecast(fast, gpu()).bounds.size());
}

BOOST_AUTO_TEST_CASE(declared_work_is_no_count) {
    model::WorkInfo work;
    work.bytes = 1e15;
    work.flops = 1e18;
    BOOST_TEST(forecast(stream(), work).bounds.front().seconds == forecast(stream()).bounds.front().seconds);
}

BOOST_AUTO_TEST_CASE(products_that_may_be_joined_with_sums_count_once_and_are_not_sure) {
    auto counts = stream();
    compute(counts, Operation::float_add, 1000);
    compute(counts, Operation::float_multiply, 1000);
    const auto out = forecast(counts);
    BOOST_TEST(out.bounds.front().id == "arithmetic");
    BOOST_TEST(out.bounds.front().simulated);
    BOOST_TEST(out.bounds.front().seconds == 65536 * 256 * 2000.0 / (1.01 * 64e12),
               boost::test_tools::tolerance(0.001));
    const auto sentence = report::forecast_sentence(out);
    BOOST_TEST(sentence.starts_with("at least 40.7 us, and "), sentence);
    BOOST_TEST(sentence.ends_with("if the compiler keeps what the text computes; float arithmetic would limit it"),
               sentence);
}

BOOST_AUTO_TEST_CASE(bounds_within_a_fifth_are_named_together) {
    auto counts = stream();
    compute(counts, Operation::float_fma, 70);
    BOOST_TEST(
        report::forecast_sentence(forecast(counts)).ends_with("group dispatch or float arithmetic would limit it"));
}

BOOST_AUTO_TEST_CASE(of_groups_that_were_not_counted_the_least_is_taken) {
    auto counts = stream();
    counts.global_atomics.number = {8, 2, 16};
    counts.global_atomics.requests = counts.global_atomics.turns = each(1);
    counts.global_atomics.addresses = 32;
    counts.global_atomics.most_on_address = 100;
    counts.global_atomics.most_in_group = 50;
    const auto atomics = find(forecast(counts), "atomics");
    BOOST_REQUIRE(atomics);
    BOOST_TEST(!atomics->simulated);
    const double least = explain::least_of(counts, {}).global_atomics.number.mean;
    BOOST_TEST(least == 2 + 6 * 4.0 / 65536, boost::test_tools::tolerance(0.001));
    counts.groups = 4;
    BOOST_TEST(explain::least_of(counts, {}).global_atomics.number.mean == 8);
}

BOOST_AUTO_TEST_CASE(random_accesses_come_to_some_sectors_more_than_once) {
    auto counts = stream();
    counts.reads.least_sectors = each(counts.reads.sectors.mean / 8);
    model::WorkInfo work;
    work.footprint = stream_bytes / 2;  // as many sectors as are read
    const auto least = explain::least_of(counts, work);
    const double part = least.footprint.back().read_sectors / counts.footprint.back().read_sectors;
    BOOST_TEST(part == 1 - std::exp(-1.0), boost::test_tools::tolerance(0.001));
    BOOST_TEST(least.footprint.back().written_sectors == counts.footprint.back().written_sectors);
}

BOOST_AUTO_TEST_CASE(what_all_groups_read_comes_through_the_second_level_once_at_the_least) {
    auto counts = stream();
    for (auto& f : counts.footprint) f.read_sectors += 65536, f.sectors += 65536;  // 2 MiB, more than a first level
    const auto out = forecast(counts);
    const auto level = find(out, "l2");
    BOOST_REQUIRE(level);
    BOOST_TEST(level->seconds == (65536 * 32 + 65536) * 32.0 / (1.01 * 8e12), boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(sectors_that_neighbours_share_come_through_the_second_level_once_each) {
    // No two counted groups have one in common, and all of them read twice as many as the buffer has.
    model::WorkInfo work;
    work.footprint = stream_bytes / 2;
    work.assumed = true;
    work.bytes = stream_bytes / 2;
    work.read = stream_bytes / 4;
    const auto level = find(forecast(stream(), work), "l2");
    BOOST_REQUIRE(level);
    BOOST_TEST(level->seconds == stream_bytes / 4 / (1.01 * 8e12), boost::test_tools::tolerance(0.001));
}

BOOST_AUTO_TEST_CASE(what_was_not_counted_has_no_bound) {
    auto counts = stream();
    counts.not_counted.push_back({"pixels of images", "the simulator does not tell"});
    BOOST_TEST(why_not(forecast(counts), "pixels of images") == "the simulator does not tell");
}

BOOST_AUTO_TEST_CASE(on_a_gpu_most_of_an_empty_launch_is_sure) {
    const auto bound = find(forecast(launch(1)), "launch");
    BOOST_REQUIRE(bound);
    BOOST_TEST(bound->seconds == 0.99 * 5e-6 / 1.25, boost::test_tools::tolerance(0.001));
}

BOOST_AUTO_TEST_CASE(a_cpus_arithmetic_says_what_it_takes_without_vectors) {
    auto counts = stream();
    compute(counts, Operation::float_fma, 1000);
    auto record = counted(1, counts);
    record.device.type = "cpu";
    const auto limits =
        with(profile(), {figure("fma.peak.float.128", "float peak in vectors of 128 bits", "FLOP/s", 50e9)});
    const auto arithmetic = find(explain::forecast(record, limits), "arithmetic");
    BOOST_REQUIRE(arithmetic);
    BOOST_TEST(arithmetic->how.ends_with("; without vectors 8.0 times as long"), arithmetic->how);
}

BOOST_AUTO_TEST_SUITE_END()
