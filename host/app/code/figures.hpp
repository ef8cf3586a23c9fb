// What machine code needs, as JSON for other programs (tools/code.schema.json): each figure with value, unit and
// origin, or with what would be enough to have one.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "app/code/isa_code.hpp"

namespace cllab::app {

using Json = nlohmann::ordered_json;

/// In their order. `loop`: instructions per iteration of the innermost loop that does the most work, 0 without one.
inline constexpr std::string_view figure_names[]{"registers", "spills",       "private", "local", "code",
                                                 "occupancy", "instructions", "loops",   "loop"};

/// One kernel for one target by one compiler, with the instructions of each loop by class.
Json figures_of(const CellCode& code);

}  // namespace cllab::app
