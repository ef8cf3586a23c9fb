#include "explain/contradiction.hpp"

#include <algorithm>

#include "core/units.hpp"
#include "explain/counted.hpp"
#include "explain/limiter.hpp"

namespace cllab::explain {
namespace {

using model::Counts;
using model::Operation;

/// An expression or a padded row may differ by little. Half: what is in a buffer twice, or a sum beside each product,
/// is a matter of how one counts.
constexpr double most_apart = 2;

double most(const Counts& counts, const model::Amount& amount) {
    return counts.items * std::max(amount.high, amount.mean);
}

double bytes_asked(const Counts& counts) {
    double out = 0;
    for (const auto* space : {&counts.global, &counts.constant})
        out += most(counts, space->load_bytes) + most(counts, space->store_bytes);
    constexpr double read_and_written = 16;  // a word of 64 bits each
    return out + read_and_written * most(counts, counts.global_atomics.number);
}

/// Different bytes without those of sectors that no request of a wave fills.
double bytes_touched(const model::Record& record) {
    const auto& counts = *record.counts;
    const auto all = distinct(counts, record.work);
    const auto used = [](const model::SectorRequests& r) {
        return r.sectors.mean > 0 ? std::min(1.0, r.least_sectors.mean / r.sectors.mean) : 0;
    };
    return all.read * used(counts.reads) + all.written * used(counts.writes);
}

std::string both(const std::string& declared, const std::string& what, const std::string& counted,
                 const Counts& counts) {
    return declared + " " + what + ", and " + counted + ", " + source_of(counts);
}

}  // namespace

std::vector<std::string> contradictions(const model::Record& record) {
    std::vector<std::string> out;
    if (!record.counts || record.work.launches != 1) return out;
    const auto& counts = *record.counts;
    const auto& work = record.work;
    if (const double asked = bytes_asked(counts), touched = bytes_touched(record); work.bytes > 0 && !work.assumed) {
        if (work.bytes > alike * asked && asked > 0)
            out.push_back(both(format_rate(work.bytes, "B"), "are declared",
                               "its work-items ask for " + format_rate(asked, "B") + " at the most", counts));
        if (work.bytes < touched / most_apart)
            out.push_back(both(format_rate(work.bytes, "B"), "are declared",
                               "its work-items touch " + format_rate(touched, "B") + " of different ones", counts));
    }
    if (work.flops <= 0 || work.type == "uint") return out;
    // How many operations a division or a function is, its author decides.
    const bool calls =
        operations(counts, Operation::float_divide) > 0 || operations(counts, Operation::float_function) > 0;
    const double counted = counts.items * flops(counts);
    // Many say FLOP of integers, too. Those of addresses are among the counted.
    double integers = 0;
    for (const auto kind : {Operation::integer_add, Operation::integer_multiply, Operation::integer_divide})
        integers += counts.items * operations(counts, kind);
    if (work.flops < counted / most_apart || (!calls && work.flops > most_apart * (counted + integers)))
        out.push_back(both(format_rate(work.flops, "FLOP"), "are declared",
                           "the text asks for " + format_rate(counted, "FLOP") +
                               (integers > 0 ? " and " + format_rate(integers, "integer operation") + "s" : ""),
                           counts));
    return out;
}

}  // namespace cllab::explain
