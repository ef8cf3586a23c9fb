#include "core/reading.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>

#include "core/descriptor.hpp"
#include "core/error.hpp"

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

std::string fault_of(const std::filesystem::path& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat found {};
    if (!file || ::fstat(file.number(), &found) != 0) return std::strerror(errno);
    if (S_ISDIR(found.st_mode)) return std::strerror(EISDIR);
    if (S_ISFIFO(found.st_mode)) {
        struct statfs system {};
        if (::fstatfs(file.number(), &system) == 0 && system.f_type == PIPEFS_MAGIC) return {};
        return "it is a named pipe; write its contents to a file first";
    }
    if (S_ISREG(found.st_mode) || ::isatty(file.number())) return {};
    return "it is a device, not a file";
}

}  // namespace

std::string reading_fault(const std::filesystem::path& path) {
    auto fault = fault_of(path);
    if (fault.empty()) {
        const std::lock_guard alone(all().mutex);
        all().paths.insert(path);
    }
    return fault;
}

std::vector<std::filesystem::path> files_read() {
    const std::lock_guard alone(all().mutex);
    return {all().paths.begin(), all().paths.end()};
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> content) {
    auto part = path;
    part += "." + std::to_string(getpid()) + ".part";
    errno = 0;
    std::ofstream file(part, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    file.close();
    if (file && std::rename(part.c_str(), path.c_str()) == 0) return;
    const std::string why = errno ? std::strerror(errno) : "unknown reason";
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw Error(Blame::environment, "cannot write " + path.string() + ": " + why);
}

std::optional<std::string> read_file(const std::filesystem::path& path) {
    if (!reading_fault(path).empty()) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace cllab
