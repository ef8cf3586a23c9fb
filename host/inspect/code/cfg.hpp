// Control-flow graph of a function and its natural loops (Aho, Lam, Sethi and Ullman, 9.6; dominators after Cooper,
// Harvey and Kennedy 2001).
#pragma once

#include <cstddef>
#include <vector>

#include "inspect/code/code.hpp"

namespace cllab::inspect {

struct Block {
    std::size_t first = 0, end = 0;  ///< instructions [first, end)
    std::vector<std::size_t> successors;
    std::vector<std::size_t> loops{};  ///< around it, outermost first
};

struct Loop {
    std::size_t header = 0;           ///< block
    std::vector<std::size_t> blocks;  ///< ascending, with those of inner loops
    int parent = -1;                  ///< index of the loop around this one
    unsigned depth = 1;               ///< 1 is outermost
};

struct FlowGraph {
    std::vector<Block> blocks;
    std::vector<std::size_t> reached;  ///< blocks that the first leads to, ascending
    std::vector<Loop> loops;           ///< by address of the header, outer before inner
    unsigned irreducible_edges = 0;  ///< jumps back into the middle of a cycle: a loop with two entries, not in `loops`
};

/// Only code reachable from the first instruction makes loops, so the padding behind a kernel never does.
FlowGraph analyse_flow(const Function& function);

}  // namespace cllab::inspect
