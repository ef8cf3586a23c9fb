#include "device/session.hpp"

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "core/phases.hpp"

namespace cllab::device {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

}  // namespace

Session::Session(const Found& found) : facts_(found.facts), device_(found.device) {
    const InPhase phase(Phase::driver_start);
    try {
        context_ = cl::Context(device_);
        queue_ = cl::CommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE);
    } catch (const cl::Error& e) {
        throw Error(Blame::environment, "device '" + facts_.name + "' gives no context with a profiling queue: " +
                                            error_name(e.err()) + " from " + e.what());
    }
}

const TimerAudit& Session::timer() {
    if (timer_) return *timer_;
    const InPhase phase(Phase::timer_audit);
    return timer_.emplace(audit_timer(*this));
}

void Session::wait() {
    queue_.finish();
    last_wait_ = Clock::now();
}

std::span<const std::byte> Session::guard_pattern(std::uint64_t seed, std::size_t bytes) {
    if (guard_seed_ != seed || guard_pattern_.size() < bytes) {
        guard_pattern_.resize(std::max(bytes, guard_pattern_.size()));
        guard_seed_ = seed;
        model::poison(guard_pattern_, seed);
    }
    return std::span<const std::byte>(guard_pattern_).first(bytes);
}

std::size_t Session::displacement() {
    if (!placement_) return 0;
    constexpr std::size_t page = 4096, most_between = 1 << 20;
    between_.emplace_back(context_, CL_MEM_READ_WRITE, 1 + placement_->below(most_between));
    const std::size_t step = std::max<std::size_t>(facts_.base_align_bytes, 1);
    return step * placement_->below(page / step + 1);
}

GuardedBuffer::GuardedBuffer(Session& session, std::size_t size_bytes, std::size_t guard_bytes, bool mapped)
    : session_(&session), size_(size_bytes) {
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (mapped ? CL_MEM_ALLOC_HOST_PTR : 0);
    const std::size_t displaced = session.displacement();
    if (guard_bytes > 0 && session.guards()) {
        guard_ = round_up(guard_bytes, session.facts().base_align_bytes) + displaced;
        whole_ = cl::Buffer(session.context(), flags, guard_ + size_ + guard_);
        cl_buffer_region region{guard_, size_};
        inner_ = whole_.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region);
    } else {
        whole_ = inner_ = cl::Buffer(session.context(), flags, displaced + size_);
        cl_buffer_region region{displaced, size_};
        if (displaced > 0) inner_ = whole_.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region);
    }
}

void GuardedBuffer::arm(std::uint64_t seed) {
    if (guard_ == 0 || (armed_ && seed == seed_)) return;
    const auto pattern = session_->guard_pattern(seed, 2 * guard_);
    session_->queue().enqueueWriteBuffer(whole_, CL_TRUE, 0, guard_, pattern.data());
    session_->queue().enqueueWriteBuffer(whole_, CL_TRUE, guard_ + size_, guard_, pattern.data() + guard_);
    seed_ = seed;
    armed_ = true;
}

std::optional<std::string> GuardedBuffer::guard_damage(const std::string& name) {
    if (guard_ == 0) return std::nullopt;
    std::vector<std::byte> found(2 * guard_);
    session_->queue().enqueueReadBuffer(whole_, CL_TRUE, 0, guard_, found.data());
    session_->queue().enqueueReadBuffer(whole_, CL_TRUE, guard_ + size_, guard_, found.data() + guard_);
    const auto expected = session_->guard_pattern(seed_, 2 * guard_);
    if (std::memcmp(found.data(), expected.data(), found.size()) == 0) return std::nullopt;
    armed_ = false;
    const auto outside = [&](std::size_t bytes, const char* where) {
        return "first write " + std::to_string(bytes) + (bytes == 1 ? " byte " : " bytes ") + where + " of '" + name + "'";
    };
    for (std::size_t i = guard_; i-- > 0;) {
        if (found[i] != expected[i]) return outside(guard_ - i, "before the start");
    }
    std::size_t i = guard_;
    while (found[i] == expected[i]) ++i;
    return outside(i - guard_ + 1, "past the end");
}

double upload(Session& session, const cl::Buffer& buffer, std::span<const std::byte> data, model::Transfer how) {
    const auto& queue = session.queue();
    queue.finish();
    auto start = Clock::now();
    if (how == model::Transfer::copied) {
        queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, data.size(), data.data());
        return since(start);
    }
    void* mapped = queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, data.size());
    double seconds = since(start);
    std::memcpy(mapped, data.data(), data.size());
    start = Clock::now();
    queue.enqueueUnmapMemObject(buffer, mapped);
    queue.finish();
    return seconds + since(start);
}

double download(Session& session, const cl::Buffer& buffer, std::span<std::byte> data, model::Transfer how) {
    const auto& queue = session.queue();
    queue.finish();
    auto start = Clock::now();
    if (how == model::Transfer::copied) {
        queue.enqueueReadBuffer(buffer, CL_TRUE, 0, data.size(), data.data());
        return since(start);
    }
    void* mapped = queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_READ, 0, data.size());
    double seconds = since(start);
    std::memcpy(data.data(), mapped, data.size());
    start = Clock::now();
    queue.enqueueUnmapMemObject(buffer, mapped);
    queue.finish();
    return seconds + since(start);
}

}  // namespace cllab::device
