#include "app/screen/pager.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

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
    const std::string script = "export LESS=\"${LESS-FRX}\"; exec >&" + std::to_string(results_fd()) + "; " + pager;
    const int flags = fcntl(results_fd(), F_GETFD);
    fcntl(results_fd(), F_SETFD, flags & ~FD_CLOEXEC);
    std::FILE* const to = popen(script.c_str(), "we");
    fcntl(results_fd(), F_SETFD, flags);
    if (!to) return false;
    // Ctrl-C is the pager's, and one that ends early is no error.
    const auto on_interrupt = std::signal(SIGINT, SIG_IGN), on_pipe = std::signal(SIGPIPE, SIG_IGN);
    std::fwrite(text.data(), 1, text.size(), to);
    const int status = pclose(to);
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGPIPE, on_pipe);
    return !(WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127));
}

}  // namespace

void allow_pager(bool is_allowed) { allowed = is_allowed; }

Paged::Paged() {
    if (allowed && takes_escapes(results_fd()) && !command().empty()) shown_ = results().rdbuf(&kept_);
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
