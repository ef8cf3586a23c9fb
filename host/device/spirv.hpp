// The kernels of a SPIR-V module and of PTX, for drivers that tell nothing of their arguments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernel_signature.hpp"

namespace cllab::device {

struct SpirvModule {
    std::string fault;  ///< what keeps it from being a whole module for OpenCL, in words behind "it"; empty: nothing
    std::vector<model::KernelSignature> kernels;
};

/// By the module's entry points (SPIR-V 1.6, unified specification). An argument without a name is arg0, arg1, … by its
/// position. SPIR-V has no signed integers: their type is what the source called it, where the module says that, else
/// unsigned. Never throws.
SpirvModule read_spirv(std::string_view bytes);

/// Of SPIR-V and PTX, written as a text (core/kernel_text.hpp); nothing for anything else. PTX has no names of
/// arguments and no types behind pointers: they are arg0, arg1, … and void*.
std::optional<model::Introspection> kernels_of_program(const std::string& text);

}  // namespace cllab::device
