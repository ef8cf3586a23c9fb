// Two instruction sequences side by side, aligned.
#pragma once

#include <string>
#include <vector>

#include "inspect/code/code.hpp"

namespace cllab::inspect {

struct DiffLine {
    /// ' ' the same text, '~' the same mnemonic with other operands, '<' only left, '>' only right.
    char mark = ' ';
    std::string left, right;
};

/// Least-cost alignment (Needleman and Wunsch 1970): equal text costs nothing, equal mnemonics 1, a line alone 2;
/// different mnemonics are never put beside each other. Sequences past 3000 instructions are cut, with a last line that
/// says so.
std::vector<DiffLine> align(const std::vector<Instruction>& left, const std::vector<Instruction>& right);

}  // namespace cllab::inspect
