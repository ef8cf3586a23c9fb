// Bounds of what a launch waits for, by its counts: chains, banks, and the block that a CPU spends its time in.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/amounts.hpp"
#include "inspect/isa/nvidia.hpp"

namespace cllab::explain {
namespace {

/// Float operations of a work-item, without its functions.
double plain_floats(const Counts& counts) {
    double all = 0;
    for (const auto& o : counts.operations)
        if (o.kind <= Operation::float_divide) all += o.per_item.mean;
    return all;
}

double float_operations(const Counts& counts) {
    return plain_floats(counts) + operations(counts, Operation::float_function);
}

/// What counts and blocks both have, and how much of it a work-item computes.
std::vector<std::pair<const char*, double>> computed(const Counts& counts) {
    return {{"float", plain_floats(counts)},
            {"product", operations(counts, Operation::integer_multiply)},
            {"division", operations(counts, Operation::integer_divide)}};
}

/// Code that touches nothing but its stack and local memory, and does nothing slow: loops over work-items between
/// barriers. A group's local memory is in the first level of its core.
bool waits_for_nothing(const HotBlock& block, const Counts& counts) {
    const auto is_of_stack = [](const auto& access) { return access.first.starts_with("stack_"); };
    constexpr double hardly_any = 0.1;
    return (std::ranges::all_of(block.memory, is_of_stack) || global_share(counts) <= hardly_any) &&
           !does_something_slow(block);
}

/// How many groups follow one another in the place of one. GPU: as many as its units have room for run at once.
double rounds_of(const Record& record, const Limits& limits) {
    const double groups = std::max(1.0, record.counts->groups), group = std::max(1.0, record.counts->group_items);
    if (!is_gpu(record)) return std::max(1.0, groups / limits.units);
    // No unit of a GPU holds more than 2560 work-items at once (compute capabilities 5 to 12: 2048; GCN and CDNA: 40
    // waves of 64).
    const auto* seen = limits.find("dispatch.resident");
    double items = seen ? seen->value : 2560;
    if (limits.compute_capability > 0 && record.code.registers)
        if (const auto found = inspect::nvidia::occupancy(
                concat("sm_", limits.compute_capability),
                {*record.code.registers, 0, record.code.local_bytes.value_or(0), 32, static_cast<std::size_t>(group)}))
            items = 32.0 * found->waves;
    return std::max(1.0, groups / (limits.units * std::max(1.0, std::floor(items / group))));
}

/// Seconds of the chain and of its nearest kind, and how it is made up.
struct ChainTime {
    double seconds = 0, least = 0;
    std::string how, figure, name;
};

/// The latency of most of the arithmetic.
std::string type_of_chain(const Counts& counts) {
    const auto floats = [&](unsigned bits) {
        return operations(counts, Operation::float_fma, bits) + operations(counts, Operation::float_add, bits) +
               operations(counts, Operation::float_multiply, bits);
    };
    if (floats(64) > floats(32)) return "fma.latency.double";
    return floats(32) > 0 ? "fma.latency.float" : "fma.latency.uint";
}

/// Seconds of the arithmetic of a path. Of integers a product and the sum behind it take the latency of a multiply-add;
/// any other operation takes a CPU a cycle, and a GPU as long as any. Where nearly all of a work-item's operations are
/// in its path, so are its functions.
double time_of_arithmetic(const Record& record, const Limits& limits, double number, double multiply_add) {
    const auto& counts = *record.counts;
    const auto* clock = limits.find("fma.clock");
    const double products = std::min(operations(counts, Operation::integer_multiply), number / 2);
    double seconds = number * multiply_add;
    if (!is_gpu(record) && clock && type_of_chain(counts) == "fma.latency.uint")
        seconds = products * multiply_add + (number - 2 * products) / clock->value;
    double called = 0;
    for (const auto& o : counts.operations) {
        const bool divides = o.kind == Operation::float_divide;
        if (!divides && o.kind != Operation::float_function) continue;
        const auto name = (o.bits == 64 ? "double_" : "") + (divides ? std::string("divide") : o.function);
        if (const auto* latency = limits.find("math.latency." + name + ".medium"))
            called += o.per_item.mean * std::max(0.0, latency->value - multiply_add);
    }
    return number >= most_samples * float_operations(counts) ? seconds + called : seconds;
}

std::optional<ChainTime> time_of_chain(const Record& record, const Limits& limits, Explanation& out) {
    const auto& chain = record.counts->path;
    const auto sizes = sizes_of(limits, "latency", Capacity::most);
    const auto place = place_of(record, limits, sizes, 1, Capacity::most);
    const std::string level = !place || place->level == 0 ? "l1" : place->memory ? "memory" : level_id(place->level);
    // The first load of a work-item is one whose address is known: a CPU fetches it ahead.
    const double loads = is_gpu(record) ? chain.loads : std::max(0.0, chain.loads - 1);
    const std::array<std::tuple<double, std::string, std::string>, 4> parts{
        {{loads, "latency." + level + ".latency", "loads"},
         {chain.local_loads, is_gpu(record) ? "latency.local.latency" : "latency.l1.latency", "local loads"},
         {chain.atomics, "atomic.latency", "atomics"},
         {chain.arithmetic, type_of_chain(*record.counts), "arithmetic"}}};
    ChainTime sum;
    double most = 0;
    for (const auto& [number, id, name] : parts) {
        if (number <= 0) continue;
        const auto* latency = limits.find(id);
        if (!latency) {
            out.missing.push_back(id);
            out.leave_out("latency", "the profile has no " + id);
            return std::nullopt;
        }
        double each = latency->value;
        if (name == "arithmetic") each = time_of_arithmetic(record, limits, number, each) / number;
        // Elements of arrays are found by an index, which costs a core as much more in each level.
        const auto *by_index = limits.find("latency.l1.indexed"), *by_address = limits.find("latency.l1.latency");
        if (by_index && by_address && !is_gpu(record) && id.starts_with("latency."))
            each += std::max(0.0, by_index->value - by_address->value);
        if (name == "loads" && level != "memory") each = std::max(each, limits.scattered_load(record.work.footprint));
        const auto* nearest = name == "loads" ? limits.find("latency.l1.latency") : latency;
        // A CPU does a logical operation, or an addition of integers, in one cycle, and a multiply-add in four. A GPU's
        // take one time all, but the compiler joins two. An addition of floats takes a CPU half of a multiply-add, too,
        // and a path of as many operations as there are on floats is of floats.
        const double floats = name == "arithmetic" && !is_gpu(record) ? float_operations(*record.counts) : 0;
        const bool of_floats = floats >= most_samples * number && number >= most_samples * floats;
        const bool by_kind = of_floats || (id == "fma.latency.uint" && limits.find("fma.clock"));
        const double least = name != "arithmetic" ? 1 : is_gpu(record) || by_kind ? 0.5 : 0.25;
        sum.seconds += number * each;
        sum.least += least * number * (nearest && !of_floats ? std::min(each, nearest->value) : each);
        sum.how +=
            (sum.how.empty() ? "" : ", ") + format_significant(number, 3) + " " + name + " of " + format_seconds(each);
        if (number * each <= most) continue;
        most = number * each;
        sum.figure = id;
        sum.name = name == "loads" ? (level == "memory" ? "memory" : level_name(level[1] - '1')) : name;
    }
    return sum.seconds > 0 ? std::optional(sum) : std::nullopt;
}

}  // namespace

double seconds_of_arithmetic(const Record& record, const Limits& limits) {
    const auto* latency = limits.find(type_of_chain(*record.counts));
    const double number = record.counts->path.arithmetic;
    if (number <= 0) return 0;
    return latency ? time_of_arithmetic(record, limits, number, latency->value) : INFINITY;
}

double items_at_a_time(const Record& record) {
    const auto* block = record.hot ? record.hot->hottest() : nullptr;
    unsigned bits = 32;
    if (block)
        for (const auto& [name, count] : block->classes)
            if (name.starts_with("vector_"))
                if (const auto found = parse_integer(std::string_view(name).substr(7)))
                    bits = std::max(bits, static_cast<unsigned>(*found));
    return bits / 32.0;
}

double global_share(const Counts& counts) {
    const auto number = [](const Accesses& a) { return a.loads.mean + a.stores.mean; };
    const double global = number(counts.global) + number(counts.constant),
                 all = global + number(counts.local) + number(counts.private_memory);
    return all > 0 ? global / all : 0;
}

bool does_something_slow(const HotBlock& block) {
    return block.classes.contains("atomic") || block.classes.contains("call") || elements_of(block, "division") > 0;
}

double elements_of(const HotBlock& block, const char* what) {
    const auto found = block.elements.find(what);
    return found == block.elements.end() ? 0 : found->second;
}

// A compiler that goes through the work-items of a group peels off some of them: copies of the block are the block.
double passes_of_hot_block(const Record& record) {
    const auto* block = record.hot && record.hot->evidence == Hot::sampled ? record.hot->hottest() : nullptr;
    if (!block) return 0;
    if (record.work.instructions > 0 && block->instructions > 0) return record.work.instructions / block->instructions;
    const auto is_copy = [&](const HotBlock& other) {
        return other.instructions == block->instructions && other.elements == block->elements;
    };
    if (share_of(*record.hot, is_copy) < most_samples) return 0;
    double out = 0;
    for (const auto& [what, number] : computed(*record.counts))
        if (const double elements = elements_of(*block, what); elements > 0)
            out = std::max(out, record.counts->items * number / elements);
    return out;
}

namespace {

/// Of scalar code whose work is on integers: an instruction does one operation, or two that the compiler joins. Where
/// there are few for each access they are of addresses, of which a compiler leaves out many; and of vectors nobody
/// knows which instructions are of the loop around them.
template <class By>
Executed executed_by_integers(const Record& record, By executed) {
    constexpr double for_address = 8, together = 0.9;
    const auto& counts = *record.counts;
    double number = 0, accesses = 0;
    for (const auto& o : counts.operations)
        if (o.kind == Operation::integer_add || o.kind == Operation::integer_multiply) number += o.per_item.mean;
    for (const auto* space : {&counts.global, &counts.constant, &counts.local})
        accesses += space->loads.mean + space->stores.mean;
    // Nor who takes which branch.
    if (items_at_a_time(record) > 1 || number < for_address * accesses || counts.lanes_active < together) return {};
    const auto integers = [](const HotBlock& block) {
        const auto found = block.classes.find("scalar_integer");
        return found == block.classes.end() ? 0.0 : static_cast<double>(found->second);
    };
    auto out = executed(integers, number);
    out.joined = 0.5;
    return out;
}

}  // namespace

// Samples are time. Code that takes its instructions at one rate, whichever block they are in, executes as many
// instructions of a block as it has samples there, so that what is computed for each instruction is known.
Executed executed_by_samples(const Record& record) {
    if (!record.hot || record.hot->evidence != Hot::sampled) return {};
    const auto& blocks = record.hot->blocks;
    // Of operations of one kind: `elements` says how many a pass of a block does, `number` how many a work-item does.
    const auto executed = [&](auto elements, double number) -> Executed {
        double each = 0, with = 0, seen = 0;  // elements an instruction; share of the blocks that have some, and of all
        for (const auto& block : blocks) {
            const double some = elements(block);
            if (block.instructions == 0 || (some <= 0 && !waits_for_nothing(block, *record.counts))) continue;
            each += block.share * some / block.instructions;
            with += some > 0 ? block.share : 0;
            seen += block.share;
        }
        constexpr double few = 1.0 / 3;
        if (seen < most_samples || with < few * seen) return {};
        return {record.counts->items * number / each, seen};
    };
    Executed out;
    for (const auto& [what, number] : computed(*record.counts)) {
        const auto found = executed([&](const HotBlock& block) { return elements_of(block, what); }, number);
        if (found.instructions > out.instructions) out = found;
    }
    return out.instructions > 0 ? out : executed_by_integers(record, executed);
}

void bound_chain(const Record& record, const Limits& limits, Explanation& out) {
    const auto& counts = *record.counts;
    const auto chain = time_of_chain(record, limits, out);
    if (!chain) return;
    double rounds = rounds_of(record, limits);
    double overlap = 0;
    if (!is_gpu(record)) {
        // A core goes through the work-items of a group one after the other, or through as many as its vectors hold.
        // One begins before the one in front ends, as far as the core looks ahead: no more than 1000 instructions in
        // any processor, and half of that in most. At barriers it goes round among all of them.
        constexpr double looks_ahead = 1000;
        if (counts.barriers.mean > 0)
            return out.leave_out("latency", "between barriers a core takes turns among work-items");
        const double turns = counts.group_items * rounds / items_at_a_time(record);
        const double passes = passes_of_hot_block(record);
        if (turns > 1 && passes <= 0)
            return out.leave_out("latency", "how many work-items a core works on at once is not known");
        const double instructions =
            passes > 0 ? passes * record.hot->hottest()->instructions / counts.items * items_at_a_time(record) : 0;
        overlap = turns > 1 ? std::min(1.0, looks_ahead / std::max(1.0, instructions)) : 0;
        if (overlap > 0.5) return out.leave_out("latency", "a core works on several work-items at once");
        rounds = std::max(1.0, turns);
    }
    const auto name = chain->name + " latency";
    Bound bound{"latency",
                name,
                name,
                rounds * chain->seconds * (1 - overlap / 2),
                rounds * chain->least * (1 - overlap),
                rounds * chain->seconds,
                "a chain of " + chain->how + (rounds > 1 ? ", " + format_significant(rounds, 3) + " times" : "") +
                    ", " + source_of(counts),
                chain->figure};
    out.bounds.push_back(on_available_cores(std::move(bound), record, 1));
}

void bound_banks(const Record& record, const Limits& limits, Explanation& out) {
    const auto& counts = *record.counts;
    const double passes = counts.items * (counts.local_reads.ways.mean + counts.local_writes.ways.mean);
    if (!is_gpu(record) || passes <= 0) return;
    const auto *rate = limits.find("banks.rate"), *banks = limits.find("banks.banks.4"),
               *width = limits.find("banks.width.4");
    if (!rate) return out.leave_out("local memory", "the profile has no bandwidth of it");
    const double bytes = banks && width ? banks->value * width->value : 128;
    const double least = counts.items * (counts.local_reads.least_ways.mean + counts.local_writes.least_ways.mean);
    auto bound = at_rate("local", passes > 1.5 * least ? "local memory, bank conflicts" : "local memory bandwidth",
                         passes > 1.5 * least ? "bank conflicts" : "local",
                         uneven_share(record, limits) * bytes * passes, "B", *rate);
    bound.how = format_significant(passes, 4) + " passes through the banks for " + format_significant(least, 4) +
                " without conflicts, " + bound.how + ", " + source_of(counts);
    out.bounds.push_back(std::move(bound));
}

void bound_hot_block(const Record& record, const Limits& limits, Explanation& out) {
    const auto* rate = limits.find("issue.rate");
    if (is_gpu(record) || !rate || !record.hot || !record.hot->hottest()) return;
    const auto executed = executed_by_samples(record);
    if (executed.instructions <= 0)
        return out.leave_out("instruction issue", "how often the hot block runs is not known");
    auto bound = bound_of_issue(
        record, limits, executed.instructions, *rate,
        ", as many as the code that was seen running has for the operations " + source_of(*record.counts));
    bound.low *= executed.seen * executed.joined;
    bound.simulated = true;  // the compiler may compute once what the text computes again and again
    out.bounds.push_back(std::move(bound));
}

}  // namespace cllab::explain
