// Which cells of the probes one figure rests on: what it takes to measure that figure again and no other.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/text.hpp"
#include "model/device.hpp"
#include "portrait/probes.hpp"

namespace cllab::portrait {
namespace {

using model::Device;

/// The sweeps of one variant among the probes.
std::vector<Part> parts_of_variant(const std::string& id, const Device& device) {
    std::vector<Part> out;
    for (const auto& probe : probes_for(device))
        for (const auto& part : probe.parts)
            if (part.pattern == id || part.pattern + "_" == id.substr(0, part.pattern.size() + 1)) out.push_back(part);
    for (auto& part : out) part.pattern = id;
    return out;
}

/// `points` footprints within (from, to), none at an end.
std::string between(double from, double to, int points) {
    std::vector<std::string> out;
    for (int i = 1; i <= points; ++i)
        out.push_back(whole_pages(from * std::pow(to / from, static_cast<double>(i) / (points + 1))));
    return join(out, ",");
}

/// "l2.rate" is of level 2: where it begins and ends by the operating system.
std::optional<std::pair<double, double>> level_of(const std::string& figure, const Device& device) {
    if (!device.is_cpu() || figure.size() < 2 || figure[0] != 'l') return std::nullopt;
    const auto level = static_cast<std::size_t>(figure[1] - '1');
    if (level >= device.host_cache_levels.size()) return std::nullopt;
    return std::pair{level > 0 ? static_cast<double>(device.host_cache_levels[level - 1]) : 4096.0,
                     static_cast<double>(device.host_cache_levels[level])};
}

/// Of a level of the caches: `id` is its bandwidth, that of a copy within it, or its latency.
std::vector<Part> parts_of_level(const std::string& id, const std::string& figure, const Device& device) {
    if (glob_match("bandwidth.l?.rate", id)) {
        const auto level = level_of(figure, device);
        constexpr double largest = 64 << 20;  // as in the portrait
        if (!level || 2.4 * level->first > std::min(0.75 * level->second, largest)) return {};
        return {{"bandwidth_reread",
                 {{"width", "64"}, {"size", between(2 * level->first, std::min(0.75 * level->second, largest), 3)}}}};
    }
    if (glob_match("bandwidth.l?.copy", id)) {
        const auto level = model::copied_in_last_level(device);
        constexpr double largest = 32 << 20;  // as in the portrait
        const bool is_last = figure.substr(0, 2) == "l" + std::to_string(device.host_cache_levels.size());
        if (!device.is_cpu() || !is_last || !level || 1.2 * level->first >= std::min(level->second, largest)) return {};
        return {{"bandwidth_copy",
                 {{"width", "64"}, {"size", between(level->first / 2, std::min(level->second, largest) / 2, 3)}}}};
    }
    constexpr double near = 1.34;  // footprints that differ by less may be of the same level
    const auto level = level_of(figure, device);
    if (!level || level->second > 64 << 20 || near * near * near * level->first > level->second) return {};
    const auto footprints = between(near * level->first, level->second / near, 4);
    return {{"latency_global", {{"order", "paged"}, {"pages", "huge"}, {"footprint", footprints}}},
            {"latency_global", {{"order", "paged"}, {"pages", "small"}, {"footprint", footprints}}}};
}

/// "native_sin.medium": the cell that measures how often it is called in a second.
std::vector<Part> rate_of_function(const std::string& figure) {
    auto name = figure.substr(0, figure.find('.'));
    for (const std::string flavour : {"native", "half", "fast", "double", "fp16"})
        if (name.starts_with(flavour + "_"))
            return {{"math_rate_" + flavour, {{"function", name.substr(flavour.size() + 1)}}}};
    return {{"math_rate", {{"function", name}}}};
}

}  // namespace

std::vector<Part> parts_of_figure(const std::string& id, const Device& device) {
    const auto dot = id.find('.');
    const auto family = id.substr(0, dot), figure = dot == std::string::npos ? "" : id.substr(dot + 1);
    const auto is = [&](const char* pattern) { return glob_match(pattern, id); };
    if (is("fma.peak.*") || is("fma.latency.*")) {
        const auto variant = figure.substr(0, figure.find('.')), rest = figure.substr(variant.size() + 1);
        auto out = parts_of_variant(family + "_" + variant, device);
        for (auto& part : out) part.axes.emplace_back("type", rest.substr(0, rest.find('.')));
        return out;
    }
    if (is("bandwidth.l?.rate") || is("bandwidth.l?.copy") || is("latency.l?.latency"))
        return parts_of_level(id, figure, device);
    if (is("bandwidth.copy") || is("bandwidth.batch") || is("bandwidth.read") || is("bandwidth.write") ||
        is("bandwidth.triad")) {
        auto out = parts_of_variant(family + "_" + figure, device);
        if (out.size() > 1) out.resize(1);  // copies within the caches follow
        // One copy alone is taken for the yardstick of another family.
        if (figure == "copy" && !out.empty()) {
            out.push_back(out.front());
            out.back().pattern = "bandwidth_read";
        }
        return out;
    }
    if (is("dispatch.group.time") && device.is_cpu()) return parts_of_variant("dispatch_1d", device);
    if (is("banks.rate")) return parts_of_variant("banks_rate", device);
    if (is("atomic.*.one")) return {{"atomic_" + figure.substr(0, figure.find('.')), {{"counters", "1"}}}};
    if (is("atomic.*.*")) return {{"atomic_" + figure.substr(0, figure.find('.'))}};
    if (is("integer.rate.*.*"))
        return {
            {"integer_" + figure.substr(5, figure.rfind('.') - 5), {{"bits", figure.substr(figure.rfind('.') + 1)}}}};
    if (is("math.rate.*.medium")) return rate_of_function(figure.substr(figure.find('.') + 1));
    const std::pair<const char*, std::vector<Part>> others[]{
        {"latency.l1.indexed", {{"latency_indexed", {{"footprint", "8Ki"}}}}},
        {"latency.local.latency", {{"latency_local"}}},
        {"issue.rate", {{"issue_mixed", {{"chains", "8"}}}, {"issue_vector", {{"chains", "8"}}}}},
        {"launch.*.item", {{"launch_item"}}},
        {"launch.*.device", {{"launch_device"}}},
        {"launch.spread", {{"launch_spread"}}},
        {"atomic.latency", {{"atomic_chain"}}},
        {"barrier.*", {{"barrier_plain"}, {"barrier_none"}}}};
    for (const auto& [pattern, parts] : others)
        if (is(pattern)) return parts;
    return {};
}

}  // namespace cllab::portrait
