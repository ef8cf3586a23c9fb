// Lists that are kept as texts, as the quirks of drivers.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cllab {

/// A name, and fields in their order.
struct TextEntry {
    std::string name;
    std::vector<std::pair<std::string, std::string>> fields{};

    std::string field(std::string_view of) const;  ///< the first field of this name, or empty
};

/// A line without ": " begins an entry, "field: text" belongs to it, and an indented line continues the one before.
std::vector<TextEntry> text_entries(std::string_view text);

}  // namespace cllab
