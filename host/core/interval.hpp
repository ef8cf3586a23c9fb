// An interval around a value, for people.
#pragma once

#include <string>

namespace cllab {

/// In percent of the value: "±1.2", or "-5.0/+82" where one side is more than twice the other. Empty where there is
/// none.
std::string format_interval(double value, double low, double high);

}  // namespace cllab
