#include <algorithm>
#include <array>
#include <charconv>

#include "inspect/code.hpp"

namespace cllab::inspect {
namespace {

using std::string_view;

string_view root_of(string_view mnemonic) { return mnemonic.substr(0, mnemonic.find('.')); }
bool has_part(string_view mnemonic, string_view part) {
    for (auto at = mnemonic.find('.'); at != string_view::npos; at = mnemonic.find('.', at + 1)) {
        const auto end = std::min(mnemonic.find('.', at + 1), mnemonic.size());
        if (mnemonic.substr(at + 1, end - at - 1) == part) return true;
    }
    return false;
}

bool one_of(string_view root, std::initializer_list<string_view> roots) {
    return std::find(roots.begin(), roots.end(), root) != roots.end();
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

}  // namespace

Class classify_sass(const Instruction& i) {
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
        ++out.reuse;
    return out;
}

}  // namespace cllab::inspect
