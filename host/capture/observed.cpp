#include "capture/observed.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "core/error.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::capture {
namespace {

volatile std::sig_atomic_t child = 0;

void pass_on(int signal) {
    if (child > 0) ::kill(child, signal);
}

/// Looks for OpenCL libraries in a process and its children.
void look_at(const std::string& process, Observed& out) {
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
    for (std::string one; children >> one;) look_at(one, out);
}

}  // namespace

Observed run_observed(const std::vector<std::string>& command, int output, const Board& board) {
    Observed out;
    child = inspect::start_program(command, {.out = output}, false);
    if (child == 0) throw Error(Blame::usage, "program '", command[0], "' cannot be started: ", std::strerror(errno));
    for (const int signal : {SIGINT, SIGQUIT}) ::signal(signal, SIG_IGN);  // a terminal sends them to both
    for (const int signal : {SIGTERM, SIGHUP}) ::signal(signal, pass_on);
    int status = 0;
    pid_t ended = 0;
    // If the layer is not loaded, this shows only while the program runs: look at its loaded libraries.
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
