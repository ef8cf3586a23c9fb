// banks: local-memory time by the stride between lanes, and the banks that explain it.
//
// The usual probe multiplies by the stride inside the chain, so it also times the multiplier. Some probes feed one
// stride's result into the next stride. Here the pattern is in a read-only table of starts, and the chain consists only
// of loads.
#include "experiments/lib/family.hpp"

namespace cllab::model::banks_family {

using namespace lib;

constexpr std::uint32_t words = 4096;  // a 64-lane wave does not wrap up to stride 64
constexpr std::uint32_t shift = 37;
constexpr std::int32_t loads_per_trip = 16;
// For a work-item of `rate`: chains so many words apart have the same conflicts.
constexpr std::uint32_t chains = 4, apart = 64;

std::uint32_t word_bytes(const std::string& variant, const Device& device) {
    return variant != "pair" && short_local_address(device) ? 4 : 8;
}

std::vector<std::uint32_t> starts(std::uint32_t lanes, std::uint32_t stride, std::uint32_t seed) {
    std::vector<std::uint32_t> out(lanes);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) out[lane] = (seed + lane * stride) % words;
    return out;
}

Setup setup(const Request& request, Params& params) {
    const auto& device = request.device;
    if (device.is_cpu())
        throw Unsupported(
            "local memory is ordinary cached memory on this device, so it has no banks; its bandwidth is the L1 read "
            "bandwidth of `cllab profile --all`");
    const auto bytes = word_bytes(request.variant.name, device);
    const bool rate = request.variant.name == "rate";
    // One wave shows the latency. A rate needs as many work-items as a unit holds.
    const auto lanes = rate && !is_simulator(device)
                           ? std::min<std::uint32_t>(1024, static_cast<std::uint32_t>(device.max_group_promised))
                           : std::min<std::uint32_t>(wave_width(device), static_cast<std::uint32_t>(device.max_group));
    const std::uint32_t groups = !rate ? 1 : is_simulator(device) ? 2 : device.compute_units * 2;
    // The seed moves the whole pattern by a multiple of 64 words: other data, the same conflicts.
    const auto start = starts(lanes, static_cast<std::uint32_t>(params.integer("stride")),
                              static_cast<std::uint32_t>(mix64(request.seed) % 64 * 64));
    Setup out;
    out.args = {Input{"start", share(start)}, Output{"out", lanes * 4ull * groups}, trips()};
    launch_groups(out, groups, lanes);
    out.defines = {concat("WORDS=", words), concat("SHIFT=", shift), bytes == 4 ? "ADDRESS=uint" : "ADDRESS=ulong"};
    out.slope = slope(device, 256, 1280, loads_per_trip);
    out.declared = {{Declared::What::local_load, loads_per_trip, 8 * bytes}};
    if (rate) {
        out.defines.push_back(concat("APART=", apart));
        // A step is a byte. A trip has as many loads as in `latency`, in four chains.
        out.slope->steps_per_trip *= static_cast<double>(bytes) * lanes * groups;
        out.check = [=](const Buffers& buffers) {
            const auto moved = static_cast<std::uint64_t>(buffers.trips) * (loads_per_trip / chains) * shift;
            return first_difference<std::uint32_t>(buffers, "out", [&](std::size_t i) {
                std::uint32_t sum = 0;
                for (std::uint32_t k = 0; k < chains; ++k)
                    sum += static_cast<std::uint32_t>((start[i % lanes] + k * apart + moved) % words);
                return sum;
            });
        };
        return out;
    }
    out.check = [start](const Buffers& buffers) {
        const auto moved = static_cast<std::uint64_t>(buffers.trips) * loads_per_trip * shift;
        auto expected = start;
        for (auto& word : expected) word = static_cast<std::uint32_t>((word + moved) % words);
        return first_difference(buffers, "out", expected);
    };
    return out;
}

/// Bytes per second at stride 1, where no lanes share a bank, and the slowdown at the worst stride.
void conclude_rate(const Curve& curve, std::vector<Finding>& out) {
    const auto* free = sample_at(curve, 1);
    if (!free) return;
    out.push_back(rate_finding("rate", "local memory bandwidth", "B/s", *free, 1,
                               "four chains of loads in each work-item of whole groups on all units, stride 1"));
    if (curve.samples.size() < 3) return;
    const auto& worst = extremes(curve.samples).second;
    out.push_back(ratio_finding("rate.worst", "bank conflicts at the worst stride", worst, *free,
                                "stride " + text_of(worst.x) + " against 1, the same loads"));
}

void conclude_one(const Curve& curve, const Device& device, std::vector<Finding>& out) {
    const auto bytes = word_bytes(curve.variant, device);
    const auto of = std::to_string(bytes), label = ", " + of + " bytes";
    if (const auto* one = sample_at(curve, 1))
        out.push_back(step_finding("load." + of, "local memory load" + label, *one,
                                   "dependent loads of one wave at stride 1, no conflict"));
    std::vector<BankCase> cases;
    for (const auto& s : curve.samples) {
        auto addresses = starts(wave_width(device), static_cast<std::uint32_t>(s.x), 0);
        for (auto& a : addresses) a *= bytes;
        cases.push_back({std::move(addresses), s.per_step});
    }
    // Half waves access words of 8 bytes, because the lanes of a pass read 128 bytes together.
    const auto fit = fit_banks(cases, bytes == 4 ? 32 : 16);
    if (!fit) return;
    const auto how = concat("fit of base + cost * (ways - 1) over ", cases.size(), " strides, residual ",
                            format_significant(100 * fit->residual, 2), " %");
    const auto also =
        join(fit->alternatives, ", ", [](const auto& a) { return concat(a.first, " of ", a.second, " byte"); });
    out.push_back(figure("banks." + of, "local memory banks" + label, "bank", fit->banks,
                         how + (also.empty() ? "" : "; as good: " + also)));
    out.push_back(figure("width." + of, "bank width" + label, "byte", fit->bank_bytes, how));
    out.push_back(figure("way." + of, "bank conflict, time per further lane" + label, "s", fit->per_slot, how));
}

void conclude(const Curve& curve, const Device& device, std::vector<Finding>& out) {
    if (curve.variant == "rate")
        conclude_rate(curve, out);
    else
        conclude_one(curve, device, out);
}

Experiment describe() {
    return family("banks", setup,
                  {.metrics = {{"local_bandwidth", "B/s", Better::higher,
                                [](const Setup& s, double seconds) {
                                    return s.global.count() > s.local.count() ? 1 / seconds : NAN;
                                }}},
                   .conclude = of_each(conclude)});
}

}  // namespace cllab::model::banks_family
