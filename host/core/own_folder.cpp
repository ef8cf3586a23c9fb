#include "core/own_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/descriptor.hpp"

namespace cllab {
namespace {

namespace fs = std::filesystem;

constexpr const char *name_begins = "cllab-run-", *lock_name = ".lock";

/// Only what is this user's, has such a lock, and no process holds it.
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

struct Own {
    fs::path path;
    Descriptor lock;
    pid_t maker = 0;
    ~Own() { remove(); }

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
        struct stat kept {};
        // Another process may have taken it for a dead one's before it was locked. A file system without locks: nobody
        // does.
        if (lock && flock(lock.number(), LOCK_EX) == 0 && fstat(lock.number(), &kept) == 0 && kept.st_nlink == 0)
            make();
    }
    void remove() {
        std::error_code ignored;
        if (!path.empty() && maker == getpid()) fs::remove_all(path, ignored);
        path.clear();
        lock.close();
    }
};

Own& own() {
    static Own folder;
    return folder;
}

}  // namespace

fs::path own_folder() {
    if (own().path.empty()) own().make();
    return own().path;
}

void remove_own_folder() { own().remove(); }

}  // namespace cllab
