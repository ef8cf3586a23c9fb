#include "app/running/tried.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace cllab::app {

using kernelfile::Agreement;

std::string quoted_name(const std::string& name) { return "'" + excerpt(name) + "'"; }

Agreement agreement(const Tried& tried, const model::Device& device, const std::string& other) {
    if (!tried.is_compared) return {Agreement::Kind::unknown, "", tried.not_compared};
    const auto seen = first_finding(tried.found);
    Agreement out{Agreement::Kind::agrees, other + tried.at(), seen};
    if (!tried.difference.empty())
        out = {Agreement::Kind::differs, "",
               quoted_name(device.name) + " and " + quoted_name(other) + " leave different results" + tried.at() +
                   ": " + tried.difference + "; nothing says which of the two is right unless a reference does" +
                   (seen.empty() ? "" : "; " + seen)};
    if (tried.stays_small && std::ranges::any_of(tried.found, [](const auto& f) { return f.first.is_outside(); }))
        out = {Agreement::Kind::unknown, "", out.sentence + "; its own size takes too long in Oclgrind"};
    return out;
}

std::string words(const Tried& tried, const model::Device& device) {
    if (!tried.limit.empty()) return "not checked: " + tried.limit;
    if (!tried.ran()) return std::string(model::name(tried.there.status)) + ": " + tried.there.reason;
    if (const auto n = tried.found.size(); n > 0) return std::to_string(n) + (n == 1 ? " place" : " places");
    if (tried.there.status != model::Status::ok) return tried.there.reason;
    const auto name = quoted_name(device.name);
    const std::string nothing = tried.sees_unwritten ? "no race, no uninitialised value, no access outside"
                                                     : "no race, no access outside (uninitialised values: "
                                                       "Oclgrind cannot look for them here)";
    if (!tried.difference.empty()) return nothing + "; other results than on " + name + ": " + tried.difference;
    if (tried.is_compared) return nothing + "; the results of " + name;
    return tried.not_compared.empty() ? nothing : nothing + "; " + tried.not_compared;
}

}  // namespace cllab::app
