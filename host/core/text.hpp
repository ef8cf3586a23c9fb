// Small text helpers shared by every module.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cllab {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string trim(std::string_view text);
std::string lower(std::string_view text);
std::string one_line(std::string_view text);  ///< first non-empty line, trimmed, control characters removed

/// The text in quotes, of a long one the start and its length: for error sentences.
std::string quoted(std::string_view text);

/// Shell glob over the whole text: * ? [abc] [a-z] [!a].
bool glob_match(std::string_view pattern, std::string_view text);

/// Up to `most` candidates nearest to `word` by edit distance (and by containment), best first; only plausible ones.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates, std::size_t most = 3);

/// A name fit for a folder: letters, digits, '.', '_' and '-'; runs of anything else become one '-'.
std::string folder_name(std::string_view text);

}  // namespace cllab
