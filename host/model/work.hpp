// What a set-up declares, as its record keeps it.
#pragma once

#include <string>

#include "model/experiment.hpp"
#include "model/result.hpp"

namespace cllab::model {

const std::string& name_of(const Argument& argument);
/// Bytes of an argument's buffer or image.
double bytes_of(const Argument& argument);

/// What goes in and comes out: an operation begins with what the one before left there.
bool goes_in_and_out(const Argument& argument);

/// The steps of one operation: the one launch of all arguments where the set-up names none.
std::vector<Step> steps_of(const Setup& setup);

/// Bytes of local memory that a launch with these arguments brings; empty: all of them.
double local_bytes_of(const Setup& setup, const std::vector<std::string>& arguments = {});

/// Whether operations of a type that WorkInfo names are no FLOP.
inline bool is_whole_type(const std::string& type) { return type == "uint" || type == "ushort"; }

/// What it launches by its steps, in order. Without steps it is one launch, which is not among these.
std::vector<const Launch*> launches_of(const Setup& setup);

/// The declared work of one operation; with a Slope, that of one step.
WorkInfo work_of(const Setup& setup);

enum class Contents { left_out, taken };
/// A hash of everything a cell's launches receive: SHA-256 of the arguments without their names, and of the steps.
/// Equal code with other arguments, sizes, groups or data is another cell. Contents: of the buffers; where family,
/// point and seed say what they are, they need not be made for this.
std::string launch_identity(const Setup& setup, Contents contents);

}  // namespace cllab::model
