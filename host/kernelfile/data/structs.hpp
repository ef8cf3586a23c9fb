// Fields of structs: their layout, and how to find them in a text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernel_signature.hpp"

namespace cllab::kernelfile {

/// The layout of C: each field begins at a multiple of its size.
class Layout {
public:
    /// Adds a field. Returns its byte offset.
    std::size_t add(const model::ElementType& type) {
        align_ = std::max(align_, type.bytes);
        const auto begin = up_to(type.bytes);
        end_ = begin + type.bytes;
        return begin;
    }
    std::size_t bytes() const { return up_to(align_); }  ///< of all fields, with padding

private:
    std::size_t up_to(std::size_t multiple) const { return (end_ + multiple - 1) / multiple * multiple; }
    std::size_t end_ = 0, align_ = 1;
};

/// The fields of a declaration: "float3 a, b[2]" gives a, b[0] and b[1]. All begin at byte 0: see lay_out(). Empty if
/// the declaration has other types than built-in scalars and vectors, or arrays of 100 elements or more.
std::vector<model::Member> members_in(const std::string& declaration);

/// Sets the byte offset of each field.
void lay_out(std::vector<model::Member>& members);
std::size_t bytes_of(const std::vector<model::Member>& members);

/// The fields of the struct `type` that the text defines. The text must not have comments. Empty if there is no such
/// struct, or if members_in() does not know one of its fields.
std::vector<model::Member> members_of(std::string_view text, const std::string& type);

/// Sets the fields of struct parameters from the text, if their size is the one that the driver reports.
void name_members(model::Introspection& found, std::string_view text);

}  // namespace cllab::kernelfile
