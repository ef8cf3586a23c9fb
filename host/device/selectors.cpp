#include <algorithm>
#include <optional>

#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/platforms.hpp"

namespace cllab::device {
namespace {

std::string listing(const std::vector<model::Device>& devices, const std::vector<std::size_t>& which) {
    return join(which, ", ", [&](std::size_t i) {
        const auto& d = devices[i];
        return concat(d.selector, " '", d.name, "' (", d.platform, ", ", model::name(d.type), ")");
    });
}

/// "there is 1: 0:0 'cpu-EPYC' (Portable Computing Language, cpu)"
std::string there_are(const std::vector<model::Device>& devices) {
    return (devices.size() == 1 ? "there is 1: " : "there are " + std::to_string(devices.size()) + ": ") +
           listing(devices, places_in(devices));
}

[[noreturn]] void no_match(const std::vector<model::Device>& devices, const std::string& selector) {
    std::vector<std::string> known{"cpu", "gpu", "accelerator", "all"};
    for (const auto& device : devices)
        for (const auto& name : {device.name, device.platform})
            for (auto& word : split(name, ' ')) known.push_back(std::move(word));
    throw Error(Blame::environment,
                "no device matches '" + selector + "'; " + there_are(devices) + or_did_you_mean(selector, known));
}

std::optional<std::size_t> of_type(const std::vector<model::Device>& devices, model::DeviceType type,
                                   const std::function<bool(std::size_t)>& trusted) {
    const auto candidates = places_where(devices, [&](const auto& device) { return device.type == type; });
    if (candidates.empty()) return std::nullopt;
    if (candidates.size() > 1) {
        for (std::size_t i : candidates) {
            if (trusted(i)) return i;
        }
    }
    return candidates.front();
}

std::vector<std::size_t> resolve_one(const std::vector<model::Device>& devices, const std::string& selector,
                                     const std::function<bool(std::size_t)>& trusted) {
    const auto wanted = lower(selector);
    if (wanted == "all") return places_in(devices);
    for (const auto type : {model::DeviceType::cpu, model::DeviceType::gpu, model::DeviceType::accelerator}) {
        if (wanted != model::name(type)) continue;
        const auto found = of_type(devices, type, trusted);
        if (!found)
            throw Error(Blame::environment, "no device matches '" + selector + "', because none here is of type " +
                                                wanted + "; " + there_are(devices));
        return {*found};
    }
    const auto parts = split(wanted, ':');
    const bool numeric = parts.size() <= 2 &&
                         std::ranges::all_of(parts, [](const auto& part) { return parse_integer(part).has_value(); });
    const auto matches = places_where(devices, [&](const model::Device& d) {
        return numeric
                   ? d.selector == wanted || (parts.size() == 1 && split(d.selector, ':')[0] == wanted)
                   : lower(d.name).find(wanted) != std::string::npos ||
                         lower(d.platform).find(wanted) != std::string::npos || wanted == model::name(d.implementation);
    });
    if (matches.empty()) no_match(devices, selector);
    if (matches.size() > 1 && !numeric)
        throw Error(Blame::usage, "device '" + selector + "' is ambiguous; it matches " + listing(devices, matches));
    return matches;  // a platform index alone names all its devices
}

}  // namespace

std::vector<std::size_t> resolve(const std::vector<model::Device>& devices, const std::vector<std::string>& selectors,
                                 const std::function<bool(std::size_t)>& trusted) {
    std::vector<std::size_t> out;
    if (selectors.empty()) {
        for (const auto type : {model::DeviceType::gpu, model::DeviceType::cpu}) {
            if (const auto found = of_type(devices, type, trusted)) return {*found};
        }
        return {0};
    }
    for (const auto& selector : selectors)
        for (const std::size_t i : resolve_one(devices, selector, trusted)) add_once(out, i);
    return out;
}

}  // namespace cllab::device
