#include "inspect/tools/tool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"

namespace cllab::inspect {
namespace {

constexpr std::size_t most_output = 64u << 20;

bool is_program(const std::filesystem::path& path) {
    std::error_code failed;
    return std::filesystem::is_regular_file(path, failed) && ::access(path.c_str(), X_OK) == 0;
}

/// Folders of programs, separated by colons.
std::string tool_folders() {
    const char *path = std::getenv("PATH"), *cuda = std::getenv("CUDA_HOME");
    return concat(path ? path : "", cuda ? concat(":", cuda, "/bin") : "", ":/usr/local/cuda/bin");
}

using Clock = std::chrono::steady_clock;

thread_local std::optional<Clock::time_point> budget_end;

/// Reads what a ready stream has; closes the stream at its end.
void take(Descriptor& stream, std::string& text) {
    std::array<char, 65536> buffer;
    const ssize_t got = ::read(stream.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return;
    if (got <= 0)
        stream.close();
    else
        text.append(buffer.data(), static_cast<std::size_t>(got));
}

bool has_ended(pid_t child) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == child;
}

/// Reads both streams until the process has ended and they are empty, until the deadline, or until it has printed too
/// much. Its children may hold the streams open after the process has ended.
void listen(pid_t child, Descriptor& out, Descriptor& err, ToolResult& result, Clock::time_point deadline) {
    for (;;) {
        const bool ended = has_ended(child);
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd polled[2] = {{out.number(), POLLIN, 0}, {err.number(), POLLIN, 0}};
        const int ready = ::poll(polled, 2, ended ? 0 : static_cast<int>(std::clamp<long long>(left, 0, 10)));
        if (ready > 0) {
            if (polled[0].revents != 0) take(out, result.out);
            if (polled[1].revents != 0) take(err, result.err);
            result.endless = std::max(result.out.size(), result.err.size()) > most_output;
        } else if (ended) {
            return;
        }
        result.timed_out = left <= 0;
        if (result.endless || result.timed_out) return;
    }
}

/// Runs in the vforked process, which shares this process's memory until it becomes the program: system calls only.
int become(char* const words[], const Streams& streams, bool is_tool) {
    if (is_tool) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with this process, whatever the cause
        ::setpgid(0, 0);
    }
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE, SIGXFSZ}) {
        struct sigaction now {};
        ::sigaction(signal, nullptr, &now);
        // Signals that the caller of this program ignores stay ignored. This program itself ignores the last two.
        if (now.sa_handler == SIG_IGN && signal != SIGPIPE && signal != SIGXFSZ) continue;
        now = {};
        now.sa_handler = SIG_DFL;
        ::sigaction(signal, &now, nullptr);
    }
    ::dup2(streams.in, STDIN_FILENO);
    ::dup2(streams.out, STDOUT_FILENO);
    ::dup2(streams.err, STDERR_FILENO);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvp(words[0], words);
    return errno;
}

}  // namespace

std::optional<std::filesystem::path> find_tool(const std::vector<std::string>& names) {
    // Cached: a search for clang tries 18 names in each folder, and a page of 60 codes needs hundreds of such searches.
    static std::mutex guard;
    static std::map<std::string, std::optional<std::filesystem::path>> found;
    const std::lock_guard lock(guard);
    const auto folders = tool_folders();
    const auto [place, is_new] = found.try_emplace(concat(folders, '\n', join(names, "\n")));
    auto& tool = place->second;
    if (!is_new) return tool;
    for (const auto& name : names)
        for (const std::filesystem::path folder : split(folders, ':'))
            if (!tool && !folder.empty() && is_program(folder / name)) tool = folder / name;
    return tool;
}

std::vector<std::string> llvm_names(const std::string& tool) {
    std::vector<std::string> names;
    for (int version = 29; version >= 13; --version) names.push_back(tool + "-" + std::to_string(version));
    names.push_back(tool);
    return names;
}

std::string ToolResult::failure() const {
    if (timed_out) return "did not end within its time limit";
    if (endless) return "printed more than " + std::to_string(most_output >> 20) + " MiB";
    const std::string line = one_line(err);
    if (status < 0) return "could not be started: " + line;
    return "exited with status " + std::to_string(status) + (line.empty() ? "" : ": " + line);
}

pid_t start_program(const std::vector<std::string>& command, const Streams& streams, bool is_tool) {
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the child would run this program's signal handlers in its memory
    volatile int failed = 0;
    // vfork instead of fork: a copy would hold the locks that other threads (a CPU device's workers) have at that
    // moment.
    const pid_t child = ::vfork();
    if (child == 0) {
        failed = become(words.data(), streams, is_tool);
        ::_exit(127);
    }
    if (child < 0) failed = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (child > 0 && failed != 0) ::waitpid(child, nullptr, 0);
    errno = failed;
    return failed == 0 ? child : 0;
}

ToolBudget::ToolBudget(std::chrono::milliseconds budget) { budget_end = Clock::now() + budget; }
ToolBudget::~ToolBudget() { budget_end.reset(); }

ToolResult run_tool(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                    std::chrono::milliseconds limit) {
    const auto begin = Clock::now();
    auto deadline = begin + limit;
    if (budget_end) deadline = std::min(deadline, begin + (*budget_end - begin) / 2);
    ToolResult result;
    std::vector<std::string> command{program.string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    Pipe out, err;
    const pid_t child = out.read && err.read
                            ? start_program(command, {nothing.number(), out.write.number(), err.write.number()}, true)
                            : 0;
    if (child == 0) {
        result.err = std::strerror(errno);
        return result;
    }
    out.write.close();
    err.write.close();
    listen(child, out.read, err.read, result, deadline);
    // Until the child is waited for, no other group can have its number.
    ::kill(-child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

std::string temporary_folder_fault() {
    std::error_code failed;
    const auto folder = std::filesystem::temp_directory_path(failed);
    if (!failed && ::access(folder.c_str(), W_OK | X_OK) == 0) return {};
    const std::string why = failed ? failed.message() : std::strerror(errno);
    for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
        if (const char* value = std::getenv(variable))
            return std::string("temporary files cannot be written to ") + variable + "=" + value + ": " + why;
    return "temporary files cannot be written to /tmp: " + why;
}

TempFolder::TempFolder() {
    if (const auto fault = temporary_folder_fault(); !fault.empty()) throw Error(Blame::environment, fault);
    std::string pattern = (own_folder() / "XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
        throw Error(Blame::environment, "temporary folder '", pattern, "' cannot be created: ", std::strerror(errno));
    path_ = pattern;
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempFolder::write(const std::string& name, ByteSpan content) const {
    const auto file = path_ / name;
    write_file(file, content);
    return file;
}

}  // namespace cllab::inspect
