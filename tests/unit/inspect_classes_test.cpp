// What each instruction of five instruction sets is: its class and its memory accesses. The lines are what the tools
// printed.
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"

BOOST_AUTO_TEST_SUITE(inspect_classes)

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

struct Row {
    std::string instruction, classes;
};
void check(const InstructionSet& set, const std::vector<Row>& rows) {
    for (const auto& row : rows)
        BOOST_TEST(told(set.classify(instruction_of(row.instruction))) == row.classes, row.instruction);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_rule_names_a_mnemonic_its_root_or_a_pattern) {
    const std::tuple<const char*, const char*, bool> rows[] = {{"IMAD.WIDE.U32", "FADD IMAD", true},
                                                               {"IMADX", "IMAD", false},
                                                               {"v_pk_fmac_f16", "*_fmac_*", true},
                                                               {"IMAD.HI.U32", "IMAD*.HI*", true},
                                                               {"IMAD.X", "IMAD*.HI*", false},
                                                               {"vpaddd", "padd* vpadd*", true},
                                                               {"IMAD.MOV.U32", "IMAD.MOV.U32", true},
                                                               {"mov", "", false},
                                                               {"", "mov add", false}};
    for (const auto& [mnemonic, names, is] : rows) BOOST_TEST(is_named(mnemonic, names) == is, mnemonic);
}

BOOST_AUTO_TEST_CASE(x86_instructions_are_classed_by_widest_register_and_size) {
    check(isa::x86, {{"vpaddw ymm1, ymm2, ymm3", "vector_256"},
                     {"vpaddd zmm1, zmm2, zmmword ptr [rax]", "vector_512 load_512"},
                     {"vpmovzxbw ymm0, xmmword ptr [rax]", "vector_256 load_128"},
                     {"mov BYTE PTR [rax],cl", "scalar_move store_8"},
                     {"movzx eax, byte ptr [rdi]", "scalar_move load_8"},
                     {"add dword ptr [rax], 1", "scalar_integer load_32 store_32"},
                     {"cmp qword ptr [rax], 1", "scalar_integer load_64"},
                     {"lea rax, [rdi + 4*rcx]", "address"},
                     {"vmulss xmm0, xmm1, dword ptr [rax]", "scalar_float load_32"},
                     {"vpabsd xmm0, xmm1", "vector_128"},
                     {"vpdpbusd ymm0, ymm1, ymm2", "vector_256"},
                     {"vpgatherdd ymm0, dword ptr [rax + 4*ymm1], ymm2", "gather load_indexed"},
                     {"vpscatterdd dword ptr [rax + 4*zmm1] {k1}, zmm2", "scatter store_indexed"},
                     {"vextracti128 xmmword ptr [rax], ymm0, 1", "vector_256 store_128"},
                     {"mov rax, qword ptr [rip + 0x10]", "scalar_move load_64"},
                     {"movups xmmword ptr [rax], xmm0", "vector_128 store_128"},
                     {"push rbp", "scalar_move stack_store_64"},
                     {"popcnt rax, rcx", "scalar_integer"},
                     {"nop dword ptr [rax]", "padding"},
                     {"vzeroupper", "other"},
                     {"prefetcht0 byte ptr [rax]", "other"}});
}

// The cases that a trial on all AVX-512 mnemonics found (host/inspect/isa/x86.cpp).
BOOST_AUTO_TEST_CASE(x86_scalar_arithmetic_is_separated_from_similar_vector_names) {
    check(isa::x86, {{"vbroadcastss zmm0, dword ptr [rax]", "vector_512 load_32"},
                     {"vbroadcastsd ymm0, xmm1", "vector_256"},
                     {"vaddsh xmm0, xmm1, word ptr [rax]", "scalar_float load_16"},
                     {"vcvtsh2usi eax, word ptr [rax]", "scalar_float load_16"},
                     {"vaddph zmm0, zmm1, zmm2", "vector_512"},
                     {"clflush byte ptr [rax]", "other"},
                     {"fadd qword ptr [rax]", "scalar_float load_64"},
                     {"fstp qword ptr [rax]", "scalar_float store_64"},
                     {"fnstcw word ptr [rax]", "scalar_float store_16"},
                     {"vldmxcsr dword ptr [rax]", "scalar_integer load_32"},
                     {"vstmxcsr dword ptr [rax]", "scalar_integer store_32"}});
}

BOOST_AUTO_TEST_CASE(x86_broadcasts_have_the_size_of_one_element) {
    check(isa::x86, {{"vaddpd zmm1, zmm1, qword ptr [rdi]{1to8}", "vector_512 load_64"},
                     {"vaddpd zmm1,zmm1,QWORD BCST [rdi]", "vector_512 load_64"},
                     {"vfmadd231ph ymm1,ymm2,WORD BCST [rdi]", "vector_256 load_16"},
                     // No vector register is named: the width is that of what is tested.
                     {"vfpclassps k1, zmmword ptr [rdi], 3", "vector_512 load_512"},
                     {"vfpclassps k1,DWORD BCST [rdi]{1to8},0x3", "vector_256 load_32"},
                     {"vfpclasspd k1, ymm2, 3", "vector_256"}});
}

BOOST_AUTO_TEST_CASE(x86_movsd_is_a_string_move_or_a_double_move) {
    check(isa::x86, {{"movsd xmm0, qword ptr [rax]", "scalar_float load_64"},
                     {"movsd dword ptr es:[rdi], dword ptr [rsi]", "scalar_move load_32 store_32"},
                     {"movs QWORD PTR es:[rdi],QWORD PTR ds:[rsi]", "scalar_move load_64 store_64"},
                     {"stos QWORD PTR es:[rdi],rax", "scalar_move store_64"},
                     {"lodsd eax, dword ptr [rsi]", "scalar_move load_32"},
                     {"cmpsd dword ptr [rsi], dword ptr es:[rdi]", "scalar_integer load_32 load_32"},
                     {"push qword ptr [rdi]", "scalar_move stack_store_64 load_64"},
                     {"pop qword ptr [rdi]", "scalar_move stack_load_64 store_64"}});
}

BOOST_AUTO_TEST_CASE(x86_loads_that_overwrite_their_index_are_marked) {
    check(isa::x86, {{"mov eax, dword ptr [rdi + 4*rax]", "scalar_move load_32 index_chain"},
                     {"mov eax,DWORD PTR [rdi+rax*4]", "scalar_move load_32 index_chain"},
                     {"mov r8d, dword ptr [rdi + 4*r8 + 0x40]", "scalar_move load_32 index_chain"},
                     {"movsxd rcx,DWORD PTR [rdi+rcx*4]", "scalar_move load_32 index_chain"},
                     {"mov rax, qword ptr [rdi + 8*rcx]", "scalar_move load_64"},
                     {"mov rax, qword ptr [rax]", "scalar_move load_64"},
                     {"mov rax, qword ptr [rax + 8*rcx]", "scalar_move load_64"},  // its base is no index
                     {"mov dword ptr [rdi + 4*rax], eax", "scalar_move store_32"},
                     {"add rax, qword ptr [rdi + 8*rax]", "scalar_integer load_64"}});
}

BOOST_AUTO_TEST_CASE(x86_gather_prefetches_move_nothing) {
    check(isa::x86, {{"vgatherpf0dps {k1}, zmmword ptr [rdi + 4*zmm2]", "other"},
                     {"vscatterpf1qpd {k1}, zmmword ptr [rdi + 8*zmm2]", "other"}});
}

BOOST_AUTO_TEST_CASE(encoding_prefix_is_not_a_mnemonic) {
    const auto f =
        isa::x86.parse("0000000000001000 <k>:\n  1000:\t{evex} vpaddd ymm1,ymm2,ymm3\n  1006:\trex.w jmp 1000 <k>\n");
    BOOST_REQUIRE(f.size() == 1u);
    BOOST_REQUIRE(f.front().instructions.size() == 2u);
    BOOST_TEST(f.front().instructions[0].mnemonic == "vpaddd");
    BOOST_TEST((f.front().instructions[1].flow == Flow::jump));
}

BOOST_AUTO_TEST_CASE(text_of_an_instruction_has_its_lock_prefix) {
    for (const char* line : {"  1000:\tlock inc DWORD PTR [rax]\n", "  1000:\tlock\n  1001:\tinc\tDWORD PTR [rax]\n"}) {
        const auto f = isa::x86.parse(std::string("0000000000001000 <k>:\n") + line);
        BOOST_TEST(f.at(0).instructions.at(0).text == "lock inc DWORD PTR [rax]");
        BOOST_TEST(f.at(0).instructions.at(0).address == 0x1000u);
    }
}

BOOST_AUTO_TEST_CASE(rbp_is_the_stack_only_as_a_frame_pointer) {
    const auto accesses = [](const std::string& set_up) {
        const auto stats =
            count_function(&isa::x86,
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
    BOOST_TEST((accesses("  1000:\tmov rbp,QWORD PTR [rsp]\n") ==
                Counts{{"load_64", 1}, {"stack_load_64", 1}, {"stack_load_32", 1}, {"load_8", 1}, {"load_256", 1}}));
    BOOST_TEST((accesses("  1000:\tmov\trbp, rsp\n") == frame));
    BOOST_TEST((accesses("  1000:\tlea rbp,[rsp+0x10]\n") == frame));
    BOOST_TEST((accesses("  1000:\tlea rbp,[rdi+0x10]\n") == general));
}

BOOST_AUTO_TEST_CASE(gcn_instructions_are_classed_by_unit_and_width) {
    check(isa::gcn, {{"v_add_u32_e32", "v_alu"},
                     {"v_mfma_f32_32x32x1f32", "matrix"},
                     {"s_add_u32", "s_alu"},
                     {"s_load_dwordx4", "s_memory scalar_load_128"},
                     {"global_load_dwordx4 v[0:3], v[4:5], off", "v_memory global_load_128"},
                     {"global_load_ubyte v0, v[4:5], off", "v_memory global_load_8"},
                     {"global_load_short_d16_hi v0, v[4:5], off", "v_memory global_load_16"},
                     {"global_store_byte v[4:5], v0, off", "v_memory global_store_8"},
                     {"global_store_b128 v[4:5], v[0:3], off", "v_memory global_store_128"},
                     {"global_load_u8 v0, v[4:5], off", "v_memory global_load_8"},
                     {"global_atomic_add v[4:5], v0, off", "v_memory global_atomic"},
                     {"flat_load_dword v0, v[4:5]", "v_memory flat_load_32"},
                     {"buffer_store_dword v2, off, s[0:3], 0 offset:20", "v_memory scratch_store_32"},
                     {"buffer_load_dword v2, v1, s[8:11], 0 offen", "v_memory buffer_load_32"},
                     {"scratch_load_b32 v0, off, s0", "v_memory scratch_load_32"},
                     {"ds_read2_b32 v[0:1], v2", "lds lds_load_64"},
                     {"ds_write_b8 v0, v1", "lds lds_store_8"},
                     {"ds_add_u32 v0, v1", "lds lds_atomic_32"},
                     {"ds_bpermute_b32 v0, v1, v2", "lds"}});
    for (const char* wait : {"s_waitcnt", "s_waitcnt_vscnt", "s_wait_loadcnt", "s_delay_alu", "s_sleep"})
        check(isa::gcn, {{wait, "wait"}});
    check(isa::gcn, {{"s_barrier", "barrier"}, {"s_nop 0", "other"}, {"buffer_gl0_inv", "cache"}});
    BOOST_TEST(told(isa::gcn.classify(make("s_cbranch_scc1", "12", Flow::branch))) == "branch");
}

BOOST_AUTO_TEST_CASE(sass_instructions_are_classed_by_pipe_space_and_width) {
    check(isa::sass, {{"FFMA R2, R3.reuse, R4, R2", "fp32"},
                      {"DFMA", "fp64"},
                      {"HFMA2.MMA", "fp16"},
                      {"IMAD.WIDE.U32 R2, R3, R4, R6", "address"},
                      {"IADD3 R2, P0, R4, UR4, RZ", "address"},
                      {"IADD3.X R3, R0, UR5, RZ, P0, !PT", "address"},
                      {"IADD3 R2, PT, PT, R4, R5, RZ", "integer"},
                      {"IADD3 R2, R4, R5, RZ", "integer"},
                      {"IMAD.MOV.U32 R2, RZ, RZ, R4", "move"},
                      {"LDG.E.128 R8, desc[UR4][R2.64]", "memory global_load_128"},
                      {"LDG.E.U8.CONSTANT R8, [R2.64]", "memory global_load_8"},
                      {"STG.E [R4.64], R8", "memory global_store_32"},
                      {"STS.64 [R4], R8", "memory shared_store_64"},
                      {"LDL R4, [R1]", "memory local_load_32"},
                      {"ULDC.64 UR4, c[0x0][0x208]", "constant constant_load_64"},
                      {"UIADD3 UR4, UR4, 0x1, URZ", "uniform"},
                      {"MUFU.RCP R0, R1", "special"},
                      {"I2F.U16 R0, R1", "convert"},
                      {"BAR.SYNC.DEFER_BLOCKING 0x0", "barrier"},
                      {"BSSY B0, `(.L_x_1)", "branch"},
                      {"RED.E.ADD [R2.64], R5", "memory global_atomic_32"},
                      {"TEX.LL R6, R4, R2, R4, UR4, 0x0, 2D", "memory image_load"},
                      {"TLD.LZ R10, R8, R0, UR4, 0x0, 1D", "memory image_load"},
                      {"SULD.D.BA.2D.128.STRONG.SM.TRAP R8, [R4], UR6, 0x0", "memory image_load"},
                      {"SUST.P.2D.STRONG.SM.TRAP [R4], R8, UR6, 0x0", "memory image_store"},
                      {"TXQ RZ, R5, R5, TEX_HEADER_DIMENSION, UR4, 0x0, 0x1", "memory image_query"}});
}

BOOST_AUTO_TEST_CASE(bank_conflict_needs_three_equal_parity_registers_not_reused) {
    const auto conflicts = [](const std::string& operands) {
        const auto& marks = isa::sass.classify(make("FFMA", operands)).marks;
        return std::count(marks.begin(), marks.end(), std::string("bank_conflict"));
    };
    const std::pair<const char*, int> rows[] = {
        {"R0, R2, R4, R6", 1}, {"R0, -R3, R5, |R7|", 1},         {"R0, R2, R4, R7", 0}, {"R0, R2.reuse, R4, R6", 0},
        {"R0, R2, R2, R6", 0},  // two registers
        {"R0, R2, R4, RZ", 0}, {"R0, R2, c[0x0][0x140], R6", 0}, {"R0, R2, 2, R6", 0},
    };
    for (const auto& [operands, count] : rows) BOOST_TEST(conflicts(operands) == count, operands);
}

BOOST_AUTO_TEST_CASE(intel_gpu_messages_are_classed_by_target_and_width) {
    const auto send = [](const std::string& descriptor, const std::string& what) {
        return told(isa::xe.classify(make("send.dc1", "(16|M0)         r38      r34     null    0x0            " +
                                                          descriptor + "           {@2,$6} // wr:2+0, rd:2; " + what)));
    };
    const std::tuple<const char*, const char*, const char*> messages[] = {
        {"0x04205E00", "untyped surface read with x", "send_global global_load_32"},
        {"0x04805000", "untyped surface read with xyzw", "send_global global_load_128"},
        {"0x04025001", "hdc.dc1; untyped surface write with xy", "send_global global_store_64"},
        {"0x04205EFE", "untyped surface read with x", "send_slm slm_load_32"},
        {"0x040487FF", "untyped a64 atomic int32 integer add", "send_global global_atomic"},
        {"0x04000504", "store.slm.d32.a32", "send_slm slm_store_32"},
        {"0x08803580", "load.ugm.d32x4.a64", "send_global global_load_128"},
        {"0x08803580", "store.ugm.d8u32.a64", "send_global global_store_8"},
        {"0x6228E500", "load.ugm.d32x16t.a32.ca.ca.bti[255]", "send_block block_load_512"},
        {"0x022843FD", "oword aligned block read x4", "send_block block_load_512"},
        {"0x02480000", "hword scratch block write x2", "send_scratch scratch_store_512"},
        {"0x02480000", "byte gathering read 16b", "send_global global_load_16"},
        {"0x02480000", "a64 dword gathering read", "send_global global_load_32"},
        {"0x02480000", "simd16 sample with lod forced to 0 using sampler index 0", "send_image image_load"},
        {"0x02000004", "signal barrier", "barrier"},
        {"0x0219E0FE", "synchronized SLM fence", "fence"}};
    for (const auto& [descriptor, what, classes] : messages) BOOST_TEST(send(descriptor, what) == classes);
    check(isa::xe,
          {{"mul (16|M0)              r64.0<1>:f    r44.0<8;8,1>:f    r60.0<8;8,1>:f   {Compacted,$9.dst}", "fp32"},
           {"add (16|M16)             r18.0<1>:d    r18.0<8;8,1>:d    r9.1<0;1,0>:d    {Compacted}", "integer"},
           {"cmp (16|M0)   (lt)f0.0   null<1>:hf     r16.0<8;8,1>:hf    r8.6<0;1,0>:hf    {@2}", "fp16"},
           {"mad (1|M0)               r13.0<1>:d    r8.6<0;0>:d       r8.2<0;0>:d       12:w", "scalar"},
           {"math.inv (16|M0)         r3.0<1>:f  r4.0<8;8,1>:f", "special"},
           {"sync.nop                              null                             {Compacted,$5.src}", "wait"},
           {"nop", "padding"}});
}

BOOST_AUTO_TEST_CASE(intel_gpu_loops_close_by_while_goto_or_jmpi_in_both_halves) {
    const std::string text =
        "k:\nL0:\n(W)     mov (8|M0)               r3.0<1>:ud    r0.0<1;1,0>:ud                  \n"
        "        add (16|M0)              r12.0<1>:d    r4.0<0;1,0>:d     r5.0<8;8,1>:d    {Compacted,@1}\n"
        "(f0.0)  if (32|M0)                           L80                  L80                \nL40:\n"
        "        mad (16|M0)              r30.0<1>:f    r16.0<8;8,1>:f    r2.0<8;8,1>:f    r3.0<1>:f\n"
        "        mad (16|M16)             r32.0<1>:f    r18.0<8;8,1>:f    r2.0<8;8,1>:f    r3.0<1>:f\n"
        "(f0.0)  WHILE\nL80:\n        endif (32|M0)                        L96                                \nL96:\n"
        "(W)     send.ts (8|M0)           null     r127    null    0x0            0x02000010           {EOT,@1} // "
        "wr:1+0, rd:0; end of thread\n"
        "        nop                    \nL112:\n";
    for (const std::string closing :
         {"while (32|M0)                        L40", "jmpi                                 L40",
          "goto.b (32|M0)                       L80                  L40"}) {
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
        for (const auto& i : code)
            multiply_adds += isa::xe.arithmetic(i, {cllab::model::Declared::What::multiply_add, 1, 32});
        BOOST_TEST(multiply_adds == 1.0);
    }
}

BOOST_AUTO_TEST_CASE(ptx_statements_are_classed_by_type_space_and_width) {
    check(isa::ptx, {{"fma.rn.f32", "fp32"},
                     {"add.f64", "fp64"},
                     {"setp.lt.s32", "integer"},
                     {"add.s64", "address"},
                     {"mul.wide.s32", "address"},
                     {"cvt.s64.s32", "address"},
                     {"cvt.rn.f32.s32", "convert"},
                     {"cvt.u32.u64", "convert"},
                     {"ld.global.v4.f32", "memory global_load_128"},
                     {"ld.global.nc.u8", "memory global_load_8"},
                     {"ld.param.u64", "parameter param_load_64"},
                     {"st.shared.b64", "memory shared_store_64"},
                     {"ld.local.u32", "memory local_load_32"},
                     {"atom.global.add.u32", "memory global_atomic_32"},
                     {"sin.approx.f32", "special"},
                     {"bar.sync", "barrier"},
                     {"mov.u64", "move"},
                     {"and.pred", "integer"},
                     {"tex.a2d.v4.f32.s32", "memory image_load"},
                     {"suld.b.2d.v4.b32.trap", "memory image_load"},
                     {"sust.p.2d.v4.b32.trap", "memory image_store"},
                     {"sured.p.add.2d.b32.trap", "memory image_atomic"},
                     {"txq.width.b32", "memory image_query"},
                     {"suq.height.b32", "memory image_query"}});
}

BOOST_AUTO_TEST_SUITE_END()
