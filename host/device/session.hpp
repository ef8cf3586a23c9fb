// One device in use: its own context and in-order profiling queue, so that no query ever sees two devices.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "device/cl.hpp"
#include "device/platforms.hpp"
#include "device/timer.hpp"
#include "model/experiment.hpp"

namespace cllab::device {

class Session {
public:
    /// Throws Error(environment) when the device gives no context or queue.
    explicit Session(const Found& found);

    const model::Device& facts() const { return facts_; }
    const cl::Device& device() const { return device_; }
    const cl::Context& context() const { return context_; }
    const cl::CommandQueue& queue() const { return queue_; }
    /// Waits until the device has done all that was enqueued.
    void wait();
    std::chrono::steady_clock::time_point last_wait() const { return last_wait_; }
    /// Whether the device's warm-up ended because its speed had settled; nothing before the first.
    std::optional<bool> settled() const { return settled_; }
    void set_settled(bool settled) { settled_ = settled; }
    /// `bytes` of model::poison for `seed`: what stands in the guards. Kept for the next call.
    std::span<const std::byte> guard_pattern(std::uint64_t seed, std::size_t bytes);
    /// From now on buffers lie somewhere else in each process: each is displaced within its allocation, by up to a page, and
    /// other memory is allocated before it. Both are drawn from `seed`.
    void scatter(std::uint64_t seed) { placement_.emplace(seed); }
    /// Whether buffers made from now on have guards; they have before.
    void set_guards(bool guards) { guards_ = guards; }
    bool guards() const { return guards_; }
    /// Bytes that the next buffer is displaced by; 0 without scatter().
    std::size_t displacement();
    /// The timer audit, made at the first call (about 0.1 s on a CPU) and kept.
    const TimerAudit& timer();

private:
    model::Device facts_;
    cl::Device device_;
    cl::Context context_;
    cl::CommandQueue queue_;
    std::optional<TimerAudit> timer_;
    std::optional<bool> settled_;
    std::chrono::steady_clock::time_point last_wait_{};
    model::Bytes guard_pattern_;
    std::uint64_t guard_seed_ = 0;
    bool guards_ = true;
    std::optional<Random> placement_;
    std::vector<cl::Buffer> between_;  ///< allocated to displace what comes after
};

/// The least guard on each side of a buffer: a write that misses by a page or a few must not land in other memory.
inline constexpr std::size_t least_guard_bytes = 64 << 10;

/// Device memory between two guard zones. `buffer()` is the sub-buffer kernels get; without guards it is the buffer.
class GuardedBuffer {
public:
    GuardedBuffer() = default;
    /// `size_bytes` > 0. guard_bytes: on each side, rounded up to what the device aligns buffers to; 0: no guards.
    /// mapped: allocated where the host can map it (CL_MEM_ALLOC_HOST_PTR). Throws cl::Error when the device has no room.
    GuardedBuffer(Session& session, std::size_t size_bytes, std::size_t guard_bytes, bool mapped);

    const cl::Buffer& buffer() const { return inner_; }
    std::size_t size_bytes() const { return size_; }
    /// Writes the guard pattern, unless it stands there; call before each verification.
    void arm(std::uint64_t seed);
    /// Nothing, or what was written outside of the buffer `name`: "first write 3 bytes before the start of 'dst'".
    std::optional<std::string> guard_damage(const std::string& name);

private:
    Session* session_ = nullptr;
    cl::Buffer whole_, inner_;
    std::size_t size_ = 0, guard_ = 0;  ///< guard_: bytes on each side
    std::uint64_t seed_ = 0;
    bool armed_ = false;
};

/// Host to device and back, blocking; returns seconds by the host clock of what a program that fills and reads in place
/// would pay: the whole copy for Transfer::copied, map plus unmap without the fill for Transfer::mapped.
double upload(Session& session, const cl::Buffer& buffer, std::span<const std::byte> data, model::Transfer how);
double download(Session& session, const cl::Buffer& buffer, std::span<std::byte> data, model::Transfer how);

}  // namespace cllab::device
