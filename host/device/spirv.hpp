// The kernels of SPIR-V and PTX modules, for drivers that do not report their arguments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernel_signature.hpp"

namespace cllab::device {

struct SpirvModule {
    std::string fault;  ///< the fault of the module, as words after "it"; empty: none
    std::vector<model::KernelSignature> kernels;
};

/// Reads the module's entry points (SPIR-V 1.6, unified specification). An argument without a name is arg0, arg1, …
/// by position. SPIR-V integers have no sign: the type is the source's if the module has it, else unsigned. Never
/// throws.
SpirvModule read_spirv(std::string_view bytes);

/// The kernels of SPIR-V or PTX that is given as a text (core/kernel_text.hpp); nullopt for other texts. PTX has no
/// argument names and no pointee types: arguments are arg0, arg1, …, and pointers are void*.
std::optional<model::Introspection> kernels_of_program(const std::string& text);

}  // namespace cllab::device
