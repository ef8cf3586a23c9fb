// A child process. It and its parent exchange JSON lines over a socket.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "core/descriptor.hpp"
#include "device/fence.hpp"

namespace cllab::app {

using Message = nlohmann::ordered_json;  ///< keeps the order of axes and metrics

/// The path of this program's executable, to start it again.
std::filesystem::path this_program();
/// Path of a library: next to this program (build tree) or in ../lib/cllab (installed). Empty: in neither.
std::filesystem::path own_library(const char* name);

/// The worker's progress, in shared memory. The worker writes it before each phase of a cell; the parent reads it when
/// the worker stalls or dies. A message before each sample would wake the parent and disturb the timing.
struct Position {
    std::atomic<std::uint64_t> beat{0};
    std::atomic<std::size_t> group{0}, index{0};
    std::atomic<bool> in_cell{false};
    std::atomic<const char*> phase{"start"};    ///< a string literal: same address in parent and child after fork
    char fault[device::fault_text_bytes] = {};  ///< device::report_faults_to()
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

/// The worker's end of the socket. The process ends if its parent is gone.
class Link {
public:
    explicit Link(int descriptor) : descriptor_(descriptor) {}
    void send_line(const std::string& text);
    void send(const Message& message);
    Message receive();
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;
    std::string buffer_;
};

class Worker {
public:
    using Work = std::function<void(Link& parent, Position& position)>;
    /// Starts a process that does `work`. It prints nothing on stdout, winds down on an interrupt, and ends with its
    /// parent. An exception from `work` arrives as a message for rethrow().
    explicit Worker(const Work& work);
    ~Worker() { kill_now(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Sends a message; false if the worker is gone.
    bool tell(const Message& message);

    enum class Event { nothing, line, ended, silent };
    /// The next line or event, without waiting. `silent`: no line and no change of position for `seconds` of waiting.
    Event poll(std::string& line, double seconds);
    /// Waits for a line or event. `moved`: called if the position has changed meanwhile. `quiet`: called after each ten
    /// seconds in which nothing happened, with their sum.
    Event next(std::string& line, double seconds, const std::function<void()>& moved = {},
               const std::function<void(double)>& quiet = {});
    /// Waits until data arrives, at most a tenth of a second.
    void wait();

    const Position& position() const { return *position_; }
    void kill_now();
    /// Waits for the worker to end and returns its wait status. Call once.
    int reap();

private:
    bool has_moved();

    std::shared_ptr<Position> position_;
    pid_t pid_ = -1;
    Descriptor socket_;
    std::string buffer_;
    std::uint64_t beat_ = 0, shown_ = 0;
    double quiet_ = 0;  ///< seconds of waiting since the last sign of life
    bool interrupted_ = false;
};

/// "the driver's process was killed by SIGSEGV (…)".
std::string death(int status);

/// "no progress for 60 s (--timeout)".
std::string no_progress(double seconds);

/// Throws the error that a message with "error" or "interrupted" describes; ignores other messages.
void rethrow(const Message& message);

}  // namespace cllab::app
