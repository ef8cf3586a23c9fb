#include "run/limits.hpp"

#include <algorithm>

#include "core/units.hpp"

namespace cllab::run {
namespace {

constexpr double tolerance = 1.05;

double metric(const model::Record& record, const std::string& wanted, const std::string& unit) {
    for (const auto& [name, value] : record.metrics) {
        if (name == wanted && value.unit == unit) return value.value;
    }
    return 0;
}

/// The type a family computes in, where it lets one choose.
std::string type_of(const model::Record& record) {
    for (const auto& [axis, value] : record.point) {
        if (axis == "type") return value;
    }
    return "float";
}

}  // namespace

std::optional<std::string> beyond_peak(const model::Record& record, const Limits& limits, bool one_launch) {
    const auto sentence = [&](const std::string& figure, const std::string& limit) {
        return "beyond-peak: " + figure + ", but the profile of " + limits.utc + " measured " + limit +
               "; some of the work is not done, the clock is wrong, or the profile was disturbed";
    };
    const auto type = type_of(record);
    const double peak = type == "double" ? limits.double_peak : type == "float" ? limits.float_peak : 0;
    const double flops = metric(record, "flops", "FLOP/s");
    if (peak > 0 && flops > tolerance * peak)
        return sentence("it computes " + format_rate(flops, "FLOP/s"), "a " + type + " peak of " + format_rate(peak, "FLOP/s"));
    const double bandwidth = metric(record, "bandwidth", "B/s");
    if (limits.bandwidth > 0 && bandwidth > tolerance * limits.bandwidth)
        return sentence("it moves " + format_rate(bandwidth, "B/s"),
                        format_rate(limits.bandwidth, "B/s") + " at most (" + limits.bandwidth_name + ")");
    // Empty launches spread more than rates do: half of one is what cannot be.
    if (one_launch && record.time && limits.empty_launch_seconds > 0 && record.time->median < 0.5 * limits.empty_launch_seconds)
        return sentence("it takes " + format_seconds(record.time->median),
                        format_seconds(limits.empty_launch_seconds) + " for an empty kernel");
    return std::nullopt;
}

double memory_budget(const model::Device& device) {
    // A CPU device's buffers, the host's copies and the references share one memory.
    return static_cast<double>(device.global_bytes) * (device.is_cpu() ? 0.35 : 0.7);
}

LastLevel last_level(const model::Device& device, const std::optional<Limits>& limits) {
    if (limits && limits->last_level_bytes > 0) return {limits->last_level_bytes, "measured, profile of " + limits->utc};
    if (device.host_cache_bytes > device.reported_cache_bytes && device.host_cache_bytes == device.last_level_bytes)
        return {device.last_level_bytes, "reported by the operating system"};
    if (device.reported_cache_bytes == 0 || device.last_level_bytes == 0)
        return {std::max<std::uint64_t>(device.last_level_bytes, (device.is_cpu() ? 64ull : 256ull) << 20),
                "a guess, the driver reports none"};
    if (device.reported_cache_bytes == device.last_level_bytes) return {device.last_level_bytes, "reported by the driver"};
    return {device.last_level_bytes, "an upper bound for devices of this kind"};
}

}  // namespace cllab::run
