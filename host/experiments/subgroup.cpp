// subgroup: operations of a whole sub-group: the time of one, and the rate of all.
#include "experiments/lib/family.hpp"

namespace cllab::model::subgroup_family {

using namespace lib;

/// One cell's sizes, all resolved.
struct Shape {
    std::string operation;
    bool rate = false;
    std::size_t chains = 1, repeat = 16, items = 1, groups = 1;
};

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    Shape out{.operation = params.text("operation"), .rate = variant == "rate"};
    require_sub_groups(device);
    const bool has_own =
        device.implementation == Implementation::nvidia || device.implementation == Implementation::amd;
    if (out.operation == "shuffle" && !has_own && !device.has("cl_khr_subgroup_shuffle") &&
        !device.has("cl_intel_subgroups"))
        throw Unsupported("the device's sub-groups have no shuffle");
    // At least one whole sub-group, of which `latency` uses the first. NVIDIA's always have 32 work-items, so no branch
    // is needed.
    const std::size_t alone = device.implementation == Implementation::nvidia ? 32 : 64;
    out.items = group_of(device, out.rate && device.is_gpu() ? 256 : alone);
    if (!out.rate) return out;
    out.chains = out.repeat = 4;
    out.groups = device.compute_units * (device.is_gpu() ? 8u : 4u);
    return out;
}

using Words = std::vector<std::uint32_t>;
using SubGroups = std::vector<Words>;  // work-items of a work-group, by sub-group and place in it

/// nullopt if a place is missing or taken twice. `places`: three words per work-item of a work-group: its sub-group,
/// its place in it, and the sub-group's number of work-items.
std::optional<SubGroups> sub_groups_of(std::span<const std::uint32_t> places) {
    const auto items = static_cast<std::uint32_t>(places.size() / 3);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> item_at;
    for (std::uint32_t i = 0; i < items; ++i) item_at.emplace(std::pair(places[3 * i], places[3 * i + 1]), i);
    SubGroups out;
    for (const auto& [place, item] : item_at) {
        if (place.second == 0 && place.first == out.size()) out.emplace_back();
        if (out.empty() || place != std::pair<std::uint32_t, std::uint32_t>(out.size() - 1, out.back().size()))
            return {};
        out.back().push_back(item);
    }
    const auto is_whole = [&](const Words& lanes) {
        return std::ranges::all_of(lanes, [&](auto item) { return places[3 * item + 2] == lanes.size(); });
    };
    if (item_at.size() < items || !std::ranges::all_of(out, is_whole)) return {};
    return out;
}

/// One link of the chain, for all lanes of a sub-group.
void link(const std::string& operation, Words& v, const Words& s, std::uint32_t pick) {
    const auto sum = std::accumulate(v.begin(), v.end(), 0u);
    for (std::size_t lane = 0; lane < v.size(); ++lane) v[lane] += operation == "reduce" ? sum : s[lane];
    if (operation == "scan") std::partial_sum(v.begin(), v.end(), v.begin());
    if (operation == "shuffle") std::ranges::rotate(v, v.begin() + pick % v.size());
    if (operation == "broadcast") std::ranges::fill(v, Words(v)[pick % v.size()]);
}

/// The output of a work-group, by work-item and chain.
Words left_by_group(const Shape& shape, const SubGroups& sub_groups, const Words& start, std::uint32_t pick,
                    std::int64_t trips) {
    Words out = start;
    for (std::size_t at = 0; at < shape.chains * (shape.rate ? sub_groups.size() : 1); ++at) {
        const auto& lanes = sub_groups[at / shape.chains];
        const auto of_chain = [&](std::uint32_t item) { return shape.chains * item + at % shape.chains; };
        Words s;
        for (const auto item : lanes) s.push_back(start[of_chain(item)]);
        auto v = s;
        for (std::int64_t k = 0; k < static_cast<std::int64_t>(shape.repeat) * trips; ++k)
            link(shape.operation, v, s, pick);
        for (std::size_t lane = 0; lane < v.size(); ++lane) out[of_chain(lanes[lane])] = v[lane];
    }
    return out;
}

/// Work-groups with equal sub-groups have equal output.
std::optional<std::string> wrong(const Buffers& buffers, const Shape& shape, const Words& start, std::uint32_t pick) {
    const auto places = buffers.as<std::uint32_t>("who");
    Words last, expected;
    for (std::size_t group = 0; group < shape.groups; ++group) {
        const auto own = places.subspan(3 * shape.items * group, 3 * shape.items);
        if (!std::ranges::equal(own, last)) {
            const auto sub_groups = sub_groups_of(own);
            if (!sub_groups) return concat("the sub-groups of work-group ", group, " do not hold each work-item once");
            last.assign(own.begin(), own.end());
            expected = left_by_group(shape, *sub_groups, start, pick, buffers.trips);
        }
        const auto out = buffers.as<std::uint32_t>("out").subspan(expected.size() * group, expected.size());
        const auto at = static_cast<std::size_t>(std::ranges::mismatch(out, expected).in1 - out.begin());
        if (at < expected.size()) return difference("out", expected.size() * group + at, out[at], expected[at]);
    }
    return std::nullopt;
}

Setup setup(const Request& request, const Shape& shape) {
    const std::size_t items = shape.items * shape.groups;
    Random random(request.seed);
    Words start(shape.chains * shape.items);
    for (auto& s : start) s = static_cast<std::uint32_t>(random());
    const auto pick = static_cast<std::uint32_t>(random()) | 1;  // odd: a rotation by it moves every lane
    Setup out;
    out.args = {Input{"start", share(start)}, Output{"out", shape.chains * items * 4},     Output{"who", 3 * items * 4},
                value("pick", pick),          value<std::uint32_t>("period", shape.items), trips()};
    out.check = [=](const Buffers& buffers) { return wrong(buffers, shape, start, pick); };
    out.observe = [](const Buffers& buffers, std::uint64_t) {
        return std::vector{std::pair(std::string("width"), static_cast<double>(buffers.as<std::uint32_t>("who")[2]))};
    };
    launch_groups(out, shape.groups, shape.items);
    // Use more operations on a CPU, because its launches vary by more than so few take.
    const int low = (shape.rate ? 64 : 256) * (request.device.is_cpu() ? 16 : 1);
    out.slope = slope(request.device, low, 3 * low, static_cast<double>(16 * (shape.rate ? items : 1)));
    out.chained = !shape.rate;
    out.work.steps = 1;
    out.defines = sub_group_options(request.device);
    out.extensions = sub_group_extensions(request.device);
    if (shape.operation == "shuffle") out.extensions.push_back("cl_khr_subgroup_shuffle");
    out.defines.insert(out.defines.end(),
                       {"OP_" + shape.operation, concat("CHAINS=", shape.chains), concat("REPEAT=", shape.repeat)});
    return out;
}

double operations(const Setup& setup, double seconds) { return setup.chained ? NAN : 1 / seconds; }

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device&) {
    std::vector<Finding> out;
    for (const auto& curve : curves) {
        if (curve.samples.empty()) continue;
        const auto& s = curve.samples.front();
        if (const auto width = metric(s, "width"); width && out.empty())
            out.push_back(figure("width", "sub-group width", "work-item", *width, "by which the results were proved"));
        const auto operation = curve.fixed.text("operation"), name = "sub-group " + operation;
        const auto how = ", each operation with an integer addition" + through(s, 16, 1);
        out.push_back(curve.variant == "rate" ? rate_finding("rate." + operation, name + " rate", "op/s", s, 1,
                                                             "all units, four chains per work-item" + how)
                                              : step_finding("latency." + operation, name + " latency", s,
                                                             "slope over dependent operations" + how));
    }
    return out;
}

Experiment describe() {
    return family("subgroup", shape_of, setup,
                  {.metrics = {{"operations", "op/s", Better::higher, operations}}, .conclude = conclude});
}

}  // namespace cllab::model::subgroup_family
