// What SASS instructions do with registers. NVIDIA publishes no such rules; these are the ones that nvdisasm's text
// shows by itself (sm_70 to sm_90): results stand first, wide operands are told by the suffix of the mnemonic, and what
// is not listed here is not known.
#include <algorithm>
#include <map>
#include <set>

#include "core/text.hpp"
#include "inspect/code/liveness.hpp"
#include "inspect/isa/rules.hpp"

namespace cllab::inspect::sass {
namespace {

using std::string_view;

constexpr unsigned register_kind = 0, uniform_kind = 1, predicate_kind = 2, uniform_predicate_kind = 3;
constexpr RegisterKind kinds[]{{"R", "R"}, {"UR", "UR"}, {"P", "P"}, {"UP", "UP"}};

/// The register that a word begins with; nothing for RZ, PT, constants and immediates. `known` becomes false for an odd
/// word.
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
            // A descriptor is a pair of uniform registers; an address is one where .64 or .E says so.
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

/// Of a conversion the result's type stands first; types without a width of 64 are one register. With one type alone it
/// is that of the result of I2F and FRND and of the source of F2I: "I2F.F64", "F2I.F64".
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

/// Widths: 'a' is as many registers as the access has, 'c' those of a conversion.
constexpr RoleRule rules[]{
    {"BAR*.RED*", "?"},
    {"NOP BSSY BSYNC YIELD PREEXIT DEPBAR LDGDEPBAR MEMBAR ERRBAR CCTL CCTLL EXIT KILL BPT WARPSYNC NANOSLEEP FENCE "
     "BREAK BRA JMP BAR",
     "r"},
    {"STG ST STS STL RED", "r", "a"},
    {"LDG LD LDS LDL ATOM ATOMG ATOMS", "Pwr", "a"},  // a predicate in front says whether it succeeded
    {"DSETP", "ppr", "2"},
    {"DADD DMUL DFMA DMNMX DSET", "wr", "2"},
    {"IMAD*.WIDE* UIMAD*.WIDE* IMUL*.WIDE*", "wPr", "21121"},
    {"IMAD*.HI*", "wPr", "11121"},
    {"F2F F2I I2F FRND", "wr", "c"},
    {"CS2R*.32*", "wr"},
    {"CS2R", "wr", "21"},
    {"ULDC LDC S2UR UMOV LDCU", "wr", "a1"},
    {"SHF USHF", "wr"},  // .64 is the pair that it shifts; its registers are named one by one
    {"*.64 *.64.* *.128 *.128.*", "?"},
    {"FSETP ISETP UISETP HSETP2 PLOP3 UPLOP3", "ppr"},
    {"LOP3 ULOP3 SHFL MATCH REDUX", "pwr"},
    {"FCHK", "pr"},
    {"VOTE VOTEU", "wwr", "1", 3},
    {"VOTE VOTEU", "wr"},
    // Carries and flags stand behind the result: "IADD3 R2, P0, P1, R4, R5, R6".
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
        // "c[0x0][0x160]" and "cx[UR4][0x10]" are constants: their index is a pair where it is a bindless one.
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

/// Whether every BSYNC goes on where its BSSY says that the work-items meet.
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
