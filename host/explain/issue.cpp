// Instruction issue. CPU: instructions estimated from sampled code, at the measured rate. GPU: instructions counted by
// a profiler, and the busiest pipe.
#include <algorithm>

#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/bounds.hpp"

namespace cllab::explain {
namespace {

/// Operations per work-item, of the kinds that both the counts and the sampled blocks report.
std::vector<std::pair<const char*, double>> computed(const Counts& counts) {
    return {{"float", plain_floats(counts)},
            {"product", operations(counts, Operation::integer_multiply)},
            {"division", operations(counts, Operation::integer_divide)}};
}

double accesses(const Accesses& a) { return a.loads.mean + a.stores.mean; }

/// Whether a block has no slow instruction and hardly waits for global memory. Example: a CPU's loop over the
/// work-items of a work-group between two barriers.
bool waits_for_nothing(const HotBlock& block, const Counts& counts) {
    const double global = accesses(counts.global) + accesses(counts.constant),
                 near = accesses(counts.local) + accesses(counts.private_memory);
    const auto is_of_stack = [](const auto& access) { return access.first.starts_with("stack_"); };
    const bool is_slow =
        block.classes.contains("atomic") || block.classes.contains("call") || elements_of(block, "division") > 0;
    return !is_slow && (std::ranges::all_of(block.memory, is_of_stack) || global <= hardly_any * (global + near));
}

/// Executed instructions (0: unknown), and the share of samples that they were estimated from.
struct Executed {
    double instructions = 0, seen = 0;
};

/// `instructions = counted operations / operations per instruction`. Assumes that all blocks issue at one rate.
Executed executed_by_samples(const Record& record) {
    Executed out;
    if (!sampled_code(record)) return out;
    for (const auto& [what, number] : computed(*record.counts)) {
        // `each`: operations per instruction. Shares of samples: `with` in blocks that compute, `seen` in all used
        // blocks.
        double each = 0, with = 0, seen = 0;
        for (const auto& block : record.hot->blocks) {
            const double some = elements_of(block, what);
            if (block.instructions == 0 || (some <= 0 && !waits_for_nothing(block, *record.counts))) continue;
            each += block.share * some / block.instructions;
            with += some > 0 ? block.share : 0;
            seen += block.share;
        }
        const bool stands_for_all = seen >= most_samples && with >= few_that_compute * seen;
        const double instructions = stands_for_all ? record.counts->items * number / each : 0;
        if (instructions > out.instructions) out = {instructions, seen};
    }
    return out;
}

/// CPU instructions at the issue rate of all cores, or of as many cores as there are work-groups. `how`: source of the
/// number.
Bound at_issue_rate(const Record& record, const Limits& limits, double instructions, const Figure& rate,
                    const std::string& how) {
    auto bound = at_rate("issue", "instruction issue", "issue", instructions, "instr", rate);
    bound.how += how;
    bound.low *= fused;
    const double groups = record.work.groups;
    if (groups > 0 && groups < limits.units) {
        scale(bound, limits.units / groups);
        bound.how += ", on " + format_exact(groups) + " of " + std::to_string(limits.units) + " cores";
        bound.low /= threads_of_core;
    }
    return on_available_cores(std::move(bound), record, parallel_of(record, limits));
}

/// CPU: instructions from the sampled code and the counted operations.
void bound_by_operations(const Record& record, const Limits& limits, Explanation& out) {
    const auto* rate = limits.find("issue.rate");
    if (is_gpu(record) || !record.hot || !record.hot->hottest()) return;
    if (!rate) return out.lacks("instruction issue", "instruction rate", "issue.rate");
    const auto executed = executed_by_samples(record);
    if (executed.instructions <= 0)
        return out.leave_out("instruction issue", "how often the hot block runs is not known");
    auto bound = at_issue_rate(
        record, limits, executed.instructions, *rate,
        ", from the hot code's instructions per operation, and the operations " + source_of(*record.counts));
    bound.low *= executed.seen;
    add_asked(record, std::move(bound), out);
}

/// CPU: instructions from the sampled code and the declared bytes, or else the size of the buffers.
void bound_by_bytes(const Record& record, const Limits& limits, Explanation& out) {
    if (!record.counters.empty())
        return out.leave_out("instruction issue",
                             "the counters cover one launch, and the time covers one step or several launches");
    const double instructions = record.work.instructions;
    if (instructions <= 0) return out.leave_out("instruction issue", "executed instructions are not counted");
    const std::string from = "from sampled instructions and the cell's bytes";
    const auto* rate = limits.find("issue.rate");
    if (!rate)
        return out.lacks("instruction issue",
                         concat("instruction rate for the ", format_rate(instructions, "instr"), " (", from, ")"),
                         is_gpu(record) ? "" : "issue.rate");
    add_asked(record, at_issue_rate(record, limits, instructions, *rate, ", " + from), out);
}

/// What NVIDIA's pipes execute. Source: Nsight Compute, kernel profiling guide, "pipelines".
constexpr Entry<std::string_view, const char*> pipe_contents[] = {{"adu", "barriers, branches, constants"},
                                                                  {"alu", "integers, logic, comparisons"},
                                                                  {"fma", "float arithmetic"},
                                                                  {"fmaheavy", "float and integer products"},
                                                                  {"fp64", "double arithmetic"},
                                                                  {"lsu", "loads and stores"},
                                                                  {"xu", "functions, conversions"}};

/// The busiest pipe, as the profiler's percentage of that pipe's peak.
void bound_pipe(const Record& record, Explanation& out) {
    constexpr std::string_view begin = "sm__inst_executed_pipe_", end = ".avg.pct_of_peak_sustained_active";
    const Counter* busiest = nullptr;
    for (const auto& c : record.counters)
        if (c.name.starts_with(begin) && c.name.ends_with(end) && (!busiest || c.value > busiest->value)) busiest = &c;
    if (!busiest) return out.leave_out("pipes of the units", "their utilization was not counted");
    const auto pipe = busiest->name.substr(begin.size(), busiest->name.size() - begin.size() - end.size());
    const double time = record.time->median,
                 seconds = std::clamp(busiest->value / 100, 0.0, 1.0) *
                           std::min(counter_of(record, "gpu__time_duration.sum").value_or(time), time);
    const std::string contents = value_of(pipe_contents, std::string_view(pipe), "");
    const auto title = "instructions of pipe " + pipe + (contents.empty() ? "" : " (" + contents + ")");
    out.bounds.push_back({"pipe", title, pipe, seconds, seconds, seconds,
                          format_significant(busiest->value, 3) + " % of that pipe's peak" + by_ncu, busiest->name});
}

/// GPU: warp instructions at the measured issue rate of multiply-adds.
void bound_by_counters(const Record& record, const Limits& limits, Explanation& out) {
    const auto executed = counter_of(record, "smsp__inst_executed.sum");
    const auto *peak = limits.find("fma.peak.float"), *width = limits.find("divergence.width.full");
    if (!executed) return out.leave_out("instruction issue", "the executed instructions were not counted");
    if (!peak) return out.lacks("instruction issue", "float peak", "fma.peak.float");
    if (!width) return out.lacks("instruction issue", "SIMT width");
    const double rate = peak->value / (2 * width->value);
    const double seconds = *executed / rate;
    out.bounds.push_back({"issue", "instruction issue", "issue", seconds, seconds / issue_beside_multiply_adds, seconds,
                          format_significant(*executed, 4) + " warp instructions" + by_ncu + ", at " +
                              format_rate(rate, "instr/s") + " (" + peak->title() + ")",
                          peak->id});
}

}  // namespace

double plain_floats(const Counts& counts, unsigned bits) {
    double all = 0;
    for (const auto& o : counts.operations)
        if (o.kind <= Operation::float_divide && (bits == 0 || o.bits == bits)) all += o.per_item.mean;
    return all;
}

const Hot* sampled_code(const Record& record) {
    return record.hot && record.hot->evidence == Hot::sampled ? &*record.hot : nullptr;
}

double elements_of(const HotBlock& block, const char* what) {
    const auto found = block.elements.find(what);
    return found == block.elements.end() ? 0 : found->second;
}

double items_at_a_time(const Record& record) {
    const auto* block = record.hot ? record.hot->hottest() : nullptr;
    return std::max(32u, block ? block->widest_vector() : 0) / 32.0;
}

// A compiler may peel work-items off the loop over a work-group, so copies of the hot block count as the block.
double passes_of_hot_block(const Record& record) {
    const auto* block = sampled_code(record) ? record.hot->hottest() : nullptr;
    if (!block) return 0;
    if (record.work.instructions > 0 && block->instructions > 0) return record.work.instructions / block->instructions;
    const auto is_copy = [&](const HotBlock& other) {
        return other.instructions == block->instructions && other.elements == block->elements;
    };
    if (!record.counts || share_of(*record.hot, is_copy) < most_samples) return 0;
    double out = 0;
    for (const auto& [what, number] : computed(*record.counts))
        if (const double elements = elements_of(*block, what); elements > 0)
            out = std::max(out, record.counts->items * number / elements);
    if (const auto chase = block->memory.find(HotBlock::index_chain); out <= 0 && chase != block->memory.end())
        out = record.counts->items * record.counts->path.loads / chase->second;
    return out;
}

void bound_issue(const Record& record, const Limits& limits, Explanation& out) {
    if (has_counters(record)) {
        bound_pipe(record, out);
        return bound_by_counters(record, limits, out);
    }
    // `work.instructions` has the instructions of the hottest block only, in as many passes as the bytes need. If this
    // block has less than `most_samples` of the samples, the number is a lower limit.
    const auto* hottest = record.hot ? record.hot->hottest() : nullptr;
    const bool least = hottest && hottest->share < most_samples;
    if (has_counts(record) &&
        (record.work.instructions <= 0 || (least && executed_by_samples(record).instructions > 0)))
        return bound_by_operations(record, limits, out);
    bound_by_bytes(record, limits, out);
}

}  // namespace cllab::explain
