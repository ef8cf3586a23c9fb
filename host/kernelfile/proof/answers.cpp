#include "kernelfile/proof/answers.hpp"

#include <array>
#include <bit>
#include <functional>
#include <numeric>

#include "core/hash.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "kernelfile/data/data.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;

/// As numpy calls them, in the order of the enumeration: what is no number there is bits.
constexpr std::array kind_names{"int", "uint", "float", "uint", "uint", "uint"};
const char* kind_name(const ElementType& type) { return name_in(kind_names, type.kind); }

std::size_t bytes_of_one(const ElementType& type) { return type.is_opaque() ? 1 : type.lane_bytes; }

/// '<f4'
std::string descr_of(const ElementType& type) {
    const auto bytes = bytes_of_one(type);
    const char order = bytes == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
    return concat(order, *kind_name(type), bytes);
}

std::string type_name(const ElementType& type) { return concat(kind_name(type), 8 * bytes_of_one(type)); }

std::size_t elements(const std::vector<std::size_t>& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

}  // namespace

std::string key_of(const std::vector<ArgumentArray>& arguments) {
    std::string all;
    for (const auto& a : arguments) {
        all += a.name + (a.comes_out ? " out" : "") + npy_header(a);
        if (a.data) all += std::to_string(digest(*a.data));
    }
    return sha256_hex(all);
}

std::string npy_header(const ArgumentArray& argument) {
    auto text = concat("{'descr': '", descr_of(argument.element),
                       "', 'fortran_order': False, 'shape': ", shape_text(argument.shape), ", }");
    constexpr std::size_t before = 10, align = 64;  // the header's end is where the data begins, aligned
    text.resize((before + text.size() + 1 + align - 1) / align * align - before - 1, ' ');
    text += '\n';
    return concat(std::string("\x93NUMPY\x01\x00", 8), static_cast<char>(text.size() & 0xff),
                  static_cast<char>(text.size() >> 8), text);
}

model::Bytes read_result(const std::filesystem::path& path, const ArgumentArray& like, const std::string& whose) {
    const auto name = path.filename().string();
    const Place place{whose, 0, 0};
    auto array = read_npy(read_bytes(path, place), name, place);
    const bool fit =
        like.element.is_opaque() ? array.type == "uchar" || array.type == "char" : fits(array, like.element);
    if (!fit)
        refuse(place, "'", name, "' holds ", type_name(*model::builtin_type(array.type)), ", the kernel's '", like.name,
               "' ", type_name(like.element), "; save it with .astype('", type_name(like.element), "')");
    if (elements(array.shape) != elements(like.shape))
        refuse(place, "'", name, "' has the shape ", shape_text(array.shape), ", the kernel's '", like.name, "' ",
               shape_text(like.shape));
    return std::move(array.data);
}

}  // namespace cllab::kernelfile
