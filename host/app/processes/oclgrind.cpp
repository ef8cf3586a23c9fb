#include "app/processes/oclgrind.hpp"

#include <sys/resource.h>

#include <cstdlib>

#include "app/processes/worker.hpp"
#include "core/error.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "device/driver_settings.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_buffer_bytes = 2ull << 30;  ///< of all buffers
constexpr std::uint64_t most_local_bytes = 228 << 10;    ///< of a group; the largest of any GPU

/// Empty: it is not installed.
fs::path find_library() {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/etc/OpenCL/vendors", ignored)) {
        const auto text = trim(cllab::read_file(entry.path()).value_or(""));
        if (text.find("oclgrind") != std::string::npos && fs::exists(text, ignored)) return text;
    }
    for (const char* path : {"/usr/lib/oclgrind/liboclgrind-rt-icd.so", "/usr/lib/liboclgrind-rt-icd.so",
                             "/usr/local/lib/liboclgrind-rt-icd.so"})
        if (fs::exists(path, ignored)) return path;
    return {};
}

/// Empty: this program was built without it.
fs::path find_plugin() {
    constexpr const char* name = "cllab-count-plugin.so";
    std::error_code ignored;
    const auto is_there = [&](const fs::path& path) { return fs::is_regular_file(path, ignored); };
    if (const char* given = std::getenv("CLLAB_COUNT_PLUGIN")) {
        if (is_there(given)) return given;
        throw Error(Blame::environment, "there is no plugin '" + excerpt(given) + "' (CLLAB_COUNT_PLUGIN)");
    }
    const auto folder = this_program().parent_path();
    for (const auto& path : {folder / name, folder.parent_path() / "lib" / "cllab" / name})
        if (is_there(path)) return path;
    return {};
}

}  // namespace

Oclgrind find_oclgrind(const std::string& for_what, bool needs_plugin) {
    Oclgrind out{find_library(), find_plugin()};
    if (out.library.empty())
        throw Error(Blame::environment,
                    for_what + " needs Oclgrind, which is not installed; on Debian: apt-get install oclgrind");
    if (needs_plugin && out.plugin.empty())
        throw Error(Blame::environment,
                    "this cllab was built without the plugin that counts; on Debian: apt-get install liboclgrind-dev "
                    "llvm-14-dev, then build it again");
    return out;
}

void use_oclgrind(const Oclgrind& simulator, const std::map<std::string, std::string>& settings) {
    auto variables = settings;
    if (!simulator.plugin.empty()) variables.emplace("OCLGRIND_PLUGINS", simulator.plugin);
    variables.emplace("OCLGRIND_GLOBAL_MEM_SIZE", std::to_string(most_buffer_bytes));
    // Some devices have no other limit.
    variables.emplace("OCLGRIND_CONSTANT_MEM_SIZE", std::to_string(most_buffer_bytes));
    variables.emplace("OCLGRIND_LOCAL_MEM_SIZE", std::to_string(most_local_bytes));
    device::use_only_drivers({{"oclgrind.icd", simulator.library}}, variables);
}

device::Session& open_oclgrind(LocalDevices& devices) {
    const rlimit limit{most_simulator_bytes, most_simulator_bytes};
    setrlimit(RLIMIT_AS, &limit);
    auto& session = devices.open(devices.devices({"oclgrind"}, nullptr).front().selector);
    session.set_guards(false);  // a simulator sees what is outside; guards would be inside
    return session;
}

}  // namespace cllab::app
