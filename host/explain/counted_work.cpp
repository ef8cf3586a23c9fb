// What a launch touches and executes, from the work-groups that the simulator counted.
#include <algorithm>
#include <cmath>

#include "core/units.hpp"
#include "explain/bounds.hpp"

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

/// Whether the hot block runs as often as the accesses of buffers that nobody declared say: each byte is touched once,
/// its stores are all that there are, and its instructions are enough for the operations that were counted. Of those
/// for addresses a compiler leaves out some.
bool passes_add_up(const Record& record, const Counts& counts, const Traffic& touched) {
    const auto is_near = [](double a, double b) { return std::abs(a - b) <= once_within * b; };
    if (!is_near(touched.bytes(), record.work.bytes)) return false;
    if (!is_near(per_launch(counts, counts.global.store_bytes), touched.written)) return false;
    if (per_launch(counts, counts.private_memory.stores) > 0) return false;
    return 2 * record.work.instructions * items_at_a_time(record) >= counts.items * all_operations(counts);
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
    const double shared = sector_bytes * growth_of(counts, &Footprint::sectors).shared();
    out.shared = shared >= nearly_all_shared * touched.bytes() && counts.groups > 1;
    if (out.atomics <= 0) {
        out.atomics = per_launch(counts, counts.global_atomics.number);
        const double counted = counts.counted_items * counts.global_atomics.number.mean;
        const bool spread = counts.global_atomics.addresses > meet_below * counted;
        out.atomic_addresses =
            counts.global_atomics.addresses * (spread ? counts.groups / std::max(1.0, counts.counted_groups) : 1);
    }
    if (out.local_atomics <= 0) {
        out.local_atomics = per_launch(counts, counts.local_atomics.number);
        out.local_addresses = counts.local_atomics.addresses;  // of the group that has the most
    }
    if (out.barriers <= 0) out.barriers = counts.barriers.mean;
    return out;
}

}  // namespace

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

Record with_counted_work(Record record) {
    if (has_counts(record)) record.work = work_of_counts(record, *record.counts);
    return record;
}

}  // namespace cllab::explain
