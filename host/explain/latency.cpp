// Latency of dependency chains: declared, or the longest counted chain of a work-item.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/bounds.hpp"
#include "inspect/isa/nvidia.hpp"

namespace cllab::explain {
namespace {

/// Whether most samples are in code in which each load gives the index of the next load.
bool chases_by_index(const Record& record) {
    const auto* hot = sampled_code(record);
    return hot && share_of(*hot, [](const auto& b) { return b.memory.contains(HotBlock::index_chain); }) > 0.5;
}

/// Seconds of a load by index minus those of a load by address.
double more_by_index(const Limits& limits) {
    const auto *by_index = limits.find("latency.l1.indexed"), *by_address = limits.find("latency.l1.latency");
    return by_index && by_address ? std::max(0.0, by_index->value - by_address->value) : 0;
}

/// A link of a chain. `instead`: a note if another latency replaces a missing one.
struct Link {
    const Figure* figure = nullptr;
    std::string name, instead;
    std::optional<Place> place;  ///< for a load
    std::string id{};            ///< of the figure, except for a load
};

/// The load latency of the level that holds the data, or else of a nearer level, which is never slower.
Link link_of_load(const Record& record, const Limits& limits, Explanation& out) {
    Link link;
    link.place = place_of(record, limits, "latency", 1);
    if (!link.place) return link;
    const auto level = link.place->level;
    const bool memory = link.place->memory;
    link.name = memory ? "memory" : level_name(level);
    const auto id = "latency." + (memory ? link.name : level_id(level)) + ".latency";
    link.figure = limits.find(id);
    if (!link.figure && level == 0 && !memory && chases_by_index(record))
        link.figure = limits.find("latency.l1.indexed");
    if (link.figure) return link;
    out.missing.push_back(id);
    for (auto nearer = memory ? levels_of(limits, "latency") : level; !link.figure && nearer-- > 0;)
        link.figure = limits.find("latency." + level_id(nearer) + ".latency");
    link.instead = ", since the profile has no " + link.name + " latency";
    return link;
}

Link link_of(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    if (work.chain == "load") return link_of_load(record, limits, out);
    const auto link = [&](const std::string& id, const std::string& name) {
        return Link{limits.find(id), name, "", {}, id};
    };
    if (work.chain == "multiply_add") return link("fma.latency." + work.type, work.type);
    return work.chain == "atomic" ? link("atomic.latency", "atomic") : link("latency.local.latency", "local memory");
}

/// Lengthens a chain of loads by TLB misses and index arithmetic.
void add_detours(Bound& bound, const Link& link, double links, const Record& record, const Limits& limits) {
    // Each load may miss the TLB. The bound assumes that all do (the time of a random chase); its low end does not.
    if (const double each = link.place->memory ? 0 : limits.scattered_load(record.work.footprint);
        links * each > bound.seconds) {
        bound.how += ", or " + format_seconds(each) + " per load if each load goes to another page";
        bound.seconds = links * each;
        bound.high = std::max(bound.high, bound.seconds);
    }
    // An index adds a cycle or more per load. If the code has such loads, they most likely form the chain.
    const double more = more_by_index(limits);
    if (more <= 0 || link.figure->id == "latency.l1.indexed" || !chases_by_index(record)) return;
    bound.how += ", " + format_seconds(more) + " more per load, because the loads are by index";
    bound.seconds += links * more;
    bound.high += links * more;
}

/// A declared chain: `links * latency of a link`.
void bound_declared_chain(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    if (work.chain.empty()) return out.leave_out("latency", "the dependencies are not known");
    const auto link = link_of(record, limits, out);
    if (work.chain == "load" && !link.place) return out.lacks("latency", "cache sizes");
    if (!link.figure) return out.lacks("latency", link.name + " latency", link.id);
    const double links = std::max(1.0, work.links);
    const auto name = link.name + " latency";
    auto bound =
        without_nearer(at_time("latency", name, name, links, *link.figure), link.place ? link.place->nearer : 0);
    bound.how += link.instead;
    if (link.place) add_detours(bound, link, links, record, limits);
    bound = on_available_cores(std::move(bound), record, 1);
    // An atomic's latency depends on its address, by up to a factor of two (`cllab run atomic`, several processes). The
    // low end is L2's load latency, because a GPU executes atomics in L2 or farther away.
    if (work.chain == "atomic" && is_gpu(record)) {
        const auto* level = limits.find("latency.l2.latency");
        if (!level) return out.lacks("latency", "L2 latency, and without it an atomic's shortest time is not known");
        bound.low = std::min(bound.low, links * level->low);
    }
    out.bounds.push_back(std::move(bound));
}

struct ChainTime {
    double seconds = 0, least = 0;
    std::string how, figure, name;
};

/// Float additions, multiplications, multiply-adds, divisions and functions per work-item.
double float_operations(const Counts& counts) {
    return operations(counts, Operation::float_function) + plain_floats(counts);
}

/// Additions, multiplications and multiply-adds per work-item, each with the figure of its latency, fastest first.
std::array<std::pair<double, std::string>, 3> floats_of(const Counts& counts, const std::string& type) {
    const unsigned bits = type == "double" ? 64 : 32;
    return {{{operations(counts, Operation::float_add, bits), "fma.add." + type},
             {operations(counts, Operation::float_multiply, bits), "fma.multiply." + type},
             {operations(counts, Operation::float_fma, bits), "fma.latency." + type}}};
}

/// The type of the kernel's arithmetic: double or float, whichever is more frequent, or else uint.
std::string type_of_chain(const Counts& counts) {
    const double wide = plain_floats(counts, 64), narrow = plain_floats(counts, 32);
    return wide > narrow ? "double" : narrow > 0 ? "float" : "uint";
}

/// Seconds for `number` operations of a chain. GPU: each has a multiply-add's latency. CPU: the counted floats come
/// first, the fastest kind first; then products of integers, which take a multiply-add's latency together with the next
/// sum; then operations of one cycle. If `number` is at least `most_samples` of the work-item's float operations, the
/// chain contains the functions and divisions.
double time_of_arithmetic(const Record& record, const Limits& limits, double number, double multiply_add) {
    const auto& counts = *record.counts;
    const auto* clock = limits.find("fma.clock");
    double rest = number, seconds = 0;
    const auto take = [&](double most, double each) {
        const double taken = std::min(rest, most);
        rest -= taken;
        seconds += taken * each;
    };
    if (!is_gpu(record)) {
        const auto type = type_of_chain(counts);
        for (const auto& [some, figure] : floats_of(counts, type)) {
            const auto* latency = limits.find(figure);
            take(some, latency ? latency->value : least_of_floats * multiply_add);
        }
        take(operations(counts, Operation::float_function) + operations(counts, Operation::float_divide), multiply_add);
        take(2 * operations(counts, Operation::integer_multiply), multiply_add / 2);
        if (clock) take(rest, 1 / clock->value);
    }
    seconds += rest * multiply_add;
    if (number < most_samples * float_operations(counts)) return seconds;
    for (const auto& o : counts.operations) {
        const bool divides = o.kind == Operation::float_divide;
        if (!divides && o.kind != Operation::float_function) continue;
        const auto name = (o.bits == 64 ? "double_" : "") + (divides ? std::string("divide") : o.function);
        if (const auto* latency = limits.find("math.latency." + name + ".medium"))
            seconds += o.per_item.mean * std::max(0.0, latency->value - multiply_add);
    }
    return seconds;
}

/// Operations of one kind in a work-item's chain.
struct Part {
    double number;
    std::string id, name;  ///< figure of the latency; kind of operation
};

/// Seconds per operation. Low end: operations are fused where possible, and loads hit L1.
std::pair<double, double> time_of(const Part& part, const Figure& latency, const std::string& level,
                                  const Record& record, const Limits& limits) {
    double each = latency.value;
    // Array elements are loaded by index, which adds the same time at every level.
    if (!is_gpu(record) && part.id.starts_with("latency.")) each += more_by_index(limits);
    if (part.name == "loads") {
        const auto* nearest = limits.find("latency.l1.latency");
        if (level != "memory") each = std::max(each, limits.scattered_load(record.work.footprint));
        return {each, nearest ? std::min(each, nearest->value) : each};
    }
    if (part.name != "arithmetic") return {each, std::min(each, latency.value)};
    each = time_of_arithmetic(record, limits, part.number, latency.value) / part.number;
    if (is_gpu(record) || (part.id == "fma.latency.uint" && limits.find("fma.clock")))
        return {each, least_of_floats * std::min(each, latency.value)};
    // If the chain's length and the number of float operations differ by less than a fifth, the chain consists of
    // float operations.
    const double floats = float_operations(*record.counts);
    const bool of_floats = floats >= most_samples * part.number && part.number >= most_samples * floats;
    const double least = of_floats ? least_of_floats * std::max(each, latency.value) : least_of_any * latency.value;
    return {each, std::min(each, least)};
}

std::optional<ChainTime> time_of_chain(const Record& record, const Limits& limits, Explanation& out) {
    const auto& chain = record.counts->path;
    const auto place = place_of(record, limits, "latency", 1);
    const std::string level = !place || place->level == 0 ? "l1" : place->memory ? "memory" : level_id(place->level);
    // A CPU fetches a work-item's first load ahead, because its address is known.
    const double loads = is_gpu(record) ? chain.loads : std::max(0.0, chain.loads - 1);
    const std::array<Part, 4> parts{
        {{loads, "latency." + level + ".latency", "loads"},
         {chain.local_loads, is_gpu(record) ? "latency.local.latency" : "latency.l1.latency", "local loads"},
         {chain.atomics, "atomic.latency", "atomics"},
         {chain.arithmetic, "fma.latency." + type_of_chain(*record.counts), "arithmetic"}}};
    for (const auto& [some, figure] : floats_of(*record.counts, type_of_chain(*record.counts)))
        if (!is_gpu(record) && some > 0 && !limits.find(figure)) out.missing.push_back(figure);
    ChainTime sum;
    double most = 0;
    for (const auto& part : parts) {
        if (part.number <= 0) continue;
        const auto* latency = limits.find(part.id);
        if (!latency) {
            out.lacks("latency", part.id, part.id);
            return std::nullopt;
        }
        const auto [each, least] = time_of(part, *latency, level, record, limits);
        sum.seconds += part.number * each;
        sum.least += part.number * least;
        sum.how += (sum.how.empty() ? "" : ", ") + format_significant(part.number, 3) + " " + part.name +
                   (part.name == "arithmetic" ? " operations at " : " at ") + format_seconds(each) + " each";
        if (part.number * each <= most) continue;
        most = part.number * each;
        sum.figure = part.id;
        sum.name = part.name != "loads" ? part.name : level == "memory" ? level : level_name(level[1] - '1');
    }
    return sum.seconds > 0 ? std::optional(sum) : std::nullopt;
}

/// Work-items, or vectors of them, that a CPU core runs one after another. A core starts the next one before it ends
/// the current one.
struct Turns {
    double number = 1, overlap = 0;  ///< overlap: share of a chain that overlaps the chain before
    const char* unknown = "";        ///< why the number is unknown
};

/// Work-items that a vector holds: `links of all work-items / passes of the hot block`, at most the lanes. A compiler
/// may also pack several chains of one work-item into a vector. A pass then makes one link of a single work-item, and
/// the result is 1. If there are fewer links than passes, or the passes are unknown: the lanes.
double items_of_vector(const Record& record) {
    const double lanes = items_at_a_time(record), passes = passes_of_hot_block(record);
    const double links = passes > 0 ? record.counts->items * record.counts->path.arithmetic / passes : 0;
    return links < 1 / alike ? lanes : std::min(lanes, std::max(1.0, links));
}

Turns turns_of_core(const Record& record, const Limits& limits) {
    const auto& counts = *record.counts;
    if (counts.barriers.mean > 0)
        return {.unknown =
                    "at barriers, a core switches among work-items, so it is not known how many chains run one "
                    "after another"};
    const double at_once = items_of_vector(record), turns = counts.group_items * rounds_of(record, limits) / at_once;
    if (turns <= 1) return {};
    const double passes = passes_of_hot_block(record);
    if (passes <= 0) return {.unknown = "how many work-items a core works on at once is not known"};
    const double instructions = passes * record.hot->hottest()->instructions / counts.items * at_once;
    const double overlap = std::min(1.0, looks_ahead / std::max(1.0, instructions));
    if (overlap > most_overlap) return {.unknown = "a core works on several work-items at once"};
    return {turns, overlap};
}

/// `number of chains in sequence * longest chain of a work-item`. The number is a GPU's rounds of work-groups, or a CPU
/// core's work-items (or vectors of them).
void bound_counted_chain(const Record& record, const Limits& limits, Explanation& out) {
    const auto chain = time_of_chain(record, limits, out);
    if (!chain) return;
    const auto turns = is_gpu(record) ? Turns{rounds_of(record, limits)} : turns_of_core(record, limits);
    if (*turns.unknown) return out.leave_out("latency", turns.unknown);
    const auto name = chain->name + " latency";
    const auto number =
        turns.number > 1 ? format_significant(turns.number, 3) + " chains in sequence, each of " : "a chain of ";
    Bound bound{"latency",
                name,
                name,
                turns.number * chain->seconds * (1 - turns.overlap / 2),
                turns.number * chain->least * (1 - turns.overlap),
                turns.number * chain->seconds,
                number + chain->how +
                    (turns.overlap > 0.005 ? ", of which each overlaps up to " +
                                                 format_significant(100 * turns.overlap, 2) + " % of the one before"
                                           : "") +
                    ", " + source_of(*record.counts),
                chain->figure};
    add_asked(record, on_available_cores(std::move(bound), record, parallel_of(record, limits)), out);
}

}  // namespace

double rounds_of(const Record& record, const Limits& limits) {
    const double groups = std::max(1.0, record.counts->groups), group = std::max(1.0, record.counts->group_items);
    if (!is_gpu(record)) return std::max(1.0, groups / limits.units);
    const auto* seen = limits.find("dispatch.resident");
    double items = seen ? seen->value : most_resident;
    if (limits.compute_capability > 0 && record.code.registers)
        if (const auto found = inspect::nvidia::occupancy(
                concat("sm_", limits.compute_capability),
                {*record.code.registers, 0, record.code.local_bytes.value_or(0), 32, static_cast<std::size_t>(group)}))
            items = 32.0 * found->waves;
    return std::max(1.0, groups / (limits.units * std::max(1.0, std::floor(items / group))));
}

bool waits_for_loads(const Record& record) {
    const auto* counts = record.counts ? &*record.counts : nullptr;
    return counts && counts->path.loads >= least_chase && counts->path.loads > counts->global.loads.mean / 2;
}

void bound_latency(const Record& record, const Limits& limits, Explanation& out) {
    const bool counted = has_counts(record) && record.work.chain.empty();
    (counted ? bound_counted_chain : bound_declared_chain)(record, limits, out);
}

}  // namespace cllab::explain
