// File descriptors that are closed at the end of their scope, and in programs that this process starts.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace cllab {

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    int number() const { return number_; }  ///< -1: none
    explicit operator bool() const { return number_ >= 0; }
    void close() {
        if (number_ >= 0) ::close(number_);
        number_ = -1;
    }

private:
    int number_ = -1;
};

/// Both ends are open, or neither is and errno tells why.
struct Pipe {
    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) == 0) read = Descriptor(ends[0]), write = Descriptor(ends[1]);
    }
    Descriptor read, write;
};
struct SocketPair {
    SocketPair() {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
            ours = Descriptor(ends[0]), theirs = Descriptor(ends[1]);
    }
    Descriptor ours, theirs;
};

}  // namespace cllab
