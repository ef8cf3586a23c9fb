// nvdisasm ("        /*0110*/              @P0 BRA `(.L_x_0) ;" between labels) and cuobjdump -sass (addresses instead
// of labels, the encoding in a comment behind each line).
#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <set>

#include "core/text.hpp"
#include "inspect/binary/elf.hpp"
#include "inspect/code/analysis.hpp"
#include "inspect/isa/list.hpp"
#include "inspect/isa/nvidia.hpp"
#include "inspect/isa/register_roles.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect {
namespace {

using model::Declared;
using std::string_view;
using What = Declared::What;

// --- Parsing ---------------------------------------------------------------------------------------------------------

struct Parsed {
    Function function;
    std::map<std::string, std::uint64_t, std::less<>> labels;
    std::vector<std::string> waiting;  ///< labels in front of the next instruction
};

/// "/*0110*/" at the start of the trimmed line.
std::optional<std::uint64_t> address_comment(string_view line) {
    if (!line.starts_with("/*")) return std::nullopt;
    const auto end = line.find("*/");
    if (end == string_view::npos || end == 2 || end > 2 + 16) return std::nullopt;
    const auto digits = line.substr(2, end - 2);
    return digits.starts_with("0x") ? std::nullopt : leading_hex(digits);
}

std::optional<Instruction> read_instruction(string_view line) {
    const auto address = address_comment(line);
    if (!address) return std::nullopt;
    std::string body(line.substr(line.find("*/") + 2));
    if (const auto comment = body.find("/*"); comment != std::string::npos) body.resize(comment);
    body.erase(std::remove_if(body.begin(), body.end(), [](char c) { return c == '{' || c == '}' || c == ';'; }),
               body.end());
    body = trim(body);
    if (body.empty()) return std::nullopt;
    Instruction i;
    i.address = *address;
    i.text = body;
    if (body.front() == '@') {
        const auto space = std::min(body.find(' '), body.size());
        i.guard = body.substr(0, space);
        body = trim(string_view(body).substr(space));
    }
    const auto space = std::min(body.find(' '), body.size());
    i.mnemonic = body.substr(0, space);
    i.operands = trim(string_view(body).substr(space));
    return i;
}

bool is(string_view mnemonic, string_view root) {
    return mnemonic.starts_with(root) && (mnemonic.size() == root.size() || mnemonic[root.size()] == '.');
}

/// Target of "`(.L_x_0)", "UP0, `(.L_x_0)" or "0x130"; nothing for a register.
std::optional<std::uint64_t> branch_target(const Instruction& i, const Parsed& parsed) {
    const auto open = i.operands.rfind("`("), close = i.operands.rfind(')');
    if (open != std::string::npos && close != std::string::npos && close > open) {
        const auto found = parsed.labels.find(string_view(i.operands).substr(open + 2, close - open - 2));
        return found == parsed.labels.end() ? std::nullopt : std::optional(found->second);
    }
    const auto last = i.operands.find_last_of(" ,");
    const std::string word = i.operands.substr(last == std::string::npos ? 0 : last + 1);
    return word.starts_with("0x") ? leading_hex(word) : std::nullopt;
}

void set_flow(Instruction& i, const Parsed& parsed) {
    const bool guarded = !i.guard.empty() && i.guard != "@PT" && i.guard != "@UPT";
    if (is(i.mnemonic, "EXIT") || is(i.mnemonic, "RET") || is(i.mnemonic, "KILL")) {
        i.flow = guarded ? Flow::next : Flow::stop;
    } else if (is(i.mnemonic, "BRA") || is(i.mnemonic, "JMP") || is(i.mnemonic, "BRX") || is(i.mnemonic, "JMX") ||
               is(i.mnemonic, "BRXU")) {
        // A predicate may also be an operand: "BRA.U UP0, `(.L_x_1)", "BRA.DIV UR4, `(.L_x_2)".
        const bool conditional = guarded || i.operands.find(',') != std::string::npos;
        i.flow = conditional ? Flow::branch : Flow::jump;
        if (const auto target = branch_target(i, parsed)) i.targets.push_back(*target);
    } else if (is(i.mnemonic, "BSSY")) {
        if (const auto target = branch_target(i, parsed))
            i.targets.push_back(*target);  // where its work-items meet again
    } else if (is(i.mnemonic, "CALL")) {
        // The subroutine (a division, say) stands behind the kernel's own code; as a branch it becomes reachable.
        if (const auto target = branch_target(i, parsed)) i.flow = Flow::branch, i.targets.push_back(*target);
    }
}

Function finish(Parsed&& parsed) {
    auto& list = parsed.function.instructions;
    for (std::size_t k = 0; k + 1 < list.size(); ++k)
        if (list[k + 1].address > list[k].address)
            list[k].bytes = static_cast<std::uint32_t>(list[k + 1].address - list[k].address);
    if (list.size() > 1) list.back().bytes = list[list.size() - 2].bytes;
    for (auto& i : list) set_flow(i, parsed);
    // Behind the code stands a branch to itself and NOPs up to the alignment.
    while (!list.empty() && is(list.back().mnemonic, "NOP")) list.pop_back();
    if (!list.empty() && list.back().flow == Flow::jump && list.back().targets == std::vector{list.back().address})
        list.pop_back();
    return std::move(parsed.function);
}

std::vector<Function> parse(string_view text) {
    std::vector<Function> functions;
    Parsed current;
    const auto begin = [&](std::string name) {
        if (!current.function.instructions.empty()) functions.push_back(finish(std::move(current)));
        current = Parsed{{std::move(name), {}}, {}, {}};
    };
    for (const auto raw : lines_of(text)) {
        const std::string line = trim(raw);
        if (const auto at = line.find(" .text."); line.starts_with("//---") && at != std::string::npos) {
            begin(line.substr(at + 7, line.find(' ', at + 7) - at - 7));
        } else if (const auto function = line.find("Function : "); function != std::string::npos) {
            begin(trim(line.substr(function + 11)));
        } else if (auto instruction = read_instruction(line)) {
            for (auto& label : current.waiting) current.labels.emplace(std::move(label), instruction->address);
            current.waiting.clear();
            current.function.instructions.push_back(std::move(*instruction));
        } else if (line.size() > 1 && line.back() == ':' && line.find(' ') == std::string::npos) {
            current.waiting.push_back(line.substr(0, line.size() - 1));
        }
    }
    begin({});
    return functions;
}

// --- Classes ---------------------------------------------------------------------------------------------------------

string_view root_of(string_view mnemonic) { return mnemonic.substr(0, mnemonic.find('.')); }
bool has_part(string_view mnemonic, string_view part) {
    for (auto at = mnemonic.find('.'); at != string_view::npos; at = mnemonic.find('.', at + 1)) {
        const auto end = std::min(mnemonic.find('.', at + 1), mnemonic.size());
        if (mnemonic.substr(at + 1, end - at - 1) == part) return true;
    }
    return false;
}

/// Bits of one access: .128, .64, .U8, .S16 …; 32 when the mnemonic says nothing.
unsigned access_bits(string_view mnemonic) {
    constexpr std::array<std::pair<string_view, unsigned>, 10> parts{{{"256", 256},
                                                                      {"128", 128},
                                                                      {"96", 96},
                                                                      {"64", 64},
                                                                      {"32", 32},
                                                                      {"16", 16},
                                                                      {"U16", 16},
                                                                      {"S16", 16},
                                                                      {"U8", 8},
                                                                      {"S8", 8}}};
    for (const auto& [part, bits] : parts)
        if (has_part(mnemonic, part)) return bits;
    return 32;
}

std::optional<Class> memory_class(string_view m) {
    constexpr std::array<std::pair<string_view, string_view>, 17> accesses{{{"LDG", "global_load"},
                                                                            {"STG", "global_store"},
                                                                            {"LDS", "shared_load"},
                                                                            {"STS", "shared_store"},
                                                                            {"LDL", "local_load"},
                                                                            {"STL", "local_store"},
                                                                            {"LD", "generic_load"},
                                                                            {"ST", "generic_store"},
                                                                            {"LDC", "constant_load"},
                                                                            {"LDCU", "constant_load"},
                                                                            {"ULDC", "constant_load"},
                                                                            {"LDGSTS", "global_to_shared"},
                                                                            {"LDSM", "shared_load"},
                                                                            {"STSM", "shared_store"},
                                                                            {"ATOMS", "shared_atomic"},
                                                                            {"ATOMG", "global_atomic"},
                                                                            {"ATOM", "generic_atomic"}}};
    const auto root = root_of(m);
    for (const auto& [name, what] : accesses)
        if (root == name) {
            std::string label = std::string(what) + "_" + std::to_string(access_bits(m));
            return Class{root == "LDC" || root == "LDCU" || root == "ULDC" ? "constant" : "memory", {std::move(label)}};
        }
    if (one_of(root, {"RED", "REDG", "REDAS"}))
        return Class{"memory", {"global_atomic_" + std::to_string(access_bits(m))}};
    if (one_of(root, {"SUATOM", "SURED"})) return Class{"memory", {"image_atomic"}};
    if (one_of(root, {"TEX", "TLD", "TLD4", "TXD", "TXQ", "TMML", "SULD"})) return Class{"memory", {"image_load"}};
    if (root == "SUST") return Class{"memory", {"image_store"}};
    return std::nullopt;
}

/// 64-bit integer arithmetic: the high half takes a carry (".X"), the low half gives one out as its second operand.
bool is_address(const Instruction& i) {
    const string_view m = i.mnemonic;
    const auto root = root_of(m);
    if (one_of(root, {"LEA", "ULEA"})) return true;
    if (one_of(root, {"IMAD", "UIMAD"}) && (has_part(m, "WIDE") || has_part(m, "X"))) return true;
    if (one_of(root, {"IADD3", "UIADD3", "IADD", "IADD64"})) {
        if (has_part(m, "X") || has_part(m, "64") || root == "IADD64") return true;
        // "R2, P0, R4, UR4, RZ": a predicate in second place is the carry.
        const auto comma = i.operands.find(", ");
        if (comma == std::string::npos) return false;
        const string_view second = string_view(i.operands).substr(comma + 2);
        return (second.starts_with("P") || second.starts_with("UP")) && !second.starts_with("PT") &&
               !second.starts_with("UPT");
    }
    return false;
}

/// Whether a multiply-add reads three registers of one bank at once. Since sm_70 there are two banks, of the even and
/// of the odd numbers, with two ports each; an operand marked .reuse comes from the reuse cache instead (Jia et al.
/// 2018).
bool bank_conflict(const Instruction& i) {
    if (!one_of(string_view(i.mnemonic).substr(0, i.mnemonic.find('.')), {"FFMA", "IMAD"})) return false;
    const auto operands = split(i.operands, ',');
    if (operands.size() != 4) return false;
    std::set<unsigned> numbers;
    for (std::size_t k = 1; k < 4; ++k) {
        const std::string operand = trim(operands[k]);
        const auto at = operand.find_first_not_of("-|");
        unsigned number = 0;
        if (at == std::string::npos || operand[at] != 'R' || operand.find(".reuse") != std::string::npos) return false;
        const char* digits = operand.data() + at + 1;
        if (std::from_chars(digits, operand.data() + operand.size(), number).ptr == digits) return false;  // RZ
        numbers.insert(number);
    }
    return numbers.size() == 3 && *numbers.begin() % 2 == *std::next(numbers.begin()) % 2 &&
           *numbers.begin() % 2 == *numbers.rbegin() % 2;
}

Class classify(const Instruction& i) {
    const string_view m = i.mnemonic;
    const auto root = root_of(m);
    if (root == "NOP") return {"padding"};
    Class out;
    if (auto memory = memory_class(m))
        out = std::move(*memory);
    else if (i.flow != Flow::next || one_of(root, {"EXIT", "BSSY", "BSYNC", "BREAK", "BMOV", "WARPSYNC", "YIELD",
                                                   "CALL", "RET", "PREEXIT", "NANOSLEEP", "BPT"}))
        out.name = "branch";
    else if (one_of(root, {"BAR", "MEMBAR", "DEPBAR", "ERRBAR", "LDGDEPBAR", "CCTL", "CCTLL", "FENCE", "SYNCS",
                           "ARRIVES", "UCGABAR_ARV", "UCGABAR_WAIT"}))
        out.name = "barrier";
    else if (one_of(root, {"HMMA", "IMMA", "DMMA", "BMMA", "QGMMA", "HGMMA", "IGMMA", "BGMMA", "WARPGROUP", "UTCHMMA"}))
        out.name = "matrix";
    else if (is_address(i))
        out.name = "address";
    else if (one_of(root, {"FADD", "FMUL", "FFMA", "FSETP", "FSEL", "FMNMX", "FCHK", "FSET", "FADD32I", "FMUL32I",
                           "FFMA32I", "FSWZADD", "FADD2", "FMUL2", "FFMA2"}))
        out.name = "fp32";
    else if (one_of(root, {"DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "DSET"}))
        out.name = "fp64";
    else if (one_of(root, {"HADD2", "HMUL2", "HFMA2", "HSETP2", "HMNMX2", "HSET2", "HADD2_32I", "HFMA2_32I"}))
        out.name = "fp16";
    else if (root == "MUFU")
        out.name = "special";
    else if (one_of(root, {"F2F", "F2I", "I2F", "F2FP", "I2FP", "I2I", "FRND", "F2IP", "I2IP"}))
        out.name = "convert";
    else if (one_of(root, {"SHFL", "VOTE", "VOTEU", "MATCH", "REDUX", "CREDUX"}))
        out.name = "warp";
    else if (root == "R2UR" || root == "S2UR" || (root.starts_with("U") && root != "USEL32"))
        out.name = "uniform";
    else if (one_of(root, {"MOV", "MOV32I", "S2R", "CS2R", "SEL", "P2R", "R2P", "PLOP3", "R2B", "B2R", "MOVM"}) ||
             m == "IMAD.MOV.U32")
        out.name = "move";
    else if (one_of(root,
                    {"IADD3", "IADD",   "IMAD",    "IMUL",      "ISETP",    "IMNMX",     "IABS", "ISCADD",  "ISET",
                     "LOP3",  "LOP",    "SHF",     "SHL",       "SHR",      "PRMT",      "POPC", "FLO",     "BREV",
                     "BMSK",  "SGXT",   "IDP",     "IDP4A",     "VABSDIFF", "VABSDIFF4", "XMAD", "IADD32I", "LOP32I",
                     "VIADD", "VIMNMX", "VIMNMX3", "VIADDMNMX", "BFE",      "BFI"}))
        out.name = "integer";
    else
        out.name = "other";
    for (auto at = i.operands.find(".reuse"); at != std::string::npos; at = i.operands.find(".reuse", at + 6))
        out.marks.push_back("reuse");
    if (bank_conflict(i)) out.marks.push_back("bank_conflict");
    return out;
}

// --- Declared work ---------------------------------------------------------------------------------------------------

double arithmetic(const Instruction& i, const Declared& d) {
    string_view root = string_view(i.mnemonic).substr(0, i.mnemonic.find('.'));
    if (root.starts_with("U")) root.remove_prefix(1);  // the same by the uniform unit
    if (d.what == What::integer_multiply)
        return starts_with_any(root, {"IMAD", "IMUL", "XMAD"}) && !has_any(i.mnemonic, {".MOV", ".SHL", ".IADD"}) ? 1
                                                                                                                  : 0;
    const double lanes = root.find('2') == string_view::npos ? 1 : 2;  // HFMA2, FFMA2
    if (d.what == What::multiply_add) {
        const unsigned bits = root.starts_with("DFMA")   ? 64
                              : root.starts_with("FFMA") ? 32
                              : root.starts_with("HFMA") ? 16
                                                         : 0;
        return bits >= d.bits ? lanes : 0;
    }
    if (root == "CALL") return lanes_of_call;
    const bool arithmetic = starts_with_any(root, {"FFMA", "FADD", "FMUL", "FMNMX", "DFMA", "DADD", "DMUL", "DMNMX",
                                                   "HFMA", "HADD", "HMUL", "MUFU", "FRND"});
    return arithmetic ? lanes : 0;
}

bool is_call(const Instruction& i) { return starts_with_any(i.mnemonic, {"CALL", "JCAL"}); }

constexpr Kind kinds[]{Kind::cubin};
constexpr Mark marks[]{{"reuse", ".reuse", false}, {"bank_conflict", "bank conflicts", false}};
constexpr string_view local_spaces[]{"shared", "generic"}, global_spaces[]{"global", "generic"};

Disassembly disassemble(ByteSpan binary, const std::string& entry, const DisassembleOptions&) {
    return disassemble_cubin(binary, entry, describe(Kind::cubin));
}

}  // namespace

Disassembly disassemble_cubin(ByteSpan cubin, const std::string& entry, const std::string& title) {
    Listing listing =
        run_on_file({title, &isa::sass, {}, {}, entry}, {{{"nvdisasm"}, {"-c"}}, {{"cuobjdump"}, {"-sass"}}},
                    "program.cubin", cubin, needs("SASS", "nvdisasm or cuobjdump", "nvidia-cuda-toolkit"));
    listing.text = cut_sass(listing.text, entry);
    Disassembly out = Disassembly{{std::move(listing)}};
    const auto elf = read_elf(cubin);
    if (const ElfSection* text = elf ? elf->section(".text." + entry) : nullptr)
        out.code_bytes = static_cast<std::int64_t>(text->data.size());
    return out;
}

const InstructionSet isa::sass{
    .name = "sass",
    .rule =
        "Every instruction is in one class; address is 64-bit integer arithmetic (IMAD.WIDE, LEA, carry "
        "chains), which compilers use for addresses; uniform is the scalar data path (U…, R2UR); memory "
        "widths are per work-item; NOP padding is not counted.",
    .kinds = kinds,
    .marks = marks,
    .shown_facts = nvidia_shown_facts,
    .parse = parse,
    .classify = classify,
    .local_spaces = local_spaces,
    .global_spaces = global_spaces,
    .register_kinds = sass_register_kinds,
    .roles = sass_roles,
    .jumps_are_seen = sass_jumps_are_seen,
    .arithmetic = arithmetic,
    .is_call = is_call,
    .hides_jumps = true,  // convergence barriers and return stacks
    .disassemble = disassemble,
    .read_facts = read_nvidia_facts,
    .occupancy = nvidia_occupancy,
};

}  // namespace cllab::inspect
