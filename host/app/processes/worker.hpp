// A child process, and the JSON lines that it and its parent send each other over a socket.
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

/// The file of this program, for what must be started afresh.
std::filesystem::path this_program();
/// A library of this name: beside this program, as it is built, or in ../lib/cllab, as it is installed; empty: neither.
std::filesystem::path own_library(const char* name);

/// Where a worker is: written before each phase of a cell into memory that its parent reads when it stalls or dies. A
/// message before each sample would wake the parent and disturb the timing.
struct Position {
    std::atomic<std::uint64_t> beat{0};
    std::atomic<std::size_t> group{0}, index{0};
    std::atomic<bool> in_cell{false};
    std::atomic<const char*> phase{"start"};    ///< a string literal: same address in parent and child after fork
    char fault[device::fault_text_bytes] = {};  ///< device::report_faults_to()
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

/// The worker's end of the socket. The process ends when its parent is gone.
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
    /// A process that does `work`. It prints nothing, winds down on an interrupt, and ends with its parent. What `work`
    /// throws arrives as a message for rethrow(), or as {"interrupted": true}.
    explicit Worker(const Work& work);
    ~Worker() { kill_now(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// False when it is gone.
    bool tell(const Message& message);

    enum class Event { nothing, line, ended, silent };
    /// What there is of it now. Silent: neither a line nor a change of its position for `seconds` of waiting.
    Event poll(std::string& line, double seconds);
    /// Waits for something. `moved`: called when its position has changed meanwhile.
    Event next(std::string& line, double seconds, const std::function<void()>& moved = {});
    /// Waits until there is something to read, a tenth of a second at most.
    void wait();

    const Position& position() const { return *position_; }
    void kill_now();
    /// Its wait status, once.
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

/// Throws what a message with "error" or "interrupted" says; does nothing for others.
void rethrow(const Message& message);

}  // namespace cllab::app
