#include "explain/place.hpp"

#include <algorithm>
#include <cmath>

namespace cllab::explain {

std::string level_id(std::size_t level) { return concat("l", level + 1); }
std::string level_name(std::size_t level) { return concat("L", level + 1); }

bool is_gpu(const Record& record) { return record.device.type == name(DeviceType::gpu); }

std::string value_at(const Record& record, const std::string& axis) {
    const auto found = std::ranges::find(record.point, axis, &std::pair<std::string, std::string>::first);
    return found == record.point.end() ? "" : found->second;
}

double parallel_of(const Record& record, const Limits& limits) {
    return record.work.groups > 0 ? std::min<double>(limits.units, record.work.groups) : limits.units;
}

double uneven_share(const Record& record, const Limits& limits) {
    const double groups = record.work.groups, units = limits.units;
    if (groups <= 0) return 1;
    const double rounds = std::ceil(groups / units) * units / groups;
    constexpr double alike = 1.05;
    return rounds > alike ? rounds : 1;
}

std::vector<double> sizes_of(const Limits& limits, const std::string& family, Capacity capacity) {
    std::vector<double> out;
    if (limits.caches.empty()) {
        while (const auto* size = limits.find(family + "." + level_id(out.size()) + ".size")) {
            const double least = size->low > 0 ? std::min(size->value, size->low) : size->value;
            out.push_back(capacity == Capacity::most ? std::max(size->value, size->high) : least / 2);
        }
        // A level behind them that was seen, but not where it ends: what does not fit in those before it is at least as
        // far away.
        if (!out.empty() &&
            limits.find(family + "." + level_id(out.size()) + (family == "latency" ? ".latency" : ".rate")))
            out.push_back(0);
    } else {
        out.assign(limits.caches.begin(), limits.caches.end());
        if (capacity == Capacity::least)
            for (auto& size : out) size /= 2;
    }
    return out;
}

std::optional<Place> place_of(const Record& record, const Limits& limits, std::vector<double> sizes, double instances,
                              Capacity capacity) {
    if (record.time->cache == "cold" || record.time->cache == "rotate") return Place{sizes.size(), true, 0};
    const double last = static_cast<double>(std::max(limits.last_level_bytes, record.device.last_level_bytes));
    if (sizes.empty() && last > 0) sizes.push_back(capacity == Capacity::most ? last : last / 2);
    if (sizes.empty()) return std::nullopt;
    if (capacity == Capacity::most || sizes.back() == 0)
        sizes.back() = std::max(sizes.back(), capacity == Capacity::most ? last : last / 2);
    if (record.work.shared || capacity == Capacity::least) instances = 1;
    const bool only_first = is_gpu(record) && record.device.platform == "NVIDIA CUDA";
    double before = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto nearer = [&] {
            return capacity == Capacity::most ? before / std::max(1.0, record.work.footprint) : 0;
        };
        const bool has_instances = i + 1 < sizes.size() && (i == 0 || !only_first);
        const double holds = sizes[i] * (has_instances ? instances : 1);
        if (record.work.footprint <= holds) return Place{i, false, nearer()};
        before = std::max(before, holds);
    }
    return Place{sizes.size(), true, capacity == Capacity::most ? before / record.work.footprint : 0};
}

}  // namespace cllab::explain
