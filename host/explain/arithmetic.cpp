// Bounds of declared or counted arithmetic. The peak depends on the type and on the sampled vector width.
#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/bounds.hpp"
#include "model/work.hpp"

namespace cllab::explain {
namespace {

/// Bits of the widest vector in the sampled code; `scalar_bits` if all float instructions are scalar. 0: unknown.
unsigned widest_vector(const Record& record, unsigned scalar_bits) {
    const auto* hot = sampled_code(record);
    if (!hot) return 0;
    double share = 0;
    unsigned out = 0;
    for (const auto& block : hot->blocks) {
        share += block.share;
        if (block.of_class("call") > 0) return 0;  // the listing may not contain the called function
        if (block.of_class("scalar_float") > 0) out = std::max(out, scalar_bits);
        // Scalar code moves floats in vector registers.
        if (block.vector_bits() != 0u) out = std::max(out, block.widest_vector());
    }
    return share >= nearly_all_samples ? out : 0;
}

/// The rate of the faster kind of matrix instruction, for a type that only matrix units compute.
const Figure* matrix_peak(const Limits& limits, const std::string& type) {
    const auto *of_wave = limits.find("matrix.rate." + type), *of_four = limits.find("matrix.wgmma." + type);
    return of_wave && of_four ? (of_wave->value > of_four->value ? of_wave : of_four) : of_wave ? of_wave : of_four;
}

struct Peak {
    Figure figure;
    std::string name;
};

/// The peak for the vector width of the code; nullopt if the profile has none for its type. A processor executes at
/// most as many scalar as 128-bit instructions per second, so `scalar peak = 128-bit peak / elements per 128 bits`.
std::optional<Peak> peak_of(const Record& record, const Limits& limits) {
    const auto& type = record.work.type;
    const auto* peak = limits.find("fma.peak." + type);
    if (!peak) {
        peak = matrix_peak(limits, type);
        return peak ? std::optional(Peak{*peak, type + " matrix units"}) : std::nullopt;
    }
    const auto name = type + " arithmetic";
    const unsigned scalar_bits = type == "float" ? 32 : type == "double" ? 64 : 0;
    const auto bits = widest_vector(record, scalar_bits);
    const bool scalar = bits > 0 && bits == scalar_bits;
    const auto* narrow = limits.find(concat("fma.peak.", type, ".", scalar ? 128 : bits));
    if (!narrow) return Peak{*peak, name};
    Peak out{*narrow, scalar ? "scalar " + name : concat(name, " in vectors of up to ", bits, " bits")};
    if (scalar) {
        for (double* rate : {&out.figure.value, &out.figure.low, &out.figure.high}) *rate *= bits / 128.0;
        out.figure.name = "one element of the " + narrow->name;
    }
    return out.figure.value < peak->value ? out : Peak{*peak, name};
}

/// Bounds `work.flops` by the share `of_peak` of the peak of `work.type`.
void bound_flops(const Record& record, const Limits& limits, Explanation& out, double of_peak = 1) {
    const auto& work = record.work;
    if (work.flops <= 0) return out.leave_out("arithmetic", "no operations are declared");
    auto peak = peak_of(record, limits);
    if (!peak) return out.lacks(work.type + " arithmetic", work.type + " peak", "fma.peak." + work.type);
    if (of_peak < 1) {
        for (double* rate : {&peak->figure.value, &peak->figure.low, &peak->figure.high}) *rate *= of_peak;
        peak->figure.name = format_significant(100 * of_peak, 2) + " % of the " + peak->figure.name +
                            ", where a multiply-add counts as two";
    }
    auto bound = at_rate("arithmetic", peak->name, work.type, work.flops, is_whole_type(work.type) ? "op" : "FLOP",
                         peak->figure);
    // A unit executes whole work-groups, so the time rises in steps.
    const auto* units = limits.find("fma.units");
    const double rounds = units && work.groups > 0 ? std::ceil(work.groups / std::round(units->value)) *
                                                         std::round(units->value) / work.groups
                                                   : 1;
    if (rounds > alike) {
        const auto few =
            format_significant(work.groups, 3) + " groups on " + format_significant(units->value, 3) + " units";
        bound.id = "units";
        bound.name += " of " + few;
        bound.brief += "/units";
        scale(bound, rounds);
        bound.how += ", times " + format_significant(rounds, 3) + " because of " + few;
    }
    const double parallel = parallel_of(record, limits);
    out.bounds.push_back(
        on_available_cores(std::move(bound), record, parallel, std::max(1.0, rounds * parallel / limits.units)));
}

/// Work-items plus a GPU's inactive lanes, which take as long as active ones.
double lanes_of(const Record& record) {
    const auto& counts = *record.counts;
    return counts.items / (is_gpu(record) ? std::clamp(counts.lanes_active, 1 / widest_wave, 1.0) : 1);
}

/// Bounds the counted arithmetic of each type; each operation takes as long as a multiply-add, which is two FLOP. Low
/// end: float products are fused with sums, and only half of the integer products are executed.
void bound_counted_flops(const Record& record, const Limits& limits, Explanation& out) {
    const auto& counts = *record.counts;
    const auto before = out.bounds.size();
    for (const auto& [type, bits] : {std::pair{"float", 32u}, {"double", 64u}, {"half", 16u}, {"uint", 0u}}) {
        const double sums = operations(counts, Operation::float_add, bits),
                     products = operations(counts, Operation::float_multiply, bits),
                     both = operations(counts, Operation::float_fma, bits),
                     integers = per_launch(counts, {operations(counts, Operation::integer_multiply, 32)});
        const double number = bits > 0 ? lanes_of(record) * (sums + products + both) : integers,
                     least = bits > 0 ? lanes_of(record) * (std::max(sums, products) + both) : integers / 2;
        if (number <= 0) continue;
        auto typed = record;
        typed.work.type = type;
        typed.work.flops = number + (bits > 0 ? lanes_of(record) * both : 0);
        const auto known = out.bounds.size();
        bound_flops(typed, limits, out, typed.work.flops / (2 * number));
        for (auto& bound : std::span(out.bounds).subspan(known)) {
            bound.low *= least / number;
            bound.how += ", " + source_of(counts);
            lower_to_time(bound, record);
            bound.simulated = true;
        }
    }
    if (out.bounds.size() == before) out.leave_out("arithmetic", "no counted operation has a peak in the profile");
}

/// Whether the sampled code computes, on average, at most one float element per instruction.
bool is_scalar(const Record& record) {
    const auto* hot = sampled_code(record);
    if (!hot) return false;
    double elements = 0, instructions = 0, seen = 0;
    for (const auto& block : hot->blocks) {
        seen += block.share;
        if (block.instructions == 0) continue;
        const double passes = block.share / block.instructions;
        elements += passes * elements_of(block, "float");
        for (const auto& [name, count] : block.classes)
            if (name == "scalar_float" || name.starts_with("vector_")) instructions += passes * count;
    }
    return seen >= most_samples && elements > 0 && elements <= instructions;
}

/// Whether the hot code divides integers; always true on a GPU. A compiler may have moved the divisions out of the
/// loop. A division is sampled at the next instruction, so the block that ends where the hottest one begins counts,
/// too, if it is in the same loop.
bool divides_integers(const Record& record) {
    if (is_gpu(record)) return true;
    const auto* hottest = record.hot ? record.hot->hottest() : nullptr;
    return hottest && std::ranges::any_of(record.hot->blocks, [&](const HotBlock& block) {
               const bool seen_there = block.end == hottest->begin && block.loops == hottest->loops;
               return (&block == hottest || seen_there) && block.elements.contains("division");
           });
}

/// An operation with its own rate: its unit, its name, the rate's identifier. All are empty if it has no bound.
struct Slow {
    std::string unit, name, figure;
};

Slow slow_operation(const OperationCount& o, const Record& record) {
    const std::string bits = std::to_string(o.bits > 32 ? 64 : 32),
                      rate = o.bits == 64 ? "math.rate.double_" : "math.rate.";
    if (o.kind == Operation::float_function) return {"functions", o.function, rate + o.function + ".medium"};
    if (o.kind == Operation::float_divide)
        return {"division", (o.bits == 64 ? "double" : "float") + std::string(" division"), rate + "divide.medium"};
    if (o.kind == Operation::integer_divide && divides_integers(record))
        return {"division", bits + "-bit division", "integer.rate.divide." + bits};
    if (o.kind == Operation::integer_multiply && o.bits > 32)
        return {"integer", "64-bit multiplication", "integer.rate.multiply.64"};
    return {};
}

/// Functions, divisions and 64-bit products. The times of operations on one unit add up.
void bound_slow_operations(const Record& record, const Limits& limits, Explanation& out) {
    const double items = lanes_of(record) * uneven_share(record, limits);
    const bool scalar = is_scalar(record);
    std::map<std::string, std::pair<double, Bound>> sums;  // by unit: seconds of the slowest operation, and the sum
    for (const auto& o : record.counts->operations) {
        const auto slow = slow_operation(o, record);
        const double number = items * o.per_item.mean;
        if (slow.unit.empty() || number <= 0) continue;
        const auto* rate = limits.find(slow.figure);
        if (!rate) {
            out.lacks(slow.name, "rate of it", slow.figure);
            continue;
        }
        auto bound = at_rate(slow.unit, slow.name, slow.name, number, "op", *rate);
        // CPU functions may be vectorized; x86 has no vector division of integers.
        if (!is_gpu(record) && !slow.figure.starts_with("integer.rate.divide"))
            bound.low *= scalar ? scalar_call : 1 / most_floats_in_vector;
        if (!is_gpu(record) && record.counts->groups < limits.units) bound.low /= threads_of_core;
        bound.how += ", " + source_of(*record.counts);
        auto& [most, sum] = sums[slow.unit];
        if (bound.seconds > most) {  // it names the sum
            most = bound.seconds;
            std::swap(sum, bound);
        }
        sum.seconds += bound.seconds;
        sum.low += bound.low;
        sum.high += bound.high;
    }
    for (auto& [unit, one] : sums) {
        auto& sum = one.second;
        lower_to_time(sum, record);
        add_asked(record, on_available_cores(std::move(sum), record, parallel_of(record, limits)), out);
    }
}

}  // namespace

void bound_arithmetic(const Record& record, const Limits& limits, Explanation& out) {
    if (!has_counts(record)) return bound_flops(record, limits, out);
    bound_counted_flops(record, limits, out);
    bound_slow_operations(record, limits, out);
}

}  // namespace cllab::explain
