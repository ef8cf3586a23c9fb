#include <boost/test/unit_test.hpp>
#include <fstream>

#include "inspect/tools/tool.hpp"
#include "run/conditions/conditions.hpp"

BOOST_AUTO_TEST_SUITE(run_conditions)

using namespace cllab;

namespace {

/// A machine as /proc and /sys would show it.
class Machine {
public:
    Machine& file(const std::string& path, const std::string& text) {
        const auto whole = folder_.path() / path;
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream(whole) << text << '\n';
        return *this;
    }
    std::map<std::string, std::string> conditions() const { return run::host_conditions(folder_.path()); }

private:
    inspect::TempFolder folder_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(machine_conditions_that_affect_timing_are_reported) {
    Machine machine;
    machine.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave")
        .file("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance")
        .file("sys/devices/system/cpu/intel_pstate/no_turbo", "0")
        .file("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never")
        .file("proc/loadavg", "3.12 2.00 1.00 4/200 12345")
        .file("sys/devices/system/cpu/smt/active", "1")
        .file("sys/devices/system/node/online", "0-1")
        .file("proc/cpuinfo", "flags\t\t: fpu hypervisor avx")
        .file("proc/sys/kernel/randomize_va_space", "0");
    const std::map<std::string, std::string> expected{{"boost", "on"},
                                                      {"governor", "performance, powersave"},
                                                      {"huge pages", "always"},
                                                      {"load", "3.12 processes running in the last minute"},
                                                      {"memory nodes", "0-1"},
                                                      {"random addresses", "off"},
                                                      {"siblings", "two threads per core"},
                                                      {"virtual machine", "yes"}};
    BOOST_TEST((machine.conditions() == expected));
}

BOOST_AUTO_TEST_CASE(unreadable_conditions_are_omitted) {
    Machine machine;
    machine.file("sys/devices/system/cpu/cpufreq/boost", "0")
        .file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
    const std::map<std::string, std::string> expected{{"boost", "off"}, {"huge pages", "madvise"}};
    BOOST_TEST((machine.conditions() == expected));
    BOOST_TEST(Machine().conditions().empty());
}

BOOST_AUTO_TEST_SUITE_END()
