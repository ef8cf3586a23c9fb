#include "app/stdout_guard.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <streambuf>

namespace cllab::app {
namespace {

int results = STDOUT_FILENO;

/// Unbuffered here: it hands each flush of std::cout on to the descriptor.
class DescriptorBuffer : public std::streambuf {
public:
    explicit DescriptorBuffer(int fd) : fd_(fd) { setp(buffer_, buffer_ + sizeof buffer_); }

private:
    int sync() override {
        for (const char* at = pbase(); at < pptr();) {
            const auto n = write(fd_, at, static_cast<std::size_t>(pptr() - at));
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return -1;
            at += n;
        }
        setp(buffer_, buffer_ + sizeof buffer_);
        return 0;
    }
    int_type overflow(int_type c) override {
        if (sync() != 0) return traits_type::eof();
        return traits_type::eq_int_type(c, traits_type::eof()) ? traits_type::not_eof(c) : sputc(traits_type::to_char_type(c));
    }

    int fd_;
    char buffer_[1 << 14];
};

}  // namespace

void keep_stdout() {
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return;  // no such descriptor: nothing can be mixed up
    results = kept;
    static auto* const buffer = new DescriptorBuffer(kept);  // lives as long as std::cout, which flushes at the end
    std::cout.rdbuf(buffer);
}

int results_fd() { return results; }

std::FILE* results_file() {
    static std::FILE* const file = [] {
        if (results == STDOUT_FILENO) return stdout;
        // What cannot be written, because it was closed, is a stream all the same: writing to it fails as it should.
        std::FILE* const writable = fdopen(results, "w");
        return writable ? writable : fdopen(results, "r");
    }();
    return file;
}

void drop_stdout() {
    if (results == STDOUT_FILENO) return;
    std::cout.rdbuf(std::cerr.rdbuf());
    close(results);
    results = STDERR_FILENO;
}

}  // namespace cllab::app
