#include "model/counts.hpp"

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

// Not beside the other names: Oclgrind's plugin takes this file alone.
const char* name(Operation kind) { return name_in(operation_names, kind); }
std::optional<Operation> operation_from(std::string_view text) { return named<Operation>(operation_names, text); }

double per_launch(const Counts& counts, const Amount& amount) { return amount.mean * counts.items; }

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

double flops(const Counts& counts, unsigned bits) {
    return operations(counts, Operation::float_add, bits) + operations(counts, Operation::float_multiply, bits) +
           2 * operations(counts, Operation::float_fma, bits) + operations(counts, Operation::float_divide, bits) +
           operations(counts, Operation::float_function, bits);
}

double asked_bytes(const Counts& counts) {
    return counts.global.load_bytes.mean + counts.global.store_bytes.mean + counts.constant.load_bytes.mean;
}

double moved_bytes(const Counts& counts) {
    return sector_bytes * (counts.reads.sectors.mean + counts.writes.sectors.mean);
}

double distinct_bytes(const Counts& counts) {
    if (counts.footprint.empty() || !(counts.counted_items > 0)) return 0;
    return sector_bytes * counts.footprint.back().sectors / counts.counted_items;
}

}  // namespace cllab::model
