// What x86 instructions do with registers (Intel's manual, volume 2, and AMD's, volumes 3 and 4): families by name,
// since most of them overwrite the first operand or add to it. What is in no family is not known.
//
// al and ah can be written alone, and so can ax, while eax clears what is above it. Of a vector register, SSE leaves
// what is above 128 bits; AVX clears it.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>

#include "core/text.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/isa/register_roles.hpp"

namespace cllab::inspect {
namespace {

using std::string_view;

constexpr unsigned general_kind = 0, vector_kind = 1, mask_kind = 2;
constexpr const char* general_names[]{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
constexpr unsigned rax = 0, rcx = 1, rdx = 2, rsp = 4, rbp = 5;
constexpr RegisterKind kinds[]{{"general", "", false, general_names}, {"vector", "zmm"}, {"mask", "k"}};

/// Parts of a general register: bits 0 to 7, 8 to 15, 16 to 31, 32 to 63.
struct Named {
    unsigned kind = 0, number = 0, first = 0, last = 0;  ///< parts [first, last]
    bool clears_rest = false;                            ///< written, the parts behind it are zero
};

std::optional<Named> register_named(string_view word) {
    const auto number = [](string_view text) {
        unsigned out = 0;
        const auto end = text.data() + text.size();
        return !text.empty() && std::from_chars(text.data(), end, out).ptr == end ? std::optional(out) : std::nullopt;
    };
    for (unsigned n = 0; n < 8; ++n) {
        const string_view full = general_names[n], two = full.substr(1);
        if (word == full) return Named{general_kind, n, 0, 3};
        if (word.size() == 3 && word[0] == 'e' && word.substr(1) == two) return Named{general_kind, n, 0, 2, true};
        if (word == two) return Named{general_kind, n, 0, 1};
        if (n < 4 && word.size() == 2 && word[0] == two[0] && (word[1] == 'l' || word[1] == 'h'))
            return Named{general_kind, n, word[1] == 'h', word[1] == 'h'};
        if (n >= 4 && word.size() == 3 && word.substr(0, 2) == two && word[2] == 'l')
            return Named{general_kind, n, 0, 0};
    }
    if (word.size() >= 2 && word[0] == 'r' && std::isdigit(static_cast<unsigned char>(word[1]))) {
        const auto last = word.back();
        const bool sized = last == 'd' || last == 'w' || last == 'b' || last == 'l';
        const auto n = number(word.substr(1, word.size() - 1 - sized));
        if (!n || *n < 8 || *n > 15) return std::nullopt;
        return Named{general_kind, *n, 0, last == 'd' ? 2u : last == 'w' ? 1u : sized ? 0u : 3u, last == 'd'};
    }
    if (word.size() >= 4 && word.substr(1, 2) == "mm" && string_view("xyz").find(word[0]) != string_view::npos) {
        const auto n = number(word.substr(3));
        if (!n || *n > 31) return std::nullopt;
        return Named{vector_kind, *n, 0, word[0] == 'x' ? 0u : 1u};
    }
    if (word.size() == 2 && word[0] == 'k' && word[1] >= '0' && word[1] <= '7')
        return Named{mask_kind, static_cast<unsigned>(word[1] - '0'), 0, 0};
    return std::nullopt;
}

void add(std::vector<Unit>& out, const Named& r, unsigned last) {
    if (r.kind == general_kind && r.number == rsp) return;  // never free for anything else
    for (unsigned part = r.first; part <= last; ++part) out.push_back({r.kind, r.number, part});
}
void add_all(std::vector<Unit>& out, std::initializer_list<unsigned> numbers) {
    for (const auto n : numbers) add(out, {general_kind, n, 0, 3}, 3);
}

struct Operand {
    std::string text;  ///< without decorations
    std::optional<Named> reg;
    bool memory = false, immediate = false, masked = false, zeroes = false;
    unsigned mask = 0;
};

/// Registers of "[rax+rbx*4+0x10]" and of "[rdi+zmm1*4]". False for a word that is not known.
bool add_address(std::vector<Unit>& out, string_view operand) {
    const auto open = operand.find('['), close = operand.find(']', open);
    if (open == string_view::npos || close == string_view::npos) return false;
    for (std::size_t at = open + 1; at < close;) {
        if (!std::isalpha(static_cast<unsigned char>(operand[at]))) {
            // "0x10" has a letter that begins no name.
            if (std::isdigit(static_cast<unsigned char>(operand[at])))
                while (at < close && std::isalnum(static_cast<unsigned char>(operand[at]))) ++at;
            else
                ++at;
            continue;
        }
        std::size_t end = at;
        while (end < close && std::isalnum(static_cast<unsigned char>(operand[end]))) ++end;
        const auto word = operand.substr(at, end - at);
        at = end;
        if (one_of(word, {"rip", "eip", "riz", "eiz", "fs", "gs", "ds", "es", "ss", "cs"})) continue;
        const auto reg = register_named(word);
        if (!reg) return false;
        add(out, *reg, reg->last);
    }
    return true;
}

std::optional<std::vector<Operand>> read_operands(const Instruction& i) {
    std::vector<Operand> out;
    for (auto& text : operands_of(i.operands)) {
        Operand o;
        text = lower(text);
        for (auto open = text.find('{'); open != std::string::npos; open = text.find('{')) {
            const auto close = text.find('}', open);
            if (close == std::string::npos) return std::nullopt;
            const auto inside = text.substr(open + 1, close - open - 1);
            if (inside == "z")
                o.zeroes = true;
            else if (inside.size() == 2 && inside[0] == 'k')
                o.masked = true, o.mask = static_cast<unsigned>(inside[1] - '0');
            text.erase(open, close - open + 1);
        }
        o.text = trim(text);
        if (o.text.empty()) continue;  // "{rn-sae}"
        o.memory = o.text.find('[') != std::string::npos || has_any(o.text, {" ptr ", "ds:0x", "fs:0x", "gs:0x"});
        o.reg = o.memory ? std::nullopt : register_named(o.text);
        o.immediate = !o.memory && !o.reg && (std::isdigit(static_cast<unsigned char>(o.text[0])) || o.text[0] == '-');
        if (!o.memory && !o.reg && !o.immediate) return std::nullopt;
        out.push_back(std::move(o));
    }
    return out;
}

bool in(string_view word, std::span<const string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}
bool begins(string_view word, std::span<const string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](string_view w) { return word.starts_with(w); });
}

// --- Families --------------------------------------------------------------------------------------------------------

enum class First { none, read, added_to, written };  ///< what becomes of the first operand

constexpr string_view general_written[]{
    "mov",  "movabs", "movzx", "movsx", "movsxd", "movbe", "movnti", "lea",  "popcnt", "lzcnt", "tzcnt", "shlx",
    "shrx", "sarx",   "rorx",  "andn",  "bextr",  "bzhi",  "blsr",   "blsi", "blsmsk", "pdep",  "pext",  "rdtsc_none"};
constexpr string_view general_added_to[]{"add",  "sub", "adc", "sbb", "and",   "or",  "xor", "inc",  "dec",  "neg",
                                         "not",  "shl", "shr", "sar", "sal",   "rol", "ror", "rcl",  "rcr",  "shld",
                                         "shrd", "bts", "btr", "btc", "bswap", "bsf", "bsr", "adcx", "adox", "crc32"};

/// SSE instructions that overwrite all 128 bits of a register, or a general register.
constexpr string_view sse_written[]{
    "movaps",   "movups",   "movapd",    "movupd",    "movdqa",   "movdqu",    "movntdqa",  "movntps",  "movntpd",
    "movntdq",  "lddqu",    "movd",      "movq",      "pshufd",   "pshuflw",   "pshufhw",   "movddup",  "movshdup",
    "movsldup", "pabsb",    "pabsw",     "pabsd",     "cvtdq2ps", "cvtps2dq",  "cvttps2dq", "cvtps2pd", "cvtpd2ps",
    "cvtdq2pd", "cvtpd2dq", "cvttpd2dq", "rcpps",     "rsqrtps",  "sqrtps",    "sqrtpd",    "roundps",  "roundpd",
    "pmovmskb", "movmskps", "movmskpd",  "cvttss2si", "cvtss2si", "cvttsd2si", "cvtsd2si",  "pextrb",   "pextrw",
    "pextrd",   "pextrq",   "extractps", "phminposuw"};
constexpr string_view sse_added_to[]{
    "addps",    "addpd",    "addss",    "addsd",    "subps",    "subpd",    "subss",  "subsd",    "mulps",
    "mulpd",    "mulss",    "mulsd",    "divps",    "divpd",    "divss",    "divsd",  "minps",    "minpd",
    "minss",    "minsd",    "maxps",    "maxpd",    "maxss",    "maxsd",    "andps",  "andpd",    "andnps",
    "andnpd",   "orps",     "orpd",     "xorps",    "xorpd",    "sqrtss",   "sqrtsd", "rcpss",    "rsqrtss",
    "roundss",  "roundsd",  "unpcklps", "unpckhps", "unpcklpd", "unpckhpd", "shufps", "shufpd",   "movlhps",
    "movhlps",  "movhps",   "movhpd",   "movlps",   "movlpd",   "haddps",   "haddpd", "hsubps",   "hsubpd",
    "addsubps", "addsubpd", "blendps",  "blendpd",  "insertps", "dpps",     "dppd",   "cvtss2sd", "cvtsd2ss",
    "cvtsi2ss", "cvtsi2sd", "cmpps",    "cmppd",    "cmpss",    "pinsrb",   "pinsrw", "pinsrd",   "pinsrq",
    "palignr",  "pshufb",   "pblendw"};
/// Of integers; "v" in front makes them AVX.
constexpr string_view packed_integer[]{"padd",   "psub",   "pmul",   "pmadd", "pand",  "por",   "pxor",   "pcmpeq",
                                       "pcmpgt", "pmax",   "pmin",   "pavg",  "psad",  "psll",  "psrl",   "psra",
                                       "packss", "packus", "punpck", "psign", "phadd", "phsub", "mpsadbw"};

/// AVX instructions that need what the first operand held.
bool avx_adds_to(string_view m) {
    return starts_with_any(
        m, {"vfmadd", "vfmsub", "vfnmadd", "vfnmsub", "vpmadd52", "vpdpb", "vpdpw", "vdpbf16", "vpermi2", "vpermt2",
            "vpternlog", "vfixupimm", "vpshldv", "vpshrdv", "vfmaddsub", "vfmsubadd", "vfcmadd", "vpmacs"});
}

/// Other AVX instructions of which the first operand is overwritten, by their beginnings.
bool avx_writes(string_view m) {
    return starts_with_any(
               m, {"vmov",      "vlddqu",    "vadd",       "vsub",        "vmul",       "vdiv",      "vmin",
                   "vmax",      "vand",      "vor",        "vxor",        "vsqrt",      "vrcp",      "vrsqrt",
                   "vround",    "vrndscale", "vgetexp",    "vgetmant",    "vscalef",    "vreduce",   "vrange",
                   "vunpck",    "vshuf",     "vperm",      "vblend",      "vbroadcast", "vinsert",   "vextract",
                   "vcvt",      "vcmp",      "vhadd",      "vhsub",       "vaddsub",    "vdpp",      "vpadd",
                   "vpsub",     "vpmul",     "vpmadd",     "vpand",       "vpor",       "vpxor",     "vpcmpeq",
                   "vpcmpgt",   "vpcmp",     "vpmax",      "vpmin",       "vpavg",      "vpsad",     "vpsll",
                   "vpsrl",     "vpsra",     "vpack",      "vpunpck",     "vpsign",     "vphadd",    "vphsub",
                   "vpalignr",  "vpshuf",    "vpblend",    "vpbroadcast", "vpabs",      "vpextr",    "vpinsr",
                   "vpmov",     "vperm",     "vptestm",    "vptestnm",    "vprol",      "vpror",     "valign",
                   "vplzcnt",   "vpopcnt",   "vpconflict", "vpcompress",  "vpexpand",   "vcompress", "vexpand",
                   "vdbpsadbw", "vpshld",    "vpshrd",     "vmpsadbw",    "vfpclass",   "vgf2p8",    "vpmultishift",
                   "vpmaskmov", "vmaskmov",  "vphminposuw"}) &&
           !starts_with_any(m, {"vpcmpestr", "vpcmpistr", "vmovdir"});
}

First family(string_view m) {
    if (one_of(m, {"cmp",      "test",     "bt",      "ucomiss",  "ucomisd",  "comiss",  "comisd",   "ptest",
                   "vptest",   "vtestps",  "vtestpd", "vucomiss", "vucomisd", "vcomiss", "vcomisd",  "vucomish",
                   "vcomish",  "push",     "ktestb",  "ktestw",   "ktestd",   "ktestq",  "kortestb", "kortestw",
                   "kortestd", "kortestq", "mul",     "div",      "idiv"}))
        return First::read;
    if (in(m, general_written) || in(m, sse_written) || starts_with_any(m, {"set", "pmovsx", "pmovzx"}) || m == "pop")
        return First::written;
    if (in(m, general_added_to) || in(m, sse_added_to) || starts_with_any(m, {"cmov"})) return First::added_to;
    if (m.starts_with("p") && !m.starts_with("pcmpestr") && !m.starts_with("pcmpistr") && begins(m, packed_integer))
        return First::added_to;
    if (avx_adds_to(m)) return First::added_to;
    if (avx_writes(m)) return First::written;
    if (m.starts_with("k") &&
        starts_with_any(m, {"kmov", "kand", "kor", "kxor", "kxnor", "knot", "kadd", "kunpck", "kshift"}))
        return First::written;
    return First::none;
}

/// Instructions that touch no register that is followed.
bool touches_none(string_view m) {
    return starts_with_any(m, {"nop", "endbr", "mfence", "lfence", "sfence", "pause", "ud2", "hlt", "int3", "cld"});
}

/// "xor eax, eax", "vpxor xmm0, xmm0, xmm0", "vpcmpeqd k1, ymm1, ymm1", "vpternlogd zmm0, zmm0, zmm0, 0xff": the result
/// does not depend on what the registers held.
bool needs_nothing(string_view m, const std::vector<Operand>& operands) {
    if (operands.size() < 2 || !operands[0].reg) return false;
    if (m.starts_with("vpternlog")) return one_of(operands.back().text, {"0xff", "255", "-1", "0x0", "0"});
    const bool clears =
        one_of(m, {"xor",      "sub",      "sbb",      "pxor",     "xorps",    "xorpd",    "psubb",  "psubw",
                   "psubd",    "psubq",    "pcmpeqb",  "pcmpeqw",  "pcmpeqd",  "pcmpeqq",  "vpxor",  "vpxord",
                   "vpxorq",   "vxorps",   "vxorpd",   "vpsubb",   "vpsubw",   "vpsubd",   "vpsubq", "vpcmpeqb",
                   "vpcmpeqw", "vpcmpeqd", "vpcmpeqq", "kxorb",    "kxorw",    "kxord",    "kxorq",  "kxnorb",
                   "kxnorw",   "kxnord",   "kxnorq",   "vpcmpgtb", "vpcmpgtw", "vpcmpgtd", "pcmpgtd"});
    if (!clears) return false;
    // Of two operands, source and destination are alike; of more, the sources.
    for (std::size_t k = operands.size() > 2 ? 2 : 1; k < operands.size(); ++k) {
        const auto& before = operands[k - 1];
        if (!operands[k].reg || !before.reg || operands[k].text != before.text) return false;
    }
    return true;
}

}  // namespace

bool is_same_x86_register(string_view one, string_view other) {
    const auto a = register_named(one), b = register_named(other);
    return a && b && a->kind == b->kind && a->number == b->number;
}

const std::span<const RegisterKind> x86_register_kinds(kinds);

std::optional<Roles> x86_roles(const Instruction& i) {
    const string_view m = i.mnemonic;
    Roles out;
    if (touches_none(m)) return out;
    if (i.operands.find("es:[") != std::string::npos) return std::nullopt;  // string instructions
    if (i.flow == Flow::stop || m.starts_with("j")) {
        if (i.flow == Flow::stop || !i.targets.empty()) return out;
        return std::nullopt;
    }
    if (m == "vzeroupper") {
        for (unsigned n = 0; n < 16; ++n) out.writes.push_back({vector_kind, n, 1});
        return out;
    }
    if (m == "leave") {
        add_all(out.reads, {rbp}), add_all(out.writes, {rbp});
        return out;
    }
    if (one_of(m, {"cdq", "cqo", "cwd"})) {
        add(out.reads, {general_kind, rax, 0, 3}, m == "cqo" ? 3 : m == "cdq" ? 2 : 1);
        add(out.writes, {general_kind, rdx, 0, 3}, m == "cwd" ? 1 : 3);
        return out;
    }
    if (one_of(m, {"cdqe", "cwde", "cbw"})) {
        add(out.reads, {general_kind, rax, 0, 3}, m == "cdqe" ? 2 : m == "cwde" ? 1 : 0);
        add(out.writes, {general_kind, rax, 0, 3}, m == "cbw" ? 1 : 3);
        return out;
    }
    const auto parsed = read_operands(i);
    if (!parsed) return std::nullopt;
    const auto& operands = *parsed;
    if (starts_with_any(m, {"prefetch", "clflush", "clwb", "cldemote"}))
        return operands.size() == 1 && add_address(out.reads, operands[0].text) ? std::optional(out) : std::nullopt;
    const bool gather = m.find("gather") != string_view::npos && m.find("pf") == string_view::npos,
               scatter = m.find("scatter") != string_view::npos && m.find("pf") == string_view::npos;
    auto first = gather ? First::added_to : scatter ? First::read : family(m);
    if (m == "imul")
        first = operands.size() == 1 ? First::read : operands.size() == 2 ? First::added_to : First::written;
    if (m == "mulx") first = First::written;
    const bool exchange = one_of(m, {"xchg", "xadd"}), compare_exchange = m == "cmpxchg";
    const bool compares_in_sse = m == "cmpsd" && operands.size() >= 2;  // without operands it compares strings
    const bool moves_one = one_of(m, {"movss", "movsd"}) && operands.size() == 2;
    if (exchange || compare_exchange || compares_in_sse) first = First::added_to;
    // From memory the rest is cleared, from a register it stays; to memory the register is read.
    if (moves_one) first = operands[0].memory || operands[1].memory ? First::written : First::added_to;
    if (first == First::none || operands.empty()) return std::nullopt;
    if (needs_nothing(m, operands)) first = First::written;
    const bool nothing = needs_nothing(m, operands);
    const bool legacy_vector = !m.starts_with("v");

    for (std::size_t k = 0; k < operands.size(); ++k) {
        const auto& o = operands[k];
        if (o.masked) {
            out.reads.push_back({mask_kind, o.mask, 0});
            if (gather || scatter) out.writes.push_back({mask_kind, o.mask, 0});  // cleared as it goes
        }
        if (o.memory && !add_address(out.reads, o.text) && o.text.find('[') != std::string::npos) return std::nullopt;
        if (!o.reg) continue;
        const bool writes = (k == 0 && (first == First::written || first == First::added_to)) ||
                            (k == 1 && (exchange || m == "mulx")) || (gather && k == 2);
        const bool keeps = o.masked && !o.zeroes && o.reg->kind == vector_kind;  // elements that the mask leaves out
        const bool reads = !nothing && !(k == 0 && first == First::written) && !(m == "mulx" && k < 2);
        if (reads) add(out.reads, *o.reg, o.reg->last);
        if (!writes) continue;
        auto last = o.reg->last;
        if (o.reg->clears_rest) last = 3;
        if (o.reg->kind == vector_kind) last = legacy_vector ? 0 : 1;
        add(keeps && k == 0 ? out.touches : out.writes, *o.reg, last);
    }
    if (one_of(m, {"mul", "div", "idiv"}) || (m == "imul" && operands.size() == 1)) {
        // Of a byte the result is in ax alone; else in both.
        const auto& o = operands[0];
        const bool byte = o.reg ? o.reg->first == o.reg->last && o.reg->first < 2 && o.reg->kind == general_kind
                                : o.text.starts_with("byte");
        const bool divides = m.ends_with("div");
        add_all(out.reads, {rax});
        if (divides && !byte) add_all(out.reads, {rdx});
        const bool wide = o.reg ? o.reg->last >= 2 : has_any(o.text, {"dword", "qword"});
        for (const unsigned n : {rax, rdx}) {
            if (n == rdx && byte) continue;
            add(out.writes, {general_kind, n, 0, 3}, wide ? 3 : 1);
        }
    }
    if (m == "mulx") add_all(out.reads, {rdx});
    if (compare_exchange) add_all(out.reads, {rax}), out.touches.insert(out.touches.end(), {{general_kind, rax, 0}});
    if (one_of(m, {"shl", "shr", "sar", "sal", "rol", "ror"}) && operands.size() == 2 && operands[1].text == "cl")
        add(out.reads, {general_kind, rcx, 0, 0}, 0);
    return out;
}

}  // namespace cllab::inspect
