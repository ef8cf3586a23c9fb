// What is said when a driver or a kernel ends this process by a signal, and what ends with it.
#pragma once

#include <string>

namespace cllab::app {

/// From now on a crash prints the sentence below in front of the signal's own end. A stack overflow in this thread does
/// too; in a driver's thread it cannot.
void catch_crashes();
/// "cllab: the process crashed `where`. `advice`", and likewise for SIGQUIT. Also takes back the handlers where a
/// driver has put its own in their place.
void describe_crash(const std::string& where, const std::string& advice);

}  // namespace cllab::app
