// ports: the rate of multiply-adds by the number of registers that they read.
#include "experiments/lib/family.hpp"

namespace cllab::model::ports_family {

using namespace lib;

constexpr std::size_t chains = 8, period = 64;

struct Shape {
    std::size_t items = 1, groups = 1, unroll = 1;
};

Shape shape_of(const Device& device, const std::string&, Params& params) {
    Shape s;
    s.items = params.count("items", std::min<std::size_t>(device.is_gpu() ? 256 : 1, device.max_group_promised));
    require_group(device, s.items);
    s.unroll = params.count("unroll");
    s.groups = is_simulator(device) ? 1 : device.compute_units * (device.is_gpu() ? 8ull : 4ull);
    return s;
}

float step(const std::string& variant, float x, float y, float c) {
    if (variant == "one") return std::fma(x, x, x);
    if (variant == "two") return std::fma(x, x, c);
    return std::fma(x, y, c);
}

Setup setup(const Request& request, const Shape& s) {
    const auto& variant = request.variant.name;
    // x in [-0.5, -0.25): x x + x approaches 0 as slowly as 1 / n. x x + c and x y + c approach a fixed point.
    Random random(request.seed);
    std::vector<float> start(3 * period);
    for (std::size_t i = 0; i < period; ++i) {
        start[i] = random.real(-0.5f, -0.25f);
        start[period + i] = random.real(0.5f, 0.875f);
        start[2 * period + i] = random.real(-0.5f, -0.25f);
    }
    Setup out;
    out.args = {Input{"start", share(start)}, Output{"out", 4 * s.items * s.groups}, trips()};
    launch_groups(out, s.groups, s.items);
    out.slope = slope(request.device, 16, 3 * 16, s.unroll);
    out.defines = {concat("UNROLL=", s.unroll)};
    out.work.flops = 2.0 * chains * static_cast<double>(s.items * s.groups);
    out.declared = {{Declared::What::multiply_add, static_cast<double>(chains * s.unroll), 32}};
    out.check = [=](const Buffers& buffers) {
        std::vector<float> sums(period);
        for (std::size_t lane = 0; lane < period; ++lane) {
            float sum = 0;
            for (std::size_t j = 0; j < chains; ++j) {
                const auto at = (lane + j) % period, shared = variant == "shared" ? lane : at;
                float x = start[at];
                for (std::size_t n = 0; n < s.unroll * static_cast<std::size_t>(buffers.trips); ++n)
                    x = step(variant, x, start[period + shared], start[2 * period + shared]);
                sum += x;
            }
            sums[lane] = sum;
        }
        return first_difference<float>(buffers, "out", [&](std::size_t i) { return sums[i % s.items % period]; });
    };
    return out;
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device&) {
    const auto two = rows_of(curves, "two"), three = rows_of(curves, "three");
    if (two.empty() || three.empty()) return {};
    return {ratio_finding("third_source", "cost of a third source", *three.front().sample, *two.front().sample,
                          "multiply-adds that read three registers over those that read two")};
}

Experiment describe() {
    return family("ports", shape_of, setup,
                  {.metrics = {rate_metric("flops", "FLOP/s", &Work::flops)}, .conclude = conclude});
}

}  // namespace cllab::model::ports_family
