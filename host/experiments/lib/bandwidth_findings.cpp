#include "experiments/lib/bandwidth_findings.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/units.hpp"
#include "experiments/lib/findings.hpp"
#include "experiments/lib/levels.hpp"
#include "model/fit.hpp"

namespace cllab::model::lib {
namespace {

/// Levels that reread found, or its one number.
void conclude_levels(const Curve& curve, const Device& device, std::vector<Finding>& out) {
    const std::string how = "all work-groups read one region, elements of " + curve.fixed.text("width") + " bytes";
    if (curve.samples.size() < 3) {
        const auto& s = curve.samples.front();
        out.push_back(rate_finding("reread", "read bandwidth at " + format_bytes(static_cast<std::uint64_t>(s.x)),
                                   "B/s", s, 1, how));
        return;
    }
    if (device.is_cpu() && !device.host_cache_levels.empty()) {
        for (auto& f : rates(curve, device, how)) out.push_back(std::move(f));
        return;
    }
    PlateauOptions options;
    options.tolerance = tolerance(curve, 0.1);
    const auto found = find_plateaus(xs(curve), steps(curve), options);
    for (std::size_t i = 0; i < found.levels.size(); ++i) {
        const auto& time = found.levels[i].value;
        const auto rate = [&](double seconds) { return 1 / (seconds > 0 ? seconds : time.value); };
        out.push_back({"l" + std::to_string(i + 1) + ".rate", "level " + std::to_string(i + 1) + " read bandwidth",
                       "B/s", rate(time.value), rate(time.high), rate(time.low),
                       how + "; holds to " + format_bytes(static_cast<std::uint64_t>(found.levels[i].capacity.value))});
        const auto& capacity = found.levels[i].capacity;
        // The last level before memory is one for all units; the first is one for each, and is left by all at once.
        const bool gradual = i + 2 == found.levels.size() && i > 0 && capacity.high > 1.5 * capacity.low;
        if (const auto whole = gradual ? capacity_of_random_replacement(xs(curve), steps(curve), time.value,
                                                                        found.levels[i + 1].value.value)
                                       : std::nullopt)
            out.push_back(
                {"l" + std::to_string(i + 1) + ".size", "level " + std::to_string(i + 1) + " capacity", "byte",
                 whole->value, whole->low, whole->high,
                 how + "; all of " + format_bytes(static_cast<std::uint64_t>(capacity.value)) +
                     " fit, and a level of that size which replaces lines at random explains the larger regions"});
        else if (!found.levels[i].open)
            out.push_back({"l" + std::to_string(i + 1) + ".size", "level " + std::to_string(i + 1) + " capacity",
                           "byte", capacity.value, capacity.low, capacity.high,
                           "largest region at that bandwidth; high is the next one tried"});
    }
}

/// What an axis of where the elements lie does to the rate: the least over its values, of the rate at the first, usual
/// one.
void conclude_places(const std::vector<Curve>& all, const std::string& axis, const std::string& other,
                     std::vector<Finding>& out) {
    std::map<std::string, std::map<std::int64_t, const Curve::Sample*>> sweeps;  // by variant and what else is fixed
    for (const auto& curve : all) {
        if (!curve.fixed.has(axis) || curve.samples.empty() || curve.fixed.integer(other) != (other == "stride"))
            continue;
        const auto& sample = curve.samples.back();
        if (!(sample.seconds > 0) || !(sample.low > 0)) continue;
        sweeps[curve.variant + " " + curve.fixed.text("width") + " " + text_of(sample.x)][curve.fixed.integer(axis)] =
            &sample;
    }
    for (const auto& [key, sweep] : sweeps) {
        const auto usual = sweep.find(axis == "stride");
        if (sweep.size() < 3 || usual == sweep.end()) continue;
        const auto rate = [](const Curve::Sample& s) { return s.work.bytes / s.seconds; };
        const auto least = *std::min_element(sweep.begin(), sweep.end(), [&](const auto& a, const auto& b) {
            return rate(*a.second) < rate(*b.second);
        });
        const auto variant = key.substr(0, key.find(' '));
        const auto &a = *least.second, &b = *usual->second;
        const double part = rate(a) / rate(b);
        out.push_back({axis + "." + variant, "least rate by " + axis + ", " + variant, "", part,
                       part * a.seconds / a.high * b.low / b.seconds, part * a.seconds / a.low * b.high / b.seconds,
                       "bytes of the elements per second at " + axis + " " + std::to_string(least.first) +
                           ", of those at " + axis + " " + std::to_string(usual->first) + ", " +
                           std::to_string(sweep.size()) + " values tried, each in one placement of its buffers"});
    }
}

bool is_apart(const Curve& curve) {
    const auto differs = [&](const char* axis, const char* usual) {
        return curve.fixed.has(axis) && curve.fixed.text(axis) != usual;
    };
    return differs("offset", "0") || differs("stride", "1");
}

}  // namespace

std::vector<Finding> bandwidth_findings(const std::vector<Curve>& all, const Device& device) {
    std::vector<Finding> out, of_places;
    conclude_places(all, "offset", "stride", of_places);
    conclude_places(all, "stride", "offset", of_places);
    auto curves = all;
    std::erase_if(curves, is_apart);
    // The yardstick alone, in front of another family's run, is no sweep to conclude from.
    if (all.size() == 1 && all.front().variant == "copy" && all.front().samples.size() == 1) return out;
    double streamed = 0;
    for (const auto& variant : bandwidth_streams) {
        const Curve::Sample* best = nullptr;
        std::string width;
        for (const auto& curve : curves) {
            if (curve.variant != variant || curve.samples.empty()) continue;
            const auto& largest = curve.samples.back();
            if (best && largest.work.bytes / largest.seconds <= best->work.bytes / best->seconds) continue;
            best = &largest;
            width = curve.fixed.text("width");
        }
        if (best) streamed = std::max(streamed, best->work.bytes);
        if (best)
            out.push_back({variant, std::string(variant) + " bandwidth", "B/s", best->work.bytes / best->seconds,
                           best->work.bytes / best->high, best->work.bytes / best->low,
                           "largest size, " + format_bytes(static_cast<std::uint64_t>(best->x)) +
                               " per buffer, elements of " + width + " bytes"});
    }
    if (streamed > 0)
        out.push_back({"streamed", "streamed", "byte", streamed, streamed, streamed,
                       "all buffers of the largest of these streams: what moves as much is no faster"});
    for (const auto& curve : curves) {
        if (curve.variant == "reread" && !curve.samples.empty()) conclude_levels(curve, device, out);
        if (curve.variant == "copy" && device.is_cpu() && curve.samples.size() > 1)
            for (auto& f : copy_rates(curve, device, "elements of " + curve.fixed.text("width") + " bytes"))
                out.push_back(std::move(f));
    }
    for (auto& f : of_places) out.push_back(std::move(f));
    return out;
}

}  // namespace cllab::model::lib
