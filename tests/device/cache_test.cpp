// The states of the caches and the reference kernel, on the device under test.
#include <algorithm>
#include <sched.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <set>

#include "bench.hpp"
#include "device/sysfs.hpp"
#include "model/plan.hpp"
#include "model/registry.hpp"
#include "run/conditions/reference.hpp"
#include "run/one_core.hpp"

using namespace cllab;
using cllab::test::right;
using cllab::test::run_scratch;
using model::Status;

namespace {

/// Two buffers that fit in the last level: 1 MiB each; on a GPU, where a launch takes longer than reading those, 8 MiB.
std::size_t words() { return test::session().facts().is_gpu() ? 2097152 : 262144; }

/// A sweep of four times this displaces what is near the cores on any machine, and takes a moment only; a last level
/// that is shared by hundreds of cores may keep the data all the same.
std::uint64_t flushed() { return test::session().facts().is_gpu() ? 0 : 64ull << 20; }

/// With a last level of the given size, as a profile would say; 0: what the device says.
model::Record in_state(run::Cache cache, const std::string& kernel = right, std::uint64_t last_level = 0,
                       std::function<void(const model::Variant&, model::Setup&)> adjust = {},
                       std::optional<model::Cell> yardstick = {}) {
    run::Settings settings;
    settings.cache = cache;
    if (last_level > 0) settings.limits[test::session().facts().selector].last_level_bytes = last_level;
    return run_scratch(kernel, {{"right", ""}}, settings, nullptr, std::to_string(words()), std::move(adjust), nullptr,
                       std::move(yardstick))
        .front();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cache_state)

// Without optimisation a kernel is slower than its memory, and on a simulator there are no caches.
BOOST_AUTO_TEST_CASE(kernel_with_cached_data_is_not_faster_cold_than_hot, *test::only_optimised()) {
    // Least of the samples: a busy host slows single ones, and never makes one faster. Of a GPU's time the launch is
    // most: on an H200 1.08 to 1.10, with a noise of 0.7 %.
    const double clearly = test::session().facts().is_gpu() ? 1.03 : 1.1;
    BOOST_TEST(test::borne_out([&] {
        const auto hot = in_state(run::Cache::hot, right, flushed()),
                   cold = in_state(run::Cache::cold, right, flushed());
        BOOST_REQUIRE((hot.status == Status::ok && cold.status == Status::ok));
        BOOST_TEST(hot.time->cache == "hot");
        BOOST_TEST(cold.time->cache == "cold");
        BOOST_TEST(cold.time->per_sample == 1u);
        return cold.time->min / hot.time->min >= clearly;
    }));
}

BOOST_AUTO_TEST_CASE(rotating_sets_span_four_last_levels_and_are_all_verified) {
    for (const std::uint64_t last_level : {512ull << 10, 6ull << 20}) {
        test::checks = 0;
        const auto r = in_state(run::Cache::rotate, right, last_level);
        BOOST_REQUIRE_MESSAGE((r.status == Status::ok), r.reason);
        BOOST_TEST(r.time->cache == "rotate");
        BOOST_TEST(r.device.last_level_bytes == last_level);
        const std::uint64_t set_bytes = 2 * sizeof(cl_uint) * words();
        BOOST_TEST(r.time->sets == (4 * last_level + set_bytes - 1) / set_bytes);
        BOOST_TEST(test::checks ==
                   2u);  // once a seed; the other sets and later outputs are compared with what was checked
    }
}

BOOST_AUTO_TEST_CASE(kernel_wrong_on_one_set_is_detected_after_timing) {
    // The launches of a set after its third leave a zero; src counts them.
    const std::string counts =
        "kernel void scratch_right(global const uint* src, global uint* dst, int n) { int i = get_global_id(0); "
        "if (i == n - 1) { uint launch = (*(global uint*)(src + i))++; dst[i] = launch > 2 ? 0 : 1; } "
        "else dst[i] = 2 * src[i] + 1; }\n";
    const auto r = in_state(run::Cache::rotate, counts, 3ull << 20, [](const model::Variant&, model::Setup& setup) {
        auto& input = std::get<model::Input>(setup.args[0]);
        auto bytes = *input.data;
        std::memset(bytes.data() + bytes.size() - 4, 0, 4);
        input.data = std::make_shared<const model::Bytes>(bytes);
        setup.check = [](const model::Buffers& buffers) -> std::optional<std::string> {
            if (buffers.as<std::uint32_t>("dst").back() == 1) return std::nullopt;
            return "the last word differs";
        };
    });
    BOOST_TEST((r.status == Status::wrong_result));
    BOOST_TEST(r.reason == "the last word differs");
}

BOOST_AUTO_TEST_CASE(yardstick_copies_the_cell_footprint_in_its_cache_state) {
    for (const auto cache : {run::Cache::hot, run::Cache::cold, run::Cache::rotate}) {
        const auto copy = model::make_plan(model::select(model::registry(), {"bandwidth_copy"}), {}).front().front();
        const auto r = in_state(cache, right, 3ull << 20, {}, copy);
        BOOST_REQUIRE_MESSAGE((r.status == Status::ok), r.reason);
        BOOST_REQUIRE(r.yardstick.has_value());
        BOOST_TEST(r.yardstick->bytes == 2 * sizeof(cl_uint) * words());
        BOOST_TEST(r.yardstick->cache == run::name(cache));
        BOOST_TEST(r.yardstick->n >= 5u);
        const auto of_copy =
            std::find_if(r.metrics.begin(), r.metrics.end(), [](const auto& m) { return m.first == "of_copy"; });
        BOOST_REQUIRE(of_copy != r.metrics.end());
        const double bandwidth = 8.0 * static_cast<double>(words()) / r.time->median;
        BOOST_TEST(std::abs(of_copy->second.value / (100 * bandwidth / r.yardstick->bandwidth) - 1) < 1e-6);
    }
}

BOOST_AUTO_TEST_CASE(yardstick_of_cached_data_does_not_depend_on_the_last_level) {
    const auto copy = model::make_plan(model::select(model::registry(), {"bandwidth_copy"}), {}).front().front();
    for (const std::uint64_t last_level : {1ull << 20, 1ull << 30}) {
        const auto r = in_state(run::Cache::hot, right, last_level, {}, copy);
        BOOST_REQUIRE_MESSAGE((r.status == Status::ok && r.yardstick), r.reason);
        BOOST_TEST(r.device.last_level_bytes == last_level);
        BOOST_TEST(r.yardstick->bytes == 2 * sizeof(cl_uint) * words());
    }
}

BOOST_AUTO_TEST_CASE(references_enclose_samples_and_cost_little) {
    const auto r = in_state(run::Cache::hot);
    if (test::session().facts().implementation == model::Implementation::oclgrind) return;
    BOOST_TEST(r.time->references >= 2u);
    run::Reference reference(test::session());
    const double seconds = reference.take();
    BOOST_TEST(seconds > 50e-6);
    BOOST_TEST(seconds < 1.5e-3);  // three of them are less than a tenth of 50 ms even on a host that is not idle
    BOOST_TEST(!reference.due());
}

BOOST_AUTO_TEST_CASE(buffers_in_either_page_size_are_guarded_and_know_it) {
    auto& session = test::session();
    for (const auto pages : {model::Pages::huge, model::Pages::small}) {
        device::GuardedBuffer buffer(session, 3 << 20, device::least_guard_bytes, model::Transfer::copied, pages);
        buffer.arm(7);
        const std::vector<std::byte> data(buffer.size_bytes(), std::byte{42});
        session.queue().enqueueWriteBuffer(buffer.buffer(), CL_TRUE, 0, data.size(), data.data());
        std::vector<std::byte> back(data.size());
        session.queue().enqueueReadBuffer(buffer.buffer(), CL_TRUE, 0, back.size(), back.data());
        BOOST_TEST((back == data));
        BOOST_TEST(!buffer.guard_damage("data").has_value());
        const auto share = buffer.huge_share();
        if (!session.facts().is_cpu()) BOOST_TEST(!share.has_value());
        if (share) BOOST_TEST((*share >= 0 && *share <= 1));
        if (share && pages == model::Pages::small) BOOST_TEST(*share == 0);
    }
    BOOST_TEST(!device::GuardedBuffer(session, 4096, 0, model::Transfer::copied).huge_share().has_value());
}

BOOST_AUTO_TEST_CASE(repeated_pages_are_the_same_memory_and_separate_ones_are_not) {
    auto& session = test::session();
    if (!session.facts().is_cpu()) return;
    constexpr std::size_t page = 4096, words = (1 << 20) / 4 + 100;
    for (const auto pages : {model::Pages::repeated, model::Pages::separate}) {
        device::GuardedBuffer buffer(session, 4 * words, device::least_guard_bytes, model::Transfer::copied, pages);
        BOOST_TEST(!buffer.is_filled());
        const auto& queue = session.queue();
        std::vector<std::uint32_t> data(words), back(words);
        for (std::size_t i = 0; i < words; ++i) data[i] = static_cast<std::uint32_t>(i) + 1;
        queue.enqueueWriteBuffer(buffer.buffer(), CL_TRUE, 0, 4 * words, data.data());
        if (!buffer.is_filled()) continue;
        buffer.repeat_contents(std::as_bytes(std::span(data)));
        const auto read = [&] { queue.enqueueReadBuffer(buffer.buffer(), CL_TRUE, 0, 4 * words, back.data()); };
        read();
        for (std::size_t i = 0; i < words; ++i) BOOST_REQUIRE_EQUAL(back[i], data[i % (page / 4)]);
        const std::uint32_t one = 0;
        queue.enqueueWriteBuffer(buffer.buffer(), CL_TRUE, 8, 4, &one);
        read();
        BOOST_TEST((back[2 + page / 4] == 0) == (pages == model::Pages::repeated));
    }
}

BOOST_AUTO_TEST_CASE(kernel_with_zeros_as_input_is_timed_on_one_core) {
    if (!test::session().facts().is_cpu() || test::is_simulated()) return;
    const auto times = [](std::uint32_t input) {
        run::Settings settings;
        settings.arrangement = settings.one_core = settings.continues_run = true;
        const std::vector<model::Variant> three(3, {"right", ""});
        return run_scratch(right, three, settings, nullptr, "100000", [&](const model::Variant&, model::Setup& setup) {
            const std::vector<std::uint32_t> data(100000, input);
            std::get<model::Input>(setup.args[0]).data = model::share(data);
        });
    };
    const auto ones = times(1), zeros = times(0);
    BOOST_REQUIRE(ones.size() == 3 && zeros.size() == 3);
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST(model::name(zeros[i].status) == model::name(ones[i].status), zeros[i].reason);
}

BOOST_AUTO_TEST_CASE(one_core_confines_all_threads_and_releases_them) {
    const auto allowed = [] {
        std::set<int> out;
        for (const auto& task : device::entries("/proc/self/task")) {
            cpu_set_t set;
            CPU_ZERO(&set);
            sched_getaffinity(std::stoi(task.filename().string()), sizeof set, &set);
            out.insert(CPU_COUNT(&set));
        }
        return out;
    };
    static_cast<void>(test::session());  // the driver's threads
    const auto before = allowed();
    const auto threads = static_cast<int>(run::threads_of_this_core());
    {
        const run::OneCore confined;
        BOOST_TEST((allowed() == std::set{threads}));
    }
    BOOST_TEST((allowed() == before));
}

BOOST_AUTO_TEST_SUITE_END()
