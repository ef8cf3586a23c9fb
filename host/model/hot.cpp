#include "model/hot.hpp"

namespace cllab::model {

std::string statement(const Hot& hot) {
    if (hot.evidence == Hot::unknown) return hot.evidence + ": " + hot.reason;
    if (hot.evidence == Hot::counted)
        return hot.evidence + ", " + std::to_string(hot.executed) + " instructions of warps";
    if (hot.evidence != Hot::sampled) return hot.evidence;
    return hot.evidence + ", " + std::to_string(hot.in_kernel) + " samples in the kernel of " +
           std::to_string(hot.samples);
}

const char* what_is_shared(const Hot& hot) {
    return hot.evidence == Hot::counted ? "the executed instructions" : "the samples";
}

}  // namespace cllab::model
