#include "app/code/isa_live.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "inspect/code/liveness.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::app {

std::string LiveCode::beside(std::uint64_t address) const {
    const auto found = columns.find(address);
    return found == columns.end() ? std::string(columns.empty() ? 0 : columns.begin()->second.size(), ' ')
                                  : found->second;
}

LiveCode live_code(const CellCode& code) {
    LiveCode out;
    if (!code.counts.isa) {
        out.summary = "live registers: unknown: cllab has no listing to read";
        return out;
    }
    const auto& function = code.counts.code;
    const auto live = inspect::live_registers(*code.counts.isa, function);
    out.summary = inspect::live_summary(*code.counts.isa, function, live);
    if (live.kinds.empty()) return out;
    const auto width = [](const auto& kind) { return std::max<std::size_t>(5, kind.label.size() + 2); };
    for (const auto& kind : live.kinds) out.head += fmt::format("{:>{}}", kind.label, width(kind));
    out.head += "  live, while the instruction executes\n";
    for (std::size_t i = 0; i < function.instructions.size(); ++i) {
        std::string line;
        for (const auto& kind : live.kinds) line += fmt::format("{:>{}}", kind.counts[i], width(kind));
        out.columns[function.instructions[i].address] = line + " ";
    }
    return out;
}

}  // namespace cllab::app
