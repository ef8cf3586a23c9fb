// What PTX statements do with their virtual registers: the first operand is written, the others are read, but for those
// named here.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "inspect/isa/isa.hpp"
#include "inspect/isa/register_roles.hpp"

namespace cllab::inspect {
namespace {

using std::string_view;

// The prefixes of LLVM's and NVIDIA's compilers.
constexpr RegisterKind kinds[]{{"32-bit", "%r"},    {"64-bit", "%rd"},   {"float", "%f"},
                               {"double", "%fd"},   {"16-bit", "%rs"},   {"half", "%h"},
                               {"2 x half", "%hh"}, {"predicate", "%p"}, {"128-bit", "%rq"}};

/// Adds the registers named in the operand: "%r3", "[%rd1+4]", "{%f1, %f2}", "%r1|%p2", "!%p1". False for one that is
/// not known.
bool add(std::vector<Unit>& out, string_view operand) {
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
            unsigned number = 0;
            std::from_chars(operand.data() + letters, operand.data() + end, number);
            out.push_back({static_cast<unsigned>(kind - std::begin(kinds)), number});
        } else if (!starts_with_any(
                       prefix, {"%tid",    "%ntid",    "%ctaid",   "%nctaid", "%envreg",   "%clock",    "%laneid",
                                "%warpid", "%nwarpid", "%smid",    "%nsmid",  "%gridid",   "%lanemask", "%globaltimer",
                                "%SP",     "%pm",      "%dynamic", "%total",  "%reserved", "%is_",      "%cluster"})) {
            return false;
        }
    }
    return true;
}

}  // namespace

const std::span<const RegisterKind> ptx_register_kinds(kinds);

std::optional<Roles> ptx_roles(const Instruction& i) {
    Roles out;
    if (!add(out.reads, i.guard)) return std::nullopt;
    const string_view root = string_view(i.mnemonic).substr(0, i.mnemonic.find('.'));
    const auto operands = operands_of(i.operands);
    if (one_of(root, {"bar", "barrier"}) && i.mnemonic.find(".red") != std::string::npos) return std::nullopt;
    if (one_of(root, {"wmma", "wgmma", "ldmatrix", "stmatrix", "mbarrier", "cp", "tcgen05", "setmaxnreg", "st_async",
                      "mapa", "getctarank", "isspacep", "istypep"}))
        return std::nullopt;
    const bool writes_none =
        one_of(root, {"st",    "red",     "bar",           "barrier",   "membar",   "fence",     "bra",
                      "brx",   "ret",     "exit",          "trap",      "prefetch", "prefetchu", "sust",
                      "sured", "discard", "applypriority", "nanosleep", "pmevent",  "brkpt",     "griddepcontrol"});
    const bool writes_first =
        one_of(root, {"ld",    "ldu",      "atom",  "tex",      "tld4",       "suld",  "txq",  "suq",          "mov",
                      "cvt",   "cvta",     "add",   "sub",      "mul",        "mad",   "fma",  "mul24",        "mad24",
                      "sad",   "div",      "rem",   "abs",      "neg",        "min",   "max",  "popc",         "clz",
                      "bfind", "fns",      "brev",  "bfe",      "bfi",        "szext", "bmsk", "dp4a",         "dp2a",
                      "addc",  "subc",     "madc",  "rcp",      "sqrt",       "rsqrt", "sin",  "cos",          "lg2",
                      "ex2",   "tanh",     "set",   "setp",     "selp",       "slct",  "and",  "or",           "xor",
                      "not",   "cnot",     "lop3",  "shf",      "shl",        "shr",   "prmt", "shfl",         "vote",
                      "match", "redux",    "testp", "copysign", "activemask", "elect", "mma",  "createpolicy", "vadd",
                      "vsub",  "vabsdiff", "vmin",  "vmax",     "vshl",       "vshr",  "vmad", "vset"});
    if (!writes_none && !writes_first) return std::nullopt;
    for (std::size_t k = 0; k < operands.size(); ++k) {
        const bool written = writes_first && k == 0;
        if (!add(!written ? out.reads : i.guard.empty() ? out.writes : out.touches, operands[k])) return std::nullopt;
    }
    return out;
}

}  // namespace cllab::inspect
