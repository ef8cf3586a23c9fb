#include "model/counts.hpp"

#include "core/table.hpp"

namespace cllab::model {

namespace {
constexpr double sector_bytes = 32;

constexpr Entry<Operation, const char*> operation_names[] = {{Operation::float_add, "float_add"},
                                                             {Operation::float_multiply, "float_multiply"},
                                                             {Operation::float_fma, "float_fma"},
                                                             {Operation::float_divide, "float_divide"},
                                                             {Operation::float_compare, "float_compare"},
                                                             {Operation::float_function, "float_function"},
                                                             {Operation::integer_add, "integer_add"},
                                                             {Operation::integer_multiply, "integer_multiply"},
                                                             {Operation::integer_divide, "integer_divide"},
                                                             {Operation::conversion, "conversion"}};
}

const char* name(Operation kind) { return value_of(operation_names, kind); }
std::optional<Operation> operation_from(std::string_view text) { return key_of(operation_names, text); }

double per_launch(const Counts& counts, const Amount& amount) { return amount.mean * counts.items; }

double operations(const Counts& counts, Operation kind, unsigned bits) {
    double sum = 0;
    for (const auto& o : counts.operations)
        if (o.kind == kind && (bits == 0 || o.bits == bits)) sum += o.per_item.mean;
    return sum;
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
