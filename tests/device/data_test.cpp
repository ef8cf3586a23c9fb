// Operations that work in place: their time is that of the data that goes in, not of data that is processed already.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>

#include "bench.hpp"
#include "model/warning.hpp"

using namespace cllab;
using cllab::test::is_simulated;
using cllab::test::run_scratch;
using model::Status;

namespace {

constexpr std::uint32_t raw = 0x80000000;  // of an element that no operation has processed

/// Takes `first` trips for an element that is raw, and clears that; `later` for others. Its results do not tell.
/// Without optimisation a tenth of the trips takes longer than all of them take with it.
std::string processes(const std::string& name, unsigned first, unsigned later) {
    if (!test::optimised()) first /= 10, later /= 10;
    return "kernel void scratch_" + name +
           "(global const uint* src, global uint* dst, int n) {\n"
           "    const int i = get_global_id(0);\n"
           "    const uint x = dst[i];\n"
           "    const int trips = x >> 31 ? " +
           std::to_string(first) + " : " + std::to_string(later) +
           ";\n"
           "    uint v = x;\n"
           "    for (int k = 0; k < trips; ++k) { v ^= v << 13; v ^= v >> 17; v ^= v << 5; }\n"
           "    dst[i] = (x & 0x7fffffff) | (n < 0 ? v : 0);\n"
           "}\n";
}

/// dst is raw data at first, and processed after each operation.
void in_place(const model::Variant&, model::Setup& setup) {
    auto data = *std::get<model::Input>(setup.args[0]).data;
    for (std::size_t i = 3; i < data.size(); i += 4) data[i] |= std::byte{0x80};
    setup.args[1] = model::InOut{"dst", std::make_shared<const model::Bytes>(data)};
    setup.accumulates = true;
    setup.check = [data](const model::Buffers& buffers) -> std::optional<std::string> {
        const auto dst = buffers.as<std::uint32_t>("dst");
        for (std::size_t i = 0; i < dst.size(); ++i) {
            std::uint32_t wanted = 0;
            std::memcpy(&wanted, data.data() + 4 * i, 4);
            if (dst[i] != (wanted & ~raw)) return "dst[" + std::to_string(i) + "] differs";
        }
        return std::nullopt;
    };
}

bool on_fresh_data(const model::Record& r) { return model::warns(r, model::Warning::fresh_data); }

/// Of `first` over `later` trips, beside one that takes `first` trips always; by the name of the variant.
std::map<std::string, model::Record> beside_honest(unsigned first, unsigned later, const std::string& words,
                                                   run::Settings settings = {}, bool twice = false) {
    const auto adjust = [&](const model::Variant& variant, model::Setup& setup) {
        in_place(variant, setup);
        const model::Launch launch{"", setup.global};
        if (twice) setup.steps = {launch, launch};
    };
    std::map<std::string, model::Record> out;
    // Apart, so that none is treated as the other is.
    for (auto& r : run_scratch(processes("less", first, later) + processes("honest", first, first),
                               {{"less", ""}, {"honest", ""}}, settings, nullptr, words, adjust, nullptr, {},
                               !settings.arrangement)) {
        BOOST_TEST((r.status == Status::ok), r.variant << ": " << r.reason);
        BOOST_TEST(r.time.has_value());
        out[r.variant] = std::move(r);
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(data)

BOOST_AUTO_TEST_CASE(in_place_kernel_is_timed_on_its_input_data) {
    if (is_simulated()) return;
    for (const auto& [first, later] : {std::pair{5000u, 10u}, {2000u, 1000u}}) {
        const bool seen = test::borne_out([&] {  // a busy host may hide a factor of two
            auto r = beside_honest(first, later, "4096");
            return on_fresh_data(r["less"]) && r["less"].time->median > 0.7 * r["honest"].time->min;
        });
        BOOST_TEST(seen, first << " trips at first, " << later << " later");
    }
}

BOOST_AUTO_TEST_CASE(operations_continue_in_place_if_time_is_independent_of_data) {
    if (is_simulated()) return;
    // A busy host may hide that two times are the same.
    BOOST_TEST(test::borne_out([] { return !on_fresh_data(beside_honest(20, 20, "4096")["less"]); }));
}

BOOST_AUTO_TEST_CASE(fresh_data_is_used_in_any_cache_state) {
    if (is_simulated()) return;
    for (const auto cache : {run::Cache::cold, run::Cache::rotate}) {
        run::Settings settings;
        settings.cache = cache;
        settings.limits[test::session().facts().selector].last_level_bytes = 3 << 18;
        auto r = beside_honest(400, 4, "65536", settings);
        BOOST_TEST(on_fresh_data(r["less"]), run::name(cache));
        BOOST_TEST(r["less"].time->median > 0.5 * r["honest"].time->min, run::name(cache));
        BOOST_TEST((cache == run::Cache::rotate) == (r["less"].time->sets > 1), run::name(cache));
    }
}

BOOST_AUTO_TEST_CASE(second_launch_of_an_operation_sees_the_result_of_the_first) {
    if (is_simulated()) return;
    BOOST_TEST(test::borne_out([] {  // a busy host may take as long for half of the work
        auto r = beside_honest(5000, 10, "4096", {}, true);
        BOOST_TEST(on_fresh_data(r["less"]));
        BOOST_TEST(r["less"].time->median > 0.3 * r["honest"].time->min);
        return r["less"].time->min < 0.8 * r["honest"].time->median;
    }));
}

BOOST_AUTO_TEST_CASE(all_cells_of_a_comparison_start_with_the_same_data) {
    if (is_simulated()) return;
    const auto r = run_scratch(processes("less", 5000, 10) + processes("honest", 5000, 5000),
                               {{"less", ""}, {"honest", ""}}, {}, nullptr, "4096", in_place);
    BOOST_REQUIRE_EQUAL(r.size(), 2u);
    for (const auto& record : r) BOOST_TEST(on_fresh_data(record), record.variant);
}

BOOST_AUTO_TEST_CASE(replicate_with_shared_memory_uses_fresh_data_per_operation) {
    if (is_simulated()) return;
    run::Settings settings;
    settings.arrangement = true;
    settings.fresh_data = true;
    auto r = beside_honest(5000, 10, "4096", settings);
    BOOST_TEST((r["less"].time->shared_memory != r["honest"].time->shared_memory));
    BOOST_TEST(r["less"].time->median > 0.5 * r["honest"].time->min);
}

BOOST_AUTO_TEST_CASE(idempotent_sort_in_place_is_timed_on_fresh_data) {
    if (is_simulated()) return;
    // Any number of operations leave the same, so it accumulates nothing.
    const auto idempotent = [](const model::Variant& variant, model::Setup& setup) {
        in_place(variant, setup);
        setup.accumulates = false;
    };
    const auto r = run_scratch(processes("less", 5000, 10), {{"less", ""}}, {}, nullptr, "4096", idempotent).front();
    BOOST_TEST((r.status == Status::ok), r.reason);
    BOOST_TEST(on_fresh_data(r));
}

BOOST_AUTO_TEST_CASE(free_step_gets_the_same_warnings_as_any_row) {
    if (is_simulated()) return;
    const auto free_step = [](const model::Variant&, model::Setup& setup) {
        setup.slope = model::Slope{"n", 1, 1000, 1, true};
    };
    run::Settings settings;
    settings.warm_seconds = 1e-9;  // nothing settles in so short a time
    bool seen = false;  // the first warning, which others' work can hide; the second is asked for where that one stands
    for (int attempt = 0; attempt < 8 && !seen; ++attempt) {
        device::Session own_session(test::found());
        const auto r = run_scratch(
                           "kernel void scratch_right(global const uint* src, global uint* dst, int n) { int i = "
                           "get_global_id(0); dst[i] = 2 * src[i] + 1; }\n",
                           {{"right", ""}}, settings, nullptr, "1000", free_step, &own_session)
                           .front();
        BOOST_REQUIRE_MESSAGE((r.status == Status::ok), r.reason);
        if (!model::warns(r, model::Warning::no_cost)) continue;
        seen = true;
        BOOST_TEST(model::warns(r, model::Warning::not_settled));
    }
    BOOST_TEST(seen);
}

BOOST_AUTO_TEST_SUITE_END()
