#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "model/axes.hpp"

BOOST_AUTO_TEST_SUITE(model_axes)

using namespace cllab;
using namespace cllab::model;

namespace {

Axis integer_axis() {
    return {.name = "width",
            .unit = "pixel",
            .meaning = "",
            .kind = Axis::Kind::integer,
            .values = {"64"},
            .least = 1,
            .most = 1 << 20};
}

std::string expand(const Axis& axis, std::string_view list) { return join(expand_axis(axis, list), " "); }

/// The sentence of the Error(usage) that expanding `list` throws; empty when it throws none.
std::string refusal(const Axis& axis, std::string_view list) {
    try {
        expand_axis(axis, list);
    } catch (const Error& e) {
        BOOST_TEST((e.blame() == Blame::usage));
        return e.what();
    }
    return {};
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(lists_become_canonical_values) {
    BOOST_TEST(expand(integer_axis(), "1024, 2Ki,3K") == "1024 2048 3000");
}

BOOST_AUTO_TEST_CASE(geometric_axis_ends_on_the_last_value) {
    BOOST_TEST(expand(integer_axis(), "1Ki:8Ki:*2") == "1024 2048 4096 8192");
    BOOST_TEST(expand(integer_axis(), "1:10:*2") == "1 2 4 8 10");
    BOOST_TEST(expand(integer_axis(), "7:7:*2") == "7");
}

BOOST_AUTO_TEST_CASE(small_geometric_factor_neither_stalls_nor_repeats) {
    BOOST_TEST(expand(integer_axis(), "1:6:*1.3") == "1 2 3 4 5 6");
    const auto sizes = expand_axis(integer_axis(), "2Ki:1Mi:*1.04");
    BOOST_TEST(sizes.front() == "2048");
    BOOST_TEST(sizes[1] == "2130");
    BOOST_TEST(sizes.back() == "1048576");
    BOOST_TEST(sizes.size() == 161u);  // 1 + ceil(log(512) / log(1.04))
}

BOOST_AUTO_TEST_CASE(stepped_axis_ends_on_the_last_value) {
    BOOST_TEST(expand(integer_axis(), "1:9:+2") == "1 3 5 7 9");
    BOOST_TEST(expand(integer_axis(), "1:10:+4,64") == "1 5 9 10 64");
}

BOOST_AUTO_TEST_CASE(real_axes_step_without_rounding_noise) {
    Axis pitch{.name = "pitch", .kind = Axis::Kind::real, .least = 1, .most = 1000};
    BOOST_TEST(expand(pitch, "20.2,1e2") == "20.2 100");
    BOOST_TEST(expand(pitch, "1:1.3:+0.1") == "1 1.1 1.2 1.3");
    BOOST_TEST(expand(pitch, "1:9:*2") == "1 2 4 8 9");
}

BOOST_AUTO_TEST_CASE(shapes_and_choices_are_checked) {
    Axis local{.name = "local", .kind = Axis::Kind::shape, .most = 1024, .may_be_auto = true};
    BOOST_TEST(expand(local, "auto,64x4,8x8x4,64") == "auto 64x4 8x8x4 64");
    for (const auto* bad : {"64x", "0x4", "1x1x1x1", "2048", "64X4", "-1x-1", "x"})
        BOOST_TEST(!refusal(local, bad).empty(), bad);
    Axis weights{.name = "weights", .kind = Axis::Kind::choice, .choices = {"linear", "published"}};
    BOOST_TEST(expand(weights, "published,linear") == "published linear");
    BOOST_TEST(refusal(weights, "auto") == "axis 'weights' cannot be 'auto'; it takes one of linear, published");
}

BOOST_AUTO_TEST_CASE(bad_value_error_names_axis_value_and_legal_values) {
    BOOST_TEST(
        refusal(integer_axis(), "12a") ==
        "axis 'width' cannot be '12a'; it takes whole numbers from 1 to 1048576, written as 4, 4Ki, 1:8:*2 or 1:9:+2");
    for (const auto* bad : {"", "1,,2", "0", "2Mi", "1:2", "1:2:3", "1:9:*1", "1:9:*0.5", "1:9:+0", "1:9:+-2", "1:9:*x",
                            "0:9:+1", "1:2Mi:*2", "auto"})
        BOOST_TEST(contains(refusal(integer_axis(), bad), "axis 'width'"), bad);
    BOOST_TEST(contains(refusal(integer_axis(), "9:1:+2"), "ends before it starts"));
}

BOOST_AUTO_TEST_CASE(powers_of_two_and_multiples_are_required_of_every_value) {
    Axis power = integer_axis(), multiple = integer_axis();
    power.power_of_two = true;
    multiple.multiple_of = 8;
    BOOST_TEST(expand(power, "1,64,1Ki") == "1 64 1024");
    BOOST_TEST(refusal(power, "48") ==
               "axis 'width' cannot be '48'; it takes powers of two from 1 to 1048576, written as 4, 4Ki or 1:8:*2");
    BOOST_TEST(contains(refusal(power, "1:9:+2"), "cannot be '3'"));  // of a range not only the ends
    BOOST_TEST(expand(multiple, "8:24:+8") == "8 16 24");
    BOOST_TEST(contains(refusal(multiple, "12"), "it takes multiples of 8 from 1 to 1048576"));
}

BOOST_AUTO_TEST_CASE(list_of_more_than_10000_values_is_refused) {
    std::string list = "1";
    for (int i = 2; i <= 20'000; ++i) list += "," + std::to_string(i);
    BOOST_TEST(contains(refusal(integer_axis(), list), "makes more than 10000 values"));
}

BOOST_AUTO_TEST_CASE(a_value_given_twice_is_an_error) {
    BOOST_TEST(refusal(integer_axis(), "1024,1Ki") == "axis 'width' is given the value 1024 twice");
}

BOOST_AUTO_TEST_CASE(tiny_step_does_not_fill_the_memory) {
    Axis wide{.name = "n"};
    wide.least = -9.3e18;
    BOOST_TEST(contains(refusal(wide, "-9223372036854775808:9223372036854775807:+1"), "more than 10000 values"));
    BOOST_TEST(contains(refusal(wide, "1:9223372036854775807:*1.0000000001"), "more than 10000 values"));
    BOOST_TEST(contains(refusal(wide, "1:1Gi:*1.00001"), "more than 10000 values"));
    BOOST_TEST(expand(wide, "-9223372036854775808:9223372036854775807:+9223372036854775807") ==
               "-9223372036854775808 -1 9223372036854775806 9223372036854775807");
}

BOOST_AUTO_TEST_CASE(negative_shape_with_a_positive_product_is_refused) {
    Axis local{.name = "local", .kind = Axis::Kind::shape};
    BOOST_TEST(!refusal(local, "-4x-4").empty());
    BOOST_TEST(!refusal(local, "4294967296x4294967296").empty());  // the product does not fit
}

BOOST_AUTO_TEST_CASE(cross_varies_the_last_axis_fastest) {
    const auto points = cross({{.name = "a", .values = {"1", "2"}}, {.name = "b", .values = {"x", "y", "z"}}});
    std::string all;
    for (const auto& p : points) all += p.text("a") + p.text("b") + " ";
    BOOST_TEST(all == "1x 1y 1z 2x 2y 2z ");
    BOOST_TEST(cross({}).size() == 1u);
    BOOST_CHECK_THROW(cross({{.name = "a", .values = {}}}), Error);
    std::vector<std::string> many(2000, "1");
    BOOST_CHECK_THROW(cross({{.name = "a", .values = many}, {.name = "b", .values = many}}), Error);
}

BOOST_AUTO_TEST_CASE(constraint_is_tested_as_soon_as_its_axes_are_known) {
    std::vector<std::string> many(1000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = std::to_string(i);
    std::size_t asked = 0;
    const std::vector<Constraint> equal{{"'where a == b'", {"a", "b"}, [&](const Point& p) {
                                             ++asked;
                                             return p.text("a") == p.text("b");
                                         }}};
    const std::vector<Axis> axes{
        {.name = "a", .values = many}, {.name = "b", .values = many}, {.name = "c", .values = {"0", "1"}}};
    BOOST_TEST(cross(axes, equal).size() == 2000u);
    BOOST_TEST(asked == 1'000'000u);
    BOOST_TEST(!cross_if_few(axes));
    // One that another name decides is asked at the end.
    const std::vector<Constraint> argument{{"'where n > a'", {"a", "n"}, [](const Point& p) { return p.has("c"); }}};
    BOOST_TEST(cross({axes[0], axes[2]}, argument).size() == 2000u);
    BOOST_TEST(cross({}, {{"'where n > 1'", {"n"}, [](const Point&) { return false; }}}).empty());
}

BOOST_AUTO_TEST_CASE(a_point_gives_typed_values_and_keeps_the_order_of_the_axes) {
    Point p;
    p.set("width", "1024");
    p.set("pitch", "20.5");
    p.set("local", "64x4");
    p.set("items", "auto");
    p.set("width", "2048");
    BOOST_TEST(p.integer("width") == 2048);
    BOOST_TEST(p.real("pitch") == 20.5);
    BOOST_TEST(p.shape("local").size[1] == 4u);
    BOOST_TEST(p.shape("local").dims == 2u);
    BOOST_TEST(p.is_auto("items"));
    BOOST_TEST(!p.is_auto("width"));
    BOOST_TEST(p.values().front().first == "width");
    BOOST_TEST(p.has("pitch"));
    BOOST_TEST(!p.has("height"));
    BOOST_CHECK_THROW(p.text("height"), Error);
    BOOST_CHECK_THROW(p.integer("items"), Error);
    BOOST_CHECK_THROW(p.integer("pitch"), Error);
}

BOOST_AUTO_TEST_CASE(an_extent_prints_as_it_is_typed) {
    BOOST_TEST(Extent(64).text() == "64");
    BOOST_TEST(Extent(64, 4).text() == "64x4");
    BOOST_TEST(Extent(8, 8, 4).text() == "8x8x4");
    BOOST_TEST(Extent().text() == "driver's choice");
    BOOST_TEST(Extent(8, 8, 4).count() == 256u);
}

BOOST_AUTO_TEST_SUITE_END()
