#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cllab {

/// What every message about a mistyped word ends in: "did you mean a, b?" with the candidates nearest to it;
/// `otherwise` where none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         const std::string& otherwise = {});
/// The same behind "; " where one is near, else nothing: for a message that has said what is possible.
std::string or_did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace cllab
