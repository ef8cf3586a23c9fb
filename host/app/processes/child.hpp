// A child process and the lines that it hands to its parent.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include "core/descriptor.hpp"
#include "device/fence.hpp"

namespace cllab::app {

using Message = nlohmann::ordered_json;  ///< keeps the order of axes and metrics

/// The file of this program, for what must be started afresh.
std::filesystem::path this_program();

/// For a child: one line to its parent. Ends the process when the parent is gone.
void send(int fd, const std::string& text);
void send(int fd, const Message& message);

/// Where the child is: written by the child before each phase of a cell, read by the parent when it stalls or dies.
struct Position {
    std::atomic<std::uint64_t> beat{0};
    std::atomic<std::size_t> group{0}, index{0};
    std::atomic<bool> in_cell{false};
    std::atomic<const char*> phase{"start"};    ///< a string literal: same address in parent and child after fork
    char fault[device::fault_text_bytes] = {};  ///< device::report_faults_to()
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

class SharedMemory {
public:
    explicit SharedMemory(std::size_t bytes);
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

protected:
    void* page_;

private:
    std::size_t bytes_;
};

/// One T that a process shares with the children it makes.
template <typename T>
class SharedPage : SharedMemory {
public:
    SharedPage() : SharedMemory(sizeof(T)) { new (page_) T; }
    T& operator*() { return *static_cast<T*>(page_); }
    T* operator->() { return static_cast<T*>(page_); }
    const T* operator->() const { return static_cast<const T*>(page_); }
};

/// A process that does `work`, which is given the descriptor of its parent's end. It prints nothing, winds down on an
/// interrupt, and ends with its parent. What `work` throws arrives as a message for rethrow(), or as {"interrupted":
/// true}.
class Child {
public:
    explicit Child(const std::function<void(int)>& work);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    enum class Event { line, ended, silent };
    /// The next line, or why there is none. Silent: neither a line nor a change of `position` for `seconds`. `moved` is
    /// told of a change, ten times a second at most.
    Event next(
        std::string& line, double seconds, const Position& position, const std::function<void()>& moved = [] {});
    bool has_line() const { return buffer_.find('\n') != std::string::npos; }  ///< next() has one without waiting
    int descriptor() const { return fd_.number(); }                            ///< readable when there is more
    void kill_now();
    /// The wait status of the child, once.
    int reap();

private:
    pid_t pid_ = -1;
    Descriptor fd_;
    std::string buffer_;
    bool told_ = false;
};

/// "the driver's process was killed by SIGSEGV (…)".
std::string death(int status);

/// "no progress for 60 s (--timeout)".
std::string no_progress(double seconds);

/// Throws what a message with "error" says.
[[noreturn]] void rethrow(const Message& message);

}  // namespace cllab::app
