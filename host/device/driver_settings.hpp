// Settings that drivers read from the environment when they load: the cache of compiled kernels, and the cores of their
// threads.
#pragma once

#include <map>
#include <string>

namespace cllab::device {

/// Makes NVIDIA's driver cache compiled code in a new folder that only this process uses. Call it before the process,
/// also a child process, calls OpenCL. Builds then have a log, which a build from an old cache lacks. Without any
/// cache, a context takes 1.0 to 1.6 s longer (`phases` of a record). Does nothing if the user has set
/// CUDA_CACHE_DISABLE.
void use_own_cache();

/// The same with one folder for all processes that need no build log. A kernel that one of them compiled takes the
/// others 2 ms instead of 65 ms (H200, a kernel of 30 lines).
void use_shared_cache();

/// Threads of this machine that run or are runnable, including this one; 1 if the system does not tell.
int threads_that_run();

/// Makes PoCL keep each of its threads on a core of its own (POCL_AFFINITY). Call it before the process calls OpenCL.
/// Otherwise Linux may run two of the threads on one core while another core is idle, for a launch or for a second.
/// muladd took 28 us pinned and 34 to 45 us otherwise; one stream of L3 took 49 us and 97 us (PoCL on two idle cores;
/// repeat with POCL_AFFINITY=0 and 1). Next to a busy process threads should move: pinned, the interval of a comparison
/// was twice as wide. Does nothing if other threads run now (`running`), or if the user has set this variable or the
/// number of threads. Does nothing either if this process may not use all cores, because PoCL counts cores from the
/// first one.
void pin_threads(int (*running)() = threads_that_run);

/// Makes `libraries` the only drivers for this process and its children, and sets `variables` for them. Call it before
/// the process calls OpenCL. Each library has the name of the file that registers it ("pocl.icd").
void use_only_drivers(const std::map<std::string, std::string>& libraries,
                      const std::map<std::string, std::string>& variables = {});

/// The variables in the environment that drivers read: caches, which decide the cost of a build, threads, and others.
std::map<std::string, std::string> driver_settings();

}  // namespace cllab::device
