// saxpy: the width of an access against the size of the array. After Citadel's study of Turing (2019): 32 and 64-bit
// accesses cannot fill the memory of a part with few load/store units, 128-bit ones can, most of all between 20 KiB and
// 2 MiB of array.
#include <map>

#include "experiments/support.hpp"

namespace cllab::model {
namespace {

using namespace support;

struct Data {
    SharedBytes x, y;
};

/// Bytes of one array when the axis says auto: the two arrays together are four times the last-level cache.
std::uint64_t automatic_bytes(const Device& device) {
    const std::uint64_t wanted =
        scale_of(device) == Scale::simulated ? 4096 : std::max<std::uint64_t>(2 * device.last_level_bytes, 16ull << 20);
    return std::min(wanted, device.max_alloc_bytes > 0 ? device.max_alloc_bytes : wanted) / 4096 * 4096;
}

std::uint64_t bytes_of(const Request& request) {
    const auto bytes =
        static_cast<std::uint64_t>(integer_or(request.point, "size", static_cast<std::int64_t>(automatic_bytes(request.device))));
    if (bytes % 4 != 0)
        throw Error(Blame::usage, "axis 'size' is " + std::to_string(bytes) + " byte; an array of floats has a multiple of 4");
    return bytes;
}

void validate(const Request& request) { require_room(request.device, "y", bytes_of(request)); }

int lanes_of(const Variant& variant) { return std::stoi(variant.name.substr(1)) / 32; }

Setup setup(const Request& request) {
    validate(request);
    const auto& device = request.device;
    const std::uint64_t bytes = bytes_of(request);
    const std::uint64_t n = bytes / 4;
    const float a = 0.75f + 0.125f * static_cast<float>(request.seed % 8);
    static Recent<std::pair<std::uint64_t, std::uint64_t>, Data> recent;
    const auto data = recent.get({n, request.seed}, [&] {
        return Data{random_floats(n, request.seed, -1, 1), random_floats(n, ~request.seed, -1, 1)};
    });

    const auto lanes = static_cast<std::size_t>(lanes_of(request.variant));
    const std::size_t vectors = std::max<std::size_t>(1, n / lanes);
    Setup out;
    out.args = {Input{"x", data->x}, InOut{"y", data->y}, value("a", a), value("n", n)};
    std::size_t per_item = 1;
    if (device.is_cpu()) {
        out.local = Extent(1);
        out.global = Extent(std::max<std::size_t>(lanes, device.compute_units * 4ull));
    } else {
        out.local = Extent(group_of(device, static_cast<std::size_t>(integer_or(request.point, "local", 256))));
        // Two accesses an item once the device is filled many times over: fewer, longer work-groups.
        const std::size_t many = 16ull * device.compute_units * 2048;
        per_item = static_cast<std::size_t>(integer_or(request.point, "per_item", vectors >= many ? 2 : 1));
        const std::size_t groups = divide_up(vectors, out.local.size[0] * per_item);
        out.global = Extent(std::max(groups, divide_up(lanes, out.local.size[0])) * out.local.size[0]);
    }
    out.defines = {"PER_ITEM=" + std::to_string(per_item)};
    out.work = {12.0 * static_cast<double>(n), 2.0 * static_cast<double>(n), 0};
    out.resolved = {{"size", std::to_string(bytes)},
                    {"local", std::to_string(out.local.size[0])},
                    {"per_item", std::to_string(per_item)}};
    out.accumulates = true;
    out.check = [data, a](const Buffers& buffers) {
        const auto x = view<float>(data->x), y = view<float>(data->y);
        // Two roundings, as the kernel with contraction off.
        return first_difference<float>("y", buffers.as<float>("y"), [&](std::size_t i) {
            const float product = a * x[i];
            float sum = y[i];
            for (std::uint64_t done = 0; done < buffers.operations; ++done) sum = product + sum;
            return sum;
        });
    };
    return out;
}

/// Where 128-bit accesses pay: t(32 bit) / t(128 bit) at each size both were measured at.
std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device&) {
    std::map<double, Curve::Sample> narrow, wide;
    for (const auto& curve : curves) {
        if (curve.variant != "w32" && curve.variant != "w128") continue;
        for (const auto& sample : curve.samples) (curve.variant == "w32" ? narrow : wide)[sample.x] = sample;
    }
    Finding best{"gain_128", "", 0, 0, 0, ""};
    double from = 0, to = 0;
    for (const auto& [size, n] : narrow) {
        const auto found = wide.find(size);
        if (found == wide.end() || !(found->second.seconds > 0) || !(found->second.low > 0)) continue;
        const auto& w = found->second;
        const double gain = n.seconds / w.seconds;
        if (gain > best.value)
            best = {"gain_128", "", gain, n.low / w.high, n.high / w.low,
                    "largest time of 32-bit over time of 128-bit accesses, at an array of " +
                        std::to_string(static_cast<std::uint64_t>(size)) + " byte"};
        if (gain < 1.1) continue;
        if (from == 0) from = size;
        to = size;
    }
    if (best.value == 0) return {};
    std::vector<Finding> out{best};
    if (from > 0) {
        out.push_back({"pays_from", "byte", from, from, from, "smallest measured array where 128-bit accesses gain 10 % or more"});
        out.push_back({"pays_to", "byte", to, to, to, "largest measured array where 128-bit accesses gain 10 % or more"});
    }
    return out;
}

Variant width(int bits, const char* meaning) {
    return {"w" + std::to_string(bits), meaning, {"LANES=" + std::to_string(bits / 32)}};
}

}  // namespace

Experiment describe_saxpy() {
    Experiment out;
    out.family = "saxpy";
    out.question = "From which array size on does y = a x + y gain from accesses wider than 32 bits?";
    out.axes = {
        {"size", "byte", "size of each of the two arrays; auto is twice the last-level cache", Axis::Kind::integer,
         {"16384", "1048576", "auto"}, {}, 4, 1e15, true},
        {"local", "work-item", "work-group on a GPU; a CPU has one work-item a group", Axis::Kind::integer, {"auto"}, {}, 1, 4096, true,
         {"auto", "32:1024:*2"}},
        {"per_item", "access", "accesses of each array a work-item on a GPU; auto is 2 for large arrays, else 1",
         Axis::Kind::integer, {"auto"}, {}, 1, 16, true, {"auto", "1:16:*2"}},
    };
    out.variants = {width(32, "One float an access: the plain kernel."), width(64, "Two floats an access."),
                    width(128, "Four floats an access, the widest a GPU makes in one instruction."),
                    width(256, "Eight floats an access, one AVX register."), width(512, "Sixteen floats an access.")};
    out.setup = setup;
    out.validate = validate;
    out.curve_over = "size";
    out.conclude = conclude;
    return out;
}

}  // namespace cllab::model
