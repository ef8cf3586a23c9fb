#include "inspect/binary/intel_cpu_code.hpp"

#include "inspect/code/code.hpp"

namespace cllab::inspect {
namespace {

/// Work-items that a function named "_ZGVeN16uu_k" handles at once: instruction set, N for no mask, the number, one
/// letter a parameter. 0 for any other name.
unsigned lanes_of(std::string_view symbol, const std::string& kernel) {
    if (!symbol.starts_with("_ZGV") || !symbol.ends_with("_" + kernel)) return 0;
    symbol.remove_suffix(kernel.size() + 1);
    const auto mask = symbol.find('N', 4);
    if (mask == std::string_view::npos || symbol.find('_', 1) != std::string_view::npos) return 0;
    return static_cast<unsigned>(number_at(symbol, mask + 1));
}

}  // namespace

IntelCpuCode choose_intel_cpu_code(const Elf& object, const std::string& kernel, const LaunchSize& launch) {
    for (const auto& symbol : object.symbols) {
        const unsigned lanes = lanes_of(symbol.name, kernel);
        if (lanes == 0) continue;
        const std::string width = std::to_string(lanes) + " work-items at a time";
        if (launch.local.dims == 0)
            return {std::string(symbol.name), "the function of " + width +
                                                  "; the driver chose the local size, and where " +
                                                  std::to_string(lanes) + " does not divide it, '" + kernel + "' ran"};
        if (launch.local.size[0] % lanes == 0) return {std::string(symbol.name), "the function of " + width};
        return {kernel, "the function of one work-item at a time: " + std::to_string(lanes) +
                            " does not divide the local size " + launch.local.text()};
    }
    return {kernel, {}};
}

}  // namespace cllab::inspect
