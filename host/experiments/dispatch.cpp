// dispatch: work-groups, waves and work-items that a device starts per second. Such a sweep is usually read as a rule,
// "the group should be a multiple of 256". That is only the corner of two rates: groups start at one rate, waves at
// another. min(groups * B, waves * B / ceil(B / W)) reproduces every published row, so the two rates and W are fitted.
#include "experiments/lib/family.hpp"

namespace cllab::model::dispatch_family {

using namespace lib;

constexpr std::uint32_t store_every = 4096;

unsigned dimensions(const std::string& variant) { return static_cast<unsigned>(variant.front() - '0'); }

Extent shape_of(const Request& request, Params& params) {
    if (request.variant.name == "box") return params.shape("shape", Extent(32, 16));
    Extent out;
    out.dims = dimensions(request.variant.name);
    std::fill_n(out.size.begin(), out.dims, params.count("side"));
    return out;
}

Setup setup(const Request& request, Params& params) {
    const auto& device = request.device;
    const Extent group = shape_of(request, params);
    const auto dims = group.dims;
    const std::size_t items = group.count();
    require_group(device, items);
    for (unsigned d = 0; d < dims; ++d) {
        if (group.size[d] > device.max_items[d])
            throw Unsupported("a work-group has ", group.size[d], " work-items in dimension ", d,
                              "; the device takes at most ", device.max_items[d]);
    }
    // About a millisecond at 0.25 groups and 1 wave per clock. Groups of a few work-items are started one by one
    // anyway.
    std::size_t groups = device.is_gpu() ? std::size_t{1} << 20 : std::size_t{1} << 16;
    groups = groups / std::max<std::size_t>(1, items / 64) * params.count("times");
    if (is_simulator(device)) groups = 16;
    // A square or cube of groups, so that every dimension takes part.
    const auto edge = std::max<long>(2, std::lround(std::pow(groups, 1.0 / dims)));

    Setup out;
    out.local = out.global = group;
    for (unsigned d = 0; d < dims; ++d) out.global.size[d] *= static_cast<std::size_t>(edge);
    const std::size_t total = out.global.count();
    const std::uint32_t every = is_simulator(device) ? 1 : store_every;
    Random random(request.seed);
    const std::uint32_t token = random();
    out.args = {Output{"out", (total + every - 1) / every * sizeof(std::uint32_t)}, value("mask", every - 1),
                value("token", token)};
    out.work.steps = total / items;
    out.check = [=](const Buffers& buffers) {
        return first_left(buffers, "work-item ", every, [&](std::uint32_t item) { return item ^ token; });
    };
    return out;
}

double items_of(const std::string& variant, double side) { return std::pow(side, dimensions(variant)); }

/// If groups stay resident for some time, large groups are limited by how many fit: rate = units * floor(M / B) * B /
/// life. Finds the M with the smallest spread of `life` among the points that the two rates do not explain.
void conclude_residency(const std::vector<double>& sizes, const std::vector<double>& rates, const Dispatch& fit,
                        const Device& device, std::vector<Finding>& out) {
    std::vector<double> left_sizes, left_rates;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        double model = fit.group_rate.value * sizes[i];
        if (fit.wave_rate && fit.width > 0)
            model = std::min(model, fit.wave_rate->value * sizes[i] / std::ceil(sizes[i] / fit.width));
        if (rates[i] < 0.95 * model) left_sizes.push_back(sizes[i]), left_rates.push_back(rates[i]);
    }
    if (left_sizes.size() < 4) return;
    double best_spread = 0.05, best_items = 0, best_life = 0;
    for (double most = 512; most <= 4096; most += 256) {
        std::vector<double> life;
        for (std::size_t i = 0; i < left_sizes.size(); ++i) {
            const double resident = std::floor(most / left_sizes[i]) * left_sizes[i];
            if (resident <= 0) break;
            life.push_back(device.compute_units * resident / left_rates[i]);
        }
        if (life.size() != left_sizes.size()) continue;
        const auto [least, greatest] = std::ranges::minmax_element(life);
        const double spread = *greatest / *least - 1;
        if (spread < best_spread) best_spread = spread, best_items = most, best_life = (*least + *greatest) / 2;
    }
    if (best_items > 0)
        out.push_back(figure("resident", "resident work-items a unit", "", best_items,
                             "sawtooth of the rate for large groups; a group lives " + text_of(best_life) +
                                 " s, spread " + percent(best_spread)));
}

/// For a CPU: time per group, from the smallest to the largest number of groups. The slope excludes the launch's own
/// cost.
Finding time_of_group(const std::map<double, const Curve::Sample*>& by_number) {
    const auto& [few, a] = *by_number.begin();
    const auto& [many, b] = *by_number.rbegin();
    if (few == many)
        return withheld("group.time", "time per group", "it takes two numbers of groups: --axis times=1,4");
    if (b->seconds <= a->seconds) return withheld("group.time", "time per group", "more groups take no longer");
    return added_finding("group.time", "time per group", *a, *b, many - few,
                         "slope over " + text_of(few) + " and " + text_of(many) + " groups of one work-item");
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device& device) {
    std::vector<Finding> out;
    std::vector<double> sizes, rates;
    std::map<double, const Curve::Sample*> single;  // groups of one work-item, by their number
    for (const auto& curve : curves) {
        if (curve.variant == "box") continue;  // shown separately; the other shapes give the rates
        for (const auto& sample : curve.samples) {
            if (sample.per_step <= 0) continue;
            sizes.push_back(items_of(curve.variant, sample.x));
            rates.push_back(sizes.back() / sample.per_step);
            if (sizes.back() == 1) single[std::round(sample.seconds / sample.per_step)] = &sample;
        }
    }
    if (device.is_cpu()) {
        // The compiler makes the loop over work-items, so only the group has a cost of its own.
        if (!single.empty()) out.push_back(time_of_group(single));
        const std::string why = "a CPU has no waves: a work-item is one iteration of a loop in one thread";
        for (const auto& [id, name] :
             {std::pair{"wave.width", "wave width"}, {"resident", "resident work-items"}, {"wave.rate", "wave rate"}})
            out.push_back(withheld(id, name, why));
        return out;
    }
    auto fit = fit_dispatch(sizes, rates);
    if (!fit || fit->residual > 0.03) {
        // If residency limits the large groups, the small groups give the two rates.
        std::vector<double> small_sizes, small_rates;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            if (sizes[i] <= 384) small_sizes.push_back(sizes[i]), small_rates.push_back(rates[i]);
        if (const auto again = fit_dispatch(small_sizes, small_rates);
            again && (!fit || again->residual < fit->residual))
            fit = again;
    }
    if (sizes.size() < 3) return out;
    const auto missing = [&](const char* id, const char* name, const std::string& why) {
        out.push_back(withheld(id, name, why));
    };
    missing("group.time", "time per group", "a GPU begins many groups at a time: their rate says how many");
    if (!fit) return out;
    const std::string how = "two-rate model over the group size, residual " + percent(fit->residual);
    out.push_back(figure("group.rate", "group rate", "group/s", fit->group_rate, how));
    if (fit->wave_rate) {
        out.push_back(figure("wave.rate", "wave rate", "wave/s", *fit->wave_rate, how));
        const auto [least, most] = std::ranges::minmax_element(fit->widths);
        if (!fit->widths.empty())
            out.push_back({"wave.width", "wave width", "", static_cast<double>(fit->width), static_cast<double>(*least),
                           static_cast<double>(*most), how});
    }
    if (!fit->wave_rate || fit->widths.empty())
        missing("wave.width", "wave width", "groups of all sizes begin at one rate, whatever their number of waves");
    conclude_residency(sizes, rates, *fit, device, out);
    if (std::ranges::none_of(out, [](const Finding& f) { return f.id == "resident"; }))
        missing("resident", "resident work-items", "no number of them explains the rates of large groups");
    return out;
}

Experiment describe() { return family("dispatch", setup, {.conclude = conclude}); }

}  // namespace cllab::model::dispatch_family
