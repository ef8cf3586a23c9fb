// One device in use. It has its own context and in-order profiling queue, so that no query ever returns two devices.
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
    Clock::time_point last_use{};  ///< by the clock that all processes of a machine share
    ProgramBytes programs;         ///< programs that the process built from text
};

class Session {
public:
    /// Throws Error(environment) if the device cannot create a context or queue.
    explicit Session(const Found& found);
    ~Session();
    Session(const Session&) = delete;  // objects refer to its address
    Session& operator=(const Session&) = delete;

    const model::Device& facts() const { return facts_; }
    const cl::Device& device() const { return device_; }
    const cl::Context& context() const { return context_; }
    const cl::CommandQueue& queue() const { return queue_; }
    /// In-order queues; number 0 is queue(). Others are created at the first call.
    const cl::CommandQueue& queue(unsigned number);
    /// Waits for all enqueued work. If the device's events time the work, sleeps to free a core; a driver's own wait
    /// keeps a core busy (NVIDIA 580).
    void wait();
    /// True if builds and tools may run on the host's cores while the device works, several at once.
    bool works_beside_host() const;
    /// Fills the buffer in the fastest way. Not for timed transfers.
    void put(const cl::Buffer& buffer, std::span<const std::byte> data);
    /// The same. Data that goes to several buffers, or to one buffer several times, is uploaded once if there is room
    /// on the device.
    void put(const cl::Buffer& buffer, const model::SharedBytes& data);
    /// Whether put() may keep data on the device from now on. Use false for a cell that may need all of the device's
    /// memory.
    void keep_originals(bool keep);
    void get(const cl::Buffer& buffer, std::span<std::byte> data);
    /// Writes `bytes` of model::poison directly into the buffer. Returns false without writing if the host must make
    /// the poison and put() it.
    bool poison(const cl::Buffer& buffer, std::size_t bytes, std::uint64_t seed);
    Clock::time_point last_wait() const { return last_wait_; }
    /// Another process used the device until `when` (by the machine's shared clock), which kept it warm.
    void note_use(Clock::time_point when) { last_wait_ = std::max(last_wait_, when); }
    /// Whether the last warm-up ended because the device's speed had settled; nullopt before the first warm-up.
    std::optional<bool> settled() const { return settled_; }
    void set_settled(bool settled) { settled_ = settled; }
    /// The findings for another process; nullopt before the timer audit and the first warm-up.
    std::optional<DeviceState> device_state() const;
    /// Takes over the findings of another process. The device then counts as warm, as after use by this process.
    void inherit(const DeviceState& device_state);
    /// Programs that device::build() need not build from text; empty if that is as fast.
    KnownPrograms& programs() { return programs_; }
    /// `bytes` of model::poison for `seed`, the contents of guards. Kept for the next call.
    std::span<const std::byte> guard_pattern(std::uint64_t seed, std::size_t bytes);
    /// Randomizes the placement of later buffers from `seed`. Each buffer follows another allocation of random size and
    /// is displaced by up to a page within its own.
    void scatter(std::uint64_t seed) { placement_.emplace(seed); }
    /// Whether buffers made from now on have guards. The default is true.
    void set_guards(bool guards) { guards_ = guards; }
    bool guards() const { return guards_; }
    /// Host memory with arbitrary contents. Memory given to reuse() is used again if it has this size, because the
    /// first write to a new page costs more than the transfer of its bytes. reuse() changes a byte of each page.
    model::Bytes host_memory(std::size_t bytes);
    void reuse(model::Bytes memory);
    /// Displacement of the next buffer in bytes; 0 without scatter().
    std::size_t displacement();
    /// The timer audit. The first call makes it (about 0.1 s on a CPU).
    const TimerAudit& timer();
    /// Reads the clock; nullopt if the device has no readable clock. The first call looks for the reader.
    std::optional<Clocks> clocks();
    /// The size of a work-group that runs even if CL_KERNEL_WORK_GROUP_SIZE is smaller; 0: unknown.
    std::size_t largest_group() const { return largest_group_; }
    void set_largest_group(std::size_t items) { largest_group_ = items; }
    /// Returns the answer to `question`. Calls `ask` only the first time.
    bool remembered(const std::string& question, const std::function<bool()>& ask);

private:
    bool has_memory_of_its_own() const { return facts_.is_gpu() && !facts_.unified_memory; }
    /// Calls work(bytes) on the buffer's own memory, if mapping the buffer copies nothing. Otherwise, and for few
    /// bytes, which are copied as fast, does nothing and returns false.
    bool in_place(const cl::Buffer& buffer, std::size_t bytes, cl_map_flags how,
                  const std::function<void(std::span<std::byte>)>& work);
    Staging* staging(std::size_t bytes);  ///< nullptr if staging does not speed up a transfer of this size

    model::Device facts_;
    cl::Device device_;
    cl::Context context_;
    cl::CommandQueue queue_;
    std::vector<cl::CommandQueue> more_queues_;
    std::optional<TimerAudit> timer_;
    KnownPrograms programs_;
    std::optional<ClockReader> clock_reader_;  ///< an empty reader if there is no clock
    std::optional<bool> settled_;
    std::map<std::string, bool> answers_;
    Clock::time_point last_wait_{};
    std::size_t largest_group_ = 0;
    model::Bytes guard_pattern_;
    std::uint64_t guard_seed_ = 0;
    bool guards_ = true;
    std::optional<Random> placement_;
    std::vector<cl::Buffer> between_;  ///< allocations that displace later buffers
    std::vector<model::Bytes> spare_;  ///< for host_memory()
    std::unique_ptr<Staging> staging_;
    std::unique_ptr<Originals> originals_;
    std::unique_ptr<PoisonKernel> poison_;
    bool can_stage_ = true, can_poison_ = true, keeps_originals_ = true;
};

/// Host memory for a buffer in pages of one kind, as far as the system provides them.
class HostPages {
public:
    /// `bytes` of zeros, aligned to 2 MiB. pages: any requests no kind. Throws std::bad_alloc, also if the system does
    /// not repeat pages.
    HostPages(std::size_t bytes, model::Pages pages);
    ~HostPages();
    HostPages(const HostPages&) = delete;
    HostPages& operator=(const HostPages&) = delete;

    void* data() const { return data_; }
    /// Share of the memory that is in huge pages now, 0 to 1; nullopt if the system does not tell.
    std::optional<double> huge_share() const;
    /// Bytes after which repeated pages begin again.
    std::size_t period() const { return period_; }

private:
    void map_file(model::Pages pages);

    void* mapped_ = nullptr;
    void* data_ = nullptr;
    std::size_t mapped_bytes_ = 0, bytes_ = 0, period_ = 0;
};

/// Minimum guard on each side of a buffer. A write that misses by a few pages must not reach other memory.
inline constexpr std::size_t least_guard_bytes = 64 << 10;

/// Device memory between two guard zones. `buffer()` is the sub-buffer that kernels get, or the whole buffer without
/// guards.
class GuardedBuffer {
public:
    GuardedBuffer() = default;
    /// `size_bytes` > 0. guard_bytes: on each side, rounded up to the device's alignment of buffers; 0: no guards.
    /// transfer: mapped uses memory that the host can map (CL_MEM_ALLOC_HOST_PTR); host_pointer uses memory of the
    /// process. pages: on a CPU, any other value than any puts the buffer in such pages of the host. svm: uses shared
    /// virtual memory, whatever the transfer. Throws cl::Error if the device cannot allocate the buffer.
    GuardedBuffer(Session& session, std::size_t size_bytes, std::size_t guard_bytes, model::Transfer transfer,
                  model::Pages pages = model::Pages::any, bool svm = false);
    /// A buffer in the process's memory with one end at protected pages, and guards in the rest of its first and last
    /// page. A fault is reported under `name`, by elements of `element_bytes` unless 0.
    GuardedBuffer(Session& session, std::size_t size_bytes, Fence fence, const std::string& name,
                  std::size_t element_bytes);

    const cl::Buffer& buffer() const { return inner_; }
    /// A sub-buffer; the origin is a multiple of the device's alignment of buffers.
    cl::Buffer part(std::size_t origin_bytes, std::size_t size_bytes);
    std::size_t size_bytes() const { return size_; }
    std::byte* svm() const { return svm_; }  ///< the argument for kernels; nullptr without shared virtual memory
    /// For a fenced buffer: whether the device works in the given memory itself, so that it holds `contents`.
    bool lies_in_place(std::span<const std::byte> contents) const;
    /// HostPages::huge_share(); nullopt unless a kind of pages was requested.
    std::optional<double> huge_share() const { return asked_pages_ ? pages_->huge_share() : std::nullopt; }
    /// For separate and repeated pages: whether the device works in this memory, so that it is not all zeros.
    bool is_filled() const;
    /// For separate and repeated pages: gives every period the first period of `data`, or without data, of the buffer.
    void repeat_contents(std::span<const std::byte> data);
    /// Writes the guard pattern unless it is already there; call before each verification. `anew`: always write it.
    void arm(std::uint64_t seed, bool anew = false);
    /// What was written outside the buffer `name`: "first write " and append_outside(). nullopt if nothing was.
    std::optional<std::string> guard_damage(const std::string& name, std::size_t element_bytes = 0);

private:
    Session* session_ = nullptr;
    /// The next three are declared before the buffers that use them, so that they are destroyed after the buffers.
    std::shared_ptr<HostPages> pages_;
    std::shared_ptr<FencedPages> fenced_;
    std::shared_ptr<std::byte> shared_;
    std::byte* svm_ = nullptr;
    cl::Buffer whole_, inner_;
    std::size_t size_ = 0, before_ = 0, behind_ = 0;  ///< before_, behind_: bytes of the guards
    std::size_t begin_ = 0;                           ///< offset of inner_ in whole_
    std::uint64_t seed_ = 0;
    bool armed_ = false, asked_pages_ = false;
};

/// Blocking copy to the device, or back. Returns seconds by the host clock: of the whole copy, or for mapped buffers of
/// map and unmap without the fill.
double upload(Session& session, const cl::Buffer& buffer, std::span<const std::byte> data, model::Transfer how);
double download(Session& session, const cl::Buffer& buffer, std::span<std::byte> data, model::Transfer how);

}  // namespace cllab::device
