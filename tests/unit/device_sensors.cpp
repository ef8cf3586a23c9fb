#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "device/sensors.hpp"
#include "run/conditions/energy.hpp"

using namespace cllab;
namespace fs = std::filesystem;

namespace {

/// A folder that stands for /sys.
struct Sysfs {
    fs::path root = fs::temp_directory_path() / ("cllab-sysfs-" + std::to_string(getpid()));
    Sysfs() { fs::remove_all(root); }
    ~Sysfs() { fs::remove_all(root); }
    void file(const std::string& path, const std::string& text) const {
        fs::create_directories((root / path).parent_path());
        std::ofstream(root / path) << text;
    }
    device::Sources sources() const { return {CLLAB_FAKE_NVML, root}; }
    device::EnergyMeter meter(const model::Device& device) {
        why.clear();
        return device::energy_meter(device, why, sources());
    }
    std::string why;
};

model::Device device_of(model::DeviceType type, model::Implementation implementation, const std::string& identity) {
    model::Device out;
    out.name = "some card";
    out.type = type;
    out.implementation = implementation;
    out.identity = identity;
    return out;
}

model::Device gpu(model::Implementation implementation, const std::string& identity) {
    return device_of(model::DeviceType::gpu, implementation, identity);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(device_clocks)

BOOST_AUTO_TEST_CASE(nvml_is_asked_by_uuid_and_its_limits_become_words) {
    // The stand-in library (fake_nvml.cpp) knows one device, which runs at 1980 MHz at its power cap.
    const Sysfs sysfs;
    std::string why;
    const auto reader = device::clock_reader(
        gpu(model::Implementation::nvidia, "UUID 00112233445566778899aabbccddeeff"), why, sysfs.sources());
    BOOST_REQUIRE(reader);
    const auto clocks = reader();
    BOOST_REQUIRE(clocks);
    BOOST_TEST(*clocks->core_mhz == 1980);
    BOOST_TEST(clocks->limits == std::vector<std::string>({"power cap"}), boost::test_tools::per_element());
    BOOST_TEST(clocks->source == "NVML");
    BOOST_TEST(!!device::clock_reader(gpu(model::Implementation::nvidia, "PCI 0000:3b:00.0"), why, sysfs.sources()));
}

BOOST_AUTO_TEST_CASE(unknown_device_and_missing_library_have_a_reason) {
    const Sysfs sysfs;
    std::string why;
    BOOST_TEST(!device::clock_reader(gpu(model::Implementation::nvidia, "UUID ffffffffffffffffffffffffffffffff"), why,
                                     sysfs.sources()));
    BOOST_TEST(why == "none: NVML knows no device with UUID ffffffffffffffffffffffffffffffff");
    BOOST_TEST(!device::clock_reader(gpu(model::Implementation::nvidia, "PCI 0000:3b:00.0"), why,
                                     {"libnot-here.so.1", sysfs.root}));
    BOOST_TEST(why.find("libnot-here.so.1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(amdgpu_level_in_use_has_a_star) {
    const Sysfs sysfs;
    const std::string card = "bus/pci/devices/0000:03:00.0/";
    sysfs.file(card + "pp_dpm_sclk", "0: 852Mhz\n1: 991Mhz\n2: 1590Mhz *\n");
    sysfs.file(card + "pp_dpm_mclk", "0: 167Mhz\n1: 945Mhz *\n");
    sysfs.file(card + "hwmon/hwmon3/power1_average", "187000000\n");
    sysfs.file(card + "hwmon/hwmon3/temp1_input", "71000\n");
    std::string why;
    const auto reader = device::clock_reader(gpu(model::Implementation::amd, "PCI 0000:03:00.0"), why, sysfs.sources());
    BOOST_REQUIRE(reader);
    const auto clocks = reader();
    BOOST_REQUIRE(clocks);
    BOOST_TEST(*clocks->core_mhz == 1590);
    BOOST_TEST(clocks->limits.empty());
}

BOOST_AUTO_TEST_CASE(i915_reports_each_set_throttle_reason) {
    const Sysfs sysfs;
    const std::string gt = "bus/pci/devices/0000:00:02.0/drm/card1/gt/gt0/";
    sysfs.file(gt + "rps_act_freq_mhz", "1150\n");
    sysfs.file(gt + "throttle_reason_pl1", "1\n");
    sysfs.file(gt + "throttle_reason_thermal", "0\n");
    std::string why;
    const auto reader =
        device::clock_reader(gpu(model::Implementation::intel_gpu, "PCI 0000:00:02.0"), why, sysfs.sources());
    BOOST_REQUIRE(reader);
    const auto clocks = reader();
    BOOST_REQUIRE(clocks);
    BOOST_TEST(*clocks->core_mhz == 1150);
    BOOST_TEST(clocks->limits == std::vector<std::string>({"power cap"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(cpu_clock_is_the_mean_of_processors_or_has_a_reason) {
    const Sysfs sysfs;
    model::Device cpu;
    cpu.type = model::DeviceType::cpu;
    std::string why;
    BOOST_TEST(!device::clock_reader(cpu, why, sysfs.sources()));
    BOOST_TEST(why.find("no cpufreq") != std::string::npos);
    sysfs.file("devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3000000\n");
    sysfs.file("devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "2000000\n");
    const auto reader = device::clock_reader(cpu, why, sysfs.sources());
    BOOST_REQUIRE(reader);
    BOOST_TEST(*reader()->core_mhz == 2500);
}

BOOST_AUTO_TEST_CASE(nvidia_tools_are_asked_by_uuid_or_address_never_by_index) {
    BOOST_TEST(device::nvidia_id("UUID 00112233445566778899aabbccddeeff") ==
               "GPU-00112233-4455-6677-8899-aabbccddeeff");
    BOOST_TEST(device::nvidia_id("PCI 0000:3b:00.0") == "0000:3b:00.0");
    for (const char* other : {"", "UUID 0011", "UUID 00112233445566778899aabbccddeeff no. 2", "3"})
        BOOST_TEST(device::nvidia_id(other) == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(device_energy)

namespace {

const auto cpu = device_of(model::DeviceType::cpu, model::Implementation::pocl, "");
const auto nvidia =
    device_of(model::DeviceType::gpu, model::Implementation::nvidia, "UUID 00112233445566778899aabbccddeeff");
const auto amd = device_of(model::DeviceType::gpu, model::Implementation::amd, "PCI 0000:03:00.0");

/// A counter that moves every 50 ms, read every 2 ms: `watts`, and `late` once 2 s are over.
std::vector<run::EnergyReading> readings(double seconds, double watts, double late) {
    std::vector<run::EnergyReading> out;
    for (double t = 0; t < seconds; t += 0.002) {
        const double moved = 0.05 * static_cast<int>(t / 0.05);
        out.push_back({t, 1000 + watts * moved + (late - watts) * std::max(0.0, moved - 2)});
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(nvml_counts_millijoules) {
    Sysfs sysfs;
    const auto meter = sysfs.meter(nvidia);
    BOOST_REQUIRE(meter.joules);
    BOOST_TEST(meter.source == "NVML");
    const auto first = meter.joules(), then = meter.joules();  // the stand-in moves by 350 J at each reading
    BOOST_TEST(*then - *first == 350, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(mig_device_and_other_devices_have_no_energy_but_a_reason) {
    Sysfs sysfs;
    BOOST_TEST(
        !sysfs.meter(device_of(model::DeviceType::gpu, model::Implementation::nvidia, "PCI 0000:af:00.0")).joules);
    BOOST_TEST(sysfs.why.find("Volta") != std::string::npos);
    for (const auto& device : {cpu, amd}) {
        BOOST_TEST(!sysfs.meter(device).joules);
        BOOST_TEST(sysfs.why.find("through NVML") != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(power_windows_follow_the_counter_and_skip_the_lead) {
    const auto power = run::power_of(readings(6, 100, 300), 2, 0.5);
    BOOST_TEST(power.trouble == "");
    BOOST_REQUIRE(power.watts.size() >= 6u);
    for (const auto watts : power.watts) BOOST_TEST(watts == 300, boost::test_tools::tolerance(0.01));
    BOOST_TEST(power.updates >= 9u);
}

BOOST_AUTO_TEST_CASE(row_with_idle_gaps_has_no_energy_per_operation) {
    BOOST_TEST(run::trouble_of_row(1.1e-3, 1e-3) == "");
    BOOST_TEST(run::trouble_of_row(8e-6, 3e-6) ==
               "in a row operations take 8.00 us each, where one takes 3.00 us, so that the device rests between them");
}

BOOST_AUTO_TEST_CASE(stuck_or_decreasing_counter_gives_no_power) {
    BOOST_TEST(run::power_of(readings(3, 0, 0), 0.5, 0.5).trouble.find("moved too seldom in 3.00 s") == 0u);
    BOOST_TEST(run::power_of(readings(3, 100, -50), 0.5, 0.25).trouble == "went backwards");
    BOOST_TEST(run::power_of({}, 0.5, 0.25).trouble == "does not answer");
}

BOOST_AUTO_TEST_CASE(meter_is_read_during_work_until_it_stops_answering) {
    std::atomic<int> left = 5;
    const device::EnergyMeter meter{[&] { return --left >= 0 ? std::optional(1.0 * (5 - left)) : std::nullopt; }, ""};
    const auto found = run::readings_during(meter, [&] {
        while (left >= 0) usleep(1000);
    });
    BOOST_REQUIRE(found.size() == 5u);
    BOOST_TEST(found.front().joules == 1);
    BOOST_TEST(found.back().seconds > found.front().seconds);
}

BOOST_AUTO_TEST_SUITE_END()
