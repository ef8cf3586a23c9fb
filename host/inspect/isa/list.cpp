#include "inspect/isa/list.hpp"

#include <algorithm>

namespace cllab::inspect::isa {

// Listings that are kept and not counted: another processor's host code, and what a compiler hands on.
const InstructionSet host{.name = "host"};
const InstructionSet spirv{.name = "spirv"};
const InstructionSet llvm_ir{.name = "llvm-ir"};

const std::vector<const InstructionSet*>& all() {
#define CLLAB_ADDRESS(name) &name,
    static const std::vector<const InstructionSet*> sets{CLLAB_INSTRUCTION_SETS(CLLAB_ADDRESS)};
#undef CLLAB_ADDRESS
    return sets;
}

const InstructionSet* named(std::string_view name) {
    const auto found = std::ranges::find_if(all(), [&](const auto* set) { return set->name == name; });
    return found == all().end() ? nullptr : *found;
}

const InstructionSet* of(Kind kind) {
    for (const auto* set : all())
        if (std::ranges::find(set->kinds, kind) != set->kinds.end()) return set;
    return nullptr;
}

}  // namespace cllab::inspect::isa
