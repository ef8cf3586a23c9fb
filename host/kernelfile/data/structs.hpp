// Fields of structs: where they lie, and which ones a text gives them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernel_signature.hpp"

namespace cllab::kernelfile {

/// As C lays them out: each at a multiple of its size.
class Layout {
public:
    /// Where the next field begins.
    std::size_t add(const model::ElementType& type) {
        align_ = std::max(align_, type.bytes);
        const auto begin = up_to(type.bytes);
        end_ = begin + type.bytes;
        return begin;
    }
    std::size_t bytes() const { return up_to(align_); }  ///< of all fields

private:
    std::size_t up_to(std::size_t multiple) const { return (end_ + multiple - 1) / multiple * multiple; }
    std::size_t end_ = 0, align_ = 1;
};

/// "float3 a, b[2]" as a, b[0] and b[1], each where it lies in a struct of them alone; none for anything but scalars,
/// vectors and short arrays of them.
std::vector<model::Member> members_in(const std::string& declaration);

/// One after the other.
void lay_out(std::vector<model::Member>& members);
std::size_t bytes_of(const std::vector<model::Member>& members);

/// Of the struct that the text, which has no comments, defines by this name; none where it has other fields than
/// members_in() knows.
std::vector<model::Member> members_of(std::string_view text, const std::string& type);

/// Gives the structs that the kernels take their fields where those of the text make as many bytes as the driver says.
void name_members(model::Introspection& found, std::string_view text);

}  // namespace cllab::kernelfile
