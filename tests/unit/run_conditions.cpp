#include <boost/test/unit_test.hpp>
#include <fstream>

#include "inspect/tools/tool.hpp"
#include "run/conditions/conditions.hpp"

BOOST_AUTO_TEST_SUITE(run_conditions)

using namespace cllab;
using run::Condition;

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
    std::vector<Condition> conditions() const { return run::host_conditions(folder_.path()); }

private:
    inspect::TempFolder folder_;
};

const Condition* find(const std::vector<Condition>& all, const std::string& name) {
    for (const auto& c : all)
        if (c.name == name) return &c;
    return nullptr;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_machine_that_disturbs_is_told_by_what_it_does_and_what_changes_it) {
    Machine machine;
    machine.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave")
        .file("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance")
        .file("sys/devices/system/cpu/intel_pstate/no_turbo", "0")
        .file("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never")
        .file("proc/loadavg", "3.12 2.00 1.00 4/200 12345")
        .file("sys/devices/system/cpu/smt/active", "1")
        .file("sys/devices/system/node/online", "0-1")
        .file("proc/cpuinfo", "flags\t\t: fpu hypervisor avx");
    const auto all = machine.conditions();
    for (const char* name :
         {"governor", "boost", "huge pages", "load", "siblings", "memory nodes", "virtual machine"}) {
        BOOST_TEST_CONTEXT(name) {
            const auto* c = find(all, name);
            BOOST_REQUIRE(c);
            BOOST_TEST(c->disturbs);
            BOOST_TEST(c->remedy.empty() == (std::string(name) == "virtual machine"));
        }
    }
    BOOST_TEST(find(all, "governor")->value == "performance, powersave");
    BOOST_TEST(find(all, "huge pages")->value == "always");
}

BOOST_AUTO_TEST_CASE(a_quiet_machine_disturbs_nothing_and_what_cannot_be_read_is_not_there) {
    Machine machine;
    machine.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance")
        .file("sys/devices/system/cpu/cpufreq/boost", "0")
        .file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
        .file("proc/loadavg", "0.05 0.01 0.00 1/200 12345")
        .file("sys/devices/system/node/online", "0");
    for (const auto& c : machine.conditions()) BOOST_TEST(!c.disturbs, c.name);
    BOOST_TEST(machine.conditions().size() == 5u);
    BOOST_TEST(Machine().conditions().empty());
}

BOOST_AUTO_TEST_CASE(a_gpu_below_its_clock_or_limited_disturbs) {
    const auto all = run::nvidia_conditions("345, 1980, 0x0000000000000004, Disabled, Enabled");
    BOOST_REQUIRE(all.size() == 4u);
    for (const auto& c : all) BOOST_TEST(c.disturbs, c.name);
    for (const auto& c : run::nvidia_conditions("1980, 1980, 0x0000000000000001, Enabled, Disabled"))
        BOOST_TEST(!c.disturbs, c.name);
    BOOST_TEST(run::nvidia_conditions("not available").empty());
}

BOOST_AUTO_TEST_SUITE_END()
