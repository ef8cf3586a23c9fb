#include "app/screen/pager.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "app/screen/stdout_guard.hpp"
#include "app/screen/streams.hpp"

namespace cllab::app {
namespace {

bool allowed = true;

std::string command() {
    const char* own = std::getenv("PAGER");
    return own ? own : "command -v less >/dev/null || exit 127; exec less";
}

/// Lines that the text takes on a screen so wide; what is longer is wrapped. Escape codes and characters of several
/// bytes count as columns, so that it errs to more.
std::size_t lines_of(const std::string& text, std::size_t width) {
    std::size_t lines = 0, column = 0;
    for (const char c : text) {
        if (c == '\n') {
            ++lines;
            column = 0;
        } else if (width != 0 && ++column > width) {
            ++lines;
            column = 1;
        }
    }
    return lines;
}

/// False when the pager could not be started.
bool page(const std::string& text, const std::string& pager) {
    // Short text ends it, colours pass, and the screen stays as it is, unless the user has said otherwise.
    const std::string script = "export LESS=\"${LESS-FRX}\"; " + pager;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, results_fd(), STDOUT_FILENO);
    char* const arguments[] = {const_cast<char*>("sh"), const_cast<char*>("-c"), const_cast<char*>(script.c_str()),
                               nullptr};
    pid_t child = 0;
    const bool started = posix_spawn(&child, "/bin/sh", &actions, nullptr, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (!started) {
        close(ends[1]);
        return false;
    }
    // Ctrl-C is the pager's, and one that ends early is no error.
    const auto on_interrupt = std::signal(SIGINT, SIG_IGN), on_pipe = std::signal(SIGPIPE, SIG_IGN);
    for (std::size_t at = 0; at < text.size();) {
        const auto n = write(ends[1], text.data() + at, text.size() - at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        at += static_cast<std::size_t>(n);
    }
    close(ends[1]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGPIPE, on_pipe);
    return !(WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127));
}

}  // namespace

void allow_pager(bool is_allowed) { allowed = is_allowed; }

Paged::Paged() {
    if (allowed && takes_escapes(STDOUT_FILENO) && !command().empty()) shown_ = results().rdbuf(&kept_);
}

Paged::~Paged() {
    if (!shown_) return;
    results().rdbuf(shown_);
    const std::string text = kept_.str();
    winsize size{};
    const bool known = ioctl(results_fd(), TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
    results().flush();
    if (!known || lines_of(text, size.ws_col) < size.ws_row || !page(text, command())) results() << text;
}

}  // namespace cllab::app
