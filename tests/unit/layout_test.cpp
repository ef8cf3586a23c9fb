// Studies of addresses and layouts without a device, likewise.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>

#include "unit/study.hpp"

BOOST_AUTO_TEST_SUITE(layouts)

using namespace cllab;
using namespace cllab::model;
using namespace cllab::test;

BOOST_AUTO_TEST_SUITE(address)

BOOST_AUTO_TEST_CASE(check_rejects_gaps_and_writes_between) {
    Study cell("address", "index", {{"trips", "3"}, {"items", "64"}});
    const auto v = argument<std::int32_t>(cell.setup, "v").front();
    auto* out = cell.out<std::int32_t>("out");
    for (int i = 0; i < 64 * 3; ++i) out[2 * i] = v;
    BOOST_TEST(cell.verdict() == "");
    out[5] ^= 1;
    BOOST_TEST(says(cell.verdict(), "out[5] was written"));
    out[5] ^= 1;
    out[382] = v + 1;
    BOOST_TEST(says(cell.verdict(), "out[382]"));
}

BOOST_AUTO_TEST_CASE(check_of_an_image_guards_the_gap_between_rows) {
    Study cell("address", "row", {{"width", "20"}, {"height", "3"}});
    auto* p = cell.out<std::uint8_t>("p");
    for (int y = 0; y < 3; ++y) {
        for (int x = 0; x < 20; ++x) p[y * 64 + x] = static_cast<std::uint8_t>(255 - p[y * 64 + x]);
    }
    BOOST_TEST(cell.verdict() == "");
    p[64 + 20] ^= 1;
    BOOST_TEST(says(cell.verdict(), "pixel (20, 1)"));
}

BOOST_AUTO_TEST_CASE(every_integer_of_a_masked_block_is_incremented_once) {
    Study cell("address", "masked_bytes", {{"trips", "2"}, {"items", "128"}});
    auto* p = cell.out<std::int32_t>("p");
    for (int i = 0; i < 128; ++i) ++p[i];
    BOOST_TEST(cell.verdict() == "");
    ++p[127];
    BOOST_TEST(says(cell.verdict(), "p[127]"));
}

BOOST_AUTO_TEST_CASE(every_item_adds_the_local_arrays_of_its_group) {
    for (const char* variant : {"locals_two", "locals_one", "locals_two_given", "locals_one_given"}) {
        Study cell("address", variant, {{"length", "3"}, {"items", "64"}});
        const auto src = argument<std::int32_t>(cell.setup, "src");
        auto* out = cell.out<std::int32_t>("out");
        for (int item = 0; item < 64; ++item) {
            for (int i = 0; i < 3; ++i) out[item * 3 + i] = src[item / 32 * 64 + i] + src[item / 32 * 64 + 32 + i];
        }
        BOOST_TEST(cell.verdict() == "");
        std::swap(out[0], out[1]);
        BOOST_TEST(says(cell.verdict(), "out[0]"));
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(scalar_values)

BOOST_AUTO_TEST_CASE(every_item_of_a_group_gets_the_value_of_its_rule) {
    for (const char* variant : {"argument", "load", "result", "item", "branch"}) {
        Study cell("scalar", variant, {{"items", "128"}, {"local", "64"}});
        const auto a = argument<std::uint32_t>(cell.setup, "a").front(),
                   m = argument<std::uint32_t>(cell.setup, "m").front();
        const auto table = argument<std::uint32_t>(cell.setup, "table");
        auto* out = cell.out<std::uint32_t>("out");
        const std::string rule = variant;
        for (std::uint32_t i = 0; i < 128; ++i) {
            std::uint32_t x = rule == "load"     ? table[i / 64]
                              : rule == "result" ? a ^ (i / 64)
                              : rule == "item"   ? a ^ (i % 64)
                                                 : a;
            if (rule == "branch" && i % 2 == 1) x = m;
            for (int step = 0; step < 8; ++step) x = x * x + m;
            out[i] = x + i;
        }
        BOOST_TEST(cell.verdict() == "");
        out[127] ^= 1;
        BOOST_TEST(says(cell.verdict(), "out[127]"));
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(place_of_a_copy)

BOOST_AUTO_TEST_CASE(stride_moves_only_its_own_words) {
    Study cell("access", "stride", {{"size", "4096"}, {"stride", "3"}});
    const auto src = argument<std::uint32_t>(cell.setup, "src");
    auto* dst = cell.out<std::uint32_t>("dst");
    for (int i = 0; i < 1024; i += 3) dst[i] = src[i];
    BOOST_TEST(cell.verdict() == "");
    dst[4] = src[4];
    BOOST_TEST(says(cell.verdict(), "dst[4] was written"));
}

BOOST_AUTO_TEST_CASE(words_before_the_offset_stay_unchanged) {
    Study cell("access", "offset", {{"size", "4096"}, {"offset", "8"}});
    const auto src = argument<std::uint32_t>(cell.setup, "src");
    auto* dst = cell.out<std::uint32_t>("dst");
    for (int i = 2; i < 1026; ++i) dst[i] = src[i];
    BOOST_TEST(cell.verdict() == "");
    dst[1] = src[1];
    BOOST_TEST(says(cell.verdict(), "dst[1] was written"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(nchw)

BOOST_AUTO_TEST_CASE(check_matches_division_and_rejects_another_order) {
    Study cell("nchw", "divide", {{"images", "2"}, {"channels", "3"}, {"height", "4"}, {"width", "5"}});
    auto* out = cell.out<std::uint32_t>("out");
    for (std::uint32_t i = 0; i < 120; ++i) {
        const std::uint32_t c = i % 3, w = i / 3 % 5, h = i / 15 % 4, n = i / 60;
        out[i] = n * 60 + c * 20 + h * 5 + w;
    }
    BOOST_TEST(cell.verdict() == "");
    std::swap(out[100], out[101]);
    BOOST_TEST(says(cell.verdict(), "out[100]"));
}

BOOST_AUTO_TEST_CASE(reciprocals_divide_exactly_below_2_to_the_31) {
    for (const std::uint32_t d : {1u, 2u, 3u, 7u, 56u, 64u, 641u, 65535u, 65537u, 1u << 20, (1u << 27) - 1}) {
        const Study cell("nchw", "magic",
                         {{"images", "1"}, {"channels", "1"}, {"height", "1"}, {"width", std::to_string(d)}}, [] {
                             auto device = small_device();
                             device.max_alloc_bytes = 1ull << 33;
                             return device;
                         }());
        const auto m = argument<std::uint32_t>(cell.setup, "rw").front(),
                   s = argument<std::uint32_t>(cell.setup, "sw").front();
        const auto quotient = [&](std::uint32_t i) {
            return static_cast<std::uint32_t>((static_cast<std::uint64_t>(i << 1) * m) >> 32) >> s;
        };
        const std::uint32_t most = 0x7fffffff;
        for (const std::uint32_t at : {0u, d, 2 * d, most / d * d, most / d / 2 * d}) {
            if (at > most) continue;
            BOOST_TEST(quotient(at) == at / d);
            if (at > 0) BOOST_TEST(quotient(at - 1) == (at - 1) / d);
        }
        BOOST_TEST(quotient(most) == most / d);
    }
}

BOOST_AUTO_TEST_CASE(index_overflow_of_32_bits_is_refused) {
    BOOST_TEST(says(unsupported("nchw", "divide", {{"images", "1Mi"}, {"channels", "4Ki"}}), "the number of elements"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(pad)

BOOST_AUTO_TEST_CASE(check_rejects_a_nonzero_margin) {
    Study cell("pad", "wide", {{"images", "1"}, {"channels", "2"}, {"side", "2"}, {"margin", "1"}});
    const auto in = argument<std::uint32_t>(cell.setup, "in");
    auto* out = cell.out<std::uint32_t>("out");
    std::fill_n(out, 32, 0u);
    for (int p = 0; p < 2; ++p) {
        for (int i = 0; i < 4; ++i) out[p * 16 + (i / 2 + 1) * 4 + i % 2 + 1] = in[p * 4 + i];
    }
    BOOST_TEST(cell.verdict() == "");
    out[16 + 3] = 1;
    BOOST_TEST(says(cell.verdict(), "plane 1, row 0, column 3"));
    out[16 + 3] = 0;
    out[5] ^= 1;
    BOOST_TEST(says(cell.verdict(), "plane 0, row 1, column 1"));
}

BOOST_AUTO_TEST_CASE(bytes_are_those_moved_not_twice_the_output) {
    auto device = small_device();
    device.max_alloc_bytes = 1ull << 30;
    const Study cell("pad", "flat", {{"images", "64"}, {"channels", "64"}}, device);
    BOOST_TEST(cell.setup.work.bytes == 4.0 * 64 * 64 * (169 + 49));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()
