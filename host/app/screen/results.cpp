#include "app/screen/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <span>

#include "app/screen/streams.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"
#include "model/registry.hpp"
#include "report/table/columns.hpp"
#include "report/table/curve.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

void print_summaries(const std::vector<model::Record>& records) {
    for (const auto& experiment : model::registry()) {
        if (!experiment.summary) continue;
        const auto own =
            model::rows_of(records, [&](const auto& r) { return r.family == experiment.family && r.time; });
        if (own.empty()) continue;
        const auto text = experiment.summary(own);
        if (!text.empty()) results() << '\n' << printable(text, "\n");
    }
}

/// Prints the pixels that --count-above found.
void print_bright(std::ostream& out, const std::vector<model::Record>& records, const report::TableStyle& style) {
    constexpr std::size_t most = 20;
    for (const auto& record : records) {
        if (!record.above) continue;
        const auto& above = *record.above;
        const auto first = std::span(above.first).first(std::min(most, above.first.size()));
        auto text = fmt::format("{} pixels above {}{}", above.pixels, above.level, first.empty() ? "" : ": ");
        text += join(first, ", ", [](const auto& p) { return fmt::format("({}, {}) {}", p.x, p.y, p.value); });
        if (above.pixels > most)
            text += fmt::format("; the first {} are in the record (--json FILE)", model::Above::most_listed);
        out << '\n' << report::wrap_beside(record.id + ": ", text, style.text_width());
    }
}

}  // namespace

bool may_be_auto(const std::string& family, const std::string& axis) {
    const auto& all = model::registry();
    return std::ranges::any_of(all, [&](const auto& experiment) {
        return experiment.family == family && std::ranges::any_of(experiment.axes, [&](const auto& a) {
                   return a.name == axis && (a.may_be_auto || !a.only.empty());
               });
    });
}

void print_conclusions(std::ostream& out, const std::vector<portrait::Conclusion>& conclusions,
                       const report::TableStyle& style) {
    const bool several =
        std::ranges::any_of(conclusions, [&](const auto& c) { return c.device != conclusions.front().device; });
    std::string above;
    const auto heading = [&](const portrait::Conclusion& conclusion) {
        if (!several || above == conclusion.device) return;
        above = conclusion.device;
        out << '\n' << report::wrap_beside("On ", above, style.text_width());
    };
    for (const auto& conclusion : conclusions) {
        const auto& experiment = *conclusion.experiment;
        bool any = false;
        for (const auto& curve : conclusion.curves) {
            const auto* axis = portrait::swept_axis(experiment, curve.variant);
            if (!axis || !portrait::is_long_enough(curve)) continue;
            heading(conclusion);
            out << '\n';
            report::print_curve(out, curve, experiment.family + "_" + curve.variant, *axis, conclusion.findings, style);
            any = true;
        }
        if (conclusion.findings.empty()) continue;
        heading(conclusion);
        out << (any ? "\n" : "\n" + experiment.family + "\n");
        report::print_findings(out, conclusion.findings, style);
    }
}

void print_page(const std::vector<model::Record>& records, const std::vector<portrait::Conclusion>& conclusions,
                const std::vector<report::LostDevice>& lost, bool several_runs, const std::vector<std::string>& columns,
                bool by_time) {
    auto rows = model::rows_of(records);
    if (by_time) std::ranges::stable_sort(rows, {}, [](const auto* r) { return r->time ? r->time->median : HUGE_VAL; });
    const report::TableStyle style{wants_colour(), page_width(), columns};
    report::print_table(results(), rows, style, several_runs ? may_be_auto : report::MayBeAuto{});
    print_bright(results(), records, style);
    print_conclusions(results(), conclusions, style);
    print_summaries(records);
    report::print_by_device(results(), records, lost, may_be_auto, style);
}

void require_columns(const std::vector<std::string>& columns, const std::set<std::string>& axes_and_metrics) {
    auto known = report::column_names();
    for (const auto& name : axes_and_metrics) known.push_back(report::column_name(name));
    // The columns of --steps, --tolerance and --count-above depend on the cells.
    const auto is_made = [](const std::string& name) {
        return name.starts_with("step_") || name.starts_with("error_") || name.starts_with("above_");
    };
    auto asked = columns;
    std::erase_if(asked, is_made);
    report::require_known_columns(asked, known);
}

namespace {

std::string row(const std::string& name, const std::string& left, const std::string& right, std::size_t width) {
    return fmt::format("{:<22}  {:<{}}  {}\n", printable(name), printable(left), width, printable(right));
}

std::string number(const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : "-"; }

std::string count_rows(const inspect::Counts& left, const inspect::Counts& right, const inspect::InstructionSet& isa,
                       std::size_t width) {
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

/// `text` cut to `width` columns, with '+' in place of the cut part. `width` 0: not cut.
std::string cut(const std::string& text, std::size_t width) {
    const auto shown = printable(text);
    return width > 0 && shown.size() > width ? shown.substr(0, width - 1) + "+" : shown;
}

std::string diff_text(const CodePart& left, const CodePart& right, std::size_t left_width, std::size_t right_width,
                      bool colour) {
    const auto lines = inspect::align(left.body, right.body);
    if (std::ranges::all_of(lines, [](const auto& line) { return line.mark == ' '; }))
        return "The same instructions on both sides.\n";
    static constexpr Entry<char, const char*> colours[] = {{'<', "\033[31m"}, {'>', "\033[32m"}, {'~', "\033[33m"}};
    std::string out;
    for (const auto& line : lines) {
        const std::string paint = colour ? value_of(colours, line.mark, "") : "";
        out += fmt::format("{}{} {:<{}}  {}{}\n", paint, line.mark, cut(line.left, left_width), left_width,
                           cut(line.right, right_width), paint.empty() ? "" : "\033[0m");
    }
    return out;
}

}  // namespace

CodePart shown_part(const inspect::FunctionStats& stats, bool whole) {
    if (stats.shown < 0) return {inspect::shown_place(stats), stats.total, stats.code.instructions};
    if (whole) return {"whole kernel, each instruction once", stats.total, stats.code.instructions};
    const auto& loop = stats.loops[static_cast<std::size_t>(stats.shown)];
    CodePart part{inspect::shown_place(stats), loop.own, {}};
    for (const auto i : loop.body) part.body.push_back(stats.code.instructions[i]);
    return part;
}

CodePart hot_part(HotBody body) {
    return {model::place(body.region), std::move(body.counts), std::move(body.instructions)};
}

std::string comparison_text(const CellCode& left, const CellCode& right, bool colour, unsigned columns) {
    const std::size_t width = std::max<std::size_t>(44, left.id.size());
    std::string out = "On " + printable(left.where) + "\n\n" + row("", left.id, right.id, width);
    const auto add = [&](const char* name, std::optional<std::int64_t> model::CodeInfo::*what) {
        if (left.info.*what || right.info.*what)
            out += row(name, number(left.info.*what), number(right.info.*what), width);
    };
    add("registers", &model::CodeInfo::registers);
    add("spills", &model::CodeInfo::spills);
    add("private bytes", &model::CodeInfo::private_bytes);
    add("local bytes", &model::CodeInfo::local_bytes);
    add("code bytes", &model::CodeInfo::code_bytes);
    out += row("loops", std::to_string(left.counts.loops.size()), std::to_string(right.counts.loops.size()), width);
    if (left.counts.isa != right.counts.isa || left.counts.code.instructions.empty() ||
        right.counts.code.instructions.empty())
        return out + "\nThe instructions cannot be compared: one side has no counted disassembly.\n";
    auto left_hot = hot_bodies(left), right_hot = hot_bodies(right);
    // Samples select the hot part, but equal code must show equal parts: use one side's samples for both.
    const bool same = !left.info.fingerprint.empty() && left.info.fingerprint == right.info.fingerprint;
    if (same) (left_hot.empty() ? left_hot : right_hot) = left_hot.empty() ? right_hot : left_hot;
    const bool hot = !left_hot.empty() && !right_hot.empty();
    // A loop of one kernel does not compare with the whole of another.
    const bool whole = left.counts.shown < 0 || right.counts.shown < 0;
    const CodePart ours = hot ? hot_part(std::move(left_hot.front())) : shown_part(left.counts, whole);
    const CodePart theirs = hot ? hot_part(std::move(right_hot.front())) : shown_part(right.counts, whole);
    out += "\n" + row(hot ? "hot" : whole ? "counts of" : "one iteration of", ours.place, theirs.place, width);
    out += count_rows(ours.counts, theirs.counts, *left.counts.isa, width);
    out += "\n" + wrapped_to_page(left.counts.isa->rule) + "\n";
    // The code alone does not tell which loop takes the time.
    if (!hot && left.counts.loops.size() + right.counts.loops.size() > 2)
        out += wrapped_to_page("Another loop may take the time; `cllab isa --vs PATTERN --hot` compares the code that "
                               "runs.") +
               "\n";
    out += "\n";
    // The mark and three blanks take four columns.
    const std::size_t half = columns > 0 ? (columns - 4) / 2 : 0;
    return out + diff_text(ours, theirs, half > 0 ? half : width, half, colour) + "\n";
}

}  // namespace cllab::app
