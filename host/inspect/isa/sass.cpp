// Text of nvdisasm (" /*0110*/ @P0 BRA `(.L_x_0) ;" between labels) and of cuobjdump -sass (addresses instead of
// labels, the encoding in a comment after each line).
#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>

#include "core/text.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/code/liveness.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/isa/nvidia.hpp"

namespace cllab::inspect::sass {
namespace {

using std::string_view;
using What = model::Declared::What;

// --- Parsing ---------------------------------------------------------------------------------------------------------

struct Parsed {
    Function function;
    std::map<std::string, std::uint64_t, std::less<>> labels;
    std::vector<std::string> waiting;  ///< labels directly before the next instruction
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

/// Target of "`(.L_x_0)", "UP0, `(.L_x_0)" or "0x130"; nullopt for a register.
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
        // Its target is where diverged work-items reconverge.
        if (const auto target = branch_target(i, parsed)) i.targets.push_back(*target);
    } else if (is_named(i.mnemonic, "CALL")) {
        // The subroutine, such as a division, follows the kernel's own code; as a branch the call makes it reachable.
        if (const auto target = branch_target(i, parsed)) i.flow = Flow::branch, i.targets.push_back(*target);
    }
}

Function finish(Parsed&& parsed) {
    auto& list = parsed.function.instructions;
    set_sizes(parsed.function);
    if (list.size() > 1) list.back().bytes = list[list.size() - 2].bytes;
    for (auto& i : list) set_flow(i, parsed);
    // A branch to itself and NOPs up to the alignment follow the code.
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

/// Bits of one access: .128, .64, .U8, .S16 …; 32 if the mnemonic has no width.
unsigned access_bits(string_view mnemonic) {
    constexpr std::pair<string_view, unsigned> parts[]{{"256", 256}, {"128", 128}, {"96", 96},  {"64", 64}, {"32", 32},
                                                       {"16", 16},   {"U16", 16},  {"S16", 16}, {"U8", 8},  {"S8", 8}};
    for (const auto& [part, bits] : parts)
        if (has_part(mnemonic, part)) return bits;
    return 32;
}

/// Accesses with a width, and image accesses without one.
constexpr NameRule accesses[]{
    {"LDG", "global_load"},         {"STG", "global_store"},    {"LDS LDSM", "shared_load"},
    {"STS STSM", "shared_store"},   {"LDL", "local_load"},      {"STL", "local_store"},
    {"LD", "generic_load"},         {"ST", "generic_store"},    {"LDC LDCU ULDC", "constant_load"},
    {"LDGSTS", "global_to_shared"}, {"ATOMS", "shared_atomic"}, {"ATOMG RED REDG REDAS", "global_atomic"},
    {"ATOM", "generic_atomic"}};
constexpr NameRule images[]{{"SUATOM SURED", "image_atomic"},
                            {"TEX TLD TLD4 TXD TMML SULD", "image_load"},
                            {"SUST", "image_store"},
                            {"TXQ", "image_query"}};
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

/// 64-bit integer arithmetic: the high half takes a carry (".X"), the low half returns one in its second operand.
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

/// Whether a multiply-add reads three registers of one bank at once. Since sm_70 there are two banks, for even and odd
/// numbers, with two ports each. An operand marked .reuse comes from the reuse cache instead (Jia et al. 2018).
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
    if (root.starts_with("U")) root.remove_prefix(1);  // the uniform unit's version
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

// Roles of registers in SASS instructions. NVIDIA publishes no such rules; these follow from nvdisasm's text (sm_70 to
// sm_90). Results come first, and suffixes of the mnemonic mark wide operands. Instructions that are not listed are
// unknown.
namespace cllab::inspect::sass {
namespace {

using std::string_view;

constexpr unsigned register_kind = 0, uniform_kind = 1, predicate_kind = 2, uniform_predicate_kind = 3;
constexpr RegisterKind kinds[]{{"R", "R"}, {"UR", "UR"}, {"P", "P"}, {"UP", "UP"}};

/// The register at the start of a word; nullopt for RZ, PT, constants and immediates. Sets `known` to false for an
/// unknown word.
std::optional<Unit> register_in(string_view word, bool& known) {
    word = word.substr(std::min(word.find_first_not_of("-|!~+ "), word.size()));
    word = word.substr(0, word.find_first_of(".| +]"));
    if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) ||
        is_named(word, "RZ* URZ* PT* UPT* SR_* SRZ c[* cx[* `(* B* SB* INF* QNAN* desc*"))
        return std::nullopt;
    for (const auto& [prefix, kind] : {std::pair("UR", uniform_kind), std::pair("UP", uniform_predicate_kind),
                                       std::pair("R", register_kind), std::pair("P", predicate_kind)}) {
        const string_view p = prefix;
        if (!word.starts_with(p)) continue;
        if (const auto number = whole_number(word.substr(p.size()))) return Unit{kind, *number};
    }
    known = false;
    return std::nullopt;
}

bool is_predicate(string_view operand) {
    return is_named(operand, "P* UP* !P* !UP*") && operand != "PR" && operand != "UPR";
}

void add(std::vector<Unit>& out, const Unit& first, unsigned count) {
    const bool wide = first.kind == register_kind || first.kind == uniform_kind;
    for (unsigned n = 0; n < (wide ? count : 1); ++n) out.push_back({first.kind, first.number + n});
}

/// Registers of a memory or constant operand: "[R2.64+0x10]", "desc[UR4][R2.64]", "c[0x0][R3]", "[R4+UR5]".
bool add_address(std::vector<Unit>& out, string_view operand, bool wide_by_default) {
    bool known = true;
    const bool described = operand.starts_with("desc");
    bool first = true;
    for (auto open = operand.find('['); open != string_view::npos; open = operand.find('[', open + 1)) {
        const auto inside = operand.substr(open + 1, operand.find(']', open) - open - 1);
        for (std::size_t at = 0; at < inside.size();) {
            const auto plus = std::min(inside.find('+', at), inside.size());
            const auto term = inside.substr(at, plus - at);
            at = plus + 1;
            const auto unit = register_in(term, known);
            if (!unit) continue;
            // A descriptor is a pair of uniform registers. An address is a pair if .64 or .E says so.
            const bool uniform = unit->kind == uniform_kind;
            const bool pair =
                (described && first) || has_part(term, "64") ||
                (wide_by_default && (uniform || (!has_part(term, "U32") && operand.find("UR") == string_view::npos)));
            add(out, *unit, pair ? 2 : 1);
        }
        first = false;
    }
    return known;
}

unsigned registers_of_access(string_view m) {
    return has_part(m, "128") ? 4 : has_part(m, "96") ? 3 : has_part(m, "64") ? 2 : 1;
}

/// The result's type comes first in a conversion; only types with a width of 64 take two registers. A single type is
/// the result's for I2F and FRND, and the source's for F2I: "I2F.F64", "F2I.F64".
std::optional<string_view> conversion_widths(string_view m) {
    std::vector<std::string> types;
    for (const auto& part : split(m, '.'))
        if (is_named(part, "F16 F32 F64 BF16 S8 U8 S16 U16 S32 U32 S64 U64")) types.push_back(part);
    if (types.size() > 2) return std::nullopt;
    const auto wide = [&](std::size_t k) { return k < types.size() && types[k].ends_with("64"); };
    if (types.size() == 2) return wide(0) ? wide(1) ? "221" : "211" : wide(1) ? "121" : "1";
    if (!wide(0)) return "1";
    if (is_named(m, "FRND")) return "2";
    if (types[0] == "F64" && is_named(m, "I2F F2I")) return is_named(m, "I2F") ? "21" : "121";
    return std::nullopt;
}

/// Widths: 'a': as many registers as the access needs; 'c': those of a conversion.
constexpr RoleRule rules[]{
    {"BAR*.RED*", "?"},
    {"NOP BSSY BSYNC YIELD PREEXIT DEPBAR LDGDEPBAR MEMBAR ERRBAR CCTL CCTLL EXIT KILL BPT WARPSYNC NANOSLEEP FENCE "
     "BREAK BRA JMP BAR",
     "r"},
    {"STG ST STS STL RED", "r", "a"},
    {"LDG LD LDS LDL ATOM ATOMG ATOMS", "Pwr", "a"},  // a leading predicate tells whether it succeeded
    {"DSETP", "ppr", "2"},
    {"DADD DMUL DFMA DMNMX DSET", "wr", "2"},
    {"IMAD*.WIDE* UIMAD*.WIDE* IMUL*.WIDE*", "wPr", "21121"},
    {"IMAD*.HI*", "wPr", "11121"},
    {"F2F F2I I2F FRND", "wr", "c"},
    {"CS2R*.32*", "wr"},
    {"CS2R", "wr", "21"},
    {"ULDC LDC S2UR UMOV LDCU", "wr", "a1"},
    {"SHF USHF", "wr"},  // .64: the shifted pair, whose registers are separate operands
    {"*.64 *.64.* *.128 *.128.*", "?"},
    {"FSETP ISETP UISETP HSETP2 PLOP3 UPLOP3", "ppr"},
    {"LOP3 ULOP3 SHFL MATCH REDUX", "pwr"},
    {"FCHK", "pr"},
    {"VOTE VOTEU", "wwr", "1", 3},
    {"VOTE VOTEU", "wr"},
    // Carries and flags follow the result: "IADD3 R2, P0, P1, R4, R5, R6".
    {"IADD3 UIADD3 LEA ULEA IMAD UIMAD IADD", "wPr"},
    {"FADD FMUL FFMA FSEL FMNMX FADD32I FMUL32I FFMA32I FSWZADD FSET HADD2 HMUL2 HFMA2 HMNMX2 HSET2 HADD2_32I "
     "HFMA2_32I MUFU F2FP I2FP I2I F2IP I2IP MOV MOV32I S2R SEL IMUL IMNMX IABS ISCADD ISET LOP SHL SHR PRMT POPC FLO "
     "BREV BMSK SGXT IDP IDP4A VABSDIFF VABSDIFF4 IADD32I LOP32I VIADD VIMNMX VIMNMX3 VIADDMNMX BFE BFI R2UR USEL ULOP "
     "UPRMT UPOPC UFLO UBREV UBMSK USGXT UIADD P2UR",
     "wr"}};

std::optional<Roles> roles(const Instruction& i) {
    const string_view m = i.mnemonic;
    const auto operands = operands_of(i.operands);
    const auto* found = rule_of(rules, m, operands.size());
    if (!found || (operands.empty() && found->operands != "r")) return std::nullopt;
    auto rule = *found;
    if (rule.widths == "c") {
        const auto widths = conversion_widths(m);
        if (!widths) return std::nullopt;
        rule.widths = *widths;
    }
    Roles out;
    bool known = true;
    const bool always = is_named(i.guard, "@PT @UPT") || i.guard.empty();
    if (!always)
        if (const auto unit = register_in(string_view(i.guard).substr(1), known)) out.reads.push_back(*unit);
    const bool wide_address = is_named(m, "LDG STG ATOM ATOMG RED LD ST")
                                  ? has_part(m, "E")
                                  : found->operands == "r" && !is_named(m, "STS STL");
    const auto give = [&](std::size_t k, char letter, char width) {
        const auto& operand = operands[k];
        // "c[0x0][0x160]" and "cx[UR4][0x10]" are constants; a bindless index is a pair of registers.
        if (operand.find('[') != std::string::npos)
            return letter == 'r' &&
                   add_address(out.reads, operand.starts_with("cx[") ? "desc" + operand.substr(2) : operand,
                               wide_address);
        std::vector<Unit> units;
        if (const auto unit = register_in(operand, known))
            add(units, *unit, width == 'a' ? registers_of_access(m) : static_cast<unsigned>(width - '0'));
        add_units(out, units, letter, always);
        return known;
    };
    return each_operand(rule, operands.size(), give, [&](std::size_t k) { return is_predicate(operands[k]); }) && known
               ? std::optional(out)
               : std::nullopt;
}

/// Whether every BSYNC continues where its BSSY says that the work-items reconverge.
bool jumps_are_seen(const Function& function) {
    std::map<std::string, std::set<std::uint64_t>> meets;
    for (const auto& i : function.instructions)
        if (i.mnemonic.starts_with("BSSY"))
            for (const auto target : i.targets) meets[i.operands.substr(0, i.operands.find(','))].insert(target);
    for (const auto& i : function.instructions) {
        if (!i.mnemonic.starts_with("BSYNC")) continue;
        const auto found = meets.find(i.operands);
        if (found == meets.end()) return false;
        for (const auto target : found->second)
            if (target != i.address && target != i.address + i.bytes) return false;
    }
    return true;
}

}  // namespace
}  // namespace cllab::inspect::sass

const cllab::inspect::RegisterRules cllab::inspect::sass_registers{sass::kinds, sass::roles, sass::jumps_are_seen};
