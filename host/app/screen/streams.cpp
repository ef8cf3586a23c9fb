#include "app/screen/streams.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "app/screen/stdout_guard.hpp"
#include "core/error.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

// Standard output is where the results go.
int shown_at(int fd) { return fd == STDOUT_FILENO ? results_fd() : fd; }

}  // namespace

void open_missing_streams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(fd, F_GETFD) != -1) continue;
        // The lowest free descriptor is this one. The wrong way round: using it fails as it did; nobody could read of
        // that on standard error.
        [[maybe_unused]] const int opened = open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
    }
}

void require_printed() {
    errno = 0;
    results().flush();
    int error = results().bad() ? errno : 0;
    errno = 0;
    const bool flushed = std::fflush(results_file()) == 0;
    if (!flushed && error == 0) error = errno;
    if (flushed && !results().bad() && !std::ferror(results_file())) return;
    // When an earlier flush failed its reason is gone, but for that of a closed descriptor.
    if (error == 0 && write(results_fd(), "", 0) != 0) error = errno;
    throw Error(Blame::environment,
                "standard output cannot be written" + (error ? std::string(": ") + std::strerror(error) : ""));
}

bool takes_escapes(int fd) {
    const char* terminal = std::getenv("TERM");
    return isatty(shown_at(fd)) && !(terminal && std::string_view(terminal) == "dumb");
}

bool wants_colour(int fd) {
    const char* no_colour = std::getenv("NO_COLOR");
    return takes_escapes(fd) && !(no_colour && *no_colour);
}

unsigned page_width(int fd, unsigned otherwise) {
    constexpr unsigned narrowest = 20;
    winsize size{};
    if (isatty(shown_at(fd)) && ioctl(shown_at(fd), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char* asked = std::getenv("COLUMNS");
    unsigned columns = 0;
    if (asked) std::from_chars(asked, asked + std::strlen(asked), columns);
    return columns >= narrowest ? columns : otherwise;
}

std::string wrapped_for(int fd, const std::string& text) { return report::fit(text, page_width(fd, 100)); }

}  // namespace cllab::app
