// Who else is asked what a kernel's results are, before it runs: a command of the user's, and another device.
#pragma once

#include <optional>
#include <vector>

#include "app/choose/choice.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::app {

/// The folder of what others say, while a command lives; none where nobody is asked.
class OpinionsFolder {
public:
    /// `options` gets the folder.
    explicit OpinionsFolder(CellOptions& options, bool asks_another = false) {
        if (options.reference_command.empty() && !asks_another) return;
        folder_.emplace();
        options.opinions = folder_->path().string();
    }

private:
    std::optional<inspect::TempFolder> folder_;
};

/// Asks --reference-command for the results of each of the cells, for the inputs of both verifications; nothing where
/// there is no such command, nor for inputs that it was asked about before. Throws run::Interrupted.
void ask_reference_command(const CellOptions& options, const Choice& choice, const std::vector<model::Group>& cells,
                           const model::Device& device, bool twice);

/// --check device=D: has each of the cells run on another device and on each of `devices`, with the same data, and
/// keeps how their results compare. Throws Error(usage) for a device that is none to compare with, Error(environment)
/// where there is none, run::Interrupted.
void check_elsewhere(const RunOptions& options, const Choice& choice, const std::vector<model::Group>& cells,
                     const std::vector<model::Device>& devices);

}  // namespace cllab::app
