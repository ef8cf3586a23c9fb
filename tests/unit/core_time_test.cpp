// Cores that others had while a cell was measured: what is read of them, and what a bound makes of it.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "experiments/lib/findings.hpp"
#include "experiments/lib/levels.hpp"
#include "model/result.hpp"
#include "run/conditions/conditions.hpp"
#include "unit/why_cells.hpp"

BOOST_AUTO_TEST_SUITE(core_time)

using namespace cllab;
using namespace test::why;

namespace {

/// A cell of 100 MFLOP of float that took so long on these cores. The peak of the profile is that of two.
model::Record computed(double seconds, double cores, double waited, double groups = 0) {
    auto out = record(seconds, {.flops = 100e6, .type = "float", .groups = groups});
    out.time->cores = cores;
    out.time->waited = waited;
    return out;
}

double arithmetic(const model::Record& r, const model::Limits& limits = profile()) {
    const auto e = explain::explain(r, limits);
    for (const auto& b : e.bounds)
        if (b.id == "arithmetic" || b.id == "units") return b.seconds;
    return 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(schedstat_line_gives_run_time_and_waiting_time) {
    const auto read = run::parse_schedstat("1500000000 250000000 12\n");
    BOOST_TEST_REQUIRE(read.has_value());
    BOOST_TEST(read->had == 1.5, is_close);
    BOOST_TEST(read->waited == 0.25, is_close);
    for (const char* other : {"", "12", "12 ", "a b c\n", "12 x 3\n", "-1 2 3\n"})
        BOOST_TEST(!run::parse_schedstat(other), other);
}

BOOST_AUTO_TEST_CASE(thread_times_are_summed_and_unknown_without_schedstat) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("cllab-core-time-" + std::to_string(std::random_device{}()));
    for (const auto& [thread, line] :
         {std::pair{"7", "1000000000 0 1\n"}, {"8", "2000000000 500000000 1\n"}, {"9", "no numbers\n"}}) {
        std::filesystem::create_directories(folder / thread);
        std::ofstream(folder / thread / "schedstat") << line;
    }
    {
        const run::CoreClock clock(folder, "7");
        BOOST_TEST(clock.is_known());
        BOOST_TEST(clock.now().caller.had == 1, is_close);
        BOOST_TEST(clock.now().others.had == 2, is_close);
        BOOST_TEST(clock.now().others.waited == 0.5, is_close);
    }
    std::filesystem::remove_all(folder);
    BOOST_TEST(!run::CoreClock(folder, "7").is_known());
}

BOOST_AUTO_TEST_CASE(cores_come_from_the_samples_around_the_median) {
    std::vector<run::SharedSample> samples;
    for (int i = 0; i < 10; ++i)
        samples.push_back({1 + 0.001 * i, 2, {{0.4, 5}, {2.2, 1.8}}, {{0.2, 0}, {1.1 * 1.005, 0}}});
    samples.push_back({50, 100, {{1, 1}, {1, 199}}, {{0.1, 0}, {0.5, 0}}});
    samples.push_back({0.1, 0.2, {{}, {0.4, 0}}, {{}, {0.2, 0}}});
    const auto found = run::cores_had(samples);
    BOOST_TEST(found.had == 1.1, boost::test_tools::tolerance(1e-3));
    BOOST_TEST(found.waited == 0.9, is_close);
    // Where no other thread does the work, the one that enqueues does.
    auto alone = samples;
    for (auto& s : alone) {
        std::swap(s.cores.caller, s.cores.others);
        std::swap(s.had.caller, s.had.others);
        s.cores.others = s.had.others = {};
    }
    BOOST_TEST(run::cores_had(alone).had == 1.1, boost::test_tools::tolerance(1e-3));
    BOOST_TEST(run::cores_had(alone).waited == 0.9, is_close);
    samples.resize(5);
    BOOST_TEST(run::cores_had(samples).had == 0);  // too few to say
}

BOOST_AUTO_TEST_CASE(arithmetic_on_one_of_two_cores_is_bounded_by_one_peak) {
    BOOST_TEST(arithmetic(computed(2.1e-3, 2, 0)) == 1e-3, is_close);
    BOOST_TEST(arithmetic(computed(2.1e-3, 1, 1)) == 2e-3, is_close);
    BOOST_TEST(said(computed(2.1e-3, 1, 1)) == "limited by float arithmetic: 95 % of the time");
    BOOST_TEST(bound(explain::explain(computed(2.1e-3, 1, 1), profile()), "arithmetic")
                   .how.ends_with(", on 1.00 of 2 cores: other processes had the rest"));
    BOOST_TEST(arithmetic(computed(2.1e-3, 0, 0)) == 1e-3, is_close);  // not known
    BOOST_TEST(arithmetic(computed(2.1e-3, 1.97, 0.03)) == 1e-3, is_close);
}

BOOST_AUTO_TEST_CASE(unneeded_cores_do_not_count_as_lost) {
    BOOST_TEST(arithmetic(computed(2.1e-3, 1, 0)) == 1e-3, is_close);  // the rest of the time is something else
    BOOST_TEST(arithmetic(computed(2.1e-3, 1, 0.25)) == 1e-3 / 0.875, is_close);
    BOOST_TEST(arithmetic(computed(2.1e-3, 1.5, 3)) == 1e-3 / 0.75,
               is_close);                                                 // no longer than the time on cores allows
    BOOST_TEST(arithmetic(computed(2.1e-3, 1, 1, 1)) == 1e-3, is_close);  // the one group had its core
    auto gpu = computed(2.1e-3, 1, 1);
    gpu.device.type = "gpu";
    BOOST_TEST(arithmetic(gpu) == 1e-3, is_close);
}

BOOST_AUTO_TEST_CASE(cores_left_idle_by_groups_are_not_counted_twice) {
    auto counted = profile();
    counted.figures.push_back(figure("fma.units", "compute units", "", 2, 0));
    BOOST_TEST(arithmetic(computed(1, 1.5, 0, 3), counted) == 1e-3 * 4 / 3, is_close);
    BOOST_TEST(arithmetic(computed(1, 1, 1, 3), counted) == 2e-3, is_close);  // all three on one core
    BOOST_TEST(arithmetic(computed(1, 1, 1, 1), counted) == 2e-3, is_close);
}

BOOST_AUTO_TEST_CASE(fewer_cores_slow_private_caches_and_latency_but_not_memory) {
    const auto seconds = [](model::WorkInfo work, const std::string& id, double cores, double waited) {
        auto r = record(1, std::move(work));
        r.time->cores = cores;
        r.time->waited = waited;
        return bound(explain::explain(r, profile()), id).seconds;
    };
    const model::WorkInfo near{.bytes = 60 * KiB, .read = 60 * KiB, .footprint = 60 * KiB},
        last{.bytes = MiB, .read = MiB, .footprint = MiB};
    BOOST_TEST(seconds(near, "l1", 1, 1) == 2 * 60 * KiB / 200e9, is_close);
    BOOST_TEST(seconds(last, "l2", 1, 1) == seconds(last, "l2", 2, 0), is_close);
    BOOST_TEST(seconds(copying(), "memory", 1, 1) == seconds(copying(), "memory", 2, 0), is_close);
    const model::WorkInfo chain{.type = "float", .chain = "multiply_add"};
    BOOST_TEST(seconds(chain, "latency", 1, 1) == 1.3e-9, is_close);  // another thread waited
    BOOST_TEST(seconds(chain, "latency", 0.5, 0.5) == 2.6e-9, is_close);
}

BOOST_AUTO_TEST_CASE(atomics_on_a_single_core_may_be_as_fast_as_uncontended_ones) {
    auto r = record(0.08, {.atomics = 1e6, .footprint = 4});
    BOOST_CHECK(explain::explain(r, profile()).limit == Limit::impossible);
    r.time->cores = 1;
    r.time->waited = 1;
    const auto alone = explain::explain(r, profile());
    BOOST_TEST(bound(alone, "atomics").seconds == 0.1, is_close);
    BOOST_TEST(bound(alone, "atomics").low == 0.01 / 1.01, is_close);
    BOOST_CHECK(alone.limit == Limit::named);
    r.time = record(0.009, {}).time;
    r.time->cores = 1;
    r.time->waited = 1;
    BOOST_CHECK(explain::explain(r, profile()).limit == Limit::impossible);
}

BOOST_AUTO_TEST_CASE(peak_measured_on_one_of_two_cores_is_scaled_to_both) {
    model::Device cpu;
    cpu.type = model::DeviceType::cpu;
    cpu.compute_units = 2;
    const auto peak = [&](double cores, double waited) {
        model::Curve curve;
        curve.variant = "peak";
        curve.fixed.set("type", "float");
        curve.fixed.set("ilp", "8");
        model::Curve::Sample sample{.x = 16, .seconds = 1, .low = 1, .high = 1, .work = {}, .per_step = 1};
        sample.metrics = {{"flops", 50e9}};
        if (cores > 0) sample.metrics.insert({{"cores", cores}, {"cores_waited", waited}});
        curve.samples = {sample};
        for (const auto& f : model::lib::fma_findings({curve}, cpu))
            if (f.id == "peak.float") return f.value;
        return 0.0;
    };
    BOOST_TEST(peak(0, 0) == 50e9, is_close);
    BOOST_TEST(peak(2, 0) == 50e9, is_close);
    BOOST_TEST(peak(1, 1) == 100e9, is_close);
    BOOST_TEST(peak(1, 0) == 50e9, is_close);  // nobody had the other one
}

BOOST_AUTO_TEST_CASE(rate_is_scaled_to_all_cores_only_for_private_caches) {
    model::Device cpu;
    cpu.type = model::DeviceType::cpu;
    cpu.compute_units = 2;
    cpu.host_cache_levels = {32 << 10, 1 << 20, 64 << 20};
    const auto rate = [&](const std::string& id, double bytes, double cores, double waited) {
        model::Curve curve;
        model::Curve::Sample sample{
            .x = bytes, .seconds = 1e-6, .low = 1e-6, .high = 1e-6, .work = {.bytes = bytes}, .per_step = 1e-11};
        sample.metrics = {{"cores", cores}, {"cores_waited", waited}};
        curve.samples = {sample};
        auto found = model::lib::rates(curve, cpu, "");
        for (auto& f : model::lib::copy_rates(curve, cpu, "")) found.push_back(f);
        for (const auto& f : found)
            if (f.id == id) return f.value;
        return 0.0;
    };
    BOOST_TEST(rate("l1.rate", 16 << 10, 2, 0) == 1e11, is_close);
    BOOST_TEST(rate("l1.rate", 16 << 10, 1, 1) == 2e11, is_close);
    BOOST_TEST(rate("l3.rate", 32 << 20, 1, 1) == 1e11, is_close);
    const double l3 = 16 << 20;
    BOOST_TEST_REQUIRE(rate("l3.copy", l3, 2, 0) > 0);
    BOOST_TEST(rate("l3.copy", l3, 1, 1) == rate("l3.copy", l3, 2, 0), is_close);
}

BOOST_AUTO_TEST_CASE(cell_has_full_cores_when_no_useful_thread_waited) {
    const auto share = [](double cores, double waited, double groups, unsigned of_host) {
        auto r = computed(1e-3, cores, waited, groups);
        r.host.threads = of_host;
        return model::cores_share(r);
    };
    BOOST_TEST(share(1.98, 0.01, 64, 2) == 1, boost::test_tools::tolerance(0.01));
    BOOST_TEST(share(1.06, 0.9, 64, 2) == 0.55, boost::test_tools::tolerance(0.05));
    BOOST_TEST(share(1, 0.9, 1, 2) == 1, is_close);      // one group: the other thread has nothing to do
    BOOST_TEST(share(0.5, 0.5, 1, 2) == 0.5, is_close);  // and this one had half a core
    BOOST_TEST(share(2, 6, 64, 2) == 1, is_close);       // eight threads on two cores had both
    BOOST_TEST(share(0.25, 6, 0, 0) < 0.9);
    BOOST_TEST(share(1.2, 0, 64, 2) == 1, is_close);  // work that is shared out unevenly
    BOOST_TEST(share(0, 0, 64, 2) == 1, is_close);    // nobody counted
    auto r = computed(1e-3, 1.06, 0.9, 64);
    r.host.threads = 2;
    BOOST_TEST(!model::had_its_cores(r));
}

BOOST_AUTO_TEST_SUITE_END()
