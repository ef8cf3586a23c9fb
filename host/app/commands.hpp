// One function a command; each returns the exit status.
#pragma once

#include <string>

#include "app/commandline/options.hpp"
#include "app/screen/streams.hpp"

namespace cllab::app {

struct Watched;

/// Also `dump`. `watched`: of --watch.
int command_run(const Invocation& invocation, Watched* watched = nullptr);
int watch(const Invocation& invocation);           ///< of `run --watch`
int check_oclgrind(const Invocation& invocation);  ///< of `run --check oclgrind`
int command_profile(const Invocation& invocation);
int command_regress(const Invocation& invocation);
int command_why(const Invocation& invocation);
int command_tune(const Invocation& invocation);
int command_merge(const Invocation& invocation);
int command_report(const Invocation& invocation);
int command_devices(const Invocation& invocation);
int command_list(const Invocation& invocation);
int command_describe(const Invocation& invocation);
int command_isa(const Invocation& invocation);
int command_ncu(const Invocation& invocation);
int command_complete(const Invocation& invocation);  ///< for the completions of shells

}  // namespace cllab::app
