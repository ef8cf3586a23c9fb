// nvdisasm ("        /*0110*/              @P0 BRA `(.L_x_0) ;" between labels) and cuobjdump -sass (addresses instead
// of labels, the encoding in a comment behind each line).
#include <cctype>
#include <iterator>
#include <map>
#include <set>

#include "core/text.hpp"
#include "inspect/binary/elf.hpp"
#include "inspect/isa/nvidia.hpp"
#include "inspect/isa/rules.hpp"

namespace cllab::inspect::sass {
namespace {

using std::string_view;
using What = model::Declared::What;

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
    std::erase_if(body, [](char c) { return c == '{' || c == '}' || c == ';'; });
    body = trim(body);
    if (body.empty()) return std::nullopt;
    Instruction i = instruction_of(std::move(body));
    i.address = *address;
    return i;
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
    if (is_named(i.mnemonic, "EXIT RET KILL")) {
        i.flow = guarded ? Flow::next : Flow::stop;
    } else if (is_named(i.mnemonic, "BRA JMP BRX JMX BRXU")) {
        // A predicate may also be an operand: "BRA.U UP0, `(.L_x_1)", "BRA.DIV UR4, `(.L_x_2)".
        const bool conditional = guarded || i.operands.find(',') != std::string::npos;
        i.flow = conditional ? Flow::branch : Flow::jump;
        if (const auto target = branch_target(i, parsed)) i.targets.push_back(*target);
    } else if (is_named(i.mnemonic, "BSSY")) {
        // Where its work-items meet again.
        if (const auto target = branch_target(i, parsed)) i.targets.push_back(*target);
    } else if (is_named(i.mnemonic, "CALL")) {
        // The subroutine (a division, say) stands behind the kernel's own code; as a branch it becomes reachable.
        if (const auto target = branch_target(i, parsed)) i.flow = Flow::branch, i.targets.push_back(*target);
    }
}

Function finish(Parsed&& parsed) {
    auto& list = parsed.function.instructions;
    set_sizes(parsed.function);
    if (list.size() > 1) list.back().bytes = list[list.size() - 2].bytes;
    for (auto& i : list) set_flow(i, parsed);
    // Behind the code stands a branch to itself and NOPs up to the alignment.
    drop_padding(parsed.function, "NOP");
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

/// Bits of one access: .128, .64, .U8, .S16 …; 32 when the mnemonic says nothing.
unsigned access_bits(string_view mnemonic) {
    constexpr std::pair<string_view, unsigned> parts[]{{"256", 256}, {"128", 128}, {"96", 96},  {"64", 64}, {"32", 32},
                                                       {"16", 16},   {"U16", 16},  {"S16", 16}, {"U8", 8},  {"S8", 8}};
    for (const auto& [part, bits] : parts)
        if (has_part(mnemonic, part)) return bits;
    return 32;
}

/// Accesses that have a width, and those that have none.
constexpr NameRule accesses[]{
    {"LDG", "global_load"},         {"STG", "global_store"},    {"LDS LDSM", "shared_load"},
    {"STS STSM", "shared_store"},   {"LDL", "local_load"},      {"STL", "local_store"},
    {"LD", "generic_load"},         {"ST", "generic_store"},    {"LDC LDCU ULDC", "constant_load"},
    {"LDGSTS", "global_to_shared"}, {"ATOMS", "shared_atomic"}, {"ATOMG RED REDG REDAS", "global_atomic"},
    {"ATOM", "generic_atomic"}};
constexpr NameRule images[]{
    {"SUATOM SURED", "image_atomic"}, {"TEX TLD TLD4 TXD TXQ TMML SULD", "image_load"}, {"SUST", "image_store"}};
constexpr NameRule classes[]{
    {"EXIT BSSY BSYNC BREAK BMOV WARPSYNC YIELD CALL RET PREEXIT NANOSLEEP BPT", "branch"},
    {"BAR MEMBAR DEPBAR ERRBAR LDGDEPBAR CCTL CCTLL FENCE SYNCS ARRIVES UCGABAR_ARV UCGABAR_WAIT", "barrier"},
    {"HMMA IMMA DMMA BMMA QGMMA HGMMA IGMMA BGMMA WARPGROUP UTCHMMA", "matrix"},
    {"FADD FMUL FFMA FSETP FSEL FMNMX FCHK FSET FADD32I FMUL32I FFMA32I FSWZADD FADD2 FMUL2 FFMA2", "fp32"},
    {"DADD DMUL DFMA DSETP DMNMX DSET", "fp64"},
    {"HADD2 HMUL2 HFMA2 HSETP2 HMNMX2 HSET2 HADD2_32I HFMA2_32I", "fp16"},
    {"MUFU", "special"},
    {"F2F F2I I2F F2FP I2FP I2I FRND F2IP I2IP", "convert"},
    {"SHFL VOTE VOTEU MATCH REDUX CREDUX", "warp"},
    {"USEL32", "other"},
    {"R2UR S2UR U*", "uniform"},
    {"MOV MOV32I S2R CS2R SEL P2R R2P PLOP3 R2B B2R MOVM IMAD.MOV.U32", "move"},
    {"IADD3 IADD IMAD IMUL ISETP IMNMX IABS ISCADD ISET LOP3 LOP SHF SHL SHR PRMT POPC FLO BREV BMSK SGXT IDP IDP4A "
     "VABSDIFF VABSDIFF4 XMAD IADD32I LOP32I VIADD VIMNMX VIMNMX3 VIADDMNMX BFE BFI",
     "integer"}};

/// 64-bit integer arithmetic: the high half takes a carry (".X"), the low half gives one out as its second operand.
bool is_address(const Instruction& i) {
    const string_view m = i.mnemonic;
    if (is_named(m, "LEA ULEA")) return true;
    if (is_named(m, "IMAD UIMAD") && (has_part(m, "WIDE") || has_part(m, "X"))) return true;
    if (is_named(m, "IADD3 UIADD3 IADD IADD64")) {
        if (has_part(m, "X") || has_part(m, "64") || is_named(m, "IADD64")) return true;
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
    if (!is_named(i.mnemonic, "FFMA IMAD")) return false;
    const auto operands = split(i.operands, ',');
    if (operands.size() != 4) return false;
    std::set<std::uint64_t> numbers;
    for (std::size_t k = 1; k < 4; ++k) {
        const std::string operand = trim(operands[k]);
        const auto at = operand.find_first_not_of("-|");
        if (at == std::string::npos || operand[at] != 'R' || operand.find(".reuse") != std::string::npos) return false;
        if (!std::isdigit(static_cast<unsigned char>(operand[at + 1]))) return false;  // RZ
        numbers.insert(number_at(operand, at + 1));
    }
    return numbers.size() == 3 && *numbers.begin() % 2 == *std::next(numbers.begin()) % 2 &&
           *numbers.begin() % 2 == *numbers.rbegin() % 2;
}

Class classify(const Instruction& i) {
    const string_view m = i.mnemonic;
    if (is_named(m, "NOP")) return {"padding"};
    Class out;
    if (const std::string access(value_of(accesses, m)); !access.empty())
        out = {is_named(m, "LDC LDCU ULDC") ? "constant" : "memory", {access + "_" + std::to_string(access_bits(m))}};
    else if (const auto image = value_of(images, m); !image.empty())
        out = {"memory", {std::string(image)}};
    else
        out.name = i.flow != Flow::next ? "branch" : is_address(i) ? "address" : value_of(classes, m, "other");
    for (auto at = i.operands.find(".reuse"); at != std::string::npos; at = i.operands.find(".reuse", at + 6))
        out.marks.push_back("reuse");
    if (bank_conflict(i)) out.marks.push_back("bank_conflict");
    return out;
}

// --- Declared work ---------------------------------------------------------------------------------------------------

double arithmetic(const Instruction& i, const model::Declared& d) {
    string_view root = string_view(i.mnemonic).substr(0, i.mnemonic.find('.'));
    if (root.starts_with("U")) root.remove_prefix(1);  // the same by the uniform unit
    if (d.what == What::integer_multiply)
        return is_named(root, "IMAD* IMUL* XMAD*") && !is_named(i.mnemonic, "*.MOV* *.SHL* *.IADD*") ? 1 : 0;
    const double lanes = root.find('2') == string_view::npos ? 1 : 2;  // HFMA2, FFMA2
    if (d.what == What::multiply_add) {
        const unsigned bits = root.starts_with("DFMA")   ? 64
                              : root.starts_with("FFMA") ? 32
                              : root.starts_with("HFMA") ? 16
                                                         : 0;
        return bits >= d.bits ? lanes : 0;
    }
    if (root == "CALL") return lanes_of_call;
    const bool arithmetic =
        is_named(root, "FFMA* FADD* FMUL* FMNMX* DFMA* DADD* DMUL* DMNMX* HFMA* HADD* HMUL* MUFU* FRND*");
    return arithmetic ? lanes : 0;
}

bool is_call(const Instruction& i) { return is_named(i.mnemonic, "CALL* JCAL*"); }

Disassembly disassemble(ByteSpan binary, const std::string& entry, const DisassembleOptions&) {
    return disassemble_cubin(binary, entry, describe(Kind::cubin));
}

}  // namespace
}  // namespace cllab::inspect::sass

namespace cllab::inspect {

const InstructionSet isa::sass{
    .name = "sass",
    .rule =
        "Each instruction is in one class. address: 64-bit integer arithmetic (IMAD.WIDE, LEA, carry chains). uniform: "
        "the scalar data path (U…, R2UR). Memory widths are per work-item. NOP padding is not counted.",
    .kinds = {Kind::cubin},
    .marks = {{"reuse", ".reuse", false}, {"bank_conflict", "bank conflicts", false}},
    .shown_facts = {nvidia::spill_loads},
    .parse = sass::parse,
    .classify = sass::classify,
    .local_spaces = {"shared", "generic"},
    .global_spaces = {"global", "generic"},
    .registers = &sass_registers,
    .arithmetic = sass::arithmetic,
    .is_call = sass::is_call,
    .hides_jumps = true,  // convergence barriers and return stacks
    .disassemble = sass::disassemble,
    .read_facts = nvidia::read_facts,
    .occupancy = nvidia::occupancy,
};

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

}  // namespace cllab::inspect
