#include "run/conditions/conditions.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "core/reading.hpp"
#include "core/text.hpp"
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
