#include <cstdio>
#include <exception>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "app/commands.hpp"
#include "app/say.hpp"
#include "core/error.hpp"
#include "device/quirks.hpp"

namespace {

int exit_status(cllab::Blame blame) {
    switch (blame) {
        case cllab::Blame::usage: return 2;
        case cllab::Blame::environment: return 3;
        case cllab::Blame::result: return 1;
    }
    return 1;
}

int dispatch(const cllab::app::Invocation& invocation) {
    using namespace cllab::app;
    if (invocation.command == "version") {
        std::puts("cllab " CLLAB_VERSION);
        return 0;
    }
    if (invocation.help) {
        std::fputs(help_text(invocation.command).c_str(), stdout);
        return 0;
    }
    if (invocation.command == "tune") return command_tune(invocation);
    if (invocation.command == "merge") return command_merge(invocation);
    if (invocation.command == "report") return command_report(invocation);
    if (invocation.command == "devices") return command_devices(invocation);
    if (invocation.command == "profile") return command_profile(invocation);
    if (invocation.command == "list") return command_list(invocation);
    if (invocation.command == "describe") return command_describe(invocation);
    if (invocation.command == "isa") return command_isa(invocation);
    return command_run(invocation);
}

}  // namespace

int main(int argc, char** argv) {
    try {
#ifdef __GLIBC__
        // Images and references of tens of megabytes come and go with each verification: kept by the heap, their pages
        // are not taken from and given back to the kernel each time, a tenth of the main line's time.
        mallopt(M_MMAP_THRESHOLD, 1 << 30);
        mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
        cllab::device::prepare_environment();
        return dispatch(cllab::app::parse(argc, argv));
    } catch (const cllab::Error& e) {
        cllab::app::say(e.what());
        return exit_status(e.blame());
    } catch (const std::exception& e) {
        cllab::app::say(e.what());
        return 1;
    }
}
