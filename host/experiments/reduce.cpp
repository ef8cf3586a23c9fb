// reduce: the sum of an array, from the tutorial's tree by two to one launch over 128-bit loads.
// After section 2.12 of the Vega64 tutorial, whose tree by four has no barriers: a race, and faster for the wrong reason.
#include <cstring>

#include "experiments/support.hpp"

namespace cllab::model {
namespace {

using namespace support;

struct Data {
    SharedBytes src;
    std::uint32_t sum = 0;
};

bool is_tree(const std::string& variant) { return variant.rfind("tree", 0) == 0 || variant == "subgroup"; }

std::uint64_t bytes_of(const Request& request) {
    const auto& device = request.device;
    // Twice the last level on a CPU, where the trees take seconds a gigabyte.
    const std::uint64_t wanted = by_scale<std::uint64_t>(device, 4096, std::max<std::uint64_t>(2 * device.last_level_bytes, 16ull << 20),
                                                         4 * device.last_level_bytes);
    const auto automatic = std::min(wanted, device.max_alloc_bytes > 0 ? device.max_alloc_bytes : wanted) / 4096 * 4096;
    const auto bytes = static_cast<std::uint64_t>(integer_or(request.point, "size", static_cast<std::int64_t>(automatic)));
    if (bytes % 4 != 0)
        throw Error(Blame::usage, "axis 'size' is " + std::to_string(bytes) + " byte; an array of integers has a multiple of 4");
    return bytes;
}

void validate(const Request& request) { require_room(request.device, "src", bytes_of(request)); }

Setup setup(const Request& request) {
    validate(request);
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    if (variant == "subgroup" && device.implementation != Implementation::nvidia && !device.has("cl_khr_subgroups") &&
        !device.has("cl_intel_subgroups"))
        throw Unsupported("the device has no sub-groups");
    const std::uint64_t bytes = bytes_of(request), n = bytes / 4;
    static Recent<std::pair<std::uint64_t, std::uint64_t>, Data> recent;
    const auto data = recent.get({n, request.seed}, [&] {
        Data made{random_values<std::uint32_t>(n, request.seed, [](std::uint32_t w) { return w; }), 0};
        for (const auto v : view<std::uint32_t>(made.src)) made.sum += v;
        return made;
    });

    Setup out;
    const bool tree = is_tree(variant);
    const auto loads = static_cast<std::size_t>(integer_or(request.point, "loads", tree ? 1 : 4));
    // One work-item a group on a CPU where the sum of an item is a loop; a tree needs a group everywhere.
    const std::size_t local = device.is_cpu() && !tree
                                  ? 1
                                  : group_of(device, static_cast<std::size_t>(integer_or(request.point, "local", 256)));
    const auto per_unit = static_cast<std::size_t>(integer_or(request.point, "groups", device.is_cpu() ? 4 : 32));
    std::size_t groups = divide_up(n, local * loads);
    if (!tree) groups = std::min(std::max<std::size_t>(1, divide_up(n, local * 4)), device.compute_units * per_unit);
    if (groups > (1u << 30)) throw Error(Blame::usage, "the sum would take " + std::to_string(groups) + " work-groups; at most 2^30");
    out.local = Extent(local);
    out.global = Extent(groups * local);
    // Sub-groups came with OpenCL C 2.0, which a 3.0 device may leave out (PoCL 5 does: 1.2 and 3.0 only).
    if (variant == "subgroup" && device.implementation != Implementation::nvidia)
        out.defines.push_back(device.device_version.starts_with("OpenCL 3") ? "-cl-std=CL3.0" : "-cl-std=CL2.0");
    out.defines.push_back("LOADS=" + std::to_string(loads));
    out.work = {static_cast<double>(bytes), 0, 0};
    out.resolved = {{"size", std::to_string(bytes)}, {"local", std::to_string(local)}, {"loads", std::to_string(loads)},
                    {"groups", std::to_string(groups)}};

    const Input src{"src", data->src};
    const Local shared{"shared_", local * 4};
    if (variant == "read") {
        out.args = {src, Output{"sums", groups * local * 4}, value("n", n)};
        out.check = [data](const Buffers& buffers) -> std::optional<std::string> {
            std::uint32_t sum = 0;
            for (const auto v : buffers.as<std::uint32_t>("sums")) sum += v;
            if (sum == data->sum) return std::nullopt;
            return "the sums of all work-items together are " + std::to_string(sum) + ", expected " + std::to_string(data->sum);
        };
    } else if (variant == "onepass") {
        out.args = {src, InOut{"state", share(std::vector<std::uint32_t>{0, 0, ~data->sum})}, value("n", n),
                    value("zero", std::uint32_t{0}), shared};
        out.check = [data](const Buffers& buffers) {
            const std::uint32_t expected[] = {0, 0, data->sum};
            return first_difference<std::uint32_t>("state", buffers.as<std::uint32_t>("state"),
                                                   [&](std::size_t i) { return expected[i]; });
        };
    } else {
        const std::size_t second = group_of(device, device.is_cpu() ? 64 : 1024);
        out.args = {src, Scratch{"partial", groups * 4}, value("n", n), shared, Output{"dst", 4},
                    value("count", static_cast<std::uint32_t>(groups)), Local{"second_shared", second * 4}};
        out.steps = {Launch{{}, out.global, out.local, {"src", "partial", "n", "shared_"}},
                     Launch{"reduce_second", Extent(second), Extent(second), {"partial", "dst", "count", "second_shared"}}};
        out.check = [data](const Buffers& buffers) {
            return first_difference<std::uint32_t>("dst", buffers.as<std::uint32_t>("dst"),
                                                   [&](std::size_t) { return data->sum; });
        };
    }
    return out;
}

}  // namespace

Experiment describe_reduce() {
    Experiment out;
    out.family = "reduce";
    out.question = "How near to the speed of reading memory can a sum over it come, and what do barriers, passes and loads cost?";
    out.axes = {
        {"size", "byte", "size of the array; auto is four times the last-level cache, on a CPU twice", Axis::Kind::integer, {"auto"}, {}, 4, 1e15, true},
        {"local", "work-item", "work-group; wide, onepass and read have 1 on a CPU", Axis::Kind::integer, {"auto"}, {}, 1, 4096, true,
         {"auto", "64:1024:*2"}},
        {"loads", "", "loads a work-item has in flight; auto is 1 integer in the trees, 4 words of 128 bits elsewhere",
         Axis::Kind::integer, {"auto"}, {}, 1, 64, true, {"auto", "1:16:*2"}},
        {"groups", "", "work-groups a compute unit in wide, onepass and read; auto is 32, on a CPU 4", Axis::Kind::integer,
         {"auto"}, {}, 1, 4096, true, {"auto", "4:64:*2"}, {"wide", "onepass", "read"}},
    };
    out.variants = {
        {"tree2", "One load an item, then a tree in local memory that halves at each barrier.", {"RADIX=2"}},
        {"tree4", "A tree by four: half the barriers.", {"RADIX=4"}},
        {"tree8", "A tree by eight: a third of the barriers.", {"RADIX=8"}},
        {"subgroup", "Sub-groups fold their values without local memory; one barrier in all."},
        {"wide", "128-bit loads, several in flight, just enough groups to fill the device; tree by four at the end."},
        {"onepass", "As wide, with the groups' sums added by an atomic instead of a second launch."},
        {"read", "Reads everything and combines nothing across work-items: the yardstick."},
    };
    out.setup = setup;
    out.validate = validate;
    return out;
}

}  // namespace cllab::model
