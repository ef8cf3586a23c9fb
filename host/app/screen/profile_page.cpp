// The page of a profile, as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/commands/profile.hpp"
#include "app/files/profile_file.hpp"
#include "core/units.hpp"
#include "model/rankable.hpp"
#include "report/table/columns.hpp"

namespace cllab::app {
namespace {

using namespace model;
using nlohmann::ordered_json;
using portrait::Conclusion;
using portrait::page_of;
using portrait::PageLine;
using portrait::Profile;

/// "±1.2%" of a narrow interval, "[a .. b]" of a wide or lopsided one, nothing where low and high are the value.
std::string confidence(const Finding& f) {
    if (!(f.low < f.high) || f.value == 0) return "";
    const double above = (f.high - f.value) / std::abs(f.value), below = (f.value - f.low) / std::abs(f.value);
    if (std::min(above, below) >= 0 && std::max(above, below) < 0.15 && f.unit != "byte")
        return format_interval(1, 1 - below, 1 + above) + "%";
    return "[" + report::value_text(f.low, f.unit) + " .. " + report::value_text(f.high, f.unit) + "]";
}

std::string per_cycle_text(const PageLine& line) {
    return line.per_cycle == 0 ? "" : format_significant(line.per_cycle, 3) + " " + line.per_cycle_unit;
}

ordered_json number(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(); }

ordered_json curve_json(const Conclusion& conclusion, const Curve& curve) {
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

}  // namespace

double disturbed_part(const Profile& profile) {
    double timed = 0, disturbed = 0;
    for (const auto& record : profile.records) {
        if (!record.time) continue;
        ++timed;
        if (!model::had_its_cores(record)) ++disturbed;
    }
    return timed > 0 ? disturbed / timed : 0;
}

void print_profile(std::ostream& out, const Profile& profile, const report::TableStyle& style) {
    const auto& d = profile.device;
    const auto page = page_of(profile);
    out << report::wrap_heading(fmt::format("{} ({})", d.name, d.selector),
                                fmt::format(", {}, driver {}", d.platform, d.driver), style.text_width(), style.colour)
        << report::wrap(fmt::format("{} cells in {} of a budget of {}; memory {}", profile.records.size(),
                                    format_seconds(profile.seconds), format_seconds(profile.budget_seconds),
                                    format_bytes(d.global_bytes)),
                        "", style.text_width());
    if (const double part = disturbed_part(profile); part > 0)
        out << report::wrap(format_significant(100 * part, 2) + " % of the cells lacked cores that other processes had",
                            "", style.text_width());
    std::vector<report::Column> columns{{.title = "figure", .names = report::Names::by_itself},
                                        {.title = "value", .right = true},
                                        {.title = "interval", .keep = 70},
                                        {.title = "per cycle", .right = true, .keep = 60},
                                        {.title = "driver says", .keep = 50},
                                        {.title = "how", .keep = 10}};
    for (const auto& line : page) {
        if (!line.absent.empty()) continue;
        report::add_row(columns, {line.name, report::value_text(line.finding.value, line.finding.unit),
                                  confidence(line.finding), per_cycle_text(line), line.claim, line.finding.how});
    }
    const bool any = !columns.front().cells.empty();
    const auto grid = report::grid_of(std::move(columns), style);
    if (any) out << '\n' << grid.header() << '\n';
    std::string section;
    std::size_t row = 0;
    for (const auto& line : page) {
        if (line.section != section)
            out << '\n' << report::paint(line.section, report::Tone::strong, style.colour) << '\n';
        section = line.section;
        if (line.absent.empty())
            out << grid.row(row++) << '\n';
        else
            out << report::wrap(line.name + ": none; " + line.absent, "  ", style.text_width());
    }
    if (!grid.dropped().empty()) out << '\n';
    report::print_left_out(out, grid.dropped(), style);
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
    for (const auto& conclusion : profile.conclusions) {
        for (const auto& curve : conclusion.curves) curves.push_back(curve_json(conclusion, curve));
    }
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
    return out.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace cllab::app
