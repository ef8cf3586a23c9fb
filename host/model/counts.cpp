#include "model/counts.hpp"

#include <cmath>

#include "core/table.hpp"

namespace cllab::model {

namespace {

constexpr double sector_bytes = 32;

// In the order of the enumeration.
constexpr std::array operation_names{"float_add",      "float_multiply", "float_fma",   "float_divide",
                                     "float_compare",  "float_function", "integer_add", "integer_multiply",
                                     "integer_divide", "conversion"};
static_assert(name_in(operation_names, Operation::conversion));

}  // namespace

// Apart from the other names, because Oclgrind's plugin compiles only this file.
const char* name(Operation kind) { return name_in(operation_names, kind); }
std::optional<Operation> operation_from(std::string_view text) { return named<Operation>(operation_names, text); }

double per_launch(const Counts& counts, const Amount& amount) { return amount.mean * counts.items; }

double items_per_wave(const Counts& counts) {
    const double waves = std::ceil(counts.group_items / counts.wave);
    return waves > 0 ? counts.group_items / waves : counts.wave;
}

Amount sum(const Amount& a, const Amount& b, double times) {
    return {.mean = a.mean + times * b.mean,
            .low = a.low + times * b.low,
            .high = a.high + times * b.high,
            .margin = a.margin + times * b.margin,
            .known = a.known && b.known};
}

double operations(const Counts& counts, Operation kind, unsigned bits) {
    double sum = 0;
    for (const auto& o : counts.operations)
        if (o.kind == kind && (bits == 0 || o.bits == bits)) sum += o.per_item.mean;
    return sum;
}

double all_operations(const Counts& counts) {
    double out = 0;
    for (const auto& o : counts.operations) out += o.per_item.mean;
    return out;
}

Amount flop_amount(const Counts& counts, unsigned bits) {
    Amount out;
    for (const auto& o : counts.operations)
        if (o.kind <= Operation::float_function && o.kind != Operation::float_compare && (bits == 0 || o.bits == bits))
            out = sum(out, o.per_item, o.kind == Operation::float_fma ? 2 : 1);
    return out;
}

double flops(const Counts& counts, unsigned bits) { return flop_amount(counts, bits).mean; }

namespace {

Amount of_buffers(const Counts& counts, Amount amount) {
    amount.known = amount.known && counts.image_accesses.known && counts.image_accesses.high <= 0;
    return amount;
}

}  // namespace

Amount asked_amount(const Counts& counts) {
    const auto read = sum(counts.global.load_bytes, counts.constant.load_bytes);
    return of_buffers(counts, sum(read, counts.global.store_bytes));
}

double asked_bytes(const Counts& counts) { return asked_amount(counts).mean; }

Amount moved_amount(const Counts& counts) {
    const auto sectors = sum(counts.reads.sectors, counts.writes.sectors);
    return of_buffers(counts, sum({}, sectors, sector_bytes));
}


std::optional<double> distinct_bytes(const Counts& counts) {
    const bool whole = counts.counted_groups >= counts.groups && of_buffers(counts, counts.global.loads).known;
    return whole && !counts.footprint.empty() ? std::optional(counts.footprint.back().bytes) : std::nullopt;
}

void forget_means(Counts& c) {
    c.bounded = false;
    const auto forget = [](auto&... amounts) { ((amounts.known = false), ...); };
    for (auto& o : c.operations) forget(o.per_item);
    for (auto* a : {&c.global, &c.constant, &c.local, &c.private_memory})
        forget(a->loads, a->stores, a->load_bytes, a->store_bytes);
    for (auto* r : {&c.reads, &c.writes}) forget(r->requests, r->sectors, r->least_sectors);
    for (auto* r : {&c.local_reads, &c.local_writes}) forget(r->requests, r->ways, r->least_ways);
    for (auto* a : {&c.global_atomics, &c.local_atomics}) forget(a->number, a->requests, a->turns);
    forget(c.image_accesses, c.instructions, c.issued, c.barriers);
}

}  // namespace cllab::model
