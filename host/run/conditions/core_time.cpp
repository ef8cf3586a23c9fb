#include "run/conditions/core_time.hpp"

#include <array>
#include <charconv>

#include "core/stats.hpp"

#ifdef __linux__
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

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
    std::vector<double> seconds, had;
    for (const auto& s : samples) {
        seconds.push_back(s.seconds);
        had.push_back(s.had.others.had);
    }
    const auto times = summarise(seconds);
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

#ifdef __linux__

namespace {

std::optional<CoreTime> read_thread(int file) {
    std::array<char, 96> text;
    const auto n = ::pread(file, text.data(), text.size(), 0);
    return n > 0 ? parse_schedstat({text.data(), static_cast<std::size_t>(n)}) : std::nullopt;
}

}  // namespace

CoreClock::CoreClock() : CoreClock("/proc/self/task", std::to_string(::syscall(SYS_gettid))) {}

CoreClock::CoreClock(const std::filesystem::path& tasks, const std::string& caller) {
    std::error_code code;
    for (std::filesystem::directory_iterator i(tasks, code), end; !code && i != end; i.increment(code)) {
        const int file = ::open((i->path() / "schedstat").c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        if (read_thread(file))
            files_.push_back({file, i->path().filename() == caller});
        else
            ::close(file);
    }
}

CoreClock::~CoreClock() {
    for (const auto& file : files_) ::close(file.number);
}

CoreClock::Reading CoreClock::now() const {
    Reading out;
    for (const auto& file : files_) {
        auto& sum = file.of_caller ? out.caller : out.others;
        sum = sum + read_thread(file.number).value_or(CoreTime{});
    }
    return out;
}

#else

CoreClock::CoreClock() = default;
CoreClock::CoreClock(const std::filesystem::path&, const std::string&) {}
CoreClock::~CoreClock() = default;
CoreClock::Reading CoreClock::now() const { return {}; }

#endif

}  // namespace cllab::run
