// launch: what starting a kernel costs, alone and in a row. A series of n launches takes first + (n - 1) * next, so the
// slope over n is the price of one more launch in a busy queue and a series of one is the kernel's own START to END.
#include "core/random.hpp"
#include "core/stats.hpp"
#include "model/params.hpp"

namespace cllab::model {
namespace {

constexpr std::uint32_t extra_arguments = 24;

Setup setup(const Request& request, Params& params) {
    const auto launches = static_cast<std::uint32_t>(params.integer("launches"));
    const auto& device = request.device;
    const bool with_arguments = request.variant.name == "arguments";
    Random random(request.seed);
    const auto token = static_cast<std::uint32_t>(random());

    Setup out;
    out.args = {Output{"out", launches * sizeof(std::uint32_t)}, value("token", token)};
    std::uint32_t sum = 0;
    std::vector<std::string> extra;
    for (std::uint32_t i = 0; with_arguments && i < extra_arguments; ++i) {
        const auto a = static_cast<std::uint32_t>(random());
        sum += a;
        extra.push_back("a" + std::to_string(i));
        out.args.push_back(value(extra.back(), a));
    }
    out.local = Extent(
        request.variant.name == "device" ? std::min<std::size_t>(device.is_gpu() ? 256 : 1, device.max_group) : 1);
    out.global = Extent(request.variant.name == "device" ? out.local.count() * device.compute_units : 1);
    for (std::uint32_t slot = 0; slot < launches; ++slot) {
        const auto name = "slot" + std::to_string(slot);
        out.args.push_back(value(name, slot));
        std::vector<std::string> args{"out", name, "token"};
        args.insert(args.end(), extra.begin(), extra.end());
        out.steps.push_back(Launch{{}, out.global, out.local, args, {}, "launch"});
    }
    out.work.steps = launches;
    out.check = [=](const Buffers& buffers) -> std::optional<std::string> {
        const auto slots = buffers.as<std::uint32_t>("out");
        for (std::uint32_t i = 0; i < slots.size(); ++i) {
            if (slots[i] != ((token ^ i) ^ sum))
                return "launch " + std::to_string(i) + " left " + std::to_string(slots[i]) + ", expected " +
                       std::to_string((token ^ i) ^ sum);
        }
        return std::nullopt;
    };
    return out;
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device&) {
    std::vector<Finding> out;
    for (const auto& curve : curves) {
        const std::string what = curve.variant == "item"     ? ""
                                 : curve.variant == "device" ? " of a group a unit"
                                                             : " with 24 arguments more";
        std::vector<double> n, t;
        for (const auto& sample : curve.samples) {
            n.push_back(sample.x);
            t.push_back(sample.seconds);
            if (sample.x == 1)
                out.push_back({"empty." + curve.variant, "empty kernel" + what, "s", sample.seconds, sample.low, sample.high,
                               "START to END of one launch"});
        }
        // A straight line through all of them is bent by one that others disturbed, the longest most of all: 2 to 128 launches took 9.5, 36, 148
        // and 506 us (two busy cores, PoCL 3.1, 2026-11-22), and the interval of their line's slope was wider than the slope.
        std::vector<double> slopes;
        for (std::size_t i = 0; i < n.size(); ++i)
            for (std::size_t k = i + 1; k < n.size(); ++k)
                if (n[k] > n[i]) slopes.push_back((t[k] - t[i]) / (n[k] - n[i]));
        if (slopes.size() < least_for_interval) continue;
        const auto slope = summarise(slopes);
        out.push_back({"next." + curve.variant, "launch to launch" + what, "s", slope.median, slope.q1, slope.q3,
                       "slope of first START to last END over the number of launches: median and middle half of those between any two numbers"});
    }
    return out;
}

}  // namespace

Experiment describe_launch() {
    Experiment out;
    out.family = "launch";
    out.question = "What does it cost to launch a kernel that does nothing, alone and in a row?";
    out.axes = {{.name = "launches",
                 .meaning = "launches in a row without waiting",
                 .values = {"1", "2", "8", "32", "128"},
                 .least = 1,
                 .most = 1024}};
    out.variants = {
        {.name = "item", .meaning = "One work-item."},
        {.name = "device", .meaning = "One work-group per compute unit."},
        {.name = "arguments", .meaning = "One work-item and 24 more arguments."},
    };
    out.setup = setup;
    out.curve_over = "launches";
    out.conclude = conclude;
    return out;
}

}  // namespace cllab::model
