// Source files embedded in the program: help texts, the page's style, tables.
#pragma once

#include <string_view>

namespace cllab {

/// A file's text by its path below host/, such as "app/commands/run.txt"; D3's path is "d3.min.js". CMakeLists.txt
/// lists the files. Empty for a file that was missing when the program was built.
std::string_view embedded(std::string_view path);

}  // namespace cllab
