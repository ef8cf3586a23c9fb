// Studies of arithmetic without a device: each check accepts a result computed here in the plainest way and rejects a
// damaged one; sizes that make no sense get their sentence.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "experiments/lib/gemm.hpp"
#include "model/params.hpp"
#include "unit/cells.hpp"
#include "unit/study.hpp"

BOOST_AUTO_TEST_SUITE(studies)

using namespace cllab;
using namespace cllab::model;
using namespace cllab::test;

BOOST_AUTO_TEST_SUITE(saxpy)

BOOST_AUTO_TEST_CASE(the_check_rejects_one_unit_in_the_last_place) {
    Study cell("saxpy", "w128", {{"size", "68"}});
    const auto x = argument<float>(cell.setup, "x"), y = argument<float>(cell.setup, "y");
    const float a = argument<float>(cell.setup, "a").front();
    BOOST_TEST(says(cell.verdict(), "y[0]"));  // nothing done yet
    for (int i = 0; i < 17; ++i) {
        const float product = a * x[i];
        cell.out<float>("y")[i] = product + y[i];
    }
    BOOST_TEST(cell.verdict() == "");
    cell.out<float>("y")[16] = std::nextafter(cell.out<float>("y")[16], 100.0f);
    BOOST_TEST(says(cell.verdict(), "y[16]"));
}

BOOST_AUTO_TEST_CASE(every_element_has_a_work_item_at_any_width) {
    for (const char* variant : {"w32", "w64", "w128", "w256", "w512"}) {
        for (const int n : {1, 3, 15, 16, 17, 4097}) {
            const Study cell("saxpy", variant, {{"size", std::to_string(4 * n)}}, small_device(DeviceType::gpu));
            const std::size_t lanes = std::stoul(std::string(variant).substr(1)) / 32,
                              items = cell.setup.global.count();
            BOOST_TEST(items * lanes >= static_cast<std::size_t>(n) / lanes * lanes);
            BOOST_TEST(items >= n % lanes);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_conclusion_finds_where_wide_accesses_pay) {
    std::vector<Curve> curves(2);
    curves[0].variant = "w32";
    curves[1].variant = "w128";
    for (const double size : {1e4, 1e5, 1e6, 1e7}) {
        const double wide = size * 1e-9, narrow = wide * (size == 1e5 ? 2.0 : size == 1e6 ? 1.5 : 1.0);
        curves[0].samples.push_back({size, narrow, narrow, narrow, {}, 0});
        curves[1].samples.push_back({size, wide, wide, wide, {}, 0});
    }
    for (const auto& e : registry()) {
        if (e.family != "saxpy") continue;
        const auto findings = e.conclude(curves, small_device());
        BOOST_REQUIRE(findings.size() == 3u);
        BOOST_TEST(findings[0].value == 2.0, boost::test_tools::tolerance(1e-9));
        BOOST_TEST(findings[1].value == 1e5);
        BOOST_TEST(findings[2].value == 1e6);
    }
}

BOOST_AUTO_TEST_CASE(size_that_splits_a_float_is_refused) {
    BOOST_TEST(says(refusal("saxpy", "w32", {{"size", "18"}}), "multiples of 4"));
    BOOST_TEST(says(unsupported("saxpy", "w32", {{"size", "1Gi"}}), "allocates at most"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(reduce)

BOOST_AUTO_TEST_CASE(the_check_rejects_a_sum_that_misses_one_element) {
    for (const char* variant : {"tree2", "wide", "onepass", "read"}) {
        Study cell("reduce", variant, {{"size", "4000"}});
        const auto src = argument<std::uint32_t>(cell.setup, "src");
        std::uint32_t sum = 0;
        for (int i = 0; i < 1000; ++i) sum += src[i];
        BOOST_TEST(cell.verdict() != "");
        std::uint32_t* result = nullptr;
        if (std::string(variant) == "read") {
            auto& sums = cell.memory.at("sums");
            std::fill(sums.begin(), sums.end(), std::byte{0});
            result = cell.out<std::uint32_t>("sums");
        } else {
            result = std::string(variant) == "onepass" ? cell.out<std::uint32_t>("state") + 2
                                                       : cell.out<std::uint32_t>("dst");
        }
        *result = sum;
        BOOST_TEST(cell.verdict() == "");
        *result = sum - src[999];
        BOOST_TEST(cell.verdict() != "");
    }
}

BOOST_AUTO_TEST_CASE(one_pass_must_leave_its_counter_at_zero) {
    Study cell("reduce", "onepass", {{"size", "16"}});
    const auto src = argument<std::uint32_t>(cell.setup, "src");
    cell.out<std::uint32_t>("state")[2] = src[0] + src[1] + src[2] + src[3];
    BOOST_TEST(cell.verdict() == "");
    cell.out<std::uint32_t>("state")[1] = 1;
    BOOST_TEST(says(cell.verdict(), "state[1]"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(gemm)

BOOST_AUTO_TEST_CASE(check_reports_the_one_wrong_element) {
    Study cell("gemm", "naive", {{"m", "9"}, {"n", "7"}, {"k", "13"}});
    const auto a = argument<float>(cell.setup, "a"), b = argument<float>(cell.setup, "b"),
               c = argument<float>(cell.setup, "c");
    auto* out = cell.out<float>("c");
    for (int i = 0; i < 9; ++i) {
        for (int j = 0; j < 7; ++j) {
            double sum = c[i * 7 + j];
            for (int l = 0; l < 13; ++l) sum += static_cast<double>(a[i * 13 + l]) * b[l * 7 + j];
            out[i * 7 + j] = static_cast<float>(sum);
        }
    }
    BOOST_TEST(cell.verdict() == "");
    out[4 * 7 + 6] += 1;
    BOOST_TEST(says(cell.verdict(), "c[4][6]"));
    out[4 * 7 + 6] -= 1;
    out[2 * 7] += 0.5f;
    BOOST_TEST(says(cell.verdict(), "c[2][0]"));
    out[2 * 7] = std::numeric_limits<float>::quiet_NaN();
    BOOST_TEST(says(cell.verdict(), "c[2][0] is nan"));
}

BOOST_AUTO_TEST_CASE(errors_that_cancel_in_a_sum_are_found) {
    const auto in = cllab::model::gemm::random_matrices(1, 2, 1, 3);
    const auto a = lib::view<float>(in.a), b = lib::view<float>(in.b), c = lib::view<float>(in.c);
    std::vector<float> out{c[0] + a[0] * b[0], c[1] + a[0] * b[1]};
    BOOST_TEST(!cllab::model::gemm::check(in, out, 1));
    out[0] += 3;
    out[1] -= 3;
    BOOST_TEST(cllab::model::gemm::check(in, out, 1).has_value());
}

BOOST_AUTO_TEST_CASE(product_added_twice_is_right_only_after_two_operations) {
    const auto in = cllab::model::gemm::random_matrices(1, 2, 1, 3);
    const auto a = cllab::model::lib::view<float>(in.a), b = cllab::model::lib::view<float>(in.b),
               c = cllab::model::lib::view<float>(in.c);
    const std::vector<float> out{c[0] + 2 * a[0] * b[0], c[1] + 2 * a[0] * b[1]};
    BOOST_TEST(!cllab::model::gemm::check(in, out, 1, 2));
    BOOST_TEST(cllab::model::gemm::check(in, out, 1, 1).has_value());
}

BOOST_AUTO_TEST_CASE(padded_rows_are_compared_without_gaps_that_must_stay) {
    Study plain("gemm", "naive", {{"m", "5"}, {"n", "6"}, {"k", "7"}}),
        wide("gemm", "naive", {{"m", "5"}, {"n", "6"}, {"k", "7"}, {"pad", "3"}});
    const auto c = plain.out<float>("c"), to = wide.out<float>("c");
    for (std::size_t row = 0; row < 5; ++row) {
        for (std::size_t column = 0; column < 6; ++column) {
            float sum = c[row * 6 + column];
            for (std::size_t i = 0; i < 7; ++i)
                sum +=
                    argument<float>(plain.setup, "a")[row * 7 + i] * argument<float>(plain.setup, "b")[i * 6 + column];
            BOOST_TEST(argument<float>(wide.setup, "a")[row * 10 + 2] ==
                       argument<float>(plain.setup, "a")[row * 7 + 2]);
            to[row * 9 + column] = sum;
        }
    }
    BOOST_TEST(wide.verdict() == "");
    to[2 * 9 + 7] = 0;
    BOOST_TEST(wide.verdict() == "c[2][7] was written, though it lies between two rows");
}

BOOST_AUTO_TEST_CASE(dip_is_the_size_with_less_rate_than_both_neighbours) {
    std::vector<Curve> curves;
    for (const int m : {96, 112, 128, 144, 160, 176}) {
        Curve curve{"naive", {}, {}};
        for (const auto* axis : {"n", "k"}) curve.fixed.set(axis, std::to_string(m));
        Curve::Sample sample;
        sample.x = m;
        sample.work.flops = 2.0 * m * m * m;
        sample.seconds = sample.work.flops / (m == 128 ? 0.5e9 : 1e9);
        sample.low = 0.99 * sample.seconds;
        sample.high = 1.01 * sample.seconds;
        curve.samples = {sample};
        curves.push_back(curve);
    }
    const auto& conclude = model::select(model::registry(), {"gemm"}).front().experiment->conclude;
    const auto found = conclude(curves, small_device());
    BOOST_REQUIRE_EQUAL(found.size(), 1u);
    BOOST_TEST(std::abs(found.front().value - 0.5) < 1e-9);
    BOOST_TEST(says(found.front().how, "m = 128"));
    curves[2].samples.front().seconds /= 2;
    BOOST_TEST(conclude(curves, small_device()).empty());
}

BOOST_AUTO_TEST_CASE(sums_of_products_stay_exact_in_float) {
    for (std::size_t k = 1; k <= (1u << 22); k = k * 3 / 2 + 1) {
        const double most = cllab::model::gemm::largest_element(k);
        BOOST_TEST(2 * static_cast<double>(k) * most * most + 0x1p19 <= 0x1p24);  // added twice
    }
}

BOOST_AUTO_TEST_CASE(a_depth_of_zero_is_refused) {
    BOOST_TEST(says(refusal("gemm", "naive", {{"k", "0"}}), "k"));
    BOOST_TEST(says(unsupported("gemm", "naive", {{"m", "16Mi"}, {"k", "8Mi"}}), "elements of A"));
}

BOOST_AUTO_TEST_CASE(tiles_follow_the_matrix_size_and_unaligned_rows_are_copied) {
    model::Device device;
    device.type = model::DeviceType::gpu;
    device.max_group = 256;
    device.max_group_promised = 1024;
    device.max_alloc_bytes = device.global_bytes = 16ull << 30;
    device.local_bytes = 48 << 10;
    device.compute_units = 132;
    const std::map<std::string, model::Loaded> files;
    const auto tiles = [&](model::Implementation implementation, const char* m) {
        device.implementation = implementation;
        const auto cell = test::first_cell("gemm_pipelined", {{"m", m}, {"schedule", "tiles"}});
        const auto point = model::resolve(*cell.experiment, {*cell.variant, cell.point, device, 1, files, 1});
        return point.text("tile") + " " + point.text("slices");
    };
    BOOST_TEST(tiles(Implementation::nvidia, "512") == "64x64 4",
               "one group a unit: the smallest have most of them busy, and teams hide its waiting");
    BOOST_TEST(tiles(Implementation::nvidia, "1024") == "64x128 2");
    BOOST_TEST(tiles(Implementation::nvidia, "1500") == "64x64 4",
               "of larger ones a third and more of what the units could do is idle or past the edges");
    BOOST_TEST(tiles(Implementation::nvidia, "2048") == "256x128 1");
    const auto packs = [&](const char* m) {
        const auto cell = test::first_cell("gemm_pipelined", {{"m", m}});
        return model::resolve(*cell.experiment, {*cell.variant, cell.point, device, 1, files, 1}).text("pack");
    };
    BOOST_TEST(packs("4097") == "1", "rows of an odd number of floats cannot be read in words of four");
    BOOST_TEST(packs("4100") == "0");
    BOOST_TEST(packs("193") == "1");
    BOOST_TEST(packs("191") == "0", "a second launch costs more than words save there");
    // 128 sums a work-item are more than other register files are known to hold.
    BOOST_TEST(!tiles(Implementation::amd, "2048").starts_with("256"));
}

BOOST_AUTO_TEST_CASE(stream_has_the_resident_groups_but_at_most_one_per_k_step) {
    model::Device device = small_device(model::DeviceType::gpu);
    device.max_group = 256;
    device.max_group_promised = 1024;
    device.max_alloc_bytes = device.global_bytes = 16ull << 30;
    device.compute_units = 132;
    device.implementation = Implementation::nvidia;
    const auto groups = [&](const model::Settings& axes) {
        const auto setup = test::set_up_cell("gemm_pipelined", axes, device);
        return setup.global.size[0] / setup.local.size[0] * setup.global.size[1];
    };
    BOOST_TEST(groups({{"m", "600"}, {"schedule", "stream"}, {"tile", "256x128"}}) == 132u);
    BOOST_TEST(groups({{"m", "600"}, {"schedule", "stream"}, {"tile", "128x128"}}) == 264u,
               "two groups of 256 items, 128 registers each");
    BOOST_TEST(groups({{"m", "40"}, {"schedule", "stream"}, {"tile", "128x128"}}) == 5u);
    BOOST_TEST(groups({{"m", "1"}, {"schedule", "stream"}, {"tile", "64x64"}}) == 1u);
    BOOST_TEST(groups({{"m", "600"}, {"schedule", "tiles"}, {"tile", "128x128"}}) == 25u);
    BOOST_TEST(says(unsupported("gemm", "pipelined", {{"m", "40"}, {"schedule", "stream"}, {"slices", "2"}}),
                    "axis 'slices' is 2; it must be 1"));
}

BOOST_AUTO_TEST_CASE(streams_replace_a_nearly_empty_last_round_on_nvidia_only) {
    model::Device device = small_device(model::DeviceType::gpu);
    device.max_group_promised = 1024;
    device.max_alloc_bytes = device.global_bytes = 16ull << 30;
    device.compute_units = 132;
    const std::map<std::string, model::Loaded> files;
    const auto schedule = [&](model::Implementation implementation, const model::Settings& axes) {
        device.implementation = implementation;
        const auto cell = test::first_cell("gemm_pipelined", axes);
        return model::resolve(*cell.experiment, {*cell.variant, cell.point, device, 1, files, 1}).text("schedule");
    };
    BOOST_TEST(schedule(Implementation::nvidia, {{"m", "3000"}}) == "stream",
               "576 tiles of 128x128: a third round of 48");
    BOOST_TEST(schedule(Implementation::nvidia, {{"m", "1500"}}) == "stream", "159 us, 207 in tiles (H200)");
    BOOST_TEST(schedule(Implementation::nvidia, {{"m", "256"}}) == "tiles", "less than two steps of k for each unit");
    for (const auto* m : {"1024", "1792", "2048", "4096", "8192"})
        BOOST_TEST(schedule(Implementation::nvidia, {{"m", m}}) == "tiles", m);
    BOOST_TEST(schedule(Implementation::nvidia, {{"m", "2816"}, {"n", "1536"}, {"tile", "128x128"}}) == "tiles",
               "264 tiles leave nothing to share");
    BOOST_TEST(schedule(Implementation::nvidia, {{"m", "3000"}, {"tile", "64x64"}}) == "tiles",
               "other tiles were never tried in a stream");
    BOOST_TEST(schedule(Implementation::nvidia, {{"m", "3000"}, {"slices", "2"}}) == "tiles");
    BOOST_TEST(schedule(Implementation::amd, {{"m", "3000"}}) == "tiles");
    BOOST_TEST(schedule(Implementation::pocl, {{"m", "3000"}}) == "tiles");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(batchnorm)

/// A normalisation of each set of values `at(set, i)`, written out in double.
template <typename At>
void normalise(Study& cell, int sets, int count, bool affine, At at) {
    const auto x = argument<float>(cell.setup, "x");
    for (int s = 0; s < sets; ++s) {
        double sum = 0, squares = 0;
        for (int i = 0; i < count; ++i) sum += x[at(s, i)];
        const double mean = sum / count;
        for (int i = 0; i < count; ++i) squares += (x[at(s, i)] - mean) * (x[at(s, i)] - mean);
        const double scale = 1 / std::sqrt(squares / count + 1e-5);
        cell.out<float>("means")[s] = static_cast<float>(mean);
        cell.out<float>("scales")[s] = static_cast<float>(scale);
        for (int i = 0; i < count; ++i) {
            const double plain = (x[at(s, i)] - mean) * scale;
            cell.out<float>("y")[at(s, i)] = static_cast<float>(
                affine ? plain * argument<float>(cell.setup, "gamma")[s] + argument<float>(cell.setup, "beta")[s]
                       : plain);
        }
        if (!affine) continue;
        auto* running = cell.out<float>("running");
        running[s] = static_cast<float>(0.9 * running[s] + 0.1 * mean);
        running[sets + s] = static_cast<float>(0.9 * running[sets + s] + 0.1 * squares / (count - 1));
    }
}

const Axes tiny{{"images", "8"}, {"channels", "3"}, {"height", "2"}, {"width", "5"}};

BOOST_AUTO_TEST_CASE(pixel_check_rejects_statistics_of_half_the_images) {
    Study cell("batchnorm", "pixel_two", tiny);
    normalise(cell, 30, 8, false, [](int s, int i) { return i * 30 + s; });
    BOOST_TEST(cell.verdict() == "");
    normalise(cell, 30, 4, false, [](int s, int i) { return i * 30 + s; });
    BOOST_TEST(says(cell.verdict(), "means[0]"));
}

BOOST_AUTO_TEST_CASE(channel_check_rejects_a_wrong_value_or_running_mean) {
    Study cell("batchnorm", "channel_wide", tiny);
    normalise(cell, 3, 80, true, [](int s, int i) { return (i / 10 * 3 + s) * 10 + i % 10; });
    BOOST_TEST(cell.verdict() == "");
    auto* y = cell.out<float>("y");
    y[239] += 0.01f;
    BOOST_TEST(says(cell.verdict(), "y[239]"));
    y[239] -= 0.01f;
    cell.out<float>("running")[1] = argument<float>(cell.setup, "running")[1];
    BOOST_TEST(says(cell.verdict(), "running[1]"));
}

BOOST_AUTO_TEST_CASE(a_channel_of_one_value_is_refused) {
    BOOST_TEST(
        says(unsupported("batchnorm", "channel_two", {{"images", "1"}, {"height", "1"}, {"width", "1"}}), "1 value"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()
