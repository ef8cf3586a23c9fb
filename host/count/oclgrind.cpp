#include "count/oclgrind.hpp"

#include <cstdlib>

#include "core/error.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"

namespace cllab::count {

namespace fs = std::filesystem;

fs::path oclgrind_library(const std::string& for_what) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/etc/OpenCL/vendors", ignored)) {
        const auto text = trim(cllab::read_file(entry.path()).value_or(""));
        if (text.find("oclgrind") != std::string::npos && fs::exists(text, ignored)) return text;
    }
    for (const char* path : {"/usr/lib/oclgrind/liboclgrind-rt-icd.so", "/usr/lib/liboclgrind-rt-icd.so",
                             "/usr/local/lib/liboclgrind-rt-icd.so"})
        if (fs::exists(path, ignored)) return path;
    throw Error(Blame::environment,
                for_what + " needs Oclgrind, which is not installed; on Debian: apt-get install oclgrind");
}

std::optional<fs::path> find_count_plugin(const fs::path& program) {
    constexpr const char* name = "cllab-count-plugin.so";
    std::error_code ignored;
    const auto is_there = [&](const fs::path& path) { return fs::is_regular_file(path, ignored); };
    if (const char* given = std::getenv("CLLAB_COUNT_PLUGIN")) {
        if (is_there(given)) return given;
        throw Error(Blame::environment, "there is no plugin '" + excerpt(given) + "' (CLLAB_COUNT_PLUGIN)");
    }
    const auto folder = program.parent_path();
    for (const auto& path : {folder / name, folder.parent_path() / "lib" / "cllab" / name})
        if (is_there(path)) return path;
    return std::nullopt;
}

fs::path count_plugin(const fs::path& program) {
    if (const auto found = find_count_plugin(program)) return *found;
    throw Error(Blame::environment,
                "this cllab was built without the plugin that counts; on Debian: apt-get install liboclgrind-dev "
                "llvm-14-dev, then build it again");
}

}  // namespace cllab::count
