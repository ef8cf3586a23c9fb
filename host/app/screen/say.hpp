// The way to standard error: whatever a record, a device or a driver is called, what is said is one line.
#pragma once

#include <string>
#include <string_view>

namespace cllab::app {

/// Prints "cllab: " and the text as core's sentence() has it.
void say(std::string_view text);

/// What is being done, on one line of a terminal that the next one takes the place of; empty: clears it.
void say_doing(const std::string& doing);

}  // namespace cllab::app
