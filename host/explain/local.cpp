// Local memory: declared bytes, or counted passes through its banks.
#include "core/units.hpp"
#include "explain/bounds.hpp"

namespace cllab::explain {

void bound_local(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    const bool used = work.local_bytes > 0 || work.local_atomics > 0 || work.barriers > 0;
    if (!used && !has_counts(record) && record.code.local_bytes.value_or(0) > 0)
        out.leave_out("local memory and barriers", "how often they are used is not counted");
    const auto *rate = limits.find("banks.rate"), *banks = limits.find("banks.banks.4"),
               *width = limits.find("banks.width.4");
    const double of_pass = banks && width ? banks->value * width->value : bytes_of_pass;
    const auto at_bandwidth = [&](double bytes, const std::string& passes, const std::string& source, bool conflicts,
                                  bool simulated) {
        if (!rate) return out.lacks("local memory", "bandwidth of it", "banks.rate");
        auto bound = at_rate("local", conflicts ? "local memory, bank conflicts" : "local memory bandwidth",
                             conflicts ? "bank conflicts" : "local", bytes, "B", *rate);
        bound.how = passes + bound.how + source;
        bound.simulated = simulated;
        out.bounds.push_back(std::move(bound));
    };
    // Lanes that conflict in a bank need further passes, each of which occupies all banks.
    if (has_counts(record) && is_gpu(record)) {
        const auto& counts = *record.counts;
        const double ways = counts.local_reads.ways.mean + counts.local_writes.ways.mean,
                     least = counts.local_reads.least_ways.mean + counts.local_writes.least_ways.mean;
        const auto passes = [&](double each) { return format_significant(counts.items * each, 4); };
        if (ways > 0)
            at_bandwidth(
                uneven_share(record, limits) * of_pass * counts.items * ways,
                passes(ways) + " passes through the banks instead of " + passes(least) + " without conflicts, ",
                ", " + source_of(counts), ways > conflicts_from * least, true);
    } else if (work.local_bytes > 0 && work.chain != "local_load") {
        at_bandwidth(work.local_bytes, "", "", false, has_counts(record));
    }
    if (!has_counters(record)) return;
    if (const auto passes = counter_of(record, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"); passes && *passes > 0)
        at_bandwidth(of_pass * *passes, format_significant(*passes, 4) + " passes through the banks" + by_ncu + ", ",
                     "", false, false);
}

}  // namespace cllab::explain
