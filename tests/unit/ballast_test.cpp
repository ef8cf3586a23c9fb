// The kernel with local memory that it does not use: how it is written, how much it takes, and what that predicts.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include "app/claims/ballast.hpp"

#include <boost/test/unit_test.hpp>

#include "explain/claim.hpp"
#include "unit/probe_setup.hpp"
#include "unit/why_cells.hpp"

BOOST_AUTO_TEST_SUITE(ballast)

using namespace cllab;
using namespace test::why;

namespace {

std::string with(const std::string& text, const std::string& name = "k") {
    return app::with_parameters(text, {name, "KERNEL"}, app::ballast_parameter(), "").value_or("none");
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

std::string why(const model::Record& r, const model::Device& device, std::size_t arguments = 0) {
    const auto plan = app::plan_ballast(r, device, arguments);
    return std::holds_alternative<std::string>(plan) ? std::get<std::string>(plan) : "";
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_kernel_gets_a_parameter_behind_its_own_and_nothing_else_does) {
    BOOST_TEST(with("kernel void k(global int* x) { x[0] = f(1); }") ==
               "kernel void k(global int* x, __local uint* cllab_ballast) { x[0] = f(1); }");
    BOOST_TEST(with("__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\nvoid k (\n    __global int* x\n) {}") ==
               "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\nvoid k (\n    __global int* x\n, __local "
               "uint* cllab_ballast) {}");
    BOOST_TEST(with("kernel void KERNEL(int n) {}\n#if 1\nkernel void k(int n) {}\n#endif") ==
               "kernel void KERNEL(int n, __local uint* cllab_ballast) {}\n#if 1\nkernel void k(int n, __local uint* "
               "cllab_ballast) {}\n#endif");
    BOOST_TEST(with("kernel void k() {}") == "kernel void k(__local uint* cllab_ballast) {}");
    BOOST_TEST(with("kernel void k(void) {}") == "kernel void k(__local uint* cllab_ballast) {}");
    BOOST_TEST(with("kernel void k(global void* p) {}") ==
               "kernel void k(global void* p, __local uint* cllab_ballast) {}");
    // Calls, other kernels, functions and what a comment says are left alone.
    BOOST_TEST(with("// kernel void k(int n)\nint k2(int n) { return k(n); }\nkernel void kk(int n) {}\nint my_k(int "
                    "a) { return a; }") == "none");
}

BOOST_AUTO_TEST_CASE(the_kernel_of_every_family_takes_one) {
    for (const auto* id : {"pitch_wide", "bandwidth_copy", "fma_peak", "atomic_local", "saxpy_w128", "gemm_tile8",
                           "himeno_wide", "reduce_onepass", "banks_rate"}) {
        const std::string name = id, family = name.substr(0, name.find('_'));
        const auto text = app::with_parameters(std::string(model::embedded_kernel(family)), {name, "KERNEL"},
                                               app::ballast_parameter(), "");
        BOOST_TEST_REQUIRE(text.has_value(), id);
        BOOST_TEST(text->find("__local uint* cllab_ballast)") != std::string::npos, id);
    }
}

BOOST_AUTO_TEST_CASE(the_least_ballast_is_taken_that_leaves_a_unit_three_quarters_of_its_waves) {
    const auto plan = app::plan_ballast(resident(), hopper(), 0);
    BOOST_REQUIRE(std::holds_alternative<app::Residency>(plan));
    const auto& found = std::get<app::Residency>(plan);
    BOOST_TEST(found.before == 64u);
    BOOST_TEST(found.after == 48u);
    // 228 KiB of a unit and 1 KiB that the system takes of each group: 33 KiB for six groups, 32 for seven.
    BOOST_TEST(found.bytes == 32u << 10);
    BOOST_TEST(std::get<app::Residency>(app::plan_ballast(resident(), hopper(), 16 << 10)).bytes ==
               16u << 10);  // the kernel's own count
}

BOOST_AUTO_TEST_CASE(where_there_is_no_ballast_the_reason_is_told) {
    BOOST_TEST(why(resident(), test::probe_cpu()) == "a CPU runs one group a core at a time");
    auto r = resident();
    r.work.groups = 300;
    BOOST_TEST(why(r, hopper()).find("are resident at once") != std::string::npos);
    r = resident();
    r.code.registers.reset();
    BOOST_TEST(why(r, hopper()).find("the compiler reports registers") != std::string::npos);
    r = resident();
    r.work.group = 0;
    BOOST_TEST(why(r, hopper()).find("the driver chooses its groups") != std::string::npos);
    r = resident();
    r.work.group = 1024;
    r.code.registers = 64;  // one group is all that a unit holds
    BOOST_TEST(why(r, hopper()).find("still holds at least 32 waves") != std::string::npos);
    BOOST_TEST(why(resident(), test::probe_gpu()) != "");
}

BOOST_AUTO_TEST_CASE(the_cell_with_a_ballast_has_one_argument_more_and_text_of_its_own) {
    const auto setup = test::set_up_cell("bandwidth_copy", {{"size", "65536"}}, hopper());
    const auto& experiment = test::family("bandwidth");
    const auto variant = std::find_if(experiment.variants.begin(), experiment.variants.end(),
                                      [](const auto& v) { return v.name == "copy"; });
    model::Cell cell{&experiment, &*variant, "bandwidth_copy", setup.point, ""};
    const auto made = app::with_ballast(cell, setup, {}, hopper(), 4096);
    BOOST_TEST_REQUIRE(made.has_value());
    BOOST_TEST(made->cell.stored->text.find("cllab_ballast") != std::string::npos);
    BOOST_TEST(made->cell.stored->options.find("-DKERNEL=bandwidth_copy") != std::string::npos);
    const auto changed =
        model::set_up(*made->cell.experiment, {*made->cell.variant, made->cell.point, hopper(), 1, {}, 1});
    BOOST_TEST_REQUIRE(changed.args.size() == setup.args.size() + 1);
    const auto* local = std::get_if<model::Local>(&changed.args.back());
    BOOST_TEST_REQUIRE(local);
    BOOST_TEST(local->size_bytes == 4096u);
    BOOST_TEST(app::local_arguments(changed) == 4096u);
    BOOST_TEST(!app::with_ballast(cell, setup, {}, hopper(), 49 << 10));
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
