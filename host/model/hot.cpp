#include "model/hot.hpp"

namespace cllab::model {

std::string statement(const Hot& hot) {
    if (hot.evidence == Hot::unknown) return hot.evidence + ": " + hot.reason;
    if (hot.evidence != Hot::sampled) return hot.evidence;
    return hot.evidence + ", " + std::to_string(hot.in_kernel) + " samples in the kernel of " + std::to_string(hot.samples);
}

}  // namespace cllab::model
