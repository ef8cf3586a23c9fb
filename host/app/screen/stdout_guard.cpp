#include "app/screen/stdout_guard.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <streambuf>

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

}  // namespace

void keep_stdout() {
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return;  // no such descriptor: nothing can be mixed up
    descriptor = kept;
    std::cerr.tie(&results());  // as it is to std::cout: what is said of results comes behind them
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

void drop_stdout() {
    if (descriptor == STDOUT_FILENO) return;
    results().rdbuf(std::cerr.rdbuf());
    close(descriptor);
    descriptor = STDERR_FILENO;
}

}  // namespace cllab::app
