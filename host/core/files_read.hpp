// Every file that this process has read: whoever opens one says so here, and no output may be one of them.
#pragma once

#include <filesystem>
#include <vector>

namespace cllab {

void note_read(const std::filesystem::path& path);
std::vector<std::filesystem::path> files_read();

}  // namespace cllab
