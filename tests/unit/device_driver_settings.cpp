// The settings of drivers that a process of this program makes for itself.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/reading.hpp"
#include "device/driver_settings.hpp"

using namespace cllab;

BOOST_AUTO_TEST_SUITE(driver_settings)

namespace {

std::string setting(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_process_has_a_driver_cache_folder_until_all_have_ended) {
    unsetenv("CUDA_CACHE_DISABLE");
    device::use_own_cache();
    const std::filesystem::path mine = setting("CUDA_CACHE_PATH");
    BOOST_TEST(!std::filesystem::exists(mine), "a driver must find nothing there");
    BOOST_TEST(device::driver_settings().at("CUDA_CACHE_PATH").find(mine.string()) == std::string::npos,
               "the name of a folder that is gone says nothing");
    const auto child = fork();
    if (child == 0) {
        device::use_own_cache();
        const std::filesystem::path its = setting("CUDA_CACHE_PATH");
        std::filesystem::create_directories(its);
        _exit(its != mine && its.parent_path() == mine.parent_path() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    BOOST_TEST(status == 0);
    BOOST_TEST(std::filesystem::exists(mine.parent_path()));
    remove_own_folder();
    BOOST_TEST(!std::filesystem::exists(mine.parent_path()));
}

BOOST_AUTO_TEST_CASE(driver_variables_are_recognised_by_prefix) {
    constexpr const char* others[]{"CLLAB_IS_NO_DRIVER", "NEO4J_PASSWORD", "GPU_CLOUD_TOKEN", "AMD_LOGIN"};
    setenv("POCL_WORK_GROUP_METHOD", "cbs", 1);
    for (const char* other : others) setenv(other, "1", 1);
    const auto known = device::driver_settings();
    unsetenv("POCL_WORK_GROUP_METHOD");
    for (const char* other : others) unsetenv(other);
    BOOST_TEST(known.at("POCL_WORK_GROUP_METHOD") == "cbs");
    for (const char* other : others) BOOST_TEST(!known.contains(other), other);
}

BOOST_AUTO_TEST_CASE(cache_settings_of_the_user_are_kept) {
    for (const char* said : {"0", "1"}) {
        setenv("CUDA_CACHE_DISABLE", said, 1);
        setenv("CUDA_CACHE_PATH", "/there", 1);
        device::use_own_cache();
        BOOST_TEST(setting("CUDA_CACHE_PATH") == "/there");
        BOOST_TEST(setting("CUDA_CACHE_DISABLE") == said);
    }
    unsetenv("CUDA_CACHE_DISABLE");
    unsetenv("CUDA_CACHE_PATH");
}

BOOST_AUTO_TEST_CASE(threads_are_pinned_only_if_idle_and_not_set_by_the_user) {
    cpu_set_t all;
    BOOST_TEST_REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    bool every = CPU_COUNT(&all) == online;
    for (long core = 0; core < online; ++core) every = every && CPU_ISSET(static_cast<std::size_t>(core), &all);
    if (!every) {
        BOOST_TEST_MESSAGE("skipped: this process may not use all cores, or one of the first is offline");
        return;
    }
    const auto pinned = [](int (*running)() = [] { return 1; }) {
        device::pin_threads(running);
        const auto out = setting("POCL_AFFINITY");
        unsetenv("POCL_AFFINITY");
        return out;
    };
    for (const char* name : {"POCL_AFFINITY", "POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"}) unsetenv(name);
    BOOST_TEST(pinned() == "1");
    BOOST_TEST(pinned([] { return 2; }) == "", "what shares its core with another process had better move");
    BOOST_TEST(device::threads_that_run() >= 1);
    setenv("POCL_AFFINITY", "0", 1);
    BOOST_TEST(pinned() == "0");
    setenv("POCL_MAX_PTHREAD_COUNT", "1", 1);
    BOOST_TEST(pinned() == "");
    unsetenv("POCL_MAX_PTHREAD_COUNT");
    if (CPU_COUNT(&all) < 2) return;
    cpu_set_t fewer = all;
    CPU_CLR(0, &fewer);
    BOOST_TEST_REQUIRE(sched_setaffinity(0, sizeof fewer, &fewer) == 0);
    BOOST_TEST(pinned() == "", "PoCL would run on the core that this process may not use");
    sched_setaffinity(0, sizeof all, &all);
}

BOOST_AUTO_TEST_SUITE_END()
