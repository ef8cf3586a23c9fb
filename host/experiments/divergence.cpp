// divergence: the SIMT width and the cost of divergent ways. A branch that changes every `grain` work-items doubles the
// time while a wave contains both ways. It costs nothing once the grain is a wave: the knee is the width.
#include "experiments/lib/chain.hpp"
#include "experiments/lib/family.hpp"

namespace cllab::model::divergence_family {

using namespace lib;

constexpr std::int64_t links_per_trip = 64;
constexpr std::int32_t straight_links = 256;

/// One cell's sizes, all resolved.
struct Size {
    std::size_t items = 1, groups = 1, ways = 2;
    std::uint32_t grain = 1;
};

bool is_for_vectoriser(const std::string& variant) { return variant == "straight" || variant == "looped"; }

Size size_of(const Device& device, const std::string& variant, Params& params) {
    const bool full = is_for_vectoriser(variant) || variant == "stores" || params.text("fill") == "full";
    Size s;
    s.items = params.count(
        "items", std::min<std::size_t>(device.is_gpu() ? (full ? 256 : 1024) : 16, device.max_group_promised));
    if (variant == "width" || variant == "paths" || variant == "stores") s.grain = params.count("grain");
    if (variant == "paths") s.ways = params.count("paths");
    require_group(device, s.items);
    if (is_for_vectoriser(variant))
        s.groups = std::max<std::size_t>(1, (is_simulator(device) ? 64 : 4096ull * device.compute_units) / s.items);
    else if (full && !is_simulator(device))
        s.groups = device.compute_units * (device.is_gpu() ? 8u : 1u);
    return s;
}

/// The output of work-item i for one trip count.
using Expected = std::function<float(std::size_t i)>;

/// `expected_for(trips)` is called once per check; several threads call its result.
Check check_of(std::function<Expected(std::int32_t trips)> expected_for) {
    return [expected_for = std::move(expected_for)](const Buffers& buffers) {
        return first_difference<float>(buffers, "out", expected_for(buffers.trips));
    };
}

void fill_ways(Setup& out, const Request& request, const Size& s, const std::vector<float>& starts) {
    if (request.device.is_cpu())
        throw Unsupported(
            "a CPU runs the work-items of a group in an ordinary loop, so it has no SIMT width; `cllab run "
            "divergence_straight divergence_looped` shows whether that loop is vectorised");
    out.args.push_back(value("grain", s.grain));
    out.args.push_back(trips());
    out.defines = {concat("PATHS=", s.ways)};
    out.declared = {{Declared::What::multiply_add, static_cast<double>(s.ways) * links_per_trip, 32}};
    out.check = check_of([=](std::int32_t trips) -> Expected {
        std::vector<float> ends;  // by way and start; work-items share them
        for (std::size_t way = 0; way < s.ways; ++way)
            for (const float x : starts)
                ends.push_back(run_chain(x, -1.9f + static_cast<float>(way) * 0.00390625f, trips * links_per_trip));
        return [=](std::size_t i) { return ends[i % s.items / s.grain % s.ways * starts.size() + i % 4]; };
    });
}

void fill_swap(Setup& out, const Request& request, const Size& s, const std::vector<float>& starts) {
    const float t0 = -1.9f, t1 = -1.7f;
    out.args.insert(out.args.end(), {value("t0", t0), value("t1", t1), trips()});
    // A compiler may merge the two loops of `branch`, which gives `select`.
    out.declared = {{Declared::What::multiply_add, links_per_trip, 32}};
    const bool swaps = request.variant.name != "plain";
    out.check = check_of([=](std::int32_t trips) -> Expected {
        std::array<std::array<float, 2>, 4> ends;  // by start, and by whether the values are swapped
        for (std::size_t start = 0; start < ends.size(); ++start)
            for (const bool odd : {false, true}) {
                float x = starts[start];
                for (std::int64_t k = 0; k < trips * links_per_trip / 2; ++k)
                    x = chain_step(chain_step(x, odd ? t1 : t0), odd ? t0 : t1);
                ends[start][odd] = x;
            }
        return [=](std::size_t i) { return ends[i % 4][swaps && i % s.items % 2 == 1]; };
    });
}

/// The two kernels for the vectorizer. There is no slope, because the straight kernel has no loop to lengthen.
void fill_straight(Setup& out, const Request& request, const Size& s, const std::vector<float>& starts) {
    const float c = chain_constant;
    out.args.push_back(value("c", c));
    out.args.push_back(value("rounds", std::int32_t{straight_links / links_per_trip}));
    const auto ends = mapped(starts, [=](float x) { return run_chain(x, c, straight_links); });
    out.declared = {{Declared::What::multiply_add,
                     request.variant.name == "straight" ? 1.0 * straight_links : 1.0 * links_per_trip, 32}};
    out.work.steps = s.items * s.groups;  // a step is a work-item
    out.work.flops = 2.0 * straight_links * out.work.steps;
    out.check = check_of([=](std::int32_t) -> Expected { return [=](std::size_t i) { return ends[i % 4]; }; });
}

/// Every way stores its work-item's number: no chain, no slope.
Setup stores(const Request& request, const Size& s) {
    const std::size_t total = std::bit_ceil(s.items * by_scale<std::size_t>(request.device, 4, 1 << 12, 1 << 16));
    Setup out;
    launch_groups(out, total / s.items, s.items);
    out.args = {Output{"out", out.global.count() * 4}, value("grain", s.grain),
                value<std::uint32_t>("mask", total - 1)};
    out.work.steps = out.global.count();
    out.work.bytes = 4 * out.work.steps;
    out.check = [](const Buffers& buffers) {
        return first_difference<std::uint32_t>(buffers, "out",
                                               [](std::size_t i) { return static_cast<std::uint32_t>(i); });
    };
    return out;
}

Setup setup(const Request& request, const Size& s) {
    if (request.variant.name == "stores") return stores(request, s);
    const auto starts = chain_starts<float>(4, request.seed);
    const auto& variant = request.variant.name;
    const bool straight = is_for_vectoriser(request.variant.name);
    Setup out;
    out.args = {Input{"start", share(starts)}, Output{"out", s.items * s.groups * sizeof(float)}};
    if (straight)
        fill_straight(out, request, s, starts);
    else if (variant == "width" || variant == "paths")
        fill_ways(out, request, s, starts);
    else
        fill_swap(out, request, s, starts);
    launch_groups(out, s.groups, s.items);
    if (!straight) out.slope = slope(request.device, 64, 3 * 64, links_per_trip);
    return out;
}

void conclude_width(const Curve& curve, std::vector<Finding>& out) {
    const std::string fill = curve.fixed.text("fill"), where = fill == "full" ? ", all units busy" : ", one group";
    const auto step = fit_step(xs(curve), steps(curve));
    if (!step || step->before < 1.3 * step->after) {
        out.push_back(figure("width." + fill, "SIMT width" + where, "work-item", 1,
                             "the time does not depend on the grain of the branch: no SIMT width"));
        return;
    }
    // Up to the knee a wave contains both ways. The next grain of the sweep is the first one that fills a wave.
    out.push_back({"width." + fill, "SIMT width" + where, "work-item", step->position.high, step->position.value,
                   step->position.high,
                   "first grain of a two-way branch that costs nothing; below it the time is " +
                       text_of(std::round(100 * step->before / step->after) / 100) + "-fold"});
}

void conclude_paths(const Curve& curve, std::vector<Finding>& out) {
    if (curve.samples.size() < 2 || curve.samples.front().x != 1) return;
    const auto& one = curve.samples.front();
    const std::string fill = curve.fixed.text("fill"), where = fill == "full" ? ", all units busy" : ", one group";
    for (const auto& s : curve.samples) {
        if (s.x == 2 || &s == &curve.samples.back())
            out.push_back(ratio_finding("ways." + text_of(s.x) + "." + fill,
                                        "branch divergence, " + text_of(s.x) + " paths" + where, s, one,
                                        "time over that of one path"));
    }
}

/// `name`: the ratio of the best time of `above` to the best time of `below`.
void conclude_ratio(const std::vector<Curve>& curves, const std::string& above, const std::string& below,
                    const std::string& id, const std::string& name, const std::string& how, std::vector<Finding>& out) {
    const auto best = [&](const std::string& variant) {
        const Curve::Sample* found = nullptr;
        for (const auto& row : rows_of(curves, variant))
            if (!found || row.sample->per_step < found->per_step) found = row.sample;
        return found;
    };
    const auto *a = best(above), *b = best(below);
    if (a && b && b->per_step > 0) out.push_back(ratio_finding(id, name, *a, *b, how));
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device& device) {
    std::vector<Finding> out;
    for (const auto& curve : curves) {
        if (curve.variant == "width") conclude_width(curve, out);
        if (curve.variant == "paths") conclude_paths(curve, out);
    }
    conclude_ratio(curves, "branch", "plain", "against.branch", "branch against no branch",
                   "every second work-item takes the other loop", out);
    conclude_ratio(curves, "select", "plain", "against.select", "select against no branch",
                   "values exchanged before one common loop", out);
    if (device.is_cpu())
        conclude_ratio(curves, "looped", "straight", "vectorised", "speed-up by vectorised work-items",
                       "time of a work-item with a loop in it over one without", out);
    constexpr double alike = 1.05;
    for (auto& found : out)
        if (found.id == "vectorised" && found.value < alike)
            found = withheld(found.id, found.name, "a loop in the work-item does not make it slower");
    return out;
}

Experiment describe() { return family("divergence", size_of, setup, {.conclude = conclude}); }

}  // namespace cllab::model::divergence_family
