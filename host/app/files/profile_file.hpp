// DIR/<device>/profile.json: where `cllab profile` leaves it, and what later commands take from it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/device.hpp"

namespace cllab::app {

inline constexpr int profile_schema = 2;

/// Where profiles lie unless --dumps says otherwise: $XDG_CACHE_HOME/cllab/profiles, in ~/.cache where that is not set.
std::filesystem::path profiles_folder();
/// The profile of a device of this host: below `dumps`, or, where that is empty, in profiles_folder(), or else below
/// "dumps" of the current folder if one is there.
std::filesystem::path profile_path(const std::filesystem::path& dumps, const model::Device& device);

/// Why the profile in a file is better than `profile`, the text of one: of the same driver, and with more figures.
/// Empty: it is not, or there is none that can be read.
std::string more_figures(const std::filesystem::path& path, const std::string& profile);

/// The limits in the text of a profile of this device. Throws Error(usage) with one sentence that follows the file's
/// name when the text is no profile ("is damaged at byte 17"), of an older lab, or of another device, driver or
/// platform.
model::Limits limits_from(const std::string& text, const model::Device& device);

/// The limits in the text of a profile of a device that need not be here. Throws as the other, and where the profile
/// does not say how many units the device has.
model::Limits limits_from(const std::string& text);

/// The text of a profile's file. Throws Error(usage) with what follows the file's name ("cannot be read: …").
std::string profile_text(const std::filesystem::path& path);

/// The limits of each device that has a profile below `dumps`, by selector. A file that cannot be used is named in one
/// sentence on standard error and left out.
std::map<std::string, model::Limits> read_profiles(const std::filesystem::path& dumps,
                                                   const std::vector<model::Device>& devices);

/// Replaces a profile's file when its content is whole: neither one that is cut short nor what another process writes
/// meanwhile mixes with it. Throws Error(environment).
void write_profile(const std::filesystem::path& path, const std::string& content);
/// Before the long part: throws Error(environment) when that cannot be; nothing stays open or beside it. What a process
/// that was killed has left there goes, when it is a day old: nobody writes that long.
void require_writable_profile(const std::filesystem::path& path);

}  // namespace cllab::app
