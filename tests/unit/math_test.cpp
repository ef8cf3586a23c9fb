// math: errors in ulp, accepted up to what OpenCL C promises, and calls that were left out.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "unit/probe.hpp"

using namespace cllab;
using namespace cllab::model;
using namespace cllab::test;

#include "experiments/lib/math_functions.hpp"

BOOST_AUTO_TEST_SUITE(math_family)

namespace {

struct Left {
    std::vector<float> out;
    std::vector<std::uint32_t> sums;
};

/// What math.cl leaves for `function` computed by the host's own float function.
Left kernel_math(const Setup& setup, float (*function)(float), int rounds, int trips) {
    const auto args = argument<float>(setup, "args");
    Left left;
    const std::size_t items = argument<std::uint32_t>(setup, "sums").size();
    for (std::size_t i = 0; i < items; ++i) {
        for (std::size_t k = 0; k < 4; ++k) left.out.push_back(function(args[(4 * i + k) % args.size()]));
        std::uint32_t bits = 0, sum = 0;
        std::memcpy(&bits, &left.out.back(), 4);
        for (int r = 0; r < rounds * trips; ++r) sum = sum * 3 + bits;
        left.sums.push_back(sum);
    }
    return left;
}

std::string judge(const Setup& setup, const Left& left, int trips) {
    Buffers buffers;
    buffers.trips = trips;
    buffers.data.emplace("out", std::as_bytes(std::span(left.out)));
    buffers.data.emplace("sums", std::as_bytes(std::span(left.sums)));
    return setup.check(buffers).value_or("");
}

float host_sin(float x) { return std::sin(x); }

}  // namespace

BOOST_AUTO_TEST_CASE(result_within_the_promised_error_is_right) {
    const auto setup = set_up("math_rate", probe_cpu(), {{"function", "sin"}, {"class", "medium"}});
    auto left = kernel_math(setup, host_sin, 1, 3);
    BOOST_TEST(judge(setup, left, 3) == "");
    BOOST_TEST(setup.observed->at("error") <= 1.0);
    for (int i = 0; i < 6; ++i) left.out[1] = std::nextafter(left.out[1], 2.0f);  // sin promises 4 ulp
    BOOST_TEST(judge(setup, left, 3).find("sin(") == 0u);
}

BOOST_AUTO_TEST_CASE(missing_calls_show_in_the_sum) {
    const auto setup = set_up("math_latency", probe_cpu(), {{"function", "sin"}, {"class", "small"}});
    BOOST_TEST(judge(setup, kernel_math(setup, host_sin, 1, 3), 3) == "");
    BOOST_TEST(judge(setup, kernel_math(setup, host_sin, 1, 2), 3).find("sums[0] is") == 0u);
}

BOOST_AUTO_TEST_CASE(work_items_with_equal_arguments_must_agree) {
    const auto setup = set_up("math_rate", probe_gpu(), {{"function", "sin"}, {"class", "medium"}});
    auto left = kernel_math(setup, host_sin, 1, 1);
    BOOST_TEST(judge(setup, left, 1) == "");
    left.out[4 * 300] = std::nextafter(left.out[4 * 300], 2.0f);
    BOOST_TEST(judge(setup, left, 1).find("out[1200] differs") == 0u);
}

BOOST_AUTO_TEST_CASE(errors_are_counted_in_ulp_of_the_true_value) {
    using model::math::error_ulp;
    BOOST_TEST(error_ulp(1.0f, 1.0L) == 0);
    BOOST_TEST(error_ulp(std::nextafter(1.0f, 2.0f), 1.0L) == 1);
    BOOST_TEST(error_ulp(1.0f, 1.0L + 0x1p-24L) == 0.5);
    BOOST_TEST(error_ulp(0x1p-149f, 0.0L) == 1);
    BOOST_TEST(error_ulp(INFINITY, 1e40L) == 0);
    BOOST_TEST(std::isinf(error_ulp(1.0f, 1e40L)));
    BOOST_TEST(std::isinf(error_ulp(NAN, 1.0L)));
    BOOST_TEST(error_ulp(1.0 + 0x1p-52, 1.0L) == 1);
}

BOOST_AUTO_TEST_CASE(arguments_stay_in_the_domain_of_the_function) {
    for (const auto& f : model::math::functions()) {
        for (const std::string of_class : {"zero", "small", "medium", "large"}) {
            const auto i = model::math::arguments(f, of_class, 65536);
            BOOST_TEST(i.low <= i.high);
            BOOST_TEST(i.high <= std::min(f.most, 65536.0));
            if (of_class != "zero") BOOST_TEST(std::isfinite(static_cast<double>(f.reference(i.high))));
        }
    }
}

BOOST_AUTO_TEST_CASE(half_is_judged_in_its_own_ulp) {
    const auto setup = set_up("math_latency_fp16", probe_gpu(), {{"function", "exp"}});
    const auto args = argument<Half>(setup, "args");
    std::vector<Half> out;
    std::vector<std::uint32_t> sums(argument<std::uint32_t>(setup, "sums").size());
    for (std::size_t i = 0; i < 4 * sums.size(); ++i) out.push_back(to_half(std::exp(double{args[i % args.size()]})));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = 4 * out[4 * i + 3].bits;  // of two trips: 3 sum + bits
    const auto judged = [&](int units) {
        auto other = out;
        other[1].bits = static_cast<std::uint16_t>(other[1].bits + units);
        Buffers buffers;
        buffers.trips = 2;
        buffers.data.emplace("out", std::as_bytes(std::span(other)));
        buffers.data.emplace("sums", std::as_bytes(std::span(sums)));
        return setup.check(buffers).value_or("");
    };
    BOOST_TEST(judged(0) == "");
    BOOST_TEST(judged(1) == "");
    BOOST_TEST(judged(3).find("exp(") == 0u);  // exp of half promises 2
    BOOST_TEST(judged(-3).find("exp(") == 0u);
    BOOST_TEST(model::math::error_ulp(to_half(1 + 0x1p-10), 1.0L) == 1);
    BOOST_TEST(model::math::error_ulp(to_half(1e9), 1e9L) == 0);
    BOOST_TEST(std::isinf(model::math::error_ulp(to_half(1e9), 1000.0L)));
    BOOST_CHECK_THROW(set_up("math_latency_fp16", probe_gpu(), {{"function", "recip"}}), Unsupported);
}

BOOST_AUTO_TEST_CASE(nvidia_half_instructions_are_judged_by_the_ptx_promise) {
    auto device = probe_gpu();
    device.fp16 = false;
    BOOST_CHECK_THROW(set_up("math_rate_fp16", device, {{"function", "exp2"}}), Unsupported);
    device.compute_capability = 80;
    BOOST_CHECK_THROW(set_up("math_rate_fp16", device, {{"function", "sin"}}), Unsupported);
    const auto setup = set_up("math_rate_fp16", device, {{"function", "exp2"}});
    BOOST_TEST(std::ranges::count(setup.defines, "BY_INSTRUCTION") == 1);
    BOOST_TEST(std::ranges::count(setup.defines, "TYPE=ushort") == 1);
    const auto args = argument<Half>(setup, "args");
    const auto judged = [&](double times) {
        std::vector<Half> out;
        std::vector<std::uint32_t> sums(argument<std::uint32_t>(setup, "sums").size());
        for (std::size_t i = 0; i < 4 * sums.size(); ++i)
            out.push_back(to_half(times * std::exp2(double{args[i % args.size()]})));
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = 4 * out[4 * i + 3].bits;
        Buffers buffers;
        buffers.trips = 2;
        buffers.data.emplace("out", std::as_bytes(std::span(out)));
        buffers.data.emplace("sums", std::as_bytes(std::span(sums)));
        return setup.check(buffers).value_or("");
    };
    const double promised = std::exp2(-9.9);  // the rounding of this reference is another half of 2^-10 at the most
    BOOST_TEST(judged(1) == "");
    BOOST_TEST(judged(1 + promised - 0x1p-11) == "");
    BOOST_TEST(judged(1 + promised + 0x1p-10).find("exp2(") == 0u);
    BOOST_TEST(judged(1 - promised - 0x1p-10).find("exp2(") == 0u);
}

BOOST_AUTO_TEST_CASE(half_arguments_and_results_are_finite_and_normal) {
    for (const auto& f : model::math::functions()) {
        for (const std::string of_class : {"small", "medium", "large"}) {
            const auto i = model::math::arguments(f, of_class, model::math::most_half(f));
            for (const double x : {i.low, i.high}) {
                const auto y = static_cast<double>(f.reference(x));
                BOOST_TEST((x >= 0x1p-14 && std::isfinite(y) && std::abs(y) < 65504), f.name << " of " << x);
            }
            BOOST_TEST(std::abs(static_cast<double>(f.reference(i.high))) < 65504, f.name);
        }
    }
    BOOST_TEST(1 / model::math::most_half(*model::math::find("divide")) >= 0x1p-14);
}

BOOST_AUTO_TEST_CASE(missing_functions_are_unsupported) {
    BOOST_CHECK_THROW(set_up("math_rate_native", probe_cpu(), {{"function", "atan"}}), Unsupported);
    BOOST_CHECK_THROW(set_up("math_rate", probe_cpu(), {{"function", "recip"}}), Unsupported);
    BOOST_CHECK_THROW(set_up("math_rate_native", probe_cpu(), {{"function", "log"}, {"class", "zero"}}), Unsupported);
}

BOOST_AUTO_TEST_CASE(the_chain_without_a_call_is_subtracted_from_the_latency) {
    const auto findings = concluded("math",
                                    {curve_of("latency", {{0, 2e-9}}, {{"function", "identity"}, {"class", "medium"}}),
                                     curve_of("latency", {{0, 12e-9}}, {{"function", "sin"}, {"class", "medium"}})},
                                    probe_gpu());
    require_finding(findings, "sin latency", 10e-9, 1e-9);
}

BOOST_AUTO_TEST_SUITE_END()
