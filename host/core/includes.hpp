// What a C text includes, and the text with all of it in place: the same for whoever asks whether two texts are equal,
// keeps one for later, or waits until a part of it changes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cllab {

/// What its include directives ask for, as written: "\"tile.h\"", "<math.h>", "NAME" where a macro says it; each once.
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
/// Conditions stay as they are and decide as before which of it is compiled. What is not found, what a macro names, and
/// a file without a guard that includes itself stay #include directives. Throws Error(usage) for more than 16 MiB.
Closure closure_of(const std::string& path, const std::string& text, const FindIncluded& find);

}  // namespace cllab
