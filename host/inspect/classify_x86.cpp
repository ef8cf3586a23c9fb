#include <algorithm>
#include <array>

#include "core/text.hpp"
#include "inspect/code.hpp"

namespace cllab::inspect {
namespace {

using std::string_view;

bool starts_with_any(string_view text, std::initializer_list<string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](string_view p) { return text.starts_with(p); });
}

/// Scalar SSE and AVX arithmetic ends in ss or sd. So do some packed-integer names (vpabsd, vpdpbusd), which begin with
/// p.
bool is_scalar_float(string_view m) {
    if (m.starts_with("v")) m.remove_prefix(1);
    if (m.starts_with("p")) return false;
    if (m.ends_with("ss") || m.ends_with("sd")) return true;
    return starts_with_any(m, {"cvtss2", "cvtsd2", "cvttss2", "cvttsd2", "cvtsi2s"});
}

/// Bits of the memory operand, 0 when there is none or its size is not written.
unsigned memory_bits(string_view operands) {
    // Longest names first: "xmmword ptr" holds "word ptr".
    constexpr std::array<std::pair<string_view, unsigned>, 9> sizes{{{"zmmword ptr", 512},
                                                                     {"ymmword ptr", 256},
                                                                     {"xmmword ptr", 128},
                                                                     {"fword ptr", 48},
                                                                     {"tbyte ptr", 80},
                                                                     {"qword ptr", 64},
                                                                     {"dword ptr", 32},
                                                                     {"word ptr", 16},
                                                                     {"byte ptr", 8}}};
    for (const auto& [name, bits] : sizes)
        if (operands.find(name) != string_view::npos) return bits;
    return 0;
}

enum class Access { load, store, both };

/// What the instruction does to a memory operand that stands first; one that stands later is always read.
Access first_operand_access(string_view m) {
    if (starts_with_any(m, {"cmp", "test", "bt", "push", "call", "jmp", "ucomis", "comis", "vucomis", "vcomis", "ptest",
                            "vptest", "mul", "imul", "div", "idiv", "ldmxcsr", "fld", "fild"}) &&
        !starts_with_any(m, {"cmpxchg", "btc", "btr", "bts"}))
        return Access::load;
    if (starts_with_any(m, {"mov",       "vmov",       "set",       "vextract", "vpextr",   "pextr",     "extractps",
                            "vcvtps2ph", "vpcompress", "vcompress", "vpmov",    "stmxcsr",  "kmov",      "pop",
                            "fst",       "fist",       "vpscatter", "vscatter", "vmaskmov", "vpmaskmov", "maskmov"}))
        return Access::store;
    return Access::both;
}

std::string base_class(const Instruction& i, const std::string& operands) {
    const string_view m = i.mnemonic;
    if (i.flow != Flow::next) return "branch";
    if (m.starts_with("call")) return "call";
    if (m.find("gather") != string_view::npos) return "gather";
    if (m.find("scatter") != string_view::npos) return "scatter";
    if (starts_with_any(m, {"prefetch", "vzero", "endbr", "leave", "mfence", "lfence", "sfence", "pause"}))
        return "other";
    if (m == "lea") return "address";
    if (is_scalar_float(m)) return "scalar_float";
    const auto names = [&](string_view reg) { return operands.find(reg) != std::string::npos; };
    if (names("zmm")) return "vector_512";
    if (names("ymm")) return "vector_256";
    if (names("xmm")) return "vector_128";
    if (m.starts_with("k") && names("k")) return "mask";
    if (m != "popcnt" && starts_with_any(m, {"mov", "cmov", "push", "pop", "xchg", "cdq", "cqo", "cwd", "set"}))
        return "scalar_move";
    return "scalar_integer";
}

}  // namespace

Class classify_x86(const Instruction& i) {
    const string_view m = i.mnemonic;
    if (m.starts_with("nop")) return {"padding"};
    const std::string operands = lower(i.operands);
    // The size word of a memory operand names a register class of its own ("xmmword ptr"), which is no register.
    std::string registers = operands;
    for (const auto at_word : {"zmmword", "ymmword", "xmmword"})
        for (auto at = registers.find(at_word); at != std::string::npos; at = registers.find(at_word))
            registers.erase(at, 7);
    Class out{base_class(i, registers)};

    const auto bracket = operands.find('[');
    const bool memory =
        bracket != std::string::npos && m != "lea" && !m.starts_with("prefetch") && i.flow == Flow::next;
    if (!memory) {
        if (m.starts_with("push")) out.memory.push_back("stack_store_64");
        if (m.starts_with("pop") && !m.starts_with("popcnt")) out.memory.push_back("stack_load_64");
        return out;
    }
    const unsigned bits = memory_bits(operands);
    const std::string space = i.stack ? "stack_" : "";
    if (i.locked || m == "xchg")  // xchg locks by itself
        return {"atomic", {space + "atomic_" + std::to_string(bits)}};
    const auto comma = operands.find(',');
    const bool first = comma == std::string::npos || bracket < comma;
    const Access access = out.name == "scatter" ? Access::store : first ? first_operand_access(m) : Access::load;
    const std::string suffix = out.name == "gather" || out.name == "scatter" ? "_indexed"
                               : bits                                        ? "_" + std::to_string(bits)
                                                                             : "_unsized";
    if (access != Access::store) out.memory.push_back(space + "load" + suffix);
    if (access != Access::load) out.memory.push_back(space + "store" + suffix);
    return out;
}

}  // namespace cllab::inspect
