// Live registers of short listings whose answer is plain, and of the reference dumps.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/text.hpp"
#include "inspect/code/code.hpp"
#include "inspect/code/liveness.hpp"
#include "inspect/isa/isa.hpp"

BOOST_AUTO_TEST_SUITE(inspect_live)

using namespace cllab::inspect;

namespace {

using Lines = std::vector<std::string>;

std::string hex_digits(std::size_t value) {
    std::ostringstream out;
    out << std::hex << value;
    return out.str();
}

/// Instructions of 4 bytes each from 0x1000 on; "s_branch <2>" goes to the third.
Function gcn_function(const Lines& lines) {
    std::string text = "0000000000001000 <k>:\n";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string line = lines[i], target;
        if (const auto open = line.find(" <"); open != std::string::npos) {
            target = " <k+0x" + hex_digits(4 * std::stoul(line.substr(open + 2))) + ">";
            line = line.substr(0, open) + " L";
        }
        text += "\t" + line + " // " + hex_digits(0x1000 + 4 * i) + ": 00000000" + target + "\n";
    }
    return isa::gcn.parse(text).at(0);
}
Function sass_function(const std::string& body) {
    return isa::sass.parse("//--------------------- .text.k                --------------------------\nk:\n" + body)
        .at(0);
}

using Numbers = std::vector<unsigned>;

/// The number of live registers by instruction; what is not known instead.
Numbers counts(const InstructionSet& set, const Function& function, const std::string& kind) {
    const auto live = live_registers(set, function);
    BOOST_TEST(live.unknown == "");
    for (const auto& k : live.kinds)
        if (k.label == kind) return k.counts;
    return {};
}
std::string entry(const InstructionSet& set, const Function& function) {
    const auto live = live_registers(set, function);
    return live.unknown.empty() ? cllab::join(live.at_entry, " ") : "unknown: " + live.unknown;
}

}  // namespace

BOOST_AUTO_TEST_CASE(straight_code_keeps_registers_until_their_last_read) {
    const auto code = gcn_function({"global_load_dword v2, v[0:1], off", "global_load_dword v3, v[4:5], off",
                                    "v_add_u32_e32 v2, v2, v3", "global_store_dword v[0:1], v2, off", "s_endpgm"});
    // v0 and v1 are needed to the end, v4 and v5 until they are read, where v3 takes the place of one.
    BOOST_TEST(counts(isa::gcn, code, "v") == (Numbers{5, 5, 4, 3, 0}), boost::test_tools::per_element());
    BOOST_TEST(entry(isa::gcn, code) == "v0 v1 v4 v5");
    BOOST_TEST(live_summary(isa::gcn, code, live_registers(isa::gcn, code)) ==
               "live registers at most: v 5 at 0x1000; set before it begins: v0 v1 v4 v5");
}

BOOST_AUTO_TEST_CASE(register_read_in_the_next_iteration_is_live_through_the_loop) {
    Lines lines{"v_mov_b32_e32 v4, 0",
                "global_load_dwordx2 v[2:3], v[0:1], off",
                "v_add3_u32 v4, v2, v3, v4",
                "s_sub_u32 s2, s2, 1",
                "s_cbranch_scc1 <1>",
                "global_store_dword v[6:7], v4, off",
                "s_endpgm"};
    BOOST_TEST(counts(isa::gcn, gcn_function(lines), "v") == (Numbers{5, 7, 7, 5, 5, 3, 0}),
               boost::test_tools::per_element());
    // Without the jump back v0 and v1 end earlier.
    lines[4] = "s_nop 0";
    BOOST_TEST(counts(isa::gcn, gcn_function(lines), "v") == (Numbers{5, 5, 5, 3, 3, 3, 0}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(each_branch_keeps_only_its_own_registers) {
    const auto code = gcn_function({"s_cmp_eq_u32 s2, 0", "s_cbranch_scc1 <4>", "v_mov_b32_e32 v2, v3", "s_branch <5>",
                                    "v_mov_b32_e32 v2, v4", "global_store_dword v[0:1], v2, off", "s_endpgm"});
    BOOST_TEST(counts(isa::gcn, code, "v") == (Numbers{4, 4, 3, 3, 3, 3, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(one_instruction_without_a_rule_makes_liveness_unknown) {
    const auto why = [](const InstructionSet& set, const Function& f) { return live_registers(set, f).unknown; };
    BOOST_TEST(why(isa::gcn, gcn_function({"s_setpc_b64 s[30:31]"})).find("it jumps to where a register says") == 0);
    BOOST_TEST(why(isa::gcn, gcn_function({"s_branch <9>", "s_endpgm"})).find("it jumps out of its listing") == 0);
    BOOST_TEST(why(isa::gcn, gcn_function({"v_unheard_of_b32 q0, v1", "s_endpgm"}))
                   .find("no rule says which registers 'v_unheard_of_b32 q0, v1'") == 0);
    BOOST_TEST(
        why(isa::gcn, gcn_function({"s_swappc_b64 s[30:31], s[4:5]", "s_endpgm"})).find("it calls another function") ==
        0);
    BOOST_TEST(
        why(isa::sass, sass_function("        /*0000*/ HMMA.16816.F32 R4, R8, R12, R4 ;\n        /*0010*/ EXIT ;\n"))
            .find("no rule says which registers") == 0);
    // What is never reached is not asked about.
    BOOST_TEST(why(isa::gcn, gcn_function({"s_endpgm", "v_unheard_of_b32 q0, v1"})) == "");
    for (const auto* set : {&isa::x86, &isa::ptx, &isa::xe})
        BOOST_TEST(why(*set, Function{"k", {Instruction{}}}) ==
                   std::string("the lab has no rules of what ") + set->name + " instructions read and write");
}

BOOST_AUTO_TEST_CASE(gcn_loop_with_wide_registers_is_counted) {
    const auto code =
        gcn_function({"v_mov_b32_e32 v4, 0", "global_load_dwordx2 v[2:3], v[0:1], off", "v_add3_u32 v4, v2, v3, v4",
                      "s_sub_u32 s2, s2, 1", "s_cbranch_scc1 <1>", "global_store_dword v[0:1], v4, off", "s_endpgm"});
    BOOST_TEST(counts(isa::gcn, code, "v") == (Numbers{3, 5, 5, 3, 3, 3, 0}), boost::test_tools::per_element());
    BOOST_TEST(entry(isa::gcn, code) == "v0 v1 s2");
    const auto first = [](const std::string& line) {
        return entry(isa::gcn, gcn_function({line, "global_store_dwordx2 v[8:9], v[0:1], off", "s_endpgm"}));
    };
    BOOST_TEST(first("v_mad_u64_u32 v[0:1], s[0:1], v2, v3, v[4:5]") == "v2 v3 v4 v5 v8 v9");
    BOOST_TEST(first("v_lshlrev_b64 v[0:1], 2, v[2:3]") == "v2 v3 v8 v9");
    BOOST_TEST(first("v_mov_b32_e32 v0, s7") == "v1 v8 v9 s7");
    BOOST_TEST(first("v_mac_f32_e32 v0, v2, v3") == "v0 v1 v2 v3 v8 v9");
    BOOST_TEST(first("v_add_f32_e64 v0, -v2, |v3|") == "v1 v2 v3 v8 v9");
    BOOST_TEST(first("global_load_short_d16_hi v0, v[2:3], off") == "v0 v1 v2 v3 v8 v9");
    BOOST_TEST(first("ds_read_b64 v[0:1], v2 offset:8") == "v2 v8 v9");
    BOOST_TEST(first("ds_add_u32 v0, v2") == "v0 v1 v2 v8 v9");
    BOOST_TEST(first("global_atomic_add v0, v[2:3], v4, off glc") == "v1 v2 v3 v4 v8 v9");
    BOOST_TEST(first("global_atomic_add v[2:3], v4, off") == "v0 v1 v2 v3 v4 v8 v9");
    BOOST_TEST(
        first("v_and_b32_sdwa v0, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD") ==
        "v0 v1 v2 v3 v8 v9");
    BOOST_TEST(first("v_mov_b32_dpp v0, v2 row_shr:1 row_mask:0xf bank_mask:0xf") == "v0 v1 v2 v8 v9");
    BOOST_TEST(first("v_mov_b32_dpp v0, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf") == "v1 v2 v8 v9");
}

BOOST_AUTO_TEST_CASE(value_written_by_some_work_items_stays_live_after_the_branch) {
    // Those that are not in the branch need their zero behind it, although no jump goes around the write.
    const Lines lines{"v_mov_b32_e32 v2, 0",
                      "v_cmp_gt_u32_e32 vcc, 9, v3",
                      "s_and_saveexec_b64 s[0:1], vcc",
                      "v_mov_b32_e32 v4, v3",
                      "v_add_u32_e32 v2, v4, v4",
                      "s_or_b64 exec, exec, s[0:1]",
                      "global_store_dword v[0:1], v2, off",
                      "s_endpgm"};
    // In the branch the work-items that are in it need v0, v1 and v3 or v4, and no v2 before they write it.
    BOOST_TEST(counts(isa::gcn, gcn_function(lines), "v") == (Numbers{4, 4, 4, 3, 3, 3, 3, 0}),
               boost::test_tools::per_element());
    BOOST_TEST(entry(isa::gcn, gcn_function(lines)) == "v0 v1 v3");
    // If nothing is read of it behind the branch, it need not be kept.
    auto other = lines;
    other[5] = "s_nop 0";
    BOOST_TEST(counts(isa::gcn, gcn_function(other), "v") == (Numbers{4, 3, 3, 3, 3, 3, 3, 0}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(register_set_between_branches_is_not_live_in_the_first) {
    // v2 is set between the branches, so that nobody needs it in the first, although both put their mask away in the
    // same registers.
    const auto code = gcn_function({"s_and_saveexec_b64 s[0:1], s[26:27]", "global_store_dword v[0:1], v3, off",
                                    "s_or_b64 exec, exec, s[0:1]", "v_mov_b32_e32 v2, 0",
                                    "s_and_saveexec_b64 s[0:1], s[26:27]", "v_mov_b32_e32 v2, v3",
                                    "s_or_b64 exec, exec, s[0:1]", "global_store_dword v[0:1], v2, off", "s_endpgm"});
    BOOST_TEST(entry(isa::gcn, code) == "v0 v1 v3 s26 s27");
    BOOST_TEST(counts(isa::gcn, code, "v") == (Numbers{3, 3, 3, 4, 4, 3, 3, 3, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(inactive_gcn_lanes_keep_their_registers_live) {
    const auto code =
        gcn_function({"v_mov_b32_e32 v5, 1", "v_cmp_gt_u32_e32 vcc, 9, v3", "s_and_saveexec_b64 s[0:1], vcc",
                      "s_xor_b64 s[0:1], exec, s[0:1]", "v_mov_b32_e32 v2, 1", "s_or_saveexec_b64 s[0:1], s[0:1]",
                      "s_xor_b64 exec, exec, s[0:1]", "v_mov_b32_e32 v2, v5", "s_or_b64 exec, exec, s[0:1]",
                      "global_store_dword v[0:1], v2, off", "s_endpgm"});
    // v5 is read in the second branch by those who wait while the first runs: they need it there, the others do not.
    // Those of the first side, which wait while the second runs, keep v2, and where they are put to rest they are not
    // told from the others: v2 counts from the beginning, which is more than is needed and never less.
    BOOST_TEST(entry(isa::gcn, code) == "v0 v1 v2 v3");
    BOOST_TEST(counts(isa::gcn, code, "v") == (Numbers{5, 5, 4, 3, 4, 4, 4, 3, 3, 3, 0}),
               boost::test_tools::per_element());
    // A loop that work-items leave one by one; v2 is read behind it by all.
    const auto loop = gcn_function({"s_mov_b64 s[4:5], 0", "v_mov_b32_e32 v2, 0", "v_add_u32_e32 v2, v3, v2",
                                    "v_cmp_gt_u32_e32 vcc, v2, v6", "s_or_b64 s[4:5], vcc, s[4:5]",
                                    "s_andn2_b64 exec, exec, s[4:5]", "s_cbranch_execnz <2>",
                                    "s_or_b64 exec, exec, s[4:5]", "global_store_dword v[0:1], v2, off", "s_endpgm"});
    BOOST_TEST(counts(isa::gcn, loop, "v") == (Numbers{4, 5, 5, 5, 5, 5, 5, 3, 3, 0}),
               boost::test_tools::per_element());
    BOOST_TEST(entry(isa::gcn, loop) == "v0 v1 v3 v6");
}

BOOST_AUTO_TEST_CASE(sass_liveness_handles_pairs_predicates_and_guards) {
    const auto code = sass_function(
        "        /*0000*/ MOV R1, c[0x0][0x28] ;\n        /*0010*/ IMAD.WIDE R2, R1, 0x4, RZ ;\n.L_x_0:\n        "
        "/*0020*/ LDG.E.128 R4, [R2.64] ;\n"
        "        /*0030*/ FADD R8, R4, R5 ;\n        /*0040*/ FADD R9, R6, R7 ;\n        /*0050*/ ISETP.GT.AND P0, PT, "
        "R8, R9, PT ;\n        "
        "/*0060*/ @P0 BRA `(.L_x_0) ;\n"
        "        /*0070*/ STG.E.64 [R2.64], R8 ;\n        /*0080*/ EXIT ;\n");
    BOOST_TEST(counts(isa::sass, code, "R") == (Numbers{1, 2, 6, 6, 5, 4, 4, 4, 0}), boost::test_tools::per_element());
    BOOST_TEST(counts(isa::sass, code, "P") == (Numbers{0, 0, 0, 0, 0, 1, 1, 0, 0}), boost::test_tools::per_element());
    const auto first = [](const std::string& line) {
        return entry(isa::sass, sass_function("        /*0000*/ " + line +
                                              " ;\n        /*0010*/ STG.E [R8.64], R4 ;\n        /*0020*/ EXIT ;\n"));
    };
    BOOST_TEST(first("MOV R4, R5") == "R5 R8 R9");
    BOOST_TEST(first("@!P1 MOV R4, R5") == "R4 R5 R8 R9 P1");
    BOOST_TEST(first("@PT MOV R4, R5.reuse") == "R5 R8 R9");
    BOOST_TEST(first("DADD R4, R10, R12") == "R8 R9 R10 R11 R12 R13");
    BOOST_TEST(first("IADD3 R4, P0, R5, UR4, RZ") == "R5 R8 R9 UR4");
    BOOST_TEST(first("IADD3.X R4, R5, R6, RZ, P0, !PT") == "R5 R6 R8 R9 P0");
    BOOST_TEST(first("LDG.E R4, desc[UR4][R2.64+0x10]") == "R2 R3 R8 R9 UR4 UR5");
    BOOST_TEST(first("SHFL.BFLY PT, R4, R5, 0x1, 0x1f") == "R5 R8 R9");
    BOOST_TEST(first("F2F.F32.F64 R4, R6") == "R6 R7 R8 R9");
    BOOST_TEST(first("ATOMG.E.ADD.STRONG.GPU PT, R4, [R6.64], R5") == "R5 R6 R7 R8 R9");
    BOOST_TEST(first("RED.E.ADD.STRONG.GPU [R6.64], R5") == "R4 R5 R6 R7 R8 R9");
    // Where a work-item goes on elsewhere than behind its BSYNC, the listing does not show the way.
    const auto meets = [](const std::string& target) {
        return live_registers(
                   isa::sass,
                   sass_function("        /*0000*/ BSSY B0, 0x" + target +
                                 " ;\n        /*0010*/ BSYNC B0 ;\n        /*0020*/ NOP ;\n        /*0030*/ EXIT ;\n"))
            .unknown;
    };
    BOOST_TEST(meets("20") == "");
    BOOST_TEST(meets("30") == "work-items reconverge at another place than the instruction that waits for them");
}

BOOST_AUTO_TEST_CASE(reference_dumps_have_no_more_live_than_allocated_registers) {
    const std::string root = std::string(CLLAB_SOURCE_DIR) + "/dumps/reference/";
    const auto read = [](const std::string& path) {
        std::ifstream in(path);
        std::stringstream text;
        text << in.rdbuf();
        return text.str();
    };
    unsigned seen = 0;
    for (const auto& [folder, set, kind] : {std::tuple("NVIDIA-H200/gemm_serpentine", &isa::sass, "R"),
                                            {"NVIDIA-H200/himeno_wide", &isa::sass, "R"},
                                            {"NVIDIA-H200/muladd_fma", &isa::sass, "R"},
                                            {"NVIDIA-H200/pitch_wide", &isa::sass, "R"},
                                            {"gfx900/address_masked_bytes", &isa::gcn, "v"},
                                            {"gfx900/pitch_short8", &isa::gcn, "v"},
                                            {"gfx900/saxpy_w128", &isa::gcn, "v"}}) {
        BOOST_TEST_CONTEXT(folder) {
            const auto stats = nlohmann::json::parse(read(root + folder + "/stats.json"));
            const auto found = count_function(set, read(root + folder + "/isa.txt"), stats["entry"]);
            const auto live = live_registers(*set, found.code);
            BOOST_TEST(live.unknown == "");
            for (const auto& k : live.kinds)
                if (k.label == std::string(kind)) {
                    ++seen;
                    BOOST_TEST(k.most <= stats["registers"].get<unsigned>());
                    BOOST_TEST(k.most >= stats["registers"].get<unsigned>() / 2);
                }
            // A kernel begins with its work-item in v0 to v2; of NVIDIA's registers nobody has set any. Predicates that
            // are set under opposite guards count as not set by either.
            for (const auto& name : live.at_entry)
                BOOST_TEST(
                    (set == &isa::gcn ? name[0] != 'v' || name <= "v2" : name[0] == 'P' || name.starts_with("UP")),
                    name);
        }
    }
    BOOST_TEST(seen == 7u);
}

BOOST_AUTO_TEST_SUITE_END()
