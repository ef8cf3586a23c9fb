#include "app/files/profile_file.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"
#include "explain/limiter.hpp"
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

model::Figure figure_of(const json& j) {
    model::Figure out{text_of(j, "id"), text_of(j, "name"), text_of(j, "unit")};
    for (const auto& [key, to] :
         {std::pair{"value", &out.value}, std::pair{"low", &out.low}, std::pair{"high", &out.high}}) {
        const auto found = j.find(key);
        // A number that was not finite is written as null, and is no limit.
        if (found == j.end() || !(found->is_number() || found->is_null()))
            unusable("is damaged: its figure '" + excerpt(out.id) + "' has no number '" + key + "'");
        if (found->is_number()) *to = found->get<double>();
    }
    return out;
}

/// The points of the chases through global memory in random order. What is no such curve is passed over.
std::vector<std::pair<double, double>> scattered_of(const json& curves) {
    std::map<double, double> out;
    for (const auto& curve : curves) {
        if (!curve.is_object() || curve.value("id", json()) != "latency_global") continue;
        const auto fixed = curve.find("fixed"), samples = curve.find("samples");
        if (fixed == curve.end() || !fixed->is_object() || fixed->value("order", json()) != "random") continue;
        if (samples == curve.end() || !samples->is_array()) continue;
        for (const auto& s : *samples) {
            const auto x = s.is_object() ? s.value("x", json()) : json(),
                       y = s.is_object() ? s.value("step_time", json()) : json();
            if (!x.is_number() || !y.is_number() || !(x.get<double>() > 0) || !(y.get<double>() > 0)) continue;
            auto& slowest = out[x.get<double>()];
            slowest = std::max(slowest, y.get<double>());
        }
    }
    return {out.begin(), out.end()};
}

void require_same(const char* what, const std::string& found, const std::string& expected) {
    if (found != expected)
        unusable(std::string("is of the ") + what + " '" + excerpt(found) + "', and the " + what + " here is '" +
                 expected + "'; `cllab profile` makes it anew");
}

/// The profile, of this build's schema.
json parsed(const std::string& text) {
    json profile;
    try {
        profile = parse_json<json>(text);
    } catch (const JsonRefused& e) {
        unusable(std::string("is ") + e.what());
    }
    if (!profile.is_object()) unusable("is damaged: it is not a JSON object");
    if (const auto schema = profile.find("schema"); schema == profile.end() || *schema != profile_schema)
        unusable("has schema " +
                 (schema == profile.end() ? std::string("none")
                                          : excerpt(schema->dump(-1, ' ', false, json::error_handler_t::replace))) +
                 "; this build reads schema " + std::to_string(profile_schema) + "; `cllab profile` makes it anew");
    if (!profile["figures"].is_array()) unusable("is damaged: it has no list 'figures'");
    return profile;
}

model::Limits limits_of(const json& profile, const model::Device& device) {
    std::vector<model::Figure> figures;
    for (const auto& j : profile.at("figures")) figures.push_back(figure_of(j));
    std::vector<std::string> absent;
    if (const auto list = profile.find("absent"); list != profile.end() && list->is_array())
        for (const auto& j : *list) absent.push_back(text_of(j, "id"));
    auto out = explain::limits_of(figures, absent, text_of(profile, "utc"), device);
    if (const auto curves = profile.find("curves"); curves != profile.end() && curves->is_array())
        out.scattered = scattered_of(*curves);
    return out;
}

}  // namespace

ProfileSize figures_of_profile(const std::string& text) {
    auto profile = parsed(text);
    return {text_of(profile["device"], "driver"), profile["figures"].size()};
}

model::Limits limits_from(const std::string& text) {
    auto profile = parsed(text);
    const auto& of = profile["device"];
    model::Device device;
    const auto type = text_of(of, "type");
    for (const auto known : {model::DeviceType::cpu, model::DeviceType::gpu, model::DeviceType::accelerator})
        if (type == model::name(known)) device.type = known;
    const auto units = of.find("compute_units"), caches = of.find("caches");
    device.compute_units = units != of.end() && units->is_number_unsigned() ? units->get<unsigned>() : 0;
    if (caches != of.end() && caches->is_array())
        for (const auto& bytes : *caches)
            if (bytes.is_number_unsigned()) device.host_cache_levels.push_back(bytes.get<std::uint64_t>());
    auto out = limits_of(profile, device);
    if (device.compute_units == 0 && !out.find("fma.units"))
        unusable("does not say how many compute units the device has; `cllab profile` makes it anew");
    return out;
}

model::Limits limits_from(const std::string& text, const model::Device& device) {
    auto profile = parsed(text);
    const auto& of = profile["device"];
    require_same("platform", text_of(of, "platform"), device.platform);
    require_same("device", text_of(of, "name"), device.name);
    // Absent where none was known.
    if (of.contains("identity")) require_same("device identity", text_of(of, "identity"), device.identity);
    require_same("driver", text_of(of, "driver"), device.driver);
    return limits_of(profile, device);
}

}  // namespace cllab::app
