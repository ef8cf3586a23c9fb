// Listings of four instruction sets to instructions, classes and loops. The lines are what the tools printed.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "inspect/cfg.hpp"
#include "inspect/isa/list.hpp"
#include "inspect/stats.hpp"

using namespace cllab::inspect;

namespace {

Instruction make(const std::string& mnemonic, const std::string& operands, Flow flow = Flow::next) {
    Instruction i;
    i.mnemonic = mnemonic;
    i.operands = operands;
    i.flow = flow;
    return i;
}

/// "class memory memory": what a listing's instruction is.
std::string told(const Class& c) {
    std::string text = c.name;
    for (const auto& access : c.memory) text += " " + access;
    return text;
}

std::string x86(const std::string& mnemonic, const std::string& operands) {
    return told(isa::x86.classify(make(mnemonic, operands)));
}
std::string gcn(const std::string& mnemonic, const std::string& operands = "") {
    return told(isa::gcn.classify(make(mnemonic, operands)));
}
std::string sass(const std::string& mnemonic, const std::string& operands = "") {
    return told(isa::sass.classify(make(mnemonic, operands)));
}
std::string ptx(const std::string& mnemonic, const std::string& operands = "") {
    return told(isa::ptx.classify(make(mnemonic, operands)));
}

// The article's forms f and g as amd_comgr 2.4 compiles them for gfx900.
const std::string gcn_f = R"(
0000000000001A00 <f>:
	s_mov_b64 s[0:1], 0                                        // 000000001A64: BE800180 
	global_load_dword v3, v[1:2], off                          // 000000001A68: DC508000 037F0001 
	v_add_u32_e32 v0, 32, v0                                   // 000000001A70: 680000A0 
	v_cmp_le_i32_e32 vcc, s2, v0                               // 000000001A74: 7D860002 
	s_or_b64 s[0:1], vcc, s[0:1]                               // 000000001A78: 8780006A 
	s_waitcnt vmcnt(0)                                         // 000000001A7C: BF8C0F70 
	v_add_u32_e32 v3, 1, v3                                    // 000000001A80: 68060681 
	global_store_dword v[1:2], v3, off                         // 000000001A84: DC708000 007F0301 
	v_add_co_u32_e32 v1, vcc, 0x80, v1                         // 000000001A8C: 320202FF 00000080 
	v_addc_co_u32_e32 v2, vcc, 0, v2, vcc                      // 000000001A94: 38040480 
	s_andn2_b64 exec, exec, s[0:1]                             // 000000001A98: 89FE007E 
	s_cbranch_execnz 65522                                     // 000000001A9C: BF89FFF2  <f+0x68>
	s_endpgm                                                   // 000000001AA0: BF810000 
	s_nop 0                                                    // 000000001AA4: BF800000 
)";

const std::string gnu_x86 = R"(
0000000000001160 <k>:
    1160:	xor    eax,eax
    1162:	nop    WORD PTR [rax+rax*1+0x0]
    1168:	vmovups ymm0,YMMWORD PTR [rdi+rax*4]
    116d:	vmovups YMMWORD PTR [rsi+rax*4],ymm0
    1172:	add    rax,0x8
    1176:	cmp    rax,rdx
    1179:	jb     1168 <k+0x8>
    117b:	ret
    117c:	jmp    117c <k+0x1c>
)";

const std::string llvm_x86 = R"(
0000000000001160 <k>:
    1160:      	xor	eax, eax
    1162:      	nop	word ptr [rax + rax]
    1168:      	vmovups	ymm0, ymmword ptr [rdi + 4*rax] # ymm0 = mem
    116d:      	vmovups	ymmword ptr [rsi + 4*rax], ymm0
    1172:      	add	rax, 8
    1176:      	cmp	rax, rdx
    1179:      	jb	0x1168 <k+0x8>
    117b:      	ret
    117c:      	jmp	0x117c <k+0x1c>
)";

const std::string nested_ptx = R"(
.version 7.5
.target sm_80, texmode_independent
.func helper(.param .b32 a);
.entry k(
	.param .u64 .ptr .global .align 4 k_param_0
)
{
	.reg .pred 	%p<7>;
	ld.param.u64 	%rd1, [k_param_0];  // a comment; with a semicolon
	mov.u32 	%r1, 0;
$L__BB0_1:
	mov.u32 	%r2, 0;
$L__BB0_2:
	ld.global.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd1];
	fma.rn.f32 	%f5, %f1, %f2, %f5;
	@%p1 bra 	$L__BB0_2;
	{ // callseq 0, 0
	.param .b32 param0;
	call.uni
	helper,
	(param0);
	}
	st.global.f32 	[%rd1], %f5;
	@!%p2 bra 	$L__BB0_1;
	ret;
}
)";

}  // namespace

BOOST_AUTO_TEST_SUITE(inspect_code)

BOOST_AUTO_TEST_CASE(the_articles_form_f_counts_5_v_and_4_s_an_iteration) {
    const auto stats = count_function(&isa::gcn, gcn_f, "f");
    BOOST_TEST_REQUIRE(stats.loops.size() == 1u);
    const auto& loop = stats.loops[0].own;
    BOOST_TEST(stats.loops[0].header == "0x1a68");
    BOOST_TEST(loop.mark("v") == 5u);
    BOOST_TEST(loop.mark("s") == 4u);
    BOOST_TEST(loop.instructions == 11u);
    BOOST_TEST(loop.classes.at("v_memory") == 2u);
    BOOST_TEST(loop.classes.at("wait") == 1u);
    BOOST_TEST(loop.bytes == 56u);
    BOOST_TEST(stats.total.instructions == 13u);  // the s_nop behind s_endpgm is padding
}

BOOST_AUTO_TEST_CASE(a_gcn_branch_is_read_from_its_offset_or_from_its_label) {
    const auto numbered = isa::gcn.parse(gcn_f);
    BOOST_TEST(numbered[0].instructions[11].targets.at(0) == 0x1a68u);
    const auto labelled = isa::gcn.parse("0000000000001A00 <f>:\n\ts_branch L0   // 000000001A9C: BF820000  <f+0x10>\n");
    BOOST_TEST(labelled[0].instructions[0].targets.at(0) == 0x1a10u);
    const auto start = isa::gcn.parse("0000000000001A00 <f>:\n\ts_branch L0   // 000000001A9C: BF820000  <f>\n");
    BOOST_TEST(start[0].instructions[0].targets.at(0) == 0x1a00u);
}

BOOST_AUTO_TEST_CASE(gnu_and_llvm_listings_of_the_same_x86_code_count_the_same) {
    const auto gnu = count_function(&isa::x86, gnu_x86, "k"), llvm = count_function(&isa::x86, llvm_x86, "k");
    for (const auto* stats : {&gnu, &llvm}) {
        BOOST_TEST_REQUIRE(stats->loops.size() == 1u);
        const auto& loop = stats->loops[0].own;
        BOOST_TEST(stats->loops[0].header == "0x1168");
        BOOST_TEST(loop.instructions == 5u);
        BOOST_TEST(loop.classes.at("vector_256") == 2u);
        BOOST_TEST(loop.memory.at("load_256") == 1u);
        BOOST_TEST(loop.memory.at("store_256") == 1u);
        BOOST_TEST(loop.bytes == 19u);
        BOOST_TEST(stats->total.classes.count("padding") == 0u);
    }
}

BOOST_AUTO_TEST_CASE(a_branch_to_itself_behind_the_return_is_no_loop) {
    BOOST_TEST(count_function(&isa::x86, gnu_x86, "k").loops.size() == 1u);
    const std::string sass_text =
        "//--- .text.k ---\nk:\n        /*0000*/   EXIT ;\n.L_x_0:\n        /*0010*/   BRA `(.L_x_0);\n        "
        "/*0020*/   NOP;\n";
    const auto stats = count_function(&isa::sass, sass_text, "k");
    BOOST_TEST(stats.loops.empty());
    BOOST_TEST(stats.total.instructions == 1u);
}

BOOST_AUTO_TEST_CASE(an_indirect_x86_jump_through_a_register_has_no_target) {
    const auto functions = isa::x86.parse(
        "0000000000001000 <k>:\n  1000:\tjmp    rax\n  1002:\tnotrack jmp QWORD PTR [rax*8+0x10]\n  1009:\tjmp 1000 "
        "<k>\n");
    BOOST_TEST(functions[0].instructions[0].targets.empty());
    BOOST_TEST(functions[0].instructions[1].targets.empty());
    BOOST_TEST(functions[0].instructions[1].mnemonic == "jmp");
    BOOST_TEST(functions[0].instructions[2].targets.at(0) == 0x1000u);
}

BOOST_AUTO_TEST_CASE(a_prefix_on_a_line_of_its_own_belongs_to_the_instruction_behind_it) {
    const auto f = isa::x86.parse("0000000000001000 <k>:\n  1000:\tlock\n  1001:\tadd\tdword ptr [rdi], eax\n  1004:\tadd ecx, 1\n");
    BOOST_TEST_REQUIRE(f[0].instructions.size() == 2u);
    BOOST_TEST(f[0].instructions[0].mnemonic == "add");
    BOOST_TEST(f[0].instructions[0].locked);
    BOOST_TEST(f[0].instructions[0].address == 0x1000u);
    BOOST_TEST(f[0].instructions[0].bytes == 4u);
    BOOST_TEST(!f[0].instructions[1].locked);
}

BOOST_AUTO_TEST_CASE(of_two_x86_loops_the_vector_body_is_shown_though_its_remainder_has_more_instructions) {
    const auto stats = count_function(&isa::x86,
                                      "0000000000001000 <k>:\n  1000:\tvmovdqu ymm0,YMMWORD PTR [rdi]\n  1004:\tvmovdqu YMMWORD PTR [rsi],ymm0\n"
                                      "  1008:\tadd    rdi,0x20\n  100c:\tjne    1000 <k>\n  100e:\tmovzx  eax,BYTE PTR [rdi]\n"
                                      "  1011:\tmov    BYTE PTR [rsi],al\n  1013:\tadd    rdi,0x1\n  1016:\tdec    rcx\n"
                                      "  1019:\tjne    100e <k+0xe>\n  101b:\tret\n",
                                      "k");
    BOOST_TEST_REQUIRE(stats.loops.size() == 2u);
    BOOST_TEST(stats.loops[1].own.instructions > stats.loops[0].own.instructions);
    BOOST_TEST(stats.shown == 0);
    BOOST_TEST(shown_place(stats) == "innermost loop at 0x1000");
}

BOOST_AUTO_TEST_CASE(the_loop_shown_is_the_innermost_one_with_the_most_work_at_any_depth) {
    // Three loops: five instructions with zmm, eight with ymm, nine scalar ones a level deeper.
    const std::string zmm = "  1000:\tvpaddd zmm0,zmm1,zmm2\n  1004:\tvpaddd zmm0,zmm1,zmm2\n  1008:\tvpaddd zmm0,zmm1,zmm2\n"
                            "  100c:\tdec eax\n  100e:\tjne 1000 <k>\n";
    const std::string ymm = "  1010:\tvpaddd ymm0,ymm1,ymm2\n  1014:\tvpaddd ymm0,ymm1,ymm2\n  1018:\tvpaddd ymm0,ymm1,ymm2\n"
                            "  101c:\tvpaddd ymm0,ymm1,ymm2\n  1020:\tvpaddd ymm0,ymm1,ymm2\n  1024:\tinc ecx\n  1026:\tdec eax\n"
                            "  1028:\tjne 1010 <k+0x10>\n";
    const std::string scalar = "  1030:\tinc esi\n  1032:\tinc edi\n  1034:\tinc ebx\n  1036:\tinc esi\n  1038:\tinc edi\n  103a:\tinc ebx\n"
                               "  103c:\tinc ebx\n  103e:\tdec eax\n  1040:\tjne 1032 <k+0x32>\n  1042:\tdec ecx\n  1044:\tjne 1030 <k+0x30>\n";
    const auto place = [](const std::string& loops) {
        const auto stats = count_function(&isa::x86, "0000000000001000 <k>:\n" + loops + "  1050:\tret\n", "k");
        return shown_place(stats);
    };
    BOOST_TEST(place(zmm + ymm + scalar) == "innermost loop at 0x1000");
    BOOST_TEST(place(ymm + scalar) == "innermost loop at 0x1010");
    BOOST_TEST(place(scalar) == "innermost loop at 0x1032");
    BOOST_TEST(place("") == "whole kernel (no loop)");
}

BOOST_AUTO_TEST_CASE(nothing_is_called_hot) {
    const auto stats = count_function(&isa::gcn, gcn_f, "f");
    BOOST_TEST(summary(stats).find("innermost loop at 0x1a68 (shown), one iteration 11 instructions") != std::string::npos);
    BOOST_TEST(summary(stats).find("hot") == std::string::npos);
    BOOST_TEST(!to_json(stats).contains("hot_loop"));
    BOOST_TEST(to_json(stats).at("shown_loop") == 0);
}

BOOST_AUTO_TEST_CASE(ptx_loops_nest_and_calls_and_scopes_are_single_statements) {
    const auto stats = count_function(&isa::ptx, nested_ptx, "k");
    BOOST_TEST_REQUIRE(stats.loops.size() == 2u);
    BOOST_TEST(stats.loops[0].depth == 1u);
    BOOST_TEST(stats.loops[1].depth == 2u);
    BOOST_TEST(stats.loops[1].parent == 0);
    BOOST_TEST(stats.loops[1].own.instructions == 3u);
    BOOST_TEST(stats.loops[1].own.memory.at("global_load_128") == 1u);
    BOOST_TEST(stats.loops[0].own.instructions == 4u);  // mov, call, st, bra; nothing of the inner loop
    BOOST_TEST(stats.loops[0].own.classes.count("fp32") == 0u);
    BOOST_TEST(stats.shown == 1);
    BOOST_TEST(stats.total.instructions == 10u);
}

BOOST_AUTO_TEST_CASE(a_ptx_switch_reaches_every_target_of_its_table) {
    const auto functions =
        isa::ptx.parse(".entry k()\n{\n$T: .branchtargets $A, $B;\n brx.idx %r1, $T;\n$A:\n bra.uni $B;\n$B:\n ret;\n}\n");
    BOOST_TEST_REQUIRE(functions.size() == 1u);
    BOOST_TEST(functions[0].instructions[0].targets.size() == 2u);
}

BOOST_AUTO_TEST_CASE(sass_branches_follow_labels_and_addresses_and_predicated_exits_go_on) {
    const std::string nvdisasm = R"(//--------------------- .text.k                --------------------------
k:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/                   FFMA R2, R3.reuse, R4.reuse, R2 ;
        /*0020*/              @P0 EXIT ;
        /*0030*/              @!P1 BRA `(.L_x_0) ;
        /*0040*/                   EXIT ;
)";
    const std::string cuobjdump = R"(		Function : k
        /*0000*/                   MOV R1, c[0x0][0x28] ;                           /* 0x00000a00ff017b82 */
                                                                                    /* 0x000fe20000000800 */
        /*0010*/                   FFMA R2, R3.reuse, R4.reuse, R2 ;                /* 0x0000000000007919 */
        /*0020*/              @P0 EXIT ;                                            /* 0x0000000000007919 */
        /*0030*/              @!P1 BRA 0x10 ;                                       /* 0x0000000000007919 */
        /*0040*/                   EXIT ;                                           /* 0x0000000000007919 */
)";
    for (const auto& text : {nvdisasm, cuobjdump}) {
        const auto stats = count_function(&isa::sass, text, "k");
        BOOST_TEST_REQUIRE(stats.loops.size() == 1u);
        BOOST_TEST(stats.loops[0].own.instructions == 3u);
        BOOST_TEST(stats.loops[0].own.mark("reuse") == 2u);
        BOOST_TEST(stats.total.bytes == 80u);
    }
}

BOOST_AUTO_TEST_CASE(x86_instructions_are_classed_by_their_widest_register_and_their_memory_by_its_size) {
    BOOST_TEST(x86("vpaddw", "ymm1, ymm2, ymm3") == "vector_256");
    BOOST_TEST(x86("vpaddd", "zmm1, zmm2, zmmword ptr [rax]") == "vector_512 load_512");
    BOOST_TEST(x86("vpmovzxbw", "ymm0, xmmword ptr [rax]") == "vector_256 load_128");
    BOOST_TEST(x86("mov", "BYTE PTR [rax],cl") == "scalar_move store_8");
    BOOST_TEST(x86("movzx", "eax, byte ptr [rdi]") == "scalar_move load_8");
    BOOST_TEST(x86("add", "dword ptr [rax], 1") == "scalar_integer load_32 store_32");
    BOOST_TEST(x86("cmp", "qword ptr [rax], 1") == "scalar_integer load_64");
    BOOST_TEST(x86("lea", "rax, [rdi + 4*rcx]") == "address");
    BOOST_TEST(x86("vmulss", "xmm0, xmm1, dword ptr [rax]") == "scalar_float load_32");
    BOOST_TEST(x86("vpabsd", "xmm0, xmm1") == "vector_128");
    BOOST_TEST(x86("vpdpbusd", "ymm0, ymm1, ymm2") == "vector_256");
    BOOST_TEST(x86("vpgatherdd", "ymm0, dword ptr [rax + 4*ymm1], ymm2") == "gather load_indexed");
    BOOST_TEST(x86("vpscatterdd", "dword ptr [rax + 4*zmm1] {k1}, zmm2") == "scatter store_indexed");
    BOOST_TEST(x86("vextracti128", "xmmword ptr [rax], ymm0, 1") == "vector_256 store_128");
    BOOST_TEST(x86("mov", "rax, qword ptr [rip + 0x10]") == "scalar_move load_64");
    BOOST_TEST(x86("movups", "xmmword ptr [rax], xmm0") == "vector_128 store_128");
    BOOST_TEST(x86("push", "rbp") == "scalar_move stack_store_64");
    BOOST_TEST(x86("popcnt", "rax, rcx") == "scalar_integer");
    BOOST_TEST(x86("nop", "dword ptr [rax]") == "padding");
    BOOST_TEST(x86("vzeroupper", "") == "other");
    BOOST_TEST(x86("prefetcht0", "byte ptr [rax]") == "other");
}

BOOST_AUTO_TEST_CASE(rbp_is_the_stack_only_in_a_function_that_makes_it_its_frame_pointer) {
    const auto accesses = [](const std::string& set_up) {
        const auto stats = count_function(&isa::x86,
                                          "0000000000001000 <k>:\n" + set_up +
                                              "  1010:\tmov rax,QWORD PTR [rbp-0x8]\n  1014:\tmov eax,DWORD PTR [rsp+0x8]\n"
                                              "  1018:\tmov al,BYTE PTR [rax+rbp*1]\n  101c:\tvmovdqu ymm0,YMMWORD PTR [rbp*4+0x0]\n"
                                              "  1020:\tret\n",
                                          "k");
        return stats.total.memory;
    };
    using Counts = std::map<std::string, unsigned>;
    const Counts general{{"load_64", 1}, {"stack_load_32", 1}, {"load_8", 1}, {"load_256", 1}};
    const Counts frame{{"stack_load_64", 1}, {"stack_load_32", 1}, {"load_8", 1}, {"load_256", 1}};
    BOOST_TEST((accesses("") == general));
    BOOST_TEST((accesses("  1000:\tmov rbp,QWORD PTR [rsp]\n") == Counts{{"load_64", 1}, {"stack_load_64", 1}, {"stack_load_32", 1}, {"load_8", 1}, {"load_256", 1}}));
    BOOST_TEST((accesses("  1000:\tmov\trbp, rsp\n") == frame));
    BOOST_TEST((accesses("  1000:\tlea rbp,[rsp+0x10]\n") == frame));
    BOOST_TEST((accesses("  1000:\tlea rbp,[rdi+0x10]\n") == general));
}

BOOST_AUTO_TEST_CASE(an_instruction_behind_a_line_of_the_source_is_not_lost) {
    const std::string ptx_text =
        ".version 7.5\n.target sm_80, texmode_independent, debug\n.entry k()\n{\n\t.loc\t1 9 0\n$L__func_begin0:\n\t.loc\t1 9 0\n\n"
        "\tld.param.u64 \t%rd1, [k_param_0];\n$L__tmp0:\n\t{ // callseq 0, 0\n\t.loc\t1 10 9, function_name $L__info0, inlined_at 1 9 5\n"
        "\tcall.uni\n\thelper,\n\t();\n\t} // callseq 0\n$L__BB0_1:\n\t.loc\t1 11 9\n\tadd.s32 \t%r1, %r1, 1;\n\t.loc\t1 11 5\n"
        "\t@%p1 bra \t$L__BB0_1;\n\tret;\n$L__tmp5:\n$L__func_end0:\n\n}\n\t.file\t1 \"k.cl\"\n\t.section\t.debug_abbrev\n\t{\n.b8 1\n\t}\n"
        ".entry second()\n{\n\tret;\n}\n";
    const auto ptx_functions = isa::ptx.parse(ptx_text);
    BOOST_TEST_REQUIRE(ptx_functions.size() == 2u);
    BOOST_TEST(ptx_functions[0].instructions.size() == 5u);
    BOOST_TEST(ptx_functions[1].instructions.size() == 1u);
    BOOST_TEST(count_function(&isa::ptx, ptx_text, "k").loops.size() == 1u);

    const auto x86_functions = isa::x86.parse("0000000000001000 <k>:\nk():\n/src/add.cl:12\nadd:12\n  1000:\txor eax,eax\n; add:13\n  1002:\tret\n");
    BOOST_TEST(x86_functions.at(0).instructions.size() == 2u);
    const auto gcn_functions = isa::gcn.parse(
        "0000000000001A00 <k>:\n; /src/k.cl:12\n; a += b; // add: 12\n\ts_nop 0 // 000000001A00: BF800000\n; k.cl:13\n\ts_endpgm // 000000001A04: BF810000\n");
    BOOST_TEST(gcn_functions.at(0).instructions.size() == 2u);
    const auto sass_functions = isa::sass.parse(
        "//--- .text.k ---\nk:\n\t//## File \"/src/k.cl\", line 12\n        /*0000*/   MOV R1, R2 ;\n\t//## File \"/src/k.cl\", line 13 inlined at \"/src/k.cl\", line 1\n"
        "        /*0010*/   EXIT ;\n");
    BOOST_TEST(sass_functions.at(0).instructions.size() == 2u);
}

BOOST_AUTO_TEST_CASE(gcn_instructions_are_classed_by_unit_and_memory_by_width) {
    BOOST_TEST(gcn("v_add_u32_e32") == "v_alu");
    BOOST_TEST(gcn("v_mfma_f32_32x32x1f32") == "matrix");
    BOOST_TEST(gcn("s_add_u32") == "s_alu");
    BOOST_TEST(gcn("s_load_dwordx4") == "s_memory scalar_load_128");
    BOOST_TEST(gcn("global_load_dwordx4", "v[0:3], v[4:5], off") == "v_memory global_load_128");
    BOOST_TEST(gcn("global_load_ubyte", "v0, v[4:5], off") == "v_memory global_load_8");
    BOOST_TEST(gcn("global_load_short_d16_hi", "v0, v[4:5], off") == "v_memory global_load_16");
    BOOST_TEST(gcn("global_store_byte", "v[4:5], v0, off") == "v_memory global_store_8");
    BOOST_TEST(gcn("global_store_b128", "v[4:5], v[0:3], off") == "v_memory global_store_128");
    BOOST_TEST(gcn("global_load_u8", "v0, v[4:5], off") == "v_memory global_load_8");
    BOOST_TEST(gcn("global_atomic_add", "v[4:5], v0, off") == "v_memory global_atomic");
    BOOST_TEST(gcn("flat_load_dword", "v0, v[4:5]") == "v_memory flat_load_32");
    BOOST_TEST(gcn("buffer_store_dword", "v2, off, s[0:3], 0 offset:20") == "v_memory scratch_store_32");
    BOOST_TEST(gcn("buffer_load_dword", "v2, v1, s[8:11], 0 offen") == "v_memory buffer_load_32");
    BOOST_TEST(gcn("scratch_load_b32", "v0, off, s0") == "v_memory scratch_load_32");
    BOOST_TEST(gcn("ds_read2_b32", "v[0:1], v2") == "lds lds_load_64");
    BOOST_TEST(gcn("ds_write_b8", "v0, v1") == "lds lds_store_8");
    BOOST_TEST(gcn("ds_add_u32", "v0, v1") == "lds lds_atomic_32");
    BOOST_TEST(gcn("ds_bpermute_b32", "v0, v1, v2") == "lds");
    for (const char* wait : {"s_waitcnt", "s_waitcnt_vscnt", "s_wait_loadcnt", "s_delay_alu", "s_sleep"}) BOOST_TEST(gcn(wait) == "wait");
    BOOST_TEST(gcn("s_barrier") == "barrier");
    BOOST_TEST(gcn("s_nop", "0") == "other");
    BOOST_TEST(gcn("buffer_gl0_inv") == "cache");
    BOOST_TEST(told(isa::gcn.classify(make("s_cbranch_scc1", "12", Flow::branch))) == "branch");
}

BOOST_AUTO_TEST_CASE(of_a_gcn_loop_that_only_waits_every_wait_is_counted) {
    const auto stats = count_function(&isa::gcn, gcn_f, "f");
    BOOST_TEST(stats.loops.at(0).own.classes.at("wait") == 1u);
    BOOST_TEST(stats.loops.at(0).own.classes.at("s_alu") == 2u);  // the wait is none, though its name begins with s_
}

BOOST_AUTO_TEST_CASE(sass_instructions_are_classed_by_pipe_and_memory_by_space_and_width) {
    BOOST_TEST(sass("FFMA", "R2, R3.reuse, R4, R2") == "fp32");
    BOOST_TEST(sass("DFMA") == "fp64");
    BOOST_TEST(sass("HFMA2.MMA") == "fp16");
    BOOST_TEST(sass("IMAD.WIDE.U32", "R2, R3, R4, R6") == "address");
    BOOST_TEST(sass("IADD3", "R2, P0, R4, UR4, RZ") == "address");
    BOOST_TEST(sass("IADD3.X", "R3, R0, UR5, RZ, P0, !PT") == "address");
    BOOST_TEST(sass("IADD3", "R2, PT, PT, R4, R5, RZ") == "integer");
    BOOST_TEST(sass("IADD3", "R2, R4, R5, RZ") == "integer");
    BOOST_TEST(sass("IMAD.MOV.U32", "R2, RZ, RZ, R4") == "move");
    BOOST_TEST(sass("LDG.E.128", "R8, desc[UR4][R2.64]") == "memory global_load_128");
    BOOST_TEST(sass("LDG.E.U8.CONSTANT", "R8, [R2.64]") == "memory global_load_8");
    BOOST_TEST(sass("STG.E", "[R4.64], R8") == "memory global_store_32");
    BOOST_TEST(sass("STS.64", "[R4], R8") == "memory shared_store_64");
    BOOST_TEST(sass("LDL", "R4, [R1]") == "memory local_load_32");
    BOOST_TEST(sass("ULDC.64", "UR4, c[0x0][0x208]") == "constant constant_load_64");
    BOOST_TEST(sass("UIADD3", "UR4, UR4, 0x1, URZ") == "uniform");
    BOOST_TEST(sass("MUFU.RCP", "R0, R1") == "special");
    BOOST_TEST(sass("I2F.U16", "R0, R1") == "convert");
    BOOST_TEST(sass("BAR.SYNC.DEFER_BLOCKING", "0x0") == "barrier");
    BOOST_TEST(sass("BSSY", "B0, `(.L_x_1)") == "branch");
    BOOST_TEST(sass("RED.E.ADD", "[R2.64], R5") == "memory global_atomic_32");
}

BOOST_AUTO_TEST_CASE(a_bank_conflict_is_three_registers_of_one_parity_that_no_reuse_cache_holds) {
    const auto conflicts = [](const std::string& operands) {
        const auto& marks = isa::sass.classify(make("FFMA", operands)).marks;
        return std::count(marks.begin(), marks.end(), std::string("bank_conflict"));
    };
    BOOST_TEST(conflicts("R0, R2, R4, R6") == 1);
    BOOST_TEST(conflicts("R0, -R3, R5, |R7|") == 1);
    BOOST_TEST(conflicts("R0, R2, R4, R7") == 0);
    BOOST_TEST(conflicts("R0, R2.reuse, R4, R6") == 0);
    BOOST_TEST(conflicts("R0, R2, R2, R6") == 0);   // two registers
    BOOST_TEST(conflicts("R0, R2, R4, RZ") == 0);
    BOOST_TEST(conflicts("R0, R2, c[0x0][0x140], R6") == 0);
    BOOST_TEST(conflicts("R0, R2, 2, R6") == 0);
}

BOOST_AUTO_TEST_CASE(intel_gpu_messages_are_classed_by_where_they_go_and_by_width) {
    const auto send = [](const std::string& descriptor, const std::string& what) {
        return told(isa::xe.classify(make("send.dc1", "(16|M0)         r38      r34     null    0x0            " + descriptor +
                                                          "           {@2,$6} // wr:2+0, rd:2; " + what)));
    };
    BOOST_TEST(send("0x04205E00", "untyped surface read with x") == "send_global global_load_32");
    BOOST_TEST(send("0x04805000", "untyped surface read with xyzw") == "send_global global_load_128");
    BOOST_TEST(send("0x04025001", "hdc.dc1; untyped surface write with xy") == "send_global global_store_64");
    BOOST_TEST(send("0x04205EFE", "untyped surface read with x") == "send_slm slm_load_32");
    BOOST_TEST(send("0x040487FF", "untyped a64 atomic int32 integer add") == "send_global global_atomic");
    BOOST_TEST(send("0x04000504", "store.slm.d32.a32") == "send_slm slm_store_32");
    BOOST_TEST(send("0x08803580", "load.ugm.d32x4.a64") == "send_global global_load_128");
    BOOST_TEST(send("0x08803580", "store.ugm.d8u32.a64") == "send_global global_store_8");
    BOOST_TEST(send("0x6228E500", "load.ugm.d32x16t.a32.ca.ca.bti[255]") == "send_block block_load_512");
    BOOST_TEST(send("0x022843FD", "oword aligned block read x4") == "send_block block_load_512");
    BOOST_TEST(send("0x02480000", "hword scratch block write x2") == "send_scratch scratch_store_512");
    BOOST_TEST(send("0x02480000", "byte gathering read 16b") == "send_global global_load_16");
    BOOST_TEST(send("0x02480000", "a64 dword gathering read") == "send_global global_load_32");
    BOOST_TEST(send("0x02480000", "simd16 sample with lod forced to 0 using sampler index 0") == "send_image image_load");
    BOOST_TEST(send("0x02000004", "signal barrier") == "barrier");
    BOOST_TEST(send("0x0219E0FE", "synchronized SLM fence") == "fence");
    const auto xe = [](const std::string& mnemonic, const std::string& operands) { return told(isa::xe.classify(make(mnemonic, operands))); };
    BOOST_TEST(xe("mul", "(16|M0)              r64.0<1>:f    r44.0<8;8,1>:f    r60.0<8;8,1>:f   {Compacted,$9.dst}") == "fp32");
    BOOST_TEST(xe("add", "(16|M16)             r18.0<1>:d    r18.0<8;8,1>:d    r9.1<0;1,0>:d    {Compacted}") == "integer");
    BOOST_TEST(xe("cmp", "(16|M0)   (lt)f0.0   null<1>:hf     r16.0<8;8,1>:hf    r8.6<0;1,0>:hf    {@2}") == "fp16");
    BOOST_TEST(xe("mad", "(1|M0)               r13.0<1>:d    r8.6<0;0>:d       r8.2<0;0>:d       12:w") == "scalar");
    BOOST_TEST(xe("math.inv", "(16|M0)         r3.0<1>:f  r4.0<8;8,1>:f") == "special");
    BOOST_TEST(xe("sync.nop", "                             null                             {Compacted,$5.src}") == "wait");
    BOOST_TEST(xe("nop", "") == "padding");
}

BOOST_AUTO_TEST_CASE(an_intel_gpu_loop_is_closed_by_while_or_goto_and_an_instruction_may_be_for_half_of_the_work_items) {
    const std::string text =
        "k:\nL0:\n(W)     mov (8|M0)               r3.0<1>:ud    r0.0<1;1,0>:ud                  \n"
        "        add (16|M0)              r12.0<1>:d    r4.0<0;1,0>:d     r5.0<8;8,1>:d    {Compacted,@1}\n"
        "(f0.0)  if (32|M0)                           L80                  L80                \nL40:\n"
        "        mad (16|M0)              r30.0<1>:f    r16.0<8;8,1>:f    r2.0<8;8,1>:f    r3.0<1>:f\n"
        "        mad (16|M16)             r32.0<1>:f    r18.0<8;8,1>:f    r2.0<8;8,1>:f    r3.0<1>:f\n"
        "(f0.0)  WHILE\nL80:\n        endif (32|M0)                        L96                                \nL96:\n"
        "(W)     send.ts (8|M0)           null     r127    null    0x0            0x02000010           {EOT,@1} // wr:1+0, rd:0; end of thread\n"
        "        nop                    \nL112:\n";
    for (const std::string closing : {"while (32|M0)                        L40", "goto.b (32|M0)                       L80                  L40"}) {
        std::string whole = text;
        whole.replace(whole.find("WHILE"), 5, closing);
        const auto stats = count_function(&isa::xe, whole, "k");
        BOOST_TEST_REQUIRE(stats.loops.size() == 1u);
        BOOST_TEST(stats.loops[0].header == "0x28");
        BOOST_TEST(stats.loops[0].own.classes.at("fp32") == 2u);
        BOOST_TEST(stats.total.instructions == 8u);
        BOOST_TEST(stats.total.classes.count("padding") == 0u);
        const auto& code = stats.code.instructions;
        BOOST_TEST(code[1].bytes == 8u);
        BOOST_TEST(code[1].share == 0.5);
        BOOST_TEST(code[0].share == 1.0);
        double multiply_adds = 0;
        for (const auto& i : code) multiply_adds += isa::xe.arithmetic(i, {cllab::model::Declared::What::multiply_add, 1, 32});
        BOOST_TEST(multiply_adds == 1.0);
    }
}

BOOST_AUTO_TEST_CASE(ptx_statements_are_classed_by_type_and_memory_by_space_and_width) {
    BOOST_TEST(ptx("fma.rn.f32") == "fp32");
    BOOST_TEST(ptx("add.f64") == "fp64");
    BOOST_TEST(ptx("setp.lt.s32") == "integer");
    BOOST_TEST(ptx("add.s64") == "address");
    BOOST_TEST(ptx("mul.wide.s32") == "address");
    BOOST_TEST(ptx("cvt.s64.s32") == "address");
    BOOST_TEST(ptx("cvt.rn.f32.s32") == "convert");
    BOOST_TEST(ptx("cvt.u32.u64") == "convert");
    BOOST_TEST(ptx("ld.global.v4.f32") == "memory global_load_128");
    BOOST_TEST(ptx("ld.global.nc.u8") == "memory global_load_8");
    BOOST_TEST(ptx("ld.param.u64") == "parameter param_load_64");
    BOOST_TEST(ptx("st.shared.b64") == "memory shared_store_64");
    BOOST_TEST(ptx("ld.local.u32") == "memory local_load_32");
    BOOST_TEST(ptx("atom.global.add.u32") == "memory global_atomic_32");
    BOOST_TEST(ptx("sin.approx.f32") == "special");
    BOOST_TEST(ptx("bar.sync") == "barrier");
    BOOST_TEST(ptx("mov.u64") == "move");
    BOOST_TEST(ptx("and.pred") == "integer");
}

BOOST_AUTO_TEST_CASE(a_cycle_entered_in_two_places_is_told_but_is_no_natural_loop) {
    // 0 branches to 2, else goes to 1; 1 -> 2 -> 1: neither 1 nor 2 dominates the other.
    Function f;
    for (std::uint64_t at = 0; at < 4; ++at) {
        f.instructions.push_back(make("i", ""));
        f.instructions.back().address = at;
    }
    f.instructions[0].flow = Flow::branch, f.instructions[0].targets = {2};
    f.instructions[2].flow = Flow::branch, f.instructions[2].targets = {1};
    f.instructions[3].flow = Flow::stop;
    const auto graph = analyse_flow(f);
    BOOST_TEST(graph.loops.empty());
    BOOST_TEST(graph.irreducible_edges == 1u);
}

BOOST_AUTO_TEST_CASE(two_branches_back_to_one_header_are_one_loop) {
    Function f;
    for (std::uint64_t at = 0; at < 5; ++at) {
        f.instructions.push_back(make("i", ""));
        f.instructions.back().address = at;
    }
    f.instructions[2].flow = Flow::branch, f.instructions[2].targets = {1};
    f.instructions[3].flow = Flow::branch, f.instructions[3].targets = {1};
    f.instructions[4].flow = Flow::stop;
    const auto graph = analyse_flow(f);
    BOOST_TEST_REQUIRE(graph.loops.size() == 1u);
    BOOST_TEST(graph.loops[0].blocks.size() == 2u);
}

BOOST_AUTO_TEST_CASE(text_that_is_no_listing_has_no_instruction) {
    for (const auto* set : isa::all())
        for (const char* text : {"", "\n\n", "nonsense", ".entry", ".entry k() {", "/*zz*/ X ;",
                                 "0000 <k>:\n:\n  12 :\n", "@", ".entry k(){@;}", "\t// 12: 34"})
            BOOST_TEST(count_function(set, text, "k").total.instructions <= 1u);
}

BOOST_AUTO_TEST_SUITE_END()
