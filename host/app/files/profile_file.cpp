#include "app/files/profile_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "device/sysfs.hpp"
#include "explain/limiter.hpp"
#include "inspect/tools/dump.hpp"
#include "json/read.hpp"
#include "model/result.hpp"
#include "run/executor.hpp"

namespace cllab::app {
namespace {

using nlohmann::json;

[[noreturn]] void unusable(const std::string& why) { throw Error(Blame::usage, why); }

/// null if there is none, or `object` is no object.
const json& member(const json& object, const char* key) {
    static const json none;
    return object.is_object() && object.contains(key) ? object[key] : none;
}

std::string text_of(const json& object, const char* key) {
    const auto& found = member(object, key);
    if (!found.is_string()) unusable(concat("is damaged: it has no string '", key, "'"));
    return found.get<std::string>();
}

model::Figure figure_of(const json& j) {
    model::Figure out{text_of(j, "id"), text_of(j, "name"), text_of(j, "unit")};
    for (const auto& [key, to] :
         {std::pair{"value", &out.value}, std::pair{"low", &out.low}, std::pair{"high", &out.high}}) {
        const auto found = j.find(key);
        // A value that is not finite is written as null and sets no limit.
        if (found == j.end() || !(found->is_number() || found->is_null()))
            unusable("is damaged: its figure '" + excerpt(out.id) + "' has no number '" + key + "'");
        if (found->is_number()) *to = found->get<double>();
    }
    return out;
}

/// The points (x, seconds per step) of pointer chases through global memory in random order. Ignores other curves.
std::vector<std::pair<double, double>> scattered_of(const json& curves) {
    std::map<double, double> out;
    for (const auto& curve : curves) {
        if (member(curve, "id") != "latency_global" || member(member(curve, "fixed"), "order") != "random") continue;
        for (const auto& s : member(curve, "samples")) {
            const auto &x = member(s, "x"), &y = member(s, "step_time");
            if (!x.is_number() || !y.is_number() || !(x.get<double>() > 0) || !(y.get<double>() > 0)) continue;
            auto& slowest = out[x.get<double>()];
            slowest = std::max(slowest, y.get<double>());
        }
    }
    return {out.begin(), out.end()};
}

void require_same(const char* what, const std::string& found, const std::string& expected) {
    if (found != expected)
        unusable(std::string("is for the ") + what + " '" + excerpt(found) + "', but the current " + what + " is '" +
                 expected + "'; run `cllab profile` again");
}

/// Parses a profile. Accepts only this build's schema.
json parsed(const std::string& text) {
    json profile;
    try {
        profile = parse_json<json>(text);
    } catch (const JsonRefused& e) {
        unusable(std::string("is ") + e.what());
    }
    if (!profile.is_object()) unusable("is damaged: it is not a JSON object");
    if (const auto schema = profile.find("schema"); schema == profile.end() || *schema != profile_schema)
        unusable("has schema " + (schema == profile.end() ? std::string("none") : excerpt(json_text(*schema))) +
                 "; this build reads schema " + std::to_string(profile_schema) + "; run `cllab profile` again");
    if (!profile["figures"].is_array()) unusable("is damaged: it has no array 'figures'");
    return profile;
}

/// Adds the facts that the device of a record lacks, from the device in its profile.
model::Device with_facts(model::Device device, const json& profiled) {
    const auto& units = member(profiled, "compute_units");
    if (device.compute_units == 0 && units.is_number_unsigned()) device.compute_units = units.get<unsigned>();
    if (device.host_cache_levels.empty())
        for (const auto& bytes : member(profiled, "caches"))
            if (bytes.is_number_unsigned()) device.host_cache_levels.push_back(bytes.get<std::uint64_t>());
    return device;
}

model::Limits limits_of(const json& profile, const model::Device& device) {
    std::vector<model::Figure> figures;
    for (const auto& j : profile.at("figures")) figures.push_back(figure_of(j));
    std::vector<std::string> absent;
    for (const auto& j : member(profile, "absent")) absent.push_back(text_of(j, "id"));
    auto out = explain::limits_of(figures, absent, text_of(profile, "utc"), device);
    out.scattered = scattered_of(member(profile, "curves"));
    if (const auto& share = member(profile, "disturbed"); share.is_number()) out.disturbed = share.get<double>();
    return out;
}

}  // namespace

std::string profile_text(const std::filesystem::path& path) {
    const auto fault = reading_fault(path);
    const auto text = fault.empty() ? cllab::read_file(path) : std::nullopt;
    if (!text) throw Error(Blame::usage, "cannot be read: " + fault);
    return *text;
}

model::Limits limits_from(const std::string& text, const model::Device& device) {
    auto profile = parsed(text);
    const auto& of = profile["device"];
    require_same("platform", text_of(of, "platform"), device.platform);
    require_same("device", text_of(of, "name"), device.name);
    // Old profiles of devices without an identity lack this key.
    if (of.contains("identity")) require_same("device identity", text_of(of, "identity"), device.identity);
    require_same("driver", text_of(of, "driver"), device.driver);
    const auto known = with_facts(device, of);
    auto out = limits_of(profile, known);
    if (known.compute_units == 0 && !out.find("fma.units"))
        unusable("lacks the device's number of compute units; run `cllab profile` again");
    return out;
}

portrait::Profile page_from(const std::string& text, const model::Device& device) {
    const auto limits = limits_from(text, device);
    const auto profile = parsed(text);
    portrait::Profile out{.device = device, .disturbed = limits.disturbed, .utc = limits.utc};
    try {
        for (const auto& j : profile.at("figures")) {
            const auto f = figure_of(j);
            const auto cycle = j.value("per_cycle", json::object());
            auto& line = out.lines.emplace_back(portrait::PageLine{j.at("section"), f.id, f.name, ""});
            line.finding = {f.id, f.name, f.unit, f.value, f.low, f.high, j.at("how")};
            line.per_cycle = cycle.value("value", 0.0);
            line.per_cycle_unit = cycle.value("unit", "");
            line.claim = j.value("driver_says", "");
        }
        for (const auto& j : profile.at("absent"))
            out.lines.push_back({j.at("section"), j.at("id"), j.at("name"), j.at("reason")});
    } catch (const json::exception& e) {
        unusable(std::string("is damaged: ") + e.what());
    }
    return out;
}

// Paths of profiles, and how profiles are written.
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
    const auto cached = below(profiles_folder()), dumped = below("dumps");
    std::error_code unknown;
    return !std::filesystem::exists(cached, unknown) && std::filesystem::exists(dumped, unknown) ? dumped : cached;
}

model::Device device_of(const model::Record& record) {
    model::Device out;
    out.selector = record.device.selector;
    out.platform = record.device.platform;
    out.name = record.device.name;
    out.vendor = record.device.vendor;
    out.driver = record.device.driver;
    out.identity = record.device.identity;
    out.last_level_bytes = record.device.last_level_bytes;
    out.compute_units = 0;
    for (const auto type : {model::DeviceType::cpu, model::DeviceType::gpu, model::DeviceType::accelerator})
        if (record.device.type == model::name(type)) out.type = type;
    return out;
}

std::string more_figures(const std::filesystem::path& path, const std::string& profile) {
    std::error_code unknown;
    if (!std::filesystem::exists(path, unknown)) return {};
    try {
        auto before = parsed(profile_text(path)), now = parsed(profile);
        const auto then = before["figures"].size(), today = now["figures"].size();
        if (text_of(before["device"], "driver") != text_of(now["device"], "driver") || then <= today) return {};
        return concat("it has ", then, " figures of this driver, and the new one has ", today);
    } catch (const Error&) {
        return {};
    }
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
        throw Error(e.blame(), e.what(), "; use --dumps DIR for another folder, or --no-dumps");
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
