#include "run/one_core.hpp"

#include <algorithm>
#include <string>

#include "core/text.hpp"
#include "device/sysfs.hpp"

namespace cllab::run {
namespace {

/// The hardware threads of the calling thread's core that this process may use. Linux lists them as "3,19" or
/// "6-7".
cpu_set_t this_core() {
    cpu_set_t allowed, out;
    CPU_ZERO(&allowed);
    CPU_ZERO(&out);
    sched_getaffinity(0, sizeof allowed, &allowed);
    const int here = std::max(0, sched_getcpu());
    CPU_SET(here, &out);
    const auto list = device::first_line("/sys/devices/system/cpu/cpu" + std::to_string(here) +
                                         "/topology/thread_siblings_list");
    for (const auto& range : split(list.value_or(""), ',')) {
        const auto first = std::strtol(range.c_str(), nullptr, 10), dash = static_cast<long>(range.find('-'));
        const auto last = dash < 0 ? first : std::strtol(range.c_str() + dash + 1, nullptr, 10);
        for (auto cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &out);
    }
    return out;
}

void confine_all_threads(const cpu_set_t& to) {
    for (const auto& task : device::entries("/proc/self/task"))
        sched_setaffinity(static_cast<pid_t>(std::strtol(task.filename().c_str(), nullptr, 10)), sizeof to, &to);
}

}  // namespace

unsigned threads_of_this_core() {
    const auto core = this_core();
    return static_cast<unsigned>(CPU_COUNT(&core));
}

OneCore::OneCore() {
    CPU_ZERO(&before_);
    sched_getaffinity(0, sizeof before_, &before_);
    confine_all_threads(this_core());
}

OneCore::~OneCore() { confine_all_threads(before_); }

}  // namespace cllab::run
