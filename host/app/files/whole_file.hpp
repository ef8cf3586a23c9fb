// A file that is replaced when its content is whole: neither one that is cut short nor what another process writes
// meanwhile mixes with it.
#pragma once

#include <filesystem>
#include <string>

namespace cllab::app {

class WholeFile {
public:
    /// Throws Error(environment), which ends with `advice`, when it cannot be written; nothing stays open or beside it.
    /// What a process that was killed has left beside it goes, when it is a day old: nobody writes that long.
    WholeFile(std::filesystem::path path, std::string advice);
    /// Throws Error(environment).
    void write(const std::string& content) const;

private:
    void write_part(const std::string& content) const;
    void remove_old_parts() const;

    std::filesystem::path path_, part_;
    std::string advice_;
};

}  // namespace cllab::app
