// latency: a pointer chase over footprints, in which each cache level appears as a plateau of the time per load.
//
// The usual chase strides through memory from a fixed start. Strides are prefetched and use the same pages. From a
// fixed start, a chain shorter than the footprint only revisits the lines of the previous launch, so its "memory" is a
// cache. Here the order is random with one visit per line, and each launch continues where the previous one stopped.
#include "experiments/lib/family.hpp"
#include "experiments/lib/levels.hpp"

namespace cllab::model::latency_family {

using namespace lib;

constexpr std::int32_t loads_per_trip = 16;
constexpr double smallest_first_level = 16 << 10;

/// The word of each visit, in order: one random word per line. Lines are in random order, all lines of a page before
/// the next page, and pages are in random order. `lines_per_page`: 0 for no pages.
std::vector<std::uint32_t> visits(std::size_t lines, std::uint32_t words_per_line, std::size_t lines_per_page,
                                  std::uint64_t seed) {
    std::vector<std::uint32_t> slot;
    Random random(seed + 1);
    if (lines_per_page == 0 || lines_per_page >= lines) {
        slot = random_order(lines, seed);
    } else {
        for (const std::size_t page : random_order(divide_up(lines, lines_per_page), seed)) {
            const auto first = page * lines_per_page, count = std::min(lines_per_page, lines - first),
                       begin = slot.size();
            for (std::size_t i = 0; i < count; ++i) slot.push_back(static_cast<std::uint32_t>(first + i));
            for (std::size_t i = count; i > 1; --i) std::swap(slot[begin + i - 1], slot[begin + random.below(i)]);
        }
    }
    for (auto& s : slot) s = s * words_per_line + static_cast<std::uint32_t>(random.below(words_per_line));
    return slot;
}

Slope slope_of(const Device& device, std::uint64_t footprint, std::uint64_t count) {
    // Small footprints are walked once before the difference begins. Reason: a first level may be empty at each launch,
    // and a launch may run on another core. Larger footprints stay in levels that outlast a launch.
    const bool small = footprint <= 1 << 20;
    const std::int32_t pass = (count + loads_per_trip - 1) / loads_per_trip;
    const std::int32_t low = small ? std::max(64, pass) : 64;
    const std::int32_t measured = small ? (device.is_gpu() ? 1024 : 4096) : 512;
    return slope(device, low, low + measured, loads_per_trip);
}

/// The region of the chase, resolved.
struct Region {
    std::uint64_t footprint = 0, line = 8;
    std::uint64_t page = 0;  ///< size of the pages whose lines are all visited before the next page; 0: no pages
    Pages pages = Pages::any;
};

Region local_region(const Device& device, Params& params) {
    const Region out{params.count("footprint"), 8, 0, Pages::any};
    if (!device.local_is_dedicated)
        throw Unsupported(
            "local memory is ordinary cached memory on this device, so its latency is the L1 latency, which `cllab run "
            "latency_global` measures");
    if (out.footprint > device.local_bytes)
        throw Unsupported("a footprint of ", format_bytes(out.footprint), " does not fit in the ",
                          format_bytes(device.local_bytes), " of local memory");
    return out;
}

Region region_of(const Device& device, const std::string& variant, Params& params) {
    if (variant == "local") return local_region(device, params);
    const auto asked = params.count("footprint");
    Region out;
    if (params.text("order") == "paged") out.page = device.is_gpu() ? 2 << 20 : 4096;
    if (variant == "global") out.pages = pages_of(params);
    out.line = params.count("line", std::max<std::size_t>(8, round_up(device.cacheline_bytes, 8)));
    if (out.line > asked)
        throw Unsupported("a footprint of ", format_bytes(asked), " is smaller than one line of ",
                          format_bytes(out.line), " (axis 'line')");
    out.footprint = asked / out.line * out.line;
    params.record("footprint", out.footprint);
    if (is_simulator(device) && out.footprint > 64 << 10)
        throw Unsupported("a simulator has no caches; the footprint must be at most 64 KiB");
    if (const auto most = std::max<std::uint64_t>(beyond_caches(device), 1 << 20); out.footprint > most)
        throw Unsupported("a footprint of ", format_bytes(out.footprint),
                          " is far beyond the last-level cache; at most ", format_bytes(most), " are measured here");
    require_room(device, "chain", out.footprint);
    return out;
}

Setup setup_local(const Request& request, std::uint64_t footprint) {
    const auto& device = request.device;
    const std::uint64_t word = short_local_address(device) ? 4 : 8, count = footprint / word;
    const Chase chase{visits(count, 1, 0, request.seed), word, 0, loads_per_trip};
    Setup out;
    out.args = {Input{"slot", share(chase.slot)},
                InOut{"state", share(std::vector<std::uint64_t>{chase.slot[0] * word})},
                value<std::uint32_t>("count", count), trips()};
    out.global = out.local = Extent(std::min<std::size_t>(64, device.max_group));
    out.defines = {concat("WORDS=", count), word == 4 ? "ADDRESS=uint" : "ADDRESS=ulong"};
    out.slope = slope(device, 256, 1280, loads_per_trip);
    out.declared = {{Declared::What::local_load, loads_per_trip, static_cast<unsigned>(8 * word)}};
    out.chained = true;
    out.accumulates = true;  // the chase continues from its last place
    out.check = chase.check();
    return out;
}

Setup setup(const Request& request, const Region& region) {
    const auto& device = request.device;
    if (request.variant.name == "local") return setup_local(request, region.footprint);

    const auto lines = region.footprint / region.line;
    const Chase chase{
        visits(lines, static_cast<std::uint32_t>(region.line / 8), region.page / region.line, request.seed), 8, 0,
        loads_per_trip};
    Setup out;
    chase.set_up(out, "latency_link", region.footprint, device);
    out.slope = slope_of(device, region.footprint, lines);
    out.declared = {{Declared::What::load, loads_per_trip, 64}};
    out.chained = true;
    out.pages = region.pages;
    return out;
}

/// The variant's curve with the most points in this order and with these pages; nullptr if there is none.
const Curve* chase(const std::vector<Curve>& curves, const std::string& variant, const std::string& order,
                   const std::string& pages) {
    const Curve* best = nullptr;
    for (const auto& c : curves) {
        const auto is = [&](const char* axis, const std::string& wanted) {
            return !c.fixed.has(axis) || c.fixed.text(axis) == wanted;
        };
        if (c.variant == variant && !c.samples.empty() && is("order", order) && is("pages", pages) &&
            (!best || c.samples.size() > best->samples.size()))
            best = &c;
    }
    return best;
}

/// The extra time of loads to other pages. On a CPU it must be able to come from the TLB: not within one page, and not
/// from the end of the first level on, because prefetchers follow the loads that stay in a page.
std::vector<Finding> tlb_of(const Curve& scattered, const Curve& staying, const Device& device, const std::string& id,
                            const std::string& name, double page) {
    const auto found = tlb(scattered, staying, id, name);
    if (!device.is_cpu() || !found.front().withheld.empty()) return found;
    const double from = found.front().high,
                 level = device.host_cache_levels.empty() ? 0 : static_cast<double>(device.host_cache_levels.front());
    const auto refuse = [&](const std::string& why) {
        return std::vector{withheld(id + ".reach", name + ", reach",
                                    "loads to other pages take longer from " + bytes_text(from) + " on, " + why)};
    };
    if (from <= page) return refuse("within one page of " + bytes_text(page) + ", so it is not the TLB");
    if (from <= 2 * level) return refuse("where the first level ends, so prefetchers may cause it");
    return found;
}

void conclude_chase(const std::vector<Curve>& curves, const Device& device, const std::string& variant,
                    const std::string& path, const std::string& prefix, std::size_t first_level,
                    std::vector<Finding>& out) {
    const auto* paged = chase(curves, variant, "paged", "huge");
    const auto* random = chase(curves, variant, "random", "huge");
    const auto* small = chase(curves, variant, "paged", "small");
    const auto* main = paged ? paged : random ? random : small;
    if (!main) return;
    append(out, levels({main, main == random ? nullptr : random, device.is_cpu() && main != small ? small : nullptr,
                        path, prefix, first_level},
                       device));
    if (paged && random)
        append(out, tlb_of(*random, *paged, device, path + "tlb.huge",
                           prefix + (device.is_cpu() ? "TLB with huge pages" : "TLB"), 2 << 20));
    const auto* scattered = chase(curves, variant, "random", "small");
    if (device.is_cpu() && small && scattered)
        append(out, tlb_of(*scattered, *small, device, path + "tlb.small", prefix + "TLB with small pages", 4096));
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device& device) {
    std::vector<Finding> out;
    conclude_chase(curves, device, "global", "", "", 1, out);
    conclude_chase(curves, device, "bypass", "bypass.", "past-L1 ", 2, out);
    conclude_chase(curves, device, "scalar", "scalar.", "scalar ", 1, out);
    // Beyond the first level an index adds the same time, but to a larger and less certain one.
    if (const auto* c = curve_of(curves, "indexed");
        c && !c->samples.empty() && c->samples.front().x <= smallest_first_level)
        out.push_back(step_finding("l1.indexed", "L1 latency with an index", c->samples.front(),
                                   "random chase through " + bytes_text(c->samples.front().x) + ", stored indices"));
    if (const auto* c = curve_of(curves, "local"); c && !c->samples.empty())
        out.push_back(step_finding(
            "local.latency", "local memory latency", c->samples.back(),
            "random chase through " + bytes_text(c->samples.back().x) + " of local memory, stored addresses"));
    return out;
}

Experiment describe() { return family("latency", region_of, setup, {.conclude = conclude}); }

}  // namespace cllab::model::latency_family
