// The files of this source tree, for tests that hold them against rules. Only where CMake defines CLLAB_SOURCE_DIR.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace cllab::test {

inline std::filesystem::path source_tree() { return CLLAB_SOURCE_DIR; }

/// All files below `folder` of the source tree, of these extensions or of any.
inline std::vector<std::filesystem::path> files_of(const std::string& folder,
                                                   const std::vector<std::string>& extensions = {}) {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source_tree() / folder))
        if (entry.is_regular_file() &&
            (extensions.empty() || std::ranges::count(extensions, entry.path().extension().string())))
            out.push_back(entry.path());
    return out;
}

/// The path of `file` as seen from `folder` of the source tree: "model/axes.cpp".
inline std::string within(const std::string& folder, const std::filesystem::path& file) {
    return file.lexically_relative(source_tree() / folder).generic_string();
}

inline std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace cllab::test
