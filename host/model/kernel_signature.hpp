// A kernel's parameters as reported by its compiler: plain data, filled by device/program.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cllab::model {

struct Member;

/// A type of OpenCL C, by its layout in memory.
struct ElementType {
    /// opaque: a struct, or unknown. bfloat16 and nibbles are not types of OpenCL C; data of these types is stored in
    /// its integers.
    enum class Kind { signed_integer, unsigned_integer, floating, opaque, bfloat16, nibbles };
    std::string name;
    Kind kind = Kind::opaque;
    std::size_t lane_bytes = 0;   ///< bytes of one element of a vector; of an opaque type, of the whole
    std::size_t lanes = 1;        ///< 3-vectors have 3
    std::size_t bytes = 0;        ///< bytes of one array element; 0: unknown
    std::vector<Member> members;  ///< fields of a struct, if known; no `{}`, because Member is incomplete here

    bool is_opaque() const { return kind == Kind::opaque; }
    bool is_floating() const { return kind == Kind::floating || kind == Kind::bfloat16; }
    bool is_packed() const { return kind == Kind::nibbles; }  ///< two per byte, the first in the lower half
    std::size_t bytes_of(std::size_t count) const { return is_packed() ? count / 2 : count * bytes; }
    std::size_t count_in(std::size_t size_bytes) const { return is_packed() ? size_bytes * 2 : size_bytes / bytes; }
    bool is_integer() const { return kind == Kind::signed_integer || kind == Kind::unsigned_integer; }
    /// Whether the byte holds data. False for the padding of a 3-vector or of a struct with known fields.
    bool holds(std::size_t byte) const;
    bool operator==(const ElementType&) const;
};

/// A field of a struct, or an element of an array in it: "x[1]".
struct Member {
    std::string name;
    std::size_t begin = 0;
    ElementType type;
    bool operator==(const Member&) const = default;
};

/// The type of a name such as "float4", "uchar", "unsigned int"; nullopt if OpenCL C does not define the name.
std::optional<ElementType> builtin_type(const std::string& name);

/// The type of data: a built-in type, "bf16" or "nibble".
std::optional<ElementType> data_type(const std::string& name);

struct Parameter {
    enum class Kind { global, constant, local, value, image, sampler, refused };
    std::string name;
    Kind kind = Kind::value;
    ElementType type;        ///< type of a value, or of the pointer's target; for an image, its name
    bool is_const = false;   ///< the kernel promises not to write through the pointer
    unsigned dims = 0;       ///< number of dimensions of an image
    bool is_array = false;   ///< the last dimension counts layers
    bool writes = false;     ///< write_only or read_write image
    bool reads_too = false;  ///< read_write image
    std::string refusal{};   ///< Kind::refused: the kind of parameter, e.g. "a pipe"

    bool is_depth_image() const { return kind == Kind::image && type.name.find("_depth_") != std::string::npos; }
    bool is_buffer_image() const { return kind == Kind::image && type.name == "image1d_buffer_t"; }
    bool is_buffer() const { return kind == Kind::global || kind == Kind::constant; }
    bool is_written() const { return kind == Kind::image ? writes : kind == Kind::global && !is_const; }
};

struct KernelSignature {
    std::string name;
    std::vector<Parameter> parameters;
    std::array<std::size_t, 3> required_group{0, 0, 0};  ///< reqd_work_group_size; zeros: none
};

/// One text built with one set of options.
struct Introspection {
    bool built = false;
    std::string log;  ///< the driver's output if the build failed
    /// Why the driver does not describe the arguments, although the build succeeded; else empty.
    std::string trouble;
    std::vector<KernelSignature> kernels;
};

}  // namespace cllab::model
