// scatter: time of a wave's load or store by the number of memory blocks that its lanes access.
#include <atomic>

#include "experiments/lib/family.hpp"

namespace cllab::model::scatter_family {

using namespace lib;

constexpr std::uint32_t factor = 0x9E3779B1u;  // as in scatter.cl

/// The places that a cell accesses, by the definition alone: lane l accesses word l / K of block l % K.
struct Layout {
    std::uint32_t wave = 32, spread = 1, waves = 1, blocks = 1;

    std::uint32_t word(std::uint32_t wave_number, std::uint32_t lane, std::uint32_t trip) const {
        const std::uint64_t first = static_cast<std::uint64_t>(trip) * waves * spread;
        const std::uint32_t block = (first + static_cast<std::uint64_t>(wave_number) * spread + lane % spread) % blocks;
        return block * wave + lane / spread;
    }
    /// Several threads share the waves.
    template <typename Visit>
    void each(std::int32_t trips, Visit visit) const {
        in_parallel(waves, 16, [&](std::size_t begin, std::size_t end) {
            for (std::uint32_t trip = 0; trip < static_cast<std::uint32_t>(trips); ++trip)
                for (auto w = static_cast<std::uint32_t>(begin); w < end; ++w)
                    for (std::uint32_t lane = 0; lane < wave; ++lane) visit(w, lane, word(w, lane, trip));
        });
    }
};

std::optional<std::string> check_store(const Layout& layout, std::uint32_t key, const Buffers& buffers) {
    auto expected = poisoned_words(buffers, "out");
    // Several waves may write a word, but all write the same value.
    layout.each(buffers.trips, [&](std::uint32_t, std::uint32_t, std::uint32_t at) {
        std::atomic_ref(expected[at]).store(at * factor ^ key, std::memory_order_relaxed);
    });
    return first_difference(buffers, "out", expected);
}

std::optional<std::string> check_load(const Layout& layout, std::span<const std::uint32_t> in, const Buffers& buffers) {
    std::vector<std::uint32_t> expected(static_cast<std::size_t>(layout.waves) * layout.wave);
    layout.each(buffers.trips, [&](std::uint32_t w, std::uint32_t lane, std::uint32_t at) {
        expected[w * layout.wave + lane] += in[at];
    });
    return first_difference(buffers, "out", expected);
}

Setup setup(const Request& request, Params& params) {
    const auto& device = request.device;
    if (device.is_cpu())
        throw Unsupported(
            "a CPU runs work-items as iterations of a loop in one thread, so no wave can combine their accesses; "
            "`cllab run cacheline` measures the bytes per scattered access");
    Layout layout;
    layout.wave = std::bit_floor(std::max(8u, wave_width(device)));
    layout.spread = params.integer("spread");
    if (layout.spread > layout.wave)
        throw Unsupported("axis 'spread' is ", layout.spread, "; a wave has only ", layout.wave, " lanes");
    const bool simulator = is_simulator(device);
    const auto group = even_group(device);
    layout.waves = simulator ? 4 : device.compute_units * 2 * group / layout.wave;
    // One trip at the widest spread accesses every block at most once, so that a trip's addresses are distinct.
    layout.blocks = std::bit_ceil(layout.waves * layout.wave);
    const std::size_t words = static_cast<std::size_t>(layout.blocks) * layout.wave;
    require_room(device, "out", words * 4);

    Setup out;
    const auto mask = value("block_mask", layout.blocks - 1);
    if (request.variant.name == "store") {
        const std::uint32_t key = mix64(request.seed);
        out.args = {Output{"out", words * 4}, mask, value("key", key), trips()};
        out.check = [layout, key](const Buffers& buffers) { return check_store(layout, key, buffers); };
    } else {
        const auto in = random_bytes(4 * words, request.seed);
        out.args = {Input{"in", in}, Output{"out", static_cast<std::size_t>(layout.waves) * layout.wave * 4}, mask,
                    trips()};
        out.check = [layout, in](const Buffers& buffers) {
            return check_load(layout, view<std::uint32_t>(in), buffers);
        };
    }
    out.declared = {{request.variant.name == "store" ? Declared::What::store : Declared::What::load, 1, 32}};
    out.global = Extent(static_cast<std::size_t>(layout.waves) * layout.wave);
    out.local = Extent(simulator ? layout.wave : group);
    out.defines = {concat("WAVE=", layout.wave, "u"), concat("SPREAD=", layout.spread, "u")};
    out.slope = slope(device, 64, 448, layout.waves);
    return out;
}

/// A wave's rate of blocks, where blocks determine its time. A few blocks cost no more than one. So only the spreads
/// count from which on each further block costs the same.
Finding block_rate(const Curve& curve) {
    constexpr double alike = 1.15;
    constexpr std::size_t enough = 2;
    const auto& s = curve.samples;
    std::vector<double> costs;
    for (std::size_t i = s.size(); i-- > 1;) {
        const double cost = (s[i].per_step - s[i - 1].per_step) / (s[i].x - s[i - 1].x);
        if (!costs.empty() && (cost > alike * costs.front() || cost * alike < costs.front())) break;
        costs.push_back(cost);
    }
    const auto [least, most] = std::ranges::minmax_element(costs);
    const auto id = curve.variant + ".rate", name = "scattered " + curve.variant + " rate";
    if (costs.size() < enough || *least <= 0)
        return withheld(id, name, "each further block per wave adds another time, so no single rate holds");
    const auto& first = s[s.size() - 1 - costs.size()];
    const double value = (s.back().per_step - first.per_step) / (s.back().x - first.x);
    return figure(id, name, "block/s", {1 / value, 1 / *most, 1 / *least},
                  "a further block's part of a wave's time, from " + text_of(first.x) + " to " + text_of(s.back().x) +
                      " blocks, whole device, second level");
}

void conclude(const Curve& curve, const Device&, std::vector<Finding>& out) {
    if (curve.samples.size() < 2 || curve.samples.front().x != 1) return;
    const auto &one = curve.samples.front(), &most = curve.samples.back();
    out.push_back(ratio_finding(curve.variant + ".cost",
                                "scattered " + curve.variant + ", " + text_of(most.x) + " blocks per wave", most, one,
                                "time of a wave's access over that of a coalesced one"));
    out.push_back(block_rate(curve));
}

Experiment describe() { return family("scatter", setup, {.conclude = of_each(conclude)}); }

}  // namespace cllab::model::scatter_family
