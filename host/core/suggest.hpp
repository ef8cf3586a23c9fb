#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cllab {

/// The end of a message about a mistyped word: "did you mean a, b?" with the nearest candidates; `otherwise` when none
/// is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         const std::string& otherwise = {});
/// "; did you mean a, b?", or nothing when none is near: for a message that lists the possible values.
std::string or_did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace cllab
