// Results in any order, for example where an atomic counter selects the slot. Their rows are sorted before they are
// compared.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernelfile/data/data.hpp"
#include "kernelfile/proof/relation.hpp"

namespace cllab::kernelfile {
namespace {

using model::Bytes;
using model::ElementType;

/// One array of a buffer. Element i of each array belongs to row i.
struct Column {
    const ElementType* type;
    std::byte* data;

    std::byte* at(std::size_t row) const { return data + row * type->bytes; }
};

/// An integer that sorts lanes of the type by value. NaNs are beyond all numbers on the side of their sign.
std::uint64_t rank(const std::byte* lane, const ElementType& type) {
    const auto bits = unsigned_lane(lane, type.lane_bytes);
    const auto sign = std::uint64_t{1} << (8 * type.lane_bytes - 1);
    if (type.is_floating()) return bits & sign ? (sign << 1) - 1 - bits : bits | sign;
    return type.kind == ElementType::Kind::signed_integer ? bits ^ sign : bits;
}

int compared(const std::byte* a, const std::byte* b, const ElementType& type) {
    for (const auto& member : type.members)
        if (const int c = compared(a + member.begin, b + member.begin, member.type)) return c;
    if (!type.members.empty()) return 0;
    if (type.is_opaque()) return std::memcmp(a, b, type.bytes);
    for (std::size_t at = 0; at < type.lanes * type.lane_bytes; at += type.lane_bytes)
        if (const auto x = rank(a + at, type), y = rank(b + at, type); x != y) return x < y ? -1 : 1;
    return 0;
}

void sort_rows(const RelationLine& line, const std::map<std::string, ElementType>& elements, const std::string& suffix,
               std::map<std::string, Bytes, std::less<>>& contents) {
    std::vector<Column> columns;
    std::size_t rows = 0;
    for (std::size_t i = 0; i < line.from.size(); ++i) {
        const auto found = contents.find(line.from[i] + suffix);
        if (found == contents.end()) return;
        const auto& type = elements.at(line.from[i]);
        const auto before = rows;
        rows = found->second.size() / type.bytes / line.arrays[i];
        if (i > 0 && rows != before) return;
        for (std::size_t array = 0; array < line.arrays[i]; ++array)
            columns.push_back({&type, found->second.data() + array * rows * type.bytes});
    }
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        for (const auto& column : columns)
            if (const int c = compared(column.at(a), column.at(b), *column.type)) return c < 0;
        return false;
    });
    for (const auto& column : columns) {
        const Bytes before(column.data, column.at(rows));
        for (std::size_t row = 0; row < rows; ++row)
            std::memcpy(column.at(row), before.data() + order[row] * column.type->bytes, column.type->bytes);
    }
}

}  // namespace

void put_in_order(const std::vector<RelationLine>& lines, const std::map<std::string, ElementType>& elements,
                  const std::string& suffix, std::map<std::string, Bytes, std::less<>>& contents) {
    for (const auto& line : lines)
        if (line.kind == RelationLine::Kind::any_order) sort_rows(line, elements, suffix, contents);
}

}  // namespace cllab::kernelfile
