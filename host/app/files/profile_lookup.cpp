// Where a device's profile lies, and how it is written. What it says is read in profile_file.cpp, which needs no
// device.
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "app/files/profile_file.hpp"
#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "device/sysfs.hpp"
#include "inspect/tools/dump.hpp"
#include "json/read.hpp"
#include "run/executor.hpp"

namespace cllab::app {

std::filesystem::path profiles_folder() {
    const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
    if (cache && *cache) return std::filesystem::path(cache) / "cllab" / "profiles";
    return home && *home ? std::filesystem::path(home) / ".cache" / "cllab" / "profiles" : "dumps";
}

std::filesystem::path profile_path(const std::filesystem::path& dumps, const model::Device& device) {
    const auto below = [&](const std::filesystem::path& root) {
        return inspect::device_folder(root, device, run::this_host().name) / "profile.json";
    };
    if (!dumps.empty()) return below(dumps);
    const auto kept = below(profiles_folder()), beside = below("dumps");
    std::error_code unknown;
    return !std::filesystem::exists(kept, unknown) && std::filesystem::exists(beside, unknown) ? beside : kept;
}

std::string more_figures(const std::filesystem::path& path, const std::string& profile) {
    std::error_code unknown;
    if (!std::filesystem::exists(path, unknown)) return {};
    try {
        const auto before = figures_of_profile(profile_text(path)), now = figures_of_profile(profile);
        if (before.driver != now.driver || before.figures <= now.figures) return {};
        return concat("it has ", before.figures, " figures of this driver, and the new one has ", now.figures);
    } catch (const Error&) {
        return {};
    }
}

std::string profile_text(const std::filesystem::path& path) {
    if (const auto fault = reading_fault(path); !fault.empty()) throw Error(Blame::usage, "cannot be read: " + fault);
    std::ifstream file(path, std::ios::binary);
    std::string text(most_json_bytes + 1, '\0');  // more is refused
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (file.bad()) throw Error(Blame::usage, std::string("cannot be read: ") + std::strerror(errno));
    return text;
}

std::map<std::string, model::Limits> read_profiles(const std::filesystem::path& dumps,
                                                   const std::vector<model::Device>& devices) {
    std::map<std::string, model::Limits> out;
    for (const auto& device : devices) {
        const auto path = profile_path(dumps, device);
        std::error_code trouble;
        if (!std::filesystem::exists(path, trouble)) continue;
        try {
            out[device.selector] = limits_from(profile_text(path), device);
        } catch (const Error& e) {
            say("profile '" + path.string() + "' " + e.what() + "; it is ignored");
        }
    }
    return out;
}

void write_profile(const std::filesystem::path& path, const std::string& content) {
    try {
        cllab::write_file(path, inspect::as_bytes(content));
    } catch (const Error& e) {
        throw Error(e.blame(), e.what(), "; --dumps DIR names another folder, --no-dumps writes none");
    }
}

void require_writable_profile(const std::filesystem::path& path) {
    std::error_code unknown;
    for (const auto& part : device::entries(path.parent_path(), path.filename().string() + ".")) {
        const auto age = std::filesystem::file_time_type::clock::now() - last_write_time(part, unknown);
        if (part.extension() == ".part" && !unknown && age > std::chrono::hours(24))
            std::filesystem::remove(part, unknown);
    }
    const std::filesystem::path probe = path.string() + "." + std::to_string(getpid()) + ".part";
    write_profile(probe, "");
    std::filesystem::remove(probe, unknown);
}

}  // namespace cllab::app
