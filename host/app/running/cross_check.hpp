// Who else is asked what a kernel's results are: a command of the user's, another device, and Oclgrind, which looks for
// races and accesses outside of buffers too.
#pragma once

#include <vector>

#include "app/choose/choice.hpp"

namespace cllab::app {

/// Asks --reference-command for the results of each of the cells, for the inputs of both verifications; nothing where
/// there is no such command, nor for inputs that it was asked about before. Throws run::Interrupted.
void ask_reference_command(const CellOptions& options, const Choice& choice, const std::vector<model::Group>& cells,
                           const model::Device& device, bool twice);

/// --check device=D: has each of the cells run on another device and on each of `devices`, with the same data, and
/// keeps how their results compare. Throws Error(usage) for a device that is none to compare with, Error(environment)
/// where there is none, run::Interrupted.
void cross_check(const RunOptions& options, const Choice& choice, const std::vector<model::Group>& cells,
                 const std::vector<model::Device>& devices);

}  // namespace cllab::app
