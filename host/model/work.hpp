// The declared work of a setup, as stored in its record.
#pragma once

#include <string>

#include "model/experiment.hpp"
#include "model/result.hpp"

namespace cllab::model {

const std::string& name_of(const Argument& argument);
/// Bytes of an argument's buffer or image.
double bytes_of(const Argument& argument);

/// Whether an argument is input and output: an operation reads the results of the previous one.
bool goes_in_and_out(const Argument& argument);

/// The steps of one operation; without declared steps, one launch with all arguments.
std::vector<Step> steps_of(const Setup& setup);

/// Total bytes of the Local arguments with these names; no names: of all.
double local_bytes_of(const Setup& setup, const std::vector<std::string>& arguments = {});

/// Whether WorkInfo::type is an integer type, so that its operations are not FLOP.
inline bool is_whole_type(const std::string& type) { return type == "uint" || type == "ushort"; }

/// The launches among the declared steps, in order. Does not contain the single launch of a setup without steps.
std::vector<const Launch*> launches_of(const Setup& setup);

/// The declared work of one operation; with a Slope, that of one step.
WorkInfo work_of(const Setup& setup);

enum class Contents { left_out, taken };
/// A hash of everything that a cell's launches receive: SHA-256 of the arguments without their names, and of the steps.
/// Equal code with other arguments, sizes, groups or data is another cell; another tolerance is not. `contents`:
/// whether the hash includes the buffers' contents; they can be omitted if family, point and seed determine them.
std::string launch_identity(const Setup& setup, Contents contents);

}  // namespace cllab::model
