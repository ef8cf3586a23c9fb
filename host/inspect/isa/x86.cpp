// objdump and llvm-objdump, Intel syntax: "    1160:\tmov    rax,QWORD PTR [rdi]" and "    1160:      \tmov\trax, qword
// ptr [rdi]".
#include <algorithm>
#include <array>
#include <cctype>

#include "core/text.hpp"
#include "inspect/isa/list.hpp"

namespace cllab::inspect {
namespace {

using model::Declared;
using std::string_view;
using What = Declared::What;

// --- Parsing ---------------------------------------------------------------------------------------------------------

bool is_prefix(string_view word) {
    constexpr std::array<string_view, 12> prefixes{"lock", "rep",     "repz",   "repnz", "repe",     "repne",
                                                   "bnd",  "notrack", "data16", "cs",    "xacquire", "xrelease"};
    return std::find(prefixes.begin(), prefixes.end(), word) != prefixes.end();
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
    // A direct target is a number; "rax" and "QWORD PTR [rax*8+0x10]" are indirect, and "a" to "f" would read as hex.
    const string_view target = i.operands;
    const bool number = !target.empty() && std::isxdigit(static_cast<unsigned char>(target[0])) &&
                        (target.starts_with("0x") || target.find('<') != string_view::npos);
    if (i.flow == Flow::stop || !number) return;
    if (const auto address = leading_hex(target)) i.targets.push_back(*address);
}

/// The register that an address starts from, "rbp" of "[rbp - 0x40]"; a register that is scaled is an index and no
/// base.
string_view base_register(string_view operands) {
    const auto open = operands.find('[');
    if (open == string_view::npos) return {};
    operands.remove_prefix(open + 1);
    std::size_t end = 0;
    while (end < operands.size() && std::isalnum(static_cast<unsigned char>(operands[end]))) ++end;
    return end < operands.size() && operands[end] == '*' ? string_view{} : operands.substr(0, end);
}

/// rbp is a register as any other, unless the function makes it its frame pointer.
bool sets_frame_pointer(const Instruction& i) {
    const std::string operands = lower(i.operands);
    return i.mnemonic == "enter" || (i.mnemonic == "mov" && (operands == "rbp,rsp" || operands == "rbp, rsp")) ||
           (i.mnemonic == "lea" && operands.starts_with("rbp") && base_register(operands) == "rsp");
}

void mark_stack(Function& function) {
    auto& code = function.instructions;
    const bool frame = std::any_of(code.begin(), code.end(), sets_frame_pointer);
    for (auto& i : code) {
        const std::string operands = lower(i.operands);
        const auto base = base_register(operands);
        i.stack = base == "rsp" || (frame && base == "rbp");
    }
}

std::vector<Function> parse(string_view text) {
    std::vector<Function> functions;
    std::optional<Instruction> prefix;  // llvm-objdump prints "lock" on a line of its own
    for (const auto line : lines_of(text)) {
        if (const auto header = function_header(line); !header.empty()) {
            prefix.reset();
            functions.push_back({std::string(header), {}});
            continue;
        }
        const auto first = line.find_first_not_of(" ");
        const auto colon = line.find(':');
        if (functions.empty() || first == string_view::npos || colon == string_view::npos || colon <= first) continue;
        // Behind the colon the tools print a tab; a file's name and line, "add:12", has none.
        const auto body_at = line.find_first_not_of(' ', colon + 1);
        if (body_at == string_view::npos || line[body_at] != '\t') continue;
        const auto digits = line.substr(first, colon - first);
        if (!std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isxdigit(c); })) continue;

        std::string body = std::string(line.substr(colon + 1));
        std::replace(body.begin(), body.end(), '\t', ' ');
        if (const auto comment = body.find(" #"); comment != std::string::npos) body.resize(comment);
        body = trim(body);
        if (body.empty()) continue;
        Instruction i = prefix.value_or(Instruction{});
        if (!prefix) i.address = leading_hex(digits).value_or(0);
        prefix.reset();
        std::string rest = body;
        for (;;) {
            const auto space = std::min(rest.find(' '), rest.size());
            i.mnemonic = lower(rest.substr(0, space));
            rest = trim(rest.substr(space));
            if (!is_prefix(i.mnemonic)) break;
            i.locked = i.locked || i.mnemonic == "lock";
            if (rest.empty()) break;
        }
        if (is_prefix(i.mnemonic)) {
            prefix = i;
            continue;
        }
        i.operands = rest;
        i.text = i.mnemonic + (rest.empty() ? "" : " " + rest);
        set_flow(i);
        auto& list = functions.back().instructions;
        if (!list.empty() && i.address > list.back().address)
            list.back().bytes = static_cast<std::uint32_t>(i.address - list.back().address);
        list.push_back(std::move(i));
    }
    for (auto& function : functions) mark_stack(function);
    return functions;
}

// --- Classes ---------------------------------------------------------------------------------------------------------

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

Class classify(const Instruction& i) {
    const string_view m = i.mnemonic;
    if (m.starts_with("nop")) return {"padding"};
    const std::string operands = lower(i.operands);
    // The size word of a memory operand names a register class of its own ("xmmword ptr"), which is no register.
    std::string registers = operands;
    for (const auto at_word : {"zmmword", "ymmword", "xmmword"})
        for (auto at = registers.find(at_word); at != std::string::npos; at = registers.find(at_word))
            registers.erase(at, 7);
    Class out{base_class(i, registers)};
    // One for each 128 bits of the widest register, for the loop that is shown.
    out.work = registers.find("zmm") != std::string::npos ? 4 : registers.find("ymm") != std::string::npos ? 2 : 1;

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

// --- Declared work ---------------------------------------------------------------------------------------------------

/// Elements of `bits` in the widest register an x86 instruction names.
double lanes(const Instruction& i, unsigned bits) {
    const std::string operands = lower(i.operands);
    const unsigned width = has_any(operands, {"zmm"}) ? 512 : has_any(operands, {"ymm"}) ? 256 : 128;
    return static_cast<double>(width) / bits;
}

/// Elements of a floating-point instruction by its suffix: ss and sd have one; 0 for what has no such suffix or is
/// narrower than `least_bits`.
double float_lanes(const Instruction& i, unsigned least_bits) {
    const string_view m = i.mnemonic;
    const char size = m.empty() ? ' ' : m.back();
    const unsigned bits = size == 's' ? 32 : size == 'd' ? 64 : size == 'h' ? 16 : 0;
    if (bits == 0 || bits < least_bits || m.size() < 2) return 0;
    const char packed = m[m.size() - 2];
    return packed == 's' ? 1 : packed == 'p' ? lanes(i, bits) : 0;
}

double arithmetic(const Instruction& i, const Declared& d) {
    string_view m = i.mnemonic;
    if (m.starts_with("v")) m.remove_prefix(1);
    const bool fused = starts_with_any(m, {"fmadd", "fmsub", "fnmadd", "fnmsub"});
    if (d.what == What::multiply_add) return fused ? float_lanes(i, d.bits) : 0;
    if (d.what == What::integer_multiply) {
        if (starts_with_any(m, {"imul", "mulx"}) || m == "mul") return 1;
        return m.starts_with("pmul") || m.starts_with("pmadd") ? lanes(i, d.bits) : 0;
    }
    if (m.starts_with("call")) return lanes_of_call;
    const bool arithmetic = fused || starts_with_any(m, {"add", "sub", "mul", "div", "sqrt", "rsqrt", "rcp", "min",
                                                         "max", "round", "rndscale"});
    return arithmetic ? float_lanes(i, 16) : 0;
}

bool is_call(const Instruction& i) { return i.mnemonic.starts_with("call"); }

/// The stack is no memory of the kernel, but for the frame that rbp points to: a runtime may keep local memory there.
bool is_housekeeping(const Instruction& i) {
    return i.operands.find("rsp") != std::string::npos || starts_with_any(i.mnemonic, {"push", "pop"});
}

/// A string move or fill: as many bytes as a register says.
bool is_uncountable(const Instruction& i) { return i.operands.find("es:[") != std::string::npos; }

}  // namespace

const InstructionSet isa::x86{
    .name = "x86",
    .rule =
        "Every instruction is in one class, by the widest vector register it names; loads and stores count "
        "operands in memory by their width, so an add with a memory operand is in vector_256 and in "
        "load_256; stack_ is an address from rsp, or from rbp in a function that makes it its frame pointer; "
        "nop is padding and not counted.",
    .parse = parse,
    .classify = classify,
    .counts_barriers = false,  // they are the ends of loops
    .arithmetic = arithmetic,
    .is_call = is_call,
    .names_callees = true,
    .is_housekeeping = is_housekeeping,
    .is_uncountable = is_uncountable,
};

}  // namespace cllab::inspect
