#include "app/processes/crash.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace cllab::app {
namespace {

// Prepared beforehand, because a handler may do almost nothing.
char crash_message[1024], quit_message[1024];
std::atomic<int> witness_listens = -1;     // the descriptor that tells the witness to say nothing
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

EndWitness::EndWitness(const std::string& where, const std::string& advice) {
    const auto sentence = "cllab: the process ended " + where + ". " + advice + "\n";
    if (pipe_.read) witness_ = fork();
    if (witness_ != 0) {
        pipe_.read.close();
        if (witness_ > 0) witness_listens = pipe_.write.number();
        return;
    }
    // From here on this is the witness, which may do almost nothing: the other process has threads.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(signal, SIG_IGN);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    pipe_.write.close();
    char lived;
    if (::read(pipe_.read.number(), &lived, 1) == 0) {
        [[maybe_unused]] const auto n = ::write(STDERR_FILENO, sentence.data(), sentence.size());
    }
    _exit(0);
}

EndWitness::~EndWitness() {
    if (witness_ < 0) return;
    dismiss();
    waitpid(witness_, nullptr, 0);
}

void EndWitness::dismiss() {
    if (const int listens = witness_listens.exchange(-1); listens >= 0) {
        [[maybe_unused]] const auto n = ::write(listens, "", 1);
    }
}

}  // namespace cllab::app
