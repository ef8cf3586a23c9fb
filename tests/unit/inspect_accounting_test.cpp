// Hot code without samples: the one loop or path that adds up to the declared work.
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>

#include "inspect/code/analysis.hpp"
#include "inspect/isa/isa.hpp"
#include "model/result.hpp"
#include "model/work.hpp"
#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(inspect_accounting)

using namespace cllab;
using namespace cllab::inspect;

namespace {

Analysis analysis_of(Kind kind, const std::string& title, const InstructionSet& set, const std::string& text) {
    Analysis out;
    out.kind = kind;
    out.disassembly.listings.push_back({title, &set, text, "", "k", ""});
    out.counts.push_back(count_function(&set, text, "k"));
    return out;
}

/// A GCN kernel with `body` between its first load and its end.
Analysis gcn(const std::string& body) {
    const std::string text =
        "0000000000001000 <k>:\n\ts_load_dwordx2 s[0:1], s[4:5], 0x0 // 000000001000: C0060002 00000000\n" + body +
        "\ts_endpgm // 000000001f00: BF810000\n";
    return analysis_of(Kind::amdgpu_code_object, "GCN", isa::gcn, text);
}

std::string load_and_store(const std::string& at, const std::string& width) {
    return "\tglobal_load_" + width + " v3, v[1:2], off // 00000000" + at + "0: DC508000 037F0001\n\tglobal_store_" +
           width + " v[1:2], v3, off // 00000000" + at + "8: DC708000 007F0301\n";
}
std::string back_to(const std::string& from, const std::string& to) {
    return "\ts_cbranch_scc1 L0 // 00000000" + from + ": BF850000 <k+0x" + to + ">\n";
}
const std::string multiply_add = "\tv_fmac_f32_e32 v1, v2, v3 // 000000001040: 76020702\n";

}  // namespace

BOOST_AUTO_TEST_CASE(in_place_buffer_counts_as_stored_whole_if_bytes_add_up) {
    const auto buffer = [](std::size_t size) { return std::make_shared<model::Bytes>(size); };
    model::Setup setup;
    setup.args = {model::Input{"x", buffer(1000)}, model::InOut{"y", buffer(1000)}};
    setup.work.bytes = 3000;
    BOOST_TEST(!declared_bytes(setup));
    BOOST_TEST_REQUIRE(declared_in_place(setup).has_value());
    BOOST_TEST(declared_in_place(setup)->stored == 1000);
    BOOST_TEST(declared_in_place(setup)->moved == 3000);
    setup.work.bytes = 2500;  // half of it is read and stored
    BOOST_TEST(!declared_in_place(setup));
    setup.args = {model::Input{"x", buffer(1000)}, model::Output{"y", 1000}};
    setup.work.bytes = 2500;  // nothing is changed in place: as declared_bytes()
    BOOST_TEST(declared_in_place(setup)->stored == 1000);
    setup.args.push_back(model::Scratch{});
    BOOST_TEST(!declared_in_place(setup));
}

BOOST_AUTO_TEST_CASE(missing_declaration_is_named) {
    const auto a = gcn(load_and_store("101", "dword"));
    model::Setup setup;
    BOOST_TEST(account(a, setup).reason == "its work-items and operations are not declared");
    setup.global = model::Extent(64);
    BOOST_TEST(account(a, setup).reason == "its work-items and operations are not declared");
    setup.args = {model::InOut{"y", std::make_shared<model::Bytes>(256)}};
    BOOST_TEST(account(a, setup).reason == "its stores are not declared");
}

BOOST_AUTO_TEST_CASE(block_explaining_all_declared_bytes_has_an_execution_count) {
    model::HotBlock block{"k", 0, 1, 97, 0.97, 25, {}, {{"load_64", 5}, {"store_64", 1}, {"stack_store_64", 2}}, {}};
    BOOST_TEST(*executions(block, {8000, 16000}) == 1000);
    // It would bring fewer bytes than must be read.
    block.memory = {{"load_8", 1}, {"store_64", 1}};
    BOOST_TEST(!executions(block, {8000, 16000}));
    // A gather does not say how much it brings.
    block.memory = {{"load_indexed", 1}, {"store_64", 1}};
    BOOST_TEST(!executions(block, {8000, 16000}));
    // The rest of the time, and perhaps of the stores, is elsewhere.
    block.memory = {{"load_64", 5}, {"store_64", 1}};
    block.share = 0.6;
    BOOST_TEST(!executions(block, {8000, 16000}));
}

BOOST_AUTO_TEST_CASE(declared_stores_replace_the_sizes_of_outputs) {
    const auto pixels = [](const char* left, const char* right) {
        return test::set_up("pitch_loop", test::probe_cpu(),
                            {{"width", "4096"}, {"height", "4"}, {"left", left}, {"right", right}});
    };
    const auto part = pixels("1500", "2499");
    BOOST_TEST_REQUIRE(declared_in_place(part).has_value());
    BOOST_TEST(declared_in_place(part)->stored == 4000);  // and not the 16384 of the buffer
    BOOST_TEST(model::work_of(part).read.value_or(0) == part.work.bytes - 4000);
    BOOST_TEST(model::work_of(part).footprint == part.work.bytes);
    BOOST_TEST(declared_in_place(pixels("21", "4074"))->stored == 4 * 4054);
}

BOOST_AUTO_TEST_CASE(several_storing_blocks_execute_at_least_the_instructions_of_the_cheapest) {
    model::HotBlock fast{"k", 0, 1, 60, 0.6, 22, {}, {{"load_512", 3}, {"store_512", 1}}, {}},
        slow{"k", 2, 3, 35, 0.35, 26, {}, {{"load_256", 3}, {"store_256", 1}}, {}},
        other{"k", 4, 5, 4, 0.04, 3, {}, {}, {}};
    model::Hot hot{model::Hot::sampled};
    hot.blocks = {fast, slow, other};
    BOOST_TEST(least_instructions(hot, {6400, 13000}).value_or(0) == 22 * 100);
    hot.blocks[1].memory = {{"load_512", 3}, {"store_1024", 1}};
    BOOST_TEST(least_instructions(hot, {6400, 13000}).value_or(0) == 26 * 50);
    hot.blocks[1].memory = {{"store_scattered", 1}};  // of no known width
    BOOST_TEST(!least_instructions(hot, {6400, 13000}));
    hot.blocks = {fast, other};  // what has the rest of the samples may store, too
    BOOST_TEST(!least_instructions(hot, {6400, 13000}));
    hot.blocks = {other};
    BOOST_TEST(!least_instructions(hot, {6400, 13000}));
}

BOOST_AUTO_TEST_CASE(straight_code_that_stores_the_declared_bytes_is_accounted) {
    const auto a = gcn(load_and_store("101", "dword"));
    const auto hot = account(a, {4, 4, 0});
    BOOST_TEST(hot.reason == "");
    BOOST_REQUIRE(hot.evidence == "accounted");
    BOOST_TEST(hot.code == "GCN");
    BOOST_TEST_REQUIRE(hot.blocks.size() == 1u);
    BOOST_TEST(hot.blocks[0].instructions == 4u);
    BOOST_TEST(hot.blocks[0].samples == 0u);
    BOOST_TEST(account(a, {8, 4, 0}).reason == "no single loop or path accounts for the declared work");
    // It would read less than it must.
    BOOST_TEST(!account(a, {4, 16, 0}).known());
}

BOOST_AUTO_TEST_CASE(loop_is_accounted_by_a_whole_number_of_passes) {
    const auto a = gcn(load_and_store("101", "dwordx4") + back_to("1020", "10"));
    const auto hot = account(a, {64, 64, 0});
    BOOST_REQUIRE(hot.evidence == "accounted");
    BOOST_TEST(hot.blocks.front().begin == 0x1010u);
    BOOST_TEST(hot.blocks.front().loops.size() == 1u);
    BOOST_TEST(!account(a, {24, 24, 0}).known());
    BOOST_TEST(!account(a, {8, 8, 0}).known());
}

BOOST_AUTO_TEST_CASE(loop_near_other_storing_code_is_unknown) {
    // A wide path in two forms, of which one runs, and a loop of single bytes for the edge: only the loop adds up.
    const auto edge = account(gcn(load_and_store("101", "dwordx4") + load_and_store("102", "dwordx4") +
                                  load_and_store("103", "byte") + back_to("1040", "30")),
                              {16, 16, 0});
    BOOST_TEST(model::statement(edge) == "unknown: no single loop or path accounts for the declared work");
    const auto hot = account(gcn(load_and_store("101", "dwordx4") + back_to("1020", "10") +
                                 load_and_store("103", "byte") + back_to("1040", "30")),
                             {64, 64, 0});
    BOOST_TEST(!hot.known());
}

BOOST_AUTO_TEST_CASE(loop_near_reading_loops_or_long_code_is_unknown) {
    // What the other loop sums up may take most of the time.
    const std::string reads =
        "\tglobal_load_dword v3, v[1:2], off // 000000001010: DC508000 037F0001\n" + back_to("1018", "10");
    const auto two = account(gcn(reads + load_and_store("103", "dwordx4") + back_to("1040", "30")), {64, 64, 0});
    BOOST_TEST(model::statement(two) == "unknown: the trip counts of its other loops are not known");
    std::string long_way;
    for (int i = 0; i < 20; ++i)
        long_way += "\tv_fmac_f32_e32 v1, v2, v3 // 0000000020" + std::to_string(10 + 4 * i) + ": 76020702\n";
    const auto loop = load_and_store("101", "dwordx4") + back_to("1020", "10");
    BOOST_TEST(account(gcn(loop + long_way), {64, 64, 0}).reason.find("fewer instructions") != std::string::npos);
    BOOST_TEST(account(gcn(loop + long_way), {640, 640, 0}).known());
}

// Its convergence barriers hide where some jumps lead, so of SASS nothing was accounted for (2026-11-24).
BOOST_AUTO_TEST_CASE(sass_is_accounted_if_all_its_jumps_are_known) {
    const auto sass = [](const std::string& sync) {
        const std::string text =
            "//--------------------- .text.k                --------------------------\nk:\n        /*0000*/ BSSY B0, "
            "0x30 ;\n"
            "        /*0010*/ LDG.E R4, [R2.64] ;\n        /*0020*/ STG.E [R2.64], R4 ;\n        /*0030*/ " +
            sync + " ;\n        /*0040*/ EXIT ;\n";
        return analysis_of(Kind::cubin, "SASS", isa::sass, text);
    };
    BOOST_TEST(account(sass("BSYNC B0"), {4, 4, 0}).reason == "");
    BOOST_TEST(account(sass("BSYNC B1"), {4, 4, 0}).reason == "not all of its loops are known");
    BOOST_TEST(account(sass("BRX R4 -0x40"), {4, 4, 0}).reason == "not all of its loops are known");
}

BOOST_AUTO_TEST_CASE(declared_arithmetic_is_found_in_loops_without_stores) {
    const auto a = gcn(multiply_add + back_to("1044", "40") +
                       "\tglobal_store_dword v[1:2], v3, off // 000000001050: DC708000 007F0301\n");
    BOOST_TEST(account(a, {4, 8, 256}).evidence == "accounted");
    BOOST_TEST(account(a, {4, 8, 256}).blocks.front().begin == 0x1040u);
}

BOOST_AUTO_TEST_CASE(nothing_is_accounted_without_separate_local_memory) {
    const std::string x86 = "0000000000000000 <k>:\n       0:\tmov    DWORD PTR [rdi],eax\n       2:\tret\n";
    BOOST_TEST(account(analysis_of(Kind::host_elf, "machine code", isa::x86, x86), {4, 4, 0}).reason ==
               "the device has one memory, so local accesses look like any other");
    BOOST_TEST(account({}, {4, 4, 0}).reason == "there is no disassembly to count");
}

BOOST_AUTO_TEST_SUITE_END()
