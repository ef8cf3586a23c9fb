// What ptxas and the driver print with --verbose. The lines are those of ptxas 13.0.
#include <boost/test/unit_test.hpp>

#include "inspect/binary/nvidia.hpp"
#include "inspect/code/analysis.hpp"
#include "unit/inspect_build.hpp"

BOOST_AUTO_TEST_SUITE(inspect_nvidia)

using namespace cllab::inspect;

namespace {

const std::string log_of_two =
    "ptxas info    : Overriding maximum register limit 256 for 'z' with  32 of maxrregcount option\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'z' for 'sm_90'\n"
    "ptxas info    : Function properties for z\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 18 registers, used 0 barriers\n"
    "ptxas info    : Compile time = 29.372 ms\n"
    "ptxas info    : Compiling entry function 'spill' for 'sm_90'\n"
    "ptxas info    : Function properties for spill\n"
    "    256 bytes stack frame, 24 bytes spill stores, 48 bytes spill loads\n"
    "ptxas info    : Function properties for helper\n"
    "    512 bytes stack frame, 7 bytes spill stores, 7 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 1 barriers, 256 bytes cumulative stack size, 1024 bytes smem, 384 bytes "
    "cmem[0]\n";

}  // namespace

BOOST_AUTO_TEST_CASE(only_the_block_of_the_entry_is_read) {
    const auto facts = parse_ptxas_log(log_of_two, "spill");
    BOOST_TEST(facts.registers.value() == 32);
    BOOST_TEST(facts.stack_bytes.value() == 256);
    BOOST_TEST(facts.spill_store_bytes.value() == 24);
    BOOST_TEST(facts.spill_load_bytes.value() == 48);
    BOOST_TEST(facts.shared_bytes.value() == 1024);
    BOOST_TEST(facts.barriers.value() == 1);
    BOOST_TEST(parse_ptxas_log(log_of_two, "z").registers.value() == 18);
    BOOST_TEST(parse_ptxas_log(log_of_two, "z").shared_bytes.value() == 0);
}

BOOST_AUTO_TEST_CASE(entry_that_only_calls_its_body_counts_as_the_body) {
    // As clang 22 writes it.
    const std::string ptx =
        ".version 6.0\n.target sm_80, texmode_independent\n.address_size 64\n"
        ".func __clang_ocl_kern_imp_k(.param .b64 p)\n;\n"
        ".entry k(\n.param .u64 .ptr .global k_param_0\n)\n.reqntid 8, 4, 2\n{\n"
        "{\n.param .b64 param0;\nst.param.b64 [param0], %rd1;\n"
        "call.uni __clang_ocl_kern_imp_k, (param0);\n}\nret;\n}\n"
        ".func __clang_ocl_kern_imp_k(\n.param .b64 p\n)\n{\n"
        "$L__BB1_1:\nadd.s32 %r1, %r1, 1;\nsetp.ne.s32 %p1, %r1, 9;\n@%p1 bra $L__BB1_1;\nret;\n}\n"
        ".entry plain()\n{\nret;\n}\n";
    BOOST_TEST(body_of_kernel(ptx, "k") == "__clang_ocl_kern_imp_k");
    BOOST_TEST(body_of_kernel(ptx, "plain") == "plain");
    BOOST_TEST(required_group(ptx, "k") == 64u);
    BOOST_TEST(required_group(ptx, "plain") == 0u);
    const auto found = analyse(as_bytes(ptx), "k", "", {});
    BOOST_TEST_REQUIRE(!found.counts.empty());
    BOOST_TEST(found.counts.front().total.instructions == 4u);
    BOOST_TEST(found.counts.front().loops.size() == 1u);
    const auto facts = parse_ptxas_log(
        "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
        "ptxas info    : Function properties for k\n"
        "    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Function properties for __clang_ocl_kern_imp_k\n"
        "    256 bytes stack frame, 24 bytes spill stores, 48 bytes spill loads\n"
        "ptxas info    : Used 32 registers, used 0 barriers\n",
        "k");
    BOOST_TEST(facts.spill_store_bytes.value() == 24);
    BOOST_TEST(facts.stack_bytes.value() == 272);
}

BOOST_AUTO_TEST_CASE(entry_missing_from_the_log_has_no_facts) {
    BOOST_TEST(parse_ptxas_log(log_of_two, "spil").empty());
    BOOST_TEST(parse_ptxas_log("", "z").empty());
    BOOST_TEST(parse_ptxas_log("Invalid build option: -cl-nv-verbose", "z").empty());
}

BOOST_AUTO_TEST_CASE(log_without_a_name_describes_the_only_entry) {
    const auto facts = parse_ptxas_log(
        "ptxas info : 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info : Used 17 registers, used 0 barriers, 384 bytes cmem[0]\n",
        "k");
    BOOST_TEST(facts.registers.value() == 17);
    BOOST_TEST(facts.spill_store_bytes.value() == 0);
}

BOOST_AUTO_TEST_CASE(the_target_of_ptx_is_its_number) {
    BOOST_TEST(ptx_target(".version 9.0\n.target sm_90, texmode_independent\n") == 90);
    BOOST_TEST(ptx_target(".target sm_100a\n") == 100);
    BOOST_TEST(ptx_target("no target") == 0);
    BOOST_TEST(ptx_target(".target sm_") == 0);
}

BOOST_AUTO_TEST_CASE(cubin_registers_are_found_by_symbol_index) {
    std::string info, names("\0other\0kernel\0", 14), symbols(72, '\0');
    build::put_at(symbols, 24, std::uint32_t{1});
    build::put_at(symbols, 48, std::uint32_t{7});
    const auto attribute = [&](std::uint8_t id, std::uint32_t symbol, std::uint32_t value) {
        build::put(info, std::uint8_t{4}), build::put(info, id), build::put(info, std::uint16_t{8});
        build::put(info, symbol), build::put(info, value);
    };
    attribute(0x11, 2, 16);
    attribute(0x2f, 2, 31);
    attribute(0x2f, 1, 99);
    const std::string cubin =
        build::ElfFile{.type = 2,
                       .machine = 190,
                       .sections = {{".nv.info", 0x70000000, info}, {".symtab", 2, symbols, 3}, {".strtab", 3, names}}}
            .bytes();
    const auto facts = read_cubin(build::span(cubin), "kernel");
    BOOST_TEST(facts.registers.value() == 31);
    BOOST_TEST(facts.stack_bytes.value() == 16);
    BOOST_TEST(read_cubin(build::span("no ELF"), "kernel").empty());
}

BOOST_AUTO_TEST_SUITE_END()
