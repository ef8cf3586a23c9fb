// What PTX statements do with their virtual registers.
#include <algorithm>
#include <cctype>

#include "inspect/code/liveness.hpp"
#include "inspect/isa/rules.hpp"

namespace cllab::inspect::ptx {
namespace {

using std::string_view;

// The prefixes of LLVM's and NVIDIA's compilers.
constexpr RegisterKind kinds[]{{"32-bit", "%r"},    {"64-bit", "%rd"},   {"float", "%f"},
                               {"double", "%fd"},   {"16-bit", "%rs"},   {"half", "%h"},
                               {"2 x half", "%hh"}, {"predicate", "%p"}, {"128-bit", "%rq"}};

/// Registers that hold no value of the program: %tid.x, %clock64 …
constexpr string_view special =
    "%tid* %ntid* %ctaid* %nctaid* %envreg* %clock* %laneid* %warpid* %nwarpid* %smid* %nsmid* %gridid* %lanemask* "
    "%globaltimer* %SP* %pm* %dynamic* %total* %reserved* %is_* %cluster*";

constexpr RoleRule rules[]{
    {"bar*.red* barrier*.red*", "?"},
    {"st red bar barrier membar fence bra brx ret exit trap prefetch prefetchu sust sured discard applypriority "
     "nanosleep pmevent brkpt griddepcontrol",
     "r"},
    {"ld ldu atom tex tld4 suld txq suq mov cvt cvta add sub mul mad fma mul24 mad24 sad div rem abs neg min max popc "
     "clz bfind fns brev bfe bfi szext bmsk dp4a dp2a addc subc madc rcp sqrt rsqrt sin cos lg2 ex2 tanh set setp selp "
     "slct and or xor not cnot lop3 shf shl shr prmt shfl vote match redux testp copysign activemask elect mma "
     "createpolicy vadd vsub vabsdiff vmin vmax vshl vshr vmad vset",
     "wr"}};

/// The registers named in an operand: "%r3", "[%rd1+4]", "{%f1, %f2}", "%r1|%p2", "!%p1". Nothing for one that is not
/// known.
std::optional<std::vector<Unit>> registers_of(string_view operand) {
    std::vector<Unit> out;
    for (auto at = operand.find('%'); at != string_view::npos; at = operand.find('%', at + 1)) {
        std::size_t letters = at + 1;
        while (letters < operand.size() &&
               (std::isalpha(static_cast<unsigned char>(operand[letters])) || operand[letters] == '_'))
            ++letters;
        std::size_t end = letters;
        while (end < operand.size() && std::isdigit(static_cast<unsigned char>(operand[end]))) ++end;
        const auto prefix = operand.substr(at, letters - at);
        const auto kind =
            std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& k) { return prefix == k.prefix; });
        if (kind != std::end(kinds) && end > letters) {
            out.push_back(
                {static_cast<unsigned>(kind - std::begin(kinds)), static_cast<unsigned>(number_at(operand, letters))});
        } else if (!is_named(prefix, special)) {
            return std::nullopt;
        }
    }
    return out;
}

std::optional<Roles> roles(const Instruction& i) {
    const auto operands = operands_of(i.operands);
    const auto* rule = rule_of(rules, i.mnemonic, operands.size());
    const auto guard = registers_of(i.guard);
    if (!rule || !guard) return std::nullopt;
    Roles out;
    out.reads = *guard;
    const auto give = [&](std::size_t k, char letter, char) {
        const auto units = registers_of(operands[k]);
        if (units) add_units(out, *units, letter, i.guard.empty());
        return units.has_value();
    };
    return each_operand(*rule, operands.size(), give) ? std::optional(out) : std::nullopt;
}

}  // namespace
}  // namespace cllab::inspect::ptx

const cllab::inspect::RegisterRules cllab::inspect::ptx_registers{ptx::kinds, ptx::roles};
