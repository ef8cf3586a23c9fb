// The bound of a chain that is declared.
#include <algorithm>

#include "core/units.hpp"
#include "explain/amounts.hpp"

namespace cllab::explain {
namespace {

/// Whether most of the samples lie in code whose loads replace their own index.
bool chases_by_index(const Record& record) {
    if (!record.hot || record.hot->evidence != Hot::sampled) return false;
    double share = 0;
    for (const auto& block : record.hot->blocks)
        if (block.memory.contains(HotBlock::index_chain)) share += block.share;
    return share > 0.5;
}

}  // namespace

Bound without_nearer(Bound bound, double nearer, double relative_time) {
    bound.low *= 1 - nearer;
    for (double* seconds : {&bound.seconds, &bound.high}) *seconds *= 1 - nearer * (1 - relative_time);
    if (nearer < 0.005) return bound;
    const auto part = format_significant(100 * nearer, 2) + " % ";
    if (relative_time > 0)
        bound.how += ", of which " + part + "may lie nearer, where it takes " +
                     format_significant(100 * relative_time, 2) + " % of that";
    else
        bound.how += ", less " + part + "that may lie nearer";
    return bound;
}

void bound_latency(const Record& record, const Limits& limits, Capacity capacity, Explanation& out) {
    const auto& work = record.work;
    const auto leave_out = [&](const std::string& why) { out.leave_out("latency", why); };
    if (work.chain.empty()) return leave_out("the dependencies are not known");
    const bool loads = work.chain == "load", adds = work.chain == "multiply_add", atomic = work.chain == "atomic";
    const auto sizes = sizes_of(limits, "latency", capacity);
    std::optional<Place> place;
    if (loads) place = place_of(record, limits, sizes, 1, capacity);
    if (loads && !place) return leave_out("the profile does not say where the caches end");
    const bool memory = place && place->memory;
    const std::string name = loads    ? memory ? "memory" : level_name(place->level)
                                : adds ? work.type
                             : atomic ? "atomic"
                                      : "local memory";
    const std::string id = loads    ? "latency." + (memory ? name : level_id(place->level)) + ".latency"
                           : adds   ? "fma.latency." + name
                           : atomic ? "atomic.latency"
                                    : "latency.local.latency";
    const auto* latency = limits.find(id);
    const auto* by_index = loads && chases_by_index(record) ? limits.find("latency.l1.indexed") : nullptr;
    if (!latency && loads && place->level == 0 && !memory) latency = by_index;
    // No level is nearer than those before it, so that one of them will do, if not as well.
    std::string instead;
    if (!latency && loads) out.missing.push_back(id);
    for (auto level = !loads ? 0 : memory ? sizes.size() : place->level; !latency && level-- > 0;) {
        latency = limits.find("latency." + level_id(level) + ".latency");
        instead = ", since the profile has no " + name + " latency";
    }
    if (!latency) return leave_out("the profile has no " + name + " latency");
    const double links = std::max(1.0, work.links);
    auto bound = without_nearer(at_time("latency", name + " latency", name + " latency", links, *latency),
                                place ? place->nearer : 0);
    bound.how += instead;
    // A load of another page waits for the TLB as well, which no chain says of itself: in random order it takes what
    // such a chase took.
    if (const double each = loads && !memory ? limits.scattered_load(work.footprint) : 0;
        links * each > bound.seconds) {
        bound.how += ", and " + format_seconds(each) + " where each goes to another page";
        bound.seconds = links * each;
        bound.high = std::max(bound.high, bound.seconds);
    }
    // An index costs a load a clock or more, and where the code has such loads, they are its chain most likely.
    const auto* by_address = limits.find("latency.l1.latency");
    if (by_index && by_address && by_index->value > by_address->value && latency != by_index) {
        const double more = by_index->value - by_address->value;
        bound.how += ", " + format_seconds(more) + " more of each by an index";
        bound.seconds += links * more;
        bound.high += links * more;
    }
    bound = on_available_cores(std::move(bound), record, 1);
    // How far away an address is makes an atomic twice as slow as another (`cllab run atomic`, in several processes),
    // and a profile meets only a few. None is nearer than the level behind the first, which its loads came to. A CPU's
    // core adds in its own first level.
    if (atomic && is_gpu(record)) {
        const auto* level = limits.find("latency.l2.latency");
        if (!level) return leave_out("without the latency of L2 the shortest time of an atomic is not known");
        bound.low = std::min(bound.low, links * level->low);
    }
    out.bounds.push_back(std::move(bound));
}

}  // namespace cllab::explain
