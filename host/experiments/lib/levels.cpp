#include "experiments/lib/levels.hpp"

#include "experiments/lib/family.hpp"
#include "model/device.hpp"

namespace cllab::model::lib {
namespace {

constexpr double near = 1.34;  ///< sizes with a smaller ratio may be the same
constexpr auto disturbed = "; other programs or unlucky page placement may cause this; an idle machine may show it";

/// The transition of a curve from one plateau to the next.
struct Knee {
    Estimate at;  ///< low: last footprint on the plateau; high: first one on the next
    bool gradual() const { return at.high - at.low > at.value; }
    bool overlaps(double low, double high) const { return at.low <= high && at.high >= low; }
};

struct Reading {
    std::vector<Plateau> plateaus;
    std::vector<Knee> knees;  ///< one between every two plateaus
    double last_x = 0, residual = 0;
};

Reading read(const Curve& curve) {
    const auto x = xs(curve), y = steps(curve);
    const auto found = find_plateaus(x, y, tolerance(curve, 0.05));
    Reading out{found.levels, {}, x.back(), found.residual};
    for (std::size_t i = 0; i + 1 < found.levels.size(); ++i) {
        const auto &level = found.levels[i], &next = found.levels[i + 1];
        Knee knee{{level.capacity.value, level.capacity.value, next.first_x}};
        // A sharp knee is at the last footprint that fits. A gradual knee is where half of the rise is done: there half
        // of the loads miss.
        const double half = (level.value.value + next.value.value) / 2;
        for (std::size_t k = 1; k < x.size() && next.first_x > 1.5 * level.capacity.value; ++k) {
            if (x[k] <= level.capacity.value || y[k] < half) continue;
            const double part = y[k] > y[k - 1] ? std::clamp((half - y[k - 1]) / (y[k] - y[k - 1]), 0.0, 1.0) : 1;
            knee.at.value = std::clamp(x[k - 1] * std::pow(x[k] / x[k - 1], part), knee.at.low, knee.at.high);
            break;
        }
        out.knees.push_back(knee);
    }
    return out;
}

/// The samples with the largest x up to `low` and with the smallest x from `high` on; nullptr if there is none.
std::pair<const Curve::Sample*, const Curve::Sample*> around(const Curve& curve, double low, double high) {
    const Curve::Sample *below = nullptr, *above = nullptr;
    for (const auto& s : curve.samples) {
        if (s.x <= low) below = &s;
        if (s.x >= high && !above) above = &s;
    }
    return {below, above};
}

/// Why a knee is not credible; empty if it is.
std::string doubt(const Knee& knee, const Chases& chases,
                  const std::vector<std::pair<const Curve*, const char*>>& others) {
    if (knee.gradual())
        return "the time of a load rises gradually from " + bytes_text(knee.at.low) + " to " +
               bytes_text(knee.at.high) + disturbed;
    for (const auto& [curve, what] : others) {
        if (!curve || curve == chases.main) continue;
        const auto [below, above] = around(*curve, knee.at.low / near, knee.at.high * near);
        const auto rises = "the time of a load rises at " + bytes_text(knee.at.value);
        if (!below || !above) return concat(rises, "; no buffer of nearly that size was measured ", what);
        if (above->per_step < 1.25 * below->per_step)
            return concat(rises, ", but not ", what, ", so this is not the level's end");
    }
    return {};
}

class Levels {
public:
    Levels(const Chases& chases, const Device& device)
        : chases_(chases),
          device_(device),
          reading_(read(*chases.main)),
          how_("chase of stored addresses, " + order_text() + ", one load of 64 bits at a time in one work-item") {}

    std::vector<Finding> find() {
        if (device_.is_cpu() && !chases_.other_pages && !chases_.other_order) {
            const std::string why =
                "one order and one kind of pages cannot tell a cache from the TLB; --axis order=paged,random --axis "
                "pages=huge,small can";
            hold("l1.size", "cache capacities", why);
            hold("memory.latency", "memory latency", why);
        } else if (device_.is_cpu() && !device_.host_cache_levels.empty()) {
            by_the_system();
        } else {
            by_the_curve();
        }
        return std::move(out_);
    }

private:
    bool by_pages() const { return chases_.main->fixed.has("order") && chases_.main->fixed.text("order") != "random"; }
    std::string order_text() const {
        if (!by_pages()) return "every line in random order";
        return device_.is_cpu() ? "the lines of a page of 4 KiB in random order, then another page"
                                : "the lines of 2 MiB in random order, then the next 2 MiB";
    }
    std::string pages_text() const {
        std::vector<double> shares;
        for (const auto& s : chases_.main->samples)
            if (const auto share = metric(s, "huge_pages"); share && s.x >= 2 << 20) shares.push_back(*share);
        if (shares.empty()) return {};
        const double share = summarise(shares).median;
        return share > 95  ? ", in huge pages"
               : share < 5 ? ", in small pages: the system gave no huge ones"
                           : ", " + text_of(std::round(share)) + " % in huge pages";
    }
    void add(const std::string& id, const std::string& name, const std::string& unit, const Estimate& found,
             const std::string& how) {
        out_.push_back(figure(chases_.path + id, chases_.prefix + name, unit, found, how));
    }
    void hold(const std::string& id, const std::string& name, const std::string& why) {
        out_.push_back(withheld(chases_.path + id, chases_.prefix + name, why));
    }
    void size(const std::string& id, const std::string& name, const Knee& knee) {
        add(id + ".size", name + " capacity", "byte", knee.at,
            how_ + pages_text() + "; low is the last footprint that fits, high the first one on the next level" +
                (id == "l1" && device_.is_gpu()
                     ? "; the driver's allocation for local memory, which this kernel lacks, is not included"
                     : ""));
    }
    void latency(const std::string& id, const std::string& name, const Plateau& p) {
        add(id + ".latency", name + (device_.is_cpu() && by_pages() ? " latency, page by page" : " latency"), "s",
            p.value,
            concat(how_, pages_text(), "; plateau of ", p.points, " sizes, residual ",
                   format_significant(100 * reading_.residual, 2), " %"));
    }
    std::vector<std::pair<const Curve*, const char*>> others() const {
        return {{chases_.other_pages, "in the other kind of pages"}, {chases_.other_order, "in the other order"}};
    }

    /// For a GPU, or a CPU whose system describes no caches: names the plateaus in order.
    void by_the_curve() {
        // Only the main path reports missing figures.
        const bool whole = chases_.path.empty();
        bool reached = false;
        std::size_t level = chases_.first_level - 1;
        for (std::size_t i = 0; i < reading_.plateaus.size(); ++i) {
            const auto& p = reading_.plateaus[i];
            const bool memory = p.open && p.capacity.value >= static_cast<double>(beyond_caches(device_)) / 2;
            if (memory) {
                latency("memory", "memory", p);
                reached = true;
                continue;
            }
            const auto id = concat("l", ++level);
            // NVIDIA's second level has two halves. The half beyond the crossbar answers later.
            const std::string name =
                device_.implementation == Implementation::nvidia && level == 3 ? "far L2" : concat("L", level);
            latency(id, name, p);
            if (p.open || i >= reading_.knees.size()) {
                if (whole)
                    hold(id + ".size", name + " capacity",
                         concat("no three larger buffers give one time, or it holds the largest buffer", disturbed));
                continue;
            }
            if (device_.is_gpu() && reading_.knees[i].gradual() && size_of_random(id, name, i)) continue;
            const auto why = doubt(reading_.knees[i], chases_, others());
            if (why.empty())
                size(id, name, reading_.knees[i]);
            else
                hold(id + ".size", name + " capacity", why);
        }
        if (whole && !reached)
            hold("memory.latency", "memory latency",
                 concat("no three buffers beyond the caches give one time", disturbed));
        if (reading_.plateaus.empty())
            hold("l1.size", "L1 capacity", concat("no two buffer sizes give one time", disturbed));
    }

    /// The size of a level after which the time rises gradually, if random replacement explains the rise in both
    /// orders.
    bool size_of_random(const std::string& id, const std::string& name, std::size_t i) {
        const auto capacity_in = [&](const Curve& curve) {
            return capacity_of_random_replacement(xs(curve), steps(curve), reading_.plateaus[i].value.value,
                                                  reading_.plateaus[i + 1].value.value);
        };
        const auto found = capacity_in(*chases_.main);
        if (!found) return false;
        if (chases_.other_order) {
            const auto other = capacity_in(*chases_.other_order);
            if (!other || other->low > found->high || other->high < found->low) return false;
        }
        add(id + ".size", name + " capacity for one work-item", "byte", *found,
            how_ + pages_text() + "; all fit to " + bytes_text(reading_.knees[i].at.low) +
                ". A level of that size with random replacement explains the larger footprints. If the level has "
                "parts, one work-item may see only the nearest");
        return true;
    }

    void by_the_system() {
        const auto& known = device_.host_cache_levels;
        double below = 0;
        for (std::size_t i = 0; i < known.size(); ++i) {
            const double size_here = known[i];
            const auto id = concat("l", i + 1), name = concat("L", i + 1);
            level_latency(id, name, below, size_here);
            level_size(id, name, below, size_here);
            below = size_here;
        }
        memory(below);
    }

    /// Prefetchers follow a chase through the lines of a page. So memory latency comes from the other order.
    void memory(double below) {
        const auto refuse = [&](const std::string& why) { hold("memory.latency", "memory latency", why); };
        const auto* curve = chases_.other_order ? chases_.other_order : chases_.main;
        std::vector<double> times;
        std::string pages;
        for (const auto& s : curve->samples) {
            if (s.x >= near * below) times.push_back(s.per_step);
            if (const auto share = metric(s, "huge_pages"); share && s.x >= near * below)
                pages = text_of(std::round(*share)) + " % in huge pages; ";
        }
        if (times.size() < 2)
            return refuse("fewer than two buffers of the chase exceed the last-level cache, " + bytes_text(below) +
                          " as the system reports");
        const auto [least, most] = std::ranges::minmax_element(times);
        if (*most > 1.25 * *least)
            return refuse("beyond the last level the time of a load is " + format_seconds(*least) + " or " +
                          format_seconds(*most) + disturbed);
        add("memory.latency", "memory latency, random order", "s", {summarise(times).median, *least, *most},
            "chase of stored addresses, every line in random order, one load of 64 bits at a time in one work-item; " +
                pages + "TLB misses are included");
    }

    void level_latency(const std::string& id, const std::string& name, double below, double size_here) {
        const auto refuse = [&](const std::string& why) { hold(id + ".latency", name + " latency", why); };
        for (const auto& p : reading_.plateaus) {
            // The plateau must contain footprints that are too large for the previous level, and none that are too
            // large for this one.
            if (p.capacity.value <= near * below || p.first_x >= size_here) continue;
            if (p.first_x < below / near || p.capacity.value > near * size_here) break;
            if (chases_.other_pages) {
                // The other curve may have too few footprints there for a plateau.
                std::vector<double> others;
                for (const auto& s : chases_.other_pages->samples)
                    if (s.x >= p.first_x && s.x <= p.capacity.value) others.push_back(s.per_step);
                if (others.empty()) return refuse("no buffer of its size was measured in the other kind of pages");
                if (std::abs(median_of(others) / p.value.value - 1) >= 0.25)
                    return refuse("small and huge pages give times that differ by more than a quarter");
            }
            return latency(id, name, p);
        }
        refuse(concat("buffers that fit it give different times", disturbed));
    }

    void level_size(const std::string& id, const std::string& name, double below, double size_here) {
        // Even without a clear knee, the times inside and beyond the level are known.
        const auto [inside, beyond] = around(*chases_.main, size_here / near, size_here * near);
        const auto seen = inside && beyond
                              ? concat("a load takes ", format_seconds(inside->per_step), " in ", bytes_text(inside->x),
                                       " and ", format_seconds(beyond->per_step), " in ", bytes_text(beyond->x), "; ")
                              : "";
        const auto refuse = [&](const std::string& why) {
            hold(id + ".size", name + " capacity", seen + why + "; the system reports " + bytes_text(size_here));
        };
        if (!beyond) return refuse("the sweep ends at " + bytes_text(reading_.last_x));
        const Knee* early = nullptr;
        for (const auto& knee : reading_.knees) {
            if (knee.at.value < below * near) continue;
            if (knee.overlaps(size_here / near, size_here * near)) {
                if (early) break;
                const auto why = doubt(knee, chases_, others());
                return why.empty() ? size(id, name, knee) : refuse(why);
            }
            if (knee.at.value < size_here && !early) early = &knee;
        }
        if (early)
            return refuse("the time of a load rises at " + bytes_text(early->at.value) +
                          " already; another thread, another virtual machine or small pages may take the rest");
        refuse(concat("buffers of nearly its size give different times", disturbed));
    }

    const Chases& chases_;
    const Device& device_;
    Reading reading_;
    std::string how_;
    std::vector<Finding> out_;
};

}  // namespace

std::optional<Estimate> capacity_of_random_replacement(std::span<const double> footprints,
                                                       std::span<const double> times, double hit, double miss) {
    constexpr std::size_t enough = 3;
    constexpr double few = 0.1, most = 0.9, apart = 1.3, margin = 1.1;
    std::vector<double> found;
    for (std::size_t i = 0; i < footprints.size() && i < times.size(); ++i) {
        const double missing = (times[i] - hit) / (miss - hit);
        if (missing > few && missing < most) found.push_back(footprints[i] * missing / -std::log1p(-missing));
    }
    if (found.size() < enough) return std::nullopt;
    const auto [least, largest] = std::ranges::minmax_element(found);
    if (*largest > apart * *least) return std::nullopt;
    return Estimate{summarise(found).median, *least / margin, *largest * margin};
}

std::vector<Finding> levels(const Chases& chases, const Device& device) { return Levels(chases, device).find(); }

// The findings of levels.hpp that need no knees: the TLB's reach, and the rates of levels whose sizes the system
// describes.

namespace {

/// Bytes per second in the regions of one level; withheld if they disagree.
Finding rate_of_level(const std::string& id, const std::string& title, std::vector<double> rate,
                      const std::string& how) {
    std::ranges::sort(rate);
    const double low = rate.front(), high = rate.back();
    if (high > 1.5 * low)
        return withheld(id, title,
                        "regions in it are moved at " + format_rate(low, "B/s") + " to " + format_rate(high, "B/s") +
                            ", so other programs use the level; an idle machine may show it");
    return {id, title, "B/s", quantile(rate, 0.5), low, high, how};
}

}  // namespace

std::vector<Finding> tlb(const Curve& scattered, const Curve& staying, const std::string& id, const std::string& name,
                         const std::string& how) {
    const auto hold = [&](const std::string& why) {
        return std::vector{withheld(id + ".reach", name + ", reach", why)};
    };
    struct Point {
        double x, more, least;
    };
    std::vector<Point> points;
    for (const auto& s : scattered.samples) {
        const auto* other = sample_at(staying, s.x);
        if (other) points.push_back({s.x, s.per_step - other->per_step, 0.2 * other->per_step});
    }
    if (points.size() < 4) return hold("the two orders were not measured with the same buffer sizes");
    const auto costs = [](const Point& p) { return p.more > p.least; };
    const auto first = std::ranges::find_if(points, costs);
    // One or two disturbed footprints are not the reach, because everything beyond the reach stays slow.
    const std::size_t slow = std::ranges::count_if(points, costs);
    if (first == points.end() || (slow <= points.size() / 8 && !costs(points.back())))
        return hold("loads to other pages take no longer than loads in one page, up to " + bytes_text(points.back().x));
    const std::size_t after = points.end() - first;
    const std::size_t agree = std::count_if(first, points.end(), costs);
    if (first == points.begin() || after < 2 || agree < after - after / 8)
        return hold(concat("the extra time of loads to other pages rises and falls with the buffer size", disturbed));
    std::vector<double> more;
    for (auto p = first; p != points.end() && p->x <= 16 * first->x; ++p) more.push_back(p->more);
    const auto cost = summarise(more);
    const double reach = (first - 1)->x;
    return {{id + ".reach", name + ", reach", "byte", reach, reach, first->x,
             how + "; high is the first footprint where they take 20 % longer"},
            {id + ".cost", name + ", cost per load", "s", cost.median, cost.low, cost.high,
             how + "; up to 16 times the reach"}};
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
    // `own`: each core has its own level, so a core that other programs used contributed nothing.
    const auto add = [&](const std::string& id, const std::string& name, double least, double most, bool own) {
        std::vector<double> rate;
        for (const auto& s : reread.samples)
            if (s.x > least && s.x <= most && s.per_step > 0)
                rate.push_back(1 / s.per_step / (own ? share_of_cores(s, device) : 1));
        const auto title = name + " read bandwidth";
        if (rate.empty())
            return out.push_back(withheld(
                id + ".rate", title, "no buffer of this profile is too large for nearer levels and fits this one"));
        out.push_back(rate_of_level(id + ".rate", title, rate,
                                    how + "; regions of more than " + bytes_text(least) +
                                        (most < 1e18 ? ", at most " + bytes_text(most) : "")));
    };
    double below = 0;
    for (std::size_t i = 0; i < device.host_cache_levels.size(); ++i) {
        const double here = device.host_cache_levels[i];
        // Half of a region just larger than the previous level may fit into that level. A region just smaller than this
        // level may not fit, because other data is there.
        add(concat("l", i + 1), concat("L", i + 1), 2 * below, 0.75 * here, i + 1 < device.host_cache_levels.size());
        below = here;
    }
    add("memory", "memory", 2 * below, 1e18, false);
    return out;
}

}  // namespace cllab::model::lib
