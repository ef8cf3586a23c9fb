// `cllab isa`: the machine code of kernels, and figures of it.
#include "inspect/isa/isa.hpp"

#include <set>
#include <span>
#include <utility>

#include "app/code/gate.hpp"
#include "app/code/isa_code.hpp"
#include "app/commands/command_file.hpp"
#include "core/kernel_text.hpp"
#include "inspect/tools/offline.hpp"
#include "model/registry.hpp"

namespace cllab::app {
namespace {

void put(const std::string& text) { results() << text; }

/// Lines of a disassembler's text, with tabs expanded; lines longer than `width` columns are cut.
Strings lines_within(const std::string& text, std::size_t width) {
    return mapped(split(text, '\n'), [&](const auto& line) {
        std::string shown;
        for (const char c : line) {
            do shown += c == '\t' ? ' ' : c;
            while (c == '\t' && shown.size() % 8 != 0);
        }
        return printable(shown.size() > width ? shown.substr(0, width - 1) + "+" : shown);
    });
}

/// A row per target. Many targets lack the same, so the reasons are numbered below the table.
int print_targets() {
    std::vector<std::string> reasons;
    const auto row = [](const std::string& target, const std::string& gives, const std::string& note) {
        results() << fmt::format("{:<9} {:<30}  {}\n", target, gives.empty() ? "-" : gives, note);
    };
    row("target", "made here", "missing");
    for (const auto& target : inspect::tried_targets()) {
        auto reason = target.missing;
        for (std::size_t at; (at = reason.find(target.name)) != reason.npos;)
            reason.replace(at, target.name.size(), "the target");
        if (!reason.empty()) add_once(reasons, reason);
        const auto number = std::ranges::find(reasons, reason) - reasons.begin() + 1;
        row(target.name, target.gives, reason.empty() ? "-" : fmt::format("[{}]", number));
    }
    if (!reasons.empty()) results() << "\n";
    for (std::size_t n = 0; n < reasons.size(); ++n)
        results() << report::wrap_beside(fmt::format("[{}]  ", n + 1), reasons[n], page_width());
    return 0;
}

/// The kernels that the patterns choose, and their code from the targets' compilers or the devices.
class Making {
public:
    explicit Making(const IsaOptions& invocation)
        : invocation_(invocation),
          programs_(std::chrono::milliseconds(static_cast<long>(1000 * invocation.timeout_seconds)),
                    invocation.compiler),
          choice_(invocation.targets.empty()
                      ? Choice(invocation)
                      : Choice(invocation, {}, ask_compilers(invocation, programs_), kernelfile::Wants::code)) {}
    const Choice& choice() const { return choice_; }
    std::vector<CellCode> code(const std::vector<model::Cell>& cells) {
        return invocation_.targets.empty() ? code_on_devices(invocation_, cells)
                                           : code_for_target(invocation_, programs_, cells);
    }

private:
    const IsaOptions& invocation_;
    inspect::OfflinePrograms programs_;
    Choice choice_;
};

/// An instruction with its address (in PTX the number of the statement), its live registers and its source line, unless
/// that is `last`.
std::string listed(const CellCode& code, const LiveCode& live, const inspect::Instruction& one, std::string& last) {
    const bool numbered = code.counts.isa->virtual_machine;
    return source_line(code, one.address, last) + live.column_at(one.address) +
           (numbered ? fmt::format("{:8}", one.address) : fmt::format("{:8x}", one.address)) + ":  " + one.text + "\n";
}

/// Every instruction of the kernel, with its live registers; the disassembler's text where they are not counted.
std::string whole_text(const CellCode& code, const LiveCode& live) {
    std::string text = live.head, line;
    for (const auto& instruction : code.counts.code.instructions) text += listed(code, live, instruction, line);
    return code.counts.isa ? text : code.isa;
}

/// The code that runs: regions until nine tenths of the samples are shown. Without samples, the innermost loops.
std::string hot_text(const CellCode& code, const LiveCode& live) {
    const auto& stats = code.counts;
    std::string text = code.hot ? printable("hot: " + model::statement(*code.hot)) + "\n"
                                : "hot: unknown: cllab cannot sample this device\n";
    if (!code.hot_note.empty()) text += printable(code.hot_note) + "\n";
    if (code.hot && !code.hot->known() && !code.compiler.empty() && !stats.loops.empty())
        text +=
            concat("next: ", code.own ? "--global N --work flops=2*N, or " : "", "--device D in place of --target\n");
    const auto head = [&](const std::string& place, const inspect::Counts& counts) {
        text += "\n" + place + "\n" + inspect::one_line_counts(*stats.isa, counts) + "\n" + live.head;
    };
    std::string line;
    const auto bodies = hot_bodies(code);
    double shown = 0;
    for (const auto& body : bodies) {
        if (shown >= 0.9) break;
        shown += body.region.share;
        head(model::place(body.region), body.counts);
        if (!body.region.like.empty())
            text +=
                "like it: " + first_few(body.region.like, 6, [](auto at) { return fmt::format("{:#x}", at); }) + "\n";
        const model::HotBlock* last = nullptr;
        line.clear();
        for (const auto& instruction : body.instructions) {
            for (const auto* block : body.region.blocks)
                if (instruction.address >= block->begin && instruction.address < block->end &&
                    block != std::exchange(last, block) && block->share > 0)
                    text += fmt::format("  {:.1f} %\n", 100 * block->share);
            text += listed(code, live, instruction, line);
        }
    }
    for (const auto& group : inspect::loop_groups(stats)) {
        const auto& loop = stats.loops[group.front()];
        if (!bodies.empty() || !loop.innermost) continue;
        head("innermost loop at " + loop.header + model::and_like(group.size() - 1), loop.own);
        for (const auto i : loop.body) text += listed(code, live, stats.code.instructions[i], line);
    }
    if (bodies.empty() && stats.loops.empty()) text += "\nno loop: the whole kernel\n" + whole_text(code, live);
    return text;
}

/// One kernel's listings or hot code for several targets, side by side; below each other where the page is too narrow.
/// Wraps prose.
void print_columns(std::span<const CellCode> codes, const IsaOptions& invocation) {
    constexpr std::size_t least = 38, gap = 2;
    const std::size_t page = gap + (invocation.width > 0 ? invocation.width : page_width());
    const auto most = std::max<std::size_t>(1, page / (least + gap)), lines = (codes.size() + most - 1) / most;
    const auto in_a_line = (codes.size() + lines - 1) / lines, width = page / in_a_line - gap;
    std::vector<Strings> columns;
    std::size_t rows = 0;
    if (!invocation.hot) put("\n");
    for (const auto& code : codes.first(in_a_line)) {
        auto& column = columns.emplace_back();
        const auto text = invocation.hot ? hot_text(code, {}) : whole_text(code, {});
        for (auto line : split(code.id + " for " + code.where + "\n" + text, '\n')) {
            if (const auto begin = line.find_first_not_of(' '); begin != line.npos && begin > 2) {  // an instruction
                const auto blanks = [](char a, char b) { return a == ' ' && b == ' '; };
                line.erase(std::unique(line.begin() + static_cast<std::ptrdiff_t>(begin), line.end(), blanks),
                           line.end());
                line.erase(0, std::min<std::size_t>(begin, 4));
            } else {
                line = trim(report::wrap(line, "", width));
            }
            for (auto& part : lines_within(line, width)) column.push_back(std::move(part));
        }
        rows = std::max(rows, column.size());
    }
    for (std::size_t row = 0; row < rows; ++row) {
        std::string line;
        for (const auto& column : columns)
            line += fmt::format("{:<{}}", row < column.size() ? column[row] : "", width + gap);
        put(line.substr(0, line.find_last_not_of(' ') + 1) + "\n");
    }
    if (codes.size() > in_a_line) print_columns(codes.subspan(in_a_line), invocation);
}

void print_code(const CellCode& code, const IsaOptions& invocation) {
    put(printable(code.id + " for " + code.where) + "\n");
    if (code.status != model::Status::ok)
        put(concat("note: its status is ", model::name(code.status), "; the code does not depend on its results\n"));
    const auto live = invocation.live ? live_code(code) : LiveCode();
    if (invocation.live) put(printable(live.summary) + "\n");
    const auto text = invocation.hot       ? hot_text(code, live)
                      : invocation.summary ? code.summary
                      : invocation.live    ? whole_text(code, live)
                                           : with_source(code);
    if (invocation.width == 0) put(printable(text, "\n\t"));
    for (const auto& line : invocation.width > 0 ? lines_within(text, invocation.width) : Strings()) put(line + "\n");
    if (!code.source_note.empty()) put(printable(code.source_note) + "\n");
    put("\n");
}

int compare(const IsaOptions& invocation) {
    // Both sides are planned together, so that an axis needs to exist in only one of them.
    auto patterns = invocation.patterns;
    std::set<std::string> others;
    const bool itself = !other_point(invocation.versus).empty();
    Making making(invocation);
    const auto& choice = making.choice();
    std::vector<model::Cell> left, right;
    if (!itself) {
        patterns.push_back(invocation.versus);
        for (const auto& selected : choice.select({invocation.versus})) others.insert(selected.id);
    }
    for (auto& cell : first_cells(choice, invocation.axes, patterns))
        (others.count(cell.id) ? right : left).push_back(std::move(cell));
    if (itself && left.size() == 1) right = other_cells(left.front(), invocation.versus);
    if (left.size() != 1 || right.size() != 1)
        throw Error(Blame::usage, "--vs compares one variant with one other; found ", left.size(),
                    " only in PATTERN and ", right.size(), " in --vs; name one variant on each side");
    auto codes = making.code({left.front(), right.front()});
    const int status = report_failures(codes, invocation);
    // With several devices or targets, the pairs follow one another.
    for (std::size_t i = 0; i + 1 < codes.size(); i += 2)
        if (codes[i].has_code() && codes[i + 1].has_code())
            put(comparison_text(codes[i], codes[i + 1], wants_colour(), invocation.width));
    return status;
}

/// One row per kernel and target.
void print_table(const std::vector<CellCode>& codes, const std::vector<std::string>& asked) {
    std::vector<report::Column> columns{{.title = "kernel", .names = report::Names::by_itself},
                                        {.title = "target", .names = report::Names::by_itself}};
    const std::pair<const char*, int> shown[]{{"registers", 100}, {"spills", 80}, {"local", 50},        {"private", 40},
                                              {"occupancy", 70},  {"code", 30},   {"instructions", 60}, {"loop", 75}};
    for (const auto& [name, keep] : shown)
        columns.push_back(
            {.title = std::string_view(name) == "loop" ? "inner loop" : name, .right = true, .keep = keep});
    for (const auto& code : codes) {
        if (!code.has_code()) continue;
        const auto figures = figures_of(code)["figures"];
        Strings cells{code.id, code.where};
        for (const auto& [title, keep] : shown) {
            const std::string name = title, unit = figures[name].value("unit", "");
            const auto value = figures[name].value("value", Json());
            const bool none = value.is_null() || (name == "loop" && value == 0);
            const bool says_unit = name == "occupancy" || unit.starts_with("PTX");
            const bool per_thread = name == "private" && value != 0 && unit != "bytes per work-item";
            cells.push_back(none                                ? "-"
                            : name == "occupancy" && value == 0 ? "none"
                            : says_unit  ? value.dump() + " " + (name == "occupancy" ? unit : "PTX")
                            : per_thread ? value.dump() + unit.substr(5)
                                         : value.dump());
        }
        report::add_row(columns, cells);
    }
    report::print_grid(results(), columns, {wants_colour(), page_width(), asked});
}

/// One row per kernel, target and figure; one column per compiler. '*' marks a value that differs from the previous
/// column.
void print_by_compiler(const std::vector<CellCode>& codes) {
    using report::Names;
    std::vector<report::Column> columns{{.title = "kernel", .names = Names::by_itself},
                                        {.title = "target", .names = Names::by_itself},
                                        {.title = "figure"}};
    Strings compilers, versions;
    for (const auto& code : codes) {
        if (code.has_code()) add_once(versions, code.column + ": " + code.compiler);
        if (std::ranges::find(compilers, code.column) != compilers.end()) continue;
        compilers.push_back(code.column);
        columns.push_back({.title = code.column, .right = true});
    }
    for (const auto& same : grouped(codes, [](const CellCode& code) { return std::pair(code.id, code.where); })) {
        Json figures;  // by compiler and name
        for (const auto& code : same)
            if (code.has_code()) figures[code.column] = figures_of(code)["figures"];
        for (const char* name : {"registers", "spills", "loop", "code"}) {
            Strings cells{same.front().id, same.front().where, name};
            std::string before = "-";
            for (const auto& compiler : compilers) {
                const auto& value = figures[compiler][name]["value"];
                const auto text = value.is_null() ? "-" : value.dump();
                cells.push_back((text != "-" && before != "-" && text != before ? "* " : "") + text);
                if (text != "-") before = text;
            }
            report::add_row(columns, cells);
        }
    }
    report::print_grid(results(), columns, {wants_colour(), page_width(), {}});
    for (const auto& version : versions) put(report::wrap(version, "", page_width()));
}

/// Splits a pattern that names a program binary: an existing file that is no kernel text. "program.ptx:kernel" means
/// one kernel of it.
std::optional<std::pair<std::string, std::string>> binary_named(const std::string& pattern) {
    if (names_kernel_file(pattern) && !names_program(file_and_glob(pattern).first)) return std::nullopt;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(pattern, ignored)) return std::pair(pattern, std::string());
    const auto colon = pattern.rfind(':');
    if (colon != std::string::npos && std::filesystem::is_regular_file(pattern.substr(0, colon), ignored))
        return std::pair(pattern.substr(0, colon), pattern.substr(colon + 1));
    return std::nullopt;
}

int print_binaries(const IsaOptions& invocation, CodeGate& gate) {
    std::vector<CellCode> codes;
    for (const auto& pattern : invocation.patterns) {
        const auto file = binary_named(pattern);
        if (!file) refuse_file(pattern, invocation.command);
        if (!file)
            throw Error(Blame::usage, "program binaries and kernels cannot be combined in one command; '", pattern,
                        "' is not a program binary");
        for (auto& code : code_of_binary(file->first, file->second)) codes.push_back(std::move(code));
    }
    if (!invocation.targets.empty() || !invocation.devices.empty())
        throw Error(Blame::usage,
                    "--target and --device do not apply to a program binary, because cllab does not compile it");
    if (gate.prints())
        for (const auto& code : codes) print_code(code, invocation);
    const int failed = report_failures(codes, invocation);
    return gate.finish(codes, failed);
}

/// The code of each kernel for each target or device, and with --compiler by each compiler in turn. `lost`: the exit
/// status caused by unavailable targets.
std::vector<CellCode> all_codes(const IsaOptions& asked, int& lost) {
    std::vector<CellCode> out;
    const auto make = [&](const inspect::ChosenCompiler& by) {
        auto invocation = asked;
        invocation.compiler = by;
        const auto before = out.size();
        lost = std::max(lost, leave_out_missing_targets(invocation, out));
        Making making(invocation);
        for (auto& code : making.code(first_cells(making.choice(), invocation.axes, invocation.patterns)))
            out.push_back(std::move(code));
        for (auto& code : std::span(out).subspan(before)) code.column = by.name;
    };
    if (asked.compilers.empty())
        make({});
    else
        for (const auto& by : inspect::chosen_compilers(asked.compilers)) make(by);
    std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.id < b.id; });
    return out;
}

int run_isa(const IsaOptions& asked) {
    auto invocation = asked;
    report::require_known_columns(invocation.columns, report::columns_of_command("isa"));
    if (invocation.list_targets) return print_targets();
    if (!invocation.versus.empty()) return compare(invocation);
    CodeGate gate(invocation);
    const bool reads = invocation.targets.empty() && invocation.devices.empty();  // nothing is compiled
    if (std::ranges::any_of(invocation.patterns,
                            [&](const auto& p) { return binary_named(p) && (reads || !names_kernel_file(p)); }))
        return print_binaries(invocation, gate);
    int lost = 0;
    const auto codes = all_codes(invocation, lost);
    if (gate.prints()) {
        auto shown = codes;
        std::erase_if(shown, [](const CellCode& code) { return !code.has_code(); });
        const auto of_kernels = grouped(shown, [](const CellCode& code) { return code.id; });
        const bool several = asked.targets.size() > 1,
                   table_only = asked.summary || !asked.columns.empty() || gate.is_asked();
        if (!asked.compilers.empty())
            print_by_compiler(codes);
        else if (!several && !gate.is_asked())
            for (const auto& code : shown) print_code(code, invocation);
        else if (!several || !asked.hot)
            print_table(codes, invocation.columns);
        const bool listings = several && asked.compilers.empty() && (asked.hot || !table_only);
        if (listings && !asked.hot && of_kernels.size() > 1)
            put("  listings left out: name one kernel, or use --hot\n");
        else if (listings)
            for (const auto& same : of_kernels) print_columns(same, invocation);
    }
    const int failed = report_failures(codes, invocation);
    return gate.finish(codes, std::max(lost, failed));
}

void check_isa(IsaOptions& options) {
    const bool gates = !options.save.empty() || !options.against.empty() || !options.expect.empty();
    if (!options.versus.empty() && (gates || !options.json.empty() || !options.compilers.empty()))
        throw Error(Blame::usage,
                    "`cllab isa`: --vs cannot be combined with --save, --against, --expect, --json or --compiler");
    if (!options.compilers.empty() && !options.devices.empty())
        throw Error(Blame::usage,
                    "`cllab isa`: --compiler cannot be combined with --device, whose driver has its own compiler");
    if (!options.allow.empty() && options.against.empty())
        throw Error(Blame::usage, "`cllab isa`: --allow needs --against");
    if (options.against.empty() && options.expect.empty() &&
        (!options.sarif.empty() || !options.junit.empty() || !options.markdown.empty()))
        throw Error(Blame::usage, "`cllab isa`: --sarif, --junit and --markdown need --against or --expect");
    if (!options.targets.empty() && !options.devices.empty())
        throw Error(Blame::usage, "`cllab isa` takes --target or --device, not both");
    if (options.hot && options.summary) throw Error(Blame::usage, "`cllab isa` takes --hot or --summary, not both");
    if (options.source && (!options.targets.empty() || options.summary || !options.versus.empty()))
        throw Error(Blame::usage, "`cllab isa`: --source cannot be combined with --target, --summary or --vs");
    if (options.live && (options.targets.size() > 1 || !options.versus.empty()))
        throw Error(Blame::usage, "`cllab isa`: --live cannot be combined with --vs or with several --target");
    if (!options.list_targets)
        need_pattern(options, "a PATTERN, e.g. 'pitch_*', or --targets; `cllab list` prints the kernels");
}

Rows<IsaOptions> isa_rows() {
    Rows<IsaOptions> rows;
    rows.with(choice_rows())
        .list("target,t", "T", &IsaOptions::targets)
        .flag("targets", &IsaOptions::list_targets)
        .text("compiler", "LIST", &IsaOptions::compilers)
        .text("save", "FILE", &IsaOptions::save)
        .text("against", "FILE", &IsaOptions::against)
        .text("allow", "LIST", &IsaOptions::allow)
        .text("expect", "CONDITION", &IsaOptions::expect)
        .text("vs", "PATTERN", &IsaOptions::versus)
        .flag("hot", &IsaOptions::hot)
        .flag("source", &IsaOptions::source)
        .flag("live", &IsaOptions::live)
        .whole("width", "N", {40, 4294967295.0, "whole numbers from 40"}, &IsaOptions::width)
        .flag("summary", &IsaOptions::summary)
        .columns(&IsaOptions::columns, about_columns(report::columns_of_command("isa")))
        .text("json", "FILE", &IsaOptions::json)
        .text("junit", "FILE", &IsaOptions::junit)
        .text("markdown", "OUT", &IsaOptions::markdown)
        .text("sarif", "FILE", &IsaOptions::sarif)
        .text("dumps", "DIR", &IsaOptions::dumps)
        .with(text_rows())
        .number("timeout", "SECONDS", any_seconds, &IsaOptions::timeout_seconds, "60")
        .flag("require-all", &IsaOptions::require_all)
        .with(replace_rows());
    const auto of_files = kernel_file_rows();
    for (const auto& entry : of_files.entries())
        if (entry.row.name != "expect")
            rows.add(entry.row, [take = entry.take](IsaOptions& of, const std::string& text) { take(of, text); });
    return rows;
}

}  // namespace

Command isa_command() { return make_command<IsaOptions>(manual_of("isa"), isa_rows(), check_isa, run_isa); }

}  // namespace cllab::app
