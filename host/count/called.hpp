// The operation that a call to a built-in OpenCL function executes, by the function's name.
#pragma once

#include <string>

#include "model/counts.hpp"

namespace cllab::count {

/// "_Z10native_sinDv4_f" becomes "native_sin"; an unmangled name is unchanged.
std::string plain_name(const std::string& mangled);

struct Called {
    enum class Is {
        operation,  ///< `kind` and `function` are set
        dot,        ///< product over all elements of its first argument
        barrier,
        image,    ///< access of an image
        nothing,  ///< needs no device instruction
        other,    ///< an instruction that is not a counted operation, such as get_global_id or vload4
    };
    Is is = Is::other;
    model::Operation kind = model::Operation::integer_add;
    std::string function{};
};

/// `floats`: the function takes or returns a floating-point value.
Called called(const std::string& mangled, bool floats);

}  // namespace cllab::count
