// occupancy: how many groups must be resident to saturate memory or arithmetic, measured by taking room away from them.
#include "experiments/lib/family.hpp"

namespace cllab::model::occupancy_family {

using namespace lib;

struct Shape {
    std::size_t local = 1, groups = 1, ballast = 0, live = 0;
    std::int32_t trips = 1;
    std::size_t items() const { return local * groups; }
};

bool by_local(const std::string& variant) { return variant.ends_with("_local"); }
bool of_memory(const std::string& variant) { return variant.starts_with("memory_"); }

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    if (device.is_cpu() && !is_simulator(device))
        throw Unsupported("a CPU core runs one work-group at a time, so no other group can hide a latency");
    Shape s;
    s.local = group(params, device, 64);
    if (by_local(variant)) {
        s.ballast = params.count("ballast");
        if (s.ballast > device.local_bytes)
            throw Unsupported("a ballast of ", format_bytes(s.ballast),
                              " does not fit into the device's local memory of ", format_bytes(device.local_bytes));
    } else {
        s.live = params.count("live");
    }
    // Many times the resident number, and the same work at every point.
    s.groups = is_simulator(device) ? 2 : device.compute_units * 128ull;
    s.trips = is_simulator(device) ? 2 : of_memory(variant) ? 64 : 256;
    if (of_memory(variant)) require_room(device, "in", 4 * s.items() * static_cast<std::size_t>(s.trips));
    return s;
}

Setup setup(const Request& request, const Shape& s) {
    const auto& variant = request.variant.name;
    const std::size_t words = of_memory(variant) ? s.items() * static_cast<std::size_t>(s.trips) : 64;
    const auto in = random_bytes(4 * words, request.seed);

    Setup out;
    out.args = {Input{"in", in}, Output{"out", 4 * s.items()}};
    if (by_local(variant))
        out.args.push_back(Local{"ballast", std::max<std::size_t>(s.ballast, 4 * s.local)});
    else
        out.defines = {concat("LIVE=", s.live)};
    out.args.push_back(value("untouched", std::int32_t{-1}));
    out.args.push_back(value("trips", s.trips));
    launch_groups(out, s.groups, s.local);
    if (of_memory(variant))
        out.work.bytes = 4.0 * words;
    else
        out.work.flops = 128.0 * s.trips * static_cast<double>(s.items());
    out.work.steps = static_cast<double>(s.items()) * s.trips;
    out.check = [=](const Buffers& buffers) {
        const auto from = view<std::uint32_t>(in);
        std::vector<float> ends;  // ends of the 64 chains that all groups share
        for (std::size_t i = 0; i < 64 && !of_memory(variant); ++i) {
            float x = static_cast<float>(from[i] >> 8) * 0x1p-25f - 0.5f;
            for (std::int32_t t = 0; t < 64 * s.trips; ++t) x = std::fma(x, x, -0.75f);
            ends.push_back(x);
        }
        return first_difference<float>(buffers, "out", [&](std::size_t i) {
            if (of_memory(variant)) {
                std::uint32_t sum = 0;
                for (std::size_t t = 0; t < static_cast<std::size_t>(s.trips); ++t)
                    sum = (sum ^ from[i + t * s.items()]) * 2654435761u;
                return static_cast<float>(sum >> 8);
            }
            return ends[i % s.local % 64];
        });
    };
    return out;
}

/// The largest ballast that costs less than 5 %.
void conclude(const Curve& curve, const Device&, std::vector<Finding>& out) {
    if (curve.samples.size() < 3) return;
    const double best = least_seconds(curve);
    double held = curve.samples.front().x, next = held;
    for (const auto& s : curve.samples) {
        next = s.x;
        if (s.seconds > 1.05 * best) break;
        held = s.x;
    }
    const auto& last = curve.samples.back();
    const std::string of = of_memory(curve.variant) ? "memory" : "arithmetic";
    const std::string how = "groups of " + curve.fixed.text("local") + " work-items; with " + text_of(last.x) +
                            " the same work takes " + text_of(std::round(100 * last.seconds / best) / 100) +
                            " times as long";
    const bool local = by_local(curve.variant);
    out.push_back({(local ? "local." : "registers.") + curve.variant,
                   (local ? "local memory a group before " : "registers held before ") + of + " slows",
                   local ? "byte" : "", held, held, next, how});
}

Experiment describe() { return family("occupancy", shape_of, setup, {.conclude = of_each(conclude)}); }

}  // namespace cllab::model::occupancy_family
