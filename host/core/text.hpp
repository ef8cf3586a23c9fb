// Small text helpers shared by every module.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cllab {

/// Concatenates the parts: texts unchanged, whole numbers in decimal.
template <typename... Part>
std::string concat(const Part&... parts) {
    std::string out;
    const auto add = [&out]<typename T>(const T& part) {
        static_assert(!std::floating_point<T>, "a number with decimals needs a format");
        if constexpr (std::integral<T> && !std::same_as<T, char>)
            out += std::to_string(part);
        else
            out += part;
    };
    (add(parts), ...);
    return out;
}

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
/// Joins the result of `text` for each element.
template <typename Range, typename Text>
std::string join(const Range& range, std::string_view separator, Text text) {
    std::vector<std::string> parts;
    for (const auto& one : range) parts.push_back(text(one));
    return join(parts, separator);
}
/// The result of `text` for the first `most` elements, and the number of the others: "a, b and 9 more".
template <typename Range, typename Text>
std::string first_few(const Range& range, std::size_t most, Text text) {
    const auto shown = std::min(most, range.size());
    return join(std::views::take(range, shown), ", ", text) +
           (shown < range.size() ? concat(" and ", range.size() - shown, " more") : "");
}
std::string trim(std::string_view text);
std::string lower(std::string_view text);
/// A letter, digit or underscore: the characters of names in OpenCL C, where a digit may not be first.
bool in_name(char c);
/// Replaces each name or number in the text by the result of `instead`.
std::string replace_names(std::string_view text, const std::function<std::string(const std::string&)>& instead);
/// The names and numbers in the text, each once.
std::set<std::string> names_in(std::string_view text);
std::string one_line(std::string_view text);  ///< first non-empty line, trimmed, control characters removed

/// The text in a form that is safe for a terminal. Some characters become visible escapes, "\x1b" or "\u202e": control
/// characters (C0, DEL, C1), characters that break or reorder lines (U+2028 to U+202E, U+2066 to U+2069, …), and
/// bytes that are not UTF-8. `allowed`: control characters that stay, such as "\n\t" for a listing.
std::string printable(std::string_view text, std::string_view allowed = "");

inline constexpr std::size_t most_quoted = 150;  ///< characters of a value that a sentence quotes

/// A value for a sentence: printable, and if it is longer than most_quoted characters, only its two ends.
std::string excerpt(std::string_view text);
/// The same in quotes.
std::string quoted(std::string_view text);

/// A whole sentence for stderr: printable, on one line, each word or quoted value shortened as by excerpt().
std::string sentence(std::string_view text);

/// Shell glob over the whole text: * ? [abc] [a-z] [!a], by the C library's fnmatch.
bool glob_match(const std::string& pattern, const std::string& text);

/// Up to `most` plausible candidates nearest to `word` by edit distance or containment, best first.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates,
                                 std::size_t most = 3);

/// A name for a folder: letters, digits, '.', '_' and '-'. Other characters in a row become one '-'.
std::string folder_name(std::string_view text);

/// The end of a message about a mistyped word: "did you mean a, b?" with the nearest candidates; `otherwise` if none is
/// near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         const std::string& otherwise = {});
/// "; did you mean a, b?", or empty if none is near. For a message that lists the possible values.
std::string or_did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace cllab
