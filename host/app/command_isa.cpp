// `cllab isa`: the code beside the code.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "app/commands.hpp"
#include "app/isa_code.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "inspect/diff.hpp"
#include "inspect/offline.hpp"
#include "model/registry.hpp"

namespace cllab::app {
namespace {

void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int print_targets() {
    std::printf("%-9s %-30s %s\n", "target", "made here", "what would enable the rest");
    for (const auto& target : inspect::offline_targets())
        std::printf("%-9s %-30s %s\n", target.name.c_str(), target.gives.empty() ? "-" : target.gives.c_str(),
                    target.missing.empty() ? "-" : target.missing.c_str());
    return 0;
}

/// Without --axis the first point of each variant stands for it: most axes are sizes, which change no code.
std::vector<model::Cell> cells_of(const Invocation& invocation, const std::vector<std::string>& patterns) {
    std::vector<model::Cell> cells;
    for (auto& group : model::make_plan(model::select(model::registry(), patterns), invocation.axes))
        for (auto& cell : group) {
            const bool seen = std::any_of(cells.begin(), cells.end(), [&](const auto& c) { return c.id == cell.id; });
            if (seen && invocation.axes.empty()) continue;
            if (invocation.axes.empty()) cell.label.clear();
            cells.push_back(std::move(cell));
        }
    return cells;
}

std::vector<CellCode> code_of(const Invocation& invocation, const std::vector<model::Cell>& cells) {
    return invocation.target.empty() ? code_on_devices(invocation, cells) : code_for_target(invocation, cells);
}

/// Says on stderr what has no code; the exit status.
int report_failures(const std::vector<CellCode>& codes, bool require_all) {
    int status = 0;
    for (const auto& code : codes) {
        if (code.status == model::Status::ok) continue;
        std::fprintf(stderr, "%s for %s: %s: %s\n", code.id.c_str(), code.where.c_str(), model::name(code.status),
                     trim(code.reason).c_str());
        if (model::is_failure(code.status) || require_all) status = 1;
    }
    return status;
}

void print_code(const CellCode& code, bool instructions) {
    put(code.id + " for " + code.where + "\n");
    put(instructions ? code.isa : code.summary);
    put("\n");
}

void row(const std::string& name, const std::string& left, const std::string& right, std::size_t width) {
    std::printf("%-22s  %-*s  %s\n", name.c_str(), static_cast<int>(width), left.c_str(), right.c_str());
}

std::string number(const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : "-"; }

void count_rows(const inspect::Counts& left, const inspect::Counts& right, inspect::Isa isa, std::size_t width) {
    row("instructions", std::to_string(left.instructions), std::to_string(right.instructions), width);
    if (isa == inspect::Isa::gcn) {
        row("v", std::to_string(left.v), std::to_string(right.v), width);
        row("s", std::to_string(left.s), std::to_string(right.s), width);
    }
    for (const auto member : {&inspect::Counts::classes, &inspect::Counts::memory}) {
        auto names = left.*member;
        names.insert((right.*member).begin(), (right.*member).end());
        for (const auto& [name, ignored] : names) {
            const auto count = [&](const inspect::Counts& c) {
                const auto found = (c.*member).find(name);
                return found == (c.*member).end() ? std::string("-") : std::to_string(found->second);
            };
            row(name, count(left), count(right), width);
        }
    }
}

std::vector<inspect::Instruction> hot_body(const inspect::FunctionStats& stats) {
    std::vector<inspect::Instruction> body;
    if (stats.hot < 0) return stats.code.instructions;
    for (const auto i : stats.loops[static_cast<std::size_t>(stats.hot)].body)
        body.push_back(stats.code.instructions[i]);
    return body;
}

const inspect::Counts& hot_counts(const inspect::FunctionStats& stats) {
    return stats.hot < 0 ? stats.total : stats.loops[static_cast<std::size_t>(stats.hot)].own;
}

void print_diff(const inspect::FunctionStats& left, const inspect::FunctionStats& right, std::size_t width) {
    const bool colour = wants_colour(STDOUT_FILENO);
    for (const auto& line : inspect::align(hot_body(left), hot_body(right))) {
        const char* paint = line.mark == '<'   ? "\033[31m"
                            : line.mark == '>' ? "\033[32m"
                            : line.mark == '~' ? "\033[33m"
                                               : "";
        const std::string shown = line.left.size() > width ? line.left.substr(0, width - 1) + "+" : line.left;
        std::printf("%s%c %-*s  %s%s\n", colour ? paint : "", line.mark, static_cast<int>(width), shown.c_str(),
                    line.right.c_str(), colour && *paint ? "\033[0m" : "");
    }
}

void print_comparison(const CellCode& left, const CellCode& right) {
    const std::size_t width = std::max<std::size_t>(44, left.id.size());
    put("On " + left.where + "\n\n");
    row("", left.id, right.id, width);
    row("registers", number(left.info.registers), number(right.info.registers), width);
    row("spills", number(left.info.spills), number(right.info.spills), width);
    row("private bytes", number(left.info.private_bytes), number(right.info.private_bytes), width);
    row("local bytes", number(left.info.local_bytes), number(right.info.local_bytes), width);
    row("code bytes", number(left.info.code_bytes), number(right.info.code_bytes), width);
    row("loops", std::to_string(left.counts.loops.size()), std::to_string(right.counts.loops.size()), width);
    if (left.counts.isa != right.counts.isa || left.counts.code.instructions.empty()) {
        put("\nThe instructions cannot be compared: one side has no counted disassembly.\n");
        return;
    }
    const auto place = [](const inspect::FunctionStats& s) {
        return s.hot < 0 ? std::string("whole kernel (no loop)")
                         : "one iteration of the hot loop at " + s.loops[static_cast<std::size_t>(s.hot)].header;
    };
    put("\n");
    row("", place(left.counts), place(right.counts), width);
    count_rows(hot_counts(left.counts), hot_counts(right.counts), left.counts.isa, width);
    put(std::string("\n") + inspect::counting_rule(left.counts.isa) + "\n\n");
    print_diff(left.counts, right.counts, width);
    put("\n");
}

int compare(const Invocation& invocation) {
    const auto left = cells_of(invocation, invocation.patterns), right = cells_of(invocation, {invocation.versus});
    if (left.size() != 1 || right.size() != 1)
        throw Error(Blame::usage, "--vs compares one variant with one other; the patterns select " +
                                      std::to_string(left.size()) + " and " + std::to_string(right.size()));
    const auto codes = code_of(invocation, {left.front(), right.front()});
    const int status = report_failures(codes, invocation.require_all);
    // With several devices the pairs follow each other.
    for (std::size_t i = 0; i + 1 < codes.size(); i += 2)
        if (codes[i].status == model::Status::ok && codes[i + 1].status == model::Status::ok)
            print_comparison(codes[i], codes[i + 1]);
    return status;
}

}  // namespace

int command_isa(const Invocation& invocation) {
    if (invocation.targets) return print_targets();
    if (!invocation.versus.empty()) return compare(invocation);
    const auto codes = code_of(invocation, cells_of(invocation, invocation.patterns));
    for (const auto& code : codes)
        if (code.status == model::Status::ok) print_code(code, !invocation.summary);
    return report_failures(codes, invocation.require_all);
}

}  // namespace cllab::app
