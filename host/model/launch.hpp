// A hash of everything a cell's launches receive. Equal code with other arguments, sizes, groups or data is another
// cell.
#pragma once

#include <string>

#include "model/experiment.hpp"

namespace cllab::model {

enum class Contents { left_out, taken };
/// SHA-256 of the arguments without their names, and of the steps. Contents: of the buffers; where family, point and
/// seed say what they are, they need not be made for this.
std::string launch_identity(const Setup& setup, Contents contents);

}  // namespace cllab::model
