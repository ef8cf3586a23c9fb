// Kernels found in a text without a compiler.
#include <boost/test/unit_test.hpp>

#include "core/kernel_text.hpp"
#include "core/text.hpp"

BOOST_AUTO_TEST_SUITE(core_kernel_text)

using namespace cllab;

namespace {

std::string emptied(const std::string& text) { return without_bodies(text, kernels_in(text), "{}"); }

std::string names(const std::string& text) {
    return join(kernels_in(text), " ", [](const auto& kernel) { return kernel.name; });
}

}  // namespace

BOOST_AUTO_TEST_CASE(text_without_bodies_keeps_macros_types_and_parameters) {
    const std::string head = "#define BRACE {\ntypedef struct { int n; } Pair;\nint helper(int a) { return a; }\n";
    const std::string kernel = "__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k(global Pair* x, int n) ";
    const std::string body = "{ // }\n/* } */ if (n) { printf(\"}\\\"}\"); x[0].n = '}'; }\n}";
    BOOST_TEST(emptied(head + kernel + body + "\nint after;\n") == head + kernel + "{}\n\n\nint after;\n");
    BOOST_TEST(emptied("kernel void k(int a);\nint f() { return 1; }\n") ==
               "kernel void k(int a);\nint f() { return 1; }\n");
    BOOST_TEST(emptied("kernel void k() { {") == "kernel void k() {}");
}

BOOST_AUTO_TEST_CASE(emptied_body_keeps_its_lines_and_directives_but_no_pragma) {
    BOOST_TEST(emptied("kernel void k() {\n#ifdef A\n  a();\n#define B \\\n  }\n#endif\n#pragma unroll\n  for (;;) "
                       "{}\n}\nint c;") == "kernel void k() {}\n#ifdef A\n\n#define B \\\n  }\n#endif\n\n\n\nint c;");
}

BOOST_AUTO_TEST_CASE(kernel_is_found_with_attributes_anywhere) {
    BOOST_TEST(
        names("__kernel void __attribute__((reqd_work_group_size(8, 1, 1))) a(int n) {}\n"
              "__attribute__((vec_type_hint(float4))) kernel void b(global float* x) __attribute__((noinline)) {}\n"
              "kernel\nvoid\nc() {}") == "a b c");
}

BOOST_AUTO_TEST_CASE(words_that_only_look_like_kernels_are_not_kernels) {
    BOOST_TEST(names("#define K __kernel void in_macro() { }\n"
                     "constant float kernel[2] = {1, 2};\nvoid conv(float* kernel) { kernel[0] = 1; }\n"
                     "// kernel void comment() {}\nkernel void declared(int a);\nint f() { return 1; }") == "");
}

BOOST_AUTO_TEST_CASE(parameters_are_split_at_top_level_commas) {
    const auto found = kernels_in("kernel void k(global const float* a, /* in, out */ local int *t, F(2, 3) b) {}");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    const std::vector<std::string> expected{"global const float* a", "local int *t", "F(2, 3) b"};
    BOOST_TEST(found[0].parameters == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(samplers_used_at_integer_coordinates_are_found) {
    const auto found = [](const std::string& body) {
        return join(samplers_at_whole_coordinates(
                        "constant sampler_t r = CLK_FILTER_LINEAR;"
                        "kernel void other(sampler_t t) { read_imagef(i, t, (int2)(0, 0)); }\n"
                        "kernel void k(read_only image2d_t i, sampler_t s, global float4* o, int3 c) {" +
                            body + "}",
                        "k"),
                    " ", [](const auto& one) { return one.second.empty() ? one.first : one.first + "=" + one.second; });
    };
    BOOST_TEST(found("o[0] = read_imagef(i, s, (int2)(1, 2));") == "s");
    BOOST_TEST(found("o[0] = read_imageui(i, r, convert_int2(p)) + read_imagei(i, s, (int4)(x, y, z, 0));") ==
               "r=CLK_FILTER_LINEAR s");
    BOOST_TEST(found("const int2 p = (int2)(1, 2); o[0] = read_imagef(i, s, p);") == "s");
    BOOST_TEST(found("float2 p = (float2)(1, 2); o[0] = read_imagef(i, s, p);") == "");
    BOOST_TEST(found("o[0] = read_imagef(i, s, (float2)(1, 2));") == "");
    BOOST_TEST(found("float2 p = 3; int w = 2 * p.x, h = 1 + p; o[0] = read_imagef(i, s, p);") == "");
    BOOST_TEST(found("// read_imagef(i, s, (int2)(1, 2));\n o[0] = read_imagef(i, (int2)(1, 2));") == "");
}

BOOST_AUTO_TEST_CASE(required_group_size_is_read_from_numbers_and_macros) {
    const auto group = [](const std::string& before, const std::string& x, const std::string& option = "") {
        const auto attribute = "__attribute__((reqd_work_group_size(" + x + ", 2, 1))) ";
        const auto found = required_group_in(before + "kernel " + attribute + "void k(int n) {}\n", "k", {option});
        return found ? (*found)[0] : 99;
    };
    BOOST_TEST(group("", "64u") == 64u);
    BOOST_TEST(group("#define W 32\n", "(W * 2)") == 64u);
    BOOST_TEST(group("#ifndef W\n#define W 32\n#endif\n", "W", "-DW=16") == 16u);
    // An #if chooses, or what is no product.
    BOOST_TEST(group("#ifdef BIG\n#define W 256\n#else\n#define W 64\n#endif\n", "W") == 0u);
    BOOST_TEST(group("#define W 32\n", "W + 1") == 0u);
    BOOST_TEST(group("kernel void k(int n) {}\n", "8") == 99u);
    BOOST_TEST(!required_group_in("kernel void k(int n) {}", "k", {}));
    const std::string one = "__attribute__((reqd_work_group_size(8, 1, 1)))\n";
    const auto either = required_group_in("kernel\n#if A\n" + one + "#else\n" + one + "#endif\nvoid k() {}", "k", {});
    BOOST_TEST((*either)[0] == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
