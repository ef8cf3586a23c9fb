#include "app/comparison.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/text.hpp"
#include "core/units.hpp"
#include "inspect/diff.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::app {
namespace {

std::string row(const std::string& name, const std::string& left, const std::string& right, std::size_t width) {
    return fmt::format("{:<22}  {:<{}}  {}\n", printable(name), printable(left), width, printable(right));
}

std::string number(const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : "-"; }

std::string count_rows(const inspect::Counts& left, const inspect::Counts& right, const inspect::InstructionSet& isa, std::size_t width) {
    std::string out = row("instructions", std::to_string(left.instructions), std::to_string(right.instructions), width);
    for (const auto& mark : isa.marks)
        if (mark.always || left.mark(mark.key) + right.mark(mark.key) > 0)
            out += row(mark.label, std::to_string(left.mark(mark.key)), std::to_string(right.mark(mark.key)), width);
    for (const auto member : {&inspect::Counts::classes, &inspect::Counts::memory}) {
        auto names = left.*member;
        names.insert((right.*member).begin(), (right.*member).end());
        for (const auto& [name, ignored] : names) {
            const auto count = [&](const inspect::Counts& c) {
                const auto found = (c.*member).find(name);
                return found == (c.*member).end() ? std::string("-") : std::to_string(found->second);
            };
            out += row(name, count(left), count(right), width);
        }
    }
    return out;
}

std::vector<inspect::Instruction> shown_body(const inspect::FunctionStats& stats) {
    std::vector<inspect::Instruction> body;
    if (stats.shown < 0) return stats.code.instructions;
    for (const auto i : stats.loops[static_cast<std::size_t>(stats.shown)].body)
        body.push_back(stats.code.instructions[i]);
    return body;
}

const inspect::Counts& shown_counts(const inspect::FunctionStats& stats) {
    return stats.shown < 0 ? stats.total : stats.loops[static_cast<std::size_t>(stats.shown)].own;
}

std::string diff_text(const inspect::FunctionStats& left, const inspect::FunctionStats& right, std::size_t width, bool colour) {
    const auto lines = inspect::align(shown_body(left), shown_body(right));
    if (std::all_of(lines.begin(), lines.end(), [](const auto& line) { return line.mark == ' '; }))
        return "The same instructions on both sides.\n";
    std::string out;
    for (const auto& line : lines) {
        const std::string paint = !colour              ? ""
                                  : line.mark == '<'   ? "\033[31m"
                                  : line.mark == '>'   ? "\033[32m"
                                  : line.mark == '~'   ? "\033[33m"
                                                       : "";
        std::string shown = printable(line.left);
        if (shown.size() > width) shown = shown.substr(0, width - 1) + "+";
        out += fmt::format("{}{} {:<{}}  {}{}\n", paint, line.mark, shown, width, printable(line.right), paint.empty() ? "" : "\033[0m");
    }
    return out;
}

}  // namespace

std::string comparison_text(const CellCode& left, const CellCode& right, bool colour) {
    const std::size_t width = std::max<std::size_t>(44, left.id.size());
    std::string out = "On " + printable(left.where) + "\n\n" + row("", left.id, right.id, width);
    out += row("registers", number(left.info.registers), number(right.info.registers), width);
    out += row("spills", number(left.info.spills), number(right.info.spills), width);
    out += row("private bytes", number(left.info.private_bytes), number(right.info.private_bytes), width);
    out += row("local bytes", number(left.info.local_bytes), number(right.info.local_bytes), width);
    out += row("code bytes", number(left.info.code_bytes), number(right.info.code_bytes), width);
    out += row("loops", std::to_string(left.counts.loops.size()), std::to_string(right.counts.loops.size()), width);
    if (left.counts.isa != right.counts.isa || left.counts.code.instructions.empty() || right.counts.code.instructions.empty())
        return out + "\nThe instructions cannot be compared: one side has no counted disassembly.\n";
    out += "\n" + row("one iteration of", inspect::shown_place(left.counts), inspect::shown_place(right.counts), width);
    out += count_rows(shown_counts(left.counts), shown_counts(right.counts), *left.counts.isa, width);
    out += "\n" + std::string(left.counts.isa->rule) + "\n\n";
    return out + diff_text(left.counts, right.counts, width, colour) + "\n";
}

}  // namespace cllab::app
