// Parameters of kernels that no compiler has seen.
#pragma once

#include <string>

#include "model/kernel_signature.hpp"

namespace cllab::test {

/// `type`: a built-in one, or the name of another.
inline model::Parameter parameter(const std::string& name, model::Parameter::Kind kind, const std::string& type,
                                  bool is_const = false) {
    model::Parameter out;
    out.name = name;
    out.kind = kind;
    out.type = model::builtin_type(type).value_or(model::ElementType{type});
    out.is_const = is_const;
    return out;
}

}  // namespace cllab::test
