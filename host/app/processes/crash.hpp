// What is said when a driver or a kernel ends this process by a signal, and what ends with it.
#pragma once

#include <sys/types.h>

#include <string>

#include "core/descriptor.hpp"

namespace cllab::app {

/// From now on a crash prints what describe_crash() was told last in front of the signal's own end. A stack overflow in
/// this thread does too; in a driver's thread it cannot.
void catch_crashes();
/// "cllab: the process crashed `where`. `advice`", and likewise for SIGQUIT. Also takes back the handlers where a
/// driver has put its own in their place.
void describe_crash(const std::string& where, const std::string& advice);

/// Says "cllab: the process ended `where`. `advice`" when this process does not live as long as this object. A process
/// of its own says it: a driver that is being loaded (PoCL's LLVM) replaces the handlers of signals, and then aborts.
class EndWitness {
public:
    EndWitness(const std::string& where, const std::string& advice);
    ~EndWitness();
    static void dismiss();  ///< what ends the process is said already
    EndWitness(const EndWitness&) = delete;
    EndWitness& operator=(const EndWitness&) = delete;

private:
    Pipe pipe_;
    pid_t witness_ = -1;
};

}  // namespace cllab::app
