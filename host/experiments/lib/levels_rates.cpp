// Of levels.hpp what needs no knees: the reach of the TLB, and the rates of levels whose sizes the system describes.
#include "experiments/lib/family.hpp"
#include "experiments/lib/levels.hpp"
#include "model/device.hpp"

namespace cllab::model::lib {
namespace {

/// What regions of one level move in a second; withheld where they do not agree.
Finding rate_of_level(const std::string& id, const std::string& title, std::vector<double> rate,
                      const std::string& how) {
    std::ranges::sort(rate);
    const double low = rate.front(), high = rate.back();
    if (high > 1.5 * low)
        return withheld(id, title,
                        "regions in it are moved at " + format_rate(low, "B/s") + " to " + format_rate(high, "B/s") +
                            ": others use the level");
    return {id, title, "B/s", quantile(rate, 0.5), low, high, how};
}

}  // namespace

std::vector<Finding> tlb(const Curve& scattered, const Curve& staying, const std::string& id, const std::string& name,
                         const std::string& how) {
    const auto hold = [&](const std::string& why) {
        return std::vector{withheld(id + ".reach", name + " reach", why)};
    };
    struct Point {
        double x, more, least;
    };
    std::vector<Point> points;
    for (const auto& s : scattered.samples) {
        const auto* other = sample_at(staying, s.x);
        if (other) points.push_back({s.x, s.per_step - other->per_step, 0.2 * other->per_step});
    }
    if (points.size() < 4) return hold("the two orders were not measured at the same footprints");
    const auto costs = [](const Point& p) { return p.more > p.least; };
    const auto first = std::ranges::find_if(points, costs);
    // A single footprint or two that something disturbed are no reach: what lies behind it stays slow.
    const std::size_t slow = std::ranges::count_if(points, costs);
    if (first == points.end() || (slow <= points.size() / 8 && !costs(points.back())))
        return hold("loads to other pages take no longer than loads in one page, up to " + bytes_text(points.back().x));
    const std::size_t after = points.end() - first;
    const std::size_t agree = std::count_if(first, points.end(), costs);
    if (first == points.begin() || after < 2 || agree < after - after / 8)
        return hold(
            "the difference between loads to other pages and loads in one page is not steady over the footprint");
    std::vector<double> more;
    for (auto p = first; p != points.end() && p->x <= 16 * first->x; ++p) more.push_back(p->more);
    const auto cost = summarise(more);
    const double reach = (first - 1)->x;
    return {{id + ".reach", name + " reach", "byte", reach, reach, first->x,
             how + "; high is the first footprint where they take 20 % longer"},
            {id + ".cost", name + " cost", "s", cost.median, cost.low, cost.high, how + "; up to 16 times the reach"}};
}

std::vector<Finding> copy_rates(const Curve& copy, const Device& device, const std::string& how) {
    const auto level = copied_in_last_level(device);
    std::vector<double> rate;
    for (const auto& s : copy.samples)
        if (level && s.work.bytes > level->first && s.work.bytes <= level->second && s.seconds > 0)
            rate.push_back(s.work.bytes / s.seconds);
    if (rate.empty()) return {};
    const auto number = std::to_string(device.host_cache_levels.size());
    return {rate_of_level("l" + number + ".copy", "L" + number + " copy bandwidth", rate,
                          how + "; both buffers in this level, of all cores together")};
}

std::vector<Finding> rates(const Curve& reread, const Device& device, const std::string& how) {
    std::vector<Finding> out;
    // `own`: each core has its own, and those that others had moved nothing.
    const auto add = [&](const std::string& id, const std::string& name, double least, double most, bool own) {
        std::vector<double> rate;
        for (const auto& s : reread.samples)
            if (s.x > least && s.x <= most && s.per_step > 0)
                rate.push_back(1 / s.per_step / (own ? share_of_cores(s, device) : 1));
        const auto title = name + " read bandwidth";
        if (rate.empty())
            return out.push_back(withheld(id + ".rate", title, "the sweep has no region that lies in it alone"));
        out.push_back(rate_of_level(id + ".rate", title, rate,
                                    how + "; regions of more than " + bytes_text(least) +
                                        (most < 1e18 ? ", at most " + bytes_text(most) : "")));
    };
    double below = 0;
    for (std::size_t i = 0; i < device.host_cache_levels.size(); ++i) {
        const double here = device.host_cache_levels[i];
        // A region just larger than the level before may half lie in it; one just smaller than the level may not fit
        // beside the rest.
        add(concat("l", i + 1), concat("L", i + 1), 2 * below, 0.75 * here, i + 1 < device.host_cache_levels.size());
        below = here;
    }
    add("memory", "memory", 2 * below, 1e18, false);
    return out;
}

}  // namespace cllab::model::lib
