// Lists that are kept as texts, such as the quirks of drivers.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cllab {

/// A name, and its fields in order.
struct TextEntry {
    std::string name;
    std::vector<std::pair<std::string, std::string>> fields{};

    std::string field(std::string_view of) const;  ///< the first field of this name, or empty
};

/// A line without ": " begins an entry, "field: text" adds a field to it, and an indented line continues the previous
/// line.
std::vector<TextEntry> text_entries(std::string_view text);

}  // namespace cllab
