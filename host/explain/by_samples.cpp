// What a CPU's samples name: a bound that is less than most of the time, or loads and stores that nothing has a bound
// of.
#include <algorithm>

#include "core/units.hpp"
#include "explain/amounts.hpp"
#include "explain/limiter.hpp"

namespace cllab::explain {
namespace {

/// Part of a CPU's samples in blocks that do what the bound counts; 0 where that is not known.
double sampled_share(const Record& record, const Bound& bound) {
    if (is_gpu(record) || !record.hot || record.hot->evidence != Hot::sampled) return 0;
    if (bound.id == "issue") {
        if (record.work.instructions > 0) return record.hot->hottest()->share;
        const auto executed = executed_by_samples(record);
        return executed.joined < 1 ? 0 : executed.seen;
    }
    const auto& id = bound.id;
    const auto loads = [](const auto& access) { return access.first.starts_with("load"); };
    const auto does_it = [&](const HotBlock& block) {
        if (id == "latency") return std::ranges::any_of(block.memory, loads);
        if (id.ends_with("atomics")) return block.classes.contains("atomic");
        if (id == "functions") return elements_of(block, "float") > 0 || block.classes.contains("call");
        return id == "division" && elements_of(block, id.c_str()) > 0;
    };
    return share_of(*record.hot, does_it);
}

/// Part of the samples in code that loads or stores, and does nothing else that takes long.
double samples_at_accesses(const Hot& hot) {
    const auto is_no_stack = [](const auto& access) {
        return !access.first.starts_with("stack_") && access.first != HotBlock::index_chain;
    };
    return share_of(hot, [&](const HotBlock& block) {
        return std::ranges::any_of(block.memory, is_no_stack) && !does_something_slow(block);
    });
}

/// What the arithmetic of the work-items takes where each waits for its own chain, and a core looks no farther ahead
/// than half of Skylake's 224 instructions: two threads share them, and cores since then look farther.
double chains_at_the_most(const Record& record, const Limits& limits, double instructions) {
    constexpr double looks_ahead = 112;
    const double items = record.counts->items / items_at_a_time(record);
    return std::min(1.0, instructions / items / looks_ahead) * items / parallel_of(record, limits) *
           seconds_of_arithmetic(record, limits);
}

}  // namespace

bool named_by_samples(const Record& record, const Explanation& e) {
    return record.counts && !e.bounds.empty() && e.bounds.front().seconds >= busy * record.time->median &&
           first_is_clear(e.bounds) && sampled_share(record, e.bounds.front()) >= most_samples;
}

std::optional<Bound> accesses_as_limiter(const Record& measured, const Limits& limits, const Explanation& e) {
    if (is_gpu(measured) || !measured.counts || !measured.hot || measured.hot->evidence != Hot::sampled ||
        measured.work.launches != 1)
        return std::nullopt;
    const auto record = with_counted_work(measured);
    // Branches that work-items take differently are mispredicted, which nothing here bounds. What a function of the
    // library executes is not counted, and what has no peak is no bound.
    constexpr double nearly_all = 0.9, at_most = 0.5;
    const auto& counts = *record.counts;
    if (counts.lanes_active < nearly_all || global_share(counts) < nearly_all ||
        operations(counts, Operation::float_function) > 0 || !e.missing.empty())
        return std::nullopt;
    const double share = samples_at_accesses(*record.hot);
    if (share < nearly_all) return std::nullopt;
    const auto place = far_place(record, limits);
    if (!place) return std::nullopt;
    double inside = record.time->median;
    for (const auto& b : e.bounds)
        if (b.id == "launch" || b.id == "groups") inside -= b.seconds;
    const double known =
        record.work.instructions > 0 ? record.work.instructions : executed_by_samples(record).instructions;
    const double instructions = std::max(known, counts.items * all_operations(counts) / items_at_a_time(record));
    double issue = 0, others = chains_at_the_most(record, limits, instructions);
    for (const auto& b : e.bounds) {
        if (is_level(b.id) || b.id == "launch" || b.id == "groups") continue;
        auto& most = b.id == "issue" ? issue : others;
        most = std::max(most, b.seconds);
    }
    // Of code that nobody knows the number of executed instructions of, they may be what takes the time.
    if (issue > 0) issue *= instructions / known;
    if (issue <= 0 || std::max(issue, others) > at_most * inside) return std::nullopt;
    const auto percent = [&](double seconds) {
        return format_significant(100 * seconds / record.time->median, 2) + " %";
    };
    // How much of a level that others use too holds its data is not known, so that none but memory is named.
    const auto id = place->memory ? "memory" : level_id(place->level),
               name = place->memory ? "memory accesses" : "accesses beyond " + level_name(place->level - 1);
    return Bound{id,
                 name,
                 name,
                 share * inside,
                 std::max(0.0, share * inside - issue - others),  // where none of it goes on beside the others
                 inside,
                 format_significant(100 * share, 2) +
                     " % of the samples lie where it loads and stores; instructions take " + percent(issue) +
                     " of the time, and nothing else that is known takes more than " + percent(others),
                 ""};
}

}  // namespace cllab::explain
