#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "device/clocks.hpp"

BOOST_AUTO_TEST_SUITE(device_clocks)

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
};

model::Device gpu(model::Implementation implementation, const std::string& identity) {
    model::Device out;
    out.name = "some card";
    out.type = model::DeviceType::gpu;
    out.implementation = implementation;
    out.identity = identity;
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(nvml_is_asked_for_the_device_of_this_uuid_and_its_limits_become_words) {
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

BOOST_AUTO_TEST_CASE(another_device_and_an_absent_library_are_said_in_a_sentence) {
    const Sysfs sysfs;
    std::string why;
    BOOST_TEST(!device::clock_reader(gpu(model::Implementation::nvidia, "UUID ffffffffffffffffffffffffffffffff"), why,
                                     sysfs.sources()));
    BOOST_TEST(why == "none: NVML knows no device with UUID ffffffffffffffffffffffffffffffff");
    BOOST_TEST(!device::clock_reader(gpu(model::Implementation::nvidia, "PCI 0000:3b:00.0"), why,
                                     {"libnot-here.so.1", sysfs.root}));
    BOOST_TEST(why.find("libnot-here.so.1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(amdgpu_marks_the_level_in_use_with_a_star) {
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

BOOST_AUTO_TEST_CASE(i915_names_each_reason_that_is_set) {
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

BOOST_AUTO_TEST_CASE(a_cpu_has_the_mean_of_its_processors_and_a_virtual_machine_says_that_it_has_none) {
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

BOOST_AUTO_TEST_CASE(nvidias_tools_are_asked_by_uuid_or_address_and_never_by_a_place_in_a_list) {
    BOOST_TEST(device::nvidia_id("UUID 00112233445566778899aabbccddeeff") ==
               "GPU-00112233-4455-6677-8899-aabbccddeeff");
    BOOST_TEST(device::nvidia_id("PCI 0000:3b:00.0") == "0000:3b:00.0");
    for (const char* other : {"", "UUID 0011", "UUID 00112233445566778899aabbccddeeff no. 2", "3"})
        BOOST_TEST(device::nvidia_id(other) == "");
}

BOOST_AUTO_TEST_SUITE_END()
