// Guesses of what a kernel file leaves out: the parts that need no simulator.
#include "kernelfile/guess/guess.hpp"

#include <boost/test/unit_test.hpp>

#include "kernelfile/guess/fit.hpp"
#include "kernelfile/guess/kernel_guess.hpp"

using namespace cllab::kernelfile;
using cllab::model::Parameter;

namespace {

using SampledSizes = std::vector<std::int64_t>;

/// The expression for what `length` makes of small sizes.
std::string fitted(const std::vector<std::string>& axes,
                   const std::function<std::int64_t(const SampledSizes&)>& length) {
    static const std::vector<std::vector<SampledSizes>> sizes{
        {{16}, {32}, {48}, {64}},
        {{8, 8}, {16, 16}, {8, 16}, {24, 8}, {16, 8}, {8, 24}},
        {{8, 8, 8}, {12, 12, 12}, {4, 8, 4}, {12, 4, 4}, {4, 4, 8}, {8, 4, 12}, {4, 12, 8}}};
    std::vector<LengthSample> samples;
    for (const auto& at : sizes[axes.size() - 1]) samples.push_back({at, length(at)});
    return fitted_length(axes, samples).value_or("none");
}

Parameter buffer(const std::string& name, bool is_const) {
    return {.name = name,
            .kind = Parameter::Kind::global,
            .type = *cllab::model::builtin_type("float"),
            .is_const = is_const};
}

Parameter scalar(const std::string& name, const std::string& type) {
    return {.name = name, .kind = Parameter::Kind::value, .type = *cllab::model::builtin_type(type)};
}

std::string guessed_by_text(const std::string& text, const std::vector<Parameter>& parameters,
                            std::map<std::string, ArgumentSpec> given = {}) {
    const SaidOfKernel said{{"k", parameters, {}}, std::move(given), {}, {}};
    std::map<std::string, std::int64_t> axes;
    GuessedKernels guesses{{"k", guess_kernel(said, TextFacts(text), {})}};
    return block_of(guesses, true, axes);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(guess)

BOOST_AUTO_TEST_CASE(lengths_are_fitted_by_expressions_of_one_size) {
    BOOST_TEST(fitted({"n"}, [](const SampledSizes& s) { return s[0]; }) == "n");
    BOOST_TEST(fitted({"n"}, [](const SampledSizes& s) { return 2 * s[0]; }) == "2*n");
    BOOST_TEST(fitted({"n"}, [](const SampledSizes& s) { return s[0] + 2; }) == "n+2");
    BOOST_TEST(fitted({"n"}, [](const SampledSizes& s) { return s[0] * s[0]; }) == "n*n");
    BOOST_TEST(fitted({"n"}, [](const SampledSizes& s) { return (s[0] + 2) * (s[0] + 2); }) == "(n+2)*(n+2)");
    BOOST_TEST(fitted({"n"}, [](const SampledSizes& s) { return s[0] / 16; }) == "ceil(n/16)");
    BOOST_TEST(fitted({"n"}, [](const SampledSizes&) { return 256; }) == "256");
}

BOOST_AUTO_TEST_CASE(lengths_are_fitted_by_expressions_of_several_sizes) {
    const std::vector<std::string> plane{"w", "h"}, cube{"x", "y", "z"};
    BOOST_TEST(fitted(plane, [](const SampledSizes& s) { return s[0] * s[1]; }) == "w*h");
    BOOST_TEST(fitted(plane, [](const SampledSizes& s) { return (s[0] + 2) * (s[1] + 2); }) == "(w+2)*(h+2)");
    BOOST_TEST(fitted(plane, [](const SampledSizes& s) { return s[1]; }) == "h");
    BOOST_TEST(fitted(cube, [](const SampledSizes& s) { return s[0] * s[1] * s[2]; }) == "x*y*z");
    BOOST_TEST(fitted(cube, [](const SampledSizes& s) { return s[0] * s[2]; }) == "x*z");
}

BOOST_AUTO_TEST_CASE(skipped_border_is_part_of_the_data) {
    BOOST_TEST(fitted({"n"}, [](const SampledSizes& s) { return s[0] - 1; }) == "n");
    BOOST_TEST(fitted({"w", "h"}, [](const SampledSizes& s) { return s[0] * s[1] - s[0] - 1; }) == "w*h");
    BOOST_TEST(fitted({"w", "h"}, [](const SampledSizes& s) { return (s[0] + 2) * (s[1] + 2) - 1; }) == "(w+2)*(h+2)");
}

BOOST_AUTO_TEST_CASE(lengths_without_a_simple_expression_have_none) {
    const std::int64_t odd[] = {7, 3, 90, 11};
    BOOST_TEST(fitted({"n"}, [&](const SampledSizes& s) { return odd[s[0] / 16 - 1]; }) == "none");
}

BOOST_AUTO_TEST_CASE(digit_of_an_index_is_fitted_from_the_elements_that_values_select) {
    const auto digit = [](std::int64_t largest, const std::function<std::int64_t(std::int64_t)>& element) {
        std::vector<std::pair<std::int64_t, std::int64_t>> selected;
        for (const std::int64_t value : {0l, 1l, 45l, 100l, 3000l, 20000l, 32766l, 0x12345678l, 0x3adf68b1l, largest})
            if (value <= largest) selected.emplace_back(value, element(value));
        const auto found = fitted_digit(selected);
        return found ? std::to_string(found->divisor) + " of >> " + std::to_string(found->shift) : "none";
    };
    constexpr std::int64_t uint_max = 0xffffffff, short_max = 0x7fff;
    for (const std::int64_t divisor : {2, 3, 7, 60, 63, 64, 100, 255, 256, 257, 500, 512, 1000, 1024, 4096, 10007})
        for (const auto largest : {uint_max, short_max})
            BOOST_TEST(digit(largest, [&](auto v) { return v % divisor; }) == std::to_string(divisor) + " of >> 0");
    for (const unsigned shift : {4, 8, 12, 16, 20})
        for (const std::int64_t divisor : {16, 256})
            BOOST_TEST(digit(uint_max, [&](auto v) { return (v >> shift) % divisor; }) ==
                       std::to_string(divisor) + " of >> " + std::to_string(shift));
    BOOST_TEST(digit(uint_max, [](auto v) { return v >> 24; }) == "256 of >> 24");
    BOOST_TEST(digit(255, [](auto v) { return v & 63; }) == "64 of >> 0");
    // The value itself, a clamped one and a hash are no digits.
    BOOST_TEST(digit(uint_max, [](auto v) { return v; }) == "none");
    BOOST_TEST(digit(uint_max, [](auto v) { return std::min<std::int64_t>(v, 99); }) == "none");
    BOOST_TEST(digit(uint_max, [](auto v) { return static_cast<std::int64_t>((static_cast<std::uint64_t>(v) * 2654435761 & 0xffffffff) >> 24); }) == "none");
}

BOOST_AUTO_TEST_CASE(scalar_names_reveal_their_meaning) {
    using Meaning = ScalarName::Meaning;
    for (const char* name : {"n", "N", "num_elements", "count", "imageWidth", "rows", "nx"})
        BOOST_TEST((scalar_name(name).meaning == Meaning::size), name);
    BOOST_TEST(scalar_name("width").dimension == 0);
    BOOST_TEST(scalar_name("img_height").dimension == 1);
    for (const char* name : {"stride", "srcPitch", "lda"})
        BOOST_TEST((scalar_name(name).meaning == Meaning::stride), name);
    BOOST_TEST(scalar_name("offset").value == 0);
    BOOST_TEST(scalar_name("max_iterations").value == 16);
    BOOST_TEST((scalar_name("filterWidth").meaning == Meaning::value));
    for (const char* name : {"stride_h", "strideShape"})
        BOOST_TEST((scalar_name(name).meaning == Meaning::value), name);
    BOOST_TEST((scalar_name("inputShape").meaning == Meaning::size));
    BOOST_TEST((scalar_name("gain").meaning == Meaning::unknown));
}

BOOST_AUTO_TEST_CASE(dimensions_are_found_through_functions_and_macros) {
    const TextFacts facts(
        "#define X get_global_id(0)\nint y(void) { return get_global_id(1); }\n"
        "kernel void k(global float* a) { /* get_global_id(2) */ a[y() + X] = 1; }\n");
    BOOST_TEST(facts.calls("k").at("get_global_id") == 3u);
}

BOOST_AUTO_TEST_CASE(body_without_statements_is_empty) {
    const TextFacts facts("kernel void a(global int* x) {\n /* later */ }\nkernel void b(global int* x) { *x = 1; }\n");
    BOOST_TEST((facts.is_empty("a") && !facts.is_empty("b") && !facts.is_empty("c")));
}

BOOST_AUTO_TEST_CASE(without_a_simulator_the_text_separates_inputs_and_results) {
    BOOST_TEST(guessed_by_text("kernel void k(global const float* x, global float* y, global float* z, float a, int n) "
                               "{ int i = get_global_id(0); y[i] += a * x[i]; z[i] = 1; }",
                               {buffer("x", true), buffer("y", false), buffer("z", false), scalar("a", "float"),
                                scalar("n", "int")}) ==
               "axis n = 1Mi\narg x = rand:n\narg y = rand:n\narg z = out:n\narg a = 0.5\narg n = n\nglobal n\n");
}

BOOST_AUTO_TEST_CASE(program_without_text_gets_a_work_item_per_image_pixel) {
    auto picture = buffer("a", true);
    picture.kind = Parameter::Kind::image;
    picture.dims = 2;
    BOOST_TEST(guessed_by_text("", {picture, buffer("x", true)}).find("global width,height\n") != std::string::npos,
               guessed_by_text("", {picture, buffer("x", true)}));
    BOOST_TEST(guessed_by_text("", {buffer("x", true)}).find("global n\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(without_a_simulator_index_buffers_are_asked_for) {
    auto where = buffer("where", true);
    where.type = *cllab::model::builtin_type("uint");
    const SaidOfKernel said{{"k", {where, buffer("x", true), buffer("y", false)}, {}}, {}, {}, {}};
    const auto guess = guess_kernel(said,
                                    TextFacts("kernel void k(global const uint* where, global const float* x, "
                                              "global float* y) { size_t i = get_global_id(0); "
                                              "y[i] = x[where[i]]; }"),
                                    {});
    BOOST_TEST(guess.open == std::vector<std::string>{"where"}, boost::test_tools::per_element());
    BOOST_TEST(guess.advised.at("where") == "");
}

BOOST_AUTO_TEST_CASE(loop_over_the_size_limits_the_guessed_size) {
    // Each item does 1000 instructions and 20 more for each element: 2e9 at n = 8Ki.
    const TryLaunch launch = [](const SmallLaunch& small) {
        const auto n = small.axes.empty() ? 1 : small.axes.front().second;
        SeenLaunch out{.instructions = static_cast<std::uint64_t>(n * (1000 + 20 * n)), .items = {n, 1, 1}};
        out.calls["get_global_id"] = 1;
        out.arguments = {{.size = 256 << 10, .last = 4 * n, .unit = 4, .bytes = 4 * n, .written_bytes = 4 * n}, {}};
        out.arguments.front().written = true;
        return out;
    };
    const SaidOfKernel said{{"k", {buffer("z", false), scalar("n", "int")}, {}}, {}, {}, {}};
    const auto guess = guess_kernel(said, TextFacts("kernel void k(global float* z, int n) { z[0] = n; }"), launch);
    BOOST_TEST_REQUIRE(guess.axes.size() == 1);
    BOOST_TEST(guess.axes.front().second == 8 << 10);
}

/// The facts of a kernel that no simulator has run yet, for steps that launch.
struct KernelOf {
    SaidOfKernel said;
    TextFacts text;
    TryLaunch launch;

    KernelFacts facts() const { return {.said = said, .text = text, .launch = launch}; }
};

BOOST_AUTO_TEST_CASE(bound_of_a_dimension_is_the_scalar_that_limits_it) {
    // if (4 * i < m) on a kernel of n and m: the second size, 68, ends the work-items at 17.
    std::string global;
    const TryLaunch launch = [&](const SmallLaunch& small) {
        global = small.global;
        return SeenLaunch{.items = {(std::stoll(small.arguments.at("m")) + 3) / 4, 1, 1}};
    };
    const KernelOf kernel{{{"k", {scalar("n", "int"), scalar("m", "int")}, {}}, {}, {}, {}}, TextFacts(""), launch};
    const auto arguments = named_arguments(kernel.said);
    const auto bounds = bounds_of(kernel.facts(), arguments, {});
    BOOST_TEST(bounds[0].scalars == std::vector<std::size_t>{1}, boost::test_tools::per_element());
    BOOST_TEST(bounds[0].divisor == 4);
    BOOST_TEST(global == "72");
    const auto shape = shape_of(kernel.facts(), arguments, {}, bounds);
    BOOST_TEST(shape.global == std::vector<std::string>{"ceil(m/4)"}, boost::test_tools::per_element());
    BOOST_TEST(arguments.axes.empty());
    BOOST_TEST(arguments.scalars[1].value == "1");  // the earlier value is as it was
}

BOOST_AUTO_TEST_CASE(samples_skip_the_border_before_which_a_kernel_reads) {
    std::size_t launches = 0;
    const TryLaunch launch = [&](const SmallLaunch& small) {
        ++launches;
        SeenLaunch out{.arguments = {{.last = 4, .unit = 4, .read = true, .before = small.offset != "2"}}};
        return out;
    };
    const KernelOf kernel{{{"k", {buffer("x", true)}, {}}, {}, {}, {}}, TextFacts(""), launch};
    const LaunchShape shape{{{}, {{"n", "n"}}}, {}, {"n"}};
    const auto samples = samples_of(kernel.facts(), shape);
    BOOST_TEST(samples.is_enough);
    BOOST_TEST(samples.shape.inset == 2);
    BOOST_TEST(samples.shape.global.front() == "n-4");
    BOOST_TEST(samples.shape.all_items() == "n");
    BOOST_TEST(launches == 12u);  // four sizes at the insets 0, 1 and 2
    BOOST_TEST(shape.inset == 0);
}

BOOST_AUTO_TEST_CASE(size_fits_the_data_that_the_user_gives) {
    Description said;
    parse_option("arg", "x=rand:5000", said);
    const KernelOf kernel{{{"k", {buffer("x", true)}, {}}, said.all.arguments, {}, {}}, TextFacts(""), {}};
    Measured measured{{.shape = {{{}, {{"n", "n"}}}, {}, {"n"}}}, {.of = {{"x", "n"}}}};
    BOOST_TEST(timed_size(kernel.facts(), measured) == 1 << 20);
    measured.samples.seen = {{.read = true}};
    measured.samples.runs = {{{16}, {.arguments = {{.size = 20000}}}}};
    BOOST_TEST(timed_size(kernel.facts(), measured) == 4096);
}

BOOST_AUTO_TEST_CASE(given_values_are_not_guessed) {
    Description said;
    parse_option("arg", "n=1000", said);
    BOOST_TEST(guessed_by_text("kernel void k(global float* z, int n) { z[get_global_id(0)] = n; }",
                               {buffer("z", false), scalar("n", "int")},
                               said.all.arguments) == "arg z = out:n\nglobal n\n");
}

BOOST_AUTO_TEST_CASE(kernels_of_the_same_data_get_one_size) {
    GuessedKernel large, small;
    large.axes = {{"n", 1024}}, large.sizes = {{1024, 8192}, {512, 4096}, {256, 2048}};
    small.axes = {{"n", 256}}, small.sizes = {{256, 2048}, {128, 1024}};
    large.arguments = {{"a", "rand:n"}, {"b", "out:n"}, {"n", "n"}};
    small.arguments = {{"a", "rand:n"}, {"b", "zero:n+1"}, {"n", "n"}};
    std::vector<GuessedKernel> both{large, small};
    BOOST_TEST(equal_problems(both, {}) == (std::vector<std::size_t>{0, 1}), boost::test_tools::per_element());
    BOOST_TEST(equal_problems(both, {"n"}) == (std::vector<std::size_t>{0, 0}), boost::test_tools::per_element());
    share_sizes(both, {});
    BOOST_TEST(both[0].axes.front().second == 256);
    BOOST_TEST(both[1].axes.front().second == 256);
    BOOST_TEST(equal_problems(both, {}) == (std::vector<std::size_t>{0, 0}), boost::test_tools::per_element());
    // Limited indices of one kernel are data for the other.
    small.arguments.front().second = "rand:n:0:63";
    both = {large, small};
    share_sizes(both, {});
    BOOST_TEST(both[0].arguments.front().second == "rand:n:0:63");
    BOOST_TEST(both[0].axes.front().second == 256);
    // Other inputs.
    small.arguments.front().second = "rand:n*n";
    both = {large, small};
    share_sizes(both, {});
    BOOST_TEST(both[0].axes.front().second == 1024);
    // --axis gives both another value.
    share_sizes(both, {"n"});
    BOOST_TEST(both[1].axes.front().second == 1024);
    // The parameters count vectors of four, and have another name.
    small.axes = {{"m", 256}}, small.sizes = {{256, 8192}, {128, 4096}};
    small.arguments = {{"a", "rand:m"}, {"b", "out:m"}, {"m", "m"}};
    both = {small, large};
    share_sizes(both, {});
    BOOST_TEST(both[1].axes.front().second == 1024);
    both.front().sizes = {{256, 4096}};
    share_sizes(both, {});
    BOOST_TEST(both[1].axes.front().second == 512);
    // No size has as many bytes.
    both.front().sizes = {{256, 4097}};
    share_sizes(both, {});
    BOOST_TEST(equal_problems(both, {}) == (std::vector<std::size_t>{0, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(kernels_that_need_different_sizes_get_two_axes) {
    GuessedKernel small, large;
    small.axes = {{"n", 512}}, large.axes = {{"n", 1 << 20}};
    small.global = large.global = "n";
    small.advised = {{"x", "perm:n"}};
    std::map<std::string, std::int64_t> axes;
    GuessedKernels both{{"a", large}, {"b", small}};
    BOOST_TEST(block_of(both, false, axes) ==
               "axis n = 1Mi\naxis n_b = 512\nkernel a\nglobal n\nkernel b\nglobal n_b\n");
    BOOST_TEST(both[1].second.advised.at("x") == "perm:n_b");
}

BOOST_AUTO_TEST_SUITE_END()
