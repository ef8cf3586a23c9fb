// cacheline: pairs of loads at a distance. The time of a pair minus the time of a single miss is the time of the second
// load. It jumps where the distance exceeds the bytes that the first load fetched. This needs no model of averages and
// shows sector, fetch and line separately; a strided walk mixes them.
#include "experiments/lib/family.hpp"

namespace cllab::model::cacheline_family {

using namespace lib;

constexpr std::uint64_t granule = 128;  // a pair every 128 bytes, as in cacheline.cl
constexpr std::int32_t visits_per_trip = 8;

struct Layout {
    std::uint64_t footprint = 0, distance = 0, offset = 0;
    // The last pair's second word may be beyond the footprint.
    std::uint64_t bytes() const { return footprint + distance + granule; }
};

Layout layout_of(const Device& device, const std::string&, Params& params) {
    Layout out;
    out.distance = params.count("distance");
    out.offset = params.count("offset");
    out.footprint = params.count(
        "footprint",
        is_simulator(device) ? 16 << 10 : round_up(std::max<std::uint64_t>(beyond_caches(device), 1 << 20), granule));
    if (out.distance % granule == 0)
        throw Error(Blame::usage, "axis 'distance' is ", out.distance,
                    "; it must not be a multiple of 128, where the next pair begins; use e.g. ", out.distance + 8);
    require_room(device, "chain", out.bytes());
    return out;
}

Setup setup(const Request& request, const Layout& layout) {
    const Chase chase{random_order(layout.footprint / granule, request.seed), granule, layout.offset, visits_per_trip,
                      "visits"};
    Setup out;
    chase.set_up(out, "cacheline_link", layout.bytes(), request.device);
    out.defines = defines({{"DISTANCE", layout.distance}, {"OFFSET", layout.offset}});
    out.slope = slope(request.device, 32, 544, visits_per_trip);
    out.declared = {{Declared::What::load, visits_per_trip * (request.variant.name == "pair" ? 2.0 : 1.0), 64}};
    return out;
}

/// Names the granules in ascending order. A GPU fills sectors of a line, a CPU whole lines. Prefetchers fetch what is
/// beyond a line.
std::string name_of_granule(std::size_t i, std::size_t found, bool gpu) {
    if (!gpu) return i == 0 ? "line" : "fetch";
    return i + 1 == found ? "line" : i == 0 ? "sector" : "fetch";
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device& device) {
    std::vector<Finding> out;
    for (const auto& pairs : curves) {
        if (pairs.variant != "pair" || pairs.fixed.integer("offset") != 0) continue;
        const auto lones =
            std::ranges::find_if(curves, [&](const Curve& c) { return c.variant == "lone" && c.fixed == pairs.fixed; });
        if (lones == curves.end()) continue;
        std::vector<double> distance, second, noise;
        const Curve::Sample* miss = nullptr;
        for (const auto& pair : pairs.samples) {
            const auto* lone = sample_at(*lones, pair.x);
            if (!lone) continue;
            if (!miss || lone->per_step < miss->per_step) miss = lone;
            distance.push_back(pair.x);
            second.push_back(pair.per_step - lone->per_step);
            noise.push_back(pair.high - pair.low + lone->high - lone->low);
        }
        if (!miss) continue;
        const auto where = pairs.fixed.is_auto("footprint")
                               ? "beyond the caches"
                               : "in " + format_bytes(static_cast<std::uint64_t>(pairs.fixed.integer("footprint")));
        out.push_back(step_finding("miss", "latency of one cache miss", *miss,
                                   "random chase, one load per block of 128 bytes, " + where));
        // If the intervals are narrow, use 4 % of a miss: that is still less than the difference between levels of
        // memory.
        const auto found = granules(distance, second, std::max(0.04 * miss->per_step, summarise(noise).median));
        const double said = device.cacheline_bytes;
        if (found.empty())
            out.push_back(withheld("line", "cache line",
                                   "a second load costs no more at any distance: prefetchers fetch it first, or other "
                                   "programs use the memory"));
        else if (const double first = found.front().bytes; device.is_cpu() && said > 0 && first != said) {
            out.push_back(withheld("line", "cache line",
                                   "a second load costs more from " + bytes_text(first) + " on, and the driver says " +
                                       bytes_text(said) +
                                       ": prefetchers load the lines between, or others use the memory"));
            continue;
        }
        for (std::size_t i = 0; i < found.size(); ++i) {
            const auto& g = found[i];
            const auto name = name_of_granule(i, found.size(), device.is_gpu());
            out.push_back(figure(name, "cache " + name, "byte", static_cast<double>(g.bytes),
                                 "a second load within costs " + format_seconds(std::max(g.before, 0.0)) + ", beyond " +
                                     format_seconds(g.after) + "; time of the pair less the lone miss"));
        }
    }
    return out;
}

Experiment describe() { return family("cacheline", layout_of, setup, {.conclude = conclude}); }

}  // namespace cllab::model::cacheline_family
