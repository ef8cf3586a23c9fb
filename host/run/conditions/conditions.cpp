#include "run/conditions/conditions.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#include "core/grouped.hpp"
#include "core/reading.hpp"
#include "core/stats.hpp"
#include "core/text.hpp"
#include "device/sysfs.hpp"
#include "run/executor.hpp"

namespace cllab::run {
namespace {

namespace fs = std::filesystem;
using device::first_line;

/// "madvise" from "always [madvise] never".
std::string chosen(const std::string& text) {
    const auto open = text.find('['), close = text.find(']');
    return open == std::string::npos || close == std::string::npos || close < open
               ? text
               : text.substr(open + 1, close - open - 1);
}

std::set<std::string> governors(const fs::path& cpus) {
    std::set<std::string> out;
    for (const auto& cpu : device::entries(cpus))
        if (const auto line = first_line(cpu / "cpufreq" / "scaling_governor")) out.insert(*line);
    return out;
}

}  // namespace

std::map<std::string, std::string> host_conditions(const fs::path& root) {
    std::map<std::string, std::string> out;
    const auto sys = root / "sys", proc = root / "proc";
    const auto cpus = sys / "devices/system/cpu";
    if (const auto all = governors(cpus); !all.empty()) out["governor"] = join({all.begin(), all.end()}, ", ");
    if (const auto boost = first_line(cpus / "cpufreq/boost"))
        out["boost"] = *boost == "0" ? "off" : "on";
    else if (const auto no_turbo = first_line(cpus / "intel_pstate/no_turbo"))
        out["boost"] = *no_turbo == "1" ? "off" : "on";
    if (const auto pages = first_line(sys / "kernel/mm/transparent_hugepage/enabled"))
        out["huge pages"] = chosen(*pages);
    if (const auto load = first_line(proc / "loadavg"))
        out["load"] = load->substr(0, load->find(' ')) + " processes running in the last minute";
    if (const auto siblings = first_line(cpus / "smt/active"))
        out["siblings"] = *siblings == "1" ? "two threads per core" : "one thread per core";
    if (const auto nodes = first_line(sys / "devices/system/node/online")) out["memory nodes"] = *nodes;
    if (const auto info = read_file(proc / "cpuinfo"); info && info->find(" hypervisor") != std::string::npos)
        out["virtual machine"] = "yes";
    if (const auto random = first_line(proc / "sys/kernel/randomize_va_space"))
        out["random addresses"] = *random == "0" ? "off" : "on";
    return out;
}

const model::HostInfo& this_host() {
    static const model::HostInfo host = [] {
        model::HostInfo out;
        char name[256] = "";
        gethostname(name, sizeof name - 1);
        // Under Slurm, use the node's name. Several nodes may share a machine, and a container's host name identifies
        // nothing.
        const char* node = std::getenv("SLURMD_NODENAME");
        out.name = node && *node ? node : name;
        std::ifstream cpuinfo("/proc/cpuinfo");
        for (std::string line; std::getline(cpuinfo, line);) {
            if (line.rfind("model name", 0) == 0) {
                out.cpu = trim(line.substr(line.find(':') + 1));
                break;
            }
        }
        utsname system{};
        if (uname(&system) == 0) out.os = std::string(system.sysname) + " " + system.release;
        out.threads = std::thread::hardware_concurrency();
        return out;
    }();
    return host;
}

model::DeviceInfo device_info(const model::Device& d) {
    return {d.platform, d.name, d.vendor, d.driver, model::name(d.type), d.selector, d.identity};
}

std::uint64_t host_memory_bytes() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

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
