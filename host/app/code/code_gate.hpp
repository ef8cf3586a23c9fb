// What `isa` does with the figures of code: saves, compares, and writes them for other programs.
#pragma once

#include <vector>

#include "app/code/gate.hpp"
#include "app/files/outputs.hpp"

namespace cllab::app {

class CodeGate {
public:
    /// Reads the file of --against, whose targets are those of an invocation without any, and checks what --expect and
    /// --allow say. Throws Error before anything is compiled.
    explicit CodeGate(IsaOptions& invocation);

    bool is_asked() const;  ///< for anything but the page
    bool prints() const;    ///< standard output has the page, or the table of figures
    /// Compares and writes. `left_out`: targets without code; `failed`: the exit status so far. Gives the whole one.
    int finish(const std::vector<CellCode>& codes, const std::vector<CellCode>& left_out, int failed);

private:
    const IsaOptions& invocation_;
    Outputs outputs_;
    std::vector<KernelFigures> before_;
    Allowances allowed_;
};

/// A row per kernel, target and figure, a column per compiler; * where it differs from the column before.
void print_by_compiler(const std::vector<CellCode>& codes);

}  // namespace cllab::app
