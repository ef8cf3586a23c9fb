#include "app/profile_file.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/text.hpp"
#include "json/read.hpp"
#include "model/result.hpp"

namespace cllab::app {
namespace {

using nlohmann::json;

[[noreturn]] void unusable(const std::string& why) { throw Error(Blame::usage, why); }

std::string text_of(const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (!object.is_object() || found == object.end() || !found->is_string())
        unusable(std::string("is damaged: it has no text '") + key + "'");
    return found->get<std::string>();
}

struct Figure {
    std::string family, name, unit;
    double value = 0, high = 0;
};

Figure figure_of(const json& j) {
    Figure out{text_of(j, "family"), text_of(j, "name"), text_of(j, "unit")};
    for (const auto& [key, to] : {std::pair{"value", &out.value}, std::pair{"high", &out.high}}) {
        const auto found = j.find(key);
        // A number that was not finite is written as null, and is no limit.
        if (found == j.end() || !(found->is_number() || found->is_null()))
            unusable("is damaged: its figure '" + excerpt(out.name) + "' has no number '" + key + "'");
        if (found->is_number()) *to = found->get<double>();
    }
    return out;
}

void require_same(const char* what, const std::string& found, const std::string& expected) {
    if (found != expected)
        unusable(std::string("is of the ") + what + " '" + excerpt(found) + "', and the " + what + " here is '" + expected +
                 "'; `cllab profile` makes it anew");
}

/// The largest capacity that the pointer chase found, provided that it came to memory beyond; then the largest region that was
/// read at a cache's bandwidth where that is more: a chase leaves the near half of a large cache, or the TLB, before the cache.
std::uint64_t last_level_of(const std::vector<Figure>& figures) {
    double most = 0;
    for (const auto& capacity : figures) {
        if (capacity.family != "latency" || capacity.unit != "byte" || !glob_match("*L? capacity", capacity.name)) continue;
        const auto prefix = capacity.name.substr(0, capacity.name.size() - std::string("L1 capacity").size());
        const bool beyond = std::any_of(figures.begin(), figures.end(), [&](const auto& f) {
            return f.family == "latency" && f.name == prefix + "memory latency";
        });
        if (beyond) most = std::max(most, capacity.high);
    }
    if (most == 0) return 0;  // a sweep of the bandwidth alone may have ended in the second of three levels
    for (const auto& f : figures) {
        if (f.family == "bandwidth" && glob_match("level * capacity", f.name)) most = std::max(most, f.value);
    }
    return most > 0 && most < 1e15 ? static_cast<std::uint64_t>(most) : 0;
}

}  // namespace

run::Limits limits_from(const std::string& text, const model::Device& device) {
    json profile;
    try {
        profile = parse_json<json>(text);
    } catch (const JsonRefused& e) {
        unusable(std::string("is ") + e.what());
    }
    if (!profile.is_object()) unusable("is damaged: it is no JSON object");
    if (const auto schema = profile.find("schema"); schema == profile.end() || *schema != profile_schema)
        unusable("has schema " + (schema == profile.end() ? std::string("none") : excerpt(schema->dump(-1, ' ', false, json::error_handler_t::replace))) +
                 "; this build reads schema " + std::to_string(profile_schema));
    const auto& of = profile["device"];
    require_same("platform", text_of(of, "platform"), device.platform);
    require_same("device", text_of(of, "name"), device.name);
    // Absent where none was known.
    if (of.contains("identity")) require_same("device identity", text_of(of, "identity"), device.identity);
    require_same("driver", text_of(of, "driver"), device.driver);
    if (!profile["figures"].is_array()) unusable("is damaged: it has no list 'figures'");
    std::vector<Figure> figures;
    for (const auto& j : profile["figures"]) figures.push_back(figure_of(j));

    run::Limits out;
    out.utc = text_of(profile, "utc");
    bool swept = false;
    for (const auto& f : figures) {
        if (f.family == "fma" && f.name == "float peak") out.float_peak = f.value;
        if (f.family == "fma" && f.name == "double peak") out.double_peak = f.value;
        if (f.family == "launch" && f.name == "empty kernel") out.empty_launch_seconds = f.value;
        // Without the sweep through the levels, memory is all that was seen, and a cache may well be faster.
        swept = swept || (f.family == "bandwidth" && glob_match("level *", f.name));
        if (f.unit == "B/s" && f.value > out.bandwidth) {
            out.bandwidth = f.value;
            out.bandwidth_name = f.name;
        }
    }
    if (!swept) out.bandwidth = 0;
    out.last_level_bytes = last_level_of(figures);
    return out;
}

}  // namespace cllab::app
