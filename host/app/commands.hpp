// One function a command; each returns the exit status.
#pragma once

#include <string>

#include "app/options.hpp"
#include "app/streams.hpp"

namespace cllab::app {

int command_run(const Invocation& invocation);  ///< also `dump`
int command_profile(const Invocation& invocation);
int command_regress(const Invocation& invocation);
int command_tune(const Invocation& invocation);
int command_merge(const Invocation& invocation);
int command_report(const Invocation& invocation);
int command_devices(const Invocation& invocation);
int command_list(const Invocation& invocation);
int command_describe(const Invocation& invocation);
int command_isa(const Invocation& invocation);

}  // namespace cllab::app
