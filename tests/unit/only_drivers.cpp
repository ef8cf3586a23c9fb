// Where a loader of OpenCL drivers finds the only ones of a process, the simulator say.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "device/driver_settings.hpp"

BOOST_AUTO_TEST_SUITE(only_drivers)

BOOST_AUTO_TEST_CASE(every_opencl_loader_finds_only_the_simulator) {
    const char* const set = std::getenv("OCL_ICD_VENDORS");
    const std::string before = set ? set : "";
    setenv("OCL_ICD_FILENAMES", "/another/libOpenCL.so", 1);  // Khronos' loader would take it too
    cllab::device::use_only_drivers({{"oclgrind.icd", "/there/liboclgrind-rt-icd.so"}});
    BOOST_TEST(!std::getenv("OCL_ICD_FILENAMES"));
    const char* const now = std::getenv("OCL_ICD_VENDORS");
    const std::filesystem::path folder = now ? now : "";
    if (set)
        setenv("OCL_ICD_VENDORS", before.c_str(), 1);
    else
        unsetenv("OCL_ICD_VENDORS");
    BOOST_TEST(folder.string().ends_with('/'));  // NVIDIA's joins the folder and the file as they are
    BOOST_REQUIRE(std::filesystem::is_directory(folder));
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        std::string line;
        std::getline(std::ifstream(file.path()), line);
        BOOST_TEST(file.path().extension() == ".icd");
        BOOST_TEST(line == "/there/liboclgrind-rt-icd.so");
    }
    BOOST_TEST(!std::filesystem::is_empty(folder));
}

BOOST_AUTO_TEST_SUITE_END()
