// The page of a profile, as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "app/commands/profile.hpp"
#include "app/files/profile_file.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "json/read.hpp"
#include "model/result.hpp"
#include "report/table/columns.hpp"

namespace cllab::app {
namespace {

using namespace model;
using nlohmann::ordered_json;
using portrait::page_of;
using portrait::PageLine;
using portrait::Profile;

/// "±1.2%" for a narrow interval, "[a .. b]" for a wide or asymmetric one, empty if low and high equal the value.
std::string confidence(const Finding& f) {
    if (!(f.low < f.high) || f.value == 0) return "";
    const double above = (f.high - f.value) / std::abs(f.value), below = (f.value - f.low) / std::abs(f.value);
    if (std::min(above, below) >= 0 && std::max(above, below) < 0.15 && f.unit != "byte")
        return format_interval(1, 1 - below, 1 + above) + "%";
    return "[" + value_text(f.low, f.unit) + " .. " + value_text(f.high, f.unit) + "]";
}

ordered_json number(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(); }

ordered_json curve_json(const portrait::Conclusion& conclusion, const Curve& curve) {
    ordered_json fixed = ordered_json::object(), samples = ordered_json::array();
    for (const auto& [axis, value] : curve.fixed.values()) fixed[axis] = value;
    for (const auto& s : curve.samples) {
        ordered_json sample{
            {"x", number(s.x)}, {"seconds", number(s.seconds)}, {"low", number(s.low)}, {"high", number(s.high)}};
        for (const auto& [metric, value] : s.metrics) sample[metric] = number(value);
        samples.push_back(std::move(sample));
    }
    const auto& of = *conclusion.experiment;
    const auto* axis = portrait::swept_axis(of, curve.variant);
    return {{"id", of.family + "_" + curve.variant},
            {"over", axis ? axis->name : of.curve_over},
            {"fixed", fixed},
            {"samples", samples}};
}

void print_heading(std::ostream& out, const Profile& profile, const report::TableStyle& style) {
    const auto& d = profile.device;
    const auto took = profile.lines.empty()
                          ? fmt::format("{} cells in {} of a budget of {}", profile.records.size(),
                                        format_seconds(profile.seconds), format_seconds(profile.budget_seconds))
                          : "measured at " + profile.utc;
    out << report::wrap_heading(fmt::format("{} ({})", d.name, d.selector),
                                fmt::format(", {}, driver {}", d.platform, d.driver), style.text_width(), style.colour)
        << report::wrap(took + "; memory " + format_bytes(d.global_bytes), "", style.text_width());
    out << report::wrap(busy_sentence(disturbed_part(profile), d.selector), "", style.text_width());
    const bool quick = profile.budget_seconds < ProfileOptions::whole_seconds;
    if (!profile.skipped.empty())
        out << report::wrap("The time was too short for some figures. `cllab profile --device " + d.selector +
                                "` measures them " + (quick ? "in 60 s" : "on an idle machine") +
                                ". `cllab why` measures the peaks that it needs itself.",
                            "", style.text_width());
}

/// One line per text, with the names of all figures that have it.
void print_by_text(std::ostream& out, const std::string& heading, const std::vector<PageLine>& figures,
                   std::string (*text)(const PageLine&), const report::TableStyle& style) {
    if (figures.empty()) return;
    out << '\n' << report::paint(heading, report::Tone::strong, style.colour) << '\n';
    for (const auto& lines : grouped(figures, text)) {
        std::vector<std::string> names;
        for (const auto& line : lines) add_once(names, line.name);
        out << report::wrap(join(names, ", ") + ": " + text(lines.front()), "  ", style.text_width());
    }
}

std::string method_of(const PageLine& line) {
    return line.finding.how + (line.claim.empty() ? "" : "; the driver says " + line.claim);
}

/// This page shows only the first clause of a reason. For "not measured", shows the clause after it.
std::string first_clause(const std::string& reason) {
    constexpr std::string_view head = "not measured: ";
    const auto from = reason.starts_with(head) ? head.size() : 0;
    auto end = reason.size();
    for (const char* mark : {": ", "; ", ", and ", ", which "}) end = std::min(end, reason.find(mark, from));
    return reason.substr(0, end);
}

/// A figure of the page; nullptr if the page has no line of it.
const PageLine* line_of(const std::vector<PageLine>& page, const std::string& id) {
    const auto found = std::ranges::find(page, id, &PageLine::id);
    return found == page.end() ? nullptr : &*found;
}

/// Each cache level that the system describes: its measured capacity and that of the system, or why none is measured.
std::string caches_text(const Device& device, const std::vector<PageLine>& page) {
    return join(device.host_cache_levels, ", ", [&, level = 0](std::uint64_t size) mutable {
        const auto* line = line_of(page, concat("latency.l", ++level, ".size"));
        return concat("L", level, " ", format_bytes(size), " by the system",
                      !line ? ""
                      : line->absent.empty()
                          ? concat(" (measured ", value_text(line->finding.value, line->finding.unit), ")")
                          : " (" + first_clause(line->absent) + ")");
    });
}

}  // namespace

double disturbed_part(const Profile& profile) {
    const auto timed = rows_of(profile.records, [](const Record& r) { return r.time.has_value(); });
    const auto disturbed = std::ranges::count_if(timed, [](const Record* r) { return !had_its_cores(*r); });
    return timed.empty() ? profile.disturbed : static_cast<double>(disturbed) / static_cast<double>(timed.size());
}

std::string busy_sentence(double disturbed, const std::string& device) {
    if (!(disturbed > 0)) return "";
    return fmt::format(
        "The profile was measured on a busy machine, where {} % of its cells lacked cores; `cllab profile --device {}` "
        "measures it again.",
        format_significant(100 * disturbed, 2), device);
}

void print_profile_head(std::ostream& out, const Profile& profile, const report::TableStyle& style) {
    const auto page = page_of(profile);
    print_heading(out, profile, style);
    std::size_t shown = 0, found = 0;
    for (const auto& line : page) found += line.absent.empty();
    out << '\n';
    for (const auto& line : portrait::head()) {
        const auto figures = portrait::figures_of(line, page);
        const auto text = [&](const PageLine* one) {
            auto name = one->name;
            if (const auto at = name.find(line.said); !line.said.empty() && at != std::string::npos)
                name.erase(at > 0 ? at - 1 : at, line.said.size() + (at > 0));  // with the space before it
            const auto value = value_text(one->finding.value, one->finding.unit);
            return trim(name.insert(std::min(name.find(" ("), name.size()), " " + value));
        };
        shown += figures.found.size();
        std::set<std::string> reasons;
        for (const auto& reason : figures.absent) reasons.insert(first_clause(reason));
        const auto absent = join(reasons, "; ", std::identity{});
        const auto label = fmt::format("  {:<12}", line.label);
        out << report::wrap_beside(
            label,
            line.label == "caches" && !profile.device.host_cache_levels.empty() ? caches_text(profile.device, page)
            : figures.found.empty() && figures.claim.empty()                    ? "none; " + absent
            : figures.found.empty() ? figures.claim + " by the driver or the system (" + absent + ")"
                                    : join(figures.found, ", ", text),
            style.text_width());
    }
    out << '\n'
        << report::wrap(
               fmt::format("--all also prints {} more figures, the intervals, and why {} figures are missing. --saved "
                           "prints them from the file.",
                           found - shown, page.size() - found),
               "", style.text_width());
}

void print_profile(std::ostream& out, const Profile& profile, const report::TableStyle& style) {
    auto found = page_of(profile), absent = found;
    std::erase_if(found, [](const PageLine& line) { return !line.absent.empty(); });
    std::erase_if(absent, [](const PageLine& line) { return line.absent.empty(); });
    print_heading(out, profile, style);
    std::vector<report::Column> columns{{.title = "figure", .names = report::Names::by_itself, .most = 30},
                                        {.title = "value", .right = true},
                                        {.title = "interval", .keep = 70},
                                        {.title = "per cycle", .right = true, .keep = 60},
                                        {.title = "driver says", .keep = 50},
                                        {.title = "how", .keep = 10, .most = style.columns.empty() ? 60u : 0u}};
    for (const auto& line : found)
        report::add_row(columns,
                        {line.name, value_text(line.finding.value, line.finding.unit), confidence(line.finding),
                         line.per_cycle == 0 ? "" : format_significant(line.per_cycle, 3) + " " + line.per_cycle_unit,
                         line.claim, line.finding.how});
    const auto grid = report::grid_of(std::move(columns), style);
    if (!found.empty()) out << '\n' << grid.header() << '\n';
    print_sections(out, grid, mapped(found, &PageLine::section), style.colour);
    auto dropped = grid.dropped();
    if (style.columns.empty() && std::erase(dropped, "how") > 0) {
        std::erase(dropped, "driver_says");
        print_by_text(out, "Methods", found, method_of, style);
    }
    print_by_text(
        out, "Not found", absent, [](const PageLine& line) { return line.absent; }, style);
    if (!dropped.empty()) out << '\n';
    report::print_left_out(out, dropped, style);
}

std::string profile_json(const Profile& profile) {
    const auto& d = profile.device;
    ordered_json figures = ordered_json::array(), absent = ordered_json::array(), curves = ordered_json::array();
    for (const auto& line : page_of(profile)) {
        if (!line.absent.empty()) {
            absent.push_back(
                {{"section", line.section}, {"id", line.id}, {"name", line.name}, {"reason", line.absent}});
            continue;
        }
        const auto& f = line.finding;
        ordered_json figure{{"section", line.section},  {"id", line.id},  {"name", f.name},
                            {"value", number(f.value)}, {"unit", f.unit}, {"low", number(f.low)},
                            {"high", number(f.high)},   {"how", f.how}};
        if (line.per_cycle != 0)
            figure["per_cycle"] = {{"value", number(line.per_cycle)}, {"unit", line.per_cycle_unit}};
        if (!line.claim.empty()) figure["driver_says"] = line.claim;
        figures.push_back(std::move(figure));
    }
    for (const auto& conclusion : profile.conclusions)
        for (const auto& curve : conclusion.curves) curves.push_back(curve_json(conclusion, curve));
    ordered_json out{{"schema", profile_schema},
                     {"device",
                      {{"selector", d.selector},
                       {"platform", d.platform},
                       {"name", d.name},
                       {"vendor", d.vendor},
                       {"driver", d.driver},
                       {"type", name(d.type)},
                       {"identity", d.identity},
                       {"compute_units", d.compute_units},
                       {"caches", d.host_cache_levels}}},
                     {"utc", profile.utc},
                     {"seconds", number(profile.seconds)},
                     {"budget_seconds", number(profile.budget_seconds)},
                     {"disturbed", number(disturbed_part(profile))},
                     {"figures", figures},
                     {"absent", absent},
                     {"curves", curves}};
    return json_text(out, 2);
}

}  // namespace cllab::app
