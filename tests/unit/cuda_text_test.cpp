// One text in two languages: what becomes of OpenCL C on its way to NVRTC, and of PTX on its way back. No compiler is
// needed.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "core/error.hpp"
#include "device/cuda.hpp"

using namespace cllab;

BOOST_AUTO_TEST_SUITE(cuda_text_test)

/// What the text became, without the header in front of it.
std::string made_of(const std::string& text) {
    const auto whole = device::cuda_text("// here\n" + text);
    return whole.substr(whole.rfind("// here\n") + 8);
}

bool has_word(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

BOOST_AUTO_TEST_CASE(option_for_cuda_is_two_words) {
    BOOST_TEST(device::asks_for_cuda("-DA=1 -x cuda -DB"));
    BOOST_TEST(!device::asks_for_cuda("-DA=1 -x cl"));
    BOOST_TEST(!device::asks_for_cuda("-x"));
    BOOST_TEST(!device::asks_for_cuda(""));
}

BOOST_AUTO_TEST_CASE(quoted_text_is_one_word_of_the_options) {
    const std::vector<std::string> expected{"-DA=1", "-D", "B=unsigned int", "-DC=\"x y\"", "", "-DD"};
    BOOST_TEST(device::words_of(" -DA=1  -D \"B=unsigned int\" '-DC=\"x y\"' \"\"\n-DD ") == expected,
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(kernel_and_required_group_are_translated_to_cuda) {
    BOOST_TEST(made_of("__kernel void k(__global float* restrict a, int n) {}") ==
               "extern \"C\" __global__ void k( float* restrict a, int n) {}\n");
    BOOST_TEST(made_of("kernel __attribute__((reqd_work_group_size(TILE, 16, 1))) void k(global int* a) {}") ==
               "extern \"C\" __global__ __launch_bounds__((TILE) * (16) * (1)) void k( int* a) {}\n");
    BOOST_TEST(made_of("__attribute__((vec_type_hint(short8)))\n__kernel void k() {}") ==
               "\nextern \"C\" __global__ void k() {}\n");
    BOOST_TEST(made_of("kernel SHAPE void KERNEL(int a) {}") ==
               "extern \"C\" __global__ SHAPE void KERNEL(int a) {}\n");
    // lab.h makes a macro of the word; it is no kernel.
    BOOST_TEST(made_of("#define kernel __kernel\n") == "#define kernel __kernel\n\n");
    BOOST_TEST(made_of("int kernel_size = get_global_id(0);") == "int kernel_size = get_global_id(0);\n");
}

BOOST_AUTO_TEST_CASE(local_arrays_become_shared_and_their_pointers_plain) {
    BOOST_TEST(made_of("local float ta[K * PITCH], tb[8];") == "__shared__ float ta[K * PITCH], tb[8];\n");
    BOOST_TEST(made_of("__local uint x;") == "__shared__ uint x;\n");
    BOOST_TEST(made_of("asm(\"ld.global.cg.u64 %0, [%1];\" : \"=l\"(p) : \"l\"(p)); get_local_id(0);") ==
               "asm(\"ld.global.cg.u64 %0, [%1];\" : \"=l\"(p) : \"l\"(p)); get_local_id(0);\n");
    BOOST_TEST(made_of("local float* row = ta + 1;") == " float* row = ta + 1;\n");
    BOOST_TEST(made_of("*(local const float4*)(tb) = v;") == "*( const float4*)(tb) = v;\n");
}

BOOST_AUTO_TEST_CASE(vector_literal_is_not_a_cast_of_its_last_value) {
    BOOST_TEST(made_of("v = (float4)(a, b, c, d);") == "v = float4(a, b, c, d);\n");
    BOOST_TEST(made_of("v = (ushort2)(x, y) + (uint4) (0);") == "v = ushort2(x, y) + uint4(0);\n");
    BOOST_TEST(made_of("v = (float)(a) + (short8)1 + (int)(b);") == "v = (float)(a) + (short8)1 + (int)(b);\n");
}

BOOST_AUTO_TEST_CASE(options_are_translated_or_refused) {
    const std::string plain = "kernel void k() {}", strict = "#pragma OPENCL FP_CONTRACT OFF\n" + plain;
    const auto words =
        device::nvrtc_options("-cl-std=CL1.2 -DLANES=4 -D OTHER -x cuda -cl-nv-maxrregcount=128", strict, 90);
    for (const char* word :
         {"--gpu-architecture=compute_90", "-DLANES=4", "-DOTHER", "--fmad=false", "--prec-div=false"})
        BOOST_TEST(has_word(words, word), word);
    for (const auto& word : words)
        BOOST_TEST((word.find("-cl-") == std::string::npos && word != "-x" && word != "cuda"), word);
    BOOST_TEST(has_word(device::nvrtc_options("-x cuda", plain, 80), "--fmad=true"));
    BOOST_TEST(has_word(device::nvrtc_options("-x cuda -cl-mad-enable", strict, 80), "--fmad=true"));
    BOOST_TEST(has_word(device::nvrtc_options("-cl-fast-relaxed-math -x cuda", strict, 80), "--use_fast_math"));
    BOOST_TEST(has_word(device::nvrtc_options("-cl-fp32-correctly-rounded-divide-sqrt -x cuda", strict, 80),
                        "--prec-div=true"));
    BOOST_CHECK_EXCEPTION(
        device::nvrtc_options("-x cuda -cl-opt-disable", plain, 80), Unsupported,
        [](const Unsupported& e) { return std::string(e.what()).find("'-cl-opt-disable'") != std::string::npos; });
}

BOOST_AUTO_TEST_CASE(register_limit_becomes_a_directive_of_each_kernel) {
    const std::string ptx =
        ".visible .entry a(\n\t.param .u64 a_param_0\n)\n.maxntid 256, 1, 1\n{\n}\n.visible .entry b()\n{\n}\n";
    BOOST_TEST(device::with_register_limit(ptx, "-DA -cl-nv-maxrregcount=128 -x cuda") ==
               ".visible .entry a(\n\t.param .u64 a_param_0\n)\n.maxnreg 128\n.maxntid 256, 1, 1\n{\n}\n.visible "
               ".entry b()\n.maxnreg 128\n{\n}\n");
    BOOST_TEST(device::with_register_limit(ptx, "-x cuda") == ptx);
}

BOOST_AUTO_TEST_CASE(sm_90a_instructions_stay_comments_until_the_module_needs_it) {
    const std::string module =
        ".version 8.8\n.target sm_90, texmode_independent\n// begin inline asm\n//sm_90a: {.reg .pred p;\n"
        "//sm_90a: wgmma.fence.sync.aligned;\n// a comment\n";
    BOOST_TEST(device::with_sm_90a(module + std::string(2, '\0')) ==
               ".version 8.8\n.target sm_90a, texmode_independent\n// begin inline asm\n{.reg .pred p;\n"
               "wgmma.fence.sync.aligned;\n// a comment\n");
    BOOST_TEST(device::with_sm_90a(".version 7.5\n.target sm_80\n//sm_90a: x;\n") ==
               ".version 8.3\n.target sm_90a\nx;\n");
    BOOST_TEST(device::with_sm_90a(".target sm_90\n// a comment\n").empty());
}

BOOST_AUTO_TEST_CASE(only_pointer_parameters_are_marked) {
    const std::string ptx =
        ".version 9.0\n.target sm_90\n.visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .u64 .ptr .align 1 "
        "k_param_1,\n"
        "\t.param .u64 k_param_2,\n\t.param .u64 k_param_12\n)\n{\n\tld.param.u64 %rd1, [k_param_0];\n}\n";
    BOOST_TEST(device::entries_in(ptx) == std::vector<std::string>{"k"}, boost::test_tools::per_element());
    const auto said =
        device::pointers_in(".const .align 8 .u64 lab_pointers_k = 3;\n.const .align 8 .u64 lab_pointers_none;\n");
    BOOST_TEST(said.at("k") == 3u);
    BOOST_TEST(said.at("none") == 0u);  // PTX leaves zeros out
    const auto marked = device::with_pointers(ptx, said);
    const auto has = [&](const char* text) { return marked.find(text) != std::string::npos; };
    BOOST_TEST(has("\t.param .u64 .ptr .global .align 4 k_param_0,\n"));
    BOOST_TEST(has("\t.param .u64 .ptr .global .align 4 k_param_1,\n"));
    BOOST_TEST(has("\t.param .u64 k_param_2,\n"));
    BOOST_TEST(has("\t.param .u64 k_param_12\n"));
    BOOST_TEST(has("ld.param.u64 %rd1, [k_param_0]"));
}

/// A test of the compiler itself, which few machines have. Skipped there, and listed as skipped.
boost::unit_test::precondition where_there_is_nvrtc() {
    return boost::unit_test::precondition([](boost::unit_test::test_unit_id) -> boost::test_tools::assertion_result {
        boost::test_tools::assertion_result result(device::nvrtc_missing().empty());
        result.message() << device::nvrtc_missing();
        return result;
    });
}

BOOST_AUTO_TEST_CASE(nvrtc_reports_which_parameters_are_pointers, *where_there_is_nvrtc()) {
    const auto made = device::compile_cuda(
        "typedef struct { int n; float f; } Pair;\n"
        "kernel void first(global const float* restrict a, ulong n, Pair p, constant uchar* b, global int* restrict c) "
        "{\n"
        "    local float t[64];\n    t[get_local_id(0)] = a[n] + p.f + b[p.n];\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    c[get_global_id(0)] = (int)t[63 - get_local_id(0)];\n}\n"
        "kernel void second(ulong n, global ulong* a) { a[0] = n; }\n",
        "-x cuda", 80);
    BOOST_REQUIRE_MESSAGE(made.ok, made.log);
    const auto has = [&](const char* text) { return made.ptx.find(text) != std::string::npos; };
    for (const char* pointer : {"first_param_0", "first_param_3", "first_param_4", "second_param_1"})
        BOOST_TEST(has((".param .u64 .ptr .global .align 4 " + std::string(pointer)).c_str()), pointer);
    for (const char* number : {"first_param_1", "second_param_0"})
        BOOST_TEST(has((".param .u64 " + std::string(number)).c_str()), number);
    BOOST_TEST(has(".shared"));
}

BOOST_AUTO_TEST_CASE(four_element_vector_is_one_access_and_keeps_its_values, *where_there_is_nvrtc()) {
    const auto made = device::compile_cuda(
        "kernel void k(global const float4* a, global float4* b) {\n"
        "    b[get_global_id(0)] = (float4)(a[get_global_id(0)].w, a[get_global_id(0)].s2, 2.0f, 1.0f) + 1.0f;\n}\n",
        "-x cuda", 80);
    BOOST_REQUIRE_MESSAGE(made.ok, made.log);
    BOOST_TEST(made.ptx.find("st.global.v4") != std::string::npos, made.ptx);
}

BOOST_AUTO_TEST_CASE(image_is_read_through_the_texture_unit, *where_there_is_nvrtc()) {
    const auto made = device::compile_cuda(
        "constant sampler_t plain = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\n"
        "kernel void k(__read_only image2d_t a, global uint* b) {\n"
        "    b[get_global_id(0)] = read_imageui(a, plain, (int2)((int)get_global_id(0), 3)).x;\n}\n",
        "-x cuda", 75);
    BOOST_REQUIRE_MESSAGE(made.ok, made.log);
    BOOST_TEST(made.ptx.find("tex.2d.v4.u32.s32") != std::string::npos, made.ptx);
}

BOOST_AUTO_TEST_CASE(errors_of_cuda_are_quoted_from_the_compiler, *where_there_is_nvrtc()) {
    const auto made = device::compile_cuda("kernel void k(global half* a) { a[0] = 1; }", "-x cuda", 80);
    BOOST_TEST(!made.ok);
    BOOST_TEST(made.log.find("half") != std::string::npos, made.log);
}

BOOST_AUTO_TEST_SUITE_END()
