// What a device is asked of the builds of kernel files: their kernels and arguments.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commandline/options.hpp"
#include "device/session.hpp"
#include "kernelfile/source.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::model {
// Facts cross from the child that asked the driver to the parent that must not.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ElementType, name, kind, lane_bytes, lanes, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Parameter, name, kind, type, is_const, dims, is_array, writes, reads_too, refusal)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelSignature, name, parameters, required_group)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Introspection, built, log, trouble, kernels)
}  // namespace cllab::model

namespace cllab::app {

struct AskedBuild {
    std::string text, options;
    bool includes_lab = false;                   ///< what the lab defines for the device is among the options
    const kernelfile::Contents* read = nullptr;  ///< what its text was made of; stays in this process
    bool only_types = false;                     ///< its kernels are those of another build, perhaps with other types
};

/// Its options on this device.
std::string options_on(const model::Device& device, const AskedBuild& build);

/// What is said of each of the builds. Throws Error(environment).
using AskDevice = std::function<std::vector<model::Introspection>(const std::vector<AskedBuild>&)>;

/// For a child that asks: compilers print what they say in the log too.
void drop_stderr();

/// In the process that calls OpenCL: what this device says.
std::vector<model::Introspection> introspect(device::Session& session, const std::vector<AskedBuild>& builds);

/// In a child process: what the driver of the first selected device says; that of another device where that one says
/// nothing.
std::vector<model::Introspection> ask_in_child(const CellOptions& invocation, const std::vector<AskedBuild>& builds);

}  // namespace cllab::app
