// Atomics on global and local memory: `number of atomics / rate`, as measured with the same number of addresses.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "core/units.hpp"
#include "explain/bounds.hpp"

namespace cllab::explain {
namespace {

constexpr double word = 4;  ///< bytes per atomic

/// Cache lines that `words` adjacent words fill; 0 if the line size is unknown.
double lines_of(const Limits& limits, double words) {
    const auto* line = limits.find("cacheline.line");
    return line && line->value > 0 ? std::ceil(word * words / line->value) : 0;
}

/// The measured rates, by number of addresses.
std::map<double, const Figure*> tried_rates(const Limits& limits, const std::string& space) {
    const auto head = "atomic." + space + ".";
    std::map<double, const Figure*> out;
    for (const auto& f : limits.figures) {
        if (!f.id.starts_with(head) || !(f.value > 0)) continue;
        const auto name = f.id.substr(head.size());
        if (name == "one") out[1] = &f;
        if (name == "many") out[INFINITY] = &f;
        if (const auto number = parse_real(name)) out[*number] = &f;
    }
    return out;
}

/// The rate of atomics on `addresses` addresses: the highest rate measured with at most N addresses. N is the smallest
/// measured number >= `addresses`; nullopt if there is none.
/// - `in_place`: the memory executes atomics, as on a GPU. A power law then interpolates between two measured numbers.
/// - Otherwise cache lines move between cores. A rate measured with exactly `addresses` addresses, or with as many
///   cache lines, then takes precedence.
/// - The high end for several addresses includes rates with more addresses, up to the first measured number >= `spread
///   * addresses`: the cell's addresses may be in more parts of a cache than the measured addresses.
std::optional<Figure> rate_of(const Limits& limits, const std::string& space, double addresses, double spread,
                              bool in_place) {
    const auto tried = tried_rates(limits, space);
    const auto above = tried.lower_bound(addresses);
    if (above == tried.end()) return std::nullopt;  // more addresses than measured
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
        // On few addresses, one core can be faster than all cores, so rates with fewer addresses do not count.
        if (!in_place) out = *above->second;
    } else if (!in_place && above != tried.begin() && lines_of(limits, addresses) > 0 &&
               lines_of(limits, addresses) == lines_of(limits, std::prev(above)->first)) {
        // Cores exchange whole lines, so the number of lines decides the rate.
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

/// Lowers the low end, and the bound if it exceeds the time: a GPU compiler may sum the lanes of a wave that use one
/// address and issue a single atomic.
void lower_to_joined(Bound& bound, const Atomics& atomics, const Record& record) {
    if (!has_counts(record) || !is_gpu(record) || atomics.turns.mean <= 0) return;
    bound.low *= std::min(1.0, atomics.requests.mean / atomics.turns.mean);
    lower_to_time(bound, record);
}

void bound_global(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    // A chain of dependent atomics is bounded by latency, not by rate.
    if (work.atomics <= 0 || work.chain == "atomic") return;
    // Without a declared number, the addresses are at most the words of the footprint.
    const double addresses = work.atomic_addresses > 0 ? work.atomic_addresses : std::max(1.0, work.footprint / word);
    const auto rate = rate_of(limits, "global", addresses, atomics_spread, is_gpu(record));
    if (!rate) return out.lacks("global atomics", "rate of them", "atomic.global.many");
    auto bound = at_rate("atomics", "global atomics", "atomics", work.atomics, "op", *rate);
    // If other processes took cores, one core may run alone and exchange no cache lines.
    if (const auto fastest = rate_of(limits, "global", INFINITY, 1, false);
        fastest && available_share(record, parallel_of(record, limits)) < 1)
        bound.low = std::min(bound.low, work.atomics / std::max(fastest->value, fastest->high));
    if (record.counts) lower_to_joined(bound, record.counts->global_atomics, record);
    add_asked(record, std::move(bound), out);
}

/// All words of a unit's local memory are equally fast, so `spread` is 1.
void bound_on_local(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    if (work.local_atomics <= 0) return;
    const char *name = "atomics on local memory", *brief = "local atomics";
    const double bytes = static_cast<double>(record.code.local_bytes.value_or(0));
    // The size of the kernel's local memory limits the number of addresses.
    const double room = bytes > 0 ? std::max(1.0, bytes / word) : INFINITY;
    const double addresses = work.local_addresses > 0 ? work.local_addresses : room;
    if (const auto rate = rate_of(limits, "local", addresses, 1, is_gpu(record))) {
        auto bound = at_rate("local_atomics", name, brief, work.local_atomics, "op", *rate);
        if (record.counts) lower_to_joined(bound, record.counts->local_atomics, record);
        add_asked(record, std::move(bound), out);
    } else if (const auto* each = is_gpu(record) ? nullptr : limits.find("atomic.latency")) {
        // A CPU core executes the local atomics of its work-group one at a time, in its first-level cache.
        const double uneven = uneven_share(record, limits);
        auto bound = at_time("local_atomics", name, brief, work.local_atomics / limits.units * uneven, *each);
        add_asked(record, on_available_cores(std::move(bound), record, parallel_of(record, limits), uneven), out);
    } else {
        out.lacks(name, "rate of them", "atomic.local.many");
    }
}

}  // namespace

double contended_seconds(const Record& record, const Limits& limits) {
    double slowest = INFINITY;
    for (const auto& [addresses, rate] : tried_rates(limits, "global")) slowest = std::min(slowest, rate->value);
    return with_counted_work(record).work.atomics / slowest;
}

void name_contention(const Record& record, const Limits& limits, Explanation& out) {
    const auto shared = std::ranges::find(out.bounds, "shared", &Bound::id);
    const double atomics = contended_seconds(record, limits), time = record.time->median;
    if (shared == out.bounds.end() || atomics < worth_saying * shared->seconds || atomics <= 0) return;
    const bool memory = std::ranges::any_of(out.bounds, [&](const Bound& b) {
        return b.id == "access" || (is_effect_of("access", b.id) && b.id != "latency" && b.seconds > busy * time);
    });
    // A falling clock, or two threads of one core, cannot make the time of a core that long.
    const bool alone = !memory && atomics >= busy * shared->seconds && shared->seconds > (1 - shared_threads) * time;
    shared->name = alone ? "contended atomics" : "atomics or other shared resources";
    shared->brief = "atomics";
    if (alone)
        shared->how = shared->how.substr(0, shared->how.find(':')) + ": atomics of several cores wait for a cache line";
}

void bound_atomics(const Record& record, const Limits& limits, Explanation& out) {
    bound_global(record, limits, out);
    bound_on_local(record, limits, out);
}

}  // namespace cllab::explain
