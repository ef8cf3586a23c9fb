// `cllab isa`: the code beside the code.
#include <unistd.h>

#include <cstdio>
#include <fmt/format.h>
#include <iostream>
#include <set>

#include "app/commands.hpp"
#include "app/comparison.hpp"
#include "app/isa_code.hpp"
#include "app/rebuild.hpp"
#include "app/streams.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "inspect/offline.hpp"
#include "model/registry.hpp"

namespace cllab::app {
namespace {

void put(const std::string& text) { std::cout << text; }

/// A disassembler's text, with its lines and tabs.
void put_listing(const std::string& text) { put(printable(text, "\n\t")); }

int print_targets() {
    const auto row = [](const std::string& target, const std::string& gives, const std::string& missing) {
        std::cout << fmt::format("{:<9} {:<30} {}\n", target, gives.empty() ? "-" : gives, missing.empty() ? "-" : missing);
    };
    row("target", "made here", "what would enable the rest");
    for (const auto& target : inspect::offline_targets()) row(target.name, target.gives, target.missing);
    return 0;
}

/// Without --axis the first point of each variant stands for it: most axes are sizes, which do not affect the code.
std::vector<model::Cell> cells_of(const Invocation& invocation, const std::vector<std::string>& patterns) {
    std::vector<model::Cell> cells;
    std::set<std::string> seen;
    for (auto& group : model::make_plan(model::select(model::registry(), patterns), invocation.axes))
        for (auto& cell : group) {
            if (!seen.insert(cell.id).second && invocation.axes.empty()) continue;
            if (invocation.axes.empty()) cell.label.clear();
            cells.push_back(std::move(cell));
        }
    return cells;
}

std::vector<CellCode> all_code(const Invocation& invocation, const std::vector<model::Cell>& cells) {
    return invocation.target.empty() ? code_on_devices(invocation, cells) : code_for_target(invocation, cells);
}

/// Says on stderr what has no code; the exit status.
int report_failures(const std::vector<CellCode>& codes, bool require_all) {
    int status = 0;
    for (const auto& code : codes) {
        if (code.status == model::Status::ok) continue;
        // A compiler's log is shown as it is, line by line.
        std::fprintf(stderr, "%s for %s: %s: %s\n", printable(code.id).c_str(), printable(code.where).c_str(), model::name(code.status),
                     printable(trim(code.reason), "\n\t").c_str());
        if (model::is_failure(code.status) || require_all) status = 1;
    }
    return status;
}

void print_code(const CellCode& code, bool instructions) {
    put(printable(code.id + " for " + code.where) + "\n");
    put_listing(instructions ? code.isa : code.summary);
    put("\n");
}

int compare(const Invocation& invocation) {
    // Planned together, so that an axis need only be known to one of them.
    auto patterns = invocation.patterns;
    patterns.push_back(invocation.versus);
    std::set<std::string> others;
    for (const auto& selected : model::select(model::registry(), {invocation.versus})) others.insert(selected.id);
    std::vector<model::Cell> left, right;
    for (auto& cell : cells_of(invocation, patterns)) (others.count(cell.id) ? right : left).push_back(std::move(cell));
    if (left.size() != 1 || right.size() != 1)
        throw Error(Blame::usage, "--vs compares one variant with one other; the patterns select " +
                                      std::to_string(left.size()) + " and " + std::to_string(right.size()));
    const auto codes = all_code(invocation, {left.front(), right.front()});
    const int status = report_failures(codes, invocation.require_all);
    // With several devices the pairs follow each other.
    for (std::size_t i = 0; i + 1 < codes.size(); i += 2)
        if (codes[i].status == model::Status::ok && codes[i + 1].status == model::Status::ok)
            put(comparison_text(codes[i], codes[i + 1], wants_colour(STDOUT_FILENO)));
    return status;
}

}  // namespace

int command_isa(const Invocation& invocation) {
    if (invocation.targets) return print_targets();
    if (invocation.rebuild) return rebuild_for_target(invocation);
    if (!invocation.versus.empty()) return compare(invocation);
    const auto codes = all_code(invocation, cells_of(invocation, invocation.patterns));
    for (const auto& code : codes)
        if (code.status == model::Status::ok) print_code(code, !invocation.summary);
    return report_failures(codes, invocation.require_all);
}

}  // namespace cllab::app
