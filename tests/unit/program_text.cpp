// Compiled programs as texts, and the kernels of SPIR-V modules and PTX.
#include <boost/test/unit_test.hpp>

#include "core/kernel_text.hpp"
#include "device/spirv.hpp"
#include "inspect/binary/binary.hpp"

using namespace cllab;

namespace {

std::string bytes_of(const std::vector<std::uint32_t>& words) {
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::uint32_t)};
}

/// An instruction: its number, then its words.
void add(std::vector<std::uint32_t>& module, std::uint32_t op, const std::vector<std::uint32_t>& operands) {
    module.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | op);
    module.insert(module.end(), operands.begin(), operands.end());
}

constexpr std::uint32_t text_k = 'k', text_y = 'y';

/// `kernel void k(global float4* y, uint, struct {uchar, double}*)` of which the module names k and y.
std::vector<std::uint32_t> small_module() {
    std::vector<std::uint32_t> out{0x07230203, 0x10000, 0, 40, 0};
    add(out, 15, {6, 10, text_k});  // OpEntryPoint Kernel
    add(out, 16, {10, 17, 8, 4, 1});
    add(out, 5, {11, text_y});
    add(out, 21, {1, 32, 0});
    add(out, 21, {2, 8, 0});
    add(out, 22, {3, 32});
    add(out, 22, {4, 64});
    add(out, 23, {5, 3, 4});
    add(out, 30, {6, 2, 4});
    add(out, 32, {7, 5, 5});  // CrossWorkgroup
    add(out, 32, {8, 5, 6});
    add(out, 19, {9});
    add(out, 33, {20, 9, 7, 1, 8});
    add(out, 54, {9, 10, 0, 20});
    for (const std::uint32_t i : {0u, 1u, 2u}) add(out, 55, {std::array{7u, 1u, 8u}[i], 11 + i});
    add(out, 56, {});
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(program_text)

BOOST_AUTO_TEST_CASE(compiled_program_survives_its_text_form) {
    std::string bytes;
    for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * 7);
    const auto text = text_of_program(bytes);
    BOOST_TEST(text.find('\0') == std::string::npos);
    BOOST_TEST((program_of_text(text) == bytes));
    BOOST_TEST((program_of_text("#line 1 \"a.spv\"\n" + text) == bytes));
    BOOST_TEST((program_of_text("#include <a.h>\n" + text) == std::nullopt));
    BOOST_TEST((program_of_text("kernel void k() {}") == std::nullopt));
}

BOOST_AUTO_TEST_CASE(every_binary_file_name_of_a_dump_names_a_program) {
    for (int kind = 1; kind <= static_cast<int>(inspect::Kind::host_elf); ++kind)  // but for the empty one
        BOOST_TEST(names_program(inspect::file_name(static_cast<inspect::Kind>(kind))));
    BOOST_TEST(!names_program("a.cl"));
}

BOOST_AUTO_TEST_CASE(the_arguments_of_a_spirv_kernel_are_read_from_the_module) {
    const auto module = device::read_spirv(bytes_of(small_module()));
    BOOST_TEST(module.fault == "");
    BOOST_TEST_REQUIRE(module.kernels.size() == 1);
    const auto& kernel = module.kernels.front();
    BOOST_TEST(kernel.name == "k");
    BOOST_TEST((kernel.required_group == std::array<std::size_t, 3>{8, 4, 1}));
    BOOST_TEST_REQUIRE(kernel.parameters.size() == 3);
    const auto &y = kernel.parameters[0], &value = kernel.parameters[1], &structs = kernel.parameters[2];
    BOOST_TEST((y.name == "y" && y.type.name == "float4" && y.kind == model::Parameter::Kind::global));
    BOOST_TEST((value.name == "arg1" && value.type.name == "uint" && value.kind == model::Parameter::Kind::value));
    BOOST_TEST((structs.name == "arg2" && structs.type.is_opaque()));
    BOOST_TEST(structs.type.bytes == 16u);
}

BOOST_AUTO_TEST_CASE(truncated_or_damaged_module_is_read_or_refused) {
    const auto whole = bytes_of(small_module());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto module = device::read_spirv(std::string_view(whole).substr(0, size));
        BOOST_TEST((!module.fault.empty() || size % 4 == 0));
    }
    for (std::size_t i = 4; i < whole.size(); ++i)
        for (const char byte : {'\0', '\x01', '\x7f', '\xff'}) {
            auto damaged = whole;
            damaged[i] = byte;
            const auto module = device::read_spirv(damaged);
            BOOST_TEST(module.fault.empty() != module.kernels.empty());
        }
    BOOST_TEST(device::read_spirv(whole.substr(0, 24)).fault.starts_with("is cut short or damaged"));
    BOOST_TEST(device::read_spirv("hello").fault.starts_with("does not begin"));
}

BOOST_AUTO_TEST_CASE(the_parameters_of_a_ptx_kernel_are_known_by_position) {
    const auto found = device::kernels_of_program(text_of_program(R"(// .entry no (
.version 7.0
.target sm_52
.visible .entry scale(
    .param .u64 .ptr .global .align 4 scale_param_0,
    .param .f32 scale_param_1, // two
    .param .align 8 .b8 scale_param_2[16]
) { ret; }
.entry bare { ret; }
)"));
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST_REQUIRE(found->kernels.size() == 2);
    const auto& [name, parameters, group] = found->kernels.front();
    BOOST_TEST(name == "scale");
    BOOST_TEST_REQUIRE(parameters.size() == 3);
    BOOST_TEST((parameters[0].kind == model::Parameter::Kind::global && parameters[0].type.name == "void"));
    BOOST_TEST((parameters[1].name == "arg1" && parameters[1].type.name == "float"));
    BOOST_TEST(parameters[2].type.bytes == 16u);
}

BOOST_AUTO_TEST_SUITE_END()
