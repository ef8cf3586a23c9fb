#include "run/conditions/conditions.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "core/grouped.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/sysfs.hpp"
#include "run/executor.hpp"

namespace cllab::run {
namespace {

namespace fs = std::filesystem;
using device::first_line;

/// "madvise" of "always [madvise] never".
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

std::vector<Condition> host_conditions(const fs::path& root) {
    std::vector<Condition> out;
    const auto sys = root / "sys", proc = root / "proc";
    const auto cpus = sys / "devices/system/cpu";

    if (const auto all = governors(cpus); !all.empty()) {
        const bool steady = all.size() == 1 && *all.begin() == "performance";
        out.push_back({"governor", join({all.begin(), all.end()}, ", "), !steady,
                       "cpupower frequency-set -g performance (root)"});
    }
    if (const auto boost = first_line(cpus / "cpufreq/boost"))
        out.push_back({"boost", *boost == "0" ? "off" : "on", *boost != "0",
                       "echo 0 > /sys/devices/system/cpu/cpufreq/boost (root)"});
    else if (const auto no_turbo = first_line(cpus / "intel_pstate/no_turbo"))
        out.push_back({"boost", *no_turbo == "1" ? "off" : "on", *no_turbo != "1",
                       "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo (root)"});
    if (const auto pages = first_line(sys / "kernel/mm/transparent_hugepage/enabled")) {
        const auto mode = chosen(*pages);
        out.push_back({"huge pages", mode, mode == "always",
                       "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (root)"});
    }
    const auto online = first_line(cpus / "online");
    if (const auto load = first_line(proc / "loadavg")) {
        const auto minute = parse_real(load->substr(0, load->find(' ')));
        out.push_back({"load", load->substr(0, load->find(' ')) + " processes running in the last minute",
                       minute && *minute > 0.5, "end what else runs, or wait"});
    }
    if (const auto siblings = first_line(cpus / "smt/active"))
        out.push_back({"siblings", *siblings == "1" ? "two threads per core" : "one thread per core", *siblings == "1",
                       "echo off > /sys/devices/system/cpu/smt/control (root)"});
    if (const auto nodes = first_line(sys / "devices/system/node/online")) {
        const bool several = nodes->find_first_of(",-") != std::string::npos;
        out.push_back({"memory nodes", *nodes, several, "numactl --cpunodebind=0 --membind=0 cllab ..."});
    }
    if (const auto info = read_file(proc / "cpuinfo"); info && info->find(" hypervisor") != std::string::npos)
        out.push_back({"virtual machine", "yes", true, ""});
    if (const auto random = first_line(proc / "sys/kernel/randomize_va_space"))
        out.push_back({"random addresses", *random == "0" ? "off" : "on", false, ""});
    return out;
}

std::vector<Condition> nvidia_conditions(const std::string& line) {
    const auto fields = mapped(split(line, ','), trim);
    if (fields.size() < 5) return {};
    const auto now = parse_integer(fields[0]), most = parse_integer(fields[1]);
    std::vector<Condition> out;
    if (now && most)
        out.push_back({"GPU clock", fields[0] + " of at most " + fields[1] + " MHz", *now < *most,
                       "nvidia-smi --lock-gpu-clocks=MHZ (root) holds one clock"});
    // Bit 0 is "nothing to do", which every idle GPU says.
    const bool limited = fields[2].find_first_not_of("0x") != std::string::npos && fields[2] != "0x0000000000000001";
    out.push_back({"GPU clock limits", fields[2], limited,
                   "nvidia-smi -q -d PERFORMANCE names them: power, heat, a fixed clock"});
    out.push_back({"GPU persistence", fields[3], fields[3] == "Disabled", "nvidia-smi --persistence-mode=1 (root)"});
    out.push_back({"GPU partitions (MIG)", fields[4], fields[4] == "Enabled",
                   "another user may use the other partitions of the GPU"});
    return out;
}

const model::HostInfo& this_host() {
    static const model::HostInfo host = [] {
        model::HostInfo out;
        char name[256] = "";
        gethostname(name, sizeof name - 1);
        // Under Slurm the node's own name: several nodes may share a machine, and a container's host name says nothing.
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

}  // namespace cllab::run
