// reduce: the sum of an array, from the tutorial's tree by two to one launch with 128-bit loads. After section 2.12 of
// the Vega64 tutorial. Its tree by four has no barriers, so it is a race, and faster for the wrong reason.
#include "experiments/lib/family.hpp"

namespace cllab::model::reduce_family {

using namespace lib;

struct Data {
    SharedBytes src;
    std::uint32_t sum = 0;
};

bool is_tree(const std::string& variant) { return variant.rfind("tree", 0) == 0 || variant == "subgroup"; }

struct Shape {
    std::uint64_t bytes = 0;
    std::size_t local = 1, loads = 1, groups = 1;
};

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    if (variant == "subgroup") require_sub_groups(device);
    // On a CPU, twice the last level, because the trees take seconds per gigabyte.
    const auto wanted = by_scale<std::uint64_t>(device, 4096, twice_last_level(device), 4 * device.last_level_bytes);
    Shape s;
    s.bytes = params.count("size", whole_pages(device, wanted));
    require_room(device, "src", s.bytes);
    const bool tree = is_tree(variant);
    // One work-item per group on a CPU if a work-item sums in a loop. A tree needs a whole group everywhere.
    s.local = group(params, device, device.is_cpu() && !tree ? 1 : 256);
    // A second launch adds the groups' sums with another local size, and a promised size would apply to both.
    if (variant != "onepass" && variant != "read") require_group(s.local, device.max_group);
    s.loads = params.count("loads", tree ? 1 : 4);
    const std::uint64_t n = s.bytes / 4;
    if (tree)
        s.groups = divide_up(n, s.local * s.loads);
    else
        s.groups = std::min(std::max<std::size_t>(1, divide_up(n, s.local * 4)),
                            device.compute_units * params.count("groups", device.is_cpu() ? 4 : 32));
    if (s.groups > (1u << 30)) throw Unsupported("the sum needs ", s.groups, " work-groups; at most 2^30 are possible");
    return s;
}

Setup setup(const Request& request, const Shape& shape) {
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    const auto [bytes, local, loads, groups] = shape;
    const std::uint64_t n = bytes / 4;
    const auto data = cached(request, "reduce", std::pair(n, request.seed), [&] {
        Data made{random_bytes(bytes, request.seed), 0};
        for (const auto v : view<std::uint32_t>(made.src)) made.sum += v;
        return made;
    });

    Setup out;
    launch_groups(out, groups, local);
    if (variant == "subgroup") {
        out.defines = sub_group_options(device);
        out.extensions = sub_group_extensions(device);
    }
    out.defines.push_back(concat("LOADS=", loads));
    out.work = {static_cast<double>(bytes), 0, 0};

    const Input src{"src", data->src};
    const Local shared{"shared_", local * 4};
    if (variant == "read") {
        out.args = {src, Output{"sums", groups * local * 4}, value("n", n)};
        out.check = [data](const Buffers& buffers) -> std::optional<std::string> {
            std::uint32_t sum = 0;
            for (const auto v : buffers.as<std::uint32_t>("sums")) sum += v;
            if (sum == data->sum) return std::nullopt;
            return concat("the sums of all work-items together are ", sum, ", expected ", data->sum);
        };
    } else if (variant == "onepass") {
        out.args = {src, InOut{"state", share(std::vector<std::uint32_t>{0, 0, ~data->sum})}, value("n", n),
                    value("zero", std::uint32_t{0}), shared};
        out.check = [data](const Buffers& buffers) {
            const std::uint32_t expected[] = {0, 0, data->sum};
            return first_difference(buffers, "state", expected);
        };
    } else {
        const std::size_t second = group_of(device, device.is_cpu() ? 64 : 1024);
        out.args = {src,
                    Scratch{"partial", groups * 4},
                    value("n", n),
                    shared,
                    Output{"dst", 4},
                    value<std::uint32_t>("count", groups),
                    Local{"second_shared", second * 4}};
        out.steps = {launch("first_pass", "", out.global, out.local, {"src", "partial", "n", "shared_"}),
                     launch("second_pass", "reduce_second", Extent(second), Extent(second),
                            {"partial", "dst", "count", "second_shared"})};
        out.check = [data](const Buffers& buffers) {
            return first_difference<std::uint32_t>(buffers, "dst", [&](std::size_t) { return data->sum; });
        };
    }
    return out;
}

Experiment describe() { return family("reduce", shape_of, setup); }

}  // namespace cllab::model::reduce_family
