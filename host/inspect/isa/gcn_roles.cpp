// What GCN and RDNA instructions do with registers. The first operand is written and the others are read, but for the
// instructions named here (LLVM's AMDGPU operand syntax; AMD's instruction set manuals).
#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/text.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/isa/register_roles.hpp"

namespace cllab::inspect {
namespace {

using std::string_view;
using Operands = std::vector<std::string>;

constexpr unsigned vector_kind = 0, accumulator_kind = 1, scalar_kind = 2, vcc_kind = 3;
constexpr RegisterKind kinds[]{{"v", "v", true}, {"a", "a", true}, {"s", "s"}, {nullptr, "vcc"}};

std::optional<unsigned> number_in(string_view text) {
    unsigned out = 0;
    const auto end = text.data() + text.size();
    return !text.empty() && std::from_chars(text.data(), end, out).ptr == end ? std::optional(out) : std::nullopt;
}

/// "v3", "s[4:7]", "vcc_lo", "-|v1|", "off offset:16", "1.0": the registers; nothing for a word that is not known.
std::optional<std::vector<Unit>> registers_of(string_view operand) {
    std::string word(operand.substr(0, operand.find(' ')));
    for (const string_view sign : {"neg(", "abs(", "sext("})
        if (word.starts_with(sign)) word = word.substr(sign.size(), word.find(')') - sign.size());
    std::erase_if(word, [](char c) { return c == '-' || c == '|'; });
    if (word.empty()) return std::vector<Unit>{};
    if (word == "vcc") return std::vector<Unit>{{vcc_kind, 0}, {vcc_kind, 1}};
    if (word == "vcc_lo") return std::vector<Unit>{{vcc_kind, 0}};
    if (word == "vcc_hi") return std::vector<Unit>{{vcc_kind, 1}};
    // One of each and no allocation of its own, or no register at all.
    if (one_of(word, {"off", "null", "exec", "exec_lo", "exec_hi", "m0", "scc", "vccz", "execz", "flat_scratch",
                      "flat_scratch_lo", "flat_scratch_hi", "xnack_mask", "lds_direct"}) ||
        starts_with_any(word, {"src_", "hwreg(", "ttmp", "offset:", "quad_perm", "row_", "swizzle("}) ||
        std::isdigit(static_cast<unsigned char>(word[0])))
        return std::vector<Unit>{};
    const auto kind = word[0] == 'v'   ? vector_kind
                      : word[0] == 'a' ? accumulator_kind
                      : word[0] == 's' ? scalar_kind
                                       : ~0u;
    if (kind == ~0u) return std::nullopt;
    string_view rest = string_view(word).substr(1);
    std::optional<unsigned> first = number_in(rest), last = first;
    if (rest.starts_with('[') && rest.ends_with(']')) {
        const auto colon = rest.find(':');
        first = number_in(rest.substr(1, std::min(colon, rest.size() - 1) - 1));
        last = colon == string_view::npos ? first : number_in(rest.substr(colon + 1, rest.size() - colon - 2));
    }
    if (!first || !last || *last < *first || *last - *first > 32) return std::nullopt;
    std::vector<Unit> out;
    for (unsigned n = *first; n <= *last; ++n) out.push_back({kind, n});
    return out;
}

bool is_exec(string_view operand) { return operand.substr(0, operand.find(' ')).starts_with("exec"); }
bool has_word(string_view text, string_view word) {
    for (auto at = text.find(word); at != string_view::npos; at = text.find(word, at + 1)) {
        const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == ',';
        const auto end = at + word.size();
        if (begins && (end == text.size() || text[end] == ' ')) return true;
    }
    return false;
}

/// The first `written` operands are written (or only touched), those from `read_from` on are read. False for an operand
/// that is not known.
bool take(Roles& out, const Operands& operands, std::size_t written, std::size_t read_from, bool whole = true) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
        const auto units = registers_of(operands[k]);
        if (!units) return false;
        if (k < written)
            (whole ? out.writes : out.touches)
                .insert((whole ? out.writes : out.touches).end(), units->begin(), units->end());
        if (k >= read_from) out.reads.insert(out.reads.end(), units->begin(), units->end());
    }
    return true;
}

/// What a scalar instruction that writes the execution mask does to the set of active work-items.
void set_active(Roles& out, string_view m, const Operands& operands) {
    if (m.find("saveexec") != string_view::npos || m.find("wrexec") != string_view::npos) {
        if (m.find("saveexec") != string_view::npos)
            out.mask_from = Roles::MaskFrom::active;  // it saves what is active now
        out.parks = !m.starts_with("s_or_");
        out.resumes = !m.starts_with("s_and_saveexec") && !m.starts_with("s_andn1_wrexec") &&
                      !m.starts_with("s_and_not0_saveexec");
        for (std::size_t k = 1; k < operands.size() && out.resumes; ++k)
            if (const auto units = registers_of(operands[k]); units && !units->empty())
                out.resumed_from.push_back(units->front());
        return;
    }
    const bool keeps =
        operands.size() == 3 &&
        (is_exec(operands[1]) || (is_exec(operands[2]) && !m.starts_with("s_andn2") && !m.starts_with("s_and_not1")));
    const bool is_and = m.starts_with("s_and");
    out.parks = !(keeps && m.starts_with("s_or_"));
    if (keeps && is_and) return;  // it can only lose some
    out.resumes = true;
    for (std::size_t k = 1; k < operands.size(); ++k)
        if (const auto units = registers_of(operands[k]); units && !units->empty())
            out.resumed_from.push_back(units->front());
}

std::optional<Roles> scalar(string_view m, const Operands& operands) {
    Roles out;
    if (starts_with_any(
            m, {"s_nop",     "s_wait",          "s_endpgm",      "s_barrier",   "s_sleep",      "s_sendmsg",
                "s_sethalt", "s_inst_prefetch", "s_clause",      "s_delay_alu", "s_setprio",    "s_icache_inv",
                "s_dcache",  "s_gl1_inv",       "s_code_end",    "s_trap",      "s_round_mode", "s_denorm_mode",
                "s_branch",  "s_cbranch_scc",   "s_cbranch_exec"}))
        return out;
    if (starts_with_any(m, {"s_cbranch_vcc"})) {
        out.reads = {{vcc_kind, 0}, {vcc_kind, 1}};
        return out;
    }
    if (starts_with_any(m, {"s_cbranch", "s_movrel", "s_swappc", "s_call", "s_rfe", "s_setpc", "s_atomic",
                            "s_subvector", "s_getpc_b64_then"}))
        return std::nullopt;
    bool known;
    if (starts_with_any(
            m, {"s_cmp", "s_bitcmp", "s_store", "s_buffer_store", "s_scratch_store", "s_setreg", "s_setvskip"}))
        known = take(out, operands, 0, 0);
    else if (starts_with_any(m, {"s_addk", "s_mulk", "s_cmovk", "s_cmov_", "s_bitset"}))
        known = take(out, operands, 0, 0) && take(out, {operands[0]}, 1, 1);
    else
        known = take(out, operands, 1, 1);
    if (!known) return std::nullopt;
    const bool writes_exec = (!operands.empty() && is_exec(operands[0]) && !m.starts_with("s_cmp")) ||
                             m.find("saveexec") != string_view::npos || m.find("wrexec") != string_view::npos;
    if (writes_exec) set_active(out, m, operands);
    return out;
}

/// Whether lanes of DPP may keep what the destination held.
bool keeps_by_dpp(string_view text) {
    const bool dpp = has_any(text, {" row_", "quad_perm:", " wave_", "row_bcast", "dpp8:"});
    if (!dpp) return false;
    const bool all = text.find("row_mask:0xf") != string_view::npos && text.find("bank_mask:0xf") != string_view::npos;
    return !all || (text.find("quad_perm:") == string_view::npos && text.find("bound_ctrl") == string_view::npos);
}

bool keeps_half(string_view m, string_view text) {
    if (text.find("UNUSED_PRESERVE") != string_view::npos || has_any(m, {"_mixlo_", "_mixhi_", "d16"})) return true;
    // op_sel's last bit of a 16-bit result says which half it is.
    const auto at = text.find("op_sel:[");
    return at != string_view::npos && !m.starts_with("v_pk") &&
           text.substr(at, text.find(']', at) - at).ends_with(",1");
}

std::optional<Roles> vector(string_view m, const Operands& operands, string_view text) {
    Roles out;
    if (starts_with_any(m, {"v_nop", "v_clrexcp"})) return out;
    if (starts_with_any(m, {"v_movrel", "v_interp", "v_swaprel", "v_screen", "v_illegal"}) || operands.empty())
        return std::nullopt;
    bool known;
    if (m.starts_with("v_cmpx")) {
        // Newer processors write the execution mask alone.
        known = operands.size() == 2 ? take(out, operands, 0, 0) : take(out, operands, 1, 1);
        out.parks = true;
        out.mask_from = Roles::MaskFrom::active;
        return known ? std::optional(out) : std::nullopt;
    }
    // The lanes of the result that no active work-item has are kept by by_lane; here are those that keep theirs for
    // other reasons.
    const bool adds_to =
        has_any(m, {"_mac_", "_fmac_", "dot2c", "dot4c", "dot8c", "v_writelane", "v_permlane", "v_smfmac"});
    const bool touches = keeps_half(m, text) || keeps_by_dpp(text);
    if (m.starts_with("v_swap"))
        known = take(out, operands, 0, 0) && take(out, operands, 2, 2);
    else if (starts_with_any(m, {"v_readlane", "v_readfirstlane"})) {
        known = take(out, operands, 1, 1);
        out.mask_from = Roles::MaskFrom::elsewhere;
    } else {
        const bool carries =
            has_any(m, {"_co_", "v_div_scale", "v_mad_u64_u32", "v_mad_i64_i32", "v_addc_", "v_subb_", "v_subbrev_"}) ||
            (starts_with_any(m, {"v_add_u32", "v_sub_u32", "v_subrev_u32", "v_add_i32", "v_sub_i32", "v_subrev_i32"}) &&
             operands.size() == 4);
        const std::size_t results = carries && operands.size() >= 4 ? 2 : 1;
        known = take(out, operands, results, results, !touches);
        if (adds_to) known = known && take(out, {operands[0]}, 0, 0);
        if (starts_with_any(m, {"v_div_fmas"})) out.reads.insert(out.reads.end(), {{vcc_kind, 0}, {vcc_kind, 1}});
        out.mask_from = Roles::MaskFrom::active;
    }
    return known ? std::optional(out) : std::nullopt;
}

std::optional<Roles> memory(string_view m, const Operands& operands, string_view text) {
    Roles out;
    const auto is = [&](std::initializer_list<string_view> parts) { return has_any(m, parts); };
    if (is({"_inv", "wbinv", "_wb", "ds_nop"})) return out;
    if (is({"ds_gws", "ds_ordered", "image_bvh", "image_msaa"}) || operands.empty()) return std::nullopt;
    const bool returns =
        has_word(text, "glc") || has_word(text, "sc0") || text.find("th:TH_ATOMIC_RETURN") != string_view::npos;
    bool known;
    if (m.starts_with("ds_")) {
        const bool result = is({"_rtn", "permute", "swizzle", "append", "consume", "_loadxchg"}) ||
                            (is({"_read", "_load"}) && !is({"addtid_store"}));
        known = take(out, operands, result ? 1 : 0, result ? 1 : 0, !is({"d16"}));
    } else if (is({"atomic"})) {
        const bool by_buffer = starts_with_any(m, {"buffer_", "tbuffer_", "image_"});
        if (by_buffer)
            known = take(out, operands, returns ? 1 : 0, 0);  // what is added comes back in the same registers
        else
            known = take(out, operands, returns ? 1 : 0, returns ? 1 : 0);
    } else if (is({"store"})) {
        known = take(out, operands, 0, 0);
    } else if (is({"load", "sample", "gather", "image_get"})) {
        if (has_word(text, "lds")) return std::nullopt;
        // A result that says whether the page was there stands behind the others, in no operand of its own.
        if (has_word(text, "tfe")) return std::nullopt;
        known = take(out, operands, 1, 1, !is({"d16"}));
    } else {
        return std::nullopt;
    }
    return known ? std::optional(out) : std::nullopt;
}

std::optional<Roles> single(string_view m, string_view text) {
    const auto operands = operands_of(text);
    if (m.starts_with("s_")) return scalar(m, operands);
    if (m.starts_with("v_")) return vector(m, operands, text);
    if (starts_with_any(m, {"global_", "flat_", "buffer_", "tbuffer_", "scratch_", "image_", "ds_"}))
        return memory(m, operands, text);
    return std::nullopt;
}

}  // namespace

const std::span<const RegisterKind> gcn_register_kinds(kinds);

std::optional<Roles> gcn_roles(const Instruction& i) {
    const string_view operands = i.operands;
    const auto second = operands.find(":: ");
    if (second == string_view::npos) return single(i.mnemonic, operands);
    // A dual instruction: both halves read before either writes.
    const auto rest = trim(operands.substr(second + 3));
    const auto space = std::min(rest.find(' '), rest.size());
    auto out = single(i.mnemonic, trim(operands.substr(0, second)));
    const auto other = single(string_view(rest).substr(0, space), string_view(rest).substr(space));
    if (!out || !other) return std::nullopt;
    out->reads.insert(out->reads.end(), other->reads.begin(), other->reads.end());
    out->writes.insert(out->writes.end(), other->writes.begin(), other->writes.end());
    out->touches.insert(out->touches.end(), other->touches.begin(), other->touches.end());
    return out;
}

}  // namespace cllab::inspect
