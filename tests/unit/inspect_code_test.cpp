// Listings to instructions, loops and counts. The lines are what the tools printed.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"

BOOST_AUTO_TEST_SUITE(inspect_code)

using namespace cllab::inspect;

namespace {

/// The flow of `count` instructions, of which some branch to others and the last one ends the function.
FlowGraph graph_of(std::size_t count, const std::map<std::size_t, std::uint64_t>& branches) {
    Function f;
    for (std::size_t at = 0; at < count; ++at) {
        auto& i = f.instructions.emplace_back();
        i.address = at;
        i.flow = at + 1 == count ? Flow::stop : Flow::next;
        if (const auto branch = branches.find(at); branch != branches.end())
            i.flow = Flow::branch, i.targets = {branch->second};
    }
    return analyse_flow(f);
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

BOOST_AUTO_TEST_CASE(form_f_of_the_article_has_5_v_and_4_s_per_iteration) {
    const auto stats = count_function(&isa::gcn, gcn_f, "f");
    BOOST_TEST_REQUIRE(stats.loops.size() == 1u);
    const auto& loop = stats.loops[0].own;
    BOOST_TEST(stats.loops[0].header == "0x1a68");
    BOOST_TEST(loop.mark("v") == 5u);
    BOOST_TEST(loop.mark("s") == 4u);
    BOOST_TEST(loop.instructions == 11u);
    BOOST_TEST(loop.classes.at("v_memory") == 2u);
    BOOST_TEST(loop.classes.at("wait") == 1u);
    BOOST_TEST(loop.classes.at("s_alu") == 2u);  // the wait is none, though its name begins with s_
    BOOST_TEST(loop.bytes == 56u);
    BOOST_TEST(stats.total.instructions == 13u);  // the s_nop behind s_endpgm is padding
}

BOOST_AUTO_TEST_CASE(gcn_branch_target_comes_from_offset_or_label) {
    const auto numbered = isa::gcn.parse(gcn_f);
    BOOST_TEST(numbered[0].instructions[11].targets.at(0) == 0x1a68u);
    const auto labelled =
        isa::gcn.parse("0000000000001A00 <f>:\n\ts_branch L0   // 000000001A9C: BF820000  <f+0x10>\n");
    BOOST_TEST(labelled[0].instructions[0].targets.at(0) == 0x1a10u);
    const auto start = isa::gcn.parse("0000000000001A00 <f>:\n\ts_branch L0   // 000000001A9C: BF820000  <f>\n");
    BOOST_TEST(start[0].instructions[0].targets.at(0) == 0x1a00u);
}

BOOST_AUTO_TEST_CASE(gnu_and_llvm_listings_of_equal_x86_code_count_equally) {
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

BOOST_AUTO_TEST_CASE(self_branch_after_the_return_is_not_a_loop) {
    BOOST_TEST(count_function(&isa::x86, gnu_x86, "k").loops.size() == 1u);
    const std::string sass_text =
        "//--- .text.k ---\nk:\n        /*0000*/   EXIT ;\n.L_x_0:\n        /*0010*/   BRA `(.L_x_0);\n        "
        "/*0020*/   NOP;\n";
    const auto stats = count_function(&isa::sass, sass_text, "k");
    BOOST_TEST(stats.loops.empty());
    BOOST_TEST(stats.total.instructions == 1u);
}

BOOST_AUTO_TEST_CASE(indirect_x86_jump_has_no_target) {
    const auto functions = isa::x86.parse(
        "0000000000001000 <k>:\n  1000:\tjmp    rax\n  1002:\tnotrack jmp QWORD PTR [rax*8+0x10]\n  1009:\tjmp 1000 "
        "<k>\n");
    BOOST_TEST(functions[0].instructions[0].targets.empty());
    BOOST_TEST(functions[0].instructions[1].targets.empty());
    BOOST_TEST(functions[0].instructions[1].mnemonic == "jmp");
    BOOST_TEST(functions[0].instructions[2].targets.at(0) == 0x1000u);
}

BOOST_AUTO_TEST_CASE(prefix_on_its_own_line_belongs_to_the_next_instruction) {
    const auto f = isa::x86.parse(
        "0000000000001000 <k>:\n  1000:\tlock\n  1001:\tadd\tdword ptr [rdi], eax\n  1004:\tadd ecx, 1\n");
    BOOST_TEST_REQUIRE(f[0].instructions.size() == 2u);
    BOOST_TEST(f[0].instructions[0].mnemonic == "add");
    BOOST_TEST(f[0].instructions[0].locked);
    BOOST_TEST(f[0].instructions[0].address == 0x1000u);
    BOOST_TEST(f[0].instructions[0].bytes == 4u);
    BOOST_TEST(!f[0].instructions[1].locked);
}

BOOST_AUTO_TEST_CASE(vector_loop_is_shown_before_its_longer_remainder) {
    const auto stats = count_function(
        &isa::x86,
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

BOOST_AUTO_TEST_CASE(shown_loop_is_the_innermost_with_most_work_at_any_depth) {
    // Three loops: five instructions with zmm, eight with ymm, nine scalar ones a level deeper.
    const std::string zmm =
        "  1000:\tvpaddd zmm0,zmm1,zmm2\n  1004:\tvpaddd zmm0,zmm1,zmm2\n  1008:\tvpaddd zmm0,zmm1,zmm2\n"
        "  100c:\tdec eax\n  100e:\tjne 1000 <k>\n";
    const std::string ymm =
        "  1010:\tvpaddd ymm0,ymm1,ymm2\n  1014:\tvpaddd ymm0,ymm1,ymm2\n  1018:\tvpaddd ymm0,ymm1,ymm2\n"
        "  101c:\tvpaddd ymm0,ymm1,ymm2\n  1020:\tvpaddd ymm0,ymm1,ymm2\n  1024:\tinc ecx\n  1026:\tdec eax\n"
        "  1028:\tjne 1010 <k+0x10>\n";
    const std::string scalar =
        "  1030:\tinc esi\n  1032:\tinc edi\n  1034:\tinc ebx\n  1036:\tinc esi\n  1038:\tinc edi\n  103a:\tinc ebx\n"
        "  103c:\tinc ebx\n  103e:\tdec eax\n  1040:\tjne 1032 <k+0x32>\n  1042:\tdec ecx\n  1044:\tjne 1030 "
        "<k+0x30>\n";
    const auto place = [](const std::string& loops) {
        const auto stats = count_function(&isa::x86, "0000000000001000 <k>:\n" + loops + "  1050:\tret\n", "k");
        return shown_place(stats);
    };
    BOOST_TEST(place(zmm + ymm + scalar) == "innermost loop at 0x1000");
    BOOST_TEST(place(ymm + scalar) == "innermost loop at 0x1010");
    BOOST_TEST(place(scalar) == "innermost loop at 0x1032");
    BOOST_TEST(place("") == "whole kernel (no loop)");
}

BOOST_AUTO_TEST_CASE(copies_of_an_inner_loop_share_a_line_of_the_summary) {
    // A loop around two copies of a loop, one with other registers, and a loop with other instructions.
    const auto stats =
        count_function(&isa::x86,
                       "0000000000001000 <k>:\n  1000:\tinc esi\n  1002:\tvaddss xmm0,xmm0,DWORD PTR [rdi]\n"
                       "  1006:\tdec eax\n  1008:\tjne 1002 <k+0x2>\n  100a:\tvaddss xmm1,xmm1,DWORD PTR [rdi+rax*4]\n"
                       "  1010:\tdec ecx\n  1012:\tjne 100a <k+0xa>\n  1014:\tvmaxss xmm1,xmm1,DWORD PTR [rdi]\n"
                       "  1018:\tdec ecx\n  101a:\tjne 1014 <k+0x14>\n  101c:\tdec edx\n  101e:\tjne 1000 <k>\n"
                       "  1020:\tret\n",
                       "k");
    BOOST_TEST_REQUIRE(stats.loops.size() == 4u);
    BOOST_TEST(nearly_same(stats.loops[1].own, stats.loops[2].own));
    BOOST_TEST(!nearly_same(stats.loops[1].own, stats.loops[3].own));
    const auto text = summary(stats);
    BOOST_TEST(std::ranges::count(text, '\n') == 4);  // with that of the whole kernel
    BOOST_TEST(text.find("\n    innermost loop at 0x1002 and 1 like it (shown), one iteration 3 ") != text.npos);
    BOOST_TEST(text.find("\n    innermost loop at 0x1014, one iteration 3 ") != text.npos);
}

BOOST_AUTO_TEST_CASE(parent_of_a_loop_is_the_smallest_enclosing_loop) {
    const auto stats =
        count_function(&isa::x86,
                       "0000000000001000 <k>:\n  1000:\tinc esi\n  1002:\tinc edi\n  1004:\tinc ebx\n  1006:\tdec eax\n"
                       "  1008:\tjne 1004 <k+0x4>\n  100a:\tdec ecx\n  100c:\tjne 1002 <k+0x2>\n  100e:\tdec edx\n"
                       "  1010:\tjne 1000 <k>\n  1012:\tret\n",
                       "k");
    BOOST_TEST_REQUIRE(stats.loops.size() == 3u);
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(stats.loops[static_cast<std::size_t>(i)].parent == i - 1);
        BOOST_TEST(stats.loops[static_cast<std::size_t>(i)].depth == static_cast<unsigned>(i + 1));
    }
}

BOOST_AUTO_TEST_CASE(summary_never_says_hot) {
    const auto stats = count_function(&isa::gcn, gcn_f, "f");
    BOOST_TEST(summary(stats).find("innermost loop at 0x1a68 (shown), one iteration 11 instructions") !=
               std::string::npos);
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
    const auto functions = isa::ptx.parse(
        ".entry k()\n{\n$T: .branchtargets $A, $B;\n brx.idx %r1, $T;\n$A:\n bra.uni $B;\n$B:\n ret;\n}\n");
    BOOST_TEST_REQUIRE(functions.size() == 1u);
    BOOST_TEST(functions[0].instructions[0].targets.size() == 2u);
}

BOOST_AUTO_TEST_CASE(sass_branches_follow_labels_and_predicated_exits_continue) {
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

BOOST_AUTO_TEST_CASE(instruction_after_a_source_line_directive_is_kept) {
    const std::string ptx_text =
        ".version 7.5\n.target sm_80, texmode_independent, debug\n.entry k()\n{\n\t.loc\t1 9 "
        "0\n$L__func_begin0:\n\t.loc\t1 9 0\n\n"
        "\tld.param.u64 \t%rd1, [k_param_0];\n$L__tmp0:\n\t{ // callseq 0, 0\n\t.loc\t1 10 9, function_name $L__info0, "
        "inlined_at 1 9 5\n"
        "\tcall.uni\n\thelper,\n\t();\n\t} // callseq 0\n$L__BB0_1:\n\t.loc\t1 11 9\n\tadd.s32 \t%r1, %r1, "
        "1;\n\t.loc\t1 11 5\n"
        "\t@%p1 bra \t$L__BB0_1;\n\tret;\n$L__tmp5:\n$L__func_end0:\n\n}\n\t.file\t1 "
        "\"k.cl\"\n\t.section\t.debug_abbrev\n\t{\n.b8 1\n\t}\n"
        ".entry second()\n{\n\tret;\n}\n";
    const auto ptx_functions = isa::ptx.parse(ptx_text);
    BOOST_TEST_REQUIRE(ptx_functions.size() == 2u);
    BOOST_TEST(ptx_functions[0].instructions.size() == 5u);
    BOOST_TEST(ptx_functions[1].instructions.size() == 1u);
    BOOST_TEST(count_function(&isa::ptx, ptx_text, "k").loops.size() == 1u);

    const auto x86_functions = isa::x86.parse(
        "0000000000001000 <k>:\nk():\n/src/add.cl:12\nadd:12\n  1000:\txor eax,eax\n; add:13\n  1002:\tret\n");
    BOOST_TEST(x86_functions.at(0).instructions.size() == 2u);
    const auto gcn_functions = isa::gcn.parse(
        "0000000000001A00 <k>:\n; /src/k.cl:12\n; a += b; // add: 12\n\ts_nop 0 // 000000001A00: BF800000\n; "
        "k.cl:13\n\ts_endpgm // 000000001A04: BF810000\n");
    BOOST_TEST(gcn_functions.at(0).instructions.size() == 2u);
    const auto sass_functions = isa::sass.parse(
        "//--- .text.k ---\nk:\n\t//## File \"/src/k.cl\", line 12\n        /*0000*/   MOV R1, R2 ;\n\t//## File "
        "\"/src/k.cl\", line 13 inlined at "
        "\"/src/k.cl\", line 1\n"
        "        /*0010*/   EXIT ;\n");
    BOOST_TEST(sass_functions.at(0).instructions.size() == 2u);
}

BOOST_AUTO_TEST_CASE(cycle_with_two_entries_is_irreducible) {
    // 0 branches to 2, else goes to 1; 1 -> 2 -> 1: neither 1 nor 2 dominates the other.
    const auto graph = graph_of(4, {{0, 2}, {2, 1}});
    BOOST_TEST(graph.loops.empty());
    BOOST_TEST(graph.irreducible_edges == 1u);
}

BOOST_AUTO_TEST_CASE(two_back_edges_to_one_header_are_one_loop) {
    const auto graph = graph_of(5, {{2, 1}, {3, 1}});
    BOOST_TEST_REQUIRE(graph.loops.size() == 1u);
    BOOST_TEST(graph.loops[0].blocks.size() == 2u);
}

BOOST_AUTO_TEST_CASE(text_without_a_listing_has_no_instructions) {
    for (const auto* set : isa::all())
        for (const char* text : {"", "\n\n", "nonsense", ".entry", ".entry k() {", "/*zz*/ X ;",
                                 "0000 <k>:\n:\n  12 :\n", "@", ".entry k(){@;}", "\t// 12: 34"})
            BOOST_TEST(count_function(set, text, "k").total.instructions <= 1u);
}

BOOST_AUTO_TEST_SUITE_END()
