#include <algorithm>
#include <cmath>
#include <map>

#include "core/units.hpp"
#include "explain/amounts.hpp"
#include "explain/limiter.hpp"

namespace cllab::explain {
namespace {

/// Sectors of one kind that one group touches alone, and how many more each further one does.
struct Growth {
    double first = 0, further = 0, counted = 0;
    double shared() const { return std::max(0.0, first - further); }
};

Growth growth_of(const Counts& counts, double Footprint::*sectors) {
    if (counts.footprint.empty()) return {};
    const auto &first = counts.footprint.front(), &last = counts.footprint.back();
    Growth out{first.*sectors / std::max(1.0, first.groups), 0, last.*sectors};
    out.further =
        last.groups > first.groups ? (last.*sectors - first.*sectors) / (last.groups - first.groups) : out.first;
    return out;
}

/// Of lanes that execute together those that do something in an instruction: the others wait as long. A CPU has none.
double lanes_active(const Record& record) {
    return is_gpu(record) ? std::clamp(record.counts->lanes_active, 1.0 / 64, 1.0) : 1;
}

/// Whether most of the code that was seen running computes an element of floats in an instruction.
bool is_scalar(const Record& record) {
    if (!record.hot || record.hot->evidence != Hot::sampled) return false;
    double elements = 0, instructions = 0, seen = 0;
    for (const auto& block : record.hot->blocks) {
        seen += block.share;
        if (block.instructions == 0) continue;
        const double passes = block.share / block.instructions;
        elements += passes * elements_of(block, "float");
        for (const auto& [name, count] : block.classes)
            if (name == "scalar_float" || name.starts_with("vector_")) instructions += passes * count;
    }
    return seen >= most_samples && elements > 0 && elements <= instructions;
}

/// Whether the code that a CPU spends its time in divides integers: what is the same for all work-items is divided
/// once, in front of it. What waits for a division at the end of a block is seen at the begin of the next one of the
/// same loop.
bool divides_integers(const Record& record) {
    if (is_gpu(record)) return true;
    const auto* hottest = record.hot ? record.hot->hottest() : nullptr;
    const auto is_seen_as_hottest = [&](const HotBlock& block) {
        return &block == hottest || (block.end == hottest->begin && block.loops == hottest->loops);
    };
    return hottest && std::ranges::any_of(record.hot->blocks, [&](const HotBlock& block) {
               return is_seen_as_hottest(block) && block.elements.contains("division");
           });
}

/// Whether the hot block runs as often as the accesses of buffers that nobody declared say: each byte is touched once,
/// its stores are all that there are, and its instructions are enough for the operations that were counted. Of those
/// for addresses a compiler leaves out some.
bool passes_add_up(const Record& record, const Counts& counts, const Traffic& touched) {
    const auto is_near = [](double a, double b) { return std::abs(a - b) <= 0.1 * b; };
    if (!is_near(touched.bytes(), record.work.bytes)) return false;
    if (!is_near(per_launch(counts, counts.global.store_bytes), touched.written)) return false;
    if (per_launch(counts, counts.private_memory.stores) > 0) return false;
    return 2 * record.work.instructions * items_at_a_time(record) >= counts.items * all_operations(counts);
}

}  // namespace

void lower_to_joined(Bound& bound, const Atomics& atomics, const Record& record) {
    if (!is_gpu(record) || atomics.turns.mean <= 0) return;
    bound.low *= std::min(1.0, atomics.requests.mean / atomics.turns.mean);
    lower_to_time(bound, record);
}

void lower_to_time(Bound& bound, const Record& record) {
    if (bound.seconds <= alike * record.time->high || bound.low > alike * record.time->high) return;
    bound.seconds = bound.low;
    bound.how += ", lowered to what the compiler cannot join";
}

std::string source_of(const Counts& counts) {
    const auto groups = counts.counted_groups >= counts.groups
                            ? "all " + format_exact(counts.groups) + " groups"
                            : format_exact(counts.counted_groups) + " of " + format_exact(counts.groups) + " groups";
    return "counted by simulation of " + groups;
}

Traffic distinct(const Counts& counts, const WorkInfo& work) {
    const auto of = [&](double Footprint::*sectors, double most) {
        const auto growth = growth_of(counts, sectors);
        const double further = std::max(0.0, counts.groups - counts.counted_groups);
        const double all = sector_bytes * (growth.counted + further * growth.further);
        // Sectors at the ends of a buffer may be half of another's.
        return most > 0 ? std::min(all, most) : all;
    };
    const bool by_use = work.assumed && work.read;
    return {of(&Footprint::read_sectors, by_use ? *work.read : work.footprint),
            of(&Footprint::written_sectors, by_use ? work.bytes - *work.read : work.footprint)};
}

Traffic beyond(const Counts& counts, double holds, double instances) {
    const auto of = [&](double Footprint::*sectors) {
        const auto growth = growth_of(counts, sectors);
        const double shared = sector_bytes * growth.shared(), own = sector_bytes * growth.further;
        const double times = shared <= holds ? std::min(instances, counts.groups) : counts.groups;
        return times * shared + counts.groups * own;
    };
    return {of(&Footprint::read_sectors), of(&Footprint::written_sectors)};
}

MultiplyAdds multiply_adds(const Record& record, unsigned bits) {
    const auto& counts = *record.counts;
    const double sums = operations(counts, Operation::float_add, bits),
                 products = operations(counts, Operation::float_multiply, bits),
                 both = operations(counts, Operation::float_fma, bits), items = counts.items / lanes_active(record);
    return {items * (sums + products + both), items * (std::max(sums, products) + both)};
}

WorkInfo work_of_counts(const Record& record, const Counts& counts) {
    auto out = record.work;
    const auto touched = distinct(counts, record.work);
    if (out.assumed && !passes_add_up(record, counts, touched)) out.instructions = 0;
    if (touched.bytes() > 0 && (out.bytes <= 0 || out.assumed)) {
        out.bytes = touched.bytes();
        out.read = touched.read;
        out.footprint = touched.bytes();
        out.assumed = false;
    }
    // One work-group that goes through nearly all that all of them touch leaves no part to an instance of a level.
    constexpr double nearly_all = 0.9;
    const auto growth = growth_of(counts, &Footprint::sectors);
    out.shared = growth.shared() * sector_bytes >= nearly_all * touched.bytes() && counts.groups > 1;
    if (out.atomics <= 0) {
        out.atomics = per_launch(counts, counts.global_atomics.number);
        // Where the counted atomics hardly meet on an address, those of other groups have others.
        const double met = counts.counted_items * counts.global_atomics.number.mean;
        const bool spread = counts.global_atomics.addresses > met / 2;
        out.atomic_addresses =
            counts.global_atomics.addresses * (spread ? counts.groups / std::max(1.0, counts.counted_groups) : 1);
    }
    if (out.local_atomics <= 0) {
        out.local_atomics = per_launch(counts, counts.local_atomics.number);
        out.local_addresses = counts.local_atomics.addresses;  // of the group that has the most
    }
    if (out.barriers <= 0) out.barriers = counts.barriers.mean;
    if (is_gpu(record)) out.local_bytes = 0;  // by passes (bound_banks)
    return out;
}

Record with_counted_work(Record record) {
    if (record.counts && record.work.launches == 1) record.work = work_of_counts(record, *record.counts);
    return record;
}

void bound_levels(const Record& record, const Limits& limits, Explanation& out) {
    const auto& counts = *record.counts;
    const bool gpu = is_gpu(record);
    const auto source = ", " + source_of(counts);
    const auto sizes = sizes_of(limits, "bandwidth", Capacity::most);
    const auto add_bound = [&](const std::string& id, const std::string& name, double bytes, const std::string& figure,
                               const std::string& more) {
        const auto* rate = bytes > 0 ? limits.find(figure) : nullptr;
        if (!rate) return;
        auto bound = at_rate(id, name + " bandwidth", name, bytes, "B", *rate);
        bound.how += more + source;
        out.bounds.push_back(on_available_cores(std::move(bound), record, parallel_of(record, limits)));
    };
    // Waves ask the first level for whole sectors.
    const double asked = sector_bytes * counts.items * counts.reads.sectors.mean;
    if (gpu) add_bound("l1", "L1", asked * uneven_share(record, limits), "bandwidth.l1.rate", "");
    // A compiler keeps in registers what a work-item loads again; what none loaded before it must load.
    if (gpu && asked > 0 && !out.bounds.empty() && out.bounds.back().id == "l1") {
        out.bounds.back().low *= std::min(1.0, distinct(counts, record.work).read / asked);
        lower_to_time(out.bounds.back(), record);
    }
    const double first = sizes.empty() ? 0 : sizes.front();
    if (!(first > 0) || record.work.footprint <= first) return;
    const auto passing = beyond(counts, first, limits.units);
    if (!gpu) {
        // A core alone has its first levels; what all have in the second one's place may come from farther away.
        if (sizes.size() > 1) add_bound("l2", "L2", passing.read, "bandwidth.l2.rate", "");
        return;
    }
    // A wave that touches more sectors than its bytes fill asks for one in each line.
    const auto is_scattered = [](const SectorRequests& r) {
        return r.sectors.mean > 1.5 * r.least_sectors.mean && r.requests.mean > 0;
    };
    add_bound("l2", "L2", passing.read, "bandwidth.l2.rate", "");
    const double written = counts.items * counts.writes.sectors.mean;  // the first level joins no stores of two waves
    const auto scattered = [&](const char* what, double sectors, const SectorRequests& requests) {
        const auto* rate = limits.find(std::string("scatter.") + what + ".rate");
        if (!rate || !is_scattered(requests) || sectors <= 0) return;
        auto bound = at_rate("l2", "L2, partial sectors", "L2 sectors", sectors, "sector", *rate);
        bound.how += ", " + format_significant(sector_bytes * requests.sectors.mean, 3) + " bytes moved for " +
                     format_significant(sector_bytes * requests.least_sectors.mean, 3) + source;
        out.bounds.push_back(std::move(bound));
    };
    scattered("store", written, counts.writes);
    scattered("load", std::min(passing.read / sector_bytes, counts.items * counts.reads.sectors.mean), counts.reads);
}

void bound_operations(const Record& record, const Limits& limits, Explanation& out) {
    const auto& counts = *record.counts;
    const double items = counts.items / lanes_active(record) * uneven_share(record, limits);
    const bool scalar = is_scalar(record);
    struct Sum {
        Bound all;
        double most = 0;  ///< seconds of one of them
    };
    std::map<std::string, Sum> sums;  // of operations that take turns on the same units
    const auto take = [&](const std::string& id, const std::string& name, double number, const std::string& figure) {
        if (number <= 0) return;
        const auto* rate = limits.find(figure);
        if (!rate) {
            out.missing.push_back(figure);
            out.leave_out(name, "the profile has no rate of it");
            return;
        }
        auto bound = at_rate("", name, "", number, "op", *rate);
        // A CPU's code that does several in a vector is faster than the probe's. No vector holds more than 16 floats,
        // and none divides integers. What feeds the probe's calls takes its time too, so that scalar code may be faster
        // by as much as two limiters that are not told apart.
        if (!is_gpu(record) && !figure.starts_with("integer.rate.divide"))
            bound.low *= scalar ? clear_of_the_next : 1.0 / 16;
        // The probe's threads may share cores, two each, which threads of few groups have for themselves.
        if (!is_gpu(record) && counts.groups < limits.units) bound.low /= 2;
        auto& [all, most] = sums[id];
        all.seconds += bound.seconds;
        all.low += bound.low;
        all.high += bound.high;
        if (bound.seconds <= most) return;
        most = bound.seconds;
        all.name = all.brief = name;
        all.figure = rate->id;
        all.how = bound.how + ", " + source_of(counts);
    };
    for (const auto& o : counts.operations) {
        const double number = items * o.per_item.mean;
        const std::string wide = o.bits == 64 ? "double_" : "", bits = std::to_string(o.bits > 32 ? 64 : 32);
        if (o.kind == Operation::float_function)
            take("functions", o.function, number, "math.rate." + wide + o.function + ".medium");
        if (o.kind == Operation::float_divide)
            take("division", (o.bits == 64 ? "double" : "float") + std::string(" division"), number,
                 "math.rate." + wide + "divide.medium");
        if (o.kind == Operation::integer_divide && divides_integers(record))
            take("division", bits + "-bit division", number, "integer.rate.divide." + bits);
        // Integer additions are no bound: those of addresses and loops are mostly gone in the code that runs.
        if (o.kind == Operation::integer_multiply && o.bits > 32)
            take("products", "64-bit multiplication", number, "integer.rate.multiply.64");
    }
    for (auto& [id, sum] : sums) {
        sum.all.id = id == "products" ? "integer" : id;
        lower_to_time(sum.all, record);
        out.bounds.push_back(on_available_cores(std::move(sum.all), record, parallel_of(record, limits)));
    }
}

}  // namespace cllab::explain
