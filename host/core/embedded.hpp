// Files of the source that are part of the program: texts of the help, the style of the page, tables.
#pragma once

#include <string_view>

namespace cllab {

/// A file's text by its path below host/, as "app/commands/run.txt"; D3's is "d3.min.js". CMakeLists.txt lists them.
/// Empty for one that was not there when the program was built.
std::string_view embedded(std::string_view path);

}  // namespace cllab
