#include "core/text.hpp"

#include <fnmatch.h>

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace cllab {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

/// The code point at text[at] and its size in bytes; 0 bytes if it is not valid UTF-8 (also overlong forms and
/// surrogates).
std::pair<std::uint32_t, std::size_t> code_point(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(text[i])}; };
    const auto first = byte(at);
    if (first < 0x80) return {first, 1};
    const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || at + size > text.size()) return {first, 0};
    std::uint32_t out = first & (0x7Fu >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(at + i) & 0xC0) != 0x80) return {first, 0};
        out = out << 6 | (byte(at + i) & 0x3F);
    }
    const bool overlong = out < (size == 4 ? 0x10000u : size == 3 ? 0x800u : 0x80u);
    return overlong || out > 0x10FFFF || (out >= 0xD800 && out < 0xE000) ? std::pair{first, std::size_t{0}}
                                                                         : std::pair{out, size};
}

/// Characters that move the cursor, set colors, ring, break the line or change the direction of the following text.
bool moves_more_than_one_column(std::uint32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

std::string escape(std::uint32_t c) {
    const int digits = c < 0x100 ? 2 : 4;
    std::string out = digits == 2 ? "\\x" : "\\u";
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += "0123456789abcdef"[c >> shift & 15];
    return out;
}

/// True at the first byte of a character in valid UTF-8.
bool begins_character(char c) { return (c & 0xC0) != 0x80; }

/// The two ends of printable text that is longer than most_quoted characters.
std::string ends_of(std::string_view text) {
    if (static_cast<std::size_t>(std::ranges::count_if(text, begins_character)) <= most_quoted)
        return std::string(text);
    std::size_t left = 0, right = text.size();
    for (std::size_t n = 0; n < most_quoted / 2; ++n)
        while (!begins_character(text[++left])) {
        }
    for (std::size_t n = 0; n + 1 < most_quoted - most_quoted / 2; ++n)
        while (!begins_character(text[--right])) {
        }
    return std::string(text.substr(0, left)) + "…" + std::string(text.substr(right));
}

/// The end of the value or word at text[at]: after the closing quote if a quote opens there, else the next blank. A
/// quote closes a value only where a sentence can continue, so that quotes inside a value do not.
std::size_t end_of_part(std::string_view text, std::size_t at) {
    if (const auto open = text.find_first_not_of("([=", at); open != std::string_view::npos && text[open] == '\'') {
        for (auto close = text.find('\'', open + 1); close != std::string_view::npos;
             close = text.find('\'', close + 1))
            if (close + 1 == text.size() ||
                std::string_view(" ,;:.)]?").find(text[close + 1]) != std::string_view::npos)
                return close + 1;
    }
    return std::min(text.find(' ', at), text.size());
}

/// Counts omitted, added, replaced and transposed letters. Transpositions are the most common typos.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1), above(row), two_above(row);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        two_above.swap(above);
        above.swap(row);
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            row[j + 1] = std::min({above[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, above[j + 1] + 1});
            if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
                row[j + 1] = std::min(row[j + 1], two_above[j - 1] + 1);
        }
    }
    return row.back();
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t start = 0;;) {
        const auto end = text.find(separator, start);
        parts.emplace_back(text.substr(start, end - start));
        if (end == std::string_view::npos) return parts;
        start = end + 1;
    }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i != 0) out += separator;
        out += parts[i];
    }
    return out;
}

std::string trim(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return std::string(text);
}

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string replace_names(std::string_view text, const std::function<std::string(const std::string&)>& instead) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        auto end = at;
        while (end < text.size() && in_name(text[end])) ++end;
        if (end > at) out += instead(std::string(text.substr(at, end - at)));
        if (end < text.size()) out += text[end++];
        at = end;
    }
    return out;
}

std::set<std::string> names_in(std::string_view text) {
    std::set<std::string> out;
    replace_names(text, [&](const std::string& name) { return *out.insert(name).first; });
    return out;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

std::string one_line(std::string_view text) {
    while (!text.empty()) {
        const auto end = text.find_first_of("\r\n");
        const auto line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        std::string clean;
        for (std::size_t i = 0; i < line.size(); ++i) {
            // Remove a whole terminal sequence ESC [ ... letter, not only its first byte: clang colors its messages.
            if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
                for (i += 2; i < line.size() && !(line[i] >= '@' && line[i] <= '~');) ++i;
            } else if (line[i] == '\t') {
                clean += ' ';
            } else if (!is_control(line[i])) {
                clean += line[i];
            }
        }
        if (clean = trim(clean); !clean.empty()) return clean;
    }
    return {};
}

std::string printable(std::string_view text, std::string_view allowed) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const auto [c, size] = code_point(text, i);
        if (size == 0 || (moves_more_than_one_column(c) && allowed.find(text[i]) == std::string_view::npos))
            out += escape(c);
        else
            out += text.substr(i, size);
        i += std::max<std::size_t>(size, 1);
    }
    return out;
}

std::string excerpt(std::string_view text) { return ends_of(printable(text)); }

std::string quoted(std::string_view text) { return "'" + excerpt(text) + "'"; }

std::string sentence(std::string_view raw) {
    const std::string text = printable(raw);
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = end_of_part(text, at);
        out += ends_of(std::string_view(text).substr(at, end - at));
        at = text.find_first_not_of(' ', end);
        if (at == std::string::npos) break;
        out.append(at - end, ' ');
    }
    return out;
}

bool glob_match(const std::string& pattern, const std::string& text) {
    return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates, std::size_t most) {
    const std::string wanted = lower(word);
    if (wanted.empty() || wanted.size() > 100) return {};  // no typo
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const auto& candidate : candidates) {
        const std::string name = lower(candidate);
        const std::size_t distance = edit_distance(wanted, name);
        // Up to one edit per three characters is a typo; more edits give another word. A part of a name is plausible at
        // any distance, if it has three characters or more, so that "a" does not match everything.
        const std::size_t longer = std::max(wanted.size(), name.size());
        const bool similar = distance <= std::max<std::size_t>(1, longer / 3) && distance < longer;
        const bool contains = (wanted.size() >= 3 && name.find(wanted) != std::string::npos) ||
                              (name.size() >= 3 && wanted.find(name) != std::string::npos);
        if (similar || contains) ranked.emplace_back(distance, candidate);
    }
    std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> out;
    for (auto& [distance, candidate] : ranked) {
        if (out.size() == most) break;
        if (std::ranges::find(out, candidate) == out.end()) out.push_back(std::move(candidate));
    }
    return out;
}

std::string folder_name(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
        if (is_plain)
            out += c;
        else if (out.empty() || out.back() != '-')
            out += '-';
    }
    // Avoid hidden folders, "..", and names that look like options.
    const auto first = out.find_first_not_of(".-");
    if (first == std::string::npos) return "unnamed";
    out.erase(0, first);
    while (out.back() == '-') out.pop_back();
    return out;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         const std::string& otherwise) {
    const auto near = nearest(word, candidates);
    return near.empty() ? otherwise : "did you mean " + join(near, ", ") + "?";
}

std::string or_did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    const auto near = did_you_mean(word, candidates);
    return near.empty() ? near : "; " + near;
}

}  // namespace cllab
