#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "core/text.hpp"
#include "run/executor.hpp"

namespace cllab::run {

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

std::uint64_t host_memory_bytes() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace cllab::run
