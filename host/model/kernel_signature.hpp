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
    /// opaque: a struct, or unknown. bfloat16 and nibbles are no types of the language; its integers may contain them.
    enum class Kind { signed_integer, unsigned_integer, floating, opaque, bfloat16, nibbles };
    std::string name;
    Kind kind = Kind::opaque;
    std::size_t lane_bytes = 0;   ///< of one element of a vector; of opaque types the whole
    std::size_t lanes = 1;        ///< 3-vectors have 3
    std::size_t bytes = 0;        ///< of one in an array; 0: unknown
    std::vector<Member> members;  ///< of a struct with known fields; `{}` would need the type, which follows

    bool is_opaque() const { return kind == Kind::opaque; }
    bool is_floating() const { return kind == Kind::floating || kind == Kind::bfloat16; }
    bool is_packed() const { return kind == Kind::nibbles; }  ///< two to a byte, the first in its lower half
    std::size_t bytes_of(std::size_t count) const { return is_packed() ? count / 2 : count * bytes; }
    std::size_t count_in(std::size_t size_bytes) const { return is_packed() ? size_bytes * 2 : size_bytes / bytes; }
    bool is_integer() const { return kind == Kind::signed_integer || kind == Kind::unsigned_integer; }
    /// False for padding, of a 3-vector and of a struct with known fields.
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

/// "float4", "uchar", "unsigned int": nothing for a name that the language does not define.
std::optional<ElementType> builtin_type(const std::string& name);

/// A type of data: a built-in one, "bf16" or "nibble".
std::optional<ElementType> data_type(const std::string& name);

struct Parameter {
    enum class Kind { global, constant, local, value, image, sampler, refused };
    std::string name;
    Kind kind = Kind::value;
    ElementType type;        ///< of a value, or what a pointer points to; of an image its name
    bool is_const = false;   ///< the kernel promises not to write through the pointer
    unsigned dims = 0;       ///< sizes of an image
    bool is_array = false;   ///< the last of them counts layers
    bool writes = false;     ///< write_only or read_write image
    bool reads_too = false;  ///< read_write image
    std::string refusal{};   ///< Kind::refused: what it is, e.g. "a pipe"

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
    std::string log;      ///< the driver's words when it did not build
    std::string trouble;  ///< built, but the driver tells nothing of the arguments: why
    std::vector<KernelSignature> kernels;
};

}  // namespace cllab::model
