#include "run/core_time.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/stats.hpp"

#ifdef __linux__
#include <fcntl.h>
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
    std::vector<double> seconds;
    for (const auto& s : samples) seconds.push_back(s.seconds);
    const auto times = summarise(seconds);
    double duration = 0;
    CoreTime sum;
    for (const auto& s : samples) {
        if (s.seconds < times.q1 || s.seconds > times.q3) continue;
        duration += s.duration;
        sum = sum + s.cores;
    }
    if (!(duration > 0) || !(sum.had > 0)) return {};
    return {sum.had / duration, sum.waited / duration};
}

#ifdef __linux__

namespace {

std::optional<CoreTime> read_thread(int file) {
    std::array<char, 96> text;
    const auto n = ::pread(file, text.data(), text.size(), 0);
    return n > 0 ? parse_schedstat({text.data(), static_cast<std::size_t>(n)}) : std::nullopt;
}

}  // namespace

CoreClock::CoreClock(const std::filesystem::path& tasks) {
    std::error_code code;
    for (std::filesystem::directory_iterator i(tasks, code), end; !code && i != end; i.increment(code)) {
        const int file = ::open((i->path() / "schedstat").c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        if (read_thread(file)) files_.push_back(file);
        else ::close(file);
    }
}

CoreClock::~CoreClock() {
    for (const int file : files_) ::close(file);
}

CoreTime CoreClock::now() const {
    CoreTime out;
    for (const int file : files_) out = out + read_thread(file).value_or(CoreTime{});
    return out;
}

#else

CoreClock::CoreClock(const std::filesystem::path&) {}
CoreClock::~CoreClock() = default;
CoreTime CoreClock::now() const { return {}; }

#endif

}  // namespace cllab::run
