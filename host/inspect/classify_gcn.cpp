#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "inspect/code.hpp"

namespace cllab::inspect {
namespace {

using std::string_view;

/// Bits of one access from the end of a mnemonic: dwordx4, b128, ubyte, short_d16_hi, read2_b32 …
unsigned access_bits(string_view m) {
    constexpr std::array<std::pair<string_view, unsigned>, 14> words{{{"dwordx16", 512},
                                                                      {"dwordx8", 256},
                                                                      {"dwordx4", 128},
                                                                      {"dwordx3", 96},
                                                                      {"dwordx2", 64},
                                                                      {"dword", 32},
                                                                      {"ubyte", 8},
                                                                      {"sbyte", 8},
                                                                      {"byte", 8},
                                                                      {"ushort", 16},
                                                                      {"sshort", 16},
                                                                      {"short", 16},
                                                                      {"format_xyzw", 128},
                                                                      {"format_x", 32}}};
    for (const auto& [word, bits] : words)
        if (m.find(word) != string_view::npos) return bits;
    // "ds_read_b128", "global_load_u8", "ds_add_u32": letter and number after an underscore.
    for (std::size_t at = m.find('_'); at != string_view::npos; at = m.find('_', at + 1)) {
        const string_view part = m.substr(at + 1);
        if (part.size() < 2 || string_view("bduif").find(part[0]) == string_view::npos ||
            !std::isdigit(static_cast<unsigned char>(part[1])))
            continue;
        if (part.starts_with("d16")) continue;  // half of a register, not a width
        unsigned bits = 0;
        std::from_chars(part.data() + 1, part.data() + part.size(), bits);
        return bits;
    }
    return 0;
}

/// ds_read2_b32 moves two.
unsigned access_count(string_view m) {
    return m.find("read2") != string_view::npos || m.find("write2") != string_view::npos ||
                   m.find("load_2addr") != string_view::npos || m.find("store_2addr") != string_view::npos ||
                   m.find("load_2") != string_view::npos || m.find("store_2") != string_view::npos
               ? 2
               : 1;
}

std::string access(string_view space, string_view m, bool scratch = false) {
    const bool atomic = m.find("atomic") != string_view::npos;
    const bool store = m.find("store") != string_view::npos || m.find("write") != string_view::npos;
    const bool load = m.find("load") != string_view::npos || m.find("read") != string_view::npos ||
                      m.find("sample") != string_view::npos || m.find("gather") != string_view::npos;
    std::string name(scratch ? "scratch" : space);
    name += atomic || (!store && !load) ? "_atomic" : store ? "_store" : "_load";
    if (const unsigned bits = access_bits(m) * access_count(m)) name += "_" + std::to_string(bits);
    return name;
}

/// Scratch is a buffer access through the resource that the kernel set up in s[0:3], without an index register: "v2,
/// off, s[0:3], 0 offset:20" on gfx9, where user buffers come by flat or global instructions in OpenCL.
bool is_scratch(const Instruction& i) {
    return i.mnemonic.starts_with("scratch_") ||
           (i.mnemonic.starts_with("buffer_") && i.operands.find("s[0:3]") != std::string::npos);
}

}  // namespace

Class classify_gcn(const Instruction& i) {
    const string_view m = i.mnemonic;
    const auto begins = [&](std::initializer_list<string_view> prefixes) {
        return std::any_of(prefixes.begin(), prefixes.end(), [&](string_view p) { return m.starts_with(p); });
    };
    if (begins({"v_mfma", "v_smfmac", "v_wmma", "v_swmmac", "v_dot"})) return {"matrix"};
    if (m.starts_with("v_")) return {"v_alu"};
    if (begins({"ds_", "lds_"})) {
        if (begins({"ds_swizzle", "ds_permute", "ds_bpermute", "ds_nop"})) return {"lds"};
        return {"lds", {access("lds", m)}};
    }
    if (begins({"global_", "flat_", "buffer_", "tbuffer_", "scratch_", "image_"})) {
        if (m.find("_inv") != string_view::npos || m.find("wbinv") != string_view::npos ||
            m.find("_wb") != string_view::npos || m.find("gl0") != string_view::npos)
            return {"cache"};
        return {"v_memory", {access(m.substr(0, m.find('_')), m, is_scratch(i))}};
    }
    if (begins({"s_load", "s_buffer_load", "s_store", "s_buffer_store", "s_scratch", "s_atomic"}))
        return {"s_memory", {access("scalar", m)}};
    if (begins({"s_memtime", "s_memrealtime"})) return {"s_memory"};
    if (begins({"s_dcache", "s_icache", "s_gl1"})) return {"cache"};
    if (i.flow != Flow::next || begins({"s_swappc", "s_call", "s_getpc"})) return {"branch"};
    if (begins({"s_waitcnt", "s_wait", "s_delay_alu", "s_sleep"})) return {"wait"};
    if (m.starts_with("s_barrier")) return {"barrier"};
    if (begins({"s_nop", "s_clause", "s_inst_prefetch", "s_setprio", "s_code_end", "s_setreg", "s_sendmsg",
                "s_round_mode", "s_denorm_mode"}))
        return {"other"};
    if (m.starts_with("s_")) return {"s_alu"};
    return {"other"};
}

}  // namespace cllab::inspect
