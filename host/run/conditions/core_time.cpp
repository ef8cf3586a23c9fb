#include "run/conditions/core_time.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <utility>

#include "core/grouped.hpp"
#include "core/stats.hpp"
#include "device/sysfs.hpp"

namespace cllab::run {

std::optional<CoreTime> parse_schedstat(std::string_view line) {
    std::array<unsigned long long, 2> nanoseconds{};
    const char *at = line.data(), *const end = line.data() + line.size();
    for (auto& number : nanoseconds) {
        const auto [next, error] = std::from_chars(at, end, number);
        if (error != std::errc() || next == end || *next != ' ') return std::nullopt;
        at = next + 1;
    }
    return CoreTime{1e-9 * static_cast<double>(nanoseconds[0]), 1e-9 * static_cast<double>(nanoseconds[1])};
}

CoresHad cores_had(const std::vector<SharedSample>& samples) {
    if (samples.size() < least_for_interval) return {};
    auto had = mapped(samples, [](const auto& s) { return s.had.others.had; });
    const auto times = summarise(mapped(samples, &SharedSample::seconds));
    double duration = 0;
    CoreClock::Reading sum;
    for (const auto& s : samples) {
        if (s.seconds < times.q1 || s.seconds > times.q3) continue;
        duration += s.duration;
        sum = sum + s.cores;
    }
    if (!(duration > 0) || !(times.median > 0)) return {};
    double waited = sum.others.waited;
    if (sum.others.had < 0.5 * duration) {
        for (std::size_t i = 0; i < samples.size(); ++i) had[i] += samples[i].had.caller.had;
        waited += sum.caller.waited;
    }
    const double by_one = median_of(had);
    return by_one > 0 ? CoresHad{by_one / times.median, waited / duration} : CoresHad{};
}

namespace {

std::optional<CoreTime> read_thread(const Descriptor& file) {
    std::array<char, 96> text;
    const auto n = ::pread(file.number(), text.data(), text.size(), 0);
    return n > 0 ? parse_schedstat({text.data(), static_cast<std::size_t>(n)}) : std::nullopt;
}

}  // namespace

CoreClock::CoreClock() : CoreClock("/proc/self/task", std::to_string(::syscall(SYS_gettid))) {}

CoreClock::CoreClock(const std::filesystem::path& tasks, const std::string& caller) {
    for (const auto& task : device::entries(tasks)) {
        Descriptor file(::open((task / "schedstat").c_str(), O_RDONLY | O_CLOEXEC));
        if (read_thread(file)) files_.push_back({std::move(file), task.filename() == caller});
    }
}

CoreClock::Reading CoreClock::now() const {
    Reading out;
    for (const auto& file : files_) {
        auto& sum = file.of_caller ? out.caller : out.others;
        sum = sum + read_thread(file.schedstat).value_or(CoreTime{});
    }
    return out;
}

}  // namespace cllab::run
