// DIR/<device>/behaviour.json, beside the device's profile: the answers of `cllab behaviour`, and the sentences that
// other commands print from them.
#pragma once

#include "behaviour/rows.hpp"
#include "json/read.hpp"

namespace cllab::behaviour {
NLOHMANN_JSON_SERIALIZE_ENUM(Answer::Status, {{Answer::Status::answered, "answered"},
                                              {Answer::Status::undecided, "not decided"},
                                              {Answer::Status::untried, "not tried"},
                                              {Answer::Status::failed, "failed"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Answer, status, text, measured, claim, so)
}  // namespace cllab::behaviour

namespace cllab::app {

/// By the names of their questions.
using Answers = std::map<std::string, behaviour::Answer>;

/// What tells a device and its driver from others.
nlohmann::ordered_json identity_of(const model::Device& device);

/// What is known of this device and driver; `dumps` as for profiles. A file that cannot be used is named in one
/// sentence on standard error.
Answers known_answers(const std::filesystem::path& dumps, const model::Device& device);
/// Adds to it. Throws Error(environment).
void keep_answers(const std::filesystem::path& dumps, const model::Device& device, Answers answers);

/// What a row's line `note` says of the device, with the figure that was found; empty where none holds.
std::string note_of(const Answers& known, const std::string& question);
/// What a __constant pointer costs on the device, in sentences; empty where that is not known.
std::string cost_of_constants(const Answers& known);
/// Work-items of a group that ran whatever CL_KERNEL_WORK_GROUP_SIZE says; 0 where that is not known.
std::size_t largest_group(const Answers& known);

}  // namespace cllab::app
