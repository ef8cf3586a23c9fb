#include "run/address_sampler.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <sstream>
#include <utility>

#include "core/clock.hpp"
#include "core/descriptor.hpp"
#include "core/reading.hpp"
#include "core/units.hpp"
#include "device/sysfs.hpp"

namespace cllab::run {
namespace {

constexpr unsigned enough_addresses = 400;

std::vector<pid_t> threads_of_this_process() {
    std::vector<pid_t> out;
    for (const auto& task : device::entries("/proc/self/task"))
        if (const auto id = parse_integer(task.filename().string())) out.push_back(static_cast<pid_t>(*id));
    return out;
}

class AddressSampler {
public:
    virtual ~AddressSampler() = default;
    virtual const char* method() const = 0;
    virtual void drain(std::vector<std::uint64_t>& into) = 0;
    virtual void stop() = 0;
};

/// One event and one ring buffer per thread.
class PerfSampler : public AddressSampler {
public:
    /// Fills `refused` if the system refuses the events.
    PerfSampler(std::uint64_t period_ns, std::string& refused) {
        perf_event_attr attr{};
        attr.size = sizeof attr;
        attr.type = PERF_TYPE_SOFTWARE;
        attr.config = PERF_COUNT_SW_CPU_CLOCK;
        attr.sample_period = period_ns;
        attr.sample_type = PERF_SAMPLE_IP;
        attr.exclude_kernel = 1;
        attr.exclude_hv = 1;
        attr.disabled = 1;
        for (const auto thread : threads_of_this_process()) {
            Descriptor fd(
                static_cast<int>(::syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC)));
            if (!fd && errno == ESRCH) continue;  // the thread has ended
            void* ring = MAP_FAILED;
            if (fd) ring = ::mmap(nullptr, (1 + pages) * page(), PROT_READ | PROT_WRITE, MAP_SHARED, fd.number(), 0);
            if (ring == MAP_FAILED) {
                refused = std::string("perf_event_open is refused: ") + std::strerror(errno);
                return;
            }
            events_.push_back({std::move(fd), static_cast<perf_event_mmap_page*>(ring)});
        }
        for (const auto& event : events_) ::ioctl(event.fd.number(), PERF_EVENT_IOC_ENABLE, 0);
    }
    ~PerfSampler() override {
        for (const auto& event : events_) ::munmap(event.ring, (1 + pages) * page());
    }
    PerfSampler(const PerfSampler&) = delete;
    PerfSampler& operator=(const PerfSampler&) = delete;

    const char* method() const override { return "perf_event_open, cpu-clock"; }
    void stop() override {
        for (const auto& event : events_) ::ioctl(event.fd.number(), PERF_EVENT_IOC_DISABLE, 0);
    }
    void drain(std::vector<std::uint64_t>& into) override {
        for (const auto& event : events_) {
            const auto head = std::atomic_ref(event.ring->data_head).load(std::memory_order_acquire);
            auto tail = event.ring->data_tail;
            for (perf_event_header header; tail + sizeof header <= head; tail += header.size) {
                copy(event.ring, tail, &header, sizeof header);
                if (header.size < sizeof header) break;
                std::uint64_t address = 0;
                if (header.type != PERF_RECORD_SAMPLE) continue;
                copy(event.ring, tail + sizeof header, &address, sizeof address);
                into.push_back(address);
            }
            std::atomic_ref(event.ring->data_tail).store(head, std::memory_order_release);
        }
    }
    /// Samples per thread that fit until they are drained.
    static std::size_t room() { return pages * page() / (sizeof(perf_event_header) + sizeof(std::uint64_t)); }

private:
    struct Event {
        Descriptor fd;
        perf_event_mmap_page* ring;
    };
    static constexpr std::size_t pages = 16;
    static std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
    static void copy(const perf_event_mmap_page* ring, std::uint64_t at, void* to, std::size_t bytes) {
        const auto* data = reinterpret_cast<const char*>(ring) + page();
        for (std::size_t i = 0; i < bytes; ++i) static_cast<char*>(to)[i] = data[(at + i) % (pages * page())];
    }

    std::vector<Event> events_;
};

#if defined(__x86_64__) || defined(__aarch64__)

constexpr std::size_t most_signals = 1 << 16;
std::uint64_t signal_addresses[most_signals];
std::atomic<std::size_t> signal_count{0};

void note_address(int, siginfo_t*, void* context) {
    const auto at = signal_count.fetch_add(1, std::memory_order_relaxed);
    if (at >= most_signals) return;
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    signal_addresses[at] = static_cast<std::uint64_t>(machine.gregs[REG_RIP]);
#else
    signal_addresses[at] = machine.pc;
#endif
}

/// A timer of each thread's CPU time, which sends that thread SIGPROF.
class SignalSampler : public AddressSampler {
public:
    SignalSampler(std::uint64_t period_ns, std::string& refused) {
        struct sigaction action {};
        if (::sigaction(SIGPROF, nullptr, &before_) != 0 ||
            (before_.sa_handler != SIG_DFL && before_.sa_handler != SIG_IGN)) {
            refused = "SIGPROF is already in use in this process";
            return;
        }
        signal_count = 0;
        action.sa_sigaction = note_address;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        ::sigaction(SIGPROF, &action, nullptr);
        installed_ = true;
        for (const auto thread : threads_of_this_process()) {
            sigevent event{};
            event.sigev_notify = SIGEV_THREAD_ID;
            event.sigev_signo = SIGPROF;
            event._sigev_un._tid = thread;
            // The CPU-time clock of a thread ID, computed as pthread_getcpuclockid does for a pthread_t.
            const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | 6u);
            timer_t timer;
            if (::timer_create(clock, &event, &timer) != 0) {
                if (errno == EINVAL) continue;  // the thread has ended
                refused = std::string("timers are refused: ") + std::strerror(errno);
                return;
            }
            timers_.push_back(timer);
            const timespec step{static_cast<time_t>(period_ns / 1'000'000'000),
                                static_cast<long>(period_ns % 1'000'000'000)};
            const itimerspec every{step, step};
            ::timer_settime(timer, 0, &every, nullptr);
        }
    }
    ~SignalSampler() override { SignalSampler::stop(); }
    SignalSampler(const SignalSampler&) = delete;
    SignalSampler& operator=(const SignalSampler&) = delete;

    const char* method() const override { return "SIGPROF"; }
    void stop() override {
        for (const auto timer : timers_) ::timer_delete(timer);
        timers_.clear();
        if (!installed_) return;
        // Ignoring the signal discards pending ones, whose default action would end the process.
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        ::sigaction(SIGPROF, &ignore, nullptr);
        ::sigaction(SIGPROF, &before_, nullptr);
        installed_ = false;
    }
    void drain(std::vector<std::uint64_t>& into) override {
        const auto count = std::min(signal_count.load(), most_signals);
        for (; drained_ < count; ++drained_) into.push_back(signal_addresses[drained_]);
    }

private:
    struct sigaction before_ {};
    bool installed_ = false;
    std::vector<timer_t> timers_;
    std::size_t drained_ = 0;
};

#endif

std::unique_ptr<AddressSampler> make_sampler(double piece, std::string& refused) {
    // Divides no period of a driver's own timers.
    constexpr double period_ns = 53'000;
    const double least_ns = 1.3e9 * piece / static_cast<double>(PerfSampler::room());
    auto perf = std::make_unique<PerfSampler>(static_cast<std::uint64_t>(std::max(period_ns, least_ns)), refused);
    if (refused.empty()) return perf;
    perf.reset();
#if defined(__x86_64__) || defined(__aarch64__)
    std::string also;
    auto signals = std::make_unique<SignalSampler>(1'000'000, also);
    if (also.empty()) {
        refused.clear();
        return signals;
    }
    refused += ", and " + also;
#endif
    return nullptr;
}

}  // namespace

std::vector<inspect::CodeRegion> executable_regions(std::string_view maps) {
    std::vector<inspect::CodeRegion> out;
    std::istringstream lines{std::string(maps)};
    for (std::string line; std::getline(lines, line);) {
        // "7f0a1000-7f0a3000 r-xp 00001000 08:01 123    /path with blanks"
        std::istringstream words(line);
        std::uint64_t begin = 0, end = 0;
        char dash = 0;
        std::string rights, offset, device, inode, path;
        words >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode;
        std::getline(words >> std::ws, path);
        const bool readable_code = rights.size() >= 3 && rights[0] == 'r' && rights[2] == 'x';
        if (!readable_code || path == "[vsyscall]" || end <= begin) continue;
        const auto bytes = static_cast<std::size_t>(end - begin);
        if (!out.empty() && out.back().path == path && out.back().address + out.back().bytes.size() == begin)
            out.back().bytes = {out.back().bytes.data(), out.back().bytes.size() + bytes};
        else
            out.push_back({begin, {reinterpret_cast<const std::byte*>(begin), bytes}, path});
    }
    return out;
}

std::vector<inspect::CodeRegion> copies_of_sampled(const std::vector<inspect::CodeRegion>& regions,
                                                   std::span<const std::uint64_t> addresses) {
    std::vector<inspect::CodeRegion> out;
    const Descriptor memory(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
    if (!memory) return out;
    for (const auto& region : regions) {
        const auto size = region.bytes.size();
        if (std::ranges::none_of(addresses, [&](auto a) { return a - region.address < size; })) continue;
        auto bytes = std::make_shared<std::vector<std::byte>>(size);
        std::size_t read = 0;
        while (read < size) {
            const auto n =
                ::pread(memory.number(), bytes->data() + read, size - read, static_cast<off_t>(region.address + read));
            if (n <= 0) break;
            read += static_cast<std::size_t>(n);
        }
        if (read == size) out.push_back({region.address, *bytes, region.path, bytes});
    }
    return out;
}

inspect::AddressSamples sample_addresses(const std::function<void()>& work, double piece, double seconds) {
    inspect::AddressSamples out;
    auto sampler = make_sampler(piece, out.refused);
    if (!sampler) return out;
    out.method = sampler->method();
    const auto start = Clock::now();
    for (double spent = 0; spent < seconds || (out.addresses.size() < enough_addresses && spent < 3 * seconds);
         spent = seconds_since(start)) {
        work();
        sampler->drain(out.addresses);
    }
    sampler->stop();
    sampler->drain(out.addresses);
    out.regions = copies_of_sampled(executable_regions(read_file("/proc/self/maps").value_or("")), out.addresses);
    return out;
}

}  // namespace cllab::run
