// Guesses what a kernel file does not state. Runs in a child process, because the simulator may crash.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "app/commandline/options.hpp"
#include "device/session.hpp"
#include "kernelfile/experiment.hpp"
#include "kernelfile/source.hpp"
#include "model/kernel_signature.hpp"

// The facts that a device reports about the builds of kernel files: kernels and arguments.
namespace cllab::model {
// The child process asks the driver and sends the facts as JSON to the parent, which must not call OpenCL.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ElementType, name, kind, lane_bytes, lanes, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Parameter, name, kind, type, is_const, dims, is_array, writes, reads_too, refusal)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelSignature, name, parameters, required_group)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Introspection, built, log, trouble, kernels)
}  // namespace cllab::model

namespace cllab::app {

struct AskedBuild {
    std::string text, options;
    bool includes_lab = false;                   ///< add the lab's definitions for the device to the options
    const kernelfile::Contents* read = nullptr;  ///< the files of its text; not sent to the child
    bool only_types = false;                     ///< its kernels are those of another build, perhaps with other types
};

/// The build's options on this device.
std::string options_on(const model::Device& device, const AskedBuild& build);

/// Returns the introspection of each build. Throws Error(environment).
using AskDevice = std::function<std::vector<model::Introspection>(const std::vector<AskedBuild>&)>;

/// For the process that calls OpenCL: asks this device.
std::vector<model::Introspection> introspect(device::Session& session, const std::vector<AskedBuild>& builds);

/// Asks the driver of the first selected device, in a child process. If that fails for a build, asks the other devices.
std::vector<model::Introspection> ask_in_child(const CellOptions& invocation, const std::vector<AskedBuild>& builds);

/// The guessed block of one file, for kernels with missing lines.
struct GuessedBlock {
    std::string file;
    std::set<std::string> kernels{};              ///< whose lines it has
    std::string text{};                           ///< the lines
    std::string how{};                            ///< "by Oclgrind at n=16, 32", "by the text, …"
    std::string sizes{};                          ///< "n=1Mi, width=1024"; empty: none is guessed
    std::map<std::string, std::string> unlike{};  ///< by kernel, if problems differ in size: the record's warning
    /// Kernels that cannot be guessed completely, each with a sentence that asks for the missing lines.
    std::vector<std::pair<std::string, std::string>> open{};

    std::string path() const;  ///< of the .cllab file in which a user may keep the block
};

/// Guesses for kernels with missing lines, and adds the guesses to the descriptions of the files. `builds`: as for
/// AskDevice. `compared`: by --vs; throws Error(usage) if the kernels would not process the same data.
std::vector<GuessedBlock> guess_what_lacks(kernelfile::KernelFiles& files, const std::vector<AskedBuild>& builds,
                                           const std::vector<kernelfile::KernelPattern>& wanted, bool compared);

}  // namespace cllab::app
