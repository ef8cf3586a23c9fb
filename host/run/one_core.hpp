// Confines this process to one core, for a measurement without the memory hierarchy (Settings::one_core).
#pragma once

#include <sched.h>

namespace cllab::run {

/// Hardware threads of the calling thread's core that this process may use, at least 1.
unsigned threads_of_this_core();

/// While it exists, all threads of this process run on the hardware threads of one core. Threads that start later
/// inherit this.
class OneCore {
public:
    OneCore();
    ~OneCore();
    OneCore(const OneCore&) = delete;
    OneCore& operator=(const OneCore&) = delete;

private:
    cpu_set_t before_{};  ///< of the calling thread
};

}  // namespace cllab::run
