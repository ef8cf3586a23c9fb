// What machine code needs, as figures with unit and origin: what `isa` saves, compares, and gives to other programs.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/code/isa_code.hpp"

namespace cllab::app {

struct Figure {
    std::string name;  ///< one of figure_names
    std::optional<double> value;
    std::string unit;    ///< "byte per work-item"
    std::string origin;  ///< how it was obtained
    std::string enough;  ///< without a value: what would be enough to have one
};

/// All figures, in their order. `loop`: one iteration of the innermost loop that does the most work.
inline constexpr std::string_view figure_names[]{"registers", "spills",       "private", "local", "code",
                                                 "occupancy", "instructions", "loops",   "loop"};

struct LoopFigures {
    unsigned depth = 1, instructions = 0;
    std::map<std::string, unsigned> classes, memory;
};

/// One kernel for one target by one compiler.
struct KernelFigures {
    std::string kernel, target;
    std::string column;    ///< of --compiler, as it was asked for; empty without
    std::string compiler;  ///< that made the code, with its version
    std::string file;      ///< that has the kernel's text
    std::uint64_t line = 0;
    std::string options, fingerprint;
    std::vector<std::size_t> group;  ///< of the launch that occupancy is for; empty: unknown
    std::string status = "ok", reason, enough;
    std::vector<Figure> figures;  ///< none unless ok
    std::map<std::string, unsigned> classes;
    std::vector<LoopFigures> loops;
    int shown = -1;  ///< the loop of the figure `loop`

    const Figure* figure(std::string_view name) const;
    bool is_same(const KernelFigures& other) const {
        return kernel == other.kernel && target == other.target && column == other.column;
    }
    std::string place() const { return kernel + " for " + target + (column.empty() ? "" : " by " + column); }
};

KernelFigures figures_of(const CellCode& code);

/// `"record": "code"`; tools/code.schema.json describes it.
nlohmann::ordered_json to_json(const KernelFigures& figures);

/// What --save wrote. Throws Error(usage) for a file that is none.
std::vector<KernelFigures> read_figures(const std::string& path);
std::string saved_text(const std::vector<KernelFigures>& all);

}  // namespace cllab::app
