#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "bench.hpp"

using namespace cllab;
using cllab::test::run_scratch;
using model::Status;

BOOST_AUTO_TEST_SUITE(collapsed)

namespace {
/// n steps x -> x * x + i from src[i]; `step` is the statement that does one.
std::string stepped(const std::string& name, const std::string& step) {
    return "kernel void scratch_" + name +
           "(global const uint* src, global uint* dst, int n) { int i = get_global_id(0); "
           "uint x = src[i]; for (int k = 0; k < n; ++k) { " +
           step + " } dst[i] = x; }\n";
}

/// A slope over n of one declared multiplication a trip. What each variant computes is known here, not checked against
/// the statement.
void multiplies(const model::Variant& variant, model::Setup& setup) {
    const auto src = std::get<model::Input>(setup.args[0]).data;
    setup.slope = model::Slope{"n", 2, 32, 1};
    if (variant.name != "bent") setup.declared = {{model::Declared::What::integer_multiply, 1}};
    setup.check = [src, name = variant.name](const model::Buffers& buffers) -> std::optional<std::string> {
        const auto dst = buffers.as<std::uint32_t>("dst");
        for (std::size_t i = 0; i < dst.size(); ++i) {
            std::uint32_t x = 0;
            std::memcpy(&x, src->data() + 4 * i, 4);
            for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(buffers.trips); ++k) {
                if (name == "folded") x += 7 * k;
                if (name == "chained") x = x * x + 1;
                for (std::uint32_t m = 0; name == "bent" && k >= 20 && m < 900; ++m) x = x * x + 1;
            }
            if (dst[i] != x) return "dst[" + std::to_string(i) + "] differs";
        }
        return std::nullopt;
    };
}
}  // namespace

// Without optimisation it stays a loop.
BOOST_AUTO_TEST_CASE(folded_loop_is_collapsed_although_its_result_is_right, *test::only_optimised()) {
    for (const bool dumps : {true, false}) {
        for (const bool measure : {true, false}) {
            test::Folder folder("dumps");
            run::Settings settings;
            settings.measure = measure;
            if (dumps) settings.dumps = folder.path / "dumps";
            const auto r = run_scratch(stepped("folded", "x += 7u * (uint)k;"), {{"folded", ""}}, settings, nullptr,
                                       "1000", multiplies)
                               .front();
            BOOST_TEST((r.status == Status::wrong_result));
            BOOST_TEST(r.reason.starts_with("collapsed: integer multiplications found 0 of the 1 declared ("),
                       r.reason);
            BOOST_TEST(!r.time.has_value());
        }
    }
}

BOOST_AUTO_TEST_CASE(working_loop_is_ok_without_a_linearity_check) {
    const auto r =
        run_scratch(stepped("chained", "x = x * x + 1u;"), {{"chained", ""}}, {}, nullptr, "1000", multiplies).front();
    BOOST_TEST((r.status == Status::ok), r.reason);
    for (const auto& warning : r.warnings) BOOST_TEST(!warning.starts_with("not-linear"), warning);
}

// Half of the trips cost nothing, so the middle lies as far below the line as it can. The warning needs seven rounds of
// which none was disturbed by as much: on a loaded machine not every attempt has them. No luck gives it to a program that
// is wrong: a time that lies on its line would have to lie so far off it in each of seven rounds.
BOOST_AUTO_TEST_CASE(nonlinear_time_without_counted_code_is_a_warning) {
    bool warned = false;
    for (int attempt = 0; attempt < 10 && !warned; ++attempt) {
        const auto r = run_scratch(stepped("bent", "for (int m = 0; k >= 20 && m < 900; ++m) x = x * x + 1u;"),
                                   {{"bent", ""}}, {}, nullptr, "1000", multiplies)
                           .front();
        BOOST_TEST_REQUIRE((r.status == Status::ok), r.reason);
        warned = std::any_of(r.warnings.begin(), r.warnings.end(),
                             [](const auto& w) { return w.starts_with("not-linear:"); });
    }
    BOOST_TEST(warned);
}

BOOST_AUTO_TEST_SUITE_END()
