// Bounds of what work-items wait for: atomics, barriers, local memory, chains that are declared.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "core/units.hpp"
#include "explain/amounts.hpp"

namespace cllab::explain {
namespace {

/// Cache lines that so many words side by side lie in; 0: how long a line is is not known.
double lines_of(const Limits& limits, double words) {
    const auto* line = limits.find("cacheline.line");
    return line && line->value > 0 ? std::ceil(4 * words / line->value) : 0;
}

/// The fastest rate that was seen with as few addresses as may be at least `addresses`, or fewer. Its high end is the
/// fastest that was seen with `spread` times as many: how many parts of a cache share the work is a matter of where the
/// addresses lie. `in_place`: the memory adds, and a number of addresses between two that were tried has a rate between
/// theirs, by a power of their number. Where cores add, one address alone goes from core to core, and no number of them
/// stands for another.
std::optional<Figure> rate_of_atomics(const Limits& limits, const std::string& space, double addresses, double spread,
                                      bool in_place) {
    const auto head = "atomic." + space + ".";
    std::map<double, const Figure*> tried;
    for (const auto& f : limits.figures) {
        if (!f.id.starts_with(head) || !(f.value > 0)) continue;
        const auto name = f.id.substr(head.size());
        if (name == "one") tried[1] = &f;
        if (name == "many") tried[INFINITY] = &f;
        if (const auto number = parse_real(name)) tried[*number] = &f;
    }
    const auto above = tried.lower_bound(addresses);
    if (above == tried.end()) return std::nullopt;  // as many addresses were not tried
    const auto fastest_until = [&](auto last) {
        return std::max_element(tried.begin(), std::next(last),
                                [](const auto& a, const auto& b) { return a.second->value < b.second->value; })
            ->second;
    };
    Figure out = *fastest_until(above);
    double high = std::max(out.value, out.high);
    if (const auto more = tried.lower_bound(spread * addresses); addresses > 1 && more != tried.end())
        high = std::max({high, fastest_until(more)->value, fastest_until(more)->high});
    if (above->first == addresses) {
        // One core that is alone with few addresses is faster than all of them are, but it is not what is usual.
        if (!in_place) out = *above->second;
    } else if (!in_place && above != tried.begin() && lines_of(limits, addresses) > 0 &&
               lines_of(limits, addresses) == lines_of(limits, std::prev(above)->first)) {
        // Cores hand each other whole lines: words of one line are as slow as fewer words of it.
        out = *std::prev(above)->second;
    } else if (in_place && above != tried.begin() && !std::isinf(above->first)) {
        const auto& [fewer, slower] = *std::prev(above);
        const double most = std::max(out.value, slower->value);
        out.value = slower->value *
                    std::pow(most / slower->value, std::log(addresses / fewer) / std::log(above->first / fewer));
        out.low = std::min({out.value, slower->value, slower->low > 0 ? slower->low : slower->value});
        out.name = "between " + slower->name + " and " + format_significant(above->first, 4);
    }
    out.high = std::max(out.high, high);
    return out;
}

/// A work-item passes one barrier after the other, and each takes at least what it takes a group that has its unit for
/// itself.
void bound_barriers(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    if (const auto* item = limits.find("barrier.item")) {
        // A CPU's thread walks through the work-items of a group, and the groups share the threads.
        const double rounds = std::ceil(std::max(1.0, work.groups) / std::max(1u, limits.units));
        if (work.group > 0)
            out.bounds.push_back(on_available_cores(
                at_time("barriers", "barriers", "barriers", work.barriers * work.group * rounds, *item), record,
                parallel_of(record, limits), rounds * limits.units / std::max<double>(work.groups, limits.units)));
        else
            out.leave_out("barriers", "the size of its groups is the driver's choice");
        return;
    }
    const Figure* found = nullptr;
    double largest = 0;
    for (const auto& f : limits.figures) {
        const auto size = f.id.starts_with("barrier.plain.")
                              ? parse_real(f.id.substr(std::string_view("barrier.plain.").size()))
                              : std::nullopt;
        if (!size || *size > std::max(1.0, work.group) || *size < largest || !(f.value > 0)) continue;
        found = &f;
        largest = *size;
    }
    if (!found)
        out.leave_out("barriers", "the profile has no barrier time for so few work-items");
    else
        out.bounds.push_back(at_time("barriers", "barriers", "barriers", work.barriers, *found));
}

/// Whether most of the samples lie in code whose loads replace their own index.
bool chases_by_index(const Record& record) {
    if (!record.hot || record.hot->evidence != Hot::sampled) return false;
    return share_of(*record.hot, [](const auto& block) { return block.memory.contains(HotBlock::index_chain); }) > 0.5;
}

}  // namespace

void bound_atomics(const Record& record, const Limits& limits, Explanation& out) {
    // Of a chain of them the latency is the bound: one after the other they are no rate.
    if (record.work.atomics <= 0 || record.work.chain == "atomic") return;
    // There is room for no more addresses than the footprint has words; how the additions are shared out among them is
    // not known. Four times as many may be spread over the parts of a cache as these are: each rate that was tried is
    // of four or eight times the addresses of the one before.
    const double addresses =
        record.work.atomic_addresses > 0 ? record.work.atomic_addresses : std::max(1.0, record.work.footprint / 4);
    const auto rate = rate_of_atomics(limits, "global", addresses, 4, is_gpu(record));
    if (!rate) {
        out.leave_out("atomics", "the profile has no rate of them");
        return;
    }
    auto bound = at_rate("atomics", "atomics", "atomics", record.work.atomics, "op", *rate);
    // Cores hand an address to each other, which one that is alone need not wait for: it is as fast as they are with an
    // address each at the most.
    if (const auto fastest = rate_of_atomics(limits, "global", INFINITY, 1, false);
        fastest && available_share(record, parallel_of(record, limits)) < 1)
        bound.low = std::min(bound.low, record.work.atomics / std::max(fastest->value, fastest->high));
    if (record.counts) lower_to_joined(bound, record.counts->global_atomics, record);
    out.bounds.push_back(std::move(bound));
}

void bound_local(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    if (work.local_atomics > 0) {
        // An array of that size has room for no more addresses. A unit's local memory is one memory, so that no word of
        // it is better than another.
        const double room = record.code.local_bytes.value_or(0) > 0
                                ? std::max(1.0, static_cast<double>(*record.code.local_bytes) / 4)
                                : INFINITY;
        if (const auto rate = rate_of_atomics(limits, "local", work.local_addresses > 0 ? work.local_addresses : room,
                                              1, is_gpu(record))) {
            auto bound =
                at_rate("local_atomics", "atomics on local memory", "local atomics", work.local_atomics, "op", *rate);
            if (record.counts) lower_to_joined(bound, record.counts->local_atomics, record);
            out.bounds.push_back(std::move(bound));
        } else if (const auto* each = is_gpu(record) ? nullptr : limits.find("atomic.latency")) {
            // A group's local memory is in the first level of its core, which does one atomic after the other.
            out.bounds.push_back(
                on_available_cores(at_time("local_atomics", "atomics on local memory", "local atomics",
                                           work.local_atomics / limits.units * uneven_share(record, limits), *each),
                                   record, parallel_of(record, limits), uneven_share(record, limits)));
        } else
            out.leave_out("atomics on local memory", "the profile has no rate of them");
    }
    if (work.local_bytes > 0 && work.chain != "local_load") {
        if (const auto* rate = limits.find("banks.rate"))
            out.bounds.push_back(at_rate("local", "local memory bandwidth", "local", work.local_bytes, "B", *rate));
        else
            out.leave_out("local memory", "the profile has no bandwidth of it");
    }
    if (work.barriers > 0) bound_barriers(record, limits, out);
    const bool known = work.local_bytes > 0 || work.local_atomics > 0 || work.barriers > 0;
    if (!known && record.code.local_bytes.value_or(0) > 0)
        out.leave_out("local memory and barriers", "how often they are used is not counted");
}

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
