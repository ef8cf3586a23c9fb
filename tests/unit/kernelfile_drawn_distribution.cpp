// The distributions of random data. All seeds are fixed: a test passes always, or never.
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/half.hpp"
#include "core/hash.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "kernelfile/data/drawn_data.hpp"
#include "kernelfile/data/series.hpp"

BOOST_AUTO_TEST_SUITE(kernelfile_drawn_distribution)

using namespace cllab;
using namespace cllab::kernelfile;

namespace {

template <typename T>
std::vector<T> draw(const char* name, std::size_t count, const Drawn& drawn, std::uint64_t seed = 1) {
    const auto type = *model::data_type(name);
    BOOST_REQUIRE(undrawable(type, count, drawn) == "");
    const auto data = drawn_data(type, count, seed, drawn);
    std::vector<T> out(data.size() / sizeof(T));
    std::memcpy(out.data(), data->data(), data.size());
    return out;
}

/// Kolmogorov and Smirnov: sqrt(n) times the largest distance from the distribution. Above 1.95 once in 1000.
template <typename T>
double distance(std::vector<T> numbers, const auto& distribution) {
    std::ranges::sort(numbers);
    double most = 0;
    const auto n = static_cast<double>(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double part = distribution(static_cast<double>(numbers[i]));
        most = std::max({most, static_cast<double>(i + 1) / n - part, part - static_cast<double>(i) / n});
    }
    return most * std::sqrt(n);
}
constexpr double far = 1.95;

double gaussian(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

/// Pearson's sum, in deviations from its mean.
double chi_square(const std::vector<double>& found, const std::vector<double>& parts) {
    const double all = std::accumulate(found.begin(), found.end(), 0.0);
    double sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i)
        sum += (found[i] - all * parts[i]) * (found[i] - all * parts[i]) / (all * parts[i]);
    const auto freedom = static_cast<double>(parts.size() - 1);
    return (sum - freedom) / std::sqrt(2 * freedom);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_seed_draws_the_same_numbers_by_every_compiler_on_every_processor) {
    const Drawn normal{.low = 0.5, .high = 2, .draw = Draw::normal};
    const Drawn sorted{.low = -2, .high = 3, .least = 1, .most = 14, .draw = Draw::sorted};
    struct Row {
        const char* type;
        Drawn drawn;
        std::uint64_t expected;
    };
    for (const auto& [name, drawn, expected] :
         std::vector<Row>{{"half", normal, 0xa1f0e7e376945c17},
                          {"bf16", normal, 0x62e7cce9115427c9},
                          {"float", normal, 0xe25499d2c3506243},
                          {"double", normal, 0x284e2785d09c7ad8},
                          {"half", sorted, 0x4dcd2653acce0c0b},
                          {"float", sorted, 0xedd0b225cb4f2861},
                          {"double", sorted, 0x05dc3fa28b281220},
                          {"nibble", sorted, 0x955729b77e8f5087},
                          {"long", {.least = INT64_MIN, .most = INT64_MAX, .draw = Draw::sorted}, 0x65a354110b405888},
                          {"int", {.least = 0, .most = 1'000'000'000, .draw = Draw::offsets}, 0xdcdb283532727006},
                          {"char", {.draw = Draw::text}, 0x898e6798bfd40854},
                          {"nibble", {.least = 3, .most = 11}, 0x5d31cd71869e9b90}}) {
        const auto data = drawn_data(*model::data_type(name), 3 * parallel_piece + 8, 5, drawn);
        BOOST_TEST(digest(*data) == expected, name << " " << static_cast<int>(drawn.draw) << " " << digest(*data));
    }
}

BOOST_AUTO_TEST_CASE(series_are_those_of_the_library_within_rounding) {
    const auto near = [](auto found, double expected, double places) {
        return std::abs(found - expected) <= places * std::numeric_limits<decltype(found)>::epsilon();
    };
    Random random(1);
    for (int i = 0; i < 200'000; ++i) {
        const auto word = i == 0 ? 0 : i == 1 ? ~std::uint64_t{0} : i < 34 ? ~std::uint64_t{0} >> (i - 1) : random();
        const double expected = -std::log((2 * static_cast<double>(word >> 33) + 1) * 0x1p-32);
        const auto bits = static_cast<std::int32_t>(word >> 33);
        BOOST_REQUIRE((near(exponential<double>(bits), expected, 2 + 2 * expected)));
        BOOST_REQUIRE((near(exponential<float>(bits), expected, 2 + 2 * expected)));
        BOOST_REQUIRE((exponential<double>(bits) > 0 && exponential<float>(bits) >= 0));
        const double angle = static_cast<std::int32_t>(word) * std::numbers::pi * 0x1p-32;
        const double radius = std::sqrt(2 * expected), first = radius * std::cos(angle) * (word >> 32 & 1 ? -1 : 1);
        const auto [x, y] = normal_pair<double>(word);
        BOOST_REQUIRE((near(x, first, 30) && near(y, radius * std::sin(angle), 30)));
        const auto [a, b] = normal_pair<float>(word);
        // The logarithm of a number near 1 is that of another float.
        BOOST_REQUIRE((std::abs(a - first) < 4e-4 && std::abs(b - radius * std::sin(angle)) < 4e-4));
    }
}

BOOST_AUTO_TEST_CASE(normal_data_is_gaussian) {
    constexpr std::size_t count = 1 << 20;
    const auto check = [](const auto& x, const char* name) {
        BOOST_TEST(distance(x, gaussian) < far, name);
        double powers[5] = {}, pairs = 0, square_pairs = 0;
        std::map<int, double> beyond;
        for (std::size_t i = 0; i < count; ++i) {
            const double v = x[i], other = x[i ^ 512];
            for (double power = 1; double& sum : powers) sum += power / count, power *= v;
            pairs += v * other / count, square_pairs += (v * v - 1) * (other * other - 1) / count;
            for (int size = 1; size <= 5; ++size) beyond[size] += std::abs(v) > size;
        }
        // Within five deviations of each.
        const double deviation = 5 / std::sqrt(count);
        BOOST_TEST(std::abs(powers[1]) < deviation, name);
        BOOST_TEST(std::abs(powers[2] - 1) < deviation * std::sqrt(2), name);
        BOOST_TEST(std::abs(powers[3]) < deviation * std::sqrt(15), name);
        BOOST_TEST(std::abs(powers[4] - 3) < deviation * std::sqrt(96), name);
        // The two numbers of a word are independent.
        BOOST_TEST(std::abs(pairs) < deviation * std::sqrt(2), name);
        BOOST_TEST(std::abs(square_pairs) < deviation * 2 * std::sqrt(2), name);
        for (const auto& [size, found] : beyond) {
            const double expected = count * 2 * gaussian(-size);
            BOOST_TEST(std::abs(found - expected) < 5 * std::sqrt(expected), name << " " << size);
        }
    };
    const Drawn drawn{.low = 0, .high = 1, .draw = Draw::normal};
    const auto floats = draw<float>("float", count, drawn);
    check(floats, "float");
    check(draw<double>("double", count, drawn), "double");
    check(draw<double>("double", count, drawn, 2), "double");
    // Halves and bfloat16 are the floats, rounded.
    const auto halves = draw<std::uint16_t>("half", count, drawn), brains = draw<std::uint16_t>("bf16", count, drawn);
    for (std::size_t i = 0; i < count; ++i)
        BOOST_REQUIRE((halves[i] == to_half(floats[i]).bits && brains[i] == to_bfloat16(floats[i]).bits));
    const auto scaled = draw<double>("double", count, {.low = 5, .high = 2, .draw = Draw::normal});
    BOOST_TEST(distance(scaled, [](double x) { return gaussian((x - 5) / 2); }) < far);
    BOOST_TEST(undrawable(*model::data_type("int"), 8, drawn) == "are not floating-point numbers");
}

BOOST_AUTO_TEST_CASE(normal_data_reaches_far_and_both_ways) {
    // sqrt(2 log 2^24) = 5.77 was the largest before: a word has 31 bits for the radius now.
    const auto largest = std::sqrt(2 * 32 * std::numbers::ln2);
    for (const std::uint64_t sign : {0, 1})
        BOOST_TEST(std::abs(normal_pair<double>(sign << 32).first - (sign ? -largest : largest)) < 1e-14);
    BOOST_TEST(std::abs(normal_pair<double>(std::uint64_t{1} << 31).second + largest) < 1e-14);
    BOOST_TEST(std::abs(normal_pair<double>((std::uint64_t{1} << 31) - 1).second - largest) < 1e-14);
    BOOST_TEST(std::abs(normal_pair<double>(~std::uint64_t{0}).first) < 1e-4);
}

BOOST_AUTO_TEST_CASE(sorted_data_rises_from_the_least_to_the_largest) {
    for (const std::size_t count : {1, 2, 3, 1024, 1025, 2049, 65536, 3 * 65536 + 5, 1'000'003}) {
        const auto rises = [&]<typename T>(T, const char* name, Drawn drawn, double least, double most) {
            drawn.draw = Draw::sorted;
            const auto x = draw<T>(name, count, drawn, 7);
            BOOST_TEST((x.size() == count && std::ranges::is_sorted(x)), name << " " << count);
            BOOST_TEST((static_cast<double>(x.front()) >= least && static_cast<double>(x.back()) <= most), name);
            // 1025 lanes and more: within 30 of the mean distances of the first from the end of its bounds.
            if (count > 1024)
                BOOST_TEST(static_cast<double>(x.front()) - least <= 1 + (most - least) * 30 / count, name);
            if (count > 1024) BOOST_TEST(most - static_cast<double>(x.back()) <= 1 + (most - least) * 30 / count, name);
        };
        rises(float{}, "float", {.low = -2, .high = 3}, -2, 3);
        rises(double{}, "double", {.low = 1e300, .high = 1.7e308}, 1e300, 1.7e308);
        rises(float{}, "float", {.low = 5, .high = 5}, 5, 5);
        rises(std::int8_t{}, "char", {.least = -128, .most = 127}, -128, 127);
        rises(std::int16_t{}, "short", {.least = -7, .most = 7}, -7, 7);
        rises(std::uint32_t{}, "uint", {.least = 0, .most = UINT32_MAX}, 0, UINT32_MAX);
        rises(std::int32_t{}, "int", {.least = 9, .most = 9}, 9, 9);
        rises(std::int64_t{}, "long", {.least = INT64_MIN, .most = INT64_MAX}, -0x1p63, 0x1p63);
        rises(std::int64_t{}, "long", {.least = 0, .most = 1ll << 40}, 0, 0x1p40);
        for (const char* name : {"half", "bf16"}) {  // of one sign: their bits rise too
            const auto x = draw<std::uint16_t>(name, count, {.low = 1, .high = 9, .draw = Draw::sorted}, 7);
            const auto nine = name[0] == 'h' ? to_half(9).bits : to_bfloat16(9).bits;
            const auto one = name[0] == 'h' ? to_half(1).bits : to_bfloat16(1).bits;
            BOOST_TEST((std::ranges::is_sorted(x) && x.front() >= one && x.back() <= nine), name);
        }
    }
}

BOOST_AUTO_TEST_CASE(sorted_data_is_uniform) {
    const auto uniform = [](double low, double high) {
        return [=](double x) { return std::clamp((x - low) / (high - low), 0.0, 1.0); };
    };
    for (const std::size_t count : {1000, 1025, 30'000, 300'003})
        for (const std::uint64_t seed : {1, 2, 3}) {
            const auto floats = draw<float>("float", count, {.low = -2, .high = 3, .draw = Draw::sorted}, seed);
            BOOST_TEST(distance(floats, uniform(-2, 3)) < far, count);
            const Drawn all{.least = INT64_MIN, .most = INT64_MAX, .draw = Draw::sorted};
            const auto longs = draw<std::int64_t>("long", count, all, seed);
            BOOST_TEST(distance(longs, uniform(-0x1p63, 0x1p63)) < far, count);
            // The distances of neighbors are exponential, and the lowest bits are any.
            std::vector<double> apart;
            for (std::size_t i = 1; i < count; ++i)
                apart.push_back(static_cast<double>(longs[i] - longs[i - 1]) * 0x1p-64 * static_cast<double>(count));
            BOOST_TEST(distance(apart, [](double x) { return -std::expm1(-x); }) < far, count);
            for (int bit = 0; bit < 16; ++bit) {
                const auto set = std::ranges::count_if(longs, [&](std::int64_t x) { return x >> bit & 1; });
                BOOST_TEST(std::abs(2 * set - static_cast<double>(count)) < 5 * std::sqrt(count), bit << " " << count);
            }
            const auto chars = draw<std::int8_t>("char", count, {.least = -5, .most = 7, .draw = Draw::sorted}, seed);
            std::vector<double> found(13);
            for (const auto x : chars) ++found.at(static_cast<std::size_t>(x + 5));
            BOOST_TEST(chi_square(found, std::vector<double>(13, 1.0 / 13)) < 4, count);
        }
    // As many halves of each value as if they had been drawn one by one.
    const auto halves = draw<std::uint16_t>("half", 1'000'003, {.draw = Draw::sorted});
    std::vector<double> found(33), parts(33);  // 1/32 of the numbers each; those that round up to a bound count for it
    for (const auto x : halves) ++found[static_cast<std::size_t>(Half{x} * 32)];
    for (std::size_t i = 0; i < 33; ++i) {
        const auto bound = [](double x) {
            return x <= 0 ? 0 : x > 1 ? 1 : x - (x - Half{static_cast<std::uint16_t>(to_half(x).bits - 1)}) / 2;
        };
        parts[i] = bound((i + 1) / 32.0) - bound(i / 32.0);
    }
    BOOST_TEST(chi_square(found, parts) < 4);
}

BOOST_AUTO_TEST_CASE(few_sorted_numbers_are_the_order_statistics_of_that_many) {
    std::vector<double> least, middle, most, alone;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const auto x = draw<double>("double", 3, {.draw = Draw::sorted}, seed);
        least.push_back(x[0]), middle.push_back(x[1]), most.push_back(x[2]);
        alone.push_back(draw<double>("double", 1, {.draw = Draw::sorted}, seed)[0]);
    }
    BOOST_TEST(distance(least, [](double x) { return 1 - std::pow(1 - x, 3); }) < far);
    BOOST_TEST(distance(middle, [](double x) { return x * x * (3 - 2 * x); }) < far);
    BOOST_TEST(distance(most, [](double x) { return x * x * x; }) < far);
    BOOST_TEST(distance(alone, [](double x) { return x; }) < far);
}

BOOST_AUTO_TEST_CASE(offsets_start_at_zero_and_rise_to_the_last_everywhere) {
    for (const std::size_t count : {2, 101, 65537, 1'000'003}) {
        const Drawn drawn{.least = 0, .most = 1'000'000'000, .draw = Draw::offsets};
        const auto x = draw<std::int32_t>("int", count, drawn);
        BOOST_TEST((x.front() == 0 && x.back() == drawn.most && std::ranges::is_sorted(x)), count);
        BOOST_TEST(distance(std::vector(x.begin() + 1, x.end() - 1), [](double v) { return v * 1e-9; }) < far, count);
    }
}

BOOST_AUTO_TEST_CASE(text_leaves_what_is_behind_it) {
    for (std::size_t count = 0; count < 200'000; count = count * 9 / 8 + 1) {
        std::vector<std::byte> memory(count + 20'000, std::byte{7});
        put_text(std::span(memory).first(count), Random(count));
        BOOST_TEST(std::ranges::count(memory, std::byte{7}) == 20'000, count);
    }
}

BOOST_AUTO_TEST_CASE(text_is_words_of_lower_case_letters) {
    const std::string letters = "eeeeeeetttttaaaaoooiiinnnsssrrrhhhddllluuccmmfwygpbvk";
    constexpr std::size_t count = 5'000'000;
    for (const std::uint64_t seed : {1, 2}) {
        const auto x = draw<char>("char", count, {.draw = Draw::text}, seed);
        const std::string text(x.begin(), x.end());
        // A text begins as each shorter one.
        for (const std::size_t some : {1, 2, 3, 4, 5, 12, 1025, 6000, 65536, 1'000'003}) {
            const auto begin = draw<char>("char", some, {.draw = Draw::text}, seed);
            BOOST_TEST((std::string(begin.begin(), begin.end()) == text.substr(0, some)), some);
        }
        std::vector<double> lengths(11), lines(2), found(26), parts(26), pairs(26 * 26), of_pairs(26 * 26);
        for (const char letter : letters)
            parts[static_cast<std::size_t>(letter - 'a')] += 1.0 / static_cast<double>(letters.size());
        for (std::size_t i = 0; i < pairs.size(); ++i) of_pairs[i] = parts[i / 26] * parts[i % 26];
        std::size_t begin = text.find_first_of(" \n");
        BOOST_TEST((begin >= 2 && begin <= 10));
        for (std::size_t end; (end = text.find_first_of(" \n", begin + 1)) != std::string::npos; begin = end) {
            BOOST_REQUIRE((end - begin >= 2 && end - begin <= 10));
            ++lengths[end - begin], ++lines[text[begin] == '\n'];
            for (auto i = begin + 1; i < end; ++i) {
                BOOST_REQUIRE((text[i] >= 'a' && text[i] <= 'z'));
                ++found[static_cast<std::size_t>(text[i] - 'a')];
                if (i + 1 < end) ++pairs[static_cast<std::size_t>((text[i] - 'a') * 26 + text[i + 1] - 'a')];
            }
        }
        const auto drop_never = [](std::vector<double>& numbers, const std::vector<double>& by) {
            std::size_t at = 0;
            std::erase_if(numbers, [&](double) { return by[at++] == 0; });
        };
        for (std::size_t i = 0; i < 26; ++i) BOOST_TEST((parts[i] > 0 || found[i] == 0));
        drop_never(found, std::vector(parts)), drop_never(parts, std::vector(parts));
        drop_never(pairs, std::vector(of_pairs)), drop_never(of_pairs, std::vector(of_pairs));
        BOOST_TEST(chi_square(found, parts) < 4);
        BOOST_TEST(chi_square(pairs, of_pairs) < 4);
        BOOST_TEST(chi_square({lengths.begin() + 2, lengths.end()}, std::vector<double>(9, 1.0 / 9)) < 4);
        BOOST_TEST(chi_square(lines, {11.0 / 12, 1.0 / 12}) < 4);
    }
    BOOST_TEST(undrawable(*model::data_type("int"), 8, {.draw = Draw::text}) == "are not bytes");
}

BOOST_AUTO_TEST_SUITE_END()
