// bandwidth without a device: what every kernel must leave behind, and the conclusions.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <set>

#include "unit/memory_probe_run.hpp"

using namespace cllab;
using namespace cllab::memory_test;

namespace {

using Words = std::vector<std::uint32_t>;

const Settings small{{"size", "65536"}, {"width", "16"}};

}  // namespace

BOOST_AUTO_TEST_SUITE(bandwidth)

BOOST_AUTO_TEST_CASE(the_copy_is_its_source) {
    for (const auto* variant : {"copy", "batch"}) {
        const auto setup = set_up("bandwidth", variant, gpu(), small);
        require_right_and_watched(setup, "dst", argument<std::uint32_t>(setup, "src"), 0, 16383);
        BOOST_TEST(setup.work.bytes == 131072.0);
    }
}

BOOST_AUTO_TEST_CASE(the_write_follows_from_place_and_key) {
    const auto setup = set_up("bandwidth", "write", gpu(), small);
    Words dst(16384);
    for (std::uint32_t i = 0; i < dst.size(); ++i) dst[i] = i / 4 * 0x9E3779B1u ^ argument<std::uint32_t>(setup, "key")[0];
    require_right_and_watched(setup, "dst", dst, 0, 8000);
}

BOOST_AUTO_TEST_CASE(the_triad_is_a_sum_of_two) {
    const auto setup = set_up("bandwidth", "triad", gpu(), small);
    const auto b = argument<std::uint32_t>(setup, "b"), c = argument<std::uint32_t>(setup, "c");
    BOOST_TEST((b != c), "both inputs are the same");
    auto a = b;
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += argument<std::uint32_t>(setup, "factor")[0] * c[i];
    require_right_and_watched(setup, "a", a, 0, 1);
    BOOST_TEST(setup.work.bytes == 3 * 65536.0);
}

BOOST_AUTO_TEST_CASE(every_work_item_of_the_read_sums_its_elements) {
    for (const bool on_cpu : {false, true}) {
        const auto setup = set_up("bandwidth", "read", on_cpu ? cpu() : gpu(), small);
        const auto src = argument<std::uint32_t>(setup, "src");
        const auto items = setup.global.count(), run = (4096 + items - 1) / items;
        Words sums(items * 4);
        for (std::size_t item = 0; item < items; ++item)
            for (std::size_t i = on_cpu ? item * run : item; i < std::min<std::size_t>(4096, on_cpu ? (item + 1) * run : 4096); i += on_cpu ? 1 : items)
                for (std::size_t k = 0; k < 4; ++k) sums[item * 4 + k] += src[i * 4 + k];
        require_right_and_watched(setup, "sums", sums, 0, sums.size() - 1);
    }
}

BOOST_AUTO_TEST_CASE(rereading_groups_walk_round_the_region_block_after_block_on_a_cpu) {
    const auto setup = set_up("bandwidth", "reread", cpu(), small);
    const auto src = argument<std::uint32_t>(setup, "src");
    const std::size_t depth = 256, groups = setup.global.count(), blocks = argument<std::uint32_t>(setup, "blocks")[0];
    BOOST_REQUIRE_EQUAL(blocks * depth, 4096u);
    Words sums(groups * 4);
    for (std::size_t group = 0; group < groups; ++group) {
        std::size_t block = group * blocks / groups;
        for (int trip = 0; trip < 7; ++trip) {
            for (std::size_t d = 0; d < depth; ++d)
                for (std::size_t k = 0; k < 4; ++k) sums[group * 4 + k] += src[(block * depth + d) * 4 + k];
            block = (block + 1) % blocks;
        }
    }
    require_right_and_watched(setup, "sums", sums, 7, sums.size() / 2);
    BOOST_TEST(check(setup, "sums", sums, 6).has_value(), "a trip too many passed");
}

BOOST_AUTO_TEST_CASE(rereading_groups_of_a_gpu_are_one_a_unit_and_come_by_every_block) {
    for (const auto* size : {"16384", "65536", "81920"}) {
        const auto setup = set_up("bandwidth", "reread", gpu(), {{"size", size}, {"width", "16"}});
        const auto src = argument<std::uint32_t>(setup, "src");
        const std::size_t lanes = setup.local.count(), groups = setup.global.count() / lanes;
        const std::size_t blocks = argument<std::uint32_t>(setup, "blocks")[0], stride = argument<std::uint32_t>(setup, "stride")[0];
        BOOST_TEST(lanes == 1024u);
        BOOST_TEST(groups == gpu().compute_units);
        BOOST_REQUIRE_EQUAL(blocks * lanes * 4, src.size());
        std::set<std::size_t> seen;
        for (std::size_t i = 0; i < blocks; ++i) seen.insert(i * stride % blocks);
        BOOST_TEST(seen.size() == blocks);
        Words sums(setup.global.count() * 4);
        for (std::size_t item = 0; item < setup.global.count(); ++item) {
            std::size_t block = item / lanes % blocks;
            for (int load = 0; load < 7 * 4; ++load, block = (block + stride) % blocks)
                for (std::size_t k = 0; k < 4; ++k) sums[item * 4 + k] += src[(block * lanes + item % lanes) * 4 + k];
        }
        require_right_and_watched(setup, "sums", sums, 7, sums.size() / 2);
        BOOST_TEST(check(setup, "sums", sums, 6).has_value(), "a trip too many passed");
    }
}

BOOST_AUTO_TEST_CASE(the_default_copy_is_the_yardstick) {
    const auto setup = set_up("bandwidth", "copy", gpu());
    BOOST_TEST(setup.work.bytes == 2 * 16.0 * (1 << 20));  // never under 16 MiB a buffer
    BOOST_TEST(setup.point.text("width") == "16");
    auto large = gpu();
    large.last_level_bytes = 16 << 20;
    BOOST_TEST(set_up("bandwidth", "copy", large).work.bytes == 4.0 * (16 << 20));
}

BOOST_AUTO_TEST_CASE(sizes_that_split_an_element_are_refused) {
    BOOST_CHECK_THROW(set_up("bandwidth", "copy", gpu(), {{"size", "100"}}), Error);
    BOOST_CHECK_THROW(set_up("bandwidth", "copy", gpu(), {{"width", "12"}}), Error);
    BOOST_CHECK_THROW(set_up("bandwidth", "batch", cpu()), Unsupported);
}

BOOST_AUTO_TEST_CASE(the_yardstick_alone_concludes_nothing) {
    auto copy = curve("copy", {{67108864, 1e-3}}, {{"width", "16"}});
    copy.samples.front().work.bytes = 2e9;
    BOOST_TEST(family("bandwidth").conclude({copy}, gpu()).empty());
    auto read = copy;
    read.variant = "read";
    const auto found = family("bandwidth").conclude({copy, read}, gpu());
    require_finding(found, "copy bandwidth", 2e12);
    require_finding(found, "read bandwidth", 2e12);
}

BOOST_AUTO_TEST_CASE(levels_show_in_the_sweep_of_reread) {
    std::vector<std::pair<double, double>> points;
    for (double kib = 16; kib <= 65536; kib *= 2) points.emplace_back(kib * 1024, kib <= 128 ? 1e-13 : kib <= 8192 ? 2e-13 : 5e-13);
    const auto found = family("bandwidth").conclude({curve("reread", points, {{"width", "16"}})}, gpu());
    require_finding(found, "level 1 read bandwidth", 1e13);
    require_finding(found, "level 2 read bandwidth", 5e12);
    require_finding(found, "level 3 read bandwidth", 2e12);
    require_finding(found, "level 1 capacity", 128 << 10);
    require_finding(found, "level 2 capacity", 8 << 20);
    for (const auto& finding : found) BOOST_TEST(finding.name != "level 3 capacity");  // the sweep ends in it
}

BOOST_AUTO_TEST_SUITE_END()
