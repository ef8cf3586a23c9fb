// Where a device's profile lies. What it says is read in profile_file.cpp, which needs no device.
#include <cerrno>
#include <cstring>
#include <fstream>

#include "app/files/profile_file.hpp"
#include "app/screen/say.hpp"
#include "core/error.hpp"
#include "core/reading.hpp"
#include "inspect/tools/dump.hpp"
#include "json/read.hpp"
#include "run/executor.hpp"

namespace cllab::app {

std::filesystem::path profile_path(const std::filesystem::path& dumps, const model::Device& device) {
    return inspect::device_folder(dumps, device, run::this_host().name) / "profile.json";
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

}  // namespace cllab::app
