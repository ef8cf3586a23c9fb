#include "inspect/accounting.hpp"

#include <charconv>

namespace cllab::inspect {

std::optional<double> bytes_of(const std::map<std::string, unsigned>& memory, std::string_view kind) {
    double sum = 0;
    for (const auto& [name, count] : memory) {
        if (!name.starts_with(kind) || name.size() <= kind.size() || name[kind.size()] != '_') continue;
        unsigned bits = 0;
        const char* from = name.data() + kind.size() + 1;
        const char* end = name.data() + name.size();
        if (std::from_chars(from, end, bits).ptr != end || bits == 0) return std::nullopt;
        sum += count * (bits / 8.0);
    }
    return sum;
}

std::optional<double> executions(const model::HotBlock& block, const DeclaredBytes& declared) {
    constexpr double alone = 0.9, tolerance = 0.02;
    const auto stored = bytes_of(block.memory, "store"), loaded = bytes_of(block.memory, "load");
    if (block.share < alone || !stored || !loaded || *stored <= 0 || declared.stored <= 0) return std::nullopt;
    const double times = declared.stored / *stored;
    if (times * *loaded < (1 - tolerance) * (declared.moved - declared.stored)) return std::nullopt;
    return times;
}

}  // namespace cllab::inspect
