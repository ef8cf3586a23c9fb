// DIR/<device>/behaviour.json, beside the device's profile: the answers of `cllab behaviour`, and the sentences that
// other commands print from them.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "behaviour/rows.hpp"
#include "model/device.hpp"

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

/// A sentence for each of the build options that changed no code on the device.
std::set<std::string> idle_options(const Answers& known, const std::string& options);
/// What groups of one item cost on the device, for the end of a sentence; empty where that is not known, or is nothing.
std::string cost_of_small_groups(const Answers& known);
/// What a __constant pointer costs on the device, in a sentence; empty where that is not known.
std::string cost_of_constants(const Answers& known);
/// How far the functions among these names are off on two devices, likewise.
std::string errors_of_functions(const Answers& here, const Answers& there, const std::set<std::string>& names);

}  // namespace cllab::app
