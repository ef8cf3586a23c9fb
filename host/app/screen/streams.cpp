#include "app/screen/streams.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <streambuf>
#include <unordered_set>

#include "core/error.hpp"
#include "core/text.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

int descriptor = STDOUT_FILENO;

/// Captures what is written to descriptor 1 after keep_stdout(), and to 1 and 2 of child processes.
class Chatter {
public:
    /// Starts with an empty buffer; false if the system provides no memory file.
    bool hold() {
        held_ = memfd_create("cllab-stdout", MFD_CLOEXEC);
        fcntl(held_, F_SETFL, O_APPEND);  // several processes write to it
        return held_ >= 0 && dup2(held_, STDOUT_FILENO) >= 0;
    }
    /// From now on another process passes the lines on.
    void leave() { held_ = -1; }
    /// Copies new lines to standard error and counts repeated ones. `last`: also copies an incomplete last line.
    void pass_on(bool last) {
        if (held_ < 0) return;
        std::fflush(stdout);
        char piece[1 << 16];
        for (ssize_t n; (n = pread(held_, piece, sizeof piece, at_)) > 0; at_ += n)
            rest_.append(piece, static_cast<std::size_t>(n));
        if (last && !rest_.empty()) rest_ += '\n';
        const auto end = rest_.rfind('\n') + 1;
        if (end == 0) return;
        fallocate(held_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, at_);
        for (const auto& line : split(rest_.substr(0, end - 1), '\n')) {
            // Clang inside PoCL prints these lines without the warnings.
            if (line == "1 warning generated." || line.ends_with(" warnings generated.")) continue;
            if (seen_.insert(std::hash<std::string>()(line)).second)
                std::fprintf(stderr, "%s\n", line.c_str());
            else
                ++again_;
        }
        rest_.erase(0, end);
    }
    unsigned long again() const { return again_; }

private:
    int held_ = -1;
    off_t at_ = 0;
    std::string rest_;
    std::unordered_set<std::size_t> seen_;
    unsigned long again_ = 0;
} chatter;

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

}  // namespace

void open_missing_streams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(fd, F_GETFD) != -1) continue;
        // open() returns the lowest free descriptor, which is this one. The access mode is the wrong one on purpose:
        // using the stream still fails, as it did when it was closed.
        [[maybe_unused]] const int opened = open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
    }
}

void keep_stdout() {
    const int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    // Without an open standard output there is nothing to separate.
    if (copy < 0 || (!chatter.hold() && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)) return;
    descriptor = copy;
    std::cerr.tie(&results());  // as it was to std::cout: results appear before messages about them
}

void print_results_to_stderr() { results().rdbuf(std::cerr.rdbuf()); }

void drop_stdout() {
    chatter.leave();
    if (descriptor == STDOUT_FILENO) return;
    print_results_to_stderr();
    close(descriptor);
    descriptor = STDERR_FILENO;
    dup2(STDOUT_FILENO, STDERR_FILENO);
}

std::ostream& results() {
    static Results all;
    return all.stream;
}

int results_fd() { return descriptor; }

std::FILE* results_file() {
    static std::FILE* const file = [] {
        if (descriptor == STDOUT_FILENO) return stdout;
        // A descriptor that is closed gives a read-only stream: writing to it fails, as it should.
        std::FILE* const writable = fdopen(descriptor, "w");
        return writable ? writable : fdopen(descriptor, "r");
    }();
    return file;
}

void require_printed() {
    chatter.pass_on(true);
    if (const auto again = chatter.again())
        say("later launches printed " + std::to_string(again) + " lines again, which are not shown");
    errno = 0;
    results().flush();
    int error = results().bad() ? errno : 0;
    errno = 0;
    const bool flushed = std::fflush(results_file()) == 0;
    if (!flushed && error == 0) error = errno;
    if (flushed && !results().bad() && !std::ferror(results_file())) return;
    // The reason of an earlier failed flush is lost, except for a closed descriptor.
    if (error == 0 && write(results_fd(), "", 0) != 0) error = errno;
    throw Error(Blame::environment,
                "standard output cannot be written" + (error ? std::string(": ") + std::strerror(error) : ""));
}

void say(std::string_view text) {
    chatter.pass_on(false);
    std::fprintf(stderr, "cllab: %s\n", sentence(text).c_str());
}

void say_lines(const std::string& text) {
    std::cerr << printable(text, "\n\t") << (text.ends_with('\n') ? "" : "\n");
}

void say_doing(const std::string& doing) {
    chatter.pass_on(false);
    if (!takes_escapes(STDERR_FILENO)) return;
    // A longer line would wrap, and the next one could not replace it.
    auto line = printable(doing);
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    const std::size_t room = known ? size.ws_col - 1 : line.size();
    std::size_t end = 0;
    for (std::size_t columns = 0; end < line.size() && columns < room; ++columns)
        do ++end;
        while (end < line.size() && (line[end] & 0xC0) == 0x80);  // continuation bytes of UTF-8
    line.resize(end);
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
}

bool takes_escapes(int fd) {
    const char* terminal = std::getenv("TERM");
    return isatty(fd) && !(terminal && std::string_view(terminal) == "dumb");
}

bool wants_colour() {
    const char* no_colour = std::getenv("NO_COLOR");
    return takes_escapes(results_fd()) && !(no_colour && *no_colour);
}

unsigned page_width(unsigned otherwise) {
    constexpr unsigned narrowest = 20;
    winsize size{};
    if (isatty(results_fd()) && ioctl(results_fd(), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char* asked = std::getenv("COLUMNS");
    unsigned columns = 0;
    if (asked) std::from_chars(asked, asked + std::strlen(asked), columns);
    return columns >= narrowest ? columns : otherwise;
}

std::string wrapped_to_page(const std::string& text) { return report::fit(text, page_width(100)); }

}  // namespace cllab::app
