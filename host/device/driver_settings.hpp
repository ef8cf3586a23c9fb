// Settings that drivers read from the environment when they load: where they cache compiled kernels, and where their
// threads run.
#pragma once

#include <map>
#include <string>

namespace cllab::device {

/// For a process that has not called OpenCL yet, a child process too: NVIDIA's driver keeps what it compiles in a new
/// folder that only this process has. So a build has a log, which one that the cache answers lacks, and a context takes
/// no longer than with a cache: without any, 1.0 to 1.6 s more (`phases` of a record). Does nothing where the user
/// has set CUDA_CACHE_DISABLE.
void use_own_cache();

/// The same for a process whose builds need no log: it has the folder that all of them have, so that what one has
/// compiled takes the others 2 ms and not 65 (H200, a kernel of 30 lines).
void use_shared_cache();

/// Threads of this machine that run or want to, this one among them; 1 where the system does not say.
int threads_that_run();

/// For a process that has not called OpenCL yet: PoCL keeps each of its threads on a core of its own (POCL_AFFINITY).
/// Where they may move, Linux runs two of them on one core while another is idle, for a launch or for a second: muladd
/// took 28 us pinned and 34 to 45 otherwise, one stream of L3 49 us and 97 (PoCL on two idle cores; run again with
/// POCL_AFFINITY=0 and 1). Beside a busy process they had better move: pinned, the interval of a comparison was twice
/// as wide. Does nothing where others run now (`running`), where the user has set that variable or how many threads
/// there are, or where this process may not use all cores: PoCL counts them from the first.
void pin_threads(int (*running)() = threads_that_run);

/// For this process, which has called no OpenCL yet, and its children: these are the only drivers, each library by the
/// name of the file that registers it ("pocl.icd"), with these variables of theirs.
void use_only_drivers(const std::map<std::string, std::string>& libraries,
                      const std::map<std::string, std::string>& variables = {});

/// What the environment says to drivers, by variable: caches, which decide the cost of a build, threads, and the rest.
std::map<std::string, std::string> driver_settings();

}  // namespace cllab::device
