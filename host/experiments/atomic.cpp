// atomic: rate of additions to shared counters by the number of counters, and the latency of an addition.
#include "experiments/lib/family.hpp"

namespace cllab::model::atomic_family {

using namespace lib;

/// The sums in counters 0 .. counters - 1 after `items` work-items made `trips` additions each.
std::vector<std::uint32_t> sums(std::uint32_t items, std::uint32_t counters, std::int32_t trips) {
    std::vector<std::uint32_t> out(counters);
    // In `counters` trips every work-item visits each counter once. Only the remaining trips need a loop.
    const auto rounds = static_cast<std::uint32_t>(trips) / counters,
               rest = static_cast<std::uint32_t>(trips) % counters;
    std::uint32_t all = 0;
    for (std::uint32_t item = 0; item < items; ++item) {
        const auto addend = 1 + item % 3;
        all += addend;
        for (std::uint32_t trip = 0; trip < rest; ++trip) out[(item + trip) % counters] += addend;
    }
    for (auto& counter : out) counter += rounds * all;
    return out;
}

/// The additions to each counter by atomic_chain. In the second launch a counter begins with the first launch's sum.
/// The differences are then no longer 0, and the order of visits changes. So this loop follows the kernel's text.
std::vector<std::uint32_t> chain_sums(std::uint32_t counters, std::int32_t trips, std::uint64_t launches) {
    std::vector<std::uint32_t> out(counters);
    for (std::uint64_t launch = 0; launch < launches; ++launch) {
        std::uint32_t rounds = 0;
        for (std::uint32_t trip = 0; trip < static_cast<std::uint32_t>(trips); ++trip) {
            const std::uint32_t expected = trip == 0 ? 0 : (trip - 1) / counters;
            rounds = out[(trip + (rounds - expected)) % counters]++;
        }
    }
    return out;
}

Setup setup(const Request& request, Params& params) {
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    const std::uint32_t counters = params.count("counters");
    const bool simulator = is_simulator(device);
    const auto group = device.is_cpu() ? 1 : even_group(device);
    const std::uint32_t groups = simulator ? 2 : device.compute_units * (device.is_cpu() ? 1 : 4);
    const auto items = variant == "chain" ? 1 : group * groups;
    Setup out;
    const auto mask = value("counter_mask", counters - 1);
    out.global = Extent(items);
    out.local = Extent(variant == "chain" ? 1 : group);
    if (variant == "local") {
        if (device.is_cpu())
            throw Unsupported("local memory is ordinary memory on this device; run atomic_global instead");
        if (const auto most = std::min<std::uint64_t>(group * 4, device.local_bytes / 4); counters > most)
            throw Unsupported("axis 'counters' is ", counters, "; it must be at most ", most,
                              " here (4 per work-item of a group, 4 bytes of local memory each)");
        out.args = {Output{"out", counters * 4ull * groups}, mask, trips()};
        out.defines = {concat("COUNTERS=", counters)};
        out.work.local_addresses = counters;
        out.check = [=](const Buffers& buffers) {
            const auto one = sums(group, counters, buffers.trips);
            return first_difference<std::uint32_t>(buffers, "out", [&](std::size_t i) { return one[i % counters]; });
        };
    } else {
        // Counters do not start at zero, so that clearing them cannot give the right sums.
        const std::uint32_t key = mix64(request.seed);
        out.args = {InOut{"counter", share(std::vector<std::uint32_t>(counters, key))}, mask};
        if (variant == "chain") {
            out.args.push_back(value<std::uint32_t>("counter_log2", std::countr_zero(counters)));
            out.args.push_back(value("key", key));
        }
        out.args.push_back(trips());
        out.accumulates = true;
        out.check = [=](const Buffers& buffers) {
            const std::uint32_t operations = buffers.operations;
            auto expected = variant == "chain" ? chain_sums(counters, buffers.trips, operations)
                                               : sums(items, counters, buffers.trips);
            for (auto& counter : expected) counter = counter * (variant == "chain" ? 1 : operations) + key;
            return first_difference(buffers, "counter", expected);
        };
    }
    out.declared = {{variant == "local" ? Declared::What::local_atomic : Declared::What::atomic, 1, 32}};
    out.chained = variant == "chain";
    // A CPU's threads must be awake most of the time; otherwise no two additions collide. Launches to many cores also
    // vary by more than a GPU's number of trips takes on a CPU. llvmpipe ends loops after 65535 trips.
    if (variant == "chain")
        out.slope = device.is_gpu() ? slope(device, 512, 2560, 1) : slope(device, 12288, 61440, 1);
    else
        out.slope = slope(device, device.is_gpu() ? 32 : 65536, device.is_gpu() ? 160 : 327680, items);
    return out;
}

void conclude(const Curve& curve, const Device&, std::vector<Finding>& out) {
    const auto &least = curve.samples.front(), &most = curve.samples.back();
    if (curve.variant == "chain") {
        // The distance of an address depends on the buffer's place, so one address does not represent others. Intervals
        // that other load widened do not widen the result, if most are not.
        auto found =
            step_finding("latency", "atomic latency", least,
                         "dependent global additions of one work-item; from the nearest to the farthest address");
        const auto times = steps(curve);
        std::vector<double> lows, highs;
        for (const auto& s : curve.samples) {
            lows.push_back(per_step(s, s.low));
            highs.push_back(per_step(s, s.high));
        }
        found.value = summarise(times).median;
        found.low = std::min(std::ranges::min(times), summarise(lows).median);
        found.high = std::max(std::ranges::max(times), summarise(highs).median);
        out.push_back(found);
        return;
    }
    for (const auto& s : curve.samples) {
        const auto number = text_of(s.x), name = curve.variant + " atomics, " + number + " addresses";
        if (s.x == 1)
            out.push_back(rate_finding(curve.variant + ".one", curve.variant + " atomics, one address", "op/s", s, 1,
                                       "all work-items add to one word"));
        else
            out.push_back(rate_finding(curve.variant + (s.x < most.x ? "." + number : ".many"), name, "op/s", s, 1,
                                       s.x < most.x ? "work-items spread over so many counters"
                                                    : "work-items spread over the most counters of the sweep"));
    }
}

Experiment describe() {
    return family("atomic", setup, {.metrics = {rate_metric("rate", "op/s")}, .conclude = of_each(conclude)});
}

}  // namespace cllab::model::atomic_family
