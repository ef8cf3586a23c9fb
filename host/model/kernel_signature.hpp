// What a compiler says of a kernel's parameters: plain data, found by device/introspect.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cllab::model {

/// A type of OpenCL C as it lies in memory.
struct ElementType {
    enum class Kind { signed_integer, unsigned_integer, floating, opaque };  ///< opaque: a struct, or unknown
    std::string name;
    Kind kind = Kind::opaque;
    std::size_t lane_bytes = 0;  ///< of one element of a vector; of opaque types the whole
    std::size_t lanes = 1;       ///< 3-vectors have 3
    std::size_t bytes = 0;       ///< of one in an array; 0: unknown

    bool is_opaque() const { return kind == Kind::opaque; }
    bool is_floating() const { return kind == Kind::floating; }
    bool is_integer() const { return kind == Kind::signed_integer || kind == Kind::unsigned_integer; }
    bool operator==(const ElementType&) const = default;
};

/// "float4", "uchar", "unsigned int": nothing for a name that the language does not define.
std::optional<ElementType> builtin_type(const std::string& name);

struct Parameter {
    enum class Kind { global, constant, local, value, image, sampler, refused };
    std::string name;
    Kind kind = Kind::value;
    ElementType type;       ///< of a value, or what a pointer points to
    bool is_const = false;  ///< the kernel promises not to write through the pointer
    unsigned dims = 0;      ///< sizes of an image
    bool is_array = false;  ///< the last of them counts layers
    bool writes = false;    ///< write_only image
    std::string refusal{};  ///< Kind::refused: what it is, e.g. "a pipe"

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
