// Data drawn at random, and what a pixel is. Distributions: kernelfile_drawn_distribution.cpp.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/half.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "kernelfile/data/data.hpp"
#include "kernelfile/data/drawn_data.hpp"
#include "kernelfile/data/series.hpp"
#include "model/operation.hpp"

BOOST_AUTO_TEST_SUITE(kernelfile_drawn_data)

using namespace cllab;
using namespace cllab::kernelfile;

namespace {

model::ElementType type(const char* name) { return *model::data_type(name); }

template <typename T>
std::vector<T> draw(const char* name, std::size_t count, const Drawn& drawn, std::uint64_t seed = 1) {
    BOOST_TEST(undrawable(type(name), count, drawn) == "");
    const auto data = kernelfile::drawn_data(type(name), count, seed, drawn);
    std::vector<T> out(data.size() / sizeof(T));
    std::memcpy(out.data(), data->data(), data.size());
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(zeros_counting_and_constants_do_not_depend_on_the_seed) {
    const auto same = [](const char* name, const Drawn& drawn, const auto& expected) {
        using T = typename std::decay_t<decltype(expected)>::value_type;
        const auto count = expected.size() / type(name).lanes;
        BOOST_TEST((draw<T>(name, count, drawn, 1) == expected));
        BOOST_TEST((draw<T>(name, count, drawn, 2) == expected));
    };
    same("int", {.draw = Draw::zero}, std::vector<std::int32_t>{0, 0, 0});
    same("int2", {.draw = Draw::counting}, std::vector<std::int32_t>{0, 0, 1, 1, 2, 2});
    same("float", {.draw = Draw::counting}, std::vector<float>{0, 1, 2});
    same("float", {.low = 0.25, .high = 7, .draw = Draw::constant}, std::vector<float>{0.25, 0.25});
    same("uchar", {.least = 200, .draw = Draw::constant}, std::vector<std::uint8_t>{200, 200});
}

BOOST_AUTO_TEST_CASE(large_arrays_equal_those_drawn_by_one_thread) {
    constexpr std::size_t count = 3 * parallel_piece + 5;
    const auto is_drawn = [&](const auto& made, const auto& one) {
        Random random(mix64(1));
        using T = typename std::decay_t<decltype(made)>::value_type;
        return std::ranges::all_of(made, [&](T value) { return value == static_cast<T>(one(random)); });
    };
    const auto fraction = [](Random& random) { return static_cast<double>(random() >> 40) * 0x1p-24; };
    BOOST_TEST(is_drawn(draw<float>("float", count, {.low = -2, .high = 3}),
                        [&](Random& random) { return -2 + 5 * fraction(random); }));
    BOOST_TEST(is_drawn(draw<double>("double", count, {}), fraction));
    BOOST_TEST(is_drawn(draw<std::int16_t>("short", count, {.least = -500, .most = 499}),
                        [&](Random& random) { return static_cast<std::int64_t>(random.below(1000)) - 500; }));
    BOOST_TEST(is_drawn(draw<std::int32_t>("int", count, {.draw = Draw::powers}), [](Random& random) {
        const auto bits = random.below(8);
        return (bits & 1 ? -1 : 1) * (1 << (bits >> 1));
    }));
}

namespace {

/// As in the first release: by functions that no vector instruction has.
std::uint16_t half_bits(double x) {
    const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const double size = std::abs(x);
    if (std::isnan(x)) return sign | 0x7E00;
    if (size >= 65520) return sign | 0x7C00;
    const int exponent = std::max(size > 0 ? std::ilogb(size) : -15, -14);
    const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
    return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + units));
}

/// By a plain loop: two numbers of each word, half a block apart.
template <typename Real>
std::vector<double> normals(std::size_t count, std::uint64_t seed, double mean, double deviation) {
    constexpr std::size_t block = 1024;
    std::vector<double> out((count + block - 1) / block * block);
    for (std::size_t i = 0; i < out.size(); ++i) {
        Random random(mix64(seed));
        random.skip(i % block < block / 2 ? i : i - block / 2);
        const auto [first, second] = normal_pair<Real>(random());
        out[i] = mean + deviation * (i % block < block / 2 ? first : second);
    }
    out.resize(count);
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(vector_loops_draw_the_numbers_of_a_seed_bit_by_bit) {
    // Shorter than a vector, one more than a block, several threads and an odd end.
    for (const std::size_t count : {1, 7, 1025, 65536, 3 * 65536 + 5})
        for (const std::uint64_t seed : {3ull, 0xFFFF'FFFF'FFFF'FFF1ull}) {
            const auto same = [&]<typename T>(T, const char* name, const Drawn& drawn, auto one) {
                Random random(mix64(seed));
                std::vector<T> expected(count);
                for (auto& value : expected) value = static_cast<T>(one(random));
                const auto made = draw<T>(name, count, drawn, seed);
                BOOST_TEST(std::memcmp(made.data(), expected.data(), count * sizeof(T)) == 0, name << " " << count);
            };
            const auto fraction = [](Random& random) { return static_cast<double>(random() >> 40) * 0x1p-24; };
            const auto bfloat16 = [](double x) { return to_bfloat16(static_cast<float>(x)).bits; };
            same(std::uint16_t{}, "half", {.low = -2, .high = 3},
                 [&](Random& r) { return half_bits(-2 + 5 * fraction(r)); });
            same(std::uint16_t{}, "bf16", {.low = -2, .high = 3},
                 [&](Random& r) { return bfloat16(-2 + 5 * fraction(r)); });
            for (const double mean : {0.0, 1e4})
                for (const double deviation : {1.0, 0.0, 1e-6, -1e-310, 3e38, 1e308}) {
                    const Drawn drawn{.low = mean, .high = deviation, .draw = Draw::normal};
                    const auto each = [](const auto& numbers, const auto& rounded) {
                        return [&numbers, rounded, at = std::size_t{0}](Random&) mutable {
                            return rounded(numbers[at++]);
                        };
                    };
                    const auto of_floats = normals<float>(count, seed, mean, deviation);
                    const auto of_doubles = normals<double>(count, seed, mean, deviation);
                    same(std::uint16_t{}, "half", drawn, each(of_floats, half_bits));
                    same(std::uint16_t{}, "bf16", drawn, each(of_floats, bfloat16));
                    same(float{}, "float", drawn, each(of_floats, [](double x) { return x; }));
                    same(double{}, "double", drawn, each(of_doubles, [](double x) { return x; }));
                }
            for (const std::uint64_t most : {99ull, 255ull})
                same(std::uint8_t{}, "uchar", {.most = static_cast<std::int64_t>(most)},
                     [&](Random& r) { return r.below(most + 1); });
            for (const std::int64_t most : {0xFFFF'FFFEll, 0xFFFF'FFFFll, 0x1'0000'0000ll})
                same(std::int64_t{}, "long", {.least = 0, .most = most},
                     [&](Random& r) { return r.below(static_cast<std::uint64_t>(most) + 1); });
            same(std::int64_t{}, "long", {.least = INT64_MIN, .most = INT64_MAX},
                 [](Random& r) { return r() + (std::uint64_t{1} << 63); });
            same(std::int8_t{}, "char", {.draw = Draw::powers}, [](Random& r) {
                const auto bits = r.below(8);
                return (bits & 1 ? -1 : 1) * (1 << (bits >> 1));
            });
        }
}

BOOST_AUTO_TEST_CASE(halves_convert_as_by_the_functions_of_the_library) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const double x = Half{static_cast<std::uint16_t>(bits)};
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        const double size = exponent == 0    ? std::ldexp(fraction, -24)
                            : exponent == 31 ? (fraction ? NAN : INFINITY)
                                             : std::ldexp(1024 + fraction, exponent - 25);
        const double expected = bits >> 15 ? -size : size;
        BOOST_REQUIRE(std::memcmp(&x, &expected, sizeof x) == 0);
        const double half_way = (x + static_cast<double>(Half{static_cast<std::uint16_t>(bits + 1)})) / 2;
        for (const double y : {x, std::nextafter(x, 9e9), half_way, std::nextafter(half_way, 9e9),
                               std::nextafter(half_way, -9e9), x * 0x1p-30, x * 0x1p900})
            BOOST_REQUIRE(to_half(y).bits == half_bits(y));
    }
    for (const double y : {65519.999, 65520.0, -65520.0, 1e308, 5e-324, -5e-324, double{-NAN}})
        BOOST_TEST(to_half(y).bits == half_bits(y));
}

BOOST_AUTO_TEST_CASE(equal_requests_share_one_array) {
    const auto data = [](const char* name, std::size_t count, std::uint64_t seed, const Drawn& drawn) {
        return kernelfile::drawn_data(type(name), count, seed, drawn);
    };
    const auto first = data("float", 77, 5, {});
    BOOST_TEST((data("float", 77, 5, {}) == first));
    BOOST_TEST((data("nibble", 78, 5, {}) == data("nibble", 78, 5, {})));
    BOOST_TEST(
        (data("float", 77, 6, {}) != first && data("float", 78, 5, {}) != first && data("int", 77, 5, {}) != first));
    BOOST_TEST((data("float", 77, 5, {.high = 2}) != first));
}

BOOST_AUTO_TEST_CASE(one_hot_rows_are_those_of_one_thread) {
    constexpr std::size_t rows = 3 * parallel_piece + 5;
    std::vector<std::int8_t> expected(3 * rows);
    Random random(mix64(1));
    for (std::size_t row = 0; row < rows; ++row) expected[3 * row + random.below(3)] = 1;
    BOOST_TEST((draw<std::int8_t>("char", 3 * rows, {.most = 3, .draw = Draw::one_hot}) == expected));
}

BOOST_AUTO_TEST_CASE(large_permutation_has_each_number_once_and_depends_on_the_seed) {
    const Drawn drawn{.draw = Draw::permutation};
    // Little more than a power of two: nearly half of the numbers take the steps again.
    for (const std::size_t count : {65537, 131'071, 131'072, 131'073, 300'001}) {
        const auto one = draw<std::uint32_t>("uint", count, drawn);
        const auto other = draw<std::uint32_t>("uint", count, drawn, 2);
        const auto pairs = draw<std::uint32_t>("uint2", count, drawn);
        std::vector<bool> seen(count);
        std::size_t alike = 0, follows = 0, low = 0;
        for (std::size_t i = 0; i < count; ++i) {
            BOOST_REQUIRE((one[i] < count && !seen[one[i]] && pairs[2 * i] == one[i] && pairs[2 * i + 1] == one[i]));
            seen[one[i]] = true;
            alike += one[i] == other[i] || one[i] == i;
            follows += i > 0 && one[i] == one[i - 1] + 1;
            low += i < count / 2 && one[i] < count / 2;
        }
        BOOST_TEST((alike < 20 && follows < 10 && std::abs(static_cast<double>(low) / count - 0.25) < 0.01), count);
    }
    for (const std::size_t count : {1, 2, 3, 7, 1000, 1024}) {
        std::vector<std::uint32_t> numbers(count), counted(count);
        Permutation(count, Random(5)).put(0, numbers);
        std::iota(counted.begin(), counted.end(), 0u);
        BOOST_TEST(std::ranges::is_permutation(numbers, counted));
    }
}

BOOST_AUTO_TEST_CASE(permutation_has_each_number_once_and_depends_on_the_seed) {
    const Drawn drawn{.draw = Draw::permutation};
    const auto one = draw<std::uint32_t>("uint", 1000, drawn);
    auto sorted = one;
    std::ranges::sort(sorted);
    std::vector<std::uint32_t> counted(1000);
    std::iota(counted.begin(), counted.end(), 0u);
    BOOST_TEST(sorted == counted);
    BOOST_TEST((one != counted && one != draw<std::uint32_t>("uint", 1000, drawn, 2)));
    const auto pairs = draw<std::int32_t>("int2", 10, drawn);
    for (std::size_t i = 0; i < 20; i += 2) BOOST_TEST(pairs[i] == pairs[i + 1]);
    BOOST_TEST(undrawable(type("uchar"), 256, drawn) == "");
    BOOST_TEST(undrawable(type("uchar"), 257, drawn) == "cannot count to 256");
    BOOST_TEST(undrawable(type("half"), 2049, drawn) == "");  // 2049 is none of half's numbers
    BOOST_TEST(undrawable(type("half"), 2050, drawn) == "cannot count to 2049");
}

BOOST_AUTO_TEST_CASE(sums_of_powers_do_not_depend_on_the_order) {
    auto x = draw<float>("float", 100000, {.draw = Draw::powers});
    BOOST_TEST((std::set<float>(x.begin(), x.end()) == std::set<float>{-8, -4, -2, -1, 1, 2, 4, 8}));
    const float forward = std::accumulate(x.begin(), x.end(), 0.0f), back = std::accumulate(x.rbegin(), x.rend(), 0.0f);
    std::ranges::sort(x);
    BOOST_TEST(forward == back);
    BOOST_TEST(forward == std::accumulate(x.begin(), x.end(), 0.0f));
    for (const auto v : draw<std::uint8_t>("uchar", 100, {.draw = Draw::powers})) BOOST_TEST((v >= 1 && v <= 8));
}

BOOST_AUTO_TEST_CASE(offsets_start_at_zero_and_rise_to_the_last) {
    const auto row = draw<std::int32_t>("int", 101, {.least = 0, .most = 5000, .draw = Draw::offsets});
    BOOST_TEST((row.front() == 0 && row.back() == 5000 && std::ranges::is_sorted(row)));
    BOOST_TEST(std::set<std::int32_t>(row.begin(), row.end()).size() > 80u);
    BOOST_TEST((draw<std::int32_t>("int", 1, {.least = 0, .most = 5, .draw = Draw::offsets}) == std::vector{0}));
    BOOST_TEST(undrawable(type("uchar"), 8, {.most = 256, .draw = Draw::offsets}) == "cannot count to 256");
    BOOST_TEST(undrawable(type("float"), 8, {.draw = Draw::offsets}) == "are not integers");
}

BOOST_AUTO_TEST_CASE(each_row_of_one_hot_data_has_one_1) {
    const auto x = draw<float>("float", 200, {.most = 10, .draw = Draw::one_hot});
    std::set<std::size_t> places;
    for (std::size_t row = 0; row < 200; row += 10) {
        BOOST_TEST(std::count(x.begin() + static_cast<long>(row), x.begin() + static_cast<long>(row) + 10, 1.0f) == 1);
        BOOST_TEST(std::accumulate(x.begin() + static_cast<long>(row), x.begin() + static_cast<long>(row) + 10, 0.0f) ==
                   1);
        places.insert(
            static_cast<std::size_t>(std::find(x.begin() + static_cast<long>(row), x.end(), 1.0f) - x.begin()) - row);
    }
    BOOST_TEST(places.size() > 4u);
    BOOST_TEST(undrawable(type("float"), 205, {.most = 10, .draw = Draw::one_hot}) ==
               "are 205, not a multiple of the row length 10");
}

BOOST_AUTO_TEST_CASE(bfloat16_is_a_float_rounded_to_its_upper_half) {
    for (const auto& [in, out] : std::vector<std::pair<float, float>>{{1, 1},
                                                                      {1.00390625f, 1},           // half way, to even
                                                                      {1.01171875f, 1.015625f},   // half way, to even
                                                                      {1.00390637f, 1.0078125f},  // above half way
                                                                      {-3.14159265f, -3.140625f},
                                                                      {1e-40f, 9.18354962e-41f},
                                                                      {3.4e38f, INFINITY}}) {
        std::byte bytes[2];
        put_real(bytes, type("bf16"), in);
        BOOST_TEST(static_cast<float>(lane_value(bytes, type("bf16"))) == out);
    }
    std::byte nan[2];
    put_real(nan, type("bf16"), NAN);
    BOOST_TEST(std::isnan(lane_value(nan, type("bf16"))));
}

BOOST_AUTO_TEST_CASE(random_bfloat16_respects_bounds_and_compares_in_ulp) {
    const auto x = draw<std::uint16_t>("bf16", 1000, {.low = -2, .high = 3});
    std::set<std::uint16_t> values(x.begin(), x.end());
    BOOST_TEST(values.size() > 300u);
    for (const auto bits : x) {
        std::byte bytes[2];
        std::memcpy(bytes, &bits, 2);
        const auto value = lane_value(bytes, type("bf16"));
        BOOST_TEST((value >= -2 && value <= 3));
    }
    const auto difference = [&](std::uint16_t found, std::uint16_t expected, double ulp) {
        model::Errors errors({0, 0, ulp});
        const auto a = model::share(std::vector{found}), b = model::share(std::vector{expected});
        return kernelfile::difference("x", *a, *b, type("bf16"), errors, "expected").value_or("");
    };
    BOOST_TEST(difference(0x3f81, 0x3f80, 0).find("x[0] is 1.0078, expected 1") == 0u);
    BOOST_TEST(difference(0x3f81, 0x3f80, 1) == "");
    BOOST_TEST(difference(0x3f82, 0x3f80, 1) != "");
    BOOST_TEST(undrawable(type("bf16"), 257, {.draw = Draw::permutation}) == "");
    BOOST_TEST(undrawable(type("bf16"), 258, {.draw = Draw::permutation}) == "cannot count to 257");
}

BOOST_AUTO_TEST_CASE(nibbles_are_stored_two_per_byte_and_compared_singly) {
    BOOST_TEST((draw<std::uint8_t>("nibble", 4, {.draw = Draw::counting}) == std::vector<std::uint8_t>{0x10, 0x32}));
    std::set<int> low, high;
    for (const auto byte : draw<std::uint8_t>("nibble", 1000, {.least = 3, .most = 11}))
        low.insert(byte & 15), high.insert(byte >> 4);
    BOOST_TEST((low.size() == 9u && *low.begin() == 3 && *low.rbegin() == 11 && low == high));
    const auto a = model::share(std::vector<std::uint8_t>{0x21, 0x43, 0x65}),
               b = model::share(std::vector<std::uint8_t>{0x21, 0x73, 0x65});
    model::Errors exact({}), near({3, 0, 0});
    BOOST_TEST(difference("x", *a, *b, type("nibble"), exact, "expected").value() == "x[3] is 4, expected 7");
    BOOST_TEST(!difference("x", *a, *b, type("nibble"), near, "expected"));
    BOOST_TEST(undrawable(type("nibble"), 16, {.draw = Draw::permutation}) == "");
    BOOST_TEST(undrawable(type("nibble"), 18, {.draw = Draw::permutation}) == "cannot count to 17");
    BOOST_TEST(undrawable(type("nibble"), 8, {.draw = Draw::text}) == "are not bytes");
}

BOOST_AUTO_TEST_CASE(pixel_format_is_parsed_by_name) {
    using model::pixel_format;
    for (const char* name : {"r8", "r8ui", "r32f", "rg16f", "rgba8", "rgba8s", "rgba16ui", "rgba32i", "bgra8", "rg16",
                             "depth16", "depth32f"})
        BOOST_TEST(pixel_format(name).value().name() == name);
    BOOST_TEST(pixel_format("rgba16f")->bytes() == 8u);
    BOOST_TEST(pixel_format("rg8")->bytes() == 2u);
    BOOST_TEST(pixel_format("rgba16f")->type().name == "half4");
    BOOST_TEST(pixel_format("rg8s")->type().name == "char2");
    BOOST_TEST(pixel_format("r32ui")->type().name == "uint");
    BOOST_TEST(pixel_format("rg16")->white() == 65535);
    BOOST_TEST(pixel_format("rgba8s")->white() == 127);
    BOOST_TEST(pixel_format("r8i")->white() == 127);
    BOOST_TEST(pixel_format("r32ui")->white() == 255);
    for (const char* name : {"rgb8", "r32", "r8f", "bgra32f", "rgba", "r16x", "float", "depth8", "depth16f", ""})
        BOOST_TEST(!pixel_format(name));
}

BOOST_AUTO_TEST_SUITE_END()
