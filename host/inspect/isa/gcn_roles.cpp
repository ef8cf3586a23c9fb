// Roles of registers in GCN and RDNA instructions (LLVM's AMDGPU operand syntax; AMD's instruction set manuals).
#include <algorithm>
#include <cctype>

#include "core/text.hpp"
#include "inspect/code/liveness.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::inspect::gcn {
namespace {

using std::string_view;
using Operands = std::vector<std::string>;

constexpr unsigned vector_kind = 0, accumulator_kind = 1, scalar_kind = 2, vcc_kind = 3;
constexpr RegisterKind kinds[]{{"v", "v", true}, {"a", "a", true}, {"s", "s"}, {nullptr, "vcc"}};

/// The registers of "v3", "s[4:7]", "vcc_lo", "-|v1|", "off offset:16", "1.0"; nullopt for an unknown word.
std::optional<std::vector<Unit>> registers_of(string_view operand) {
    std::string word(operand.substr(0, operand.find(' ')));
    for (const string_view sign : {"neg(", "abs(", "sext("})
        if (word.starts_with(sign)) word = word.substr(sign.size(), word.find(')') - sign.size());
    std::erase_if(word, [](char c) { return c == '-' || c == '|'; });
    if (word.empty()) return std::vector<Unit>{};
    if (word == "vcc") return std::vector<Unit>{{vcc_kind, 0}, {vcc_kind, 1}};
    if (word == "vcc_lo") return std::vector<Unit>{{vcc_kind, 0}};
    if (word == "vcc_hi") return std::vector<Unit>{{vcc_kind, 1}};
    // Registers that exist once and are not allocated, or no registers at all.
    if (std::isdigit(static_cast<unsigned char>(word[0])) ||
        is_named(word,
                 "off null exec exec_lo exec_hi m0 scc vccz execz flat_scratch flat_scratch_lo flat_scratch_hi "
                 "xnack_mask lds_direct src_* hwreg(* ttmp* offset:* quad_perm* row_* swizzle(*"))
        return std::vector<Unit>{};
    const auto kind = word[0] == 'v'   ? vector_kind
                      : word[0] == 'a' ? accumulator_kind
                      : word[0] == 's' ? scalar_kind
                                       : ~0u;
    if (kind == ~0u) return std::nullopt;
    string_view rest = string_view(word).substr(1);
    std::optional<unsigned> first = whole_number(rest), last = first;
    if (rest.starts_with('[') && rest.ends_with(']')) {
        const auto colon = rest.find(':');
        first = whole_number(rest.substr(1, std::min(colon, rest.size() - 1) - 1));
        last = colon == string_view::npos ? first : whole_number(rest.substr(colon + 1, rest.size() - colon - 2));
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

// Two more letters for atomics. 'W': written if the atomic returns the old value, otherwise there is no such operand.
// 'M': read, and also written if the atomic returns the old value.
constexpr RoleRule rules[]{
    {"s_nop* s_wait* s_endpgm* s_barrier* s_sleep* s_sendmsg* s_sethalt* s_inst_prefetch* s_clause* s_delay_alu* "
     "s_setprio* s_icache_inv* s_dcache* s_gl1_inv* s_code_end* s_trap* s_round_mode* s_denorm_mode* s_branch* "
     "s_cbranch_scc* s_cbranch_exec* v_nop* v_clrexcp*",
     ""},
    {"s_cbranch_vcc*", "", "1", 0, "vcc"},
    {"s_cbranch* s_movrel* s_swappc* s_call* s_rfe* s_setpc* s_atomic* s_subvector* s_getpc_b64_then*", "?"},
    {"s_cmp* s_bitcmp* s_store* s_buffer_store* s_scratch_store* s_setreg* s_setvskip*", "r"},
    {"s_addk* s_mulk* s_cmovk* s_cmov_* s_bitset*", "mr"},
    {"s_*", "wr"},
    {"v_movrel* v_interp* v_swaprel* v_screen* v_illegal*", "?"},
    {"v_cmpx*", "wr", "1", 3},
    {"v_cmpx*", "r"},  // newer processors write only the execution mask
    {"v_swap*", "mmr"},
    {"v_div_fmas*", "wr", "1", 0, "vcc"},
    {"v_readlane* v_readfirstlane*", "wr"},
    {"*_mac_* *_fmac_* *dot2c* *dot4c* *dot8c* v_writelane* v_permlane* v_smfmac*", "mr"},
    {"v_*_co_* v_div_scale* v_mad_u64_u32* v_mad_i64_i32* v_addc_* v_subb_* v_subbrev_* v_add_u32* v_sub_u32* "
     "v_subrev_u32* v_add_i32* v_sub_i32* v_subrev_i32*",
     "wwr", "1", 4},
    {"v_*", "wr"},
    {"*_inv* *wbinv* *_wb* ds_nop*", ""},
    {"ds_gws* ds_ordered* image_bvh* image_msaa*", "?"},
    {"ds_*_rtn* ds_*permute* ds_swizzle* ds_append* ds_consume* ds_*_loadxchg* ds_read* ds_load*", "wr"},
    {"ds_*", "r"},
    {"buffer_*atomic* tbuffer_*atomic* image_*atomic*", "Mr"},  // the old value returns in the operand's registers
    {"*atomic*", "Wr"},
    {"*store*", "r"},
    {"*load* *sample* *gather* image_get*", "wr"}};

/// How a scalar instruction changes the set of active work-items if it writes the execution mask.
void set_active(Roles& out, string_view m, const Operands& operands) {
    const bool saves = is_named(m, "*saveexec* *wrexec*");
    if (!saves && (operands.empty() || !is_exec(operands[0]) || m.starts_with("s_cmp"))) return;
    if (is_named(m, "*saveexec*")) out.mask_from = Roles::MaskFrom::active;  // saves the mask before the change
    const bool keeps =
        saves || (operands.size() == 3 &&
                  (is_exec(operands[1]) || (is_exec(operands[2]) && !is_named(m, "s_andn2* s_and_not1*"))));
    out.parks = !(keeps && m.starts_with("s_or_"));
    // These can only remove work-items.
    out.resumes = !is_named(m, saves ? "s_and_saveexec* s_andn1_wrexec* s_and_not0_saveexec*" : keeps ? "s_and*" : "");
    for (std::size_t k = 1; k < operands.size() && out.resumes; ++k)
        if (const auto units = registers_of(operands[k]); units && !units->empty())
            out.resumed_from.push_back(units->front());
}

/// Whether DPP may leave old values in some lanes of the destination.
bool keeps_by_dpp(string_view text) {
    const bool dpp = has_any(text, {" row_", "quad_perm:", " wave_", "row_bcast", "dpp8:"});
    if (!dpp) return false;
    const bool all = text.find("row_mask:0xf") != string_view::npos && text.find("bank_mask:0xf") != string_view::npos;
    return !all || (text.find("quad_perm:") == string_view::npos && text.find("bound_ctrl") == string_view::npos);
}

bool keeps_half(string_view m, string_view text) {
    if (text.find("UNUSED_PRESERVE") != string_view::npos || is_named(m, "*_mixlo_* *_mixhi_* *d16*")) return true;
    // The last bit of op_sel selects the half of a 16-bit result.
    const auto at = text.find("op_sel:[");
    return at != string_view::npos && !m.starts_with("v_pk") &&
           text.substr(at, text.find(']', at) - at).ends_with(",1");
}

std::optional<Roles> single(string_view m, string_view text) {
    const auto operands = operands_of(text);
    const auto* found = rule_of(rules, m, operands.size());
    const bool scalar = m.starts_with("s_"), vector = m.starts_with("v_");
    if (!found || (!scalar && !vector && !is_named(m, "global_* flat_* buffer_* tbuffer_* scratch_* image_* ds_*")))
        return std::nullopt;
    if (operands.empty() && !scalar && !found->operands.empty()) return std::nullopt;
    auto rule = *found;
    const bool returns =
        has_word(text, "glc") || has_word(text, "sc0") || text.find("th:TH_ATOMIC_RETURN") != string_view::npos;
    if (rule.operands == "Mr") rule.operands = returns ? "mr" : "r";
    if (rule.operands == "Wr") rule.operands = returns ? "wr" : "r";
    // The address of a load to LDS is unknown. With tfe, a page status follows the other results, without an operand.
    if (!scalar && !vector && !m.starts_with("ds_") && rule.operands == "wr" && !is_named(m, "*atomic*") &&
        (has_word(text, "lds") || has_word(text, "tfe")))
        return std::nullopt;
    // by_lane accounts for result lanes of inactive work-items. This accounts for lanes that keep their value for other
    // reasons.
    const bool whole = scalar || !(keeps_half(m, text) || (vector && keeps_by_dpp(text)));
    Roles out;
    const auto give = [&](std::size_t k, char letter, char) {
        const auto units = registers_of(operands[k]);
        if (units) add_units(out, *units, letter, whole);
        return units.has_value();
    };
    if (!each_operand(rule, operands.size(), give)) return std::nullopt;
    add_units(out, *registers_of(rule.reads), 'r');
    if (scalar && !found->operands.empty()) set_active(out, m, operands);
    if (vector && !found->operands.empty() && !m.starts_with("v_swap")) out.mask_from = Roles::MaskFrom::active;
    if (is_named(m, "v_readlane* v_readfirstlane*")) out.mask_from = Roles::MaskFrom::elsewhere;
    out.parks = out.parks || m.starts_with("v_cmpx");
    return out;
}

std::optional<Roles> roles(const Instruction& i) {
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

}  // namespace
}  // namespace cllab::inspect::gcn

const cllab::inspect::RegisterRules cllab::inspect::gcn_registers{gcn::kinds, gcn::roles};
