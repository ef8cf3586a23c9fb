// A CPU kernel's time, split by its times on one core.
#include <boost/test/unit_test.hpp>

#include "explain/one_core.hpp"
#include "explain/peaks.hpp"
#include "report/table/explanation.hpp"
#include "unit/why_counted.hpp"

BOOST_AUTO_TEST_SUITE(why_one_core)

using namespace cllab;
using namespace test::why;

namespace {

model::Timing timing(double seconds) {
    model::Timing out;
    out.median = seconds;
    out.low = 0.99 * seconds;
    out.high = 1.01 * seconds;
    return out;
}

/// A cell of 27 ms on all cores, whose copy of 100 MiB explains 40 % of them. Its times on one core: the cell's time
/// multiplied by the cores and by `own`, and the parts `separate` and `repeated` of that.
model::Explanation split(double own, double separate, double repeated, unsigned threads = 1, double bytes = 100 * MiB,
                         double cores = 0) {
    const auto limits = profile();
    auto r = record(27e-3, {.bytes = bytes, .read = bytes / 2, .type = "float", .footprint = bytes, .launches = 1});
    r.time->cores = cores;
    auto out = explanation(r);
    BOOST_TEST((out.limit == model::Limit::unexplained));
    const double one = 27e-3 * own * limits.units / threads;
    explain::split_on_one_core(r, limits, {timing(one), timing(one * separate), timing(one * repeated), threads}, out);
    return out;
}

double seconds_of(const model::Explanation& e, const std::string& id) {
    const auto found = std::ranges::find(e.bounds, id, &model::Bound::id);
    return found == e.bounds.end() ? 0 : found->seconds;
}

}  // namespace

BOOST_AUTO_TEST_CASE(execution_is_the_limiter_if_near_data_takes_as_long) {
    for (const unsigned threads : {1u, 2u}) {
        const auto e = split(1, 1, 0.95, threads);
        BOOST_TEST(limiter(e) == "execution");
        BOOST_TEST(seconds_of(e, "execution") == 0.95 * 27e-3, is_close);
        BOOST_TEST(seconds_of(e, "access") == 0);
        BOOST_TEST(seconds_of(e, "values") == 0);
    }
}

BOOST_AUTO_TEST_CASE(the_part_that_nearer_or_repeated_data_saves_is_the_limiter) {
    struct Case {
        double separate, repeated;
        std::string limiter, other;
        double part;
    };
    // In the second, small pages cost time.
    for (const auto& [separate, repeated, name, other, part] :
         {Case{1, 0.1, "access", "values", 0.9}, {2, 0.1, "access", "values", 0.9}, {0.12, 0.11, "values", "access", 0.88}}) {
        const auto e = split(1, separate, repeated);
        BOOST_TEST(limiter(e) == name);
        BOOST_TEST(seconds_of(e, name) == part * 27e-3, is_close);
        BOOST_TEST(seconds_of(e, other) == 0);
    }
}

BOOST_AUTO_TEST_CASE(time_that_repeated_contents_save_is_named_by_the_counts) {
    const auto name = [](double sectors, double lanes_active, double chain = 2) {
        auto counts = launch(1);
        counts.by_data = true;
        counts.reads.sectors = each(sectors * counts.reads.least_sectors.mean);
        counts.lanes_active = lanes_active;
        counts.path.loads = counts.global.loads.mean = chain;
        auto r = record(27e-3, {.bytes = 64, .read = 32, .footprint = 64, .launches = 1});
        r.counts = std::make_shared<const Counts>(counts);
        auto out = explanation(r);
        const double one = 27e-3 * profile().units;
        explain::split_on_one_core(r, profile(), {timing(one), timing(one / 10), timing(one / 10), 1}, out);
        const auto found = std::ranges::find(out.bounds, "values", &model::Bound::id);
        return found == out.bounds.end() ? "" : found->name;
    };
    BOOST_TEST(name(8, 1) == "scattered addresses");
    BOOST_TEST(name(8, 1, 20) == "latency of a chain of dependent loads");
    BOOST_TEST(name(8, 0.7, 20) == "addresses or branches that depend on data");
    BOOST_TEST(name(1, 0.7) == "data-dependent branches");
    for (const auto& unknown : {name(8, 0.7), name(1, 1)})
        BOOST_TEST(unknown == "addresses or branches that depend on data");
}

BOOST_AUTO_TEST_CASE(two_parts_are_named_together) {
    const auto e = split(1, 1, 0.45);
    BOOST_TEST(limiter(e) == "access");
    BOOST_TEST_REQUIRE(e.follower() != nullptr);
    BOOST_TEST(e.follower()->id == "execution");
    BOOST_TEST(e.seconds() == 27e-3, is_close);
    const auto of_three = split(1, 0.7, 0.36);
    BOOST_TEST(limiter(of_three) == "execution");
    BOOST_TEST(seconds_of(of_three, "values") == 0.3 * 27e-3, is_close);
    const auto page = report::explanation_text(record(27e-3, {.launches = 1}), of_three, {});
    BOOST_TEST(says(page, " 0 %  unexplained"), page);
    const auto parts = page.find("  parts of the time [and range], found by timing one core; they add up:\n"),
               bounds = page.find("  least time of each resource alone [and range]; these overlap:\n");
    BOOST_TEST(parts < page.find("unexplained"), page);
    BOOST_TEST(page.find("unexplained") < bounds, page);
    BOOST_TEST(bounds < page.find(" 39 %  memory bandwidth"), page);
}

BOOST_AUTO_TEST_CASE(cores_that_slow_each_other_count_as_execution_unless_memory_may_be_the_cause) {
    const auto e = split(0.6, 1, 0.97, 1, 10 * MiB);
    BOOST_TEST(limiter(e) == "execution");
    BOOST_TEST(seconds_of(e, "execution") == 0.97 * 27e-3, is_close);
    BOOST_TEST(says(e.bounds.front().how, "1.67 times that while all cores work"));
    BOOST_TEST(e.bounds.front().low == 0.97 * 0.99 * 0.6 * 27e-3, is_close);
    for (const auto& other : {split(0.6, 1, 0.8), split(0.3, 1, 0.97), split(0.6, 1, 0.97, 1, 170 * MiB)}) {
        BOOST_TEST(seconds_of(other, "execution") < 0.6 * 27e-3);
        BOOST_TEST_REQUIRE(other.follower() != nullptr);
        BOOST_TEST((other.limiter()->id == "shared" || other.follower()->id == "shared"));
    }
}

BOOST_AUTO_TEST_CASE(atomics_are_named_if_they_can_cause_what_the_cores_share) {
    const auto limits = profile();
    struct Case {
        double atomics, own, repeated;
        std::string name;
    };
    // 270'000 atomics take the whole time at the slowest rate.
    for (const auto& [atomics, own, repeated, name] :
         {Case{0, 0.3, 0.3, "what the cores share"}, {10'000, 0.3, 0.3, "what the cores share"},
          {270'000, 0.3, 0.3, "contended atomics"}, {270'000, 0.6, 0.6, "atomics or other shared resources"},
          {270'000, 0.3, 0.2, "atomics or other shared resources"},
          {80'000, 0.3, 0.3, "atomics or other shared resources"}}) {
        auto r = record(27e-3, {.atomics = atomics, .atomic_addresses = 1e9, .launches = 1});
        auto e = explanation(r);
        const auto one = [&](double part) { return timing(part * 27e-3 * limits.units); };
        explain::split_on_one_core(r, limits, {one(own), one(own), one(repeated), 1}, e);
        const auto found = std::ranges::find(e.bounds, "shared", &model::Bound::id);
        BOOST_TEST_REQUIRE((found != e.bounds.end()), name);
        BOOST_TEST(found->name == name);
        BOOST_TEST(says(found->how, "wait for a cache line") == (name == "contended atomics"), found->how);
        BOOST_TEST(seconds_of(e, "execution") == repeated * 27e-3, is_close);
    }
}

BOOST_AUTO_TEST_CASE(idle_cores_are_not_called_slow_ones) {
    const auto e = split(0.5, 1, 0.97, 1, 10 * MiB, 0.5 * profile().units);
    const auto found = std::ranges::find(e.bounds, "shared", &model::Bound::id);
    BOOST_TEST_REQUIRE((found != e.bounds.end()));
    BOOST_TEST(found->name == "idle cores");
    BOOST_TEST(found->seconds == 0.5 * 27e-3, is_close);
    BOOST_TEST(seconds_of(e, "execution") == 0.97 * 0.5 * 27e-3, is_close);
}

BOOST_AUTO_TEST_CASE(times_that_do_not_fit_explain_nothing) {
    for (const auto& e : {split(1.4, 1, 0.95), split(1, 1, 1.2), split(1, 0.5, 0.6)}) {
        BOOST_TEST((e.limit == model::Limit::unexplained));
        BOOST_TEST(seconds_of(e, "execution") == 0);
        BOOST_TEST(e.unbounded.back().first == "execution in the cores");
    }
    BOOST_TEST(says(split(1, 1, 1.2).unbounded.back().second, "slow if many addresses share a page"));
    BOOST_TEST(says(split(1, 1.2, 1.2).unbounded.back().second, "not less with its data in the nearest caches"));
    // Shared pages are slow, but most of the time is that of the values.
    const auto e = split(1, 0.15, 0.3);
    BOOST_TEST(limiter(e) == "values");
    BOOST_TEST(seconds_of(e, "values") == 0.85 * 27e-3, is_close);
    BOOST_TEST(seconds_of(e, "execution") == 0.15 * 27e-3, is_close);
}

BOOST_AUTO_TEST_CASE(short_kernels_are_not_timed_on_one_core) {
    struct Counting : explain::Measure {
        int asked = 0;
        model::Record run(const model::Cell&, double) override { return record(27e-3, copying()); }
        std::vector<model::Figure> peak(const std::string&, double) override { return {}; }
        std::optional<explain::OneCoreTimes> on_one_core(const model::Cell&, std::string&) override {
            ++asked;
            return std::nullopt;
        }
    };
    const auto asked = [](double seconds, double launch) {
        Counting device;
        auto limits = profile();
        explain::replace(limits, figure("launch.empty.item", "empty kernel", "s", launch));
        explain::Peaks peaks(device, limits);
        const auto r = record(seconds, {.bytes = 64, .read = 32, .footprint = 64, .launches = 1});
        const auto e = peaks.explain({}, r);
        const auto sentence = report::limit_sentence(e, *r.time);
        BOOST_TEST(says(sentence, model::too_short_to_split) == (device.asked == 0), sentence);
        BOOST_TEST(!says(sentence, "no bound for the rest"), sentence);
        return device.asked;
    };
    BOOST_TEST(asked(60e-6, 5e-6) == 1);
    BOOST_TEST(asked(60e-6, 7e-6) == 0);
    BOOST_TEST(asked(40e-6, 1e-6) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
