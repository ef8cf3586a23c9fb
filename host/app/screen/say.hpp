// The way to standard error: whatever a record, a device or a driver is called, what is said is one line.
#pragma once

#include <string_view>

namespace cllab::app {

/// Prints "cllab: " and the text as core's sentence() has it.
void say(std::string_view text);

}  // namespace cllab::app
