#include "model/experiment.hpp"

#include "core/random.hpp"

namespace cllab::model {
namespace {

/// The eight poison bytes of one aligned group, low byte first.
std::uint64_t poison_word(std::uint64_t seed, std::size_t group) {
    return mix64(mix64(seed) + static_cast<std::uint64_t>(group) * 0x9E3779B97F4A7C15ull);
}

}  // namespace

std::byte poison_byte(std::uint64_t seed, std::size_t index) {
    return static_cast<std::byte>(poison_word(seed, index / 8) >> (index % 8 * 8) & 0xFF);
}

void poison(std::span<std::byte> bytes, std::uint64_t seed, std::size_t at) {
    fill_mixed(bytes, mix64(seed) + at / 8 * 0x9E3779B97F4A7C15ull);
}

bool Buffers::untouched(std::string_view name, std::size_t i) const {
    const auto bytes = as<std::byte>(name);
    if (i >= bytes.size())
        throw Error(Blame::result, "check asks for byte ", i, " of buffer '", name, "', which has ", bytes.size());
    return bytes[i] == poison_byte(poison_seed, i);
}

std::optional<Units> units_of(const Experiment& experiment, const Setup& setup) {
    for (const auto& metric : experiment.metrics) {
        const auto unit = metric.unit.size() > 2 && metric.unit.ends_with("/s")
                              ? metric.unit.substr(0, metric.unit.size() - 2)
                              : std::string();
        if (unit.empty() || unit == "op" || unit == "B" || unit == "FLOP") continue;
        if (const double units = metric.compute(setup, 1); units > 0) return Units{unit, units};
    }
    return std::nullopt;
}

}  // namespace cllab::model
