// Converts the command line to a request.
#pragma once

#include "app/choose/choice.hpp"
#include "app/commandline/options.hpp"
#include "run/request.hpp"

namespace cllab::app {

/// The value of --tolerance; throws Error(usage).
std::optional<model::Tolerance> tolerance_of(const CellOptions& invocation);

/// The settings that all commands derive from the command line in the same way. The command adds dumps, files and how
/// to measure.
run::Settings settings_of(const CellOptions& invocation);

/// Families with C++ loops for --native.
std::vector<std::string> native_families();

/// The request of `cllab run`: cells, yardstick, input files and all settings. Throws Error(usage).
run::RunRequest request_of(const Choice& choice, const MeasureOptions& invocation);

/// Checks all points and reads the kernel texts before anything runs. Throws Error(usage) for an invalid point or an
/// unreadable text.
void check_points(const run::RunRequest& request, const model::Device& device);

}  // namespace cllab::app
