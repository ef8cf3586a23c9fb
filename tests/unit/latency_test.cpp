// latency without a device: the chase, its check, and the levels that curves yield.
#include <boost/test/unit_test.hpp>
#include <set>

#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(latency)

using namespace cllab;
using namespace cllab::test;

namespace {

/// Where the chase stands after so many loads, by walking links made as the kernel makes them.
std::uint64_t walk(const model::Setup& setup, std::uint64_t word_bytes, std::uint64_t loads) {
    const auto slot = argument<std::uint32_t>(setup, "slot");
    std::map<std::uint64_t, std::uint64_t> next;
    for (std::size_t i = 0; i < slot.size(); ++i)
        next[slot[i] * word_bytes] = slot[i + 1 == slot.size() ? 0 : i + 1] * word_bytes;
    auto at = argument<std::uint64_t>(setup, "state")[0];
    for (std::uint64_t i = 0; i < loads; ++i) at = next.at(at);
    return at;
}

void require_chase(const model::Setup& setup, std::uint64_t word_bytes) {
    const std::int32_t trips = 5;
    auto state = argument<std::uint64_t>(setup, "state");
    state[0] = walk(setup, word_bytes, 16 * trips);
    require_right_and_watched(setup, "state", state, trips, 0);
    state[0] = walk(setup, word_bytes, 16 * trips - 1);
    BOOST_TEST(verdict(setup, "state", state, trips) != "", "a chase one load short passed");
}

}  // namespace

BOOST_AUTO_TEST_CASE(global_chase_ends_where_its_loads_lead) {
    require_chase(set_up("latency_global", probe_gpu(), {{"footprint", "3072"}}), 8);
}

BOOST_AUTO_TEST_CASE(indexed_chase_ends_where_its_loads_lead) {
    require_chase(set_up("latency_indexed", probe_gpu(), {{"footprint", "3072"}}), 8);
}

BOOST_AUTO_TEST_CASE(cost_of_indexing_is_reported_only_for_the_first_level) {
    const auto indexed = [](double footprint) {
        const auto found = concluded("latency", {curve_of("indexed", {{footprint, 1.4e-9}})}, probe_gpu());
        return found.empty() ? 0 : found.front().value;
    };
    BOOST_TEST(indexed(8192) == 1.4e-9, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(indexed(1 << 20) == 0);
}

BOOST_AUTO_TEST_CASE(local_chase_ends_where_its_loads_lead) {
    require_chase(set_up("latency_local", probe_gpu(), {{"footprint", "2048"}}), 4);
}

BOOST_AUTO_TEST_CASE(chase_visits_every_line_once_at_varying_words) {
    const auto slot = argument<std::uint32_t>(set_up("latency_global", probe_gpu(), {{"footprint", "65536"}}), "slot");
    std::set<std::uint32_t> lines, words;
    for (const auto s : slot) {
        lines.insert(s / 16);
        words.insert(s % 16);
    }
    BOOST_TEST(lines.size() == 512u);
    BOOST_TEST(slot.size() == 512u);
    BOOST_TEST(*lines.rbegin() == 511u);
    BOOST_TEST(words.size() == 16u);
}

BOOST_AUTO_TEST_CASE(small_footprints_are_walked_once_before_timing) {
    const auto setup = set_up("latency_global", probe_gpu(), {{"footprint", "1048576"}});
    BOOST_TEST(setup.slope->low * 16 >= 8192);
}

BOOST_AUTO_TEST_CASE(meaningless_points_are_unsupported) {
    BOOST_CHECK_THROW(set_up("latency_local", probe_cpu()), Unsupported);
    BOOST_CHECK_THROW(set_up("latency_local", probe_gpu(), {{"footprint", "65536"}}), Unsupported);
    BOOST_CHECK_THROW(set_up("latency_global", probe_gpu(), {{"footprint", "536870912"}}), Unsupported);
    BOOST_CHECK_THROW(set_up("latency_global", probe_gpu(), {{"footprint", "2048"}, {"line", "4096"}}), Unsupported);
}

BOOST_AUTO_TEST_CASE(levels_are_named_in_order_and_the_last_is_memory) {
    std::vector<std::pair<double, double>> points;
    for (double kib = 2; kib <= 8192; kib *= 1.4142136) {
        const double ns = kib <= 130 ? 20 : kib <= 160 ? 60 : kib <= 1100 ? 150 : kib <= 1500 ? 350 : 600;
        points.emplace_back(kib * 1024, ns * 1e-9 * (1 + 0.004 * (static_cast<int>(kib) % 3)));
    }
    const auto found = concluded("latency", {curve_of("global", points, {{"line", "128"}})}, probe_gpu());
    require_finding(found, "L1 latency", 20e-9);
    require_finding(found, "L2 latency", 150e-9);
    require_finding(found, "memory latency", 600e-9);
    BOOST_REQUIRE(finding(found, "L1 capacity"));
    BOOST_TEST(finding(found, "L1 capacity")->value > 120 * 1024);
    BOOST_TEST(finding(found, "L1 capacity")->value <= 130 * 1024);
    BOOST_TEST(!finding(found, "memory capacity"));
}

BOOST_AUTO_TEST_CASE(sweep_that_ends_in_a_cache_reports_no_memory) {
    std::vector<std::pair<double, double>> points;
    for (double kib = 2; kib <= 64; kib *= 1.4142136) points.emplace_back(kib * 1024, 20e-9);
    const auto found = concluded("latency", {curve_of("global", points, {{"line", "128"}})}, probe_gpu());
    require_finding(found, "L1 latency", 20e-9);
    BOOST_REQUIRE(finding(found, "memory latency"));
    BOOST_TEST(finding(found, "memory latency")->withheld != "");
}

BOOST_AUTO_TEST_SUITE_END()
