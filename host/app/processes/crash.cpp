#include "app/processes/crash.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

namespace cllab::app {
namespace {

// Prepared beforehand, because a handler may do almost nothing.
char crash_message[1024], quit_message[1024];
alignas(16) char handler_stack[64 << 10];  // a handler for a stack overflow needs another stack

void on_signal(int signal) {
    const char* message = signal == SIGQUIT ? quit_message : crash_message;
    [[maybe_unused]] const auto n = write(STDERR_FILENO, message, std::strlen(message));
    std::raise(signal);  // SA_RESETHAND: the signal's own end
}

}  // namespace

void catch_crashes() {
    stack_t stack{};
    stack.ss_sp = handler_stack;
    stack.ss_size = sizeof handler_stack;
    sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT}) sigaction(signal, &action, nullptr);
}

void describe_crash(const std::string& where, const std::string& advice) {
    catch_crashes();  // again: LLVM inside a driver takes the handlers over when it compiles
    std::snprintf(crash_message, sizeof crash_message, "\ncllab: the process crashed %s. %s\n", where.c_str(),
                  advice.c_str());
    std::snprintf(quit_message, sizeof quit_message, "\ncllab: ended by SIGQUIT %s. Finished cells are on disk.\n",
                  where.c_str());
}

}  // namespace cllab::app
