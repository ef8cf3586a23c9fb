// Kernels changed for the test of a claim: half of their work-items, arithmetic that they do not need, and local memory
// that they do not use.
#include <boost/test/unit_test.hpp>

#include "explain/changed_cell.hpp"
#include "explain/kernel_text.hpp"
#include "model/work.hpp"
#include "run/kernel_source.hpp"
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

/// The cell as a test of a claim has it; it refers to `cell`, `device` and `kept`.
explain::Unchanged unchanged(const model::Cell& cell, const model::Device& device, const model::Record& kept) {
    auto setup = setup_of(cell, device);
    auto built = run::build_text(cell, setup, device, {}, {});
    return {cell, kept, device, std::move(setup), {std::move(built.text), std::move(built.options)}};
}

std::variant<explain::HalfItems, std::string> halved(const model::Cell& cell, const model::Device& device) {
    const auto kept = record(1e-3, model::work_of(setup_of(cell, device)));
    return explain::half_of_items(unchanged(cell, device, kept));
}

/// Why there is none; empty where there is.
template <typename Found>
std::string why(const std::variant<Found, std::string>& found) {
    return std::holds_alternative<std::string>(found) ? std::get<std::string>(found) : "";
}

std::string with(const std::string& text) {
    return explain::with_parameters(text, {"k", "KERNEL"}, "int m", "").value_or("none");
}

/// A cell of which a unit of sm_90 holds 64 waves: 8 groups of 256 work-items.
model::Record resident() {
    auto out = record(1.05e-3, {.flops = 100e6, .type = "float", .launches = 1, .groups = 1e6, .group = 256});
    out.code.registers = 32;
    return out;
}

model::Device hopper() {
    auto out = test::probe_gpu();
    out.compute_capability = 90;
    out.compute_units = 132;
    out.local_bytes = 48 << 10;
    return out;
}

/// A plan for a cell with this record whose arguments ask for so many bytes of local memory.
std::variant<explain::Residency, std::string> planned(const model::Record& r, const model::Device& device,
                                                      std::size_t arguments = 0) {
    const model::Cell cell;
    model::Setup setup;
    if (arguments > 0) setup.args.push_back(model::Local{"own", arguments});
    return explain::plan_ballast({cell, r, device, setup, {}});
}

}  // namespace

BOOST_AUTO_TEST_CASE(statements_come_in_front_of_the_kernels_own_and_parameters_behind) {
    BOOST_TEST(explain::with_parameters("kernel void k(int n)\n{\n  f(n);\n}", {"k"}, "int m", " g(m);").value_or("") ==
               "kernel void k(int n, int m)\n{ g(m);\n  f(n);\n}");
    BOOST_TEST(!explain::with_parameters("kernel void k(int n);", {"k"}, "int m",
                                         " g(m);"));  // a declaration has no statements
}

BOOST_AUTO_TEST_CASE(what_a_text_asks_for_is_seen_where_it_may_be_compiled) {
    const std::string text = "#ifdef A\nx = get_global_size(0);\n#endif\ny = 1;\n";
    const auto asks = [&](const std::string& t, const std::string& options) {
        return explain::asks_for(t, options, {"get_global_size"});
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
    BOOST_TEST_REQUIRE(std::holds_alternative<explain::HalfItems>(found), why(found));
    const auto& half = std::get<explain::HalfItems>(found);
    BOOST_TEST(half.before == 1 << 18);
    BOOST_TEST(half.after == 1 << 17);
    const auto before = setup_of(cell, gpu), after = setup_of(half.changed.cell, gpu);
    BOOST_TEST(after.global.count() * 2 == before.global.count());
    BOOST_TEST(after.args.size() == before.args.size());
    BOOST_TEST(!half.changed.cell.stored);
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
    const auto kept = record(1e-3, {});
    const auto changed = explain::with_arithmetic(unchanged(cell, gpu, kept), 16);
    BOOST_TEST_REQUIRE(changed.has_value());
    const auto after = setup_of(changed->cell, gpu);
    BOOST_TEST(after.args.size() == setup.args.size() + 3);
    BOOST_TEST(after.declared.size() == setup.declared.size() + 1);
    BOOST_TEST(after.declared.back().count == 16);
    BOOST_TEST_REQUIRE(changed->cell.stored);
    const auto& text = changed->cell.stored->text;
    std::size_t fmas = 0;
    for (auto at = text.find(" = fma(cllab_"); at != std::string::npos; at = text.find(" = fma(cllab_", at + 1)) ++fmas;
    BOOST_TEST(fmas % 16 == 0u);  // 16 in each kernel of the text
    BOOST_TEST(fmas > 0u);
    BOOST_TEST(changed->cell.stored->text.find("cllab_never) cllab_sink[get_global_id(0)]") != std::string::npos);
    BOOST_TEST(changed->cell.stored->text.find("__global float* cllab_sink, float cllab_factor, float cllab_never)") !=
               std::string::npos);
    const auto slope = cell_of("fma_peak", {{"type", "float"}, {"width", "4"}});
    BOOST_TEST(!explain::with_arithmetic(unchanged(slope, gpu, kept), 16));
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

BOOST_AUTO_TEST_CASE(a_kernel_gets_a_parameter_behind_its_own_and_nothing_else_does) {
    BOOST_TEST(with("kernel void k(global int* x) { x[0] = f(1); }") ==
               "kernel void k(global int* x, int m) { x[0] = f(1); }");
    BOOST_TEST(with("__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\nvoid k (\n    __global int* x\n) {}") ==
               "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\nvoid k (\n    __global int* x\n, int m) {}");
    BOOST_TEST(with("kernel void KERNEL(int n) {}\n#if 1\nkernel void k(int n) {}\n#endif") ==
               "kernel void KERNEL(int n, int m) {}\n#if 1\nkernel void k(int n, int m) {}\n#endif");
    BOOST_TEST(with("kernel void k() {}") == "kernel void k(int m) {}");
    BOOST_TEST(with("kernel void k(void) {}") == "kernel void k(int m) {}");
    BOOST_TEST(with("kernel void k(global void* p) {}") == "kernel void k(global void* p, int m) {}");
    // Calls, other kernels, functions and what a comment says are left alone.
    BOOST_TEST(with("// kernel void k(int n)\nint k2(int n) { return k(n); }\nkernel void kk(int n) {}\nint my_k(int "
                    "a) { return a; }") == "none");
}

BOOST_AUTO_TEST_CASE(the_kernel_of_every_family_takes_one) {
    for (const auto* id : {"pitch_wide", "bandwidth_copy", "fma_peak", "atomic_local", "saxpy_w128", "gemm_tile8",
                           "himeno_wide", "reduce_onepass", "banks_rate"}) {
        const std::string name = id, family = name.substr(0, name.find('_'));
        const auto text = explain::with_parameters(std::string(model::embedded_kernel(family)), {name, "KERNEL"},
                                                   "__local uint* ballast", "");
        BOOST_TEST_REQUIRE(text.has_value(), id);
        BOOST_TEST(text->find("__local uint* ballast)") != std::string::npos, id);
    }
}

BOOST_AUTO_TEST_CASE(the_least_ballast_is_taken_that_leaves_a_unit_three_quarters_of_its_waves) {
    const auto plan = planned(resident(), hopper());
    BOOST_REQUIRE(std::holds_alternative<explain::Residency>(plan));
    const auto& found = std::get<explain::Residency>(plan);
    BOOST_TEST(found.before == 64u);
    BOOST_TEST(found.after == 48u);
    // 228 KiB of a unit and 1 KiB that the system takes of each group: 33 KiB for six groups, 32 for seven.
    BOOST_TEST(found.bytes == 32u << 10);
    BOOST_TEST(std::get<explain::Residency>(planned(resident(), hopper(), 16 << 10)).bytes ==
               16u << 10);  // the kernel's own count
}

BOOST_AUTO_TEST_CASE(where_there_is_no_ballast_the_reason_is_told) {
    BOOST_TEST(why(planned(resident(), test::probe_cpu())) == "a CPU runs one group a core at a time");
    auto r = resident();
    r.work.groups = 300;
    BOOST_TEST(why(planned(r, hopper())).find("are resident at once") != std::string::npos);
    r = resident();
    r.code.registers.reset();
    BOOST_TEST(why(planned(r, hopper())).find("the compiler reports registers") != std::string::npos);
    r = resident();
    r.work.group = 0;
    BOOST_TEST(why(planned(r, hopper())).find("the driver chooses its groups") != std::string::npos);
    r = resident();
    r.work.group = 1024;
    r.code.registers = 64;  // one group is all that a unit holds
    BOOST_TEST(why(planned(r, hopper())).find("more than three quarters of its 32 waves") != std::string::npos);
    BOOST_TEST(why(planned(resident(), test::probe_gpu())) != "");
}

BOOST_AUTO_TEST_CASE(the_cell_with_a_ballast_has_one_argument_more_and_text_of_its_own) {
    const auto device = hopper();
    const auto cell = cell_of("bandwidth_copy", {{"size", "65536"}});
    const auto kept = resident();
    const auto of = unchanged(cell, device, kept);
    const auto made = explain::with_ballast(of, 4096);
    BOOST_TEST_REQUIRE(made.has_value());
    BOOST_TEST(made->cell.stored->text.find("cllab_ballast") != std::string::npos);
    BOOST_TEST(made->cell.stored->options.find("-DKERNEL=bandwidth_copy") != std::string::npos);
    const auto changed = setup_of(made->cell, device);
    BOOST_TEST_REQUIRE(changed.args.size() == of.setup.args.size() + 1);
    const auto* local = std::get_if<model::Local>(&changed.args.back());
    BOOST_TEST_REQUIRE(local);
    BOOST_TEST(local->size_bytes == 4096u);
    BOOST_TEST(!explain::with_ballast(of, 49 << 10));
}

BOOST_AUTO_TEST_CASE(a_limiter_that_is_no_waiting_is_as_busy_with_fewer_waves) {
    const auto r = resident();  // arithmetic is 95 % of it
    const auto claim = explain::explain(r, profile());
    BOOST_TEST_REQUIRE(claim.limiter());
    const auto fewer = explain::predict_fewer(r, claim, 0.75);
    BOOST_TEST_REQUIRE(fewer.has_value());
    BOOST_TEST(fewer->low == 0.9 / 1.05, is_close);
    BOOST_TEST(fewer->high == 1.1 * (1 + 0.05 / 0.75) / 1.05, is_close);
    BOOST_TEST(!explain::predict_fewer(r, claim, 0.9));  // who waits takes hardly longer
    BOOST_TEST(!explain::predict_fewer(r, claim, 1));
    const auto waiting = record(100e-9, {.chain = "load", .footprint = 100 * MiB});
    const auto latency = explain::explain(waiting, profile());
    BOOST_TEST_REQUIRE(latency.limiter());
    BOOST_TEST(!explain::predict_fewer(waiting, latency, 0.5));
    BOOST_TEST(!explain::predict_fewer(record(1, r.work), explain::explain(record(1, r.work), profile()), 0.5));
}

BOOST_AUTO_TEST_SUITE_END()
