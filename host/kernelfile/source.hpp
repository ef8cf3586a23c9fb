// A kernel file as it is read: its text, and what its blocks say.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kernelfile/description.hpp"
#include "model/experiment.hpp"

namespace cllab::kernelfile {

/// Files by path: what they held when somebody read them.
using Contents = std::map<std::string, std::string>;

/// A state that the file `path` and what it includes had; what is not in `files` is read from disk.
struct Snapshot {
    std::string path;
    Contents files;
};

struct SourceFile {
    std::string path;         ///< by which it is a pattern
    Snapshot read;            ///< what was read
    Description description;  ///< its blocks, then the .cllab file beside it

    const std::string& text() const { return read.files.at(read.path); }
};

/// Throws Error(usage) for what cannot be read or parsed.
SourceFile read_source(Snapshot snapshot);

/// The text of `file` with what it includes from its own folder, from `folders` and from the current folder in its
/// place, and lab.h in that of "lab.h" (core/kernel_text.hpp). The files are added to `file.read`. Throws Error(usage).
model::Text whole_text(SourceFile& file, const std::vector<std::filesystem::path>& folders);

}  // namespace cllab::kernelfile
