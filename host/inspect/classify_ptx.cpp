#include <algorithm>
#include <charconv>

#include "core/text.hpp"
#include "inspect/code.hpp"

namespace cllab::inspect {
namespace {

using std::string_view;

bool one_of(string_view word, std::initializer_list<string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Bits of "f32", "u64", "b8", "bf16"; 0 for anything else.
unsigned type_bits(string_view part) {
    const auto digit = part.find_first_of("0123456789");
    if (digit == string_view::npos || digit == 0 || !one_of(part.substr(0, digit), {"f", "u", "s", "b", "bf", "tf"}))
        return 0;
    unsigned bits = 0;
    std::from_chars(part.data() + digit, part.data() + part.size(), bits);
    return bits;
}

struct Opcode {
    std::string root;
    std::vector<std::string> parts;
    string_view type;  ///< first type part: of the result for cvt, the only one elsewhere
    unsigned bits = 0;
    bool has(string_view part) const { return std::find(parts.begin(), parts.end(), part) != parts.end(); }
};

Class memory_class(const Opcode& op) {
    std::string space = "generic";
    for (const auto& part : op.parts)
        if (one_of(string_view(part).substr(0, part.find(':')), {"global", "shared", "local", "const", "param"}))
            space = part.substr(0, part.find(':'));
    if (space == "const") space = "constant";
    unsigned lanes = 1;
    for (const auto& part : op.parts)
        if (part == "v2" || part == "v4" || part == "v8") lanes = static_cast<unsigned>(part[1] - '0');
    const std::string what = op.root == "ld" || op.root == "ldu" ? "load" : op.root == "st" ? "store" : "atomic";
    return {space == "param" ? "parameter" : "memory", {space + "_" + what + "_" + std::to_string(lanes * op.bits)}};
}

std::string integer_class(const Opcode& op) { return op.bits == 64 || op.has("wide") ? "address" : "integer"; }

std::string by_type(const Opcode& op) {
    if (op.type.starts_with("f64")) return "fp64";
    if (op.type.starts_with("f32")) return "fp32";
    if (op.type.starts_with("f16") || op.type.starts_with("bf16")) return "fp16";
    return integer_class(op);
}

}  // namespace

Class classify_ptx(const Instruction& i) {
    Opcode op;
    op.parts = split(i.mnemonic, '.');
    op.root = op.parts.empty() ? std::string{} : op.parts.front();
    for (const auto& part : op.parts)
        if (const unsigned bits = type_bits(part)) {
            op.type = part, op.bits = bits;
            break;
        }
    if (one_of(op.root, {"ld", "ldu", "st", "atom", "red"})) return memory_class(op);
    if (one_of(op.root, {"tex", "tld4", "suld", "txq", "suq"})) return {"memory", {"image_load"}};
    if (one_of(op.root, {"sust", "sured"})) return {"memory", {"image_store"}};
    if (one_of(op.root, {"cp", "prefetch", "prefetchu", "discard", "applypriority"})) return {"other"};
    if (one_of(op.root, {"bra", "brx", "ret", "exit", "trap", "call"})) return {"branch"};
    if (one_of(op.root, {"bar", "barrier", "membar", "fence", "mbarrier"})) return {"barrier"};
    if (one_of(op.root, {"mma", "wmma", "wgmma", "ldmatrix", "stmatrix"})) return {"matrix"};
    if (one_of(op.root, {"shfl", "vote", "match", "activemask", "redux", "elect"})) return {"warp"};
    if (op.root == "mov") return {"move"};
    if (op.root == "cvta") return {"address"};
    if (op.root == "cvt") {
        // Widening an index to 64 bits is work for an address; every other conversion is one.
        const bool widens = (op.type == "s64" || op.type == "u64") &&
                            (op.has("s32") || op.has("u32") || op.has("s16") || op.has("u16"));
        return {widens ? "address" : "convert"};
    }
    if (one_of(op.root, {"sin", "cos", "ex2", "lg2", "rcp", "rsqrt", "sqrt", "tanh"}) && op.has("approx") &&
        op.type == "f32")
        return {"special"};
    if (op.bits != 0) return {by_type(op)};
    if (one_of(op.root, {"and", "or", "xor", "not", "setp", "selp", "prmt", "lop3", "shf", "popc", "clz"}))
        return {"integer"};
    return {"other"};
}

}  // namespace cllab::inspect
