// access: alignment, stride and saturation of a plain copy.
#include "experiments/lib/family.hpp"

namespace cllab::model::access_family {

using namespace lib;

struct Shape {
    std::uint64_t bytes = 0;  ///< of the region whose words are moved
    std::size_t offset = 0, stride = 1, local = 1, groups = 0;
    std::uint64_t words() const { return bytes / 4; }
    std::uint64_t moved() const { return (words() + stride - 1) / stride; }
};

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    Shape s;
    s.bytes = params.count("size", is_simulator(device) ? 16 << 10 : twice_last_level(device));
    if (variant == "offset") s.offset = params.count("offset") / 4;
    if (variant == "stride") s.stride = params.count("stride");
    require_room(device, "src", s.bytes + 4 * s.offset);
    s.local = group(params, device, device.is_cpu() ? 1 : 256);
    if (variant == "groups") s.groups = std::max(1.0, std::round(params.real("load") * device.compute_units / 100));
    return s;
}

Setup setup(const Request& request, const Shape& s) {
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    const auto src = random_bytes(s.bytes + 4 * s.offset, request.seed);
    Setup out;
    out.args = {Input{"src", src}, Output{"dst", src->size()}};
    out.work.bytes = 8.0 * s.moved();
    out.work.steps = s.moved();
    const std::size_t items = device.is_cpu() ? device.compute_units * 4ull : s.moved();
    launch_items(out, items, s.local);
    if (variant == "groups") {
        out.args.push_back(value("count", s.bytes / 16));
        launch_groups(out, s.groups, s.local);
    } else {
        out.args.push_back(value("count", s.moved()));
        out.args.push_back(value(variant == "offset" ? "offset" : "stride",
                                 static_cast<std::uint32_t>(variant == "offset" ? s.offset : s.stride)));
    }
    out.check = [s, src](const Buffers& buffers) -> std::optional<std::string> {
        const auto found = buffers.as<std::uint32_t>("dst"), from = view<std::uint32_t>(src);
        return first_wrong(found.size(), [&](std::size_t i) -> std::optional<std::string> {
            const bool moved = i >= s.offset && (i - s.offset) % s.stride == 0;
            if (moved && found[i] != from[i]) return difference("dst", i, found[i], from[i]);
            if (!moved && !buffers.untouched("dst", 4 * i))
                return concat("dst[", i, "] was written, and is none of those to be moved");
            return std::nullopt;
        });
    };
    return out;
}

/// Ratio of the worst point to the first one: offset 0, or stride 1.
void conclude_loss(const Curve& curve, const std::string& name, std::vector<Finding>& out) {
    if (curve.samples.size() < 2) return;
    const auto& first = curve.samples.front();
    const auto& worst = extremes(curve.samples).second;
    out.push_back(ratio_finding(curve.variant, name, worst, first,
                                "time of a word at " + text_of(worst.x) + " over that at " + text_of(first.x)));
}

/// The smallest number of work-groups that reaches 95 % of the best bandwidth.
void conclude_saturation(const Curve& curve, std::vector<Finding>& out) {
    if (curve.samples.size() < 3) return;
    const double best = least_seconds(curve);
    double before = 0;
    for (const auto& s : curve.samples) {
        if (best / s.seconds >= 0.95) {
            out.push_back(
                {"groups", "groups that fill memory", "%", s.x, before, s.x,
                 "fewest groups, as a percentage of the compute units, within 5 % of the best bandwidth; groups of " +
                     curve.fixed.text("local") + " work-items"});
            return;
        }
        before = s.x;
    }
}

void conclude(const Curve& curve, const Device&, std::vector<Finding>& out) {
    if (curve.variant == "offset") conclude_loss(curve, "cost of a misaligned start", out);
    if (curve.variant == "stride") conclude_loss(curve, "cost of a stride", out);
    if (curve.variant == "groups") conclude_saturation(curve, out);
}

Experiment describe() { return family("access", shape_of, setup, {.conclude = of_each(conclude)}); }

}  // namespace cllab::model::access_family
