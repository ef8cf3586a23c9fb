#include "device/session.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <thread>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/phases.hpp"
#include "core/units.hpp"
#include "device/staging.hpp"

namespace cllab::device {
namespace {

constexpr std::size_t huge_page = 2 << 20;

std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

/// Coarse-grained shared virtual memory of the device. The host accesses it through a buffer made of it. Throws
/// Unsupported if the device has none or cannot allocate this size.
std::shared_ptr<std::byte> shared_memory(const Session& session, std::size_t bytes) {
    cl_device_svm_capabilities has = 0;
    if (clGetDeviceInfo(session.device()(), CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, nullptr) != CL_SUCCESS ||
        !(has & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER))
        throw Unsupported("the device has no shared virtual memory (CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)");
    const auto context = session.context();
    auto* const data = clSVMAlloc(context(), CL_MEM_READ_WRITE, bytes, session.facts().base_align_bytes);
    if (!data)
        throw Unsupported("the device cannot allocate ", format_bytes(bytes), " of shared virtual memory (clSVMAlloc)");
    return {static_cast<std::byte*>(data), [context](std::byte* memory) { clSVMFree(context(), memory); }};
}

}  // namespace

Session::Session(const Found& found) : facts_(found.facts), device_(found.device) {
    const InPhase phase(Phase::driver_start);
    try {
        context_ = cl::Context(device_);
        queue_ = cl::CommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE);
    } catch (const cl::Error& e) {
        throw Error(Blame::environment, "device '" + facts_.name +
                                            "' cannot create a context with a profiling queue: " + e.what() +
                                            " returned " + error_name(e.err()));
    }
}

const cl::CommandQueue& Session::queue(unsigned number) {
    if (number == 0) return queue_;
    while (more_queues_.size() < number) more_queues_.emplace_back(context_, device_, CL_QUEUE_PROFILING_ENABLE);
    return more_queues_[number - 1];
}

std::optional<DeviceState> Session::device_state() const {
    if (!timer_ || !settled_) return std::nullopt;
    return DeviceState{*timer_, *settled_, last_wait_, programs_.made()};
}

void Session::inherit(const DeviceState& device_state) {
    timer_ = device_state.audit;
    settled_ = device_state.settled;
    note_use(device_state.last_use);
    programs_.add(device_state.programs);
}

const TimerAudit& Session::timer() {
    if (timer_) return *timer_;
    const InPhase phase(Phase::timer_audit);
    return timer_.emplace(audit_timer(*this));
}

Session::~Session() = default;

bool Session::works_beside_host() const {
    using model::Implementation;
    const auto whose = facts_.implementation;
    return facts_.is_gpu() &&
           (whose == Implementation::nvidia || whose == Implementation::amd || whose == Implementation::intel_gpu);
}

void Session::wait() {
    if (works_beside_host() && timer_ && timer_->trusted) {
        using std::chrono::microseconds;
        const auto start = Clock::now();
        cl::Event last;
        queue_.enqueueMarkerWithWaitList(nullptr, &last);
        queue_.flush();
        while (last.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() > CL_COMPLETE) {
            const auto waited = std::chrono::duration_cast<microseconds>(Clock::now() - start);
            std::this_thread::sleep_for(std::clamp(waited / 8, microseconds(10), microseconds(1000)));
        }
    }
    queue_.finish();  // reports any error
    for (const auto& queue : more_queues_) queue.finish();
    last_wait_ = Clock::now();
}

model::Bytes Session::host_memory(std::size_t bytes) {
    const auto found = std::ranges::find(spare_, bytes, &model::Bytes::size);
    if (found == spare_.end()) return model::Bytes(bytes);
    auto out = std::move(*found);
    spare_.erase(found);
    return out;
}

void Session::reuse(model::Bytes memory) {
    constexpr std::size_t least = 1 << 20, most = 4, page = 4096;
    if (memory.size() < least) return;
    if (spare_.size() == most) spare_.erase(spare_.begin());
    // If a driver reports a read but makes none, the memory must not hold another cell's correct results.
    for (std::size_t i = 0; i < memory.size(); i += page) memory[i] = ~memory[i];
    spare_.push_back(std::move(memory));
}

Staging* Session::staging(std::size_t bytes) {
    if (!has_memory_of_its_own() || bytes < Staging::worth_bytes || !can_stage_) return nullptr;
    try {
        if (!staging_) staging_ = std::make_unique<Staging>(*this);
    } catch (const cl::Error&) {
        can_stage_ = false;
    }
    return staging_.get();
}

bool Session::in_place(const cl::Buffer& buffer, std::size_t bytes, cl_map_flags how,
                       const std::function<void(std::span<std::byte>)>& work) {
    using model::Implementation;
    constexpr std::size_t worth_bytes = 1 << 20;
    // A driver copies on one core, with a page fault for each page of new memory. Here all cores share that work.
    if (!facts_.is_cpu() ||
        (facts_.implementation != Implementation::pocl && facts_.implementation != Implementation::intel_cpu) ||
        bytes < worth_bytes)
        return false;
    void* const at = queue_.enqueueMapBuffer(buffer, CL_TRUE, how, 0, bytes);
    work({static_cast<std::byte*>(at), bytes});
    queue_.enqueueUnmapMemObject(buffer, at);
    queue_.finish();
    return true;
}

void Session::put(const cl::Buffer& buffer, std::span<const std::byte> data) {
    if (in_place(buffer, data.size(), CL_MAP_WRITE, [&](auto bytes) { copy_bytes(bytes, data); })) return;
    if (auto* pinned = staging(data.size())) return pinned->upload(buffer, data);
    queue_.enqueueWriteBuffer(buffer, CL_TRUE, 0, data.size(), data.data());
}

void Session::put(const cl::Buffer& buffer, const model::SharedBytes& data) {
    if (keeps_originals_ && has_memory_of_its_own() && data.size() >= Staging::worth_bytes) {
        constexpr double part_of_device = 1.0 / 16;  // comparisons use 0.7 of it
        if (!originals_)
            originals_ = std::make_unique<Originals>(*this, part_of_device * static_cast<double>(facts_.global_bytes));
        if (originals_->put(buffer, data, [&](const cl::Buffer& to) { put(to, std::span<const std::byte>(*data)); }))
            return;
    }
    put(buffer, std::span<const std::byte>(*data));
}

void Session::keep_originals(bool keep) {
    keeps_originals_ = keep;
    if (!keep && originals_) originals_->drop();
}

void Session::get(const cl::Buffer& buffer, std::span<std::byte> data) {
    if (in_place(buffer, data.size(), CL_MAP_READ, [&](auto bytes) { copy_bytes(data, bytes); })) return;
    if (auto* pinned = staging(data.size())) return pinned->download(buffer, data);
    queue_.enqueueReadBuffer(buffer, CL_TRUE, 0, data.size(), data.data());
}

bool Session::poison(const cl::Buffer& buffer, std::size_t bytes, std::uint64_t seed) {
    constexpr std::size_t worth_bytes = 1 << 20;
    if (in_place(buffer, bytes, CL_MAP_WRITE, [&](auto all) { model::poison(all, seed); })) return true;
    if (!has_memory_of_its_own() || bytes < worth_bytes || bytes % 8 != 0 || !facts_.little_endian || !can_poison_)
        return false;
    try {
        if (!poison_) poison_ = std::make_unique<PoisonKernel>(*this);
    } catch (const std::exception&) {
        can_poison_ = false;
    }
    if (poison_) poison_->fill(buffer, bytes, seed);
    return poison_ != nullptr;
}

std::optional<Clocks> Session::clocks() {
    if (!clock_reader_) {
        std::string why;
        clock_reader_ = clock_reader(facts_, why);
    }
    return *clock_reader_ ? (*clock_reader_)() : std::nullopt;
}

bool Session::remembered(const std::string& question, const std::function<bool()>& ask) {
    if (const auto known = answers_.find(question); known != answers_.end()) return known->second;
    return answers_[question] = ask();
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

HostPages::HostPages(std::size_t bytes, model::Pages pages) : bytes_(round_up(bytes, huge_page)) {
    mapped_bytes_ = bytes_ + huge_page;
    mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    const auto address = reinterpret_cast<std::uintptr_t>(mapped_);
    data_ = reinterpret_cast<void*>((address + huge_page - 1) / huge_page * huge_page);
    // The system may ignore this advice; huge_share() reports the actual pages.
    if (model::are_of_file(pages))
        map_file(pages);
    else if (pages != model::Pages::any)
        madvise(data_, bytes_, pages == model::Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

void HostPages::map_file(model::Pages pages) {
    // Linux allows a process 65,530 mappings by default, so large buffers have longer periods.
    constexpr std::size_t page = 4096, most_mappings = 8192;
    period_ = round_up((bytes_ + most_mappings - 1) / most_mappings, page);
    const int file = memfd_create("cllab", MFD_CLOEXEC);
    const std::size_t each = pages == model::Pages::repeated ? period_ : bytes_;
    bool mapped = file >= 0 && ftruncate(file, static_cast<off_t>(each)) == 0;
    for (std::size_t at = 0; mapped && at < bytes_; at += each)
        mapped = mmap(static_cast<std::byte*>(data_) + at, std::min(each, bytes_ - at), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0) != MAP_FAILED;
    if (file >= 0) close(file);
    if (mapped) return;
    munmap(mapped_, mapped_bytes_);
    throw std::bad_alloc();
}

HostPages::~HostPages() { munmap(mapped_, mapped_bytes_); }

std::optional<double> HostPages::huge_share() const {
    // "7f0000200000-7f0000400000 rw-p …", then lines such as "AnonHugePages:      2048 kB" of that region.
    std::ifstream in("/proc/self/smaps");
    const auto first = reinterpret_cast<std::uintptr_t>(data_), last = first + bytes_;
    bool inside = false, said = false;
    double huge = 0;
    for (std::string line; std::getline(in, line);) {
        char* rest = nullptr;
        const auto begin = std::strtoull(line.c_str(), &rest, 16);
        if (*rest == '-') {
            const auto end = std::strtoull(rest + 1, nullptr, 16);
            inside = begin >= first && end <= last;
        } else if (inside && line.starts_with("AnonHugePages:")) {
            said = true;
            huge += 1024 * std::strtod(line.c_str() + 14, nullptr);
        }
    }
    return said ? std::optional(huge / static_cast<double>(bytes_)) : std::nullopt;
}

GuardedBuffer::GuardedBuffer(Session& session, std::size_t size_bytes, std::size_t guard_bytes,
                             model::Transfer transfer, model::Pages pages, bool svm)
    : session_(&session), size_(size_bytes) {
    const bool of_file = model::are_of_file(pages);
    const std::size_t displaced = of_file ? 0 : session.displacement();
    if (of_file || !session.guards()) guard_bytes = 0;
    if (guard_bytes > 0) before_ = behind_ = round_up(guard_bytes, session.facts().base_align_bytes) + displaced;
    begin_ = guard_bytes > 0 ? before_ : displaced;
    const std::size_t all = begin_ + size_ + behind_;
    cl_mem_flags flags = CL_MEM_READ_WRITE | (transfer == model::Transfer::mapped ? CL_MEM_ALLOC_HOST_PTR : 0);
    asked_pages_ = pages != model::Pages::any && session.facts().is_cpu();
    if (asked_pages_ || transfer == model::Transfer::host_pointer) {
        pages_ = std::make_shared<HostPages>(all, pages);
        flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    }
    void* memory = pages_ ? pages_->data() : nullptr;
    if (svm) {
        shared_ = shared_memory(session, all);
        memory = shared_.get();
        svm_ = shared_.get() + begin_;
        flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    }
    whole_ = inner_ = cl::Buffer(session.context(), flags, all, memory);
    if (begin_ > 0) inner_ = part(0, size_);
}

GuardedBuffer::GuardedBuffer(Session& session, std::size_t size_bytes, Fence fence, const std::string& name,
                             std::size_t element_bytes)
    : session_(&session),
      fenced_(std::make_shared<FencedPages>(size_bytes, session.facts().base_align_bytes, fence, name, element_bytes)),
      size_(size_bytes),
      before_(fenced_->offset()),
      behind_(fenced_->pages_bytes() - before_ - size_),
      begin_(before_) {
    whole_ = cl::Buffer(session.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, fenced_->pages_bytes(),
                        fenced_->pages());
    inner_ = part(0, size_);
}

cl::Buffer GuardedBuffer::part(std::size_t origin_bytes, std::size_t size_bytes) {
    const cl_buffer_region region{begin_ + origin_bytes, size_bytes};
    return whole_.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region);
}

bool GuardedBuffer::lies_in_place(std::span<const std::byte> contents) const {
    return fenced_ && equal_bytes({fenced_->pages() + before_, contents.size()}, contents);
}

bool GuardedBuffer::is_filled() const {
    const auto* const data = static_cast<const std::byte*>(pages_->data());
    return std::any_of(data, data + size_, [](std::byte b) { return b != std::byte{}; });
}

void GuardedBuffer::repeat_contents(std::span<const std::byte> data) {
    auto* const memory = static_cast<std::byte*>(pages_->data());
    const std::size_t period = std::min(pages_->period(), size_);
    const auto* const from = data.size() < period ? memory : data.data();
    const std::vector<std::byte> contents(from, from + period);
    for (std::size_t at = 0; at < size_; at += period)
        std::memcpy(memory + at, contents.data(), std::min(period, size_ - at));
}

void GuardedBuffer::arm(std::uint64_t seed, bool anew) {
    if (before_ + behind_ == 0 || (armed_ && seed == seed_ && !anew)) return;
    const auto pattern = session_->guard_pattern(seed, before_ + behind_);
    const auto& queue = session_->queue();
    if (before_ > 0) queue.enqueueWriteBuffer(whole_, CL_TRUE, 0, before_, pattern.data());
    if (behind_ > 0) queue.enqueueWriteBuffer(whole_, CL_TRUE, before_ + size_, behind_, pattern.data() + before_);
    seed_ = seed;
    armed_ = true;
}

std::optional<std::string> GuardedBuffer::guard_damage(const std::string& name, std::size_t element_bytes) {
    if (before_ + behind_ == 0) return std::nullopt;
    std::vector<std::byte> found(before_ + behind_);
    const auto& queue = session_->queue();
    if (before_ > 0) queue.enqueueReadBuffer(whole_, CL_TRUE, 0, before_, found.data());
    if (behind_ > 0) queue.enqueueReadBuffer(whole_, CL_TRUE, before_ + size_, behind_, found.data() + before_);
    const auto expected = session_->guard_pattern(seed_, before_ + behind_);
    if (std::memcmp(found.data(), expected.data(), found.size()) == 0) return std::nullopt;
    armed_ = false;
    const auto outside = [&](std::size_t offset) {
        std::array<char, fault_text_bytes> text;
        const char* const end = append_outside(text.data(), text.data() + text.size(), name.c_str(),
                                               static_cast<std::ptrdiff_t>(offset), size_, element_bytes);
        return "first write " + std::string(static_cast<const char*>(text.data()), end);
    };
    for (std::size_t i = before_; i-- > 0;) {
        if (found[i] != expected[i]) return outside(i - before_);
    }
    std::size_t i = before_;
    while (found[i] == expected[i]) ++i;
    return outside(size_ + i - before_);
}

namespace {

/// Seconds of a transfer by `copy`, or of mapping and unmapping the buffer. `use` fills or reads the mapped buffer and
/// is not timed.
template <typename Copy, typename Use>
double time_transfer(const cl::CommandQueue& queue, const cl::Buffer& buffer, std::size_t bytes, model::Transfer how,
                     cl_map_flags flags, Copy copy, Use use) {
    queue.finish();
    auto start = Clock::now();
    if (!is_in_place(how)) {
        copy();
        return seconds_since(start);
    }
    void* mapped = queue.enqueueMapBuffer(buffer, CL_TRUE, flags, 0, bytes);
    const double seconds = seconds_since(start);
    use(mapped);
    start = Clock::now();
    queue.enqueueUnmapMemObject(buffer, mapped);
    queue.finish();
    return seconds + seconds_since(start);
}

}  // namespace

double upload(Session& session, const cl::Buffer& buffer, std::span<const std::byte> data, model::Transfer how) {
    const auto& queue = session.queue();
    return time_transfer(
        queue, buffer, data.size(), how, CL_MAP_WRITE_INVALIDATE_REGION,
        [&] { queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, data.size(), data.data()); },
        [&](void* mapped) { std::memcpy(mapped, data.data(), data.size()); });
}

double download(Session& session, const cl::Buffer& buffer, std::span<std::byte> data, model::Transfer how) {
    const auto& queue = session.queue();
    return time_transfer(
        queue, buffer, data.size(), how, CL_MAP_READ,
        [&] { queue.enqueueReadBuffer(buffer, CL_TRUE, 0, data.size(), data.data()); },
        [&](void* mapped) { std::memcpy(data.data(), mapped, data.size()); });
}

}  // namespace cllab::device
