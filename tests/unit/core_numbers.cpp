#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/error.hpp"
#include "core/random.hpp"
#include "core/stats.hpp"
#include "core/units.hpp"

BOOST_AUTO_TEST_SUITE(core_numbers)

using namespace cllab;

BOOST_AUTO_TEST_CASE(seconds_have_three_digits_and_a_suitable_prefix) {
    BOOST_TEST(format_seconds(0) == "0 s");
    BOOST_TEST(format_seconds(1.2345e-5) == "12.3 us");
    BOOST_TEST(format_seconds(1.0499e-3) == "1.05 ms");
    BOOST_TEST(format_seconds(9.997e-4) == "1.00 ms");  // rounding carries into the next prefix
    BOOST_TEST(format_seconds(9.994e-4) == "999 us");
    BOOST_TEST(format_seconds(3.2e-13) == "0.320 ps");
    BOOST_TEST(format_seconds(4000) == "4000 s");
    BOOST_TEST(format_seconds(-2e-9) == "-2.00 ns");
}

BOOST_AUTO_TEST_CASE(rates_use_decimal_prefixes) {
    BOOST_TEST(format_rate(1.25e9, "B/s") == "1.25 GB/s");
    BOOST_TEST(format_rate(6.7e13, "FLOP/s") == "67.0 TFLOP/s");
    BOOST_TEST(format_rate(999.6e9, "B/s") == "1.00 TB/s");
    BOOST_TEST(format_rate(12, "B/s") == "12.0 B/s");
    BOOST_TEST(format_rate(662e3, "cache lines") == "662 k cache lines");
    BOOST_TEST(format_rate(12, "cache lines") == "12.0 cache lines");
}

BOOST_AUTO_TEST_CASE(sizes_use_binary_prefixes_without_trailing_zeros) {
    BOOST_TEST(format_bytes(0) == "0 B");
    BOOST_TEST(format_bytes(137) == "137 B");
    BOOST_TEST(format_bytes(1023) == "1023 B");
    BOOST_TEST(format_bytes(65536) == "64 KiB");
    BOOST_TEST(format_bytes(3ull << 29) == "1.5 GiB");
    BOOST_TEST(format_bytes((1ull << 20) - 1) == "1 MiB");
    BOOST_TEST(format_bytes(1000ull << 10) == "1000 KiB");
    BOOST_TEST(format_bytes(std::numeric_limits<std::uint64_t>::max()) == "16 EiB");
}

BOOST_AUTO_TEST_CASE(significant_digits_never_cut_the_integer_part) {
    BOOST_TEST(format_significant(0.0012345, 3) == "0.00123");
    BOOST_TEST(format_significant(12.345, 3) == "12.3");
    BOOST_TEST(format_significant(123.4, 3) == "123");
    BOOST_TEST(format_significant(123456, 3) == "123456");
    BOOST_TEST(format_significant(9.996, 3) == "10.0");
    BOOST_TEST(format_significant(1.5e-9, 2) == "1.5e-9");
    BOOST_TEST(format_significant(NAN, 3) == "nan");
}

BOOST_AUTO_TEST_CASE(whole_numbers_take_binary_and_decimal_suffixes) {
    BOOST_TEST(parse_integer("4096").value() == 4096);
    BOOST_TEST(parse_integer("4Ki").value() == 4096);
    BOOST_TEST(parse_integer("1Gi").value() == 1 << 30);
    for (const auto& [value, text] : {std::pair{4096, "4096"}, {10000, "10000"}, {65536, "64Ki"}, {3 << 20, "3Mi"}}) {
        BOOST_TEST(format_integer(value) == text);
        BOOST_TEST(parse_integer(text).value() == value);
    }
    BOOST_TEST(parse_integer("4K").value() == 4000);
    BOOST_TEST(parse_integer("-3").value() == -3);
    BOOST_TEST(parse_integer("9223372036854775807").value() == std::numeric_limits<std::int64_t>::max());
    for (const auto* bad :
         {"", " 1", "1 ", "1.5", "x", "4KiB", "0x10", "9223372036854775808", "9007199254740992Ki", "1e3"})
        BOOST_TEST(!parse_integer(bad).has_value(), bad);
}

BOOST_AUTO_TEST_CASE(parse_real_accepts_only_finite_complete_numbers) {
    BOOST_TEST(parse_real("20.2").value() == 20.2);
    BOOST_TEST(parse_real("-1e-3").value() == -1e-3);
    for (const auto* bad : {"", "1,5", "1.5x", "inf", "nan", "1e999", " 1"})
        BOOST_TEST(!parse_real(bad).has_value(), bad);
}

BOOST_AUTO_TEST_CASE(quantiles_interpolate_between_the_sorted_samples) {
    const std::vector<double> sorted{1, 2, 3, 4};
    BOOST_TEST(quantile(sorted, 0) == 1);
    BOOST_TEST(quantile(sorted, 0.25) == 1.75);
    BOOST_TEST(quantile(sorted, 0.5) == 2.5);
    BOOST_TEST(quantile(sorted, 1) == 4);
    BOOST_CHECK_THROW(quantile({}, 0.5), Error);
}

BOOST_AUTO_TEST_CASE(median_interval_has_the_ranks_of_the_binomial_table) {
    // Ranks (from 1) of the 95 % interval, as in every table of the sign test: n = 6: 1..6, 9: 2..8, 20: 6..15,
    // 40: 14..27.
    for (const auto& [n, low, high] :
         std::vector<std::array<int, 3>>{{5, 1, 5}, {6, 1, 6}, {9, 2, 8}, {20, 6, 15}, {40, 14, 27}}) {
        std::vector<double> sample(static_cast<std::size_t>(n));
        std::iota(sample.rbegin(), sample.rend(), 1.0);  // descending: order must not matter
        const auto s = summarise(sample);
        BOOST_TEST(s.low == low);
        BOOST_TEST(s.high == high);
        BOOST_TEST(s.n == static_cast<unsigned>(n));
    }
}

BOOST_AUTO_TEST_CASE(a_large_sample_has_a_finite_narrow_interval) {
    std::vector<double> sample(5001);
    std::iota(sample.begin(), sample.end(), 0.0);
    const auto s = summarise(sample);
    BOOST_TEST(s.median == 2500);
    BOOST_TEST(s.low == 2430);  // 2500 - 1.96 * sqrt(5001) / 2, rounded outwards
    BOOST_TEST(s.high == 2570);
}

BOOST_AUTO_TEST_CASE(one_outlier_moves_neither_median_nor_spread) {
    std::vector<double> sample{10, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6};
    const auto calm = summarise(sample);
    sample.back() = 1e6;
    const auto wild = summarise(sample);
    BOOST_TEST(wild.median == calm.median);
    BOOST_TEST(wild.mad <= 2 * calm.mad);
    BOOST_TEST(wild.min == 10);
    BOOST_TEST(wild.max == 1e6);
    BOOST_CHECK_THROW(summarise({}), Error);
}

BOOST_AUTO_TEST_CASE(the_mad_is_the_median_distance_from_the_median) {
    BOOST_TEST(summarise(std::vector<double>{1, 2, 4, 8, 16}).mad == 3);  // distances 3 2 0 4 12
}

BOOST_AUTO_TEST_CASE(the_relative_half_width_is_half_the_interval_over_the_median) {
    Summary s;
    s.median = 10, s.low = 9, s.high = 12;
    BOOST_TEST(relative_half_width(s) == 0.15);
    s.low = s.high = s.median = 0;
    BOOST_TEST(relative_half_width(s) == 0);
    s.high = 1;
    BOOST_TEST(std::isinf(relative_half_width(s)));
}

BOOST_AUTO_TEST_CASE(interval_prints_one_number_if_symmetric_else_two) {
    BOOST_TEST(format_interval(100, 99, 101) == "±1.0");
    BOOST_TEST(format_interval(100, 99.4, 101) == "±1.0");
    BOOST_TEST(format_interval(609, 580, 1110) == "-4.8/+82");
    BOOST_TEST(format_interval(100, 20, 100.5) == "-80/+0.5");
    BOOST_TEST(format_interval(100, 100, 100) == "±0.00");
    BOOST_TEST(format_interval(0, 0, 1) == "");
}

BOOST_AUTO_TEST_SUITE_END()
