// Tolerances, the axis of build options, and the names of the parts of operations.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "experiments/lib/setups.hpp"
#include "model/plan.hpp"
#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(tolerance)

using namespace cllab;
using namespace cllab::model;

BOOST_AUTO_TEST_CASE(neighbours_are_one_ulp_apart_on_either_side_of_zero) {
    constexpr float least = std::numeric_limits<float>::denorm_min();
    BOOST_TEST(ulps_between(1.0f, std::nextafter(1.0f, 2.0f)) == 1.0);
    BOOST_TEST(ulps_between(-least, least) == 2.0);
    BOOST_TEST(ulps_between(0.0f, -0.0f) == 0.0);
    BOOST_TEST(ulps_between(2.0, std::nextafter(2.0, 1.0)) == 1.0);
}

BOOST_AUTO_TEST_CASE(any_of_three_tolerances_suffices_and_maxima_are_kept) {
    Errors errors({0.5, 0, 2});
    BOOST_TEST(errors.tolerates(10.25f, 10.0f));
    BOOST_TEST(errors.tolerates(1e6f + 0.125f, 1e6f));
    BOOST_TEST(!errors.tolerates(11.0f, 10.0f));
    BOOST_TEST(!errors.tolerates(std::numeric_limits<float>::quiet_NaN(), 1.0f));
    BOOST_TEST(!errors.tolerates(std::numeric_limits<float>::infinity(), 1.0f));
    BOOST_TEST(errors.absolute() == 1.0);
    BOOST_TEST(errors.relative() == 0.1);
    Errors pixels({1, 0, 0});
    BOOST_TEST(pixels.tolerates(std::uint8_t{4}, std::uint8_t{5}));
    BOOST_TEST(!pixels.tolerates(std::uint8_t{3}, std::uint8_t{5}));
    BOOST_TEST(!pixels.of_floating_point());
    pixels.merge(errors);
    BOOST_TEST(pixels.absolute() == 2.0);
    BOOST_TEST(pixels.ulp() == errors.ulp());
}

BOOST_AUTO_TEST_CASE(parallel_check_finds_the_one_value_beyond_tolerance) {
    std::vector<float> found(1 << 20, 1.0f);
    found[77] = 1.5f;
    found[900'000] = 3.0f;
    Buffers buffers;
    buffers.data["out"] = std::as_bytes(std::span(found));
    const auto first = [&] {
        return lib::first_difference<float>(buffers, "out", [](std::size_t) { return 1.0f; }).value_or("");
    };
    BOOST_TEST(first() == "out[77] is 1.5, expected 1");
    Errors errors({1, 0, 0});
    buffers.errors = &errors;
    BOOST_TEST(first() == "out[900000] is 3, expected 1");
    found[900'000] = 1.0f;
    BOOST_TEST(first() == "");
    BOOST_TEST(errors.absolute() == 0.5);
}

BOOST_AUTO_TEST_CASE(every_family_has_build_options_as_its_last_axis) {
    const auto& family = test::family("muladd");
    const auto axes = axes_of(family, family.variants.front(), {{"options", ",-cl-mad-enable -cl-opt-disable"}});
    BOOST_TEST(axes.back().values == (std::vector<std::string>{"none", "-cl-mad-enable -cl-opt-disable"}),
               boost::test_tools::per_element());
    BOOST_TEST(axes_of(family, family.variants.front()).size() + 1 == axes.size());
    const auto setup = test::set_up("muladd_fma", test::probe_gpu(), {{"options", "-cl-mad-enable"}});
    BOOST_TEST(setup.defines.back() == "-cl-mad-enable");
    BOOST_TEST(setup.point.text("options") == "-cl-mad-enable");
}

BOOST_AUTO_TEST_CASE(axis_of_some_variants_keeps_all_of_them_comparable) {
    for (const auto* ids : {"pitch_", "gemm_", "himeno_"}) {
        const auto of = model::select(model::registry(), {std::string(ids) + "*"});
        // Himeno's two that repeat their iterations do other work than the rest.
        const std::size_t groups = make_plan(of, {}).size();
        BOOST_TEST(groups == (std::string(ids) == "himeno_" ? 2u : 1u), ids);
    }
}

BOOST_AUTO_TEST_CASE(the_parts_of_an_operation_of_several_kernels_have_names) {
    std::set<std::string> families;
    for (const auto& device : {test::probe_gpu(), test::probe_cpu()}) {
        for (const auto& experiment : registry()) {
            for (const auto& variant : experiment.variants) {
                Setup setup;
                try {
                    std::vector<std::pair<std::string, std::string>> small;
                    if (experiment.family == "himeno") small = {{"size", "XXS"}};
                    if (experiment.family == "pitch") continue;  // one launch each, of a large image
                    setup = test::set_up(experiment.id(variant), device, small);
                } catch (const Unsupported&) {
                    continue;
                }
                if (setup.steps.size() < 2) continue;
                families.insert(experiment.family);
                for (const auto& step : setup.steps)
                    if (const auto* launch = std::get_if<Launch>(&step))
                        BOOST_TEST(!launch->part.empty(), experiment.id(variant));
            }
        }
    }
    for (const auto* known : {"himeno", "reduce", "batchnorm"}) BOOST_TEST(families.count(known) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
