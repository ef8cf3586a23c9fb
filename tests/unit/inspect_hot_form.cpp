// What is read of an x86 block: its vectors, and the bytes that it stores.
#include <boost/test/unit_test.hpp>

#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab {
namespace {

/// The first block of a loop of these instructions, or of straight-line code.
model::HotBlock block_of(const std::vector<std::string>& code, bool loop = true) {
    std::string text = "0000000000001000 <k>:\n";
    unsigned address = 0x1000;
    for (const auto& line : code) {
        char start[16];
        std::snprintf(start, sizeof start, "    %x:", address);
        text += std::string(start) + "\t" + line + "\n";
        address += 4;
    }
    char end[64];
    std::snprintf(end, sizeof end, "    %x:\tjne 0x1000 <k>\n    %x:\tret\n", address, address + 4);
    text += loop ? end : std::string(end).substr(std::string(end).find('\n') + 1);
    const auto functions = inspect::isa::x86.parse(text);
    const auto graph = inspect::analyse_flow(functions.at(0));
    return inspect::counted_block(inspect::isa::x86, functions[0], graph, graph.blocks.at(0));
}

constexpr const char* step = "add rcx, 0x20";

}  // namespace

BOOST_AUTO_TEST_SUITE(inspect_hot_form)

BOOST_AUTO_TEST_CASE(vectors_are_told_from_scalar_code_that_uses_their_registers) {
    BOOST_TEST(*block_of({"vfmadd132ps ymm2, ymm0, ymm1", "vmovups ymmword ptr [rax + rcx], ymm2", step}).vector_bits() ==
               256u);
    BOOST_TEST(*block_of({"vpmullw xmm4, xmm0, xmm4", "vpaddw xmm4, xmm4, xmm1", step}).vector_bits() == 128u);
    // Copies, signs and truncations of single floats, and a constant from memory.
    BOOST_TEST(*block_of({"vmulss xmm0, xmm0, xmm1", "vmovaps xmm3, xmm0", "vandps xmm2, xmm0, xmmword ptr [rip + 0x10]",
                          "vcvttps2dq xmm1, xmm1", "vxorps xmm5, xmm5, xmm5", step})
                    .vector_bits() == 0u);
    BOOST_TEST(*block_of({"xor eax, edx", "shl edx, 0xd", step}).vector_bits() == 0u);
    // A copy computes nothing and moves vectors; to the stack it may be a spill of a scalar.
    BOOST_TEST(*block_of({"vmovups xmm0, xmmword ptr [rdi + rcx]", "vmovups xmmword ptr [rax + rcx], xmm0", step})
                    .vector_bits() == 128u);
    BOOST_TEST(!block_of({"vmovaps xmmword ptr [rsp + 0x10], xmm0", step}).vector_bits());
    // Neither: one vector instruction among scalar ones.
    BOOST_TEST(!block_of({"vpaddd xmm0, xmm0, xmm1", "imul eax, edx", "add eax, 0x3", step}).vector_bits());
    model::HotBlock old;  // of a record that was written before this was read
    old.classes = {{"vector_128", 3}, {"scalar_float", 4}};
    BOOST_TEST(!old.vector_bits());
}

BOOST_AUTO_TEST_CASE(bytes_are_counted_of_stores_that_add_them_to_an_output) {
    const std::string store = "vmovups ymmword ptr [rax + rcx], ymm2";
    const auto is_exact = [](const model::HotBlock& block) {
        return !block.elements.contains(model::HotBlock::part_store);
    };
    const auto plain = block_of({"vfmadd132ps ymm2, ymm0, ymm1", store, step});
    BOOST_TEST(*plain.per_stored_byte() == 4 / 32.0);
    BOOST_TEST(is_exact(plain));
    BOOST_TEST(!is_exact(block_of({"vmovups ymmword ptr [rax + rcx] {k1}, ymm2", step})));
    BOOST_TEST(!is_exact(block_of({store, "inc rsi"})));          // to one place again and again
    BOOST_TEST(!is_exact(block_of({store, "cmp rcx, rsi"})));     // a comparison changes nothing
    BOOST_TEST(is_exact(block_of({store}, false)));               // once
    BOOST_TEST(!is_exact(block_of({"lea rax, [rsp + 0x40]", store, step})));
    BOOST_TEST(!is_exact(block_of({"mov rax, rsp", store, step})));
    BOOST_TEST(!is_exact(block_of({"add rax, rsp", store, step})));
    BOOST_TEST(!block_of({"stos byte ptr es:[rdi], al", step}).per_stored_byte());  // as many as a register says
    BOOST_TEST(!block_of({"vaddps ymm0, ymm0, ymm1", step}).per_stored_byte());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace cllab
