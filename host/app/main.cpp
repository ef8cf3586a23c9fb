#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "app/commands.hpp"
#include "app/cuda/cuda_launch.hpp"
#include "app/errors.hpp"
#include "app/screen/pager.hpp"
#include "app/screen/say.hpp"
#include "app/screen/stdout_guard.hpp"
#include "app/screen/streams.hpp"
#include "core/version.hpp"
#include "device/driver_settings.hpp"
#include "report/table/layout.hpp"
#include "run/executor.hpp"

namespace {

int dispatch(const cllab::app::Invocation& invocation) {
    using namespace cllab::app;
    if (invocation.command == "version") {
        results() << "cllab " << cllab::version() << '\n';
        return 0;
    }
    allow_pager(!invocation.no_pager && !invocation.watch);
    if (invocation.help) {
        const Paged paged;
        const auto page = help_text(invocation.command);
        // What is no terminal gets the page as it is written, 110 columns wide: manual pages are made of it.
        results() << (takes_escapes(STDOUT_FILENO) ? cllab::report::fit(page, page_width(STDOUT_FILENO)) : page);
        return 0;
    }
    if (invocation.command == "regress") return command_regress(invocation);
    if (invocation.command == "why") return command_why(invocation);
    if (invocation.command == "tune") return command_tune(invocation);
    if (invocation.command == "merge") return command_merge(invocation);
    if (invocation.command == "report") return command_report(invocation);
    if (invocation.command == "complete") return command_complete(invocation);
    if (invocation.command == "run" || invocation.command == "dump") return command_run(invocation);
    if (invocation.command == "profile") return command_profile(invocation);
    if (invocation.command == "ncu") return command_ncu(invocation);
    const Paged paged;
    if (invocation.command == "devices") return command_devices(invocation);
    if (invocation.command == "list") return command_list(invocation);
    if (invocation.command == "describe") return command_describe(invocation);
    return command_isa(invocation);
}

}  // namespace

int main(int argc, char** argv) {
    // What `cllab ncu` starts, by itself and under the profiler: no OpenCL, and a standard output of its own.
    if (argc == 4 && std::strcmp(argv[1], "cuda-launch") == 0)
        return cuda_launch(argv[2], static_cast<unsigned>(std::atoi(argv[3])));
    try {
#ifdef __GLIBC__
        // Images and references come and go with each verification: kept by the heap, their pages are not taken from
        // and given back to the kernel each time, a tenth of the main line's time, 0.3 s for each GiB.
        const int kept = cllab::run::host_memory_bytes() > 32ull << 30 ? INT_MAX : 1 << 30;
        mallopt(M_MMAP_THRESHOLD, kept);
        mallopt(M_TRIM_THRESHOLD, kept);
#endif
        std::signal(SIGXFSZ,
                    SIG_IGN);  // a file at its limit (ulimit -f) is an error of the write then, with a sentence
        cllab::app::open_missing_streams();
        cllab::app::keep_stdout();
        cllab::device::use_own_cache();
        cllab::device::pin_threads();
        const int status = dispatch(cllab::app::parse(argc, argv));
        cllab::app::require_printed();
        return status;
    } catch (const cllab::run::Interrupted&) {  // of a command that keeps nothing
        cllab::app::say("interrupted");
        return 130;
    } catch (const std::exception& e) {
        const auto error = cllab::app::as_error(e);
        cllab::app::say(error.what());
        return cllab::app::exit_status(error.blame());
    }
}
