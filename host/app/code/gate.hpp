// Machine code against what was saved of it, and against what is asked of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/code/figures.hpp"
#include "app/commandline/options.hpp"

namespace cllab::app {

/// In the order of what is looked at first.
enum class CodeVerdict { failed, worse, broken, missing, unknown, other, better, allowed, added };
const char* name(CodeVerdict verdict);

/// One figure that is not what it was or should be, or a kernel that is not there.
struct CodeChange {
    KernelFigures kernel;  ///< today's; where it is missing that of the file
    std::string figure;    ///< empty: the kernel as a whole
    std::string before, now;
    CodeVerdict verdict = CodeVerdict::other;
    std::string why;  ///< a sentence; empty where the numbers say all
};

/// How much more a figure may be: 0.02 of it, or 4.
struct Allowance {
    double amount = 0;
    bool of_value = false;
};
using Allowances = std::map<std::string, Allowance>;
/// Of "code=5%,registers=4", over the defaults. Throws Error(usage).
Allowances allowances_of(const std::string& text);

struct CodeReport {
    std::vector<KernelFigures> kernels;  ///< today's, those that have no code too
    std::vector<CodeChange> changes;     ///< worst first
    std::vector<std::string> notes;      ///< sentences: another compiler, other options
    std::string against, expected;       ///< the file and the expression; empty: not asked for
    std::size_t same = 0;                ///< kernels whose code is the one of the file
};

/// Adds what changed since `before`.
void compare_code(CodeReport& report, const std::vector<KernelFigures>& before, const Allowances& allowed);

/// Adds the kernels for which the expression over figure_names does not hold. Throws Error(usage) for what is no
/// expression.
void expect_of_code(CodeReport& report, const std::string& expression);

/// 1 for code that does not build, 4 for what is worse or not as expected, 5 for what is missing or unknown, 0 else.
int exit_status_of(const CodeReport& report);

// gate_output.cpp

/// The changes, or without a comparison the figures, as --markdown and --junit have them.
std::string markdown_of(const CodeReport& report);
std::string junit_of(const CodeReport& report);
/// SARIF 2.1.0, each result at its kernel's line.
std::string sarif_of(const CodeReport& report);
/// A line per kernel, with what changed of it, and one for the whole.
std::vector<std::string> json_of(const CodeReport& report);
/// For a terminal.
void print_changes(const CodeReport& report);

}  // namespace cllab::app
