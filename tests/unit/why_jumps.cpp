// Times of a CPU's misses that nothing waits for: jumps that were counted, at rates of the profile.
#include <boost/test/unit_test.hpp>

#include "unit/why_counted.hpp"

BOOST_AUTO_TEST_SUITE(why_jumps)

using namespace cllab;
using namespace test::why;

namespace {

/// Levels of 32 KiB, 1 MiB and 32 MiB; the rate of jumps falls to a quarter from region to region.
model::Limits levels() {
    auto out = profile();
    out.caches = {32 << 10, 1 << 20, 32 << 20};
    return with(out, {figure("bandwidth.l3.rate", "L3 read bandwidth", "B/s", 40e9),
                      figure("bandwidth.gather.4194304", "loads at random in 4 MiB", "access/s", 400e6),
                      figure("bandwidth.gather.16777216", "loads at random in 16 MiB", "access/s", 100e6),
                      figure("bandwidth.gather.67108864", "loads at random in 64 MiB", "access/s", 50e6),
                      figure("bandwidth.scatter.4194304", "stores at random in 4 MiB", "access/s", 200e6),
                      figure("bandwidth.scatter.67108864", "stores at random in 64 MiB", "access/s", 25e6)});
}

/// Work-items of which each loads and stores a word, all but a hundredth of the loads by a jump.
Counts gathering(double span, double loads = 0.99, double stores = 0) {
    auto out = launch(10000);
    out.jumps = {loads, stores, span};
    return out;
}

constexpr double items = 256 * 10000;

model::Record on_cores(double seconds, const Counts& counts, double footprint = 20 * MiB) {
    auto out =
        counted(seconds, counts, {.bytes = footprint, .assumed = true, .read = footprint / 2, .footprint = footprint});
    out.device.type = "cpu";
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(loads_all_over_a_region_of_the_last_level_take_as_long_as_their_misses) {
    const double seconds = 0.99 * items / 100e6;
    const auto r = on_cores(1.1 * seconds, gathering(16 * MiB));
    const auto e = explanation(r, levels());
    const auto jumps = bound(e, "l3");
    BOOST_TEST(jumps.seconds == seconds, is_close);
    BOOST_TEST(jumps.low == 0.99 * items * 64 / (1.01 * 40e9) * (1 - 1.0 / 16), is_close);
    BOOST_TEST(jumps.figure == "bandwidth.gather.16777216");
    BOOST_REQUIRE(e.limiter());
    BOOST_TEST(e.limiter()->name == "L3, scattered loads");
    BOOST_TEST(
        says(e.limiter()->how, "2.53 Maccess at 100 Maccess/s (loads at random in 16 MiB), counted by simulation"));
    BOOST_TEST(says(explain::advice(r, e),
                    "49.5 % of the loads and stores come to a page that none of the last ones came to"));
    // Bytes that take longer are what is said of that level.
    auto bytes = on_cores(1, gathering(16 * MiB, 1e-4));
    BOOST_TEST(bound(explanation(bytes, levels()), "l3").figure == "bandwidth.l3.rate");
}

BOOST_AUTO_TEST_CASE(a_region_between_two_has_a_rate_between_theirs) {
    const auto at = [](double span) {
        return bound(on_cores(1, gathering(span)), span > 32 * MiB ? "memory" : "l3", levels());
    };
    BOOST_TEST(at(8 * MiB).seconds == 0.99 * items / 200e6, is_close);
    BOOST_TEST(at(32 * MiB).seconds == 0.99 * items / std::sqrt(100e6 * 50e6), is_close);
    BOOST_TEST(at(64 * MiB).seconds == 0.99 * items / 50e6, is_close);
    BOOST_TEST(at(1024 * MiB).seconds == 0.99 * items / 50e6, is_close);  // no faster than the largest
    BOOST_TEST(at(64 * MiB).name == "memory, scattered loads");
}

BOOST_AUTO_TEST_CASE(stores_have_a_rate_of_their_own) {
    const auto both = bound(on_cores(1, gathering(4 * MiB, 0.5, 0.25)), "l3", levels());
    BOOST_TEST(both.seconds == items * (0.5 / 400e6 + 0.25 / 200e6), is_close);
    BOOST_TEST(both.name == "L3, scattered accesses");
    BOOST_TEST(
        says(both.how, "(loads at random in 4 MiB) and 640 kaccess at 200 Maccess/s (stores at random in 4 MiB)"));
    BOOST_TEST(bound(on_cores(1, gathering(4 * MiB, 0, 1)), "l3", levels()).name == "L3, scattered stores");
}

BOOST_AUTO_TEST_CASE(where_a_core_holds_the_region_or_nobody_counted_jumps_there_is_no_such_bound) {
    const auto name_of = [](const model::Record& r, const model::Limits& limits) {
        for (const auto& b : explanation(r, limits).bounds)
            if (explain::is_of_jumps(b)) return b.name;
        return std::string();
    };
    BOOST_TEST(name_of(on_cores(1, gathering(16 * MiB)), levels()) != "");
    BOOST_TEST(name_of(on_cores(1, gathering(1 * MiB)), levels()) == "");  // in a core's own level
    BOOST_TEST(name_of(on_cores(1, gathering(2 * MiB)), levels()) == "");  // smaller than any that was tried
    BOOST_TEST(name_of(on_cores(1, gathering(0)), levels()) == "");
    BOOST_TEST(name_of(on_cores(1, launch(10000)), levels()) == "");
    BOOST_TEST(name_of(on_cores(1, gathering(16 * MiB)), profile()) == "");
    const auto small =
        with(levels(), {figure("bandwidth.gather.524288", "loads at random in 512 KiB", "access/s", 1e9)});
    BOOST_TEST(name_of(on_cores(1, gathering(2 * MiB)), small) != "");
    BOOST_TEST(name_of(on_cores(1, gathering(1 * MiB)), small) == "");
    auto gpu = on_cores(1, gathering(16 * MiB));
    gpu.device.type = "gpu";
    BOOST_TEST(name_of(gpu, levels()) == "");
}

BOOST_AUTO_TEST_CASE(samples_name_jumps_that_are_less_than_most_of_the_time) {
    const double seconds = 0.99 * items / 100e6;
    auto r = on_cores(1.5 * seconds, gathering(16 * MiB));
    BOOST_TEST(limiter(explanation(r, levels())) == "");
    r.hot = model::Hot{.evidence = model::Hot::sampled};
    r.hot->blocks = {{.share = 0.9, .instructions = 20, .memory = {{"load_32", 1}, {"store_32", 1}}}};
    BOOST_TEST(limiter(explanation(r, levels())) == "l3");
    r.hot->blocks = {{.share = 0.9, .instructions = 20, .memory = {{"stack_load_32", 1}}}};
    BOOST_TEST(limiter(explanation(r, levels())) == "");
    // A time that is far below proves nothing impossible: who knows how the pages lie may come near to a stream.
    const auto near_a_stream = explanation(on_cores(0.3 * seconds, gathering(16 * MiB)), levels());
    BOOST_TEST(bool(near_a_stream.limit != Limit::impossible));
    BOOST_TEST(bound(near_a_stream, "l3").seconds == 0.3 * seconds, is_close);
    BOOST_TEST(says(bound(near_a_stream, "l3").how, "which takes longer than this order does"));
    const auto faster = on_cores(0.1 * seconds, gathering(16 * MiB));
    auto e = explanation(faster, levels());
    explain::drop_removed(faster, e);
    BOOST_TEST(bool(e.limit != Limit::impossible));
}

BOOST_AUTO_TEST_CASE(what_takes_nearly_as_long_as_the_misses_is_a_limiter_too) {
    const double seconds = 0.99 * items / 100e6;
    auto counts = gathering(16 * MiB);
    compute(counts, Operation::float_fma, 0.9 * seconds * 100e9 / (2 * items));
    const auto e = explanation(on_cores(1.1 * seconds, counts), levels());
    BOOST_TEST(bool(e.limit == Limit::close));
}

BOOST_AUTO_TEST_SUITE_END()
