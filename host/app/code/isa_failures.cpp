#include "app/code/isa_failures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/screen/streams.hpp"
#include "core/text.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

/// The first error of a compiler's log, with its line, and how many more there are.
std::string first_of(const std::string& log, bool dumped) {
    const auto lines = split(log, '\n');
    const auto errors = std::ranges::count_if(lines, [](const auto& line) {
        // What a linker finds nowhere is named in the first one.
        return line.find("error: ") != line.npos && line.find("undefined ") == line.npos;
    });
    if (errors < 2) return run::first_error(log);
    return fmt::format("{}; {} more error{}{}", run::first_error(log), errors - 1, errors == 2 ? "" : "s",
                       dumped ? ", all in build.log" : "; --dumps DIR keeps them in build.log");
}

/// "a, b, c and 9 more"
std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t most = 4;
    const auto shown = names.size() <= most ? names.size() : most - 1;
    const auto rest = names.size() - shown;
    return join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ") +
           (rest == 0 ? "" : fmt::format(" and {} more", rest));
}

/// Targets whose registers nothing here finds out, each with the package that does. No compiler is loaded where none is
/// asked for: beside a driver's own LLVM another one ends the process.
std::vector<std::string> missing_registers(const std::vector<std::string>& targets) {
    std::vector<std::string> out;
    if (targets.empty()) return out;
    for (const auto& target : inspect::offline_targets())
        if (std::ranges::find(targets, target.name) != targets.end() && target.available() &&
            target.gives.find("registers") == std::string::npos && target.gives.find("metadata") == std::string::npos)
            out.push_back(target.name + ": " + target.gives + " only; " + target.missing);
    return out;
}

}  // namespace

int report_failures(const std::vector<CellCode>& codes, const IsaOptions& invocation) {
    int status = 0;
    std::vector<std::string> notes;
    std::vector<std::pair<std::string, std::vector<std::string>>> refusals;  // with the kernels
    for (const auto& code : codes) {
        for (const auto& note : code.notes)
            if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
        if (code.status == model::Status::ok) continue;
        const auto said = " for " + code.where + ": " + model::name(code.status) + ": " +
                          first_of(code.reason, !invocation.dumps.empty());
        auto same = std::ranges::find(refusals, said, [](const auto& one) { return one.first; });
        if (same == refusals.end() || !code.own) same = refusals.insert(refusals.end(), {said, {}});
        same->second.push_back(code.id);
        if (model::is_failure(code.status) || invocation.require_all) status = 1;
    }
    for (const auto& [said, kernels] : refusals)
        std::fprintf(stderr, "%s\n", printable(some_of(kernels) + said).c_str());
    for (const auto& note : missing_registers(invocation.targets)) notes.push_back(note);
    for (const auto& note : notes) say(note);
    return status;
}

}  // namespace cllab::app
