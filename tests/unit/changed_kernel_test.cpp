// A kernel changed for the test of a claim: half of its work-items.
#include <boost/test/unit_test.hpp>

#include "explain/claim/claim.hpp"
#include "model/work.hpp"
#include "run/kernel_source.hpp"
#include "unit/probe.hpp"
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
    auto built = run::build_text(cell, setup, device, {});
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

}  // namespace

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
