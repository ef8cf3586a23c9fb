// Accesses that jump about in memory: how long the misses of a CPU's cores take where none waits for another.
//
// A core has only so many misses under way. Bytes explain little of their time: each brings in a line of which a word
// is used, and no prefetcher brings it earlier. The probe has as many under way as the cores can have, through regions
// of several sizes, with all that belongs to it: the part that lies nearer, and the misses of the TLB.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/amounts.hpp"
#include "explain/limiter.hpp"

namespace cllab::explain {
namespace {

constexpr const char* kinds[]{"bandwidth.gather.", "bandwidth.scatter."};

/// The rate in a region of so many bytes, by a power of its size between those of the two around it; of a larger one
/// than was tried that of the largest, as it is no faster. None of one that is smaller than all.
std::optional<Figure> rate_in(const Limits& limits, const std::string& kind, double bytes) {
    std::map<double, const Figure*> tried;
    for (const auto& f : limits.figures)
        if (const auto size = f.id.starts_with(kind) ? parse_real(f.id.substr(kind.size())) : std::nullopt;
            size && f.value > 0)
            tried[*size] = &f;
    const auto above = tried.lower_bound(bytes);
    if (tried.empty() || (above == tried.begin() && above->first > bytes)) return std::nullopt;
    if (above == tried.end()) return *std::prev(above)->second;
    Figure out = *above->second;
    if (above->first == bytes) return out;
    const auto& [smaller, near] = *std::prev(above);
    const double part = std::log(bytes / smaller) / std::log(above->first / smaller);
    const auto between = [&](double a, double b) { return a > 0 && b > 0 ? a * std::pow(b / a, part) : 0; };
    out.value = between(near->value, out.value);
    out.low = between(near->low, out.low);
    out.high = std::max(out.value, between(near->high, out.high));
    out.name = "between " + near->name + " and " + format_bytes(static_cast<std::uint64_t>(above->first));
    return out;
}

/// Seconds of so many lines where a prefetcher brings them all.
double as_a_stream(const Limits& limits, const std::string& level, double lines) {
    double fastest = 0;
    for (const auto& id : level == "memory" ? std::vector<std::string>{"read", "copy", "memory.rate"}
                                            : std::vector<std::string>{level + ".rate"})
        if (const auto* f = limits.find("bandwidth." + id)) fastest = std::max({fastest, f->value, f->high});
    const auto* line = limits.find("cacheline.line");
    return fastest > 0 ? lines * (line ? line->value : 64) / fastest : 0;
}

}  // namespace

bool is_of_jumps(const Bound& bound) {
    return std::ranges::any_of(kinds, [&](const char* kind) { return bound.figure.starts_with(kind); });
}

void bound_jumps(const Record& record, const Limits& limits, Explanation& out) {
    const auto& jumps = record.counts->jumps;
    if (is_gpu(record) || jumps.loads + jumps.stores <= 0 || jumps.span <= 0) return;
    const auto sizes = sizes_of(limits, "bandwidth", Capacity::most);
    auto region = record;
    region.work.footprint = jumps.span;
    const auto place = place_of(region, limits, sizes, 1, Capacity::most);
    // In a core's own levels what an instruction takes is as long as a miss.
    if (!place || (!place->memory && place->level + 1 < sizes.size())) return;
    const auto level = place->memory ? "memory" : level_id(place->level),
               name = place->memory ? "memory" : level_name(place->level);
    const double loads = record.counts->items * jumps.loads, stores = record.counts->items * jumps.stores;
    Bound bound{level, "", name + " scattered", 0, 0, 0, "", ""};
    double most = 0;
    for (const auto& [number, kind] : {std::pair{loads, kinds[0]}, {stores, kinds[1]}}) {
        if (number <= 0) continue;
        const auto rate = rate_in(limits, kind, jumps.span);
        if (!rate) return out.leave_out("scattered accesses", "the profile has no rate of them in such a region");
        const auto one = at_rate("", "", "", number, "access", *rate);
        if (one.seconds > most) {
            most = one.seconds;
            bound.figure = one.figure;
            bound.name = name + (kind == kinds[0] ? ", scattered loads" : ", scattered stores");
        }
        add(bound, one);
    }
    constexpr double nearly_all = 0.9;
    if (most < nearly_all * bound.seconds) bound.name = name + ", scattered accesses";
    bound.how.erase(0, std::string_view(" and ").size());
    bound.how += ", " + source_of(*record.counts);
    // In an order that a prefetcher knows after all it may be as fast as a stream, less what lies nearer.
    bound.low = std::min(bound.low, as_a_stream(limits, level, loads + stores) * (1 - place->nearer));
    bound.simulated = true;
    bound = on_available_cores(std::move(bound), record, parallel_of(record, limits));
    // The bytes that a level gives, and the misses that wait for it, are one resource: the larger stays.
    const auto bytes = std::ranges::find(out.bounds, level, &Bound::id);
    if (bytes != out.bounds.end()) {
        if (bytes->seconds >= bound.seconds) return;
        bound.low = std::max(bound.low, bytes->low);
        out.bounds.erase(bytes);
    }
    const auto& time = *record.time;
    if (time.median > 0 && bound.low <= time.median && bound.seconds > alike * time.high) {
        bound.seconds = time.median;
        bound.how += ", which takes longer than this order does";
    }
    out.bounds.push_back(std::move(bound));
}

}  // namespace cllab::explain
