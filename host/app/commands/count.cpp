// `cllab count`: counts what kernels execute, in the simulator Oclgrind. Needs no OpenCL device.
#include <algorithm>

#include "app/commands/command_file.hpp"
#include "app/processes/simulation.hpp"
#include "count/simulated.hpp"
#include "explain/advice.hpp"

namespace cllab::app {
namespace {

struct CountOptions : CellOptions, FileOptions {
    double budget_seconds = 5;  ///< CPU time per cell
    unsigned wave = 32;
};

/// Adds the counts of the cell's kernels; false if that failed.
bool count_one(const model::Cell& cell, const CountSettings& settings, const Choice& choice, OutputFile* json,
               std::vector<model::Counts>& all) {
    auto found = count_cell(cell, settings);
    if (found.status != model::Status::ok) {
        say(cell.id + ": not counted: " + found.trouble);
        auto line = report::fact("counts");
        line["id"] = cell.id;
        report::add_refusal(line, model::name(found.status), found.trouble,
                            found.status == model::Status::timed_out ? "a larger --count-budget, or a smaller --axis"
                                                                     : "a kernel that the simulator runs");
        if (json) json->line(report::line_text(line));
        return !model::is_failure(found.status);
    }
    for (auto& counts : found.launches) {
        for (auto& line : counts.lines) line.text = trim(choice.source_line(line.file, line.line));
        if (json) json->line(report::counts_json(counts));
        all.push_back(std::move(counts));
    }
    return true;
}

/// The cells of the patterns and of --vs.
std::vector<model::Cell> cells_of(const Choice& choice, const CountOptions& asked) {
    auto patterns = asked.patterns;
    if (names_variant(asked.versus)) patterns.push_back(asked.versus);
    const auto first = first_cells(choice, asked.axes, patterns);
    auto out = first;
    if (!other_point(asked.versus).empty())
        for (const auto& cell : first)
            for (auto& other : other_cells(cell, asked.versus)) {
                other.id += " " + asked.versus;
                out.push_back(std::move(other));
            }
    return out;
}

/// The largest differences between two operations; empty if one was counted at another point than requested.
std::string difference(const std::vector<model::Counts>& all) {
    const auto other = std::ranges::find_if(all, [&](const auto& c) { return c.id != all.front().id; });
    const bool in_part = std::ranges::any_of(all, [](const auto& c) { return !c.asked_point.empty(); });
    if (other == all.end() || in_part) return "";
    return "\n" + explain::difference({all.begin(), other}, {other, all.end()}, 1, true) + "\n";
}

int run_count(const CountOptions& asked) {
    CountSettings settings;
    settings.simulator = find_oclgrind("cllab count");
    use_oclgrind(settings.simulator);  // it also reports the arguments of a kernel file's kernels
    auto invocation = asked;
    invocation.devices = {"oclgrind"};
    Outputs outputs(invocation);
    outputs.reads_for(invocation);
    const auto choice = chosen_in_simulator(invocation);
    const auto cells = cells_of(choice, invocation);
    settings.run = settings_of(invocation);
    settings.budget_seconds = invocation.budget_seconds;
    settings.wave = invocation.wave;
    catch_interrupts();
    choice.say_defaults(false);
    if (std::ranges::any_of(cells, [](const auto& cell) { return !cell.variant->own; }))
        say("kernels of families are counted in their form for GPUs; most have another form on a CPU");
    outputs.open();
    std::vector<model::Counts> all;
    int status = 0;
    try {
        for (const auto& cell : cells)
            if (!count_one(cell, settings, choice, outputs.json(), all)) status = 1;
    } catch (const run::Interrupted&) {
        say("interrupted; " + std::to_string(all.size()) + " finished count(s) kept");
        status = 130;
    }
    const bool to_stdout = outputs.json() && outputs.json()->is_stdout();
    if (all.empty() || to_stdout) return status;
    const report::TableStyle style{wants_colour(), page_width()};
    report::print_counts(results(), all, style);
    if (cells.size() == 2) results() << report::fit(difference(all), style.text_width());
    return status;
}

Rows<CountOptions> count_rows() {
    Rows<CountOptions> rows;
    rows.with(choice_rows(false))
        .with(kernel_file_rows())
        .with(text_rows())
        .whole("wave", "N", {1, count::widest_wave, "whole numbers from 1 to 128"}, &CountOptions::wave)
        .text("vs", "PATTERN", &CountOptions::versus)
        .number("count-budget", "SECONDS", any_seconds, &CountOptions::budget_seconds, "5")
        .text("json", "FILE", &CountOptions::json)
        .with(process_rows())
        .with(replace_rows("--json"));
    return rows;
}

}  // namespace

Command count_command() {
    return make_command<CountOptions>(
        manual_of("count"), count_rows(),
        [](CountOptions& options) {
            need_pattern(options, "a PATTERN, e.g. 'saxpy_*'; `cllab list` prints the kernels");
            if (names_best(options.versus))
                throw Error(Blame::usage,
                            "`cllab count` measures no times, which --vs best needs; use --vs VARIANT, or `cllab run`");
        },
        run_count);
}

}  // namespace cllab::app
