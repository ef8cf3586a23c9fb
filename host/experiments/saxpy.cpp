// saxpy: the width of an access by the size of the array. After Citadel's study of Turing (2019): on a GPU with few
// load/store units, 32 and 64-bit accesses cannot saturate memory. 128-bit accesses can, most of all for arrays of 20
// KiB to 2 MiB.
#include "experiments/lib/family.hpp"

namespace cllab::model::saxpy_family {

using namespace lib;

struct Data {
    SharedBytes x, y;
};

std::size_t lanes_of(const std::string& variant) { return std::stoul(variant.substr(1)) / 32; }

struct Shape {
    std::uint64_t n = 0;       ///< computed floats of each array
    std::uint64_t length = 0;  ///< floats of each array
    std::size_t vectors = 1, local = 1, per_item = 1;
    std::size_t offset = 0, stride = 1, groups = 0;  ///< groups: 0: automatic
};

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    // The two arrays together have four times the last-level cache.
    const auto bytes = params.count("size", is_simulator(device) ? 4096 : twice_last_level(device));
    require_room(device, "y", bytes);
    Shape s;
    s.length = bytes / 4;
    s.offset = params.count("offset");
    s.stride = params.count("stride");
    const std::size_t lanes = lanes_of(variant);
    // With a stride, only whole accesses. Without one, also the rest that does not fill an access.
    s.n = s.stride == 1 ? s.length : (s.length / lanes + s.stride - 1) / s.stride * lanes;
    if (s.n == 0) throw Unsupported("axis 'size' is ", bytes, "; it must be at least ", s.stride == 1 ? 4 : 4 * lanes);
    s.vectors = std::max<std::size_t>(1, s.n / lanes);
    if (device.is_cpu()) {
        s.local = group(params, device, 1);
        s.per_item = params.only("per_item", 1, "a CPU's work-items take one access after the other");
    } else {
        s.local = group(params, device, 256);
        // Two accesses per work-item if there are many times the work-items that fill the device: fewer, longer
        // work-groups.
        s.per_item = params.count("per_item", s.vectors >= 16ull * device.compute_units * 2048 ? 2 : 1);
    }
    s.groups = params.count("groups", 0);
    return s;
}

Setup setup(const Request& request, const Shape& s) {
    const auto& device = request.device;
    const auto lanes = lanes_of(request.variant.name);
    const std::size_t whole = s.offset + s.length;
    const float a = 0.75f + 0.125f * static_cast<float>(request.seed % 8);
    const auto data = cached(request, "saxpy", std::pair(whole, request.seed), [&request, whole] {
        return Data{random_floats(whole, request.seed, -1, 1), random_floats(whole, ~request.seed, -1, 1)};
    });

    Setup out;
    out.args = {Input{"x", data->x}, InOut{"y", data->y}, value("a", a), value("n", s.n)};
    const std::size_t items = s.groups > 0      ? s.groups * s.local
                              : device.is_cpu() ? device.compute_units * 4ull
                                                : divide_up(s.vectors, s.per_item);
    launch_items(out, std::max(items, lanes), s.local);
    out.defines =
        defines({{"PER_ITEM", s.per_item}, {"OFFSET", s.offset}, {"STRIDE", s.stride}, {"FEW", s.groups > 0}});
    out.work = {12.0 * s.n, 2.0 * s.n, 0};
    out.accumulates = true;
    out.check = [data, a, s, lanes](const Buffers& buffers) {
        const auto x = view<float>(data->x), y = view<float>(data->y);
        const auto computed = [&](std::size_t i) {
            // Two roundings, like the kernel without contraction.
            const float product = a * x[i];
            float sum = y[i];
            for (std::uint64_t done = 0; done < buffers.operations; ++done) sum = product + sum;
            return sum;
        };
        // Without the loop over operations, the compiler vectorizes this.
        if (s.stride == 1 && s.offset == 0 && buffers.operations == 1)
            return first_difference<float>(buffers, "y", [a, x, y](std::size_t i) { return a * x[i] + y[i]; });
        // The divisions below would take longer than everything else.
        if (s.stride == 1)
            return first_difference<float>(buffers, "y",
                                           [&](std::size_t i) { return i < s.offset ? y[i] : computed(i); });
        return first_difference<float>(buffers, "y", [&](std::size_t i) {
            // Elements before the offset and between two accesses must stay unchanged.
            if (i < s.offset || (i - s.offset) / lanes % s.stride != 0 ||
                (i - s.offset) / lanes / s.stride >= s.vectors)
                return y[i];
            return computed(i);
        });
    };
    return out;
}

/// Where 128-bit accesses are faster: t(32 bit) / t(128 bit) at each size with both.
std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device&) {
    std::map<double, Curve::Sample> narrow, wide;
    for (const auto& curve : curves) {
        if (curve.variant != "w32" && curve.variant != "w128") continue;
        if (is_fixed_elsewhere(curve, "offset", "0") || is_fixed_elsewhere(curve, "stride", "1") ||
            is_fixed_elsewhere(curve, "groups", "0"))
            continue;  // these answer another question
        for (const auto& sample : curve.samples) (curve.variant == "w32" ? narrow : wide)[sample.x] = sample;
    }
    Finding best{"gain_128", "gain_128", "", 0, 0, 0, ""};
    double from = 0, to = 0;
    for (const auto& [size, n] : narrow) {
        const auto found = wide.find(size);
        if (found == wide.end() || !(found->second.seconds > 0) || !(found->second.low > 0)) continue;
        const auto& w = found->second;
        const double gain = n.seconds / w.seconds;
        if (gain > best.value)
            best = figure("gain_128", "gain_128", "", {gain, n.low / w.high, n.high / w.low},
                          concat("largest time of 32-bit over time of 128-bit accesses, at an array of ",
                                 format_bytes(static_cast<std::uint64_t>(size))));
        if (gain < 1.1) continue;
        if (from == 0) from = size;
        to = size;
    }
    if (best.value == 0) return {};
    std::vector<Finding> out{best};
    for (const auto& [id, size, which] : {std::tuple{"pays_from", from, "smallest"}, {"pays_to", to, "largest"}})
        if (from > 0)
            out.push_back(figure(id, id, "byte", size,
                                 concat(which, " measured array where 128-bit accesses gain 10 % or more")));
    return out;
}

Experiment describe() { return family("saxpy", shape_of, setup, {.conclude = conclude}); }

}  // namespace cllab::model::saxpy_family
