// What cannot be faster than measured, where the caches end, and which operations can rotate.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "explain/limiter.hpp"
#include "run/cache_state.hpp"
#include "run/cell/operation.hpp"
#include "run/conditions/reference.hpp"
#include "run/kernel_source.hpp"
#include "unit/probe.hpp"
#include "unit/report_records.hpp"

BOOST_AUTO_TEST_SUITE(limits)

using namespace cllab;
using run::Cache;

namespace {

model::Limits measured() {
    model::Limits out;
    out.utc = "2026-01-01T00:00:00Z";
    out.float_peak = 100e9;
    out.double_peak = 50e9;
    out.bandwidth = 200e9;
    out.bandwidth_name = "level 1 read bandwidth";
    out.empty_launch_seconds = 4e-6;
    return out;
}

model::Record rate(const std::string& metric, double value, const std::string& unit, const std::string& type = "") {
    auto r = test::cell("fma", "peak", 1e-3);
    if (!type.empty()) r.point = {{"type", type}};
    r.metrics = {{metric, {value, unit, model::Better::higher}}};
    return r;
}

std::string judged(const model::Record& r, bool one_launch = true) {
    return explain::beyond_peak(r, measured(), one_launch).value_or("");
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr std::size_t MiB = 1 << 20;

/// With one buffer of `bytes`.
model::Setup sized(std::size_t bytes, model::Setup setup = {}) {
    if (bytes > 0) setup.args = {model::Scratch{"buffer", bytes}};
    return setup;
}

std::size_t sets(Cache cache, std::size_t bytes, std::uint64_t last_level, double room = 1e12) {
    return run::sets_for(cache, test::probe_cpu(), sized(bytes), last_level, room);
}

std::string refusal(Cache cache, const model::Setup& setup, std::size_t bytes, double room = 1e12,
                    const model::Device& device = test::probe_cpu()) {
    try {
        run::sets_for(cache, device, sized(bytes, setup), 32 << 20, room);
    } catch (const Unsupported& e) {
        return e.what();
    }
    return "";
}

}  // namespace

BOOST_AUTO_TEST_CASE(flop_rate_5_percent_above_the_peak_is_impossible) {
    BOOST_TEST(judged(rate("flops", 104e9, "FLOP/s")) == "");
    const auto text = judged(rate("flops", 106e9, "FLOP/s"));
    BOOST_TEST(text.rfind("beyond-peak: ", 0) == 0u, text);
    for (const auto* part : {"106 GFLOP/s", "float peak of 100 GFLOP/s", "2026-01-01T00:00:00Z"})
        BOOST_TEST(holds(text, part), text);
    BOOST_TEST(judged(rate("flops", 52e9, "FLOP/s", "double")) == "");
    BOOST_TEST(holds(judged(rate("flops", 53e9, "FLOP/s", "double")), "double peak of 50.0 GFLOP/s"));
    BOOST_TEST(judged(rate("flops", 190e9, "FLOP/s", "half")) == "");  // no limit is known
}

BOOST_AUTO_TEST_CASE(bandwidth_above_the_fastest_level_is_impossible) {
    BOOST_TEST(judged(rate("bandwidth", 209e9, "B/s")) == "");
    BOOST_TEST(holds(judged(rate("bandwidth", 211e9, "B/s")), "200 GB/s at most (level 1 read bandwidth)"));
}

BOOST_AUTO_TEST_CASE(launch_in_half_the_time_of_an_empty_one_is_impossible) {
    auto r = test::cell("muladd", "fma", 1.9e-6);
    BOOST_TEST(holds(judged(r), "4.00 us for an empty kernel"), judged(r));
    BOOST_TEST(judged(r, false) == "");
    r.time->median = 2.1e-6;
    BOOST_TEST(judged(r) == "");
}

BOOST_AUTO_TEST_CASE(unmeasured_figures_limit_nothing) {
    model::Limits none;
    auto r = rate("flops", 1e30, "FLOP/s");
    r.metrics.push_back({"bandwidth", {1e30, "B/s", model::Better::higher}});
    BOOST_TEST(!explain::beyond_peak(r, none, true).has_value());
}

BOOST_AUTO_TEST_CASE(last_level_is_measured_reported_or_guessed_with_its_source) {
    auto cpu = test::probe_cpu();
    BOOST_TEST(run::last_level(cpu, {}).bytes == 64u << 20);
    BOOST_TEST(run::last_level(test::probe_gpu(), {}).bytes == 256u << 20);
    BOOST_TEST(holds(run::last_level(cpu, {}).from, "guess"));
    cpu.reported_cache_bytes = cpu.last_level_bytes = 32 << 20;
    BOOST_TEST(run::last_level(cpu, {}).bytes == 32u << 20);
    BOOST_TEST(run::last_level(cpu, {}).from == "reported by the driver");
    cpu.reported_cache_bytes = 1 << 20;
    BOOST_TEST(run::last_level(cpu, {}).from == "an upper bound for devices of this kind");
    cpu.host_cache_bytes = 32 << 20;  // Intel's runtime for CPUs reports the second level
    BOOST_TEST(run::last_level(cpu, {}).from == "reported by the operating system");
    auto limits = measured();
    BOOST_TEST(run::last_level(cpu, limits).bytes == 32u << 20);  // its sweep did not come to memory
    limits.last_level_bytes = 16 << 20;
    BOOST_TEST(run::last_level(cpu, limits).bytes == 16u << 20);
    BOOST_TEST(run::last_level(cpu, limits).from == "measured, profile of 2026-01-01T00:00:00Z");
}

BOOST_AUTO_TEST_CASE(sets_rotate_through_four_times_the_last_level) {
    BOOST_TEST(sets(Cache::rotate, 1 * MiB, 32 * MiB) == 128u);
    BOOST_TEST(sets(Cache::rotate, 3 * MiB, 32 * MiB) == 43u);
    BOOST_TEST(sets(Cache::rotate, 256 * MiB, 32 * MiB, 1) == 1u);  // one set displaces itself
    BOOST_TEST(sets(Cache::cold, 1 * MiB, 32 * MiB) == 1u);
    BOOST_TEST(sets(Cache::hot, 1 * MiB, 32 * MiB) == 1u);
}

BOOST_AUTO_TEST_CASE(one_mib_rotates_on_last_levels_from_512_kib_to_1_gib) {
    for (std::uint64_t last_level = MiB / 2; last_level <= 1024 * MiB; last_level *= 2)
        BOOST_TEST(sets(Cache::rotate, MiB, last_level) == 4 * last_level / MiB);
    BOOST_TEST(sets(Cache::rotate, 2 * MiB, 300 * MiB) == 600u);
}

BOOST_AUTO_TEST_CASE(room_for_rotating_sets_includes_their_guards) {
    // 128 sets of 1 MiB, with a guard of 64 KiB on either side of each.
    const double needed = 128 * 1.125 * MiB;
    BOOST_TEST(refusal(Cache::rotate, {}, MiB, needed) == "");
    const auto text = refusal(Cache::rotate, {}, MiB, needed - 1);
    for (const auto* part : {"128 copies", "with their guards", "144 MiB in all"}) BOOST_TEST(holds(text, part), text);
}

BOOST_AUTO_TEST_CASE(yardstick_has_the_footprint_of_the_cell) {
    for (std::uint64_t last_level = MiB / 2; last_level <= 1024 * MiB; last_level *= 2) {
        for (const unsigned units : {1u, 2u, 64u}) {
            auto device = test::probe_cpu();
            device.last_level_bytes = device.reported_cache_bytes = last_level;
            device.compute_units = units;
            const auto setup = test::set_up("pitch_short8", device, {{"width", "2048"}, {"height", "1024"}});
            BOOST_TEST(run::yardstick_bytes(setup.work.bytes, run::data_bytes(setup)) == 4 * MiB);
        }
    }
}

BOOST_AUTO_TEST_CASE(yardstick_is_limited_by_data_size_and_moved_bytes) {
    BOOST_TEST(run::yardstick_bytes(64 * MiB, 4 * MiB) == 4 * MiB);  // walks the same data again and again
    BOOST_TEST(run::yardstick_bytes(4 * MiB, 64 * MiB) == 4 * MiB);  // touches a part of it
    BOOST_TEST(run::yardstick_bytes(8, 12) == 4096u);
    for (const double bytes : {5e3, 123456.0, 7.77e7, 3e9}) {
        const auto rounded = static_cast<double>(run::yardstick_bytes(bytes, bytes));
        BOOST_TEST(std::abs(rounded / bytes - 1) < 0.07);
        BOOST_TEST(run::yardstick_bytes(rounded, rounded) % 128 == 0u);  // two buffers of whole vectors
    }
}

BOOST_AUTO_TEST_CASE(cells_that_cannot_rotate_have_a_reason) {
    const model::Setup plain;
    model::Setup slope, observed, repeated;
    slope.slope = model::Slope{"trips", 1, 2};
    observed.observe = [](const model::Buffers&, std::uint64_t) {
        return std::vector<std::pair<std::string, double>>{};
    };
    repeated.steps = {model::Launch{"sweep", model::Extent(1)}, model::Launch{"sweep", model::Extent(1)}};
    BOOST_TEST(refusal(Cache::rotate, plain, 1 << 20) == "");
    BOOST_TEST(holds(refusal(Cache::rotate, slope, 1 << 20), "trip counts"));
    BOOST_TEST(holds(refusal(Cache::cold, slope, 1 << 20), "'cold'"));
    BOOST_TEST(refusal(Cache::hot, slope, 1 << 20) == "");
    BOOST_TEST(holds(refusal(Cache::rotate, observed, 1 << 20), "accumulating"));
    BOOST_TEST(refusal(Cache::cold, observed, 1 << 20) == "");
    BOOST_TEST(holds(refusal(Cache::rotate, repeated, 1 << 20), "several launches"));
    BOOST_TEST(holds(refusal(Cache::rotate, plain, 0), "has none"));
    const auto small = refusal(Cache::rotate, plain, 4096);
    for (const auto* part : {"32768 copies of 4 KiB", "128 MiB", "at most 4096"}) BOOST_TEST(holds(small, part), small);
    auto simulator = test::probe_cpu();
    simulator.implementation = model::Implementation::oclgrind;
    BOOST_TEST(holds(refusal(Cache::cold, plain, 1 << 20, 1e12, simulator), "simulator"));
    BOOST_TEST(holds(refusal(Cache::rotate, plain, 1 << 20, 100 * MiB), "room for 100 MiB"));
}

BOOST_AUTO_TEST_CASE(only_nvidia_kernel_arrays_may_exceed_the_local_memory_limit) {
    const auto refused = [](model::Implementation implementation, std::uint64_t of_kernel, std::uint64_t of_arguments) {
        auto device = test::probe_gpu();  // 48 KiB
        device.implementation = implementation;
        try {
            run::require_local_memory(device, of_kernel, of_arguments);
        } catch (const Unsupported& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    using enum model::Implementation;
    BOOST_TEST(refused(nvidia, 223 << 10, 0) == "");
    BOOST_TEST(refused(amd, 223 << 10, 0) == "this point needs 223 KiB of local memory; the device has 48 KiB");
    BOOST_TEST(refused(nvidia, 0, 49 << 10) == "this point needs 49 KiB of local memory; the device has 48 KiB");
    BOOST_TEST(refused(nvidia, 40 << 10, 9 << 10) == "this point needs 49 KiB of local memory; the device has 48 KiB");
    BOOST_TEST(refused(nvidia, 40 << 10, 8 << 10) == "");
}

BOOST_AUTO_TEST_SUITE_END()
