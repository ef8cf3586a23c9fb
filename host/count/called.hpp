// What a call of one of OpenCL's functions does, by its name.
#pragma once

#include <string>

#include "model/counts.hpp"

namespace cllab::count {

/// "_Z10native_sinDv4_f" is "native_sin"; a name that is not mangled is itself.
std::string plain_name(const std::string& mangled);

struct Called {
    enum class Is {
        operation,  ///< kind and function say which
        dot,        ///< of all elements of its first argument
        barrier,
        image,    ///< access of an image
        nothing,  ///< no instruction of a device
        other,    ///< an instruction that is no operation, as get_global_id and vload4
    };
    Is is = Is::other;
    model::Operation kind = model::Operation::integer_add;
    std::string function{};
};

/// `floats`: whether it takes or gives a floating-point value.
Called called(const std::string& mangled, bool floats);

}  // namespace cllab::count
