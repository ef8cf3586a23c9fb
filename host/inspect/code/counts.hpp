// Instruction counts of a function and of each of its loops.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "inspect/code/cfg.hpp"
#include "inspect/code/code.hpp"
#include "model/hot.hpp"

namespace cllab::inspect {

struct InstructionSet;

struct Counts {
    unsigned instructions = 0;  ///< without padding
    std::uint64_t bytes = 0;
    std::map<std::string, unsigned> classes, memory;
    std::map<std::string, unsigned> marks;  ///< by InstructionSet::marks: "v", "s", "reuse"
    unsigned work = 0;                      ///< sum of Class::work
    unsigned mark(const std::string& key) const;
    void add(const InstructionSet& isa, const Instruction& instruction);
};

/// A block with the counts of its instructions and the loops around it; how hot it is, is not said.
model::HotBlock counted_block(const InstructionSet& isa, const Function& function, const FlowGraph& graph,
                              const Block& block);
/// Address behind instruction `i`. Where the text does not say how long it is, only its first byte is its own: samples
/// stand at first bytes.
std::uint64_t end_of(const Instruction& instruction);

/// "0x1a68" (PTX: "statement 17").
std::string address_text(const InstructionSet& isa, std::uint64_t address);
/// "vector_load 3, branch 1".
std::string listed(const std::map<std::string, unsigned>& counts);

struct LoopStats {
    std::string header;  ///< "0x1a68" (PTX: "statement 17")
    unsigned depth = 1;
    int parent = -1;
    bool innermost = true;
    Counts own{};                     ///< one iteration, without what inner loops do
    std::vector<std::size_t> body{};  ///< indices of those instructions, in order
};

struct FunctionStats {
    const InstructionSet* isa = nullptr;  ///< set where there is any instruction
    Function code;
    Counts total;
    std::vector<LoopStats> loops;
    /// The loop shown where there is room for one: of the innermost loops the one whose iteration does the most work.
    /// Work is the number of instructions; an x86 one counts once for each 128 bits of the widest register it names. -1
    /// without loops. That is its shape in the code; which loop the time goes to is not known here.
    int shown = -1;
    unsigned irreducible_edges = 0;
};

/// Counts of function `entry` of a listing, of the first function when it has no such name; of nothing when the
/// instruction set is not counted or the text has no instruction.
FunctionStats count_function(const InstructionSet* isa, std::string_view text, const std::string& entry);

nlohmann::json to_json(const FunctionStats& stats);

/// "k: 60 instructions, 272 bytes; v 20, s 30", then a line a loop, indented by its depth.
std::string summary(const FunctionStats& stats);

/// "innermost loop at 0x1a68": the one that is shown; "whole kernel (no loop)" without one.
std::string shown_place(const FunctionStats& stats);

/// "11 instructions, v 5, s 4: s_alu 2, v_alu 5 …": counts in one line.
std::string one_line_counts(const InstructionSet& isa, const Counts& counts);

}  // namespace cllab::inspect
