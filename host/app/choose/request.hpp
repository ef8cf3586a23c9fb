// From the command line to what is run.
#pragma once

#include "app/choose/choice.hpp"
#include "app/commandline/options.hpp"
#include "run/request.hpp"

namespace cllab::app {

/// What --tolerance says; throws Error(usage).
std::optional<model::Tolerance> tolerance_of(const CellOptions& invocation);

/// What every command's cells have from the command line alike; dumps, files and how to measure are the command's own.
run::Settings settings_of(const CellOptions& invocation);

/// Families with loops in C++ for --native.
std::vector<std::string> native_families();

/// What `cllab run` would run: cells, yardstick, input files and all settings. Throws Error(usage).
run::RunRequest request_of(const Choice& choice, const MeasureOptions& invocation);

/// A point that makes no sense, or a kernel's text that cannot be read, is the command line's fault, said before the
/// long part: Error(usage).
void check_points(const run::RunRequest& request, const model::Device& device);

}  // namespace cllab::app
