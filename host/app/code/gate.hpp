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

// Figures of machine code, as JSON for other programs (tools/record.schema.json). Each figure has value, unit and
// origin, or says what would be enough to know it.
using Json = nlohmann::ordered_json;

/// In output order. `loop`: instructions per iteration of the innermost loop that does the most work; 0 without a loop.
inline constexpr std::string_view figure_names[]{"registers", "spills",       "private", "local", "code",
                                                 "occupancy", "instructions", "loops",   "loop"};

/// The figures of one kernel for one target by one compiler, with the instructions of each loop by class.
Json figures_of(const CellCode& code);

struct CodeReport {
    std::vector<Json> kernels;  ///< current code, as figures_of(); an unavailable target has one entry without a kernel
    /// The keys that name the kernel, then "figure" (absent: the kernel as a whole), "before", "now", "verdict",
    /// "reason".
    std::vector<Json> changes;
    Strings notes;         ///< sentences: another compiler, other options
    std::size_t same = 0;  ///< kernels whose code equals the saved one
};

/// Verdicts that fail the command, worst first.
inline constexpr std::string_view bad_verdicts[]{"failed", "worse", "not as expected", "missing", "unknown"};
bool is_bad(const Json& change);
/// "tr_cols for gfx900"; without a kernel, the name is empty.
std::string place_of(const Json& kernel);
bool same_place(const Json& a, const Json& b);

/// Saves and compares the figures of `isa`, and writes them for other programs.
class CodeGate {
public:
    /// Reads the file of --against and opens the outputs. If the invocation has no target or device, it gets the file's
    /// targets. Throws Error before anything is compiled.
    explicit CodeGate(IsaOptions& invocation);

    bool is_asked() const;  ///< whether figures are compared, saved or written as JSON
    bool prints() const;    ///< whether `isa` prints its usual page or table on standard output
    /// Compares and writes. `failed`: the exit status so far. Returns the final exit status.
    int finish(const std::vector<CellCode>& codes, int failed);

private:
    bool compares() const { return !invocation_.against.empty() || expect_; }
    bool has_stdout() const;  ///< standard output is used for a file
    void write(const CodeReport& report) const;

    const IsaOptions& invocation_;
    Outputs outputs_;
    std::vector<Json> before_;
    std::optional<kernelfile::Expression> expect_;
    std::map<std::string, std::pair<double, bool>> allowed_;  ///< allowed increase; true: relative to the value
};

// gate_output.cpp: the changes as text and files.

std::string markdown_of(const CodeReport& report);
std::string junit_of(const CodeReport& report);
/// SARIF 2.1.0, each result at its kernel's line.
std::string sarif_of(const CodeReport& report);
void print_changes(const CodeReport& report);

}  // namespace cllab::app
