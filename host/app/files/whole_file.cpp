#include "app/files/whole_file.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::app {

namespace fs = std::filesystem;

WholeFile::WholeFile(fs::path path, std::string advice)
    : path_(std::move(path)),
      part_(path_.string() + "." + std::to_string(getpid()) + ".part"),
      advice_(std::move(advice)) {
    remove_old_parts();
    write_part("");
    std::error_code ignored;
    fs::remove(part_, ignored);
}

void WholeFile::write(const std::string& content) const {
    write_part(content);
    std::error_code trouble;
    fs::rename(part_, path_, trouble);
    if (trouble)
        throw Error(Blame::environment, "cannot write " + path_.string() + ": " + trouble.message() + "; " + advice_);
}

void WholeFile::write_part(const std::string& content) const {
    try {
        inspect::write_file(part_, inspect::as_bytes(content));
    } catch (const Error& e) {
        std::error_code ignored;
        fs::remove(part_, ignored);
        throw Error(e.blame(), e.what() + ("; " + advice_));
    }
}

void WholeFile::remove_old_parts() const {
    const auto begins = path_.filename().string() + ".";
    std::error_code trouble;
    std::vector<fs::path> old;
    for (fs::directory_iterator at(path_.parent_path(), trouble), end; !trouble && at != end; at.increment(trouble)) {
        const auto name = at->path().filename().string();
        std::error_code unknown;
        const auto age = fs::file_time_type::clock::now() - at->last_write_time(unknown);
        if (name.starts_with(begins) && name.ends_with(".part") && !unknown && age > std::chrono::hours(24))
            old.push_back(at->path());
    }
    for (const auto& part : old) fs::remove(part, trouble);
}

}  // namespace cllab::app
