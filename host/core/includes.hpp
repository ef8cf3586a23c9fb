// The includes of a C text, and the text with its includes in place. Comparison, baselines and --watch all use this
// form.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cllab {

/// The operands of the text's #include directives, each once: "\"tile.h\"", "<math.h>", or a macro's "NAME".
std::vector<std::string> includes_of(std::string_view text);

/// `#line 1 "pitch.cl"`, with nothing in the path that ends the text, the line or the directive.
std::string line_directive(std::size_t line, const std::string& path);

struct IncludedFile {
    std::string path, text;
};
/// The file that `name` means in a text of `includer`; nothing where the driver must look for it.
using FindIncluded = std::function<std::optional<IncludedFile>(const std::string& name, const std::string& includer)>;

struct Closure {
    std::string text;                ///< each file that was found stands where it is included, between #line directives
    std::vector<std::string> files;  ///< their paths, each once
};
/// Replaces #include directives by the files' text. Conditions (#if) stay in place. A directive stays if its file is
/// not found, if a macro names it, or if the file includes itself without a guard. Throws Error(usage) for more than 16
/// MiB.
Closure closure_of(const std::string& path, const std::string& text, const FindIncluded& find);

}  // namespace cllab
