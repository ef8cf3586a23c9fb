// DIR/<device>/profile.json: its path, and how commands read and write it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/device.hpp"
#include "portrait/page.hpp"

namespace cllab::app {

inline constexpr int profile_schema = 2;

/// Default folder of profiles: $XDG_CACHE_HOME/cllab/profiles, or ~/.cache/cllab/profiles if that is not set.
std::filesystem::path profiles_folder();
/// The profile of a device of this host: below `dumps`. If that is empty: in profiles_folder(), or below "dumps" of the
/// current folder if only that one exists.
std::filesystem::path profile_path(const std::filesystem::path& dumps, const model::Device& device);

/// The device as a record describes it, without facts that only a driver reports.
model::Device device_of(const model::Record& record);

/// Why the profile in a file is better than the text `profile`: same driver and more figures. Empty if it is not
/// better, or cannot be read.
std::string more_figures(const std::filesystem::path& path, const std::string& profile);

/// The limits in a profile of this device. Throws Error(usage) if the text is not a profile, has another schema, or is
/// of another device, driver or platform, or if neither it nor `device` has the number of compute units. If the device
/// is that of a record, takes units and caches from the profile. The message continues the file's name ("is damaged at
/// byte 17").
model::Limits limits_from(const std::string& text, const model::Device& device);

/// The page of a profile of this device, without records. Throws as limits_from().
portrait::Profile page_from(const std::string& text, const model::Device& device);

/// The text of a profile's file. Throws Error(usage); the message continues the file's name ("cannot be read: …").
std::string profile_text(const std::filesystem::path& path);

/// The limits of each device that has a profile below `dumps`, by selector. Reports and skips an unusable file, in one
/// sentence on stderr.
std::map<std::string, model::Limits> read_profiles(const std::filesystem::path& dumps,
                                                   const std::vector<model::Device>& devices);

/// Replaces a profile's file atomically: a partial write or another process's write never mixes with it. Throws
/// Error(environment).
void write_profile(const std::filesystem::path& path, const std::string& content);
/// Checks in advance whether write_profile() can work; throws Error(environment) if not. Leaves no file behind. Also
/// removes partial files of killed processes that are older than a day.
void require_writable_profile(const std::filesystem::path& path);

}  // namespace cllab::app
