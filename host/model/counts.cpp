#include "model/counts.hpp"

namespace cllab::model {

namespace {
constexpr double sector_bytes = 32;
}

const char* name(CountSource source) {
    switch (source) {
        case CountSource::simulated:
            return "simulated";
        case CountSource::counted:
            return "counted";
        case CountSource::sampled:
            return "sampled";
        case CountSource::declared:
            return "declared";
    }
    return "";
}

const char* name(Operation kind) {
    switch (kind) {
        case Operation::float_add:
            return "float_add";
        case Operation::float_multiply:
            return "float_multiply";
        case Operation::float_fma:
            return "float_fma";
        case Operation::float_divide:
            return "float_divide";
        case Operation::float_compare:
            return "float_compare";
        case Operation::float_function:
            return "float_function";
        case Operation::integer_add:
            return "integer_add";
        case Operation::integer_multiply:
            return "integer_multiply";
        case Operation::integer_divide:
            return "integer_divide";
        case Operation::conversion:
            return "conversion";
    }
    return "";
}

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
