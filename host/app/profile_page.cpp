// The page of a profile, as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "app/profile.hpp"
#include "app/profile_file.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/layout.hpp"

namespace cllab::app {
namespace {

using namespace model;
using nlohmann::ordered_json;

const Conclusion* conclusion_of(const Profile& profile, const std::string& family) {
    for (const auto& c : profile.conclusions) {
        if (c.experiment->family == family) return &c;
    }
    return nullptr;
}

/// Hz, 0 when no probe found it.
double clock_of(const Profile& profile) {
    const auto* c = conclusion_of(profile, "fma");
    if (!c) return 0;
    for (const auto& f : c->findings) {
        if (f.name == "clock") return f.value;
    }
    return 0;
}

double units_of(const Profile& profile) {
    if (const auto* c = conclusion_of(profile, "fma")) {
        for (const auto& f : c->findings) {
            if (f.name == "compute units") return f.value;
        }
    }
    return profile.device.compute_units;
}

/// One sentence: why no finding of this figure is there.
std::string why_absent(const Profile& profile, const Figure& figure) {
    const Record* failed = nullptr;
    const Record* unsupported = nullptr;
    bool any = false, ok = false;
    for (const auto& r : profile.records) {
        if (r.family != figure.family || (!figure.variant.empty() && r.variant != figure.variant)) continue;
        any = true;
        ok = ok || r.status == Status::ok;
        if (r.status == Status::unsupported && !unsupported) unsupported = &r;
        if (is_failure(r.status) && !failed) failed = &r;
    }
    if (!any) return "not measured: the budget was spent before";
    if (failed) return fmt::format("{} is {}: {}", failed->id, name(failed->status), failed->reason);
    if (!ok && unsupported) return unsupported->reason;
    return "not seen: the curve shows no such thing";
}

std::string quantity(double value, const std::string& unit) {
    if (unit == "s") return value < 0 ? "-" + format_seconds(-value) : format_seconds(value);
    if (unit == "byte" && value >= 0 && value < 1e19)
        return format_bytes(static_cast<std::uint64_t>(std::llround(value)));
    if (unit == "Hz" || unit.find("/s") != std::string::npos) return format_rate(value, unit);
    const auto number = value == std::floor(value) && std::abs(value) < 1e9 ? fmt::format("{:.0f}", value)
                                                                            : format_significant(value, 3);
    return unit.empty() ? number : number + (unit == "%" ? "" : " ") + unit;
}

/// "±1.2%" of a narrow interval, "[a .. b]" of a wide or lopsided one, nothing where low and high are the value.
std::string confidence(const Finding& f) {
    if (!(f.low < f.high) || f.value == 0) return "";
    const double above = (f.high - f.value) / std::abs(f.value), below = (f.value - f.low) / std::abs(f.value);
    if (std::max(above, below) < 0.15 && f.unit != "byte")
        return "±" + format_significant(100 * std::max(above, below), 2) + "%";
    return "[" + quantity(f.low, f.unit) + " .. " + quantity(f.high, f.unit) + "]";
}

std::string per_cycle_text(const PageLine& line) {
    return line.per_cycle == 0 ? "" : format_significant(line.per_cycle, 3) + " " + line.per_cycle_unit;
}

void add_per_cycle(PageLine& line, PerCycle how, double clock, double units) {
    if (clock <= 0 || how == PerCycle::no) return;
    const auto& f = line.finding;
    if (how == PerCycle::cycles && f.unit == "s") {
        line.per_cycle = f.value * clock;
        line.per_cycle_unit = "clk";
        return;
    }
    if (how == PerCycle::cycles || f.unit.size() < 3 || f.unit.substr(f.unit.size() - 2) != "/s") return;
    const bool of_unit = how == PerCycle::rate_of_unit && units > 0;
    line.per_cycle = f.value / clock / (of_unit ? units : 1);
    line.per_cycle_unit = f.unit.substr(0, f.unit.size() - 2) + (of_unit ? "/clk/unit" : "/clk");
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
    std::string axis = conclusion.experiment->curve_over;
    for (const auto& v : conclusion.experiment->variants) {
        if (v.name == curve.variant) axis = conclusion.experiment->swept_axis(v);
    }
    return {{"id", conclusion.experiment->family + "_" + curve.variant},
            {"over", axis},
            {"fixed", fixed},
            {"samples", samples}};
}

}  // namespace

std::vector<PageLine> page_of(const Profile& profile) {
    std::vector<PageLine> out;
    std::set<std::pair<std::string, std::string>> shown;  // family and finding: the first figure that names it has it
    std::set<std::string> explained;                      // one line for an absence, however many figures lack it
    const double clock = clock_of(profile), units = units_of(profile);
    const auto add = [&](const std::string& section, const std::string& family, const Finding& f, PerCycle per_cycle,
                         const std::string& claim) {
        PageLine line{section, f.name, {}, f, family, 0, {}, claim};
        add_per_cycle(line, per_cycle, clock, units);
        out.push_back(std::move(line));
        shown.emplace(family, f.name);
    };
    for (const auto& figure : profile_figures()) {
        const auto* conclusion = conclusion_of(profile, figure.family);
        bool any = false;
        if (conclusion) {
            for (const auto& f : conclusion->findings) {
                if (!glob_match(figure.finding, f.name)) continue;
                any = true;
                if (shown.count({figure.family, f.name})) continue;
                add(figure.section, figure.family, f, figure.per_cycle,
                    figure.claim ? figure.claim(profile.device) : "");
            }
        }
        if (!any && explained.insert(figure.section + figure.label).second)
            out.push_back({figure.section,
                           figure.label,
                           why_absent(profile, figure),
                           {},
                           figure.family,
                           0,
                           {},
                           figure.claim ? figure.claim(profile.device) : ""});
    }
    for (const auto& conclusion : profile.conclusions) {
        for (const auto& f : conclusion.findings) {
            if (!shown.count({conclusion.experiment->family, f.name}))
                add("More", conclusion.experiment->family, f, PerCycle::no, "");
        }
    }
    return out;
}

void print_profile(std::ostream& out, const Profile& profile, const report::TableStyle& style) {
    const auto& d = profile.device;
    const auto page = page_of(profile);
    out << report::paint(fmt::format("{} ({})", d.name, d.selector), report::Tone::strong, style.colour)
        << fmt::format(", {}, driver {}\n", printable(d.platform), printable(d.driver))
        << fmt::format("{} cells in {} of a budget of {}{}; memory {}\n", profile.records.size(),
                       format_seconds(profile.seconds), format_seconds(profile.budget_seconds),
                       profile.thinned > 1 ? fmt::format(", of some sweeps only every {}. point", profile.thinned) : "",
                       format_bytes(d.global_bytes));
    std::vector<report::Column> columns{
        {"figure"},        {"value", true}, {"interval"}, {"per cycle", true, 60}, {"driver says", false, 50},
        {"how", false, 10}};
    std::vector<std::size_t> present;
    for (std::size_t i = 0; i < page.size(); ++i) {
        if (!page[i].absent.empty()) continue;
        present.push_back(i);
        const auto& line = page[i];
        const std::string cells[] = {line.name,
                                     quantity(line.finding.value, line.finding.unit),
                                     confidence(line.finding),
                                     per_cycle_text(line),
                                     line.claim,
                                     line.finding.how};
        for (std::size_t c = 0; c < columns.size(); ++c) columns[c].cells.push_back(cells[c]);
    }
    const report::Grid grid(std::move(columns), style.width, style.colour);
    if (!present.empty()) out << '\n' << grid.header() << '\n';
    std::string section;
    std::size_t row = 0;
    for (const auto& line : page) {
        if (line.section != section)
            out << '\n' << report::paint(line.section, report::Tone::strong, style.colour) << '\n';
        section = line.section;
        if (line.absent.empty())
            out << grid.row(row++) << '\n';
        else
            out << report::wrap(line.name + ": none; " + line.absent, "  ", style.width ? style.width : 100);
    }
}

std::string profile_json(const Profile& profile) {
    const auto& d = profile.device;
    ordered_json figures = ordered_json::array(), absent = ordered_json::array(), curves = ordered_json::array();
    for (const auto& line : page_of(profile)) {
        if (!line.absent.empty()) {
            absent.push_back(
                {{"section", line.section}, {"name", line.name}, {"family", line.family}, {"reason", line.absent}});
            continue;
        }
        const auto& f = line.finding;
        ordered_json figure{{"section", line.section},  {"family", line.family}, {"name", f.name},
                            {"value", number(f.value)}, {"unit", f.unit},        {"low", number(f.low)},
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
                       {"identity", d.identity}}},
                     {"utc", profile.utc},
                     {"seconds", number(profile.seconds)},
                     {"budget_seconds", number(profile.budget_seconds)},
                     {"thinned", profile.thinned},
                     {"figures", figures},
                     {"absent", absent},
                     {"curves", curves}};
    return out.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace cllab::app
