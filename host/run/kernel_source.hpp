// The text and options from which a cell is built. They are exactly the same for `run`, `dump` and the offline
// compilers of `isa`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/plan.hpp"
#include "run/request.hpp"

namespace cllab::run {

struct KernelSource {
    std::string text;    ///< existing headers, then the family's text, with a #line directive before each
    std::string origin;  ///< "embedded", or the file's path
};

/// Headers in cl/include that precede a variant's text if they exist, in this order: the common one, the one shared
/// with variants of other families, the family's, and the variant's own. The last may contain the kernel.
std::vector<std::string> header_names(const model::Experiment& experiment, const model::Variant& variant);
/// The text that all variants of the family share. Throws Error(usage) if --cl-dir lacks the file.
KernelSource kernel_source(const std::string& family, const std::filesystem::path& cl_dir);
/// A user's text unchanged after a #line directive, else the variant's text. Throws as above.
KernelSource kernel_source(const model::Experiment& experiment, const model::Variant& variant,
                           const std::filesystem::path& cl_dir);

/// Says which of Variant::needs the device lacks: "the device has no double precision". nullopt if it lacks nothing.
std::optional<std::string> missing_need(const model::Variant& variant, const model::Device& device);
/// Throws Unsupported if the device has less local memory than the built kernel declares and gets as arguments.
void require_local_memory(const model::Device& device, std::uint64_t of_kernel, std::uint64_t of_arguments);

/// What a cell is built from.
struct BuildText {
    std::string text, options, origin;
};
BuildText build_text(const model::Cell& cell, const model::Setup& setup, const model::Device& device,
                     const Settings& settings);
/// The same for Setup::reference, which must be set.
BuildText reference_text(const model::Cell& cell, const model::Setup& setup, const model::Device& device,
                         const Settings& settings);

/// Replaces "<kernel>:59" (quirk nvidia-log-lines) or Oclgrind's "input.cl:59", which count all lines of `text`, by
/// "pitch.cl:4", which follows the #line directives. The rest of the driver's log stays unchanged.
std::string name_lines(const std::string& log, const std::string& text);
/// The line of a build log that tells what is wrong: the first with "error" in it, else the first that is no warning or
/// note.
std::string first_error(const std::string& log);
/// The errors of a build log, each text once, and the number of those beyond five. If it has none, first_error().
std::string distinct_errors(const std::string& log);
/// The number of errors in a build log.
std::size_t errors_in(const std::string& log);
/// A line of a file that a build log names; empty if it is unknown.
using SourceLine = std::function<std::string(const std::string& file, std::size_t line)>;
/// The first 20 lines or so of a build log. An error is followed by its line of source with a caret, which some drivers
/// omit.
std::string first_errors(const std::string& log, const SourceLine& source_line);

/// "-cl-std=CL1.2 -DKERNEL=pitch_wide -DPITCH_WIDE …": the defines of the variant and the point, a promised
/// work-group size, the device's defines and options, then the user's and the cell's options.
std::string build_options(const model::Cell& cell, const model::Setup& setup, const model::Device& device,
                          const std::string& users_own);

}  // namespace cllab::run
