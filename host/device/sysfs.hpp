// Linux's files below /sys and /proc that hold one value in one line.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "core/text.hpp"

namespace cllab::device {

/// The first line of a file, trimmed; nullopt if the file is empty or cannot be read.
inline std::optional<std::string> first_line(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string line;
    return std::getline(in, line) ? std::optional(trim(line)) : std::nullopt;
}

/// The number in the first line times `scale`; nullopt unless it is above zero.
inline std::optional<double> number(const std::filesystem::path& file, double scale = 1) {
    const auto line = first_line(file);
    const auto value = line ? std::strtod(line->c_str(), nullptr) : 0;
    return value > 0 ? std::optional(value * scale) : std::nullopt;
}

/// The paths in the folder whose names begin with `prefix`, sorted.
inline std::vector<std::filesystem::path> entries(const std::filesystem::path& folder, const std::string& prefix = "") {
    std::vector<std::filesystem::path> out;
    std::error_code trouble;
    for (std::filesystem::directory_iterator at(folder, trouble), end; !trouble && at != end; at.increment(trouble))
        if (at->path().filename().string().starts_with(prefix)) out.push_back(at->path());
    std::ranges::sort(out);
    return out;
}

}  // namespace cllab::device
