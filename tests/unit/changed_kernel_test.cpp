// Kernels changed for the test of a claim: half of their work-items, and arithmetic that they do not need.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>

#include "app/claims/extra_arithmetic.hpp"
#include "app/claims/half_items.hpp"
#include "app/claims/kernel_text.hpp"
#include "model/work.hpp"
#include "unit/probe_setup.hpp"
#include "unit/why_cells.hpp"

BOOST_AUTO_TEST_SUITE(changed_kernel)

using namespace cllab;
using namespace test::why;

namespace {

/// A cell of a family as a plan has it, at this point.
model::Cell cell_of(const std::string& id, const model::Settings& axes) {
    return model::make_plan(model::select(model::registry(), {id}), axes).front().front();
}

model::Setup setup_of(const model::Cell& cell, const model::Device& device) {
    return model::set_up(*cell.experiment, {*cell.variant, cell.point, device, 1, {}, 1});
}

std::variant<app::HalfItems, std::string> halved(const model::Cell& cell, const model::Device& device,
                                                 model::WorkInfo work = {}) {
    const auto setup = setup_of(cell, device);
    if (work.bytes == 0) work = model::work_of(setup);
    return app::half_of_items(cell, setup, record(1e-3, work), {}, device);
}

std::string why(const std::variant<app::HalfItems, std::string>& found) {
    return std::holds_alternative<std::string>(found) ? std::get<std::string>(found) : "";
}

}  // namespace

BOOST_AUTO_TEST_CASE(statements_come_in_front_of_the_kernels_own_and_parameters_behind) {
    BOOST_TEST(app::with_parameters("kernel void k(int n)\n{\n  f(n);\n}", {"k"}, "int m", " g(m);").value_or("") ==
               "kernel void k(int n, int m)\n{ g(m);\n  f(n);\n}");
    BOOST_TEST(
        !app::with_parameters("kernel void k(int n);", {"k"}, "int m", " g(m);"));  // a declaration has no statements
    const auto text = app::arithmetic_statements(8);
    std::size_t fmas = 0;
    for (auto at = text.find("= fma("); at != std::string::npos; at = text.find("= fma(", at + 1)) ++fmas;
    BOOST_TEST(fmas == 8u);
}

BOOST_AUTO_TEST_CASE(what_a_text_asks_for_is_seen_where_it_may_be_compiled) {
    const std::string text = "#ifdef A\nx = get_global_size(0);\n#endif\ny = 1;\n";
    const auto asks = [&](const std::string& t, const std::string& options) {
        return app::asks_for(t, options, {"get_global_size"});
    };
    BOOST_TEST(asks(text, "-DA"));
    BOOST_TEST(asks(text, "-DA=1 -DB"));
    BOOST_TEST(!asks(text, "-DB"));
    BOOST_TEST(!asks(text, "-DAB"));
    BOOST_TEST(asks("#define A\n" + text, ""));                              // the text says it itself
    BOOST_TEST(asks("#ifdef A\n#else\nget_global_size(0)\n#endif", "-DA"));  // conditions are not followed further
    BOOST_TEST(asks("#if N > 1\nget_global_size(0)\n#endif", ""));
    BOOST_TEST(asks("#ifdef cl_khr_fp64\nget_global_size(0)\n#endif", ""));
    BOOST_TEST(!asks("my_get_global_size(0)", ""));
    const auto under = [&](const std::string& condition, const std::string& options) {
        return asks("#if " + condition + "\nget_global_size(0)\n#endif", options);
    };
    BOOST_TEST(under("defined(A) || defined(B)", "-DB"));
    BOOST_TEST(!under("defined(A) || defined(B)", "-DC"));
    BOOST_TEST(!under("defined(A) && defined(B)", "-DB"));
    BOOST_TEST(under("defined(A) && !defined(B)", "-DA"));
    BOOST_TEST(!under("defined(A) && !defined(B)", "-DA -DB"));
    BOOST_TEST(under("defined(A) || (defined(B) && !defined(C))", "-DB"));
    BOOST_TEST(!under("defined(A) || (defined(B) && !defined(C))", "-DB -DC"));
    BOOST_TEST(under("!(defined(A) && defined(B))", ""));
    BOOST_TEST(under("defined(A) && N > 1", "-DA"));
    BOOST_TEST(!under("defined(A) && N > 1", "-DB"));
}

BOOST_AUTO_TEST_CASE(half_of_the_work_items_do_half_of_the_work_and_have_the_kernels_text) {
    const auto gpu = test::probe_gpu();
    const auto cell = cell_of("pitch_implicit", {{"width", "512"}, {"height", "512"}});
    const auto found = halved(cell, gpu);
    BOOST_TEST_REQUIRE(std::holds_alternative<app::HalfItems>(found), why(found));
    const auto& half = std::get<app::HalfItems>(found);
    BOOST_TEST(half.before == 1 << 18);
    BOOST_TEST(half.after == 1 << 17);
    const auto before = setup_of(cell, gpu), after = setup_of(half.cell, gpu);
    BOOST_TEST(after.global.count() * 2 == before.global.count());
    BOOST_TEST(after.args.size() == before.args.size());
    BOOST_TEST(!half.cell.stored);
    const auto work = model::work_of(before);
    BOOST_TEST(half.work.bytes * 2 == work.bytes);
    BOOST_TEST(half.work.flops * 2 == work.flops);
    BOOST_TEST(half.work.groups * 2 == work.groups);
    BOOST_TEST(half.work.group == work.group);
    BOOST_TEST(!after.check({}));  // what is not written is no fault of it
}

BOOST_AUTO_TEST_CASE(where_half_of_the_work_items_do_not_do_half_of_the_work_the_reason_is_told) {
    const auto gpu = test::probe_gpu();
    BOOST_TEST(
        why(halved(cell_of("pitch_implicit", {{"width", "128"}, {"height", "64"}}), gpu)).find("leave units idle") !=
        std::string::npos);
    BOOST_TEST(why(halved(cell_of("muladd_fma", {{"items", "65536"}}), gpu)) == "the groups are the driver's choice");
    BOOST_TEST(why(halved(cell_of("access_groups", {}), gpu)).find("asks how many work-items there are") !=
               std::string::npos);
    BOOST_TEST(why(halved(cell_of("fma_peak", {{"type", "float"}, {"width", "4"}}), gpu)).find("per step") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(more_arithmetic_is_declared_so_that_a_compiler_that_removes_it_is_seen) {
    const auto gpu = test::probe_gpu();
    const auto cell = cell_of("muladd_fma", {{"items", "65536"}});
    const auto setup = setup_of(cell, gpu);
    const auto changed = app::with_arithmetic(cell, setup, {}, gpu, 16);
    BOOST_TEST_REQUIRE(changed.has_value());
    const auto after = setup_of(changed->cell, gpu);
    BOOST_TEST(after.args.size() == setup.args.size() + 3);
    BOOST_TEST(after.declared.size() == setup.declared.size() + 1);
    BOOST_TEST(after.declared.back().count == 16);
    BOOST_TEST_REQUIRE(changed->cell.stored);
    BOOST_TEST(changed->cell.stored->text.find("cllab_never) cllab_sink[get_global_id(0)]") != std::string::npos);
    BOOST_TEST(changed->cell.stored->text.find("__global float* cllab_sink, float cllab_factor, float cllab_never)") !=
               std::string::npos);
    const auto slope = cell_of("fma_peak", {{"type", "float"}, {"width", "4"}});
    BOOST_TEST(!app::with_arithmetic(slope, setup_of(slope, gpu), {}, gpu, 16));
}

BOOST_AUTO_TEST_CASE(arithmetic_that_limits_takes_as_much_longer_and_memory_leaves_room) {
    const auto predicted = [](const model::Record& r, double seconds) {
        return explain::predict_more_arithmetic(r, explain::explain(r, profile()), seconds);
    };
    const auto arithmetic = record(1.05e-3, {.flops = 100e6, .type = "float", .launches = 1});
    const auto longer = predicted(arithmetic, 0.5e-3);
    BOOST_TEST_REQUIRE(longer.has_value());
    BOOST_TEST(longer->low == 0.9 * 1.5 / 1.05, is_close);
    BOOST_TEST(longer->high == 1.1 * 1.55 / 1.05, is_close);
    BOOST_TEST(!predicted(arithmetic, 0.1e-3));  // any limiter may leave room for so little
    auto in_double = arithmetic;
    in_double.work.type = "double";
    in_double.work.flops = 50e6;
    BOOST_TEST(!predicted(in_double, 0.5e-3));  // its units may not be those of float
    const auto memory = record(10.6e-3, copying());
    const auto room = predicted(memory, 4e-3);
    BOOST_TEST_REQUIRE(room.has_value());
    BOOST_TEST(room->low == 0.9, is_close);
    BOOST_TEST(room->high == 1.15, is_close);
    BOOST_TEST(!predicted(memory, 8e-3));  // too much to be done meanwhile
    BOOST_TEST(!predicted(memory, 1e-3));
    auto busy = memory;
    busy.work.flops = 500e6;  // 5 ms of its own
    BOOST_TEST(!predicted(busy, 4e-3));
    BOOST_TEST(!predicted(record(2.1e-6, {.chain = "load", .footprint = 16 * KiB, .links = 1000}),
                          1e-6));  // they stand in front of what waits
    BOOST_TEST(!predicted(record(1.05e-6, {.launches = 1}), 0.4e-6));
    BOOST_TEST(explain::arithmetic_of(memory, 100e6, profile())->seconds == 2e-3, is_close);
}

BOOST_AUTO_TEST_CASE(of_half_of_the_work_what_limits_takes_half_as_long_and_a_launch_as_long) {
    const auto predicted = [](const model::Record& r, double part) {
        auto work = r.work;
        for (double* amount : {&work.bytes, &work.flops}) *amount *= part;
        if (work.read) *work.read *= part;
        return explain::predict(r, explain::explain(r, profile()), work, profile());
    };
    const auto half = predicted(record(1.05e-3, {.flops = 100e6, .type = "float", .launches = 1}), 0.5);
    BOOST_TEST_REQUIRE(half.has_value());
    BOOST_TEST(half->high < 0.7);
    const auto launch = predicted(record(1.05e-6, {.bytes = 64, .read = 64, .footprint = 64, .launches = 1}), 0.5);
    BOOST_TEST_REQUIRE(launch.has_value());
    BOOST_TEST(launch->low > 0.8);
    BOOST_TEST(launch->high > 1);
    // Of nothing that is known to be less no time can stay.
    BOOST_TEST(!predicted(record(1.05e-6, {.launches = 1}), 0.5));
}

BOOST_AUTO_TEST_SUITE_END()
