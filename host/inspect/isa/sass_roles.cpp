// What SASS instructions do with registers. NVIDIA publishes no such rules; these are the ones that nvdisasm's text
// shows by itself (sm_70 to sm_90): results stand first, wide operands are told by the suffix of the mnemonic, and what
// is not listed here is not known.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>

#include "inspect/isa/isa.hpp"
#include "inspect/isa/register_roles.hpp"

namespace cllab::inspect {
namespace {

using std::string_view;

constexpr unsigned register_kind = 0, uniform_kind = 1, predicate_kind = 2, uniform_predicate_kind = 3;
constexpr RegisterKind kinds[]{{"R", "R"}, {"UR", "UR"}, {"P", "P"}, {"UP", "UP"}};

bool has_part(string_view mnemonic, string_view part) {
    for (auto at = mnemonic.find('.'); at != string_view::npos; at = mnemonic.find('.', at + 1)) {
        const auto end = std::min(mnemonic.find('.', at + 1), mnemonic.size());
        if (mnemonic.substr(at + 1, end - at - 1) == part) return true;
    }
    return false;
}

/// The register that a word begins with; nothing for RZ, PT, constants and immediates. `known` becomes false for an odd
/// word.
std::optional<Unit> register_in(string_view word, bool& known) {
    word = word.substr(std::min(word.find_first_not_of("-|!~+ "), word.size()));
    word = word.substr(0, word.find_first_of(".| +]"));
    if (word.empty() ||
        starts_with_any(word,
                        {"RZ", "URZ", "PT", "UPT", "SR_", "c[", "cx[", "0x", "`(", "B", "SB", "INF", "QNAN", "desc"}) ||
        std::isdigit(static_cast<unsigned char>(word[0])) || one_of(word, {"INF", "QNAN", "SRZ"}))
        return std::nullopt;
    for (const auto& [prefix, kind] : {std::pair("UR", uniform_kind), std::pair("UP", uniform_predicate_kind),
                                       std::pair("R", register_kind), std::pair("P", predicate_kind)}) {
        const string_view p = prefix;
        unsigned number = 0;
        if (!word.starts_with(p)) continue;
        const auto end = word.data() + word.size();
        if (word.size() > p.size() && std::from_chars(word.data() + p.size(), end, number).ptr == end)
            return Unit{kind, number};
    }
    known = false;
    return std::nullopt;
}

bool is_predicate(string_view operand) {
    return starts_with_any(operand, {"P", "UP", "!P", "!UP"}) && operand != "PR" && operand != "UPR";
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

/// Registers of each operand by the mnemonic: of results, and of the k-th source.
struct Widths {
    unsigned result = 1;
    unsigned source[4] = {1, 1, 1, 1};
};

std::optional<Widths> widths_of(string_view m, string_view root) {
    Widths out;
    const auto all = [&](unsigned n) { return Widths{n, {n, n, n, n}}; };
    if (one_of(root, {"DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "DSET"})) return all(2);
    if (has_part(m, "WIDE")) return Widths{2, {1, 1, 2, 1}};  // IMAD.WIDE, UIMAD.WIDE
    if (root == "IMAD" && has_part(m, "HI")) return Widths{1, {1, 1, 2, 1}};
    if (root == "F2F" || root == "FRND" || root == "F2I" || root == "I2F") {
        // The result's type stands first; types without a width of 64 are one register.
        const auto rest = m.substr(std::min(root.size() + 1, m.size()));
        std::vector<string_view> types;
        for (std::size_t at = 0; at < rest.size();) {
            const auto dot = std::min(rest.find('.', at), rest.size());
            const auto part = rest.substr(at, dot - at);
            if (one_of(part, {"F16", "F32", "F64", "BF16", "S8", "U8", "S16", "U16", "S32", "U32", "S64", "U64"}))
                types.push_back(part);
            at = dot + 1;
        }
        if (types.size() > 2) return std::nullopt;
        const auto bits64 = [](string_view type) { return type.ends_with("64"); };
        // With one type alone it is that of the result of I2F and FRND and of the source of F2I: "I2F.F64", "F2I.F64".
        if (types.size() == 2) return Widths{bits64(types[0]) ? 2u : 1u, {bits64(types[1]) ? 2u : 1u, 1, 1, 1}};
        if (types.size() == 1 && bits64(types[0])) {
            if (root == "FRND") return all(2);
            if (root == "I2F" && types[0] == "F64") return Widths{2, {1, 1, 1, 1}};
            if (root == "F2I" && types[0] == "F64") return Widths{1, {2, 1, 1, 1}};
            return std::nullopt;
        }
        return out;
    }
    if (one_of(root, {"CS2R", "MOV64", "ULDC", "LDC", "S2UR", "UMOV", "LDCU"})) {
        out.result = registers_of_access(m);
        if (root == "CS2R") out.result = has_part(m, "32") ? 1 : 2;
        return out;
    }
    if (has_part(m, "64") || has_part(m, "128")) {
        if (one_of(root, {"SHF", "USHF"}))
            return out;  // the type of the pair that it shifts; its registers are named one by one
        return std::nullopt;
    }
    return out;
}

constexpr string_view plain[]{
    "FADD",    "FMUL",   "FFMA",   "FSEL",   "FMNMX",   "FADD32I",   "FMUL32I",   "FFMA32I", "FSWZADD",  "FSET",
    "HADD2",   "HMUL2",  "HFMA2",  "HMNMX2", "HSET2",   "HADD2_32I", "HFMA2_32I", "DADD",    "DMUL",     "DFMA",
    "DMNMX",   "DSET",   "MUFU",   "F2F",    "F2I",     "I2F",       "F2FP",      "I2FP",    "I2I",      "FRND",
    "F2IP",    "I2IP",   "MOV",    "MOV32I", "S2R",     "CS2R",      "SEL",       "IADD3",   "IADD",     "IMAD",
    "IMUL",    "IMNMX",  "IABS",   "ISCADD", "ISET",    "LOP3",      "LOP",       "SHF",     "SHL",      "SHR",
    "PRMT",    "POPC",   "FLO",    "BREV",   "BMSK",    "SGXT",      "IDP",       "IDP4A",   "VABSDIFF", "VABSDIFF4",
    "IADD32I", "LOP32I", "VIADD",  "VIMNMX", "VIMNMX3", "VIADDMNMX", "BFE",       "BFI",     "LEA",      "R2UR",
    "S2UR",    "USEL",   "UIADD3", "UIMAD",  "ULOP3",   "ULOP",      "USHF",      "UPRMT",   "UPOPC",    "UFLO",
    "UBREV",   "UBMSK",  "USGXT",  "ULEA",   "UMOV",    "ULDC",      "LDC",       "VOTE",    "VOTEU",    "REDUX",
    "SHFL",    "MATCH",  "UISETP", "ISETP",  "FSETP",   "DSETP",     "HSETP2",    "PLOP3",   "UPLOP3",   "FCHK",
    "LDCU",    "UIADD",  "P2UR"};

}  // namespace

const std::span<const RegisterKind> sass_register_kinds(kinds);

std::optional<Roles> sass_roles(const Instruction& i) {
    Roles out;
    bool known = true;
    const bool always = i.guard.empty() || i.guard == "@PT" || i.guard == "@UPT";
    if (!always)
        if (const auto unit = register_in(string_view(i.guard).substr(1), known)) out.reads.push_back(*unit);
    const string_view m = i.mnemonic;
    const auto root = m.substr(0, m.find('.'));
    const auto operands = operands_of(i.operands);
    auto& results = always ? out.writes : out.touches;
    const auto read = [&](string_view operand, unsigned count, bool wide_address = false) {
        if (operand.find('[') != string_view::npos) {
            // "c[0x0][0x160]" and "cx[UR4][0x10]" are constants: their index is a pair where it is a bindless one.
            return add_address(
                out.reads, operand.starts_with("cx[") ? "desc" + std::string(operand.substr(2)) : std::string(operand),
                wide_address);
        }
        if (const auto unit = register_in(operand, known)) add(out.reads, *unit, count);
        return known;
    };
    if (one_of(root, {"NOP",      "BSSY",      "BSYNC", "YIELD", "PREEXIT", "DEPBAR", "LDGDEPBAR",
                      "MEMBAR",   "ERRBAR",    "CCTL",  "CCTLL", "EXIT",    "KILL",   "BPT",
                      "WARPSYNC", "NANOSLEEP", "FENCE", "BREAK", "BRA",     "JMP",    "BAR"})) {
        if (root == "BAR" && has_part(m, "RED")) return std::nullopt;
        for (const auto& operand : operands)
            if (!read(operand, 1, true)) return std::nullopt;
        return known ? std::optional(out) : std::nullopt;
    }
    const bool global = one_of(root, {"LDG", "STG", "ATOM", "ATOMG", "RED", "LD", "ST"});
    const bool load = one_of(root, {"LDG", "LD", "LDS", "LDL"}),
               store = one_of(root, {"STG", "ST", "STS", "STL", "RED"}),
               atomic = one_of(root, {"ATOM", "ATOMG", "ATOMS"});
    if (load || store || atomic) {
        const auto count = registers_of_access(m);
        const bool wide_address = global && has_part(m, "E");
        std::size_t k = 0;
        if (!store) {
            // A predicate in front says whether it succeeded.
            for (; k < operands.size() && is_predicate(operands[k]); ++k)
                if (const auto unit = register_in(operands[k], known)) results.push_back(*unit);
            if (k == operands.size()) return std::nullopt;
            if (const auto unit = register_in(operands[k++], known)) add(results, *unit, count);
        }
        for (; k < operands.size(); ++k)
            if (!read(operands[k], count, wide_address)) return std::nullopt;
        return known ? std::optional(out) : std::nullopt;
    }
    const auto widths =
        std::find(std::begin(plain), std::end(plain), root) != std::end(plain) ? widths_of(m, root) : std::nullopt;
    if (!widths || operands.empty()) return std::nullopt;
    std::size_t k = 0;
    const auto result = [&](unsigned count) {
        if (const auto unit = register_in(operands[k], known)) add(results, *unit, count);
        ++k;
    };
    const bool compares = root.find("SETP") != string_view::npos || one_of(root, {"PLOP3", "UPLOP3"});
    if (compares) {
        while (k < 2 && k < operands.size() && is_predicate(operands[k])) result(1);
    } else {
        // "LOP3.LUT P0, RZ, …", "SHFL.BFLY PT, R5, …", "FCHK P0, R1, R2": predicates in front, then the register.
        const bool leads = one_of(root, {"LOP3", "ULOP3", "SHFL", "FCHK", "MATCH", "VOTE", "VOTEU", "REDUX"});
        while (leads && k < operands.size() && is_predicate(operands[k]) && k < 1) result(1);
        if (root != "FCHK" && !(k == 1 && one_of(root, {"VOTE", "VOTEU"}))) result(widths->result);
        // "IADD3 R2, P0, P1, R4, R5, R6", "VOTE.ANY R5, PT, P0": carries and flags behind it, as long as a register or
        // constant follows.
        if (one_of(root, {"IADD3", "UIADD3", "LEA", "ULEA", "IMAD", "UIMAD", "IADD"}))
            while (k < operands.size() && is_predicate(operands[k])) result(1);
        if (one_of(root, {"VOTE", "VOTEU"}) && k == 1 && operands.size() > 2) result(1);
    }
    for (unsigned source = 0; k < operands.size(); ++k) {
        const bool predicate = is_predicate(operands[k]);
        if (!read(operands[k], predicate || source > 3 ? 1 : widths->source[source])) return std::nullopt;
        if (!predicate) ++source;
    }
    return known ? std::optional(out) : std::nullopt;
}

bool sass_jumps_are_seen(const Function& function) {
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

}  // namespace cllab::inspect
