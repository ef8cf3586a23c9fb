#include "app/program.hpp"

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "core/table.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "app/commandline/command.hpp"
#include "app/screen/streams.hpp"
#include "device/driver_settings.hpp"
#include "inspect/cuda/replay.hpp"
#include "inspect/tools/comgr.hpp"
#include "run/executor.hpp"

namespace cllab::app {
namespace {

/// Returns the exit status: 0, or 3 after printing one sentence on stderr.
int launch_through_cuda(const char* folder, const char* timed) {
    try {
        std::fputs(cuda_launch(folder, static_cast<unsigned>(std::atoi(timed))).c_str(), stdout);
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "cuda-launch: %s\n", e.what());
        return 3;
    }
}

}  // namespace

int run_program(int argc, char** argv) {
    // Started by `cllab ncu`, alone or under the profiler. It uses no OpenCL, and standard output as usual.
    if (argc == 4 && std::strcmp(argv[1], "cuda-launch") == 0) return launch_through_cuda(argv[2], argv[3]);
    // Started by `cllab isa`, because the compiler may crash or hang.
    if (argc == 4 && std::strcmp(argv[1], "comgr-compile") == 0) return inspect::comgr_main(argv[2], argv[3]);
    try {
#ifdef __GLIBC__
        // Each verification allocates and frees large images and references. If the heap keeps their pages, this saves
        // a tenth of the main thread's time (0.3 s per GiB).
        const int threshold = run::host_memory_bytes() > 32ull << 30 ? INT_MAX : 1 << 30;
        mallopt(M_MMAP_THRESHOLD, threshold);
        mallopt(M_TRIM_THRESHOLD, threshold);
#endif
        // Without the signal, writing beyond ulimit -f fails with an error that can be reported.
        std::signal(SIGXFSZ, SIG_IGN);
        open_missing_streams();
        keep_stdout();
        help_width = std::min<std::size_t>(help_width, page_width(100));
        if (argc < 2 || std::strcmp(argv[1], "capture") != 0) {  // a captured program keeps its user's settings
            device::use_own_cache();
            device::pin_threads();
        }
        const int status = run_command_line(argc, argv);
        require_printed();
        return status;
    } catch (const run::Interrupted&) {  // in a command that keeps no results
        say("interrupted");
        return 130;
    } catch (const std::exception& e) {
        const auto error = as_error(e);
        say(error.what());
        return exit_status(error.blame());
    }
}

Error as_error(const std::exception& e) {
    if (const auto* error = dynamic_cast<const Error*>(&e)) return *error;
    if (dynamic_cast<const std::bad_alloc*>(&e) || dynamic_cast<const std::length_error*>(&e))
        return {Blame::environment, "there is not enough memory, or a limit of this process is reached (ulimit -v)"};
    if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&e))
        return {Blame::environment, "'" + file->path1().string() + "' cannot be used: " + file->code().message()};
    if (const auto* system = dynamic_cast<const std::system_error*>(&e)) {
        if (system->code() == std::errc::resource_unavailable_try_again)
            return {Blame::environment,
                    "the system starts no more threads: the limit of this user or machine is reached (ulimit -u)"};
        return {Blame::environment, "the system refused a request: " + system->code().message()};
    }
    return {Blame::result, std::string("this program failed: ") + e.what()};
}

int exit_status(Blame blame) {
    static constexpr Entry<Blame, int> statuses[] = {{Blame::usage, 2}, {Blame::environment, 3}, {Blame::result, 1}};
    return value_of(statuses, blame);
}

}  // namespace cllab::app
