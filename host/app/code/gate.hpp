// Compares machine code with saved figures and with conditions.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/code/isa_code.hpp"
#include "app/files/outputs.hpp"
#include "kernelfile/expression.hpp"

namespace cllab::app {

// What machine code needs, as JSON for other programs (tools/record.schema.json): each figure with value, unit and
// origin, or with what would be enough to have one.
using Json = nlohmann::ordered_json;

/// In their order. `loop`: instructions per iteration of the innermost loop that does the most work, 0 without one.
inline constexpr std::string_view figure_names[]{"registers", "spills",       "private", "local", "code",
                                                 "occupancy", "instructions", "loops",   "loop"};

/// One kernel for one target by one compiler, with the instructions of each loop by class.
Json figures_of(const CellCode& code);

struct CodeReport {
    std::vector<Json> kernels;  ///< today's, as figures_of(); a target that is not here has one of no kernel
    /// What names the kernel, then "figure" (none: the kernel as a whole), "before", "now", "verdict", "reason".
    std::vector<Json> changes;
    Strings notes;         ///< sentences: another compiler, other options
    std::size_t same = 0;  ///< kernels whose code is the one of the file
};

/// Verdicts that fail the command, worst first.
inline constexpr std::string_view bad_verdicts[]{"failed", "worse", "not as expected", "missing", "unknown"};
bool is_bad(const Json& change);
/// "tr_cols for gfx900"; "" of no kernel.
std::string place_of(const Json& kernel);
bool same_place(const Json& a, const Json& b);

/// What `isa` does with figures: saves, compares, and writes them for other programs.
class CodeGate {
public:
    /// Reads the file of --against, whose targets are those of an invocation without any; opens the outputs. Throws
    /// Error before anything is compiled.
    explicit CodeGate(IsaOptions& invocation);

    bool is_asked() const;  ///< for anything but the page
    bool prints() const;    ///< standard output has the page, or the table of figures
    /// Compares and writes. `failed`: the exit status so far. Gives the whole one.
    int finish(const std::vector<CellCode>& codes, int failed);

private:
    bool compares() const { return !invocation_.against.empty() || expect_; }
    bool has_stdout() const;  ///< a file does
    void write(const CodeReport& report) const;

    const IsaOptions& invocation_;
    Outputs outputs_;
    std::vector<Json> before_;
    std::optional<kernelfile::Expression> expect_;
    std::map<std::string, std::pair<double, bool>> allowed_;  ///< how much more; true: of the value
};

// gate_output.cpp: the changes as pages and files.

std::string markdown_of(const CodeReport& report);
std::string junit_of(const CodeReport& report);
/// SARIF 2.1.0, each result at its kernel's line.
std::string sarif_of(const CodeReport& report);
void print_changes(const CodeReport& report);

}  // namespace cllab::app
