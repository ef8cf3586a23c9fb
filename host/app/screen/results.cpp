#include "app/screen/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "app/screen/streams.hpp"
#include "core/text.hpp"
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

/// The pixels that --count-above found: what there is to see in the picture, in words.
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
    // Those of --steps, --tolerance and --count-above are named after what a cell has.
    const auto is_made = [](const std::string& name) {
        return name.starts_with("step_") || name.starts_with("error_") || name.starts_with("above_");
    };
    auto asked = columns;
    std::erase_if(asked, is_made);
    report::require_known_columns(asked, known);
}

}  // namespace cllab::app
