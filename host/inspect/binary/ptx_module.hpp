// What one kernel of a PTX program consists of.
#pragma once

#include <string>
#include <string_view>

namespace cllab::inspect {

/// The text of kernel `entry` with the module's directives and the functions and variables that it names, and those
/// that these name; without comments, blank lines and the numbers by which compilers tell the labels and local memory
/// of one function from another's. All of `text` where it has no such kernel.
std::string kernel_of_ptx(std::string_view text, const std::string& entry);

}  // namespace cllab::inspect
