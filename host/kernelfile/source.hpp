// A kernel file: its text, and the statements in its blocks.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kernelfile/description.hpp"
#include "model/experiment.hpp"

namespace cllab::kernelfile {

/// Contents of files when they were read, by path.
using Contents = std::map<std::string, std::string>;

/// The contents of the file `path` and of the files that it includes at one time. Other files are read from disk.
struct Snapshot {
    std::string path;
    Contents files;
};

struct SourceFile {
    std::string path;         ///< its name in patterns
    Snapshot read;            ///< the files that were read
    Description description;  ///< from its blocks, then from the .cllab file next to it

    const std::string& text() const { return read.files.at(read.path); }
};

/// Throws Error(usage) if a file cannot be read or parsed.
SourceFile read_source(Snapshot snapshot);

/// The text of `file`, with included files in place of their #include lines. Files come from the folder of the
/// including file, from `folders` and from the current folder; "lab.h" is built in (core/kernel_text.hpp). Adds the
/// files to `file.read`. Throws Error(usage).
model::Text whole_text(SourceFile& file, const std::vector<std::filesystem::path>& folders);

}  // namespace cllab::kernelfile
