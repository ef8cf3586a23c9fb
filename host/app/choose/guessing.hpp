// Guesses of what a kernel file leaves out, made beside the process: the simulator that they come from may crash.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "app/commandline/options.hpp"
#include "device/session.hpp"
#include "kernelfile/experiment.hpp"
#include "kernelfile/source.hpp"
#include "model/kernel_signature.hpp"

// What a device is asked of the builds of kernel files: their kernels and arguments.
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

/// In the process that calls OpenCL: what this device says.
std::vector<model::Introspection> introspect(device::Session& session, const std::vector<AskedBuild>& builds);

/// In a child process: what the driver of the first selected device says; that of another device where that one says
/// nothing.
std::vector<model::Introspection> ask_in_child(const CellOptions& invocation, const std::vector<AskedBuild>& builds);

/// The block of one file, made for the kernels that lack something.
struct GuessedBlock {
    std::string file;
    std::set<std::string> kernels{};  ///< that it is about
    std::string text{};               ///< its lines
    std::string how{};                ///< "by Oclgrind at n=16, 32", "by the text, …"
    /// Kernels of which something cannot be guessed, with a sentence that asks for it.
    std::vector<std::pair<std::string, std::string>> open{};

    std::string path() const;  ///< of the file in which a user may keep it
};

/// Describes the files by what is guessed for the kernels that lack something. `builds`: as a device is asked.
/// `compared`: by --vs; throws Error(usage) where kernels would not work on the same data.
std::vector<GuessedBlock> guess_what_lacks(kernelfile::KernelFiles& files, const std::vector<AskedBuild>& builds,
                                           const std::vector<kernelfile::Wanted>& wanted, bool compared);

}  // namespace cllab::app
