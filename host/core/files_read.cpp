#include "core/files_read.hpp"

#include <mutex>
#include <set>

namespace cllab {
namespace {

struct FilesRead {
    std::mutex mutex;
    std::set<std::filesystem::path> paths;
};

FilesRead& all() {
    static FilesRead out;
    return out;
}

}  // namespace

void note_read(const std::filesystem::path& path) {
    const std::lock_guard alone(all().mutex);
    all().paths.insert(path);
}

std::vector<std::filesystem::path> files_read() {
    const std::lock_guard alone(all().mutex);
    return {all().paths.begin(), all().paths.end()};
}

}  // namespace cllab
