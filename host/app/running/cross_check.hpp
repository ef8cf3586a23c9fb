// Independent results for a kernel: from a command of the user, from another device, or from Oclgrind, which also
// detects races and accesses outside of buffers.
#pragma once

#include <vector>

#include "app/choose/choice.hpp"

namespace cllab::app {

/// Runs --reference-command for each cell, with the inputs of both verifications. Does nothing without such a command,
/// or for inputs that already have an answer. Throws run::Interrupted.
void ask_reference_command(const CellOptions& options, const Choice& choice, const std::vector<model::Group>& cells,
                           const model::Device& device, bool twice);

/// --check device=D: runs each cell on another device and on each of `devices`, with the same data, and keeps how the
/// results compare. Throws Error(usage) if D is not exactly one other device, Error(environment) if no other device
/// exists, run::Interrupted.
void cross_check(const RunOptions& options, const Choice& choice, const std::vector<model::Group>& cells,
                 const std::vector<model::Device>& devices);

}  // namespace cllab::app
