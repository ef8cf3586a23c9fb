// bandwidth without a device: what every kernel must leave behind, and the conclusions.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <tuple>

#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(bandwidth)

using namespace cllab;
using namespace cllab::test;
using cllab::model::Curve;

namespace {

using Words = std::vector<std::uint32_t>;

const Axes small{{"size", "65536"}, {"width", "16"}};

}  // namespace

BOOST_AUTO_TEST_CASE(copy_equals_its_source) {
    for (const auto* variant : {"copy", "batch"}) {
        const auto setup = set_up(std::string("bandwidth_") + variant, probe_gpu(), small);
        require_right_and_watched(setup, "dst", argument<std::uint32_t>(setup, "src"), 0, 16383);
        BOOST_TEST(setup.work.bytes == 131072.0);
    }
}

BOOST_AUTO_TEST_CASE(written_words_follow_from_position_and_key) {
    const auto setup = set_up("bandwidth_write", probe_gpu(), small);
    Words dst(16384);
    for (std::uint32_t i = 0; i < dst.size(); ++i)
        dst[i] = i / 4 * 0x9E3779B1u ^ argument<std::uint32_t>(setup, "key")[0];
    require_right_and_watched(setup, "dst", dst, 0, 8000);
}

BOOST_AUTO_TEST_CASE(the_triad_is_a_sum_of_two) {
    const auto setup = set_up("bandwidth_triad", probe_gpu(), small);
    const auto b = argument<std::uint32_t>(setup, "b"), c = argument<std::uint32_t>(setup, "c");
    BOOST_TEST((b != c), "both inputs are the same");
    auto a = b;
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += argument<std::uint32_t>(setup, "factor")[0] * c[i];
    require_right_and_watched(setup, "a", a, 0, 1);
    BOOST_TEST(setup.work.bytes == 3 * 65536.0);
}

BOOST_AUTO_TEST_CASE(read_sums_the_elements_of_each_work_item) {
    for (const bool on_cpu : {false, true}) {
        const auto setup = set_up("bandwidth_read", on_cpu ? probe_cpu() : probe_gpu(), small);
        const auto src = argument<std::uint32_t>(setup, "src");
        const auto items = setup.global.count(), run = (4096 + items - 1) / items;
        Words sums(items * 4);
        for (std::size_t item = 0; item < items; ++item)
            for (std::size_t i = on_cpu ? item * run : item;
                 i < std::min<std::size_t>(4096, on_cpu ? (item + 1) * run : 4096); i += on_cpu ? 1 : items)
                for (std::size_t k = 0; k < 4; ++k) sums[item * 4 + k] += src[i * 4 + k];
        require_right_and_watched(setup, "sums", sums, 0, sums.size() - 1);
    }
}

BOOST_AUTO_TEST_CASE(cpu_groups_reread_the_region_block_by_block) {
    const auto setup = set_up("bandwidth_reread", probe_cpu(), small);
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
    BOOST_TEST(verdict(setup, "sums", sums, 6) != "", "a trip too many passed");
}

BOOST_AUTO_TEST_CASE(one_gpu_group_per_unit_rereads_every_block) {
    for (const auto* size : {"16384", "65536", "81920"}) {
        const auto setup = set_up("bandwidth_reread", probe_gpu(), {{"size", size}, {"width", "16"}});
        const auto src = argument<std::uint32_t>(setup, "src");
        const std::size_t lanes = setup.local.count(), groups = setup.global.count() / lanes;
        const std::size_t blocks = argument<std::uint32_t>(setup, "blocks")[0],
                          stride = argument<std::uint32_t>(setup, "stride")[0];
        BOOST_TEST(lanes == 1024u);
        BOOST_TEST(groups == probe_gpu().compute_units);
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
        BOOST_TEST(verdict(setup, "sums", sums, 6) != "", "a trip too many passed");
    }
}

BOOST_AUTO_TEST_CASE(strided_copies_write_only_the_selected_elements) {
    // Elements of four words, from word 3 on every fifth of them: 820 of 4096.
    const Axes places{{"size", "65536"}, {"width", "16"}, {"offset", "3"}, {"stride", "5"}};
    const auto moved = [](std::size_t at) { return at >= 3 && (at - 3) / 4 % 5 == 0 && (at - 3) / 20 < 820; };
    for (const std::string variant : {"copy", "batch", "write", "triad"}) {
        const auto setup = set_up(std::string("bandwidth_") + variant, probe_gpu(), places);
        const auto words = [&](const char* name) { return argument<std::uint32_t>(setup, name); };
        const auto name = variant == "triad" ? "a" : "dst";
        auto out = words(name);  // poison
        BOOST_TEST(out.size() == 16384u + 3);
        const auto from = variant == "write" ? Words{} : words(variant == "triad" ? "b" : "src"),
                   more = variant == "triad" ? words("c") : Words{};
        const auto key = variant == "write" ? words("key")[0] : variant == "triad" ? words("factor")[0] : 0;
        for (std::size_t at = 0; at < out.size(); ++at) {
            if (!moved(at)) continue;
            out[at] = variant == "write" ? static_cast<std::uint32_t>((at - 3) / 20) * 0x9E3779B1u ^ key
                                         : from[at] + (variant == "triad" ? key * more[at] : 0);
        }
        for (const std::size_t at : {0u, 3u, 7u, 16383u, 16386u}) require_right_and_watched(setup, name, out, 0, at);
        BOOST_TEST(setup.work.bytes == (variant == "write" ? 1 : variant == "triad" ? 3 : 2) * 16.0 * 820);
    }
    const auto read = set_up("bandwidth_read", probe_cpu(), places);
    const auto src = argument<std::uint32_t>(read, "src");
    Words sums(read.global.count() * 4);
    const auto run = (820 + read.global.count() - 1) / read.global.count();
    for (std::size_t i = 0; i < 820; ++i)
        for (std::size_t k = 0; k < 4; ++k) sums[i / run * 4 + k] += src[3 + i * 20 + k];
    require_right_and_watched(read, "sums", sums, 0, 0);
}

BOOST_AUTO_TEST_CASE(other_offsets_and_strides_have_their_own_conclusions) {
    std::vector<Curve> curves;
    for (const auto& [offset, stride, seconds] :
         {std::tuple{"0", "1", 1e-3}, {"1", "1", 1.25e-3}, {"4", "1", 1e-3}, {"0", "2", 0.8e-3}, {"0", "8", 0.5e-3}}) {
        auto copy = curve_of("copy", {{67108864, seconds}}, {{"width", "16"}, {"offset", offset}, {"stride", stride}});
        copy.samples.front().work.bytes = 2e9 / std::stod(stride);
        curves.push_back(copy);
    }
    const auto found = concluded("bandwidth", curves, probe_gpu());
    require_finding(found, "least rate by offset, copy", 0.8);
    require_finding(found, "least rate by stride, copy", 0.25);
    require_finding(found, "copy bandwidth", 2e12);
    BOOST_TEST(found.size() == 4u);  // what is streamed, too
}

BOOST_AUTO_TEST_CASE(the_default_copy_is_the_yardstick) {
    const auto setup = set_up("bandwidth_copy", probe_gpu());
    BOOST_TEST(setup.work.bytes == 2 * 16.0 * (1 << 20));  // never under 16 MiB a buffer
    BOOST_TEST(setup.point.text("width") == "16");
    auto large = probe_gpu();
    large.last_level_bytes = 16 << 20;
    BOOST_TEST(set_up("bandwidth_copy", large).work.bytes == 4.0 * (16 << 20));
}

BOOST_AUTO_TEST_CASE(sizes_that_split_an_element_are_refused) {
    BOOST_CHECK_THROW(set_up("bandwidth_copy", probe_gpu(), {{"size", "100"}}), Error);
    BOOST_CHECK_THROW(set_up("bandwidth_copy", probe_gpu(), {{"width", "12"}}), Error);
    BOOST_CHECK_THROW(set_up("bandwidth_batch", probe_cpu()), Unsupported);
}

BOOST_AUTO_TEST_CASE(the_yardstick_alone_concludes_nothing) {
    auto copy = curve_of("copy", {{67108864, 1e-3}}, {{"width", "16"}});
    copy.samples.front().work.bytes = 2e9;
    BOOST_TEST(concluded("bandwidth", {copy}, probe_gpu()).empty());
    auto read = copy;
    read.variant = "read";
    const auto found = concluded("bandwidth", {copy, read}, probe_gpu());
    require_finding(found, "copy bandwidth", 2e12);
    require_finding(found, "read bandwidth", 2e12);
}

BOOST_AUTO_TEST_CASE(reread_sweep_shows_the_cache_levels) {
    std::vector<std::pair<double, double>> points;
    for (double kib = 16; kib <= 65536; kib *= 2)
        points.emplace_back(kib * 1024, kib <= 128 ? 1e-13 : kib <= 8192 ? 2e-13 : 5e-13);
    const auto found = concluded("bandwidth", {curve_of("reread", points, {{"width", "16"}})}, probe_gpu());
    require_finding(found, "level 1 read bandwidth", 1e13);
    require_finding(found, "level 2 read bandwidth", 5e12);
    require_finding(found, "level 3 read bandwidth", 2e12);
    require_finding(found, "level 1 capacity", 128 << 10);
    require_finding(found, "level 2 capacity", 8 << 20);
    for (const auto& finding : found) BOOST_TEST(finding.name != "level 3 capacity");  // the sweep ends in it
}

BOOST_AUTO_TEST_CASE(gradual_second_level_has_the_size_seen_in_all_regions) {
    // An H200 of 60 MiB, 2026-11-22, twice; times per byte in femtoseconds.
    const std::vector<double> mib{1. / 64, 1. / 32, 1. / 16, 1. / 8, 1. / 4, .359375, .421875, .5,  1,   2,
                                  4,       8,       16,      32,     64,     76.11,   90.52,   128, 256, 512};
    for (const auto& fs : {std::vector{31.25, 31.34, 31.25, 31.03, 32.99, 39.19, 60.37, 79.42, 87.65, 93.82,
                                       103.4, 109.2, 109.4, 109.9, 124.1, 139.4, 185.4, 212.6, 219.9, 219.8},
                           std::vector{31.0,  31.23, 31.17, 31.12, 33.1,  41.1,  62.57, 79.62, 87.61, 93.98,
                                       103.6, 109.1, 109.8, 113.3, 125.7, 146.0, 177.1, 207.2, 214.4, 214.1}}) {
        std::vector<std::pair<double, double>> points;
        for (std::size_t i = 0; i < mib.size(); ++i) points.emplace_back(mib[i] * (1 << 20), fs[i] * 1e-15);
        const auto found = concluded("bandwidth", {curve_of("reread", points, {{"width", "16"}})}, probe_gpu());
        const auto size = of_id(found, "l2.size");
        BOOST_TEST(size.low <= 60. * (1 << 20));
        BOOST_TEST(size.high >= 60. * (1 << 20));
        BOOST_TEST(size.value == 60. * (1 << 20), boost::test_tools::tolerance(0.05));
    }
}

BOOST_AUTO_TEST_CASE(read_rate_is_the_slope_between_sizes_beyond_the_gpu_cache) {
    constexpr double launch = 12e-6, rate = 4.5e12, MiB = 1 << 20;
    auto large = probe_gpu();
    large.last_level_bytes = 128 << 20;
    const auto read = [&](std::vector<double> sizes) {
        std::vector<std::pair<double, double>> points;
        for (const double size : sizes) points.emplace_back(size, launch + size / rate);
        auto out = curve_of("read", points, {{"width", "16"}});
        for (auto& s : out.samples) {
            s.work.bytes = s.x;
            s.seconds = launch + s.x / rate;
            s.low = s.seconds * 0.998;
            s.high = s.seconds * 1.002;
        }
        return out;
    };
    require_finding(concluded("bandwidth", {read({128 * MiB, 256 * MiB})}, large), "read bandwidth", rate);
    // One of them lies in a cache, or both are of one size: the rate is that of a launch, and says at which size.
    for (const auto& sizes : {std::vector{16 * MiB, 256 * MiB}, std::vector{256 * MiB}}) {
        const auto found = concluded("bandwidth", {read(sizes)}, large);
        require_finding(found, "read bandwidth", 256 * MiB / (launch + 256 * MiB / rate));
        BOOST_TEST(found.front().how.find("largest size, 256 MiB") == 0u, found.front().how);
    }
    // On a CPU a launch is nothing beside such a size, and others disturb a difference.
    require_finding(concluded("bandwidth", {read({128 * MiB, 256 * MiB})}, probe_cpu()), "read bandwidth",
                    256 * MiB / (launch + 256 * MiB / rate));
}

BOOST_AUTO_TEST_SUITE_END()
