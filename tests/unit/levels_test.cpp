// Levels of memory from chases in two orders and two kinds of pages: what is believed, and what is withheld with which
// reason.
#include "experiments/lib/levels.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <set>

#include "core/random.hpp"
#include "core/stats.hpp"
#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(latency_levels)

using namespace cllab;
using namespace cllab::test;

namespace {

constexpr double KiB = 1024, MiB = 1024 * KiB;

/// Nanoseconds of a load at a footprint.
using Time = std::function<double(double footprint)>;

/// What a machine with sharp levels gives.
Time stairs(std::vector<std::pair<double, double>> levels, double memory) {
    return [=](double x) {
        for (const auto& [size, ns] : levels)
            if (x <= size) return ns;
        return memory;
    };
}

model::Curve chase(const std::string& order, const std::string& pages, const Time& ns, double last = 256 * MiB) {
    std::vector<std::pair<double, double>> points;
    for (double x = 4 * KiB; x <= last * 1.001; x *= std::sqrt(std::sqrt(2)))
        points.emplace_back(std::round(x), ns(x) * 1e-9);
    return curve_of("global", points, {{"line", "64"}, {"order", order}, {"pages", pages}});
}

model::Device machine(std::vector<std::uint64_t> levels) {
    auto out = probe_cpu();
    out.host_cache_levels = std::move(levels);
    return out;
}

std::vector<model::Finding> found(const model::Device& device, const Time& paged_huge, const Time& random_huge,
                                  const Time& paged_small, const Time& random_small) {
    return concluded("latency",
                     {chase("paged", "huge", paged_huge), chase("random", "huge", random_huge),
                      chase("paged", "small", paged_small), chase("random", "small", random_small)},
                     device);
}

std::string why(const std::vector<model::Finding>& findings, const std::string& id) {
    return of_id(findings, id).withheld;
}

const model::Device xeon = machine({48 << 10, 2 << 20, 32 << 20});
const Time quiet = stairs({{48 * KiB, 1.6}, {2 * MiB, 5.2}, {32 * MiB, 40}}, 120);

}  // namespace

BOOST_AUTO_TEST_CASE(quiet_machine_shows_its_levels_times_and_memory) {
    const auto all = found(xeon, quiet, quiet, quiet, quiet);
    for (const auto& [id, bytes] : {std::pair{"l1.size", 48 * KiB}, {"l2.size", 2 * MiB}, {"l3.size", 32 * MiB}}) {
        BOOST_TEST(why(all, id) == "");
        BOOST_TEST(of_id(all, id).low <= bytes);
        BOOST_TEST(of_id(all, id).high > bytes);
        BOOST_TEST(of_id(all, id).value == bytes, boost::test_tools::tolerance(0.2));
    }
    for (const auto& [id, ns] :
         {std::pair{"l1.latency", 1.6}, {"l2.latency", 5.2}, {"l3.latency", 40.}, {"memory.latency", 120.}})
        BOOST_TEST(of_id(all, id).value == ns * 1e-9, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(tlb_is_separated_from_the_caches_and_is_no_level) {
    // Each load to another page costs 7 ns more beyond 8 MiB of small pages; there is no level of that size.
    const Time small = [](double x) { return quiet(x) + (x > 8 * MiB ? 40 : 0); };
    const auto all = found(xeon, quiet, quiet, quiet, small);
    BOOST_TEST(why(all, "l2.size") == "");
    BOOST_TEST(why(all, "l3.size") == "");
    BOOST_TEST(of_id(all, "tlb.small.reach").value <= 8 * MiB);
    BOOST_TEST(of_id(all, "tlb.small.reach").high > 8 * MiB);
    BOOST_TEST(of_id(all, "tlb.small.cost").value == 40e-9, boost::test_tools::tolerance(0.01));
    BOOST_TEST(says(why(all, "tlb.huge.reach"), "no longer"));
    for (const auto& f : all)
        BOOST_TEST((f.unit != "byte" || !f.withheld.empty() || f.id == "tlb.small.reach" || f.value != 8 * MiB), f.id);
}

BOOST_AUTO_TEST_CASE(knee_within_a_page_or_at_the_first_level_is_not_the_tlb) {
    // Nanoseconds of an EPYC: loads that stay in a page are followed by prefetchers from the first level's end on.
    const auto epyc = machine({32 << 10, 1 << 20, 32 << 20});
    const Time staying = stairs({{32 * KiB, 1.1}, {1 * MiB, 2.7}, {32 * MiB, 9}}, 90),
               scattered = stairs({{32 * KiB, 1.1}, {1 * MiB, 4}, {32 * MiB, 18}}, 160);
    const auto all = found(epyc, staying, scattered, staying, scattered);
    BOOST_TEST(says(why(all, "tlb.huge.reach"), "within one page of 2 MiB, so it is not the TLB"));
    BOOST_TEST(says(why(all, "tlb.small.reach"), "where the first level ends"));
    for (const auto& f : all) BOOST_TEST(f.id.find("tlb.huge.cost") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(level_shared_with_a_neighbour_is_withheld_with_both_sizes) {
    // The Xeon of the facts: huge pages, a neighbour on the core; flat to 384 KiB, then ever slower.
    const Time shared = [](double x) {
        const std::vector<std::pair<double, double>> seen{
            {48 * KiB, 1.6}, {49 * KiB, 5.4}, {384 * KiB, 5.4}, {512 * KiB, 6.3}, {1 * MiB, 8.8},
            {2 * MiB, 20.6}, {3 * MiB, 36},   {8 * MiB, 44},    {12 * MiB, 128},  {512 * MiB, 140}};
        if (x <= seen[0].first) return seen[0].second;
        std::size_t i = 1;
        while (seen[i].first < x) ++i;
        const double part = std::log(x / seen[i - 1].first) / std::log(seen[i].first / seen[i - 1].first);
        return seen[i - 1].second * std::pow(seen[i].second / seen[i - 1].second, part);
    };
    const auto all = found(xeon, shared, shared, shared, shared);
    BOOST_TEST(why(all, "l1.size") == "");
    const auto text = why(all, "l2.size");
    for (const auto* part : {"gradually from", "reports 2 MiB"}) BOOST_TEST(says(text, part), text);
    // A sharp knee too early is no size either.
    const Time early = stairs({{48 * KiB, 1.6}, {1.2 * MiB, 5.2}, {32 * MiB, 40}}, 120);
    const auto sharp = why(found(xeon, early, early, early, early), "l2.size");
    for (const auto* part : {"rises at 1.19 MiB already", "reports 2 MiB", "another thread"})
        BOOST_TEST(says(sharp, part), sharp);
}

BOOST_AUTO_TEST_CASE(knee_missing_in_the_other_page_size_is_rejected) {
    const Time nothing = stairs({{48 * KiB, 1.6}, {256 * MiB, 5.2}}, 120);
    const auto text = why(found(xeon, quiet, quiet, nothing, nothing), "l2.size");
    BOOST_TEST(says(text, "but not in the other kind of pages"), text);
}

BOOST_AUTO_TEST_CASE(few_footprints_in_the_other_order_confirm_a_level) {
    auto scattered = chase("random", "huge", quiet);
    // One footprint in the first level, and too few in the second for a plateau.
    std::erase_if(scattered.samples,
                  [](const auto& s) { return s.x != 32 * KiB && s.x != 128 * KiB && s.x < 4 * MiB; });
    const auto all = concluded("latency", {chase("paged", "huge", quiet), scattered}, xeon);
    BOOST_TEST(why(all, "l1.size") == "");
    BOOST_TEST(of_id(all, "l1.size").value == 48 * KiB, boost::test_tools::tolerance(0.2));
    std::erase_if(scattered.samples, [](const auto& s) { return s.x < 128 * KiB; });
    const auto unknown = why(concluded("latency", {chase("paged", "huge", quiet), scattered}, xeon), "l1.size");
    BOOST_TEST(says(unknown, "no buffer of nearly that size was measured in the other order"), unknown);
}

BOOST_AUTO_TEST_CASE(scattered_times_still_show_the_time_within_and_beyond_a_level) {
    // The footprints of the second and third level are disturbed, each by another factor, so that no three agree.
    const Time disturbed = [](double x) {
        const int number = static_cast<int>(std::round(4 * std::log2(x / KiB)));
        return quiet(x) * (x > 48 * KiB && x <= 32 * MiB ? 1 + 0.37 * (number * 7 % 11) : 1);
    };
    const auto text = why(found(xeon, disturbed, disturbed, disturbed, disturbed), "l1.size");
    BOOST_TEST(text.starts_with("a load takes 1.60 ns in 32 KiB and "), text);
    BOOST_TEST(text.ends_with("; the system reports 48 KiB"), text);
    BOOST_TEST(!says(text, "knee"), text);
}

BOOST_AUTO_TEST_CASE(level_has_a_time_if_a_few_footprints_of_both_pages_agree) {
    const auto with = [](const Time& small, double first) {
        auto curves = std::vector{chase("paged", "huge", quiet), chase("random", "huge", quiet),
                                  chase("paged", "small", small), chase("random", "small", quiet)};
        auto& samples = curves[2].samples;
        std::erase_if(samples, [&](const auto& s) { return s.x < first; });
        return concluded("latency", curves, xeon);
    };
    BOOST_TEST(of_id(with(quiet, 40 * KiB), "l1.latency").value == 1.6e-9, boost::test_tools::tolerance(1e-6));
    const Time other = [](double x) { return (x <= 48 * KiB ? 1.5 : 1) * quiet(x); };
    BOOST_TEST(says(why(with(other, 40 * KiB), "l1.latency"), "differ by more than a quarter"));
    BOOST_TEST(says(why(with(quiet, 64 * KiB), "l1.latency"),
                    "no buffer of its size was measured in the other kind of pages"));
}

BOOST_AUTO_TEST_CASE(last_level_beyond_the_sweep_is_withheld) {
    const auto all = found(machine({48 << 10, 2 << 20, 300 << 20}), quiet, quiet, quiet, quiet);
    BOOST_TEST(why(all, "l2.size") == "");
    BOOST_TEST(says(why(all, "l3.size"), "the sweep ends at 256 MiB"));
    BOOST_TEST(says(why(all, "memory.latency"), "300 MiB"));
    // Prefetchers follow the other order: its time is not the memory's.
    const Time followed = [](double x) { return std::min(quiet(x), 50.0); };
    const auto both = found(xeon, followed, quiet, followed, quiet);
    BOOST_TEST(of_id(both, "memory.latency").value == 120e-9, boost::test_tools::tolerance(1e-6));
    // Latencies of chases in unlike orders do not compare: each name says its order.
    BOOST_TEST(of_id(both, "memory.latency").name == "memory latency, random order");
    BOOST_TEST(of_id(both, "l1.latency").name == "L1 latency, page by page");
}

BOOST_AUTO_TEST_CASE(noise_creates_no_levels) {
    Random random(7);
    for (int trial = 0; trial < 40; ++trial) {
        const Time noisy = [&](double x) { return quiet(x) * (1 + 3 * std::pow(random.real(0, 1), 4)); };
        const auto all = found(xeon, noisy, noisy, noisy, noisy);
        for (std::size_t i = 0; i < xeon.host_cache_levels.size(); ++i) {
            const auto f = of_id(all, "l" + std::to_string(i + 1) + ".size");
            const auto size = static_cast<double>(xeon.host_cache_levels[i]);
            if (f.withheld.empty())
                BOOST_TEST((f.low / 1.34 <= size && f.high * 1.34 >= size), f.id + " is " + std::to_string(f.value));
        }
        for (const auto& f : all) BOOST_TEST(f.id.find("l4") == std::string::npos);
    }
}

namespace {

/// Chases of an H200, 2026-11-22, in nanoseconds.
const std::vector<double> h200_mib{1. / 32, 1. / 16, 1. / 8, .177,  .21,   .25, .297,  .354,  .5, 1,   2,
                                   4,       8,       16,     22.63, 26.91, 32,  38.05, 45.25, 64, 128, 256};
const std::vector<double> h200_ns{16.14, 16.12, 16.13, 16.08, 16.15, 80.9,  133.1, 141.4, 141.8, 141.6, 141.5,
                                  141.6, 141.6, 141.7, 140.9, 168,   180.3, 228,   254.8, 324.4, 331.3, 332.2};

std::vector<model::Finding> of_gpu(const std::vector<double>& paged, const std::vector<double>& random) {
    const auto chase_of = [](const char* order, const std::vector<double>& ns) {
        std::vector<std::pair<double, double>> points;
        for (std::size_t i = 0; i < ns.size(); ++i) points.emplace_back(h200_mib[i] * MiB, ns[i] * 1e-9);
        return curve_of("global", points, {{"line", "128"}, {"order", order}, {"pages", "huge"}});
    };
    return concluded("latency", {chase_of("paged", paged), chase_of("random", random)}, probe_gpu());
}

}  // namespace

BOOST_AUTO_TEST_CASE(level_with_random_replacement_has_a_size_for_one_work_item) {
    const auto all = of_gpu(h200_ns, h200_ns);
    const auto size = of_id(all, "l2.size");
    BOOST_TEST(size.withheld == "");
    BOOST_TEST(size.name == "L2 capacity for one work-item");
    BOOST_TEST(size.value == 28.5 * MiB, boost::test_tools::tolerance(0.02));
    BOOST_TEST(size.low > 22 * MiB);
    BOOST_TEST(size.high < 34 * MiB);
    BOOST_TEST(of_id(all, "memory.latency").value == 331e-9, boost::test_tools::tolerance(0.01));
    // Where the orders tell different things there is none.
    auto half = h200_ns;
    for (std::size_t i = 15; i + 2 < half.size(); ++i) half[i] = h200_ns[i + 2];
    BOOST_TEST(why(of_gpu(h200_ns, half), "l2.size") != "");
}

BOOST_AUTO_TEST_CASE(memory_is_withheld_if_the_largest_footprints_disagree) {
    auto climbing = h200_ns;
    climbing[19] = 290;
    climbing[20] = 312;
    climbing[21] = 345;
    const auto all = of_gpu(climbing, climbing);
    BOOST_TEST(says(why(all, "memory.latency"), "no three buffers beyond the caches give one time"));
    BOOST_TEST(says(why(all, "l2.size"), "no three larger buffers give one time"));
    BOOST_TEST(why(all, "l2.latency") == "");
}

BOOST_AUTO_TEST_CASE(random_replacement_is_told_from_other_slopes) {
    const std::vector<double> sizes{8, 10, 12, 14, 16, 20, 24, 32, 64};
    const auto times = [&](const std::function<double(double)>& missing) {
        std::vector<double> out;
        for (const auto size : sizes) out.push_back(100 + 200 * missing(size));
        return out;
    };
    const auto of_ten = times([](double size) {
        double m = size <= 10 ? 0 : 0.5;  // the part that misses: m = 1 - exp(-m size / 10)
        for (int i = 0; i < 200; ++i) m = 1 - std::exp(-m * size / 10);
        return m;
    });
    const auto found = model::lib::capacity_of_random_replacement(sizes, of_ten, 100, 300);
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(found->value == 10, boost::test_tools::tolerance(0.001));
    BOOST_TEST(found->low == 10 / 1.1, boost::test_tools::tolerance(0.001));
    // A level whose lines collide long before it is full; one that is left at once; and a slow and a fast half.
    BOOST_TEST(!model::lib::capacity_of_random_replacement(
        sizes, times([](double size) { return std::clamp((size - 4) / 40, 0., 1.); }), 100, 300));
    BOOST_TEST(!model::lib::capacity_of_random_replacement(
        sizes, times([](double size) { return size <= 10 ? 0. : 1.; }), 100, 300));
    BOOST_TEST(!model::lib::capacity_of_random_replacement(
        sizes, times([](double size) { return size <= 10   ? 0.
                                              : size <= 24 ? 0.4
                                                           : 1.; }), 100, 300));
}

BOOST_AUTO_TEST_CASE(disturbed_footprint_is_not_taken_for_the_tlb_reach) {
    auto disturbed = h200_ns;
    disturbed[4] = 25.2;
    BOOST_TEST(says(why(of_gpu(h200_ns, disturbed), "tlb.huge.reach"), "no longer"));
    disturbed[7] = disturbed[10] = disturbed[12] = 220;
    BOOST_TEST(says(why(of_gpu(h200_ns, disturbed), "tlb.huge.reach"), "rises and falls with the buffer size"));
}

BOOST_AUTO_TEST_CASE(one_chase_order_on_a_cpu_withholds_every_level) {
    for (const auto& f : concluded("latency", {chase("random", "huge", quiet)}, xeon))
        BOOST_TEST(says(f.withheld, "order=paged,random"));
}

BOOST_AUTO_TEST_CASE(paged_chase_visits_all_lines_of_a_page_before_the_next) {
    const auto setup = set_up("latency_global", probe_cpu(), {{"footprint", "65536"}, {"order", "paged"}});
    const auto slot = argument<std::uint32_t>(setup, "slot");
    BOOST_REQUIRE(slot.size() == 1024u);
    std::set<std::uint32_t> lines, pages;
    for (std::size_t i = 0; i < slot.size(); ++i) {
        lines.insert(slot[i] / 8);
        if (i % 64 == 0) BOOST_TEST(pages.insert(slot[i] / 512).second);
        BOOST_TEST(pages.count(slot[i] / 512));
    }
    BOOST_TEST(lines.size() == 1024u);
    BOOST_TEST((setup.pages == model::Pages::huge));
    BOOST_TEST((set_up("latency_global", probe_cpu(), {{"footprint", "65536"}, {"pages", "small"}}).pages ==
                model::Pages::small));
}

BOOST_AUTO_TEST_CASE(mode_is_found_although_most_samples_are_disturbed) {
    Random random(3);
    std::vector<double> samples;
    for (int i = 0; i < 40; ++i) samples.push_back(1 + 0.005 * random.real(-1, 1));
    for (int i = 0; i < 60; ++i) samples.push_back(random.real(1.1f, 5));
    const auto mode = half_sample_mode(samples);
    BOOST_TEST(mode.value == 1, boost::test_tools::tolerance(0.01));
    BOOST_TEST(mode.share >= 0.4);
    BOOST_TEST(mode.share < 0.5);
    BOOST_TEST(half_sample_mode({}).value == 0);
}

BOOST_AUTO_TEST_CASE(copy_rate_is_of_the_last_level_beyond_private_caches) {
    model::Device cpu;
    cpu.type = model::DeviceType::cpu;
    cpu.compute_units = 2;
    cpu.host_cache_levels = {48 << 10, 2 << 20, 32 << 20};
    model::Curve copy;
    const auto add = [&](double bytes, double rate) {
        model::Curve::Sample s;
        s.x = bytes / 2;
        s.work.bytes = bytes;
        s.seconds = bytes / rate;
        copy.samples.push_back(s);
    };
    for (const auto& [bytes, rate] : {std::pair{64 * KiB, 30e9},
                                      {1 * MiB, 60e9},
                                      {2 * MiB, 66e9},
                                      {4 * MiB, 40e9},
                                      {16 * MiB, 20e9},
                                      {20 * MiB, 40e9},
                                      {256 * MiB, 10e9}})
        add(bytes, rate);
    const auto found = model::lib::copy_rates(copy, cpu, "how");
    BOOST_TEST_REQUIRE(found.size() == 1u);  // 4 MiB may lie in the second level or behind it
    BOOST_TEST(found[0].id == "l3.copy");
    BOOST_TEST(says(found[0].withheld, "other programs use the level"));
    copy.samples[4].seconds /= 2;
    BOOST_TEST(model::lib::copy_rates(copy, cpu, "how").front().value == 40e9, boost::test_tools::tolerance(1e-9));
    cpu.host_cache_levels.clear();
    BOOST_TEST(model::lib::copy_rates(copy, cpu, "how").empty());
}

BOOST_AUTO_TEST_SUITE_END()
