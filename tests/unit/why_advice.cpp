// Each cost of a tenth of the time is a sentence, whatever limits the kernel.
#include "model/warning.hpp"
#include "unit/why_counted.hpp"

namespace cllab::test {

using namespace why;

namespace {

std::string said_of(const model::Record& r, const model::Limits& limits) {
    return explain::advice(r, explanation(r, limits), limits);
}

/// A CPU's launch of 1000 groups of 256 that read a cache line of their own for each work-item.
/// `lines`: of 128 bytes, per sector.
model::Record scattering(double seconds, double lines = 1) {
    auto counts = launch(1000, 256, 32);
    counts.reads.least_sectors = each(32.0 / 256);
    for (auto& f : counts.footprint) f.lines = lines * f.sectors;
    auto r = on_cpu(counts, {});
    r.time = record(seconds, {}).time;
    r.work.footprint = 100 * MiB;
    return r;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(why_advice)

BOOST_AUTO_TEST_CASE(scattered_reads_on_a_cpu_are_bounded_by_lines_and_advised) {
    const double seconds = 256000 * 64 / 12e9;
    const auto r = scattering(2 * seconds);
    const auto lines = bound(r, "lines");
    BOOST_TEST(lines.seconds == seconds, boost::test_tools::tolerance(0.2));  // some may lie nearer
    BOOST_TEST(says(lines.how, "256 k cache lines"), lines.how);
    BOOST_TEST(says(said_of(r, profile()),
                    "Loads use only 4 of the 32 bytes per work-item in the touched sectors, because the accesses are "
                    "scattered."),
               said_of(r, profile()));
    auto beside_others = r;
    beside_others.time->cores = beside_others.time->waited = 1;
    BOOST_TEST(bound(beside_others, "lines").seconds == lines.seconds);  // one core may take all of the bandwidth
    // Less than a tenth of the time is nothing to speak of.
    BOOST_TEST(said_of(scattering(100 * seconds), profile()) == "");
}

BOOST_AUTO_TEST_CASE(neighbouring_sectors_share_cache_lines) {
    const auto apart = bound(scattering(1), "lines");
    // Strided loads that read all of each line together, as from an array of structs: half as many lines of 64 bytes.
    BOOST_TEST(bound(scattering(1, 0.25), "lines").seconds == apart.seconds / 2, is_close);
    // Two sectors of 128 bytes lie in one line of 64 bytes, or in two.
    const auto unknown = bound(scattering(1, 0.5), "lines");
    BOOST_TEST(unknown.seconds == apart.seconds, is_close);
    BOOST_TEST(unknown.low == apart.low / 2, is_close);
}

BOOST_AUTO_TEST_CASE(peak_for_scattered_reads_that_the_profile_lacks_is_measured) {
    auto none = profile();
    std::erase_if(none.figures, [](const auto& f) { return f.id == "bandwidth.read"; });
    const auto e = explanation(scattering(1), none);
    BOOST_TEST(why_not(e, "scattered reads") == "the profile has no bandwidth of memory");
    BOOST_TEST(std::ranges::count(e.missing, "bandwidth.read") == 1);
}

BOOST_AUTO_TEST_CASE(scattered_stores_of_a_cpu_are_advised_although_reads_have_a_small_bound) {
    auto counts = launch(1000, 32, 256);
    counts.writes.least_sectors = each(32.0 / 256);
    auto r = on_cpu(counts, {});
    r.work.footprint = 100 * MiB;
    BOOST_TEST(bound(r, "memory").seconds < 0.1 * r.time->median);
    BOOST_TEST(says(said_of(r, profile()), "Stores use only 4 of the 32 bytes"), said_of(r, profile()));
    r.time = record(bound(r, "memory").seconds, {}).time;  // explained: nothing shows that the stores cost time
    BOOST_TEST(said_of(r, profile()) == "");
}

BOOST_AUTO_TEST_CASE(launch_with_idle_units_is_reported) {
    auto counts = launch(12);
    BOOST_TEST(says(said_of(counted(1e-3, counts), gpu()), "12 groups work on 12 of the 100 compute units"));
    auto one = on_cpu(launch(1), {});
    BOOST_TEST(says(said_of(one, profile()), "One group works on 1 of the 2 cores, and the others are idle."));
    BOOST_TEST(!says(said_of(counted(1e-3, launch(100)), gpu()), "idle"));
}

BOOST_AUTO_TEST_CASE(launch_with_fewer_items_than_lanes_of_a_gpu_is_reported) {
    auto r = counted(1e-3, launch(132));
    r.work.groups = 132, r.work.group = 1;
    const auto with_waves = with(gpu(), {figure("divergence.width.full", "wave", "lane", 32)});
    const auto sentence = "132 work-items, but 3200 are needed for one full wave on each compute unit";
    BOOST_TEST(says(said_of(r, with_waves), sentence), said_of(r, with_waves));
    BOOST_TEST(!says(said_of(r, gpu()), "full wave"), said_of(r, gpu()));  // the width of its waves is not known
    r.work.group = 32;
    BOOST_TEST(!says(said_of(r, with_waves), "full wave"), said_of(r, with_waves));
}

BOOST_AUTO_TEST_CASE(long_chain_is_reported_when_no_bound_explains_the_time) {
    auto counts = launch(1000);
    compute(counts, Operation::float_divide, 256);
    compute(counts, Operation::float_add, 256);
    counts.path.arithmetic = 512;
    auto r = on_cpu(counts, {});
    BOOST_TEST(says(said_of(r, profile()), "The longest chain of a work-item has 512 operations"),
               said_of(r, profile()));
    counts.path.arithmetic = 60;
    r = on_cpu(counts, {});
    BOOST_TEST(!says(said_of(r, profile()), "chain"));
}

BOOST_AUTO_TEST_CASE(spills_and_driver_chosen_groups_are_reported) {
    auto r = counted(1.1 * 1000 * 32 * 32 / 32e12, launch(1000));
    BOOST_TEST(!says(said_of(r, gpu()), "spills"));
    r.code.spills = 16;
    BOOST_TEST(says(said_of(r, gpu()), "The compiler spills 16 registers to memory."), said_of(r, gpu()));
    r.warnings.push_back(model::warning(model::Warning::driver_group, "the work-group is the driver's choice"));
    BOOST_TEST(says(said_of(r, gpu()), "The work-group is the driver's choice."));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace cllab::test
