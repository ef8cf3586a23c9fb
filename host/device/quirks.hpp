// Faults of drivers. Each entry names the place that handles it: code that calls has_quirk() with the entry's name, a
// function of this file, or a rule for every device. Differences that are not faults (extensions, tools, widths,
// simulated times) come from model::Implementation.
#pragma once

#include <string>
#include <vector>

#include "model/device.hpp"

namespace cllab::device {

/// An entry of quirks.txt.
struct Quirk {
    std::string name;
    std::string driver;    ///< model::name() of the implementation
    std::string versions;  ///< versions in which the fault was seen, in words
    std::string fault;     ///< what the driver does wrong
    /// "where_asked": code elsewhere calls has_quirk(). "here": the function of this file in `handling` knows the
    /// affected drivers. "everywhere": the files in `handling` handle it on every device. "nowhere": cllab can only
    /// report it.
    std::string dealt;
    std::string handling;   ///< what is withheld or worked around, and where
    std::string seen;       ///< where and when the fault was seen
    std::string gone_when;  ///< a command that shows that the entry can be removed
};

const std::vector<Quirk>& quirks();
std::vector<const Quirk*> quirks_of(const model::Device& device);
bool has_quirk(const model::Device& device, const std::string& name);

/// Build options that only this implementation knows, e.g. -cl-nv-verbose. Empty for others, because PoCL and other
/// drivers reject unknown options.
std::string extra_build_options(const model::Device& device);

/// The build option that makes a driver keep the names and types of a kernel's arguments.
inline const std::string option_of_arguments = "-cl-kernel-arg-info";
/// An extra option for building a user's kernel. PoCL caches builds on disk. With the same options it reuses the build
/// made for introspection, which has the same machine code. A separate build would take half a second.
std::string option_of_users_kernels(const model::Device& device);

/// The build option that makes the driver keep the source line of each instruction; empty if none is known.
std::string line_option(const model::Device& device);

/// The text's name for the kernel or argument that this driver calls `name`.
std::string written_name(const model::Device& device, const std::string& name);
/// The driver's name for the text's kernel `written`, among the program's `kernels`.
std::string given_name(const model::Device& device, const std::string& written,
                       const std::vector<std::string>& kernels);

/// The LAB_* defines of cl/include/lab.h for this device.
std::vector<std::string> device_defines(const model::Device& device);

}  // namespace cllab::device
