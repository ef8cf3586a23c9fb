// Faults of drivers, one entry each, with the place that handles it: code that calls has_quirk() with the entry's name,
// a function of this file, or a rule for every device. Differences that are no faults (extensions, tools, widths,
// simulated times) come from model::Implementation.
#pragma once

#include <string>
#include <vector>

#include "model/device.hpp"

namespace cllab::device {

/// An entry of quirks.txt.
struct Quirk {
    std::string name;
    std::string driver;    ///< as model::name() calls the implementation
    std::string versions;  ///< which were seen, in words
    std::string fault;     ///< what it does
    /// "where_asked": code elsewhere asks has_quirk(). "here": a function of this file, which `handling` names, knows
    /// the drivers that have it. "everywhere": on every device, in the files that `handling` names. "nowhere": nothing
    /// can be done about it but to show it.
    std::string dealt;
    std::string handling;   ///< what is withheld or worked around, and where
    std::string seen;       ///< where and when
    std::string gone_when;  ///< the command that shows the entry can go
};

const std::vector<Quirk>& quirks();
std::vector<const Quirk*> quirks_of(const model::Device& device);
bool has_quirk(const model::Device& device, const std::string& name);

/// Build options that only this implementation understands, e.g. -cl-nv-verbose; empty elsewhere, because PoCL and
/// others refuse unknown options.
std::string extra_build_options(const model::Device& device);

/// The build option with which a driver keeps the names and types of a kernel's arguments.
inline const std::string option_of_arguments = "-cl-kernel-arg-info";
/// What a user's kernel is built with besides: PoCL keeps its builds on disk, and with the same options it takes the
/// one that was asked for the arguments. The machine code is the same, and a build of its own costs half a second.
std::string option_of_users_kernels(const model::Device& device);

/// The build option with which the driver keeps the source line of each instruction; empty where none is known.
std::string line_option(const model::Device& device);

/// The name in the text of the kernel or argument that this driver calls `name`.
std::string written_name(const model::Device& device, const std::string& name);
/// The driver's name for the text's kernel `written`, found among the program's kernels.
std::string given_name(const model::Device& device, const std::string& written,
                       const std::vector<std::string>& kernels);

/// The LAB_* defines of cl/include/lab.h for this device.
std::vector<std::string> device_defines(const model::Device& device);

}  // namespace cllab::device
