// Whether declared work is found in listings that have it, and missed in ones a compiler saw through.
#include <boost/test/unit_test.hpp>

#include "inspect/code/analysis.hpp"
#include "inspect/isa/isa.hpp"
#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(inspect_work)

using namespace cllab::inspect;
using cllab::model::Declared;
using What = Declared::What;

namespace {

/// Elements of `what` in `text`, in loops; -1: cannot be told.
double found(const InstructionSet& set, const std::string& text, What what, unsigned bits = 32) {
    return count_work(count_function(&set, text, "k"), text, {what, 1, bits}, true).value_or(-1);
}

struct Row {
    const InstructionSet& set;
    std::string instruction;
    What what;
    unsigned bits;
    double elements;
};
void check(const std::vector<Row>& rows) {
    for (const auto& [set, instruction, what, bits, elements] : rows)
        BOOST_TEST(elements_of(set, instruction_of(instruction), {what, 1, bits}) == elements, instruction);
}

/// `inside` in a loop of k, behind a load and in front of a store.
std::string x86_loop(const std::string& inside) {
    return "0000000000001000 <k>:\n  1000:\tmov rdi,QWORD PTR [rdi]\n" + inside +
           "  1080:\tdec eax\n  1082:\tjne 1010 <k+0x10>\n  1084:\tmov QWORD PTR [rsi],rdi\n  1088:\tret\n";
}
std::string ptx_loop(const std::string& inside) {
    return ".visible .entry k(.param .u64 p)\n{\n ld.global.u32 %r0, [%rd1];\n$L:\n" + inside +
           " add.s32 %r1, %r1, -1;\n setp.ne.s32 %p1, %r1, 0;\n @%p1 bra $L;\n st.global.f32 [%rd1], %f1;\n ret;\n}\n";
}
std::string gcn_loop(const std::string& inside) {
    return "0000000000001000 <k>:\n\ts_load_dwordx2 s[0:1], s[4:5], 0x0 // 000000001000: C0060002 00000000\n" + inside +
           "\ts_sub_u32 s2, s2, 1 // 000000001080: 80828102\n\ts_cbranch_scc1 L0 // 000000001084: BF850000 <k+0x10>\n"
           "\tglobal_store_dword v[0:1], v2, off // 000000001088: DC708000 007F0200\n\ts_endpgm // 000000001090: "
           "BF810000\n";
}
std::string sass_loop(const std::string& inside) {
    return "//--------------------- .text.k                --------------------------\nk:\n        /*0000*/ MOV R1, "
           "c[0x0][0x28] ;\n"
           ".L_x_0:\n" +
           inside +
           "        /*0100*/ @P0 BRA `(.L_x_0) ;\n        /*0110*/ STG.E [R2.64], R5 ;\n        /*0120*/ EXIT ;\n";
}

Analysis analysis_of(Kind kind, const std::vector<std::pair<const InstructionSet*, std::string>>& listings) {
    Analysis a;
    a.kind = kind;
    for (const auto& [set, text] : listings) {
        a.disassembly.listings.push_back({"", set, text, "", "k", ""});
        a.counts.push_back(count_function(set, text, "k"));
    }
    return a;
}

const std::string x86_fma = "  1010:\tvfmadd213ps ymm0,ymm0,ymm1\n  1015:\tvfmadd213ss xmm2,xmm2,xmm3\n";

}  // namespace

BOOST_AUTO_TEST_CASE(multiply_adds_of_a_loop_are_counted_per_lane_on_each_isa) {
    BOOST_TEST(found(isa::x86, x86_loop(x86_fma), What::multiply_add) == 9);
    BOOST_TEST(found(isa::ptx, ptx_loop(" fma.rn.f32 %f1, %f1, %f1, %f2;\n fma.rn.f32 %f1, %f1, %f1, %f2;\n"),
                     What::multiply_add) == 2);
    BOOST_TEST(found(isa::gcn, gcn_loop("\tv_fma_f32 v0, v0, v0, v1 // 000000001010: D1CB0000 04060100\n"),
                     What::multiply_add) == 1);
    BOOST_TEST(found(isa::sass, sass_loop("        /*0010*/ FFMA R5, R5, R5, R6 ;\n"), What::multiply_add) == 1);
}

BOOST_AUTO_TEST_CASE(loop_without_multiply_adds_has_none_on_each_isa) {
    BOOST_TEST(found(isa::x86, x86_loop("  1010:\tadd ecx,7\n"), What::multiply_add) == 0);
    BOOST_TEST(found(isa::ptx, ptx_loop(" add.f32 %f1, %f1, %f2;\n"), What::multiply_add) == 0);
    BOOST_TEST(found(isa::gcn, gcn_loop("\tv_add_f32 v0, v0, v1 // 000000001010: 02000300\n"), What::multiply_add) ==
               0);
    BOOST_TEST(found(isa::sass, sass_loop("        /*0010*/ IADD3 R5, R5, 0x1, RZ ;\n"), What::multiply_add) == 0);
}

BOOST_AUTO_TEST_CASE(loads_outside_the_loop_are_not_counted_per_trip) {
    BOOST_TEST(found(isa::x86, x86_loop("  1010:\tmov rdi,QWORD PTR [rdi]\n"), What::load, 64) == 1);
    BOOST_TEST(found(isa::x86, x86_loop("  1010:\tadd ecx,7\n"), What::load, 64) == 0);
    BOOST_TEST(found(isa::gcn, gcn_loop("\ts_nop 0 // 000000001010: BF800000\n"), What::load, 64) == 0);
    BOOST_TEST(found(isa::ptx, ptx_loop(""), What::load) == 0);
    // SASS jumps in ways that the text does not show: the whole kernel counts.
    BOOST_TEST(found(isa::sass, sass_loop(""), What::store) == 1);
}

BOOST_AUTO_TEST_CASE(kernel_without_its_loop_has_no_work_per_trip) {
    const std::string text =
        "0000000000001000 <k>:\n  1000:\timul eax,ecx\n  1003:\tmov DWORD PTR [rsi],eax\n  1006:\tret\n";
    BOOST_TEST(found(isa::x86, text, What::integer_multiply) == 0);
    BOOST_TEST(count_work(count_function(&isa::x86, text, "k"), text, {What::integer_multiply, 1}, false).value() == 1);
}

BOOST_AUTO_TEST_CASE(unknown_jump_makes_the_whole_kernel_count) {
    const std::string text = "0000000000001000 <k>:\n  1000:\timul eax,ecx\n  1003:\tjmp rax\n";
    BOOST_TEST(found(isa::x86, text, What::integer_multiply) == 1);
    const std::string far =
        "0000000000001000 <k>:\n\tv_fma_f32 v0, v0, v0, v1 // 000000001010: D1CB0000 04060100\n"
        "\ts_setpc_b64 s[0:1] // 000000001018: BE801D00\n";
    BOOST_TEST(found(isa::gcn, far, What::multiply_add) == 1);
}

BOOST_AUTO_TEST_CASE(calls_count_their_callees_and_unknown_callees_are_not_judged) {
    const std::string callee = "\n0000000000002000 <f>:\n  2000:\tvfmadd213ss xmm0,xmm0,xmm1\n  2005:\tret\n";
    const auto calls = x86_loop("  1010:\tcall 2000 <f>\n  1015:\tcall 2000 <f>\n");
    BOOST_TEST(found(isa::x86, calls + callee, What::multiply_add) == 2);
    BOOST_TEST(found(isa::x86, calls, What::multiply_add) == -1);
    BOOST_TEST(found(isa::x86, x86_loop("  1010:\tcall rax\n"), What::multiply_add) == -1);
    BOOST_TEST(
        found(isa::x86,
              "0000000000001000 <k>:\n  1000:\tjmp 2000 <fmaf@plt>\n\n0000000000002000 <fmaf@plt>:\n  2000:\tjmp rax\n",
              What::multiply_add) == -1);
    BOOST_TEST(found(isa::x86,
                     "0000000000001000 <k>:\n  1000:\tcall 2000 <f>\n  1005:\tret\n\n0000000000002000 <f>:\n  "
                     "2000:\tcall 2000 <f>\n  2005:\tret\n",
                     What::multiply_add) == -1,
               "a recursion");
    BOOST_TEST(found(isa::ptx, ptx_loop(" call.uni f, (p);\n"), What::multiply_add) == -1);
    BOOST_TEST(found(isa::gcn, gcn_loop("\ts_swappc_b64 s[30:31], s[0:1] // 000000001010: BE9E1E00\n"),
                     What::multiply_add) == -1);
    BOOST_TEST(found(isa::x86, x86_loop("  1010:\trep movs QWORD PTR es:[rdi],QWORD PTR ds:[rsi]\n"), What::load) ==
               -1);
}

BOOST_AUTO_TEST_CASE(built_in_function_counts_as_its_call_or_its_arithmetic) {
    BOOST_TEST(found(isa::x86, x86_loop("  1010:\tcall 2000 <expf@plt>\n"), What::function) == 4);
    const auto once = x86_loop("  1010:\tcall 2000 <expf@plt>\n");
    BOOST_TEST(!count_work(count_function(&isa::x86, once, "k"), once, {What::function, 16}, true).has_value(),
               "the kernel itself may be there");
    BOOST_TEST(found(isa::x86, x86_loop("  1010:\tvsqrtss xmm0,xmm0,xmm0\n"), What::function) == 1);
    BOOST_TEST(
        found(isa::x86, x86_loop("  1010:\tvmovss xmm0,DWORD PTR [rdi]\n  1015:\txor eax,ecx\n"), What::function) == 0);
    BOOST_TEST(found(isa::ptx, ptx_loop(" sin.approx.f32 %f1, %f1;\n"), What::function) == 1);
    BOOST_TEST(found(isa::ptx, ptx_loop(" mov.f32 %f1, %f2;\n"), What::function) == 0);
    BOOST_TEST(found(isa::gcn, gcn_loop("\tv_rcp_f32_e32 v0, v0 // 000000001010: 7E004500\n"), What::function) == 1);
    BOOST_TEST(found(isa::gcn, gcn_loop("\tv_bfi_b32 v0, v0, v1, v2 // 000000001010: D1CA0000 04060100\n"),
                     What::function) == 0);
    BOOST_TEST(found(isa::sass, sass_loop("        /*0010*/ MUFU.SIN R5, R5 ;\n"), What::function) == 1);
}

BOOST_AUTO_TEST_CASE(packed_instructions_count_every_lane_of_the_right_width) {
    check({{isa::x86, "vfmadd231pd zmm0, zmm1, zmm2", What::multiply_add, 64, 8},
           {isa::x86, "vfmadd231ps ymm0, ymm1, ymm2", What::multiply_add, 64, 0},
           {isa::x86, "vpmulld ymm0, ymm1, ymm2", What::integer_multiply, 32, 8},
           {isa::x86, "vpdpwssd zmm0, zmm1, zmm2", What::integer_multiply, 32, 16},
           {isa::x86, "vfcmaddcph zmm0, zmm1, zmm2", What::multiply_add, 16, 32},
           {isa::x86, "imul eax, eax", What::integer_multiply, 32, 1},
           {isa::gcn, "v_pk_fma_f16 v0, v0, v0, v1", What::multiply_add, 16, 2},
           {isa::gcn, "v_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5", What::multiply_add, 32, 2},
           {isa::gcn, "v_mad_u64_u32 v[0:1], vcc, v2, v2, v3", What::integer_multiply, 32, 1},
           {isa::ptx, "fma.rn.f16x2", What::multiply_add, 16, 2},
           {isa::ptx, "fma.rn.f16", What::multiply_add, 32, 0},
           {isa::gcn, "v_pk_mad_u16 v0, v0, v1, v2", What::integer_multiply, 16, 2},
           {isa::gcn, "v_mad_legacy_u16 v0, v0, v1, v2", What::integer_multiply, 16, 1},
           {isa::gcn, "v_mad_legacy_u16 v0, v0, v1, v2", What::integer_multiply, 32, 0},
           {isa::ptx, "mad.lo.s32", What::integer_multiply, 32, 1},
           {isa::ptx, "mad.lo.s32", What::multiply_add, 32, 0},
           {isa::sass, "HFMA2.MMA", What::multiply_add, 16, 2},
           {isa::sass, "FFMA2", What::multiply_add, 32, 2},
           {isa::sass, "IMAD.MOV.U32", What::integer_multiply, 32, 0},
           {isa::sass, "IMAD", What::integer_multiply, 32, 1},
           {isa::xe, "mad (16|M0)  r30.0<1>:f  r16.0<8;8,1>:f  r2.0<8;8,1>:f  r3.0<1>:f", What::multiply_add, 32, 1},
           {isa::xe, "mad (16|M0)  r30.0<1>:f  r16.0<8;8,1>:f  r2.0<8;8,1>:f  r3.0<1>:f", What::multiply_add, 64, 0},
           {isa::xe, "mul (1|M0)  acc0.0<1>:d  r9.4<0;1,0>:d  r3.2<0;1,0>:uw", What::integer_multiply, 32, 1},
           {isa::xe, "mul (16|M0)  r30.0<1>:f  r16.0<8;8,1>:f  r2.0<8;8,1>:f", What::integer_multiply, 32, 0},
           {isa::xe, "math.sqt (16|M0)  r30.0<1>:f  r16.0<8;8,1>:f", What::function, 32, 1},
           {isa::xe, "mov (16|M0)  r30.0<1>:f  r16.0<8;8,1>:f", What::function, 32, 0}});
}

BOOST_AUTO_TEST_CASE(memory_work_counts_by_bits_and_address_space) {
    check({{isa::ptx, "ld.global.v4.u32", What::load, 32, 4},
           {isa::ptx, "ld.volatile.global.u32", What::load, 128, 0.25},
           {isa::ptx, "ld.param.u64", What::load, 32, 0},
           {isa::ptx, "ld.shared.u32", What::local_load, 32, 1},
           {isa::ptx, "ld.shared.u32", What::load, 32, 0},
           {isa::ptx, "ld.u64", What::load, 64, 1},
           {isa::sass, "LDS.64 R0, [R1]", What::local_load, 64, 1},
           {isa::gcn, "ds_read2_b32 v[0:1], v2", What::local_load, 32, 2},
           {isa::gcn, "flat_load_dwordx2 v[0:1], v[0:1]", What::load, 64, 1},
           {isa::gcn, "buffer_load_dword v2, off, s[0:3], 0 offset:20", What::load, 32, 0},
           {isa::x86, "mov rax, qword ptr [rbp]", What::load, 64, 1},
           {isa::x86, "mov rax, qword ptr [rsp + 8]", What::load, 64, 0},
           {isa::x86, "vpgatherdd ymm0, dword ptr [rax + 4*ymm1], ymm2", What::load, 32, 16}});
    const auto message = [](const std::string& descriptor, const std::string& what) {
        return "send.dc1 (16|M0)  r38  r34  null  0x0  " + descriptor + "  {$6} // wr:2+0, rd:2; " + what;
    };
    check({{isa::xe, message("0x04205E00", "untyped surface read with xy"), What::load, 32, 2},
           {isa::xe, message("0x04205E00", "untyped surface read with x"), What::local_load, 32, 0},
           {isa::xe, message("0x04205EFE", "untyped surface read with x"), What::local_load, 32, 1},
           {isa::xe, message("0x04205EFE", "untyped surface read with x"), What::load, 32, 0},
           {isa::xe, message("0x04025001", "hword scratch block write x2"), What::store, 32, 0},
           {isa::xe, message("0x040487FF", "untyped a64 atomic int32 integer add"), What::atomic, 32, 1},
           {isa::x86, "vmovntps ymmword ptr [rax], ymm0", What::store, 128, 2}});
}

BOOST_AUTO_TEST_CASE(atomics_are_counted_singly_and_need_a_lock_prefix) {
    const auto locked = x86_loop("  1010:\tlock add DWORD PTR [rdi],eax\n"),
               plain = x86_loop("  1010:\tadd DWORD PTR [rdi],eax\n");
    BOOST_TEST(found(isa::x86, locked, What::atomic) == 1);
    BOOST_TEST(found(isa::x86, plain, What::atomic) == 0);
    BOOST_TEST(found(isa::x86, x86_loop("  1010:\tlock\n  1011:\tadd\tdword ptr [rdi], eax\n"), What::atomic) == 1);
    check({{isa::x86, "xchg dword ptr [rdi], eax", What::atomic, 32, 1},
           {isa::ptx, "atom.global.add.u32", What::atomic, 32, 1},
           {isa::ptx, "red.shared.add.u32", What::local_atomic, 32, 1},
           {isa::ptx, "red.shared.add.u32", What::atomic, 32, 0},
           {isa::gcn, "global_atomic_add v[0:1], v2, off", What::atomic, 32, 1},
           {isa::gcn, "ds_add_u32 v0, v1", What::local_atomic, 32, 1},
           {isa::sass, "RED.E.ADD [R2.64], R5", What::atomic, 32, 1},
           {isa::sass, "ATOMS.ADD RZ, [R2], R5", What::local_atomic, 32, 1}});
}

BOOST_AUTO_TEST_CASE(barriers_are_counted_on_gpus_but_unknown_on_cpus) {
    BOOST_TEST(found(isa::ptx, ptx_loop(" bar.sync 0;\n bar.sync 0;\n"), What::barrier) == 2);
    BOOST_TEST(found(isa::ptx, ptx_loop(""), What::barrier) == 0);
    BOOST_TEST(found(isa::gcn, gcn_loop("\ts_barrier // 000000001010: BF8A0000\n"), What::barrier) == 1);
    BOOST_TEST(found(isa::sass, sass_loop("        /*0010*/ BAR.SYNC 0x0 ;\n"), What::barrier) == 1);
    BOOST_TEST(found(isa::x86, x86_loop(x86_fma), What::barrier) == -1);
}

BOOST_AUTO_TEST_CASE(less_than_95_percent_is_collapsed_and_states_both_numbers) {
    const auto a = analysis_of(Kind::poclbin, {{&isa::x86, x86_loop(x86_fma)}});
    const auto enough = check_work(a, {{What::multiply_add, 9}}, true);
    BOOST_TEST(enough.counted);
    BOOST_TEST(enough.collapsed == "");
    BOOST_TEST(enough.found.at(0) == "float multiply-adds found 9 of the 9 declared (x86)");
    BOOST_TEST(check_work(a, {{What::multiply_add, 10}}, true).collapsed ==
               "float multiply-adds found 9 of the 10 declared (x86)");
}

BOOST_AUTO_TEST_CASE(work_is_counted_only_if_every_part_is) {
    const auto a = analysis_of(Kind::poclbin, {{&isa::x86, x86_loop(x86_fma)}});
    BOOST_TEST(!check_work(a, {{What::multiply_add, 9}, {What::barrier, 1}}, true).counted);
    BOOST_TEST(!check_work(a, {}, true).counted);
    BOOST_TEST(!check_work(analysis_of(Kind::unknown, {{nullptr, ""}}), {{What::multiply_add, 9}}, true).counted);
    auto other = a;
    other.disassembly.listings[0].function = "another";  // the count is of some function, not of the kernel
    BOOST_TEST(!check_work(other, {{What::multiply_add, 100}}, true).counted);
}

BOOST_AUTO_TEST_CASE(locally_made_sass_only_raises_a_doubt) {
    const auto full = ptx_loop(" fma.rn.f32 %f1, %f1, %f1, %f2;\n"), empty = sass_loop("");
    const auto from_ptx =
        check_work(analysis_of(Kind::ptx, {{&isa::ptx, full}, {&isa::sass, empty}}), {{What::multiply_add, 1}}, true);
    BOOST_TEST(from_ptx.collapsed == "");
    BOOST_TEST(from_ptx.doubtful == "float multiply-adds found 0 of the 1 declared (sass)");
    BOOST_TEST(check_work(analysis_of(Kind::cubin, {{&isa::sass, empty}}), {{What::multiply_add, 1}}, true).collapsed ==
               "float multiply-adds found 0 of the 1 declared (sass)");
    BOOST_TEST(
        check_work(analysis_of(Kind::ptx, {{&isa::ptx, ptx_loop("")}}), {{What::multiply_add, 1}}, true).collapsed ==
        "float multiply-adds found 0 of the 1 declared (ptx)");
}

BOOST_AUTO_TEST_CASE(operation_probes_declare_their_operations) {
    auto gpu = cllab::test::probe_gpu();
    gpu.local_is_dedicated = true;
    gpu.local_bytes = gpu.last_level_bytes = 1 << 20;
    const auto first = [&](const std::string& id, const cllab::test::Axes& axes) {
        const auto declared = cllab::test::set_up(id, gpu, axes).declared;
        BOOST_TEST_REQUIRE(!declared.empty(), id + " declares nothing");
        return declared.front();
    };
    const auto peak = first("fma_peak", {{"type", "double"}, {"width", "4"}, {"ilp", "2"}, {"unroll", "16"}});
    BOOST_TEST((peak.what == What::multiply_add));
    BOOST_TEST(peak.bits == 64u);
    BOOST_TEST(peak.count == 128);
    BOOST_TEST((first("fma_latency", {{"type", "uint"}}).what == What::integer_multiply));
    BOOST_TEST(first("fma_nested", {{"unroll", "64"}}).count == 2);
    BOOST_TEST(first("math_latency", {{"function", "exp"}}).count == 4);
    BOOST_TEST(first("math_latency", {{"function", "sqrt"}}).count == 16);
    BOOST_TEST(first("latency_global", {}).count == 16);
    BOOST_TEST(first("cacheline_pair", {{"footprint", "4096"}}).count == 16);
    BOOST_TEST(first("cacheline_lone", {{"footprint", "4096"}}).count == 8);
    BOOST_TEST(first("channels_load", {}).bits == 128u);
    BOOST_TEST(first("registers_live", {{"live", "64"}}).count == 128);
    BOOST_TEST(first("divergence_paths", {{"paths", "8"}}).count == 512);
    BOOST_TEST(first("bandwidth_reread", {{"width", "16"}}).count == 4);
    BOOST_TEST((first("barrier_plain", {{"group", "256"}}).what == What::barrier));
    for (const auto* id :
         {"latency_local", "banks_word", "banks_pair", "scatter_store", "scatter_load", "channels_store",
          "atomic_global", "atomic_local", "atomic_chain", "bandwidth_copy", "divergence_plain", "divergence_branch"})
        first(id, {});
    // A wave has no barrier, and nothing to find is nothing to declare.
    BOOST_TEST(cllab::test::set_up("barrier_plain", gpu, {{"group", "32"}}).declared.empty());
    BOOST_TEST(cllab::test::set_up("math_latency", gpu, {{"function", "identity"}}).declared.empty());
}

BOOST_AUTO_TEST_SUITE_END()
