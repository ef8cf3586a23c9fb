#include "capture/observed.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "core/error.hpp"

namespace cllab::capture {
namespace {

volatile std::sig_atomic_t child = 0;

void pass_on(int signal) {
    if (child > 0) ::kill(child, signal);
}

/// Not by fork: another thread of this process may hold locks.
pid_t start(const std::vector<std::string>& command, int output) {
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    volatile int fault = 0;
    const pid_t process = ::vfork();
    if (process == 0) {
        for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);
        sigset_t none;
        ::sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::dup2(output, STDOUT_FILENO);
        ::execvp(words[0], words.data());
        fault = errno;
        ::_exit(127);
    }
    if (fault) throw Error(Blame::usage, "program '", command[0], "' cannot be started: ", std::strerror(fault));
    return process;
}

/// Looks for OpenCL libraries in a process and its children.
void look_at(const std::string& process, Observed& out, int depth = 0) {
    const auto folder = "/proc/" + process;
    std::ifstream maps(folder + "/maps"), children(folder + "/task/" + process + "/children");
    for (std::string line; std::getline(maps, line);) {
        const auto path = line.substr(std::min(line.find('/'), line.size()));
        const auto name = path.substr(path.rfind('/') + 1);
        if (name.starts_with("libOpenCL")) out.loader = path;
        for (const auto* driver : {"libpocl", "libnvidia-opencl", "libigdrcl", "libamdocl", "libRusticlOpenCL",
                                   "libMesaOpenCL", "libintelocl", "liboclgrind-rt"})
            if (name.starts_with(driver)) out.drivers = path;
    }
    for (std::string one; depth < 8 && children >> one;) look_at(one, out, depth + 1);
}

}  // namespace

std::string own_loader() {
    Observed own;
    look_at("self", own, 8);
    return own.loader;
}

Observed run_observed(const std::vector<std::string>& command, int output, const Board& board) {
    Observed out;
    child = start(command, output);
    for (const int signal : {SIGINT, SIGQUIT}) ::signal(signal, SIG_IGN);  // a terminal sends them to both
    for (const int signal : {SIGTERM, SIGHUP}) ::signal(signal, pass_on);
    int status = 0;
    pid_t ended = 0;
    // A layer that is not loaded leaves no sign; what the program has loaded can be seen only while it runs.
    for (auto pause = std::chrono::milliseconds(2); ended == 0 || (ended < 0 && errno == EINTR);) {
        const bool answered = board.processes > 0;
        ended = ::waitpid(child, &status, answered ? 0 : WNOHANG);
        if (ended != 0 || answered) continue;
        look_at(std::to_string(child), out);
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::milliseconds(100));
    }
    child = 0;
    out.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    out.status = out.signal ? 128 + out.signal : WEXITSTATUS(status);
    return out;
}

}  // namespace cllab::capture
