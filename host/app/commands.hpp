// One function a command; each returns the exit status.
#pragma once

#include <string>

#include "app/options.hpp"

namespace cllab::app {

int command_run(const Invocation& invocation);  ///< also `dump`
int command_profile(const Invocation& invocation);
int command_tune(const Invocation& invocation);
int command_merge(const Invocation& invocation);
int command_report(const Invocation& invocation);
int command_devices(const Invocation& invocation);
int command_list(const Invocation& invocation);
int command_describe(const Invocation& invocation);
int command_isa(const Invocation& invocation);

/// True when the stream is a terminal and NO_COLOR is not set.
bool wants_colour(int fd);
/// Columns of the terminal, 0 when it is none.
unsigned terminal_width(int fd);

}  // namespace cllab::app
