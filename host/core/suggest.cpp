#include "core/suggest.hpp"

#include "core/text.hpp"

namespace cllab {

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
