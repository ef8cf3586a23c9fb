#include "explain/modelled.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/cores.hpp"
#include "explain/counted.hpp"
#include "explain/place.hpp"

namespace cllab::explain {
namespace {

/// "4", "3.5 to 4".
std::string range_text(double low, double high) {
    const auto first = format_significant(low, 3), last = format_significant(high, 3);
    return first == last ? first : first + " to " + last;
}

}  // namespace

void add_modelled(const model::Record& record, const model::Limits& limits, model::Explanation& out) {
    if (!record.time || !record.hot || !record.hot->models) return;
    const auto& models = *record.hot->models;
    const auto* clock = limits.find("fma.clock");
    const auto* block = record.hot->hottest();
    const double passes = !block || block->instructions == 0 ? 0
                          : record.counts                    ? passes_of_hot_block(record)
                                                             : record.work.instructions / block->instructions;
    if (models.processors.empty())
        out.unmodelled = models.reason;
    else if (passes <= 0)
        out.unmodelled = "how often the hot block runs is not known";
    else if (!clock)
        out.unmodelled = "the profile has no clock";
    if (!out.unmodelled.empty()) return;
    const double parallel = parallel_of(record, limits);
    const double share = available_share(record, parallel), cores = share * parallel,
                 a_cycle = passes / (cores * clock->value);
    const auto range = [&](double model::CoreModel::*cycles) {
        const auto less = [=](const auto& a, const auto& b) { return a.*cycles < b.*cycles; };
        const auto [low, high] = std::ranges::minmax_element(models.processors, less);
        return std::pair(*low.*cycles, *high.*cycles);
    };
    const auto [ports_low, ports_high] = range(&model::CoreModel::ports);
    const auto [low, high] = range(&model::CoreModel::cycles);
    std::vector<std::string> names;
    for (const auto& m : models.processors) names.push_back(m.processor);
    out.modelled =
        model::ModelledTime{a_cycle * ports_low, a_cycle * ports_high, a_cycle * low, a_cycle * high,
                            models.by + " of " + join(names, ", ") + ": " + format_exact(block->instructions) +
                                " instructions of the hot block in " + range_text(ports_low, ports_high) +
                                " cycles by issue and ports, and in " + range_text(low, high) +
                                " with its dependencies, all that it loads in L1; " + format_significant(passes, 3) +
                                " times on " + (share < 1 ? format_significant(cores, 3) : format_exact(parallel)) +
                                (parallel > 1 ? " cores" : " core") + " at " + format_rate(clock->value, "Hz")};
}

}  // namespace cllab::explain
