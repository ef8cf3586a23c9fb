#include "inspect/tool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/error.hpp"
#include "core/text.hpp"

namespace cllab::inspect {
namespace {

constexpr std::size_t most_output = 64u << 20;

bool is_program(const std::filesystem::path& path) {
    std::error_code failed;
    return std::filesystem::is_regular_file(path, failed) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::filesystem::path> tool_folders() {
    std::vector<std::filesystem::path> folders;
    if (const char* path = std::getenv("PATH"))
        for (const auto& folder : split(path, ':'))
            if (!folder.empty()) folders.emplace_back(folder);
    if (const char* cuda = std::getenv("CUDA_HOME")) folders.emplace_back(std::filesystem::path(cuda) / "bin");
    folders.emplace_back("/usr/local/cuda/bin");
    return folders;
}

struct Pipe {
    int read = -1, write = -1;
    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) == 0) read = ends[0], write = ends[1];
    }
    ~Pipe() { close_read(), close_write(); }
    void close_read() {
        if (read >= 0) ::close(read);
        read = -1;
    }
    void close_write() {
        if (write >= 0) ::close(write);
        write = -1;
    }
};

/// Reads both streams until they close or the deadline passes; false on the deadline.
bool drain(Pipe& out, Pipe& err, ToolResult& result, std::chrono::steady_clock::time_point deadline) {
    std::array<char, 65536> buffer;
    while (out.read >= 0 || err.read >= 0) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) return false;
        pollfd polled[2] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
        const int ready = ::poll(polled, 2, static_cast<int>(left.count()));
        if (ready < 0 && errno != EINTR) return false;
        if (ready <= 0) continue;
        for (int i = 0; i < 2; ++i) {
            if (polled[i].fd < 0 || polled[i].revents == 0) continue;
            const ssize_t got = ::read(polled[i].fd, buffer.data(), buffer.size());
            if (got < 0 && errno == EINTR) continue;
            Pipe& pipe = i == 0 ? out : err;
            std::string& kept = i == 0 ? result.out : result.err;
            if (got <= 0)
                pipe.close_read();
            else
                kept.append(buffer.data(),
                            std::min(static_cast<std::size_t>(got), most_output - std::min(most_output, kept.size())));
        }
    }
    return true;
}

/// Waits for the process until the deadline; false when it is still running.
bool reap(pid_t child, int& status, std::chrono::steady_clock::time_point deadline) {
    for (;;) {
        const pid_t done = ::waitpid(child, &status, WNOHANG);
        if (done == child) return true;
        if (done < 0 && errno != EINTR) return true;
        if (std::chrono::steady_clock::now() >= deadline) return false;
        ::usleep(1000);
    }
}

}  // namespace

std::optional<std::filesystem::path> find_tool(const std::vector<std::string>& names) {
    const auto folders = tool_folders();
    for (const auto& name : names)
        for (const auto& folder : folders)
            if (is_program(folder / name)) return folder / name;
    return std::nullopt;
}

std::vector<std::string> llvm_names(const std::string& tool) {
    std::vector<std::string> names;
    for (int version = 22; version >= 13; --version) names.push_back(tool + "-" + std::to_string(version));
    names.push_back(tool);
    return names;
}

std::string ToolResult::failure() const {
    if (timed_out) return "did not end within its time limit";
    if (status < 0) return "could not be started";
    const std::string line = one_line(err);
    return "exited with status " + std::to_string(status) + (line.empty() ? "" : ": " + line);
}

ToolResult run_tool(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                    std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    ToolResult result;
    const std::string file = program.string();
    // Everything the child needs is made before fork: other threads (a CPU device's workers) may hold the allocator.
    std::vector<char*> argv{const_cast<char*>(file.c_str())};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    Pipe out, err;
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const pid_t child = out.read < 0 || err.read < 0 || nothing < 0 ? -1 : ::fork();
    if (child == 0) {
        ::setpgid(0, 0);
        if (::dup2(nothing, 0) < 0 || ::dup2(out.write, 1) < 0 || ::dup2(err.write, 2) < 0) ::_exit(126);
        ::execv(file.c_str(), argv.data());
        ::_exit(127);
    }
    if (nothing >= 0) ::close(nothing);
    if (child < 0) return result;
    ::setpgid(child, child);
    out.close_write();
    err.close_write();

    int status = 0;
    result.timed_out = !drain(out, err, result, deadline) || !reap(child, status, deadline);
    if (result.timed_out) {
        ::kill(-child, SIGKILL);
        ::kill(child, SIGKILL);
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    }
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

TempFolder::TempFolder() {
    std::error_code failed;
    std::filesystem::path base = std::filesystem::temp_directory_path(failed);
    if (failed) base = "/tmp";
    std::string pattern = (base / "cllab-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
        throw Error(Blame::environment,
                    "cannot make a temporary folder in " + base.string() + ": " + std::strerror(errno));
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

void write_file(const std::filesystem::path& path, ByteSpan content) {
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    file.close();
    if (!file)
        throw Error(Blame::environment,
                    "cannot write " + path.string() + ": " + (errno ? std::strerror(errno) : "unknown reason"));
}

std::optional<std::string> read_file(const std::filesystem::path& path) {
    std::error_code ignored;
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path, ignored)) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace cllab::inspect
