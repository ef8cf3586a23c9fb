// One device in use: its own context and in-order profiling queue, so that no query ever sees two devices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/random.hpp"
#include "device/cl.hpp"
#include "device/fence.hpp"
#include "device/platforms.hpp"
#include "device/program.hpp"
#include "device/sensors.hpp"
#include "device/timer.hpp"
#include "model/experiment.hpp"

namespace cllab::device {

class Originals;
class Staging;
class PoisonKernel;

/// Findings of one process about a device that the next process can reuse.
struct DeviceState {
    TimerAudit audit;
    bool settled = false;          ///< Session::settled()
    Clock::time_point last_use{};  ///< by the clock that the processes of a machine share
    ProgramBytes programs;         ///< those that it built from text
};

class Session {
public:
    /// Throws Error(environment) when the device gives no context or queue.
    explicit Session(const Found& found);
    ~Session();
    Session(const Session&) = delete;  // what it made knows where it is
    Session& operator=(const Session&) = delete;

    const model::Device& facts() const { return facts_; }
    const cl::Device& device() const { return device_; }
    const cl::Context& context() const { return context_; }
    const cl::CommandQueue& queue() const { return queue_; }
    /// In-order queues beside that one, which is number 0. Made at the first call.
    const cl::CommandQueue& queue(unsigned number);
    /// Waits until the device has done all that was enqueued. Sleeps where the device's own clock times what runs, so
    /// that a core is free meanwhile; a driver's own wait keeps one busy (NVIDIA 580).
    void wait();
    /// Builds and tools may run on the host's cores beside what the device does, and several at once.
    bool works_beside_host() const;
    /// The buffer's contents, the fastest way there is, when nobody asks how long it takes.
    void put(const cl::Buffer& buffer, std::span<const std::byte> data);
    /// The same; what several buffers get, or one more than once, goes to the device once as long as there is room for
    /// it.
    void put(const cl::Buffer& buffer, const model::SharedBytes& data);
    /// Whether put() may keep data on the device from now on; not beside a cell that may need all of its memory.
    void keep_originals(bool keep);
    void get(const cl::Buffer& buffer, std::span<std::byte> data);
    /// model::poison of so many bytes, made where they lie. False, and nothing done, where the host is to make it and
    /// put() it there.
    bool poison(const cl::Buffer& buffer, std::size_t bytes, std::uint64_t seed);
    Clock::time_point last_wait() const { return last_wait_; }
    /// Another process used the device until `when` (by the machine's shared clock), which kept it warm.
    void note_use(Clock::time_point when) { last_wait_ = std::max(last_wait_, when); }
    /// Whether the device's warm-up ended because its speed had settled; nothing before the first.
    std::optional<bool> settled() const { return settled_; }
    void set_settled(bool settled) { settled_ = settled; }
    /// The findings to hand to another process; nothing before the audit and a first warm-up.
    std::optional<DeviceState> device_state() const;
    /// Takes over the findings of another process. The device counts as warm for as long as after this process's own
    /// use.
    void inherit(const DeviceState& device_state);
    /// Those that device::build() need not make of text; empty where that is as fast.
    KnownPrograms& programs() { return programs_; }
    /// `bytes` of model::poison for `seed`: what stands in the guards. Kept for the next call.
    std::span<const std::byte> guard_pattern(std::uint64_t seed, std::size_t bytes);
    /// Randomizes the placement of later buffers from `seed`: each is displaced by up to a page within its allocation,
    /// behind another allocation of random size.
    void scatter(std::uint64_t seed) { placement_.emplace(seed); }
    /// Whether buffers made from now on have guards; they have before.
    void set_guards(bool guards) { guards_ = guards; }
    bool guards() const { return guards_; }
    /// Host memory with arbitrary contents; that of reuse() if the size is the same, because the first write to a new
    /// page costs more than the transfer of its bytes. reuse() changes a byte of each page.
    model::Bytes host_memory(std::size_t bytes);
    void reuse(model::Bytes memory);
    /// Bytes that the next buffer is displaced by; 0 without scatter().
    std::size_t displacement();
    /// The timer audit, made at the first call (about 0.1 s on a CPU) and kept.
    const TimerAudit& timer();
    /// A reading of the clock, or nothing where none is to be had; looked for at the first call.
    std::optional<Clocks> clocks();
    /// Groups of so many work-items run, whatever CL_KERNEL_WORK_GROUP_SIZE says; 0: that is not known.
    std::size_t largest_group() const { return largest_group_; }
    void set_largest_group(std::size_t items) { largest_group_ = items; }
    /// What `ask` answered to `question` when it was first asked here.
    bool remembered(const std::string& question, const std::function<bool()>& ask);

private:
    bool has_memory_of_its_own() const { return facts_.is_gpu() && !facts_.unified_memory; }
    /// Calls work(bytes) for the buffer's own bytes, where to map it gives their address and copies nothing. False, and
    /// nothing done, elsewhere, and for few bytes, which are as soon copied.
    bool in_place(const cl::Buffer& buffer, std::size_t bytes, cl_map_flags how,
                  const std::function<void(std::span<std::byte>)>& work);
    Staging* staging(std::size_t bytes);  ///< nothing where so many bytes go as fast without

    model::Device facts_;
    cl::Device device_;
    cl::Context context_;
    cl::CommandQueue queue_;
    std::vector<cl::CommandQueue> more_queues_;
    std::optional<TimerAudit> timer_;
    KnownPrograms programs_;
    std::optional<ClockReader> clock_reader_;  ///< an empty one where there is no clock
    std::optional<bool> settled_;
    std::map<std::string, bool> answers_;
    Clock::time_point last_wait_{};
    std::size_t largest_group_ = 0;
    model::Bytes guard_pattern_;
    std::uint64_t guard_seed_ = 0;
    bool guards_ = true;
    std::optional<Random> placement_;
    std::vector<cl::Buffer> between_;  ///< allocated to displace what comes after
    std::vector<model::Bytes> spare_;  ///< host_memory()
    std::unique_ptr<Staging> staging_;
    std::unique_ptr<Originals> originals_;
    std::unique_ptr<PoisonKernel> poison_;
    bool can_stage_ = true, can_poison_ = true, keeps_originals_ = true;
};

/// Memory of the host for a buffer that shall lie in pages of one kind, as far as the system gives them.
class HostPages {
public:
    /// `bytes` of zeros, aligned to 2 MiB. pages: any asks for no kind. Throws std::bad_alloc.
    HostPages(std::size_t bytes, model::Pages pages);
    ~HostPages();
    HostPages(const HostPages&) = delete;
    HostPages& operator=(const HostPages&) = delete;

    void* data() const { return data_; }
    /// Part of the memory that lies in huge pages now, 0 to 1; nothing where the system does not say.
    std::optional<double> huge_share() const;

private:
    void* mapped_ = nullptr;
    void* data_ = nullptr;
    std::size_t mapped_bytes_ = 0, bytes_ = 0;
};

/// The least guard on each side of a buffer: a write that misses by a page or a few must not land in other memory.
inline constexpr std::size_t least_guard_bytes = 64 << 10;

/// Device memory between two guard zones. `buffer()` is the sub-buffer kernels get; without guards it is the buffer.
class GuardedBuffer {
public:
    GuardedBuffer() = default;
    /// `size_bytes` > 0. guard_bytes: on each side, rounded up to what the device aligns buffers to; 0: no guards.
    /// transfer: mapped, allocated where the host can map it (CL_MEM_ALLOC_HOST_PTR); host_pointer, in memory of the
    /// process. Throws cl::Error when the device has no room. pages: on a CPU the buffer lies in such pages of the
    /// host's, unless any.
    /// svm: in shared virtual memory, whatever the transfer.
    GuardedBuffer(Session& session, std::size_t size_bytes, std::size_t guard_bytes, model::Transfer transfer,
                  model::Pages pages = model::Pages::any, bool svm = false);
    /// A buffer in the process's memory with one end at inaccessible pages, and guards in the rest of its first and
    /// last page. A fault is reported under `name`.
    GuardedBuffer(Session& session, std::size_t size_bytes, Fence fence, const std::string& name);

    const cl::Buffer& buffer() const { return inner_; }
    /// A sub-buffer of it; the origin is a multiple of what the device aligns buffers to.
    cl::Buffer part(std::size_t origin_bytes, std::size_t size_bytes);
    std::size_t size_bytes() const { return size_; }
    std::byte* svm() const { return svm_; }  ///< what a kernel is given instead; nullptr: it is no such memory
    /// For a fenced buffer: whether the device works in the given memory itself, which then holds `contents`.
    bool lies_in_place(std::span<const std::byte> contents) const;
    /// HostPages::huge_share(); nothing unless the buffer asked for a kind of pages.
    std::optional<double> huge_share() const { return asked_pages_ ? pages_->huge_share() : std::nullopt; }
    /// Writes the guard pattern, unless it stands there; call before each verification. `anew`: whether or not.
    void arm(std::uint64_t seed, bool anew = false);
    /// Nothing, or what was written outside of the buffer `name`: "first write 3 bytes before the start of 'dst'".
    std::optional<std::string> guard_damage(const std::string& name);

private:
    Session* session_ = nullptr;
    std::shared_ptr<HostPages> pages_;  ///< goes after the buffers that use it, as do
    std::shared_ptr<FencedPages> fenced_;
    std::shared_ptr<std::byte> shared_;
    std::byte* svm_ = nullptr;
    cl::Buffer whole_, inner_;
    std::size_t size_ = 0, before_ = 0, behind_ = 0;  ///< before_, behind_: bytes of its guards
    std::size_t begin_ = 0;                           ///< of inner_ in whole_
    std::uint64_t seed_ = 0;
    bool armed_ = false, asked_pages_ = false;
};

/// Blocking copy to the device and back. Returns host-clock seconds: of the whole copy, or, for mapped buffers, of map
/// and unmap without the fill.
double upload(Session& session, const cl::Buffer& buffer, std::span<const std::byte> data, model::Transfer how);
double download(Session& session, const cl::Buffer& buffer, std::span<std::byte> data, model::Transfer how);

}  // namespace cllab::device
