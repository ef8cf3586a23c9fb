// DIR/<device>/behaviour.json, in the folder of the device's profile: the answers of `cllab behaviour`, and the
// sentences that other commands print from them.
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

/// By the names of the questions.
using Answers = std::map<std::string, behaviour::Answer>;

/// The facts that identify a device and its driver.
nlohmann::ordered_json identity_of(const model::Device& device);

/// The saved answers for this device and driver. `dumps`: as for profiles. Reports an unusable file on stderr, in one
/// sentence.
Answers known_answers(const std::filesystem::path& dumps, const model::Device& device);
/// Adds answers to the saved ones. Throws Error(environment).
void keep_answers(const std::filesystem::path& dumps, const model::Device& device, Answers answers);

/// The line `note` of a question's row that applies to the answer, with the measured figure; empty if none applies.
std::string note_of(const Answers& known, const std::string& question);
/// Sentences on the cost of __constant pointers on the device; empty if unknown.
std::string cost_of_constants(const Answers& known);
/// Work-items of the largest group that ran, regardless of CL_KERNEL_WORK_GROUP_SIZE; 0 if unknown.
std::size_t largest_group(const Answers& known);

}  // namespace cllab::app
