#include "experiments/lib/family.hpp"
#include "experiments/lib/levels.hpp"

namespace cllab::model::lib {
namespace {

/// Levels that reread found, or its one number.
void conclude_levels(const Curve& curve, const Device& device, std::vector<Finding>& out) {
    const std::string how = "all work-groups read one region, elements of " + curve.fixed.text("width") + " bytes";
    if (curve.samples.size() < 3) {
        const auto& s = curve.samples.front();
        out.push_back(rate_finding("reread", "read bandwidth at " + bytes_text(s.x), "B/s", s, 1, how));
        return;
    }
    if (device.is_cpu() && !device.host_cache_levels.empty()) return append(out, rates(curve, device, how));
    const auto found = find_plateaus(xs(curve), steps(curve), tolerance(curve, 0.1));
    for (std::size_t i = 0; i < found.levels.size(); ++i) {
        const auto& time = found.levels[i].value;
        const auto& capacity = found.levels[i].capacity;
        const auto number = std::to_string(i + 1), id = "l" + number, name = "level " + number;
        const auto rate = [&](double seconds) { return 1 / (seconds > 0 ? seconds : time.value); };
        out.push_back({id + ".rate", name + " read bandwidth", "B/s", rate(time.value), rate(time.high), rate(time.low),
                       how + "; holds to " + bytes_text(capacity.value)});
        // The last level before memory is one for all units; the first is one for each, and is left by all at once.
        const bool gradual = i + 2 == found.levels.size() && i > 0 && capacity.high > 1.5 * capacity.low;
        if (const auto whole = gradual ? capacity_of_random_replacement(xs(curve), steps(curve), time.value,
                                                                        found.levels[i + 1].value.value)
                                       : std::nullopt)
            out.push_back(
                figure(id + ".size", name + " capacity", "byte", *whole,
                       how + "; all of " + bytes_text(capacity.value) +
                           " fit, and a level of that size with random replacement explains the larger regions"));
        else if (!found.levels[i].open)
            out.push_back(figure(id + ".size", name + " capacity", "byte", capacity,
                                 "largest region at that bandwidth; high is the next one tried"));
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
        const auto least = *std::ranges::min_element(
            sweep, [&](const auto& a, const auto& b) { return rate(*a.second) < rate(*b.second); });
        const auto variant = key.substr(0, key.find(' '));
        const auto &a = *least.second, &b = *usual->second;
        const double part = rate(a) / rate(b);
        out.push_back(
            {axis + "." + variant, "least rate by " + axis + ", " + variant, "", part,
             part * a.seconds / a.high * b.low / b.seconds, part * a.seconds / a.low * b.high / b.seconds,
             concat("bytes of the elements per second at ", axis, " ", least.first, ", of those at ", axis, " ",
                    usual->first, ", ", sweep.size(), " values tried, each in one placement of its buffers")});
    }
}

/// The rate of a stream, and how it was found.
struct Streamed {
    double bytes = 0;  ///< of the largest size
    Finding found{};
};

/// At the largest size; on a GPU by the difference to a smaller one that no cache holds either, where there is one:
/// what a launch takes before its first byte and after its last is 5 to 20 % of a stream of 100 MiB on a fast GPU, and
/// the same for both.
Streamed streamed(const Curve& curve, const Device& device) {
    const auto& large = curve.samples.back();
    const auto size = [](const Curve::Sample& s) { return bytes_text(s.x); };
    const auto elements = " per buffer, elements of " + curve.fixed.text("width") + " bytes";
    Streamed out{
        large.work.bytes,
        {curve.variant, curve.variant + " bandwidth", "B/s", large.work.bytes / large.seconds,
         large.work.bytes / large.high, large.work.bytes / large.low, "largest size, " + size(large) + elements}};
    if (device.is_cpu()) return out;
    const auto small = std::find_if(curve.samples.rbegin(), curve.samples.rend(), [&](const auto& s) {
        return 2 * s.x <= large.x && s.work.bytes >= static_cast<double>(device.last_level_bytes);
    });
    if (small == curve.samples.rend() || !(large.low > small->high)) return out;
    const double bytes = large.work.bytes - small->work.bytes, rate = bytes / (large.seconds - small->seconds);
    constexpr double most = 1.25;  // what is more was no launch
    if (rate < out.found.value || rate > most * out.found.value) return out;
    out.found.value = rate;
    out.found.low = bytes / (large.high - small->low);
    out.found.high = bytes / (large.low - small->high);
    out.found.how = "by the difference of " + size(large) + " and " + size(*small) + elements + ", without the launch";
    return out;
}

bool is_apart(const Curve& curve) {
    return is_fixed_elsewhere(curve, "offset", "0") || is_fixed_elsewhere(curve, "stride", "1");
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
    double most = 0;
    for (const auto& variant : bandwidth_streams) {
        std::optional<Streamed> best;
        for (const auto& curve : curves) {
            if (curve.variant != variant || curve.samples.empty()) continue;
            auto one = streamed(curve, device);
            if (!best || one.found.value > best->found.value) best = std::move(one);
        }
        if (!best) continue;
        most = std::max(most, best->bytes);
        out.push_back(std::move(best->found));
    }
    if (most > 0)
        out.push_back(figure("streamed", "streamed", "byte", most,
                             "all buffers of the largest of these streams; a kernel that moves as much is no faster"));
    for (const auto& curve : curves) {
        if (curve.variant == "reread" && !curve.samples.empty()) conclude_levels(curve, device, out);
        if (curve.variant == "copy" && device.is_cpu() && curve.samples.size() > 1)
            append(out, copy_rates(curve, device, "elements of " + curve.fixed.text("width") + " bytes"));
    }
    append(out, std::move(of_places));
    return out;
}

}  // namespace cllab::model::lib
