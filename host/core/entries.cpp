#include "core/entries.hpp"

#include "core/table.hpp"
#include "core/text.hpp"

namespace cllab {

std::string TextEntry::field(std::string_view of) const {
    const auto* found = find_in(fields, of);
    return found ? *found : "";
}

std::vector<TextEntry> text_entries(std::string_view text) {
    std::vector<TextEntry> out;
    for (const auto& line : split(text, '\n')) {
        const auto colon = line.find(": ");
        if (line.starts_with("  "))
            out.back().fields.back().second += line.substr(1);
        else if (colon != std::string::npos)
            out.back().fields.emplace_back(line.substr(0, colon), line.substr(colon + 2));
        else if (!line.empty())
            out.emplace_back(line);
    }
    return out;
}

}  // namespace cllab
