// The pitch family without a device: arithmetic against known values, geometry, and the check itself.
#include "experiments/lib/pitch.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "unit/cells.hpp"

BOOST_AUTO_TEST_SUITE(pitch_family)

using namespace cllab;
using namespace cllab::model;
using namespace cllab::model::pitch;

namespace {

using Pixels = std::vector<std::uint8_t>;

/// The article's picture: columns of a sine wave of pitch 20.2, and one defect.
constexpr int article_width = 256, article_height = 100;
Pixels article_image() {
    Pixels out(article_width * article_height);
    for (int y = 0; y < article_height; ++y) {
        for (int x = 0; x < article_width; ++x)
            out[static_cast<std::size_t>(y * article_width + x)] =
                static_cast<std::uint8_t>(127.5 + 127.5 * std::sin(2 * std::numbers::pi * x / 20.2));
    }
    out[50 * article_width + 50] = 50;
    return out;
}

/// ROI pixels above 5 as (x, y) -> value, and the largest value elsewhere.
struct Defects {
    std::map<std::pair<int, int>, int> above;
    int background = 0;
};
Defects defects(const Pixels& difference, const Geometry& g) {
    Defects out;
    for (std::size_t i = 0; i < difference.size(); ++i) {
        const int x = g.left + static_cast<int>(i % g.columns()), y = g.top + static_cast<int>(i / g.columns());
        const int value = difference[i];
        if (value > 5)
            out.above[{x, y}] = value;
        else
            out.background = std::max(out.background, value);
    }
    return out;
}

template <typename AnyWeights>
void require_five(const AnyWeights& weights, const std::vector<int>& values, int background) {
    const auto g = resolve(article_width, article_height, 20.2, {});
    const auto found = defects(reference(article_image(), g, weights), g);
    const std::map<std::pair<int, int>, int> expected{{{29, 50}, values[0]},
                                                      {{30, 50}, values[1]},
                                                      {{50, 50}, values[2]},
                                                      {{70, 50}, values[3]},
                                                      {{71, 50}, values[4]}};
    BOOST_TEST((found.above == expected), "found " << found.above.size() << " pixels above 5");
    for (const auto& [place, value] : expected) {
        const auto at = found.above.find(place);
        BOOST_REQUIRE_MESSAGE(at != found.above.end(), "no pixel above 5 at x " << place.first);
        BOOST_TEST(at->second == value, "x " << place.first << ": " << at->second << ", expected " << value);
    }
    BOOST_TEST(found.background == background);
}

/// Buffers as a run leaves them: `dst` poisoned with seed 7 and the ROI filled with `difference`.
struct Run {
    Geometry g;
    Bytes dst;
    Buffers buffers;
    Run(const Geometry& geometry, const Pixels& difference) : g(geometry), dst(geometry.bytes()) {
        poison(dst, 7);
        for (std::size_t i = 0; i < difference.size(); ++i)
            dst[at(g.left + static_cast<int>(i % g.columns()), g.top + static_cast<int>(i / g.columns()))] =
                static_cast<std::byte>(difference[i]);
        buffers.poison_seed = 7;
        buffers.data["dst"] = dst;
    }
    std::size_t at(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(g.width) + static_cast<std::size_t>(x);
    }
};

const std::string* sentence(const std::optional<std::string>& s) { return s ? &*s : nullptr; }

std::string refusal(long long width, long long height, double pitch, const Region& region) {
    try {
        resolve(width, height, pitch, region);
    } catch (const Error& e) {
        BOOST_TEST((e.blame() == Blame::usage));
        return e.what();
    }
    return "accepted";
}

}  // namespace

// The published weights leave no margin above 5; linear ones have the strong echo at twenty and a quiet background.
BOOST_AUTO_TEST_CASE(every_arithmetic_finds_the_defect_and_its_four_echoes) {
    require_five(fixed_weights(20.2, Weights::published), {41, 10, 95, 11, 39}, 5);
    require_five(fixed_weights(20.2, Weights::linear), {10, 38, 96, 39, 9}, 1);
    require_five(float_weights(20.2, Weights::published), {40, 10, 96, 11, 38}, 3);
    require_five(float_weights(20.2, Weights::linear), {10, 38, 96, 39, 9}, 1);
}

BOOST_AUTO_TEST_CASE(weights_of_the_published_pitch_are_the_known_ones) {
    const auto published = fixed_weights(20.2, Weights::published), linear = fixed_weights(20.2, Weights::linear);
    BOOST_TEST(published.floor == 25);
    BOOST_TEST(published.ceiling == 102);
    BOOST_TEST(linear.floor == 102);
    BOOST_TEST(linear.ceiling == 26);
}

BOOST_AUTO_TEST_CASE(weights_sum_to_the_scale_at_every_fraction) {
    for (int i = 0; i < 1000; ++i) {
        const double pitch = 3 + i / 1000.0;
        for (const auto kind : {Weights::linear, Weights::published}) {
            const auto w = fixed_weights(pitch, kind);
            BOOST_TEST_REQUIRE(w.floor + w.ceiling == (kind == Weights::linear ? 128 : 127));
            BOOST_TEST_REQUIRE((w.floor >= 0 && w.ceiling >= 0));
        }
    }
}

BOOST_AUTO_TEST_CASE(integer_pitch_takes_all_weight_from_one_sample) {
    const auto fixed = fixed_weights(20, Weights::linear);
    BOOST_TEST(fixed.floor == 128);
    BOOST_TEST(fixed.ceiling == 0);
    BOOST_TEST(float_weights(20, Weights::linear).floor == 1.0f);
}

BOOST_AUTO_TEST_CASE(sixteen_bits_suffice_at_every_extreme) {
    // Every combination of 0 and 255 in the five samples, and every fraction that changes a weight.
    for (const auto kind : {Weights::linear, Weights::published}) {
        for (int step = 0; step < 256; ++step) {
            const double pitch = 1 + step / 256.0;
            const auto w = fixed_weights(pitch, kind);
            for (unsigned bits = 0; bits < 32; ++bits) {
                Pixels src(5);
                for (unsigned i = 0; i < 5; ++i) src[i] = bits >> i & 1 ? 255 : 0;
                const auto g = resolve(5, 1, pitch, {});
                BOOST_TEST_REQUIRE(g.pixels() == 1u);
                const long long f = w.floor, c = w.ceiling;
                const long long e = (f * src[3] + c * src[4]) >> 1, v = (f * src[1] + c * src[0]) >> 1;
                const long long expected = std::llabs(128ll * src[2] - (e + v)) >> 7;
                BOOST_TEST_REQUIRE(int{reference(src, g, w)[0]} == expected);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(fixed_and_float_results_of_equal_weights_rarely_differ) {
    const auto g = resolve(4096, 4, 20.2, {});
    Pixels src(g.bytes());
    fill_random(std::as_writable_bytes(std::span(src)), 3);
    const auto weights = fixed_weights(20.2, Weights::linear);
    const auto fixed = reference(src, g, weights);
    const auto floating = reference(src, g, FloatWeights{weights.floor / 128.0f, weights.ceiling / 128.0f});
    std::size_t equal = 0;
    for (std::size_t i = 0; i < fixed.size(); ++i) {
        BOOST_TEST_REQUIRE(std::abs(int{fixed[i]} - int{floating[i]}) <= 1);
        equal += fixed[i] == floating[i];
    }
    BOOST_TEST(static_cast<double>(equal) > 0.99 * static_cast<double>(fixed.size()));
}

BOOST_AUTO_TEST_CASE(threaded_reference_equals_one_made_row_by_row) {
    const auto g = resolve(4096, 2100, 20.2, {});
    Pixels src(g.bytes());
    fill_random(std::as_writable_bytes(std::span(src)), 5);
    const auto w = fixed_weights(20.2, Weights::linear);
    const auto whole = reference(src, g, w);
    for (int y = 0; y < g.height; ++y) {
        const auto row = resolve(g.width, g.height, 20.2, {g.left, y, g.right, y});
        const auto one = reference(src, row, w);
        BOOST_TEST_REQUIRE(
            std::equal(one.begin(), one.end(), whole.begin() + y * static_cast<std::ptrdiff_t>(g.columns())));
    }
}

BOOST_AUTO_TEST_CASE(automatic_edges_are_the_widest_with_both_neighbours) {
    const auto g = resolve(256, 100, 20.2, {});
    BOOST_TEST(g.left == 21);
    BOOST_TEST(g.right == 234);
    BOOST_TEST(g.top == 0);
    BOOST_TEST(g.bottom == 99);
}

BOOST_AUTO_TEST_CASE(impossible_region_is_refused_with_the_possible_values) {
    BOOST_TEST(refusal(256, 100, 20.2, {20, -1, -1, -1}) ==
               "left is 20; with pitch 20.2 in an image of 256x100 it can be 21 to 234");
    BOOST_TEST(refusal(256, 100, 20.2, {-1, -1, 235, -1}) ==
               "right is 235; with pitch 20.2 in an image of 256x100 it can be 21 to 234");
    BOOST_TEST(refusal(256, 100, 20.2, {100, -1, 99, -1}) ==
               "right is 99; with pitch 20.2 in an image of 256x100 it can be 100 to 234");
    BOOST_TEST(refusal(256, 100, 20.2, {-1, 100, -1, -1}) ==
               "top is 100; with pitch 20.2 in an image of 256x100 it can be 0 to 99");
    BOOST_TEST(refusal(256, 100, 20.2, {-1, 50, -1, 49}) ==
               "bottom is 49; with pitch 20.2 in an image of 256x100 it can be 50 to 99");
}

BOOST_AUTO_TEST_CASE(image_must_be_wide_enough_for_the_pitch) {
    BOOST_TEST(refusal(42, 1, 20.2, {}) == "the image is 42 pixels wide; pitch 20.2 needs at least 43");
    BOOST_TEST(refusal(43, 1, 20.2, {}) == "accepted");
    BOOST_TEST(refusal(100, 1, 1e30, {}).find("the image is 100 pixels wide; pitch 1e+30 needs at least") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_pitch_below_one_is_refused) {
    BOOST_TEST(refusal(100, 1, 0.5, {}) == "pitch is 0.5 pixels; it must be at least 1");
    BOOST_TEST(refusal(100, 1, std::nan(""), {}).find("must be at least 1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(check_accepts_right_results_and_reports_the_first_bad_pixel) {
    const auto g = resolve(64, 5, 3.5, {6, 1, 50, 3});
    const Pixels expected(g.pixels(), 9);
    Run run(g, expected);
    BOOST_TEST(sentence(check(run.buffers, g, expected)) == nullptr);
    run.dst[run.at(17, 2)] = std::byte{8};
    run.dst[run.at(18, 3)] = std::byte{8};
    BOOST_TEST(check(run.buffers, g, expected).value_or("nothing") == "dst(x 17, y 2) is 8, expected 9");
}

BOOST_AUTO_TEST_CASE(check_reports_an_unwritten_pixel) {
    const auto g = resolve(64, 5, 3.5, {6, 1, 50, 3});
    const Pixels expected(g.pixels(), 9);
    Run run(g, expected);
    run.dst[run.at(50, 3)] = poison_byte(7, run.at(50, 3));
    BOOST_TEST(check(run.buffers, g, expected).value_or("nothing") == "dst(x 50, y 3) was left unwritten, expected 9");
}

BOOST_AUTO_TEST_CASE(check_reports_writes_on_each_side_of_the_region) {
    const auto g = resolve(64, 5, 3.5, {6, 1, 50, 3});
    const Pixels expected(g.pixels(), 9);
    for (const auto& [x, y] : {std::pair{5, 1}, {51, 3}, {6, 0}, {50, 4}, {0, 0}, {63, 4}}) {
        Run run(g, expected);
        run.dst[run.at(x, y)] = ~run.dst[run.at(x, y)];
        const auto wrong = check(run.buffers, g, expected).value_or("nothing");
        const auto place =
            "dst(x " + std::to_string(x) + ", y " + std::to_string(y) + ") is outside the ROI and was overwritten";
        BOOST_TEST(wrong.find(place) == 0u, wrong);
    }
}

BOOST_AUTO_TEST_CASE(every_variant_has_its_own_check_and_shares_the_image) {
    const Experiment* family = nullptr;
    for (const auto& e : registry())
        if (e.family == "pitch") family = &e;
    BOOST_REQUIRE(family != nullptr);
    Device device;
    device.type = DeviceType::cpu;
    device.compute_units = 2;
    device.max_group = device.max_group_promised = 256;
    device.local_bytes = 32768;
    SharedBytes first;
    Memo memo;
    for (const auto& variant : family->variants) {
        const auto setup =
            test::set_up_cell(family->id(variant), {{"width", "100"}, {"height", "4"}}, device, 1, 0, {}, &memo);
        BOOST_TEST_CONTEXT(variant.name) {
            BOOST_TEST(setup.work.steps == 4.0 * 58);
            const auto* input = std::get_if<Input>(&setup.args.front());
            const auto src = input ? input->data : std::get<Image>(setup.args.front()).data;
            if (!first) first = src;
            if (variant.name != "published") BOOST_TEST((src == first));  // whose image stands between margins
            // Nothing has been written, so the check must complain about the first pixel of the ROI.
            Bytes dst(400);
            poison(dst, 1);
            Buffers buffers;
            buffers.poison_seed = 1;
            buffers.data["dst"] = dst;
            BOOST_TEST(setup.check(buffers).value_or("nothing").find("dst(x 21, y 0)") == 0u);
        }
    }
}

BOOST_AUTO_TEST_CASE(file_sets_the_size_and_outside_the_region_is_black) {
    Device device;
    device.type = DeviceType::cpu;
    std::map<std::string, Loaded> files{{"src", {"panel.png", 12, 2, std::make_shared<const Bytes>(24, std::byte{3})}}};
    const auto setup = test::set_up_cell("pitch_implicit", {{"pitch", "2"}}, device, 1, 0, files);
    BOOST_TEST(setup.point.text("width") == "12");
    BOOST_TEST(setup.point.text("height") == "2");
    const auto grey = setup.pictures.at("dst").grey(Bytes(24, std::byte{200}));
    for (int i = 0; i < 24; ++i)
        BOOST_TEST(std::to_integer<int>(grey[static_cast<std::size_t>(i)]) == (i % 12 >= 3 && i % 12 <= 8 ? 200 : 0));
    files["src"].width = 4;
    files["src"].height = 6;
    BOOST_CHECK_EXCEPTION(
        test::set_up_cell("pitch_implicit", {{"pitch", "2"}}, device, 1, 0, files), Error, [](const Error& e) {
            return e.blame() == Blame::usage && std::string(e.what()).find("panel.png: the image is 4 pixels wide") == 0;
        });
}

BOOST_AUTO_TEST_SUITE_END()
