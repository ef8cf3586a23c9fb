// What a count proves that the user can change, a sentence for each limiter.
#include <algorithm>

#include "core/units.hpp"
#include "explain/counted.hpp"
#include "explain/place.hpp"

namespace cllab::explain {
namespace {

using model::Counts;
using model::Record;

constexpr double worth_a_sentence = 1.5;  ///< times as much as there must be

/// Three digits at the most, and no zeros behind them.
std::string number(double x) { return format_exact(parse_real(format_significant(x, 3)).value_or(x)); }

std::string times(double ratio) { return number(ratio) + " times"; }

/// ", most of it in line 12", of the line that costs most of what `cost` says; empty where none has half of it.
std::string where(const Counts& counts, double model::CountedLine::*cost) {
    double all = 0;
    const model::CountedLine* most = nullptr;
    for (const auto& line : counts.lines) {
        all += line.*cost;
        if (!most || line.*cost > most->*cost) most = &line;
    }
    return most && most->*cost > all / 2 ? ", most of it in line " + std::to_string(most->line) : "";
}

std::string of_sectors(const Counts& counts) {
    const bool reads = counts.reads.sectors.mean - counts.reads.least_sectors.mean >=
                       counts.writes.sectors.mean - counts.writes.least_sectors.mean;
    const auto& requests = reads ? counts.reads : counts.writes;
    const auto& accesses = counts.global;
    const double accessed = reads ? accesses.loads.mean : accesses.stores.mean,
                 bytes = reads ? accesses.load_bytes.mean : accesses.store_bytes.mean;
    if (accessed <= 0 || requests.sectors.mean < worth_a_sentence * requests.least_sectors.mean) return "";
    const double used = bytes / accessed, moved = 32 * requests.sectors.mean / accessed;
    return std::string(reads ? "Loads" : "Stores") + " move " + number(moved) + " bytes for " + number(used) +
           " used: " + times(requests.sectors.mean / requests.least_sectors.mean) +
           " the sectors of neighbours side by side" + where(counts, &model::CountedLine::sectors) + ".";
}

std::string of_banks(const Counts& counts) {
    const double ways = counts.local_reads.ways.mean + counts.local_writes.ways.mean,
                 least = counts.local_reads.least_ways.mean + counts.local_writes.least_ways.mean;
    if (ways < worth_a_sentence * least || least <= 0) return "";
    return "Conflicts make local memory take " + times(ways / least) + " as many turns as without" +
           where(counts, &model::CountedLine::ways) + ".";
}

std::string of_atomics(const model::Atomics& atomics, const Counts& counts, bool local) {
    const double of_group = atomics.number.mean * counts.group_items;
    if (of_group < 2 || atomics.most_in_group < of_group / 8) return "";
    return number(atomics.most_in_group) + " of a group's " + number(of_group) +
           (local ? " local atomics meet on one word; a sum within each work-item or wave would make fewer."
                  : " atomics meet on one address; a sum in local memory would make one of them.");
}

std::string of_lanes(const Record& record) {
    const auto& counts = *record.counts;
    if (!is_gpu(record) || counts.lanes_active * worth_a_sentence > 1) return "";
    return "Of a wave's lanes " + number(100 * counts.lanes_active) +
           " % are active on average: neighbours go different ways.";
}

std::string of_groups(const Counts& counts) {
    constexpr double enough = 64;
    if (counts.group_items >= enough || counts.groups < 2) return "";
    return "The groups are of size " + number(counts.group_items) + "; of size 256 there are " +
           times(256 / counts.group_items) + " fewer to start.";
}

}  // namespace

std::string advice(const Record& record, const model::Explanation& explanation) {
    const auto* limiter = explanation.limiter();
    if (!limiter || !record.counts) return "";
    const auto& counts = *record.counts;
    const auto& id = limiter->id;
    if (id == "memory" || (id.size() == 2 && id[0] == 'l')) return is_gpu(record) ? of_sectors(counts) : "";
    if (id == "local") return of_banks(counts);
    if (id == "atomics") return of_atomics(counts.global_atomics, counts, false);
    if (id == "local_atomics") return of_atomics(counts.local_atomics, counts, true);
    if (id == "groups") return of_groups(counts);
    return of_lanes(record);
}

}  // namespace cllab::explain
