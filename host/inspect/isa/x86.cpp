// Text of objdump and llvm-objdump, Intel syntax: " 1160:\tmov rax,QWORD PTR [rdi]" and " 1160: \tmov\trax, qword ptr
// [rdi]".
#include <algorithm>
#include <cctype>

#include "core/text.hpp"
#include "inspect/isa/isa.hpp"
#include "model/result.hpp"

namespace cllab::inspect::x86 {
namespace {

using std::string_view;
using What = model::Declared::What;

// --- Parsing ---------------------------------------------------------------------------------------------------------

/// objdump writes "{evex}" before an encoding that is longer than necessary, and "rex.w" before one that does not need
/// it.
bool is_prefix(string_view word) {
    return is_named(word, "lock rep repz repnz repe repne bnd notrack data16 cs xacquire xrelease {* rex.*");
}

void set_flow(Instruction& i) {
    const string_view m = i.mnemonic;
    if (m.starts_with("ret") || m == "ud2" || m == "hlt" || m == "iretq")
        i.flow = Flow::stop;
    else if (m.starts_with("jmp"))
        i.flow = Flow::jump;
    else if (m.starts_with("j") || m.starts_with("loop"))
        i.flow = Flow::branch;
    else
        return;
    // A direct target is a number. "rax" and "QWORD PTR [rax*8+0x10]" are indirect; their "a" to "f" would read as hex.
    const string_view target = i.operands;
    const bool number = !target.empty() && std::isxdigit(static_cast<unsigned char>(target[0])) &&
                        (target.starts_with("0x") || target.find('<') != string_view::npos);
    if (i.flow == Flow::stop || !number) return;
    if (const auto address = leading_hex(target)) i.targets.push_back(*address);
}

/// The base register of an address: "rbp" of "[rbp - 0x40]". A scaled register is an index, not a base.
string_view base_register(string_view operands) {
    const auto open = operands.find('[');
    if (open == string_view::npos) return {};
    operands.remove_prefix(open + 1);
    std::size_t end = 0;
    while (end < operands.size() && std::isalnum(static_cast<unsigned char>(operands[end]))) ++end;
    return end < operands.size() && operands[end] == '*' ? string_view{} : operands.substr(0, end);
}

/// Whether it makes rbp the frame pointer. Otherwise rbp is an ordinary register.
bool sets_frame_pointer(const Instruction& i) {
    const std::string operands = lower(i.operands);
    return i.mnemonic == "enter" || (i.mnemonic == "mov" && (operands == "rbp,rsp" || operands == "rbp, rsp")) ||
           (i.mnemonic == "lea" && operands.starts_with("rbp") && base_register(operands) == "rsp");
}

void mark_stack(Function& function) {
    auto& code = function.instructions;
    const bool frame = std::ranges::any_of(code, sets_frame_pointer);
    for (auto& i : code) {
        const std::string operands = lower(i.operands);
        const auto base = base_register(operands);
        i.stack = base == "rsp" || (frame && base == "rbp");
    }
}

/// The instruction on a line. llvm-objdump prints "lock" on a separate line: such a prefix is kept for the next line.
std::optional<Instruction> read_instruction(string_view line, std::optional<Instruction>& prefix) {
    const auto address = listed_address(line);
    // The tools print a tab after the colon; a file's name and line, "add:12", have none.
    const auto colon = line.find(':'), body_at = line.find_first_not_of(' ', colon + 1);
    if (!address || body_at == string_view::npos || line[body_at] != '\t') return std::nullopt;
    std::string rest = std::string(line.substr(colon + 1));
    std::ranges::replace(rest, '\t', ' ');
    if (const auto comment = rest.find(" #"); comment != std::string::npos) rest.resize(comment);
    if (rest = trim(rest); rest.empty()) return std::nullopt;
    Instruction i = prefix.value_or(Instruction{});
    if (!prefix) i.address = *address;
    do {
        const auto space = std::min(rest.find(' '), rest.size());
        i.mnemonic = lower(rest.substr(0, space));
        rest = trim(rest.substr(space));
        i.locked = i.locked || i.mnemonic == "lock";
        i.text += (i.text.empty() ? "" : " ") + i.mnemonic;
    } while (is_prefix(i.mnemonic) && !rest.empty());
    prefix.reset();
    if (is_prefix(i.mnemonic)) {
        prefix = i;
        return std::nullopt;
    }
    i.operands = rest;
    if (!rest.empty()) i.text += " " + rest;
    set_flow(i);
    return i;
}

std::vector<Function> parse(string_view text) {
    std::optional<Instruction> prefix;
    const auto name_of = [&](string_view line) {
        const auto header = function_header(line);
        if (!header.empty()) prefix.reset();
        return header;
    };
    auto functions = functions_of(text, name_of, [&](string_view line) { return read_instruction(line, prefix); });
    for (auto& function : functions) {
        set_sizes(function);
        mark_stack(function);
    }
    return functions;
}

// --- Classes ---------------------------------------------------------------------------------------------------------

// Why names and not Capstone: both were compared with llvm-mca 14, which says what may load or store. LLVM 14 assembles
// 5446 forms of vector and mask instructions with a memory operand, AVX512-FP16 included. The classes here differ from
// llvm-mca for 31 of them. llvm-mca omits the access of vexpand*, vextract*32x8 and *64x2, and adds one to vldmxcsr.
// The classes here are wrong for movdir64b, whose store has no brackets, and for three instructions of hypervisors.
// Capstone 5.0.6 does not decode 576 of the forms and differs for 2137: many EVEX operands have no access, and vmovaps
// to memory is a load. PoCL's code of 1,427 kernels for AVX-512 has 473,487 instructions that access memory: none
// differs here, 111,539 differ in Capstone.

/// movsd is a string move or a move of a double; only the string move names es:[rdi]. lods and outs do not name es.
bool is_string(string_view m, string_view operands) {
    return operands.find("es:[") != string_view::npos || is_named(m, "lods* outs*");
}

/// x87 mnemonics begin with f. So do some others, such as fxsave, which saves registers.
bool is_x87(string_view m) { return m.starts_with("f") && !is_named(m, "fxsave fxsave64 fxrstor fxrstor64 femms"); }

/// Scalar SSE and AVX arithmetic ends in ss or sd, that of AVX512-FP16 in sh. Some packed-integer names (vpabsd,
/// vpdpbusd) end so too, but begin with p. vbroadcastss fills a vector.
bool is_scalar_float(string_view m) {
    const bool vex = m.starts_with("v");
    if (vex) m.remove_prefix(1);
    if (m.starts_with("p") || m.starts_with("broadcast") || is_named(m, "lss wrssd wrussd")) return false;
    if (m.ends_with("ss") || m.ends_with("sd") || (vex && m.ends_with("sh"))) return true;
    return is_named(m, "cvtss2* cvtsd2* cvttss2* cvttsd2* cvtsi2s* cvtsh2* cvttsh2*");
}

/// Bits of the memory operand; 0 if there is none or its size is not written. A broadcast element, "dword ptr
/// [rax]{1to16}" or "DWORD BCST [rax]", is read once.
unsigned memory_bits(string_view operands) {
    // Longest names first: "xmmword ptr" holds "word ptr".
    constexpr std::pair<string_view, unsigned> sizes[]{{"zmmword", 512}, {"ymmword", 256}, {"xmmword", 128},
                                                       {"fword", 48},    {"tbyte", 80},    {"qword", 64},
                                                       {"dword", 32},    {"word", 16},     {"byte", 8}};
    for (const auto& [name, bits] : sizes)
        if (const auto at = operands.find(name); at != string_view::npos)
            if (const auto rest = operands.substr(at + name.size());
                rest.starts_with(" ptr") || rest.starts_with(" bcst"))
                return bits;
    return 0;
}

/// Bits of the widest vector register; 0 if none is named. `registers`: the operands without sizes of memory operands.
unsigned vector_bits(string_view registers) {
    return registers.find("zmm") != string_view::npos   ? 512
           : registers.find("ymm") != string_view::npos ? 256
           : registers.find("xmm") != string_view::npos ? 128
                                                        : 0;
}

/// vfpclassps tests a vector in memory, writes a mask and names no vector register. A broadcast element counts once per
/// use.
unsigned tested_bits(string_view operands) {
    const unsigned bits = memory_bits(operands);
    const auto to = operands.find("{1to");
    return to == string_view::npos ? bits : bits * static_cast<unsigned>(number_at(operands, to + 4));
}

enum class Access { load, store, both };

/// How the instruction accesses a memory operand in first place. In a later place it only reads it.
Access first_operand_access(string_view m, bool string) {
    if (string) return m.starts_with("movs") ? Access::both : is_named(m, "stos* ins*") ? Access::store : Access::load;
    if (is_x87(m)) return is_named(m, "fst* fist* fbst* fnst* fnsave*") ? Access::store : Access::load;
    if (is_named(m,
                 "cmp* test* bt* push* call* jmp* ucomis* comis* vucomis* vcomis* ptest* vptest* mul* imul* div* idiv* "
                 "ldmxcsr* vldmxcsr* fxrstor* xrstor*") &&
        !is_named(m, "cmpxchg* btc* btr* bts*"))
        return Access::load;
    if (is_named(m,
                 "mov* vmov* set* vextract* vpextr* pextr* extractps* vcvtps2ph* vpcompress* vcompress* vpmov* "
                 "stmxcsr* vstmxcsr* kmov* pop* fxsave* xsave* vpscatter* vscatter* vmaskmov* vpmaskmov* maskmov*"))
        return Access::store;
    return Access::both;
}

/// Instructions that load or drop a cache line without moving data to a register, such as vgatherpf0dps.
bool is_cache_control(string_view m) {
    return is_named(m, "prefetch* clflush* clwb* cldemote* vgatherpf* vscatterpf*");
}

/// The full register of a name: "rax" for "eax" and "rax", "r8" for "r8d" and "r8".
std::string whole_register(string_view name) {
    std::string out(name);
    if (out.size() == 3 && out[0] == 'e') out[0] = 'r';
    if (out.size() > 2 && out[0] == 'r' && out[1] >= '0' && out[1] <= '9' && out.back() == 'd') out.pop_back();
    return out;
}

/// Whether it loads its own next index, as in at = x[at]: "eax, dword ptr [rdi + 4*rax]".
bool replaces_its_index(string_view operands) {
    const auto comma = operands.find(','), bracket = operands.find('['), times = operands.find('*');
    if (comma == string_view::npos || times == string_view::npos || !(comma < bracket && bracket < times)) return false;
    const auto is_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    auto begin = times, end = times + 1;
    while (is_name(operands[begin - 1])) --begin;
    while (end < operands.size() && is_name(operands[end])) ++end;
    const auto before = operands.substr(begin, times - begin), behind = operands.substr(times + 1, end - times - 1);
    return whole_register(operands.substr(0, comma)) == whole_register(before.size() > behind.size() ? before : behind);
}

std::string base_class(const Instruction& i, string_view operands, string_view registers) {
    const string_view m = i.mnemonic;
    if (i.flow != Flow::next) return "branch";
    if (m.starts_with("call")) return "call";
    if (is_cache_control(m) || is_named(m, "vzero* endbr* leave* mfence* lfence* sfence* pause*")) return "other";
    if (m.find("gather") != string_view::npos) return "gather";
    if (m.find("scatter") != string_view::npos) return "scatter";
    if (m == "lea") return "address";
    if (is_string(m, operands)) return is_named(m, "cmps* scas*") ? "scalar_integer" : "scalar_move";
    if (is_scalar_float(m) || is_x87(m)) return "scalar_float";
    if (const auto bits = m.starts_with("vfpclass") ? std::max(vector_bits(registers), tested_bits(operands))
                                                    : vector_bits(registers))
        return "vector_" + std::to_string(bits);
    if (m.starts_with("k") && registers.find('k') != string_view::npos) return "mask";
    if (m != "popcnt" && is_named(m, "mov* cmov* push* pop* xchg* cdq* cqo* cwd* set*")) return "scalar_move";
    return "scalar_integer";
}

Class classify(const Instruction& i) {
    const string_view m = i.mnemonic;
    if (m.starts_with("nop")) return {"padding"};
    const std::string operands = lower(i.operands);
    // The size of a memory operand may contain a register's name: "xmmword ptr".
    std::string registers = operands;
    for (const auto at_word : {"zmmword", "ymmword", "xmmword"})
        for (auto at = registers.find(at_word); at != std::string::npos; at = registers.find(at_word))
            registers.erase(at, 7);
    Class out{base_class(i, operands, registers)};
    // One per 128 bits of the widest register; decides which loop is shown.
    out.work = std::max(1u, vector_bits(registers) / 128);

    const auto bracket = operands.find('[');
    const bool memory = bracket != std::string::npos && m != "lea" && !is_cache_control(m) && i.flow == Flow::next;
    if (m.starts_with("push")) out.memory.push_back("stack_store_64");
    if (m.starts_with("pop") && m != "popcnt") out.memory.push_back("stack_load_64");
    if (!memory) return out;
    const unsigned bits = memory_bits(operands);
    const std::string space = i.stack ? "stack_" : "";
    if (i.locked || m == "xchg")  // xchg locks by itself
        return {"atomic", {space + "atomic_" + std::to_string(bits)}};
    const auto comma = operands.find(',');
    const bool first = comma == std::string::npos || bracket < comma;
    const bool string = is_string(m, operands);
    const Access access = out.name == "scatter" ? Access::store
                          : first               ? first_operand_access(m, string)
                                                : Access::load;
    const std::string suffix = out.name == "gather" || out.name == "scatter" ? "_indexed"
                               : bits                                        ? "_" + std::to_string(bits)
                                                                             : "_unsized";
    if (access != Access::store) out.memory.push_back(space + "load" + suffix);
    if (access != Access::load) out.memory.push_back(space + "store" + suffix);
    if (string && m.starts_with("cmps")) out.memory.push_back(space + "load" + suffix);  // compares two places
    if (m.starts_with("mov") && access == Access::load && replaces_its_index(operands))
        out.memory.push_back(model::HotBlock::index_chain);
    return out;
}

/// Whether an instruction computes or moves vectors. Scalar code also has 128-bit moves and logic, for copies of
/// registers and signs of floats, so these count only if they are wider, or access memory other than the stack and
/// constants.
bool is_vector(const Instruction& i) {
    const std::string operands = lower(i.operands);
    if (!classify(i).name.starts_with("vector_") && i.mnemonic.find("gather") == string_view::npos) return false;
    string_view m = i.mnemonic;
    if (m.starts_with("v")) m.remove_prefix(1);
    if (is_named(m, "mov* lddqu"))
        return !i.stack && operands.find("rip") == std::string::npos && memory_bits(operands) >= 128;
    const bool anywhere = is_named(m,
                                   "xor* pxor* and* pand* or* por* ptern* cvt* insert* extract* pinsr* pextr* unpck* "
                                   "punpck* pshuf* shuf* perm* blend* pblend* broadcast* pbroadcast*");
    return !anywhere || operands.find("ymm") != std::string::npos || operands.find("zmm") != std::string::npos;
}

/// "rax" and "rcx" of "qword ptr [rax + 8*rcx - 0x10]".
std::vector<std::string> address_registers(string_view operands) {
    std::vector<std::string> out;
    const auto open = operands.find('[');
    if (open == string_view::npos) return out;
    const auto address = operands.substr(open, operands.find(']') - open);
    for (std::size_t at = 0; (at = address.find_first_of("re", at)) != string_view::npos;) {
        const auto end = std::min(address.find_first_of(" +*-", at), address.size());
        out.push_back(whole_register(address.substr(at, end - at)));
        at = end;
    }
    return out;
}

/// A store that may write fewer new bytes than its width: masked, to the stack, or to one address in each pass.
bool is_part_store(const Instruction& i, const Function& function, const Block& block) {
    const auto accesses = classify(i).memory;
    const auto is_store = [](const auto& access) { return access.starts_with("store_"); };
    if (i.stack || std::ranges::none_of(accesses, is_store)) return false;
    const auto operands = lower(i.operands);
    if (operands.find("{k") != std::string::npos || has_any(i.mnemonic, {"mask", "compress"})) return true;
    const auto registers = address_registers(operands);
    // The first operand is the one that an instruction changes; an increment has no other.
    const auto changes_address = [&](const Instruction& other) {
        return other.flow == Flow::next && !is_named(other.mnemonic, "cmp* test* push*") &&
               std::ranges::count(registers, whole_register(lower(other.operands.substr(0, other.operands.find(',')))));
    };
    const auto& code = function.instructions;
    const auto is_of_stack = [&](const Instruction& other) {
        return (other.stack ? other.mnemonic == "lea" : lower(other.operands).ends_with("rsp")) &&
               changes_address(other);
    };
    return std::ranges::any_of(code, is_of_stack) ||
           (!block.loops.empty() &&
            std::ranges::none_of(std::span(code).subspan(block.first, block.end - block.first), changes_address));
}

// --- Declared work ---------------------------------------------------------------------------------------------------

/// Elements of `bits` in the widest register an x86 instruction names.
double lanes(const Instruction& i, unsigned bits) {
    return static_cast<double>(std::max(128u, vector_bits(lower(i.operands)))) / bits;
}

/// Elements of a floating-point instruction by its suffix: ss and sd have one. 0 without such a suffix, or if narrower
/// than `least_bits`.
double float_lanes(const Instruction& i, unsigned least_bits) {
    const string_view m = i.mnemonic;
    const char size = m.empty() ? ' ' : m.back();
    const unsigned bits = size == 's' ? 32 : size == 'd' ? 64 : size == 'h' ? 16 : 0;
    if (bits == 0 || bits < least_bits || m.size() < 2) return 0;
    const char packed = m[m.size() - 2];
    return packed == 's' ? 1 : packed == 'p' ? lanes(i, bits) : 0;
}

double arithmetic(const Instruction& i, const model::Declared& d) {
    string_view m = i.mnemonic;
    if (m.starts_with("v")) m.remove_prefix(1);
    const bool fused = is_named(m, "fmadd* fmsub* fnmadd* fnmsub* fcmadd*");
    if (d.what == What::multiply_add) return fused ? float_lanes(i, d.bits) : 0;
    if (d.what == What::integer_multiply) {
        if (is_named(m, "imul* mulx*") || m == "mul") return 1;
        return is_named(m, "pmul* pmadd* pdp*") ? lanes(i, d.bits) : 0;
    }
    if (m.starts_with("call")) return lanes_of_call;
    const bool arithmetic = fused || is_named(m, "add* sub* mul* div* sqrt* rsqrt* rcp* min* max* round* rndscale*");
    return arithmetic ? float_lanes(i, 16) : 0;
}

bool is_call(const Instruction& i) { return i.mnemonic.starts_with("call"); }

/// The stack is not the kernel's memory, except the frame that rbp points to: a runtime may keep local memory there.
bool is_housekeeping(const Instruction& i) {
    return i.operands.find("rsp") != std::string::npos || is_named(i.mnemonic, "push* pop*");
}

/// A string move or fill: a register has the number of bytes.
bool is_uncountable(const Instruction& i) { return i.operands.find("es:[") != std::string::npos; }

}  // namespace
}  // namespace cllab::inspect::x86

namespace cllab::inspect {

const InstructionSet isa::x86{
    .name = "x86",
    .rule =
        "Each instruction is in one class, by the widest vector register it names. Loads and stores count memory "
        "operands by width: an add with a memory operand is in vector_256 and in load_256. stack_: addresses from rsp, "
        "or from rbp as the frame pointer. nop is padding and not counted.",
    .parse = x86::parse,
    .classify = x86::classify,
    .counts_barriers = false,  // barriers are the ends of loops
    .arithmetic = x86::arithmetic,
    .is_call = x86::is_call,
    .is_vector = x86::is_vector,
    .is_part_store = x86::is_part_store,
    .names_callees = true,
    .is_housekeeping = x86::is_housekeeping,
    .is_uncountable = x86::is_uncountable,
};

}  // namespace cllab::inspect
