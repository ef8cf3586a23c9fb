#include "inspect/work_rules.hpp"

#include <algorithm>
#include <charconv>

#include "core/text.hpp"

namespace cllab::inspect {
namespace {

using model::Declared;
using std::string_view;
using What = Declared::What;

bool starts_with_any(string_view text, std::initializer_list<string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](string_view p) { return text.starts_with(p); });
}
bool has_any(string_view text, std::initializer_list<string_view> parts) {
    return std::any_of(parts.begin(), parts.end(), [&](string_view p) { return text.find(p) != string_view::npos; });
}

/// A call may stand for the four independent calls of a trip at once, as one vector.
constexpr double lanes_of_call = 4;

// --- Memory ---------------------------------------------------------------------------------------------------------

struct Wanted {
    bool local;
    string_view access;
};

std::optional<Wanted> wanted_access(What what) {
    switch (what) {
        case What::load:
            return Wanted{false, "load"};
        case What::store:
            return Wanted{false, "store"};
        case What::local_load:
            return Wanted{true, "load"};
        case What::local_store:
            return Wanted{true, "store"};
        case What::atomic:
            return Wanted{false, "atomic"};
        case What::local_atomic:
            return Wanted{true, "atomic"};
        default:
            return std::nullopt;
    }
}

/// `access` is a name such as "global_load_128": whether it is the one wanted, and its bits (0: not said).
std::optional<unsigned> matching_bits(Isa isa, string_view access, const Wanted& wanted) {
    if (isa == Isa::x86) {
        // Memory is one here, and a runtime may keep local memory in the frame that rbp points to.
        if (access.starts_with("stack_")) access.remove_prefix(6);
    } else {
        const auto space = access.substr(0, access.find('_'));
        const auto in = [&](std::initializer_list<string_view> spaces) {
            return std::find(spaces.begin(), spaces.end(), space) != spaces.end();
        };
        if (wanted.local ? !in({"shared", "lds", "generic", "flat"})
                         : !in({"global", "generic", "flat", "buffer", "tbuffer", "scalar"}))
            return std::nullopt;
        access.remove_prefix(space.size() + 1);
    }
    if (!access.starts_with(wanted.access)) return std::nullopt;
    const auto digits = access.substr(access.rfind('_') + 1);
    unsigned bits = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    return bits;
}

double accesses(Isa isa, const Instruction& i, const Declared& d, const Wanted& wanted) {
    if (isa == Isa::x86 &&
        (i.operands.find("rsp") != std::string::npos || starts_with_any(i.mnemonic, {"push", "pop"})))
        return 0;  // the stack is no memory of the kernel
    // An atomic is one, however wide.
    const bool whole = wanted.access == "atomic";
    double sum = 0;
    for (const auto& access : classify(isa, i).memory) {
        const auto bits = matching_bits(isa, access, wanted);
        if (!bits) continue;
        const bool gathers = access.find("indexed") != std::string::npos;
        sum += whole ? 1 : gathers ? std::max(1.0, 512.0 / d.bits) : *bits ? static_cast<double>(*bits) / d.bits : 1;
    }
    return sum;
}

// --- Arithmetic -----------------------------------------------------------------------------------------------------

/// Elements of `bits` in the widest register an x86 instruction names.
double x86_lanes(const Instruction& i, unsigned bits) {
    const std::string operands = lower(i.operands);
    const unsigned width = has_any(operands, {"zmm"}) ? 512 : has_any(operands, {"ymm"}) ? 256 : 128;
    return static_cast<double>(width) / bits;
}

/// Elements of a floating-point instruction by its suffix: ss and sd have one; 0 for what has no such suffix or is
/// narrower than `least_bits`.
double x86_float_lanes(const Instruction& i, unsigned least_bits) {
    const string_view m = i.mnemonic;
    const char size = m.empty() ? ' ' : m.back();
    const unsigned bits = size == 's' ? 32 : size == 'd' ? 64 : size == 'h' ? 16 : 0;
    if (bits == 0 || bits < least_bits || m.size() < 2) return 0;
    const char packed = m[m.size() - 2];
    return packed == 's' ? 1 : packed == 'p' ? x86_lanes(i, bits) : 0;
}

double x86_arithmetic(const Instruction& i, const Declared& d) {
    string_view m = i.mnemonic;
    if (m.starts_with("v")) m.remove_prefix(1);
    const bool fused = starts_with_any(m, {"fmadd", "fmsub", "fnmadd", "fnmsub"});
    if (d.what == What::multiply_add) return fused ? x86_float_lanes(i, d.bits) : 0;
    if (d.what == What::integer_multiply) {
        if (starts_with_any(m, {"imul", "mulx"}) || m == "mul") return 1;
        return m.starts_with("pmul") || m.starts_with("pmadd") ? x86_lanes(i, d.bits) : 0;
    }
    if (m.starts_with("call")) return lanes_of_call;
    const bool arithmetic = fused || starts_with_any(m, {"add", "sub", "mul", "div", "sqrt", "rsqrt", "rcp", "min",
                                                         "max", "round", "rndscale"});
    return arithmetic ? x86_float_lanes(i, 16) : 0;
}

/// One of the two halves of a dual instruction, or the whole of any other.
double gcn_one(string_view m, const Declared& d) {
    const auto is_float = [&] {
        return m.find("_f64") != string_view::npos || (m.find("_f32") != string_view::npos && d.bits <= 32) ||
               (m.find("_f16") != string_view::npos && d.bits <= 16);
    };
    const double lanes = m.find("_pk_") == string_view::npos ? 1 : 2;
    if (d.what == What::multiply_add) return has_any(m, {"fma", "mac", "mad"}) && is_float() ? lanes : 0;
    if (d.what == What::integer_multiply)
        return has_any(m, {"_mul_", "_mad_"}) && has_any(m, {"u32", "i32", "u24", "i24"}) ? lanes : 0;
    if (starts_with_any(m, {"s_swappc", "s_call"})) return lanes_of_call;
    return has_any(m, {"_f16", "_f32", "_f64"}) && !has_any(m, {"_cmp", "_cvt", "_load", "_store"}) ? lanes : 0;
}

double gcn_arithmetic(const Instruction& i, const Declared& d) {
    double sum = gcn_one(i.mnemonic, d);
    if (const auto second = i.operands.find(":: "); second != std::string::npos)
        sum += gcn_one(string_view(i.operands).substr(second + 3), d);
    return sum;
}

double ptx_arithmetic(const Instruction& i, const Declared& d) {
    const auto parts = split(i.mnemonic, '.');
    const std::string& root = parts.front();
    unsigned bits = 0;
    double lanes = 1;
    bool is_float = false;
    for (const auto& part : parts) {
        const auto digit = part.find_first_of("0123456789");
        const string_view type = string_view(part).substr(0, std::min(digit, part.size()));
        if (bits > 0 || digit == std::string::npos ||
            (type != "f" && type != "bf" && type != "u" && type != "s" && type != "b"))
            continue;
        std::from_chars(part.data() + digit, part.data() + part.size(), bits);
        lanes = part.ends_with("x2") ? 2 : 1;
        is_float = type == "f" || type == "bf";
    }
    if (d.what == What::multiply_add) return (root == "fma" || root == "mad") && is_float && bits >= d.bits ? lanes : 0;
    if (d.what == What::integer_multiply)
        return (root == "mul" || root == "mad" || root == "mul24" || root == "mad24") && !is_float && bits >= d.bits
                   ? 1
                   : 0;
    if (root == "call") return lanes_of_call;
    const bool moves = starts_with_any(root, {"ld", "st", "mov", "cvt", "setp", "selp", "abs", "neg", "testp"});
    return is_float && !moves ? lanes : 0;
}

double sass_arithmetic(const Instruction& i, const Declared& d) {
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

}  // namespace

bool can_count(Isa isa, What what) {
    return isa == Isa::gcn || isa == Isa::ptx || isa == Isa::sass || (isa == Isa::x86 && what != What::barrier);
}

double elements_of(Isa isa, const Instruction& i, const Declared& d) {
    if (const auto access = wanted_access(d.what)) return accesses(isa, i, d, *access);
    if (d.what == What::barrier) return classify(isa, i).name == "barrier";
    switch (isa) {
        case Isa::x86:
            return x86_arithmetic(i, d);
        case Isa::gcn:
            return gcn_arithmetic(i, d);
        case Isa::ptx:
            return ptx_arithmetic(i, d);
        case Isa::sass:
            return sass_arithmetic(i, d);
        default:
            return 0;
    }
}

bool is_call(Isa isa, const Instruction& i) {
    const string_view m = i.mnemonic;
    return isa == Isa::gcn    ? starts_with_any(m, {"s_swappc", "s_call"})
           : isa == Isa::sass ? starts_with_any(m, {"CALL", "JCAL"})
                              : starts_with_any(m, {"call"});
}

bool is_string_move(Isa isa, const Instruction& i) {
    return isa == Isa::x86 && i.operands.find("es:[") != std::string::npos;
}

}  // namespace cllab::inspect
