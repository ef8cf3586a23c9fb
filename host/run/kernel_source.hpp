// The text and options a cell is built from: exactly the same for `run`, `dump` and the offline compilers of `isa`.
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
    std::string text;    ///< the headers that are there, then the family's text; a #line directive before each
    std::string origin;  ///< "embedded", or the file's path
};

/// Headers in cl/include that precede a variant's text, in this order, each if it exists: the common one, the one
/// shared with variants of other families, the family's, and the variant's own, which may contain its kernel.
std::vector<std::string> header_names(const model::Experiment& experiment, const model::Variant& variant);
/// What variants of the family share. Throws Error(usage) when --cl-dir lacks the file.
KernelSource kernel_source(const std::string& family, const std::filesystem::path& cl_dir);
/// A user's own text as it is behind a #line directive; else that of the variant. Throws as above.
KernelSource kernel_source(const model::Experiment& experiment, const model::Variant& variant,
                           const std::filesystem::path& cl_dir);

/// What the device lacks of what the variant needs, in words of Variant::needs: "the device has no
/// double precision"; nothing when every need is met.
std::optional<std::string> missing_need(const model::Variant& variant, const model::Device& device);
/// Throws Unsupported where the device lacks the local memory that a built kernel has by itself and as arguments.
void require_local_memory(const model::Device& device, std::uint64_t of_kernel, std::uint64_t of_arguments);

/// What a cell of this setup is built from.
struct BuildText {
    std::string text, options, origin;
};
BuildText build_text(const model::Cell& cell, const model::Setup& setup, const model::Device& device,
                     const Settings& settings);
/// The same of Setup::reference, which the cell has.
BuildText reference_text(const model::Cell& cell, const model::Setup& setup, const model::Device& device,
                         const Settings& settings);

/// A driver's log with "<kernel>:59", which counts all lines of `text`, as "pitch.cl:4", which goes by its #line
/// directives (quirk nvidia-log-lines). Anything else stays as it is.
std::string name_lines(const std::string& log, const std::string& text);
/// The line of a build log that says what is wrong: the first with "error" in it, else the first.
std::string first_error(const std::string& log);

/// "-cl-std=CL1.2 -DKERNEL=pitch_wide -DPITCH_WIDE …": variant's, point's and device's defines, a promised group size,
/// the device's own options, then the user's.
std::string build_options(const model::Cell& cell, const model::Setup& setup, const model::Device& device,
                          const std::string& users_own);

}  // namespace cllab::run
