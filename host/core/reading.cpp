#include "core/reading.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
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
    throw Error(Blame::environment, "file '" + path.string() + "' cannot be written: " + why);
}

std::optional<std::string> read_file(const std::filesystem::path& path) {
    if (!reading_fault(path).empty()) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

namespace {

namespace fs = std::filesystem;

constexpr const char *name_begins = "cllab-run-", *lock_name = ".lock";

/// Removes a folder only if it is this user's and has a lock that no process holds.
void remove_if_dead(const fs::path& folder) {
    struct stat found {};
    if (lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid()) return;
    const Descriptor lock(open((folder / lock_name).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (!lock || flock(lock.number(), LOCK_EX | LOCK_NB) != 0) return;
    std::error_code ignored;
    fs::remove_all(folder, ignored);
}

void remove_dead_ones(const fs::path& all) {
    std::error_code trouble;
    std::vector<fs::path> found;
    for (fs::directory_iterator at(all, trouble), end; !trouble && at != end; at.increment(trouble))
        if (at->path().filename().string().starts_with(name_begins)) found.push_back(at->path());
    for (const auto& folder : found) remove_if_dead(folder);
}

struct OwnFolder {
    fs::path path;
    Descriptor lock;
    pid_t maker = 0;
    ~OwnFolder() { remove(); }

    void make() {
        std::error_code trouble;
        const auto all = fs::temp_directory_path(trouble);
        if (trouble) {
            errno = trouble.value();
            return;
        }
        remove_dead_ones(all);
        std::string pattern = (all / (std::string(name_begins) + "XXXXXX")).string();
        if (!mkdtemp(pattern.data())) return;
        path = pattern;
        lock = Descriptor(open((path / lock_name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        maker = getpid();
        struct stat status {};
        // Before the lock was held, another process may have taken the folder for a dead process's. Without file locks,
        // no process does.
        if (lock && flock(lock.number(), LOCK_EX) == 0 && fstat(lock.number(), &status) == 0 && status.st_nlink == 0)
            make();
    }
    void remove() {
        std::error_code ignored;
        if (!path.empty() && maker == getpid()) fs::remove_all(path, ignored);
        path.clear();
        lock.close();
    }
};

OwnFolder& own() {
    static OwnFolder folder;
    return folder;
}

}  // namespace

fs::path own_folder() {
    if (own().path.empty()) own().make();
    return own().path;
}

void remove_own_folder() { own().remove(); }

}  // namespace cllab
