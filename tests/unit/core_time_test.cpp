// Cores that others had while a cell was measured: what is read of them, and what a peak makes of it.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include "run/conditions/core_time.hpp"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "experiments/lib/fma_findings.hpp"
#include "experiments/lib/levels.hpp"
#include "model/rankable.hpp"
#include "unit/why_cells.hpp"

BOOST_AUTO_TEST_SUITE(core_time)

using namespace cllab;
using namespace test::why;

namespace {

/// A cell of so many groups that took so long on these cores.
model::Record computed(double seconds, double cores, double waited, double groups) {
    auto out = record(seconds, {.flops = 100e6, .type = "float", .groups = groups});
    out.time->cores = cores;
    out.time->waited = waited;
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_line_of_the_scheduler_has_the_time_on_a_core_and_the_time_waited_for_one) {
    const auto read = run::parse_schedstat("1500000000 250000000 12\n");
    BOOST_TEST_REQUIRE(read.has_value());
    BOOST_TEST(read->had == 1.5, is_close);
    BOOST_TEST(read->waited == 0.25, is_close);
    for (const char* other : {"", "12", "12 ", "a b c\n", "12 x 3\n", "-1 2 3\n"})
        BOOST_TEST(!run::parse_schedstat(other), other);
}

BOOST_AUTO_TEST_CASE(the_threads_of_a_process_are_added_up_and_none_are_known_where_the_system_counts_nothing) {
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

BOOST_AUTO_TEST_CASE(cores_are_those_of_the_samples_around_the_median) {
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

BOOST_AUTO_TEST_CASE(a_peak_that_was_measured_on_one_of_two_cores_is_told_of_both) {
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

BOOST_AUTO_TEST_CASE(the_rate_of_a_cores_own_level_is_told_of_all_cores_and_that_of_a_shared_one_as_it_was) {
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

BOOST_AUTO_TEST_CASE(a_cell_had_its_cores_where_its_threads_did_not_wait_for_more_than_it_has_groups_for) {
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
