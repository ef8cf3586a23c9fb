// What x86 instructions do with registers (Intel's manual, volume 2, and AMD's, volumes 3 and 4).
//
// al and ah can be written alone, and so can ax, while eax clears what is above it. Of a vector register, SSE leaves
// what is above 128 bits; AVX clears it.
#include <cctype>
#include <map>

#include "core/text.hpp"
#include "inspect/code/liveness.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/isa/rules.hpp"

namespace cllab::inspect::x86 {
namespace {

using std::string_view;

constexpr unsigned general_kind = 0, vector_kind = 1, mask_kind = 2;
constexpr const char* general_names[]{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
constexpr unsigned rax = 0, rdx = 2, rsp = 4;
constexpr RegisterKind kinds[]{{"general", "", false, general_names}, {"vector", "zmm"}, {"mask", "k"}};

/// Parts of a general register: bits 0 to 7, 8 to 15, 16 to 31, 32 to 63.
struct Named {
    unsigned kind = 0, number = 0, first = 0, last = 0;  ///< parts [first, last]
    bool clears_rest = false;                            ///< written, the parts behind it are zero
};

std::map<std::string, Named, std::less<>> all_registers() {
    std::map<std::string, Named, std::less<>> out;
    for (unsigned n = 0; n < 16; ++n) {
        const std::string full = general_names[n], two = full.substr(1), letter = two.substr(0, 1);
        const bool numbered = n >= 8;
        out[full] = {general_kind, n, 0, 3};
        out[numbered ? full + "d" : "e" + two] = {general_kind, n, 0, 2, true};
        out[numbered ? full + "w" : two] = {general_kind, n, 0, 1};
        out[numbered ? full + "b" : n < 4 ? letter + "l" : two + "l"] = {general_kind, n, 0, 0};
        if (numbered) out[full + "l"] = {general_kind, n, 0, 0};
        if (n < 4) out[letter + "h"] = {general_kind, n, 1, 1};
    }
    for (unsigned n = 0; n < 32; ++n)
        for (const char* width : {"x", "y", "z"})
            out[width + ("mm" + std::to_string(n))] = {vector_kind, n, 0, *width == 'x' ? 0u : 1u};
    for (unsigned n = 0; n < 8; ++n) out["k" + std::to_string(n)] = {mask_kind, n, 0, 0};
    return out;
}

std::optional<Named> register_named(string_view word) {
    static const auto all = all_registers();
    const auto found = all.find(word);
    return found == all.end() ? std::nullopt : std::optional(found->second);
}

void add(std::vector<Unit>& out, const Named& r, unsigned last) {
    if (r.kind == general_kind && r.number == rsp) return;  // never free for anything else
    for (unsigned part = r.first; part <= last; ++part) out.push_back({r.kind, r.number, part});
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
        if (is_named(word, "rip eip riz eiz fs gs ds es ss cs")) continue;
        const auto reg = register_named(word);
        if (!reg) return false;
        add(out, *reg, reg->last);
    }
    return true;
}

std::optional<std::vector<Operand>> read_operands(const std::vector<std::string>& texts) {
    std::vector<Operand> out;
    for (auto text : texts) {
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

// SSE leaves what is above 128 bits of a register.
constexpr RoleRule rules[]{
    {"nop* endbr* mfence* lfence* sfence* pause* ud2* hlt* int3* cld*", ""},
    {"leave", "", "1", 0, "rbp", "rbp"},
    {"cdq", "", "1", 0, "eax", "rdx"},
    {"cqo", "", "1", 0, "rax", "rdx"},
    {"cwd", "", "1", 0, "ax", "dx"},
    {"cdqe", "", "1", 0, "eax", "rax"},
    {"cwde", "", "1", 0, "ax", "rax"},
    {"cbw", "", "1", 0, "al", "ax"},
    {"prefetch* clflush* clwb*", "r"},
    {"*gatherpf* *scatterpf*", "?"},
    {"*gather*", "mrm"},
    {"*scatter*", "r"},
    {"imul", "wr", "1", 3},
    {"imul", "mr", "1", 2},
    {"imul mul div idiv", "r"},
    {"mulx", "wwr", "1", 0, "rdx"},
    {"xchg xadd", "mm"},
    {"cmpxchg", "mr", "1", 0, "rax"},
    {"cmpsd", "mr", "1", 2},        // without operands it compares strings
    {"movss movsd", "wr", "1", 2},  // between registers the rest stays
    {"cmp test bt ucomiss ucomisd comiss comisd ptest vptest vtestps vtestpd vucomiss vucomisd vcomiss vcomisd "
     "vucomish vcomish push ktestb ktestw ktestd ktestq kortestb kortestw kortestd kortestq",
     "r"},
    {"mov movabs movzx movsx movsxd movbe movnti lea popcnt lzcnt tzcnt shlx shrx sarx rorx andn bextr bzhi blsr blsi "
     "blsmsk pdep pext set* pmovsx* pmovzx* pop",
     "wr"},
    {"movaps movups movapd movupd movdqa movdqu movntdqa movntps movntpd movntdq lddqu movd movq pshufd pshuflw "
     "pshufhw movddup movshdup movsldup pabsb pabsw pabsd cvtdq2ps cvtps2dq cvttps2dq cvtps2pd cvtpd2ps cvtdq2pd "
     "cvtpd2dq cvttpd2dq rcpps rsqrtps sqrtps sqrtpd roundps roundpd pmovmskb movmskps movmskpd cvttss2si cvtss2si "
     "cvttsd2si cvtsd2si pextrb pextrw pextrd pextrq extractps phminposuw",
     "wr"},
    {"add sub adc sbb and or xor inc dec neg not shl shr sar sal rol ror rcl rcr shld shrd bts btr btc bswap bsf bsr "
     "adcx adox crc32 cmov*",
     "mr"},
    {"addps addpd addss addsd subps subpd subss subsd mulps mulpd mulss mulsd divps divpd divss divsd minps minpd "
     "minss minsd maxps maxpd maxss maxsd andps andpd andnps andnpd orps orpd xorps xorpd sqrtss sqrtsd rcpss rsqrtss "
     "roundss roundsd unpcklps unpckhps unpcklpd unpckhpd shufps shufpd movlhps movhlps movhps movhpd movlps movlpd "
     "haddps haddpd hsubps hsubpd addsubps addsubpd blendps blendpd insertps dpps dppd cvtss2sd cvtsd2ss cvtsi2ss "
     "cvtsi2sd cmpps cmppd cmpss pinsrb pinsrw pinsrd pinsrq palignr pshufb pblendw",
     "mr"},
    {"pcmpestr* pcmpistr*", "?"},
    {"padd* psub* pmul* pmadd* pand* por* pxor* pcmpeq* pcmpgt* pmax* pmin* pavg* psad* psll* psrl* psra* packss* "
     "packus* punpck* psign* phadd* phsub*",
     "mr"},
    // AVX.
    {"vfmadd* vfmsub* vfnmadd* vfnmsub* vpmadd52* vpdpb* vpdpw* vdpbf16* vpermi2* vpermt2* vpternlog* vfixupimm* "
     "vpshldv* vpshrdv* vfcmadd* vpmacs*",
     "mr"},
    {"vpcmpestr* vpcmpistr* vmovdir*", "?"},
    {"vmov* vlddqu* vadd* vsub* vmul* vdiv* vmin* vmax* vand* vor* vxor* vsqrt* vrcp* vrsqrt* vround* vrndscale* "
     "vgetexp* vgetmant* vscalef* vreduce* vrange* vunpck* vshuf* vperm* vblend* vbroadcast* vinsert* vextract* vcvt* "
     "vcmp* vhadd* vhsub* vaddsub* vdpp* vpadd* vpsub* vpmul* vpmadd* vpand* vpor* vpxor* vpcmp* "
     "vpmax* vpmin* vpavg* vpsad* vpsll* vpsrl* vpsra* vpack* vpunpck* vpsign* vphadd* vphsub* vpalignr* vpshuf* "
     "vpblend* vpbroadcast* vpabs* vpextr* vpinsr* vpmov* vptestm* vptestnm* vprol* vpror* valign* vplzcnt* vpopcnt* "
     "vpconflict* vpcompress* vpexpand* vcompress* vexpand* vdbpsadbw* vpshld* vpshrd* vmpsadbw* vfpclass* vgf2p8* "
     "vpmultishift* vpmaskmov* vmaskmov* vphminposuw*",
     "wr"},
    {"kmov* kand* kor* kxor* kxnor* knot* kadd* kunpck* kshift*", "wr"}};

/// "xor eax, eax", "vpxor xmm0, xmm0, xmm0", "vpcmpeqd k1, ymm1, ymm1", "vpternlogd zmm0, zmm0, zmm0, 0xff": the result
/// does not depend on what the registers held.
bool needs_nothing(string_view m, const std::vector<Operand>& operands) {
    if (operands.size() < 2 || !operands[0].reg) return false;
    if (m.starts_with("vpternlog")) return is_named(operands.back().text, "0xff 255 -1 0x0 0");
    const bool clears = is_named(
        m,
        "xor sub sbb pxor xorps xorpd psubb psubw psubd psubq pcmpeqb pcmpeqw pcmpeqd pcmpeqq vpxor vpxord vpxorq "
        "vxorps vxorpd vpsubb vpsubw vpsubd vpsubq vpcmpeqb vpcmpeqw vpcmpeqd vpcmpeqq kxorb kxorw kxord kxorq kxnorb "
        "kxnorw kxnord kxnorq pcmpgtb pcmpgtw pcmpgtd pcmpgtq vpcmpgtb vpcmpgtw vpcmpgtd vpcmpgtq");
    if (!clears) return false;
    // Of two operands, source and destination are alike; of more, the sources.
    for (std::size_t k = operands.size() > 2 ? 2 : 1; k < operands.size(); ++k) {
        const auto& before = operands[k - 1];
        if (!operands[k].reg || !before.reg || operands[k].text != before.text) return false;
    }
    return true;
}

/// A multiplication or division of rax and rdx by its one operand: of a byte the result is in ax alone, else in both.
void add_wide_result(Roles& out, string_view m, const Operand& by) {
    const bool byte = by.reg ? by.reg->last < 2 && by.reg->first == by.reg->last && by.reg->kind == general_kind
                             : by.text.starts_with("byte");
    const bool wide = by.reg ? by.reg->last >= 2 : is_named(by.text, "*dword* *qword*");
    for (const unsigned n : {rax, rdx}) {
        if (n == rdx && byte) continue;
        if (n == rax || m.ends_with("div")) add(out.reads, {general_kind, n, 0, 3}, 3);
        add(out.writes, {general_kind, n, 0, 3}, wide ? 3 : 1);
    }
}

std::optional<Roles> roles(const Instruction& i) {
    const string_view m = i.mnemonic;
    Roles out;
    if (i.flow == Flow::stop || m.starts_with("j"))
        return i.flow == Flow::stop || !i.targets.empty() ? std::optional(out) : std::nullopt;
    if (m == "vzeroupper") {
        for (unsigned n = 0; n < 16; ++n) out.writes.push_back({vector_kind, n, 1});
        return out;
    }
    const auto texts = operands_of(i.operands);
    const auto* found = rule_of(rules, m, texts.size());
    if (!found || (texts.empty() && !found->operands.empty())) return std::nullopt;
    auto rule = *found;
    for (const auto& [word, letter] : {std::pair(rule.reads, 'r'), std::pair(rule.writes, 'w')})
        if (const auto reg = register_named(word))
            add(letter == 'r' ? out.reads : out.writes, *reg, letter == 'w' && reg->clears_rest ? 3 : reg->last);
    if (rule.operands.empty()) return out;
    if (i.operands.find("es:[") != std::string::npos) return std::nullopt;  // string instructions
    const auto operands = read_operands(texts);
    if (!operands || operands->empty()) return std::nullopt;
    const auto& first = operands->front();
    // From memory the rest is cleared, from a register it stays; to memory the register is read.
    if (is_named(m, "movss movsd") && !first.memory && !operands->back().memory) rule.operands = "mr";
    if (needs_nothing(m, *operands)) rule.operands = "w-";
    // Elements that the mask leaves out stay.
    const bool whole = !first.masked || first.zeroes || !first.reg || first.reg->kind != vector_kind;
    const auto give = [&](std::size_t k, char letter, char) {
        const auto& o = (*operands)[k];
        if (o.masked) {
            out.reads.push_back({mask_kind, o.mask, 0});
            if (is_named(m, "*gather* *scatter*")) out.writes.push_back({mask_kind, o.mask, 0});  // cleared as it goes
        }
        if (o.memory && !add_address(out.reads, o.text) && o.text.find('[') != std::string::npos) return false;
        if (!o.reg) return true;
        if (letter == 'r' || letter == 'm') add(out.reads, *o.reg, o.reg->last);
        if (letter != 'w' && letter != 'm') return true;
        auto last = o.reg->clears_rest ? 3 : o.reg->last;
        if (o.reg->kind == vector_kind) last = m.starts_with("v") ? 1 : 0;
        add(whole ? out.writes : out.touches, *o.reg, last);
        return true;
    };
    if (!each_operand(rule, operands->size(), give)) return std::nullopt;
    if (is_named(m, "mul div idiv") || (m == "imul" && operands->size() == 1)) add_wide_result(out, m, first);
    if (m == "cmpxchg") out.touches.push_back({general_kind, rax, 0});
    return out;
}

}  // namespace
}  // namespace cllab::inspect::x86

namespace cllab::inspect {

const RegisterRules x86_registers{x86::kinds, x86::roles};

bool is_same_register(std::string_view one, std::string_view other) {
    const auto a = x86::register_named(one), b = x86::register_named(other);
    return a && b && a->kind == b->kind && a->number == b->number;
}

}  // namespace cllab::inspect
