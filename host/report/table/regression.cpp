#include "report/table/regression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "report/records/json.hpp"
#include "report/records/points.hpp"
#include "report/table/columns.hpp"
#include "report/table/comparison.hpp"
#include "report/table/layout.hpp"

namespace cllab::report {
namespace {

using model::CellChange;
using model::RegressionCell;
using Json = nlohmann::ordered_json;

/// "+3.1 %" for a ratio of 1.031; "x4.2" from 2 on.
std::string change_text(double ratio) {
    if (ratio >= 2) return fmt::format("x{:.3g}", ratio);
    return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string interval_text(const model::RatioEstimate& e) {
    return e.covered() ? change_text(e.low) + " to " + change_text(e.high) : "none";
}

constexpr Entry<CellChange, Tone> tones[] = {
    {CellChange::newly_wrong, Tone::bad},   {CellChange::newly_failing, Tone::bad},
    {CellChange::other_results, Tone::bad}, {CellChange::slower, Tone::bad},
    {CellChange::still_failing, Tone::bad}, {CellChange::other_code, Tone::bad},
    {CellChange::faster, Tone::good},       {CellChange::fixed, Tone::good},
    {CellChange::same, Tone::dim},          {CellChange::same_code, Tone::dim}};

/// What would make a verdict possible.
constexpr Entry<CellChange, const char*> enough_by_change[] = {
    {CellChange::undecided, "a larger --max-time, or a quieter machine"},
    {CellChange::incomparable, "a baseline of this cell on this device: `cllab run --baseline`"},
    {CellChange::other_code, "--allow-new-compiler, which compares the text of then and of now by today's compiler"},
    {CellChange::vanished, "the kernel and the device of the baseline, or a new baseline"},
    {CellChange::unsupported, "a device that can run it"}};

std::vector<const RegressionCell*> worst_first(const std::vector<RegressionCell>& cells) {
    auto out = mapped(cells, [](const auto& cell) { return &cell; });
    std::ranges::stable_sort(
        out, {}, [](const auto* cell) { return std::pair(cell->change, cell->test ? -cell->test->ratio.ratio : 0.0); });
    return out;
}

bool is_same_code(const RegressionCell* cell) { return cell->change == CellChange::same_code; }

std::string xml(std::string_view text) { return with_entities(printable(text), "&<>\""); }

/// One sentence about a cell.
std::string sentence_of(const RegressionCell& cell) {
    std::string out = model::name(cell.change);
    if (cell.test)
        out += ": " + change_text(cell.test->ratio.ratio) + ", interval " + interval_text(cell.test->ratio) + ", " +
               std::to_string(cell.test->ratio.n) + " replicates, beyond " + percent(cell.test->floor) + " with p " +
               fmt::format("{:.2g}", cell.test->adjusted) + " after Holm's correction";
    return cell.reason.empty() ? out : out + "; " + cell.reason;
}

void print_shift(std::ostream& out, const model::Regression& r, std::size_t width) {
    if (r.recorded && r.shift.n < 3) {
        out << wrap(
            "Fewer than three cells have times, so drift of the machine cannot be separated from a change of the "
            "cells.",
            "", width);
        return;
    }
    if (r.shift.n < 3 || (!r.recorded && (!r.shift.covered() || (r.shift.low <= 1 && r.shift.high >= 1)))) return;
    std::string text = fmt::format("Common to all {} cells: {}, interval {}", r.shift.n, change_text(r.shift.ratio),
                                   interval_text(r.shift));
    text += r.recorded ? ". This is drift of the machine or a change common to all cells; stored times cannot separate "
                         "the two. The figures above exclude it."
                       : ". Both sides took turns today, so the machine is not the cause. Look at what the cells "
                         "share: lab.h, options, data. The figures above include it.";
    out << wrap(text, "", width);
}

std::map<CellChange, unsigned> counts_of(const model::Regression& r) {
    std::map<CellChange, unsigned> counts;
    for (const auto& cell : r.cells) ++counts[cell.change];
    return counts;
}

/// "pitch_loop width=512": the axes that tell apart cells of one variant.
std::string cell_name(const RegressionCell& cell, const std::vector<RegressionCell>& among) {
    const auto tells = [&](const std::string& axis, const std::string& value) {
        return std::ranges::any_of(among, [&](const auto& other) {
            return other.id == cell.id && std::ranges::any_of(other.point, [&](const auto& p) {
                       return p.first == axis && p.second != value;
                   });
        });
    };
    return cell_title(cell.id, point_text(cell.point, tells));
}

/// `cells`: the cells of `r` to show.
std::vector<Column> columns_of(const std::vector<const RegressionCell*>& cells, const model::Regression& r) {
    std::vector<Column> columns{{.title = "cell", .names = Names::by_itself},
                                {.title = "change"},
                                {.title = "time", .right = true},
                                {.title = "interval", .keep = 60},
                                {.title = "control", .right = true, .keep = 40},
                                {.title = r.recorded ? "runs" : "arrangements", .right = true, .keep = 30}};
    const bool several = std::ranges::any_of(
        cells, [&](const auto* cell) { return cell->device.selector != cells.front()->device.selector; });
    std::vector<std::optional<double>> before, today;
    for (const auto* cell : cells) {
        const auto test = cell->test.value_or(model::CellTest{});
        add_row(
            columns,
            {cell_name(*cell, r.cells) + (several ? " (" + cell->device.selector + ")" : ""), model::name(cell->change),
             test.ratio.n ? change_text(test.ratio.ratio) : "-", test.ratio.n ? interval_text(test.ratio) : "-",
             test.control.n ? change_text(test.control.ratio) : "-", cell->test ? std::to_string(test.ratio.n) : "-"});
        columns[1].tones.push_back(value_of(tones, cell->change, Tone::plain));
        before.push_back(cell->before > 0 ? std::optional(cell->before) : std::nullopt);
        today.push_back(cell->today > 0 ? std::optional(cell->today) : std::nullopt);
    }
    const auto add = [&](const char* title, const std::vector<std::optional<double>>& values) {
        if (std::ranges::none_of(values, [](const auto& v) { return v.has_value(); })) return;
        columns.push_back(quantity_column({.title = title, .keep = 50, .key = title}, values, "s"));
    };
    add("recorded", before);
    add("today", today);
    return columns;
}

std::string lead_of(const model::Regression& r) {
    std::string lead =
        fmt::format("{} cell{} against '{}'. Slower or faster means by more than {}, beyond the interval. ",
                    r.cells.size(), r.cells.size() == 1 ? "" : "s", r.baseline, percent(r.threshold));
    lead += r.tested
                ? fmt::format("With {} cell{} tested, at most {} of runs raise a false alarm (Holm's correction{}).",
                              r.tested, r.tested == 1 ? "" : "s", percent(r.family_rate),
                              r.looks > 1 ? "; each cell is tested up to " + std::to_string(r.looks) + " times" : "")
                : "No cell needed a comparison of times.";
    if (r.recorded)
        lead +=
            " Stored times give the weaker claim: every figure includes changes of clock, driver and other load since "
            "then.";
    else if (r.tested)
        lead +=
            " The column time is paired: both texts took turns today. The columns recorded and today are separate "
            "runs.";
    return lead;
}

/// "1 slower, 2 same code".
std::string counts_text(const model::Regression& r) {
    return join(counts_of(r), ", ",
                [](const auto& one) { return fmt::format("{} {}", one.second, model::name(one.first)); });
}

}  // namespace

void print_regression(std::ostream& out, const model::Regression& r, const TableStyle& style) {
    const auto width = style.text_width();
    const auto cells = worst_first(r.cells);
    out << wrap(lead_of(r), "", width) << '\n';
    const auto grid = grid_of(columns_of(cells, r), style);
    out << grid.header() << '\n';
    for (std::size_t i = 0; i < cells.size(); ++i) {
        out << grid.row(i) << '\n';
        if (!cells[i]->reason.empty()) out << wrap(cells[i]->reason, "    ", width);
    }
    print_left_out(out, grid.dropped(), style);
    out << '\n';
    print_shift(out, r, width);
    out << wrap(counts_text(r) + fmt::format("; {:.0f} s", r.seconds), "", width);
}

void print_regression_markdown(std::ostream& out, const model::Regression& r) {
    auto cells = worst_first(r.cells);
    std::vector<const RegressionCell*> same;
    std::ranges::copy_if(cells, std::back_inserter(same), &is_same_code);
    std::erase_if(cells, &is_same_code);
    out << "**" << counts_text(r) << "**\n\n" << plain_markdown(lead_of(r)) << "\n\n";
    if (!cells.empty()) write_markdown_grid(out, columns_of(cells, r), cells.size());
    for (const auto* cell : cells)
        if (!cell->reason.empty())
            out << "\n" << plain_markdown(cell_name(*cell, r.cells) + ": " + one_line(cell->reason)) << '\n';
    constexpr std::size_t one_line_each = 10'000;
    std::ostringstream shift;
    print_shift(shift, r, one_line_each);
    if (!shift.str().empty()) out << '\n' << plain_markdown(trim(shift.str())) << '\n';
    if (same.empty()) return;
    const auto names = join(same, ", ", [&](const auto* cell) { return plain_markdown(cell_name(*cell, r.cells)); });
    out << "\n<details><summary>" << same.size() << " with the same code</summary>\n\n" << names << "\n\n</details>\n";
}

std::vector<std::string> regression_json(const model::Regression& r) {
    std::vector<std::string> out;
    for (const auto* cell : worst_first(r.cells)) {
        auto j = line_of("regression", cell->id, cell->point, cell->device);
        j["change"] = model::name(cell->change);
        if (cell->lean != model::Lean::none)
            j["lean"] = cell->lean == model::Lean::all_slower ? "all slower" : "middle slower";
        if (!cell->reason.empty()) j["reason"] = cell->reason;
        if (const std::string would = value_of(enough_by_change, cell->change, ""); !would.empty())
            add_refusal(j, model::name(cell->change), cell->reason.empty() ? sentence_of(*cell) : cell->reason, would);
        if (cell->before > 0) add_figure(j, "recorded", cell->before, "s", "the baseline's record");
        if (cell->today > 0) add_figure(j, "today", cell->today, "s", "the median of today's samples");
        if (cell->test)
            add_figure(j, "ratio", cell->test->ratio.ratio, "times the baseline's time",
                       r.recorded ? "stored times" : fmt::format("{} replicates in turns", cell->test->ratio.n));
        if (cell->before > 0) j["recorded_seconds"] = cell->before;
        if (cell->today > 0) j["today_seconds"] = cell->today;
        if (!cell->before_text.empty()) j["baseline_sha256"] = cell->before_text;
        if (!cell->today_text.empty()) j["today_sha256"] = cell->today_text;
        if (cell->test) {
            j["ratio"] = to_json(cell->test->ratio);
            if (cell->test->control.n) j["control"] = to_json(cell->test->control);
            j["floor"] = cell->test->floor;
            j["p"] = cell->test->p;
            j["p_adjusted"] = cell->test->adjusted;
        }
        if (!cell->arrangements.empty()) {
            j["seconds"] = cell->seconds;
            j["looks"] = cell->looks;
            j["arrangements"] = Json::array();
            for (const auto& a : cell->arrangements) j["arrangements"].push_back(to_json(a));
        }
        out.push_back(line_text(j));
    }
    Json whole{{"schema", model::schema_version},
               {"record", "regression"},
               {"baseline", r.baseline},
               {"recorded", r.recorded},
               {"threshold", r.threshold},
               {"family_rate", r.family_rate},
               {"tested", r.tested},
               {"looks", r.looks},
               {"seconds", r.seconds},
               {"changes", Json::object()}};
    const auto counts = counts_of(r);
    for (const auto& cell : r.cells) whole["changes"][model::name(cell.change)] = counts.at(cell.change);
    if (!r.conditions.empty()) whole["conditions"] = r.conditions;
    if (r.shift.n) whole["common_shift"] = to_json(r.shift);
    out.push_back(line_text(whole));
    return out;
}

std::string regression_junit(const model::Regression& r) {
    static constexpr Entry<CellChange, const char*> elements[] = {
        {CellChange::other_results, "failure"}, {CellChange::slower, "failure"},
        {CellChange::incomparable, "failure"},  {CellChange::vanished, "failure"},
        {CellChange::newly_wrong, "error"},     {CellChange::newly_failing, "error"},
        {CellChange::still_failing, "error"},   {CellChange::undecided, "skipped"},
        {CellChange::added, "skipped"},         {CellChange::unsupported, "skipped"}};
    std::map<std::string, unsigned> counts;
    std::string cases;
    for (const auto* cell : worst_first(r.cells)) {
        cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">", xml(cell->device.name),
                             xml(cell_title(cell->id, cell->point)), cell->seconds);
        const auto text = xml(sentence_of(*cell));
        const std::string element =
            cell->lean != model::Lean::none ? "failure" : value_of(elements, cell->change, "system-out");
        ++counts[element];
        const auto type = element == "skipped" ? "" : fmt::format(" type=\"{}\"", model::name(cell->change));
        cases += element == "system-out" ? "<system-out>" + text + "</system-out>"
                                         : fmt::format("<{}{} message=\"{}\"/>", element, type, text);
        cases += "</testcase>\n";
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"cllab regress {}\" tests=\"{}\" failures=\"{}\" "
        "errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuite>\n",
        xml(r.baseline), r.cells.size(), counts["failure"], counts["error"], counts["skipped"], r.seconds, cases);
}

}  // namespace cllab::report
