// Matrix units without a device: tiles by device, elements by type, and the checks of matrix, hgemm and dequant.
#include "experiments/lib/matrix.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(matrix_units)

using namespace cllab;
using namespace cllab::test;
namespace matrix = model::lib::matrix;

namespace {

model::Device hopper() {
    auto out = probe_gpu();
    out.compute_capability = 90;
    out.fp16 = false;
    return out;
}

model::Device amd(const std::string& name, unsigned wave) {
    auto out = probe_gpu();
    out.implementation = model::Implementation::amd;
    out.name = name;
    out.preferred_multiple = wave;
    return out;
}

/// d = c + steps * a * b of one wave's only tile, element by element.
template <typename Element, typename Sum, typename ToNumber>
std::vector<Sum> product(const model::Setup& setup, std::size_t m, std::size_t n, std::size_t k, int steps,
                         ToNumber number) {
    const auto a = argument<Element>(setup, "a"), b = argument<Element>(setup, "b");
    auto d = argument<Sum>(setup, "c");
    const auto waves = d.size() / (m * n);
    for (std::size_t wave = 0; wave < waves; ++wave)
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t l = 0; l < k; ++l)
                    d[(wave * m + i) * n + j] +=
                        static_cast<Sum>(steps * number(a[(wave * m + i) * k + l]) * number(b[(wave * n + j) * k + l]));
    return d;
}

}  // namespace

BOOST_AUTO_TEST_CASE(tile_matches_the_instruction_or_is_unsupported) {
    const auto is = [](const model::Device& device, const char* type, std::size_t m, std::size_t n, std::size_t k) {
        const auto tile = matrix::tile_of(device, type);
        BOOST_TEST(tile.m == m, type);
        BOOST_TEST(tile.n == n, type);
        BOOST_TEST(tile.k == k, type);
    };
    is(hopper(), "bf16", 16, 8, 16);
    is(hopper(), "s8", 16, 8, 32);
    is(hopper(), "f64", 8, 8, 4);
    is(amd("gfx90a:sramecc+:xnack-", 64), "s8", 16, 16, 16);
    is(amd("gfx942", 64), "s8", 16, 16, 32);
    is(amd("gfx942", 64), "tf32", 16, 16, 8);
    is(amd("gfx1100", 32), "f16", 16, 16, 16);
    is(amd("gfx1201", 32), "fp8", 16, 16, 16);
    auto turing = hopper();
    turing.compute_capability = 75;
    for (const auto& device : {turing, amd("gfx900", 64), amd("gfx1100", 64), probe_cpu()})
        BOOST_CHECK_THROW(matrix::tile_of(device, "f16"), Unsupported);
    BOOST_CHECK_THROW(matrix::tile_of(amd("gfx90a", 64), "tf32"), Unsupported);
    BOOST_CHECK_THROW(matrix::tile_of(amd("gfx908", 64), "bf16"), Unsupported);
    for (const char* name : {"gfx1100", "gfx942"})
        BOOST_CHECK_THROW(matrix::tile_of(amd(name, 32), "fp8"), Unsupported);
}

BOOST_AUTO_TEST_CASE(integers_are_equal_in_every_type) {
    for (int x = -15; x <= 15; ++x) {
        BOOST_TEST(static_cast<double>(to_half(x)) == x);
        BOOST_TEST(std::bit_cast<float>(static_cast<std::uint32_t>(matrix::to_bf16(static_cast<float>(x))) << 16) ==
                   static_cast<float>(x));
        const auto bits = matrix::to_fp8(x);
        const int exponent = (bits >> 3 & 15) - 7;
        const double size = bits == 0 ? 0 : std::ldexp(8 + (bits & 7), exponent - 3);
        BOOST_TEST((bits & 0x80 ? -size : size) == x);
    }
}

BOOST_AUTO_TEST_CASE(product_is_right_only_with_the_requested_repetitions) {
    const auto setup = set_up("matrix_latency", hopper(), {{"type", "s8"}});
    const auto number = [](std::int8_t x) { return static_cast<int>(x); };
    const auto right = product<std::int8_t, std::int32_t>(setup, 16, 8, 32, 3 * 8, number);
    const std::vector<std::int32_t> first(right.begin(), right.begin() + 16 * 8);
    BOOST_TEST(verdict(setup, "d", first, 3) == "");
    auto fewer = product<std::int8_t, std::int32_t>(setup, 16, 8, 32, 3 * 8 - 1, number);
    fewer.resize(first.size());
    BOOST_TEST(verdict(setup, "d", fewer, 3) != "");
    auto swapped = first;
    std::swap(swapped[1], swapped[8]);
    BOOST_TEST(verdict(setup, "d", swapped, 3) != "");
}

BOOST_AUTO_TEST_CASE(a_product_of_16_bit_elements_is_checked_exactly) {
    const auto setup = set_up("hgemm_naive", hopper(), {{"m", "3"}, {"n", "5"}, {"k", "7"}, {"type", "bf16"}});
    const auto a = argument<std::uint16_t>(setup, "a"), b = argument<std::uint16_t>(setup, "b");
    const auto number = [](std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); };
    std::vector<float> c(3 * 5);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 5; ++j)
            for (std::size_t l = 0; l < 7; ++l) c[i * 5 + j] += number(a[i * 7 + l]) * number(b[l * 5 + j]);
    BOOST_TEST(verdict(setup, "c", c) == "");
    c[7] += 1;
    BOOST_TEST(verdict(setup, "c", c).find("c[1][2] is ") == 0u);
}

BOOST_AUTO_TEST_CASE(blocks_that_do_not_fit_are_refused_with_the_reason) {
    BOOST_CHECK_THROW(set_up("hgemm_async", hopper(), {{"m", "200"}}), Unsupported);
    auto ada = hopper();
    ada.compute_capability = 89;
    BOOST_CHECK_THROW(set_up("hgemm_async", ada, {{"m", "256"}, {"stages", "8"}}), Unsupported);
    BOOST_CHECK_NO_THROW(set_up("hgemm_async", hopper(), {{"m", "256"}, {"stages", "8"}}));
    BOOST_CHECK_THROW(set_up("hgemm_mma", probe_cpu(), {{"m", "256"}}), Unsupported);
    BOOST_CHECK_NO_THROW(set_up("hgemm_async", hopper(), {{"m", "256"}}));
}

BOOST_AUTO_TEST_CASE(byte_block_has_twice_the_k_in_equal_local_memory) {
    const auto has = [](const model::Setup& setup, const char* define) {
        return std::ranges::find(setup.defines, define) != setup.defines.end();
    };
    for (const std::string variant : {"hgemm_mma", "hgemm_buffered", "hgemm_async"}) {
        const Axes axes{{"m", "256"}, {"k", "64"}, {"type", "s8"}};
        BOOST_TEST(has(set_up(variant, hopper(), axes), "BLOCK_K=64"));
        BOOST_TEST(has(set_up(variant, hopper(), {{"m", "256"}}), "BLOCK_K=32"));
        BOOST_CHECK_THROW(set_up(variant, hopper(), {{"m", "256"}, {"k", "32"}, {"type", "s8"}}), Unsupported);
    }
    BOOST_TEST(has(set_up("hgemm_async", hopper(), {{"m", "256"}, {"type", "s8"}}), "STAGES=4"));
}

BOOST_AUTO_TEST_CASE(half_uses_pairs_if_the_language_lacks_the_type) {
    const auto setup = set_up("fma_peak", hopper(), {{"type", "half"}, {"width", "2"}, {"load", "25"}});
    BOOST_TEST((std::ranges::find(setup.defines, "PAIRS") != setup.defines.end()));
    BOOST_CHECK_THROW(set_up("fma_peak", hopper(), {{"type", "half"}, {"width", "4"}, {"load", "25"}}), Unsupported);
    BOOST_CHECK_THROW(set_up("fma_peak", probe_cpu(), {{"type", "half"}, {"width", "2"}, {"load", "25"}}), Unsupported);
}

BOOST_AUTO_TEST_CASE(slower_of_two_rates_of_equal_products_is_reported) {
    auto curve = curve_of("wgmma", {{0, 1e-9}});
    curve.fixed.set("type", "bf16");
    auto& sample = curve.samples.front();
    sample.metrics["flops"] = 1e15;
    const auto told = [&](double low, double high) {
        sample.low = low;
        sample.high = high;
        return concluded("matrix", {curve}, hopper()).at(0);
    };
    BOOST_TEST(told(0.99e-9, 1.1e-9).value == 1e15);
    const auto two = told(0.99e-9, 1.4e-9);
    BOOST_TEST(two.value == two.low);
    BOOST_TEST(two.how.find("samples lie at two rates") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
