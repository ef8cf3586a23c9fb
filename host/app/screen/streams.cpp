#include "app/screen/streams.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <streambuf>

#include "core/error.hpp"
#include "core/text.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

int descriptor = STDOUT_FILENO;

class DescriptorBuffer : public std::streambuf {
public:
    DescriptorBuffer() { setp(buffer_, buffer_ + sizeof buffer_); }

private:
    int sync() override {
        for (const char* at = pbase(); at < pptr();) {
            const auto n = write(descriptor, at, static_cast<std::size_t>(pptr() - at));
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return -1;
            at += n;
        }
        setp(buffer_, buffer_ + sizeof buffer_);
        return 0;
    }
    int_type overflow(int_type c) override {
        if (sync() != 0) return traits_type::eof();
        return traits_type::eq_int_type(c, traits_type::eof()) ? traits_type::not_eof(c)
                                                               : sputc(traits_type::to_char_type(c));
    }

    char buffer_[1 << 14];
};

struct Results {
    ~Results() { stream.flush(); }
    DescriptorBuffer buffer;
    std::ostream stream{&buffer};
};

// Standard output is where the results go.
int shown_at(int fd) { return fd == STDOUT_FILENO ? descriptor : fd; }

}  // namespace

void open_missing_streams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(fd, F_GETFD) != -1) continue;
        // The lowest free descriptor is this one. The wrong way round: using it fails as it did; nobody could read of
        // that on standard error.
        [[maybe_unused]] const int opened = open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
    }
}

void keep_stdout() {
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return;  // no such descriptor: nothing can be mixed up
    descriptor = kept;
    std::cerr.tie(&results());  // as it is to std::cout: what is said of results comes behind them
}

void drop_stdout() {
    if (descriptor == STDOUT_FILENO) return;
    results().rdbuf(std::cerr.rdbuf());
    close(descriptor);
    descriptor = STDERR_FILENO;
}

std::ostream& results() {
    static Results all;
    return all.stream;
}

int results_fd() { return descriptor; }

std::FILE* results_file() {
    static std::FILE* const file = [] {
        if (descriptor == STDOUT_FILENO) return stdout;
        // What cannot be written, because it was closed, is a stream all the same: writing to it fails as it should.
        std::FILE* const writable = fdopen(descriptor, "w");
        return writable ? writable : fdopen(descriptor, "r");
    }();
    return file;
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

void say(std::string_view text) { std::fprintf(stderr, "cllab: %s\n", sentence(text).c_str()); }

void say_doing(const std::string& doing) {
    if (!takes_escapes(STDERR_FILENO)) return;
    std::fprintf(stderr, "\r\033[K%s", printable(doing).c_str());
    std::fflush(stderr);
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
