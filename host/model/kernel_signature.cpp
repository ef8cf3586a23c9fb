#include "model/kernel_signature.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cllab::model {

bool ElementType::holds(std::size_t byte) const {
    if (members.empty()) return lanes != 3 || byte < lanes * lane_bytes;
    return std::ranges::any_of(members, [&](const auto& m) {
        return byte >= m.begin && byte < m.begin + m.type.bytes && m.type.holds(byte - m.begin);
    });
}

bool ElementType::operator==(const ElementType& other) const {
    const auto all = [](const ElementType& t) {
        return std::tie(t.name, t.kind, t.lane_bytes, t.lanes, t.bytes, t.members);
    };
    return all(*this) == all(other);
}

std::optional<ElementType> builtin_type(const std::string& name) {
    using Kind = ElementType::Kind;
    struct Scalar {
        const char* name;
        Kind kind;
        std::size_t bytes;
    };
    static const Scalar scalars[] = {
        {"char", Kind::signed_integer, 1},  {"uchar", Kind::unsigned_integer, 1},
        {"short", Kind::signed_integer, 2}, {"ushort", Kind::unsigned_integer, 2},
        {"int", Kind::signed_integer, 4},   {"uint", Kind::unsigned_integer, 4},
        {"long", Kind::signed_integer, 8},  {"ulong", Kind::unsigned_integer, 8},
        {"half", Kind::floating, 2},        {"float", Kind::floating, 4},
        {"double", Kind::floating, 8},
    };
    static const std::pair<const char*, const char*> spellings[] = {
        {"unsigned char", "uchar"}, {"unsigned short", "ushort"}, {"unsigned int", "uint"}, {"unsigned", "uint"},
        {"unsigned long", "ulong"}, {"signed char", "char"},      {"size_t", "ulong"},      {"ptrdiff_t", "long"},
    };
    std::string plain = name;
    for (const auto& [from, to] : spellings)
        if (plain == from) plain = to;
    for (const auto& scalar : scalars) {
        const std::string stem = scalar.name;
        if (plain.compare(0, stem.size(), stem) != 0) continue;
        const auto suffix = plain.substr(stem.size());
        if (suffix.empty()) return ElementType{name, scalar.kind, scalar.bytes, 1, scalar.bytes};
        for (const std::size_t lanes : {2, 3, 4, 8, 16}) {
            if (suffix != std::to_string(lanes)) continue;
            return ElementType{name, scalar.kind, scalar.bytes, lanes, scalar.bytes * (lanes == 3 ? 4 : lanes)};
        }
    }
    return std::nullopt;
}

std::optional<ElementType> data_type(const std::string& name) {
    if (name == "bf16") return ElementType{name, ElementType::Kind::bfloat16, 2, 1, 2};
    if (name == "nibble") return ElementType{name, ElementType::Kind::nibbles, 1, 1, 1};
    return builtin_type(name);
}

}  // namespace cllab::model
