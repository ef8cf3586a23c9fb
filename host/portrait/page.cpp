#include "portrait/page.hpp"

#include <algorithm>
#include <set>

#include "core/embedded.hpp"
#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::portrait {
namespace {

using namespace model;

std::string units_claim(const Device& d) { return std::to_string(d.compute_units) + " compute units"; }
std::string clock_claim(const Device& d) { return d.clock_mhz ? std::to_string(d.clock_mhz) + " MHz at most" : ""; }
std::string width_claim(const Device& d) {
    return d.preferred_multiple ? "preferred multiple " + std::to_string(d.preferred_multiple) : "";
}
std::string cache_claim(const Device& d) {
    if (!d.host_cache_levels.empty()) return join(d.host_cache_levels, ", ", format_bytes);
    return d.reported_cache_bytes ? "cache " + format_bytes(d.reported_cache_bytes) : "";
}
std::string line_claim(const Device& d) { return "line " + format_bytes(d.cacheline_bytes); }
std::string group_claim(const Device& d) { return std::to_string(d.max_group_promised) + " work-items per group"; }
std::string local_claim(const Device& d) {
    return format_bytes(d.local_bytes) + (d.local_is_dedicated ? " of its own" : " of ordinary memory");
}

/// One sentence: why this figure has no finding.
std::string why_absent(const Profile& profile, const Figure& figure) {
    const auto own = rows_of(profile.records, [&](const Record& r) {
        return r.family == figure.family() && (figure.variant.empty() || r.variant == figure.variant);
    });
    const auto skipped = profile.skipped.find(figure.family());
    const auto no_time = skipped == profile.skipped.end() ? "" : skipped->second;
    if (own.empty()) return no_time.empty() ? "not measured" : no_time;
    const auto failed = std::ranges::find_if(own, [](const Record* r) { return is_failure(r->status); });
    if (failed != own.end()) return (*failed)->id + " is " + name((*failed)->status) + ": " + (*failed)->reason;
    if (std::ranges::none_of(own, [](const Record* r) { return r->status == Status::ok; })) return own.front()->reason;
    return no_time.empty() ? "the measured times show no sign of it" : no_time;
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

/// Reads figures.txt: section headings, and one line per figure. The line has five parts: label, identifiers, form per
/// cycle, the driver's claim to show, and the variant whose status explains a missing figure.
std::vector<Figure> read_figures() {
    static constexpr Entry<std::string_view, PerCycle> ways[] = {
        {"cycles", PerCycle::cycles}, {"rate", PerCycle::rate}, {"rate of unit", PerCycle::rate_of_unit}};
    static constexpr Entry<std::string_view, std::string (*)(const Device&)> claims[] = {
        {"units", units_claim}, {"clock", clock_claim}, {"width", width_claim}, {"cache", cache_claim},
        {"line", line_claim},   {"group", group_claim}, {"local", local_claim}};
    std::vector<Figure> out;
    std::string section;
    for (const auto& line : split(embedded("portrait/figures.txt"), '\n')) {
        const auto parts = mapped(split(line, '|'), [](const auto& part) { return trim(part); });
        if (parts.size() == 1)
            section = parts[0];
        else
            out.push_back({section, parts.at(0), parts.at(1), value_of(ways, parts.at(2), PerCycle::no),
                           value_of(claims, parts.at(3)), parts.at(4)});
    }
    return out;
}

}  // namespace

const std::vector<Figure>& figures() {
    static const auto all = read_figures();
    return all;
}

std::vector<PageLine> page_of(const Profile& profile) {
    if (!profile.lines.empty()) return profile.lines;
    std::vector<PageLine> out;
    std::set<std::string> shown;      // identifiers; the first figure that matches one has it
    std::set<std::string> explained;  // labels by section; a missing figure has a line only if no earlier figure has
                                      // its label
    const auto findings = findings_of(profile.conclusions);
    const auto value_of = [&](const std::string& id) {
        const auto found = std::ranges::find_if(
            findings, [&](const auto& one) { return one.first == id && one.second->withheld.empty(); });
        return found == findings.end() ? 0 : found->second->value;
    };
    const double clock = value_of("fma.clock"), counted = value_of("fma.units");
    const double units = counted > 0 ? counted : profile.device.compute_units;
    const auto add = [&](const std::string& section, const std::string& id, const Finding& f, PerCycle per_cycle,
                         const std::string& claim) {
        if (!shown.insert(id).second) return;
        auto& line = out.emplace_back(PageLine{section, id, f.name, f.withheld, f, 0, {}, claim});
        if (f.withheld.empty()) add_per_cycle(line, per_cycle, clock, units);
    };
    for (const auto& figure : figures()) {
        const auto claim = figure.claim ? figure.claim(profile.device) : "";
        bool any = false;
        for (const auto& [id, f] : findings) {
            if (!glob_match(figure.id, id)) continue;
            any = true;
            // Without a counter of cycles, the clock follows from this latency.
            const bool circular = id == "fma.latency.float" && value_of("fma.cycles.float") == 0;
            add(figure.section, id, *f, circular ? PerCycle::no : figure.per_cycle, claim);
        }
        const bool first = explained.insert(figure.section + figure.label).second;
        if (!any && first)
            out.push_back({figure.section, figure.id, figure.label, why_absent(profile, figure), {}, 0, {}, claim});
    }
    for (const auto& [id, f] : findings) add("More", id, *f, PerCycle::no, "");
    return out;
}

const std::vector<HeadLine>& head() {
    static const std::vector<HeadLine> all{
        {"units", {"fma.units"}, "compute units"},
        {"clock", {"fma.clock"}, "clock"},
        {"peaks", {"fma.peak.*"}, "peak"},
        {"bandwidths", {"bandwidth.copy", "bandwidth.read", "bandwidth.write", "bandwidth.l?.rate"}, "bandwidth"},
        {"caches", {"latency.l?.size"}, "capacity"},
        {"latencies",
         {"latency.l?.latency", "latency.memory.latency", "latency.local.latency", "fma.latency.float"},
         "latency"},
        {"launch", {"launch.empty.item", "launch.next.item"}, ""}};
    return all;
}

HeadFigures figures_of(const HeadLine& line, const std::vector<PageLine>& page) {
    HeadFigures out;
    for (const auto& id : line.ids)
        for (const auto& one : page)
            if (one.absent.empty() && glob_match(id, one.id) &&
                std::ranges::count(id, '.') == std::ranges::count(one.id, '.'))
                out.found.push_back(&one);
    if (!out.found.empty()) return out;
    for (const auto& one : page) {
        // The identifier of an absent figure may be a glob, too.
        const bool meant = std::ranges::any_of(
            line.ids, [&](const auto& id) { return glob_match(id, one.id) || glob_match(one.id, id) || one.id == id; });
        if (!meant || one.absent.empty()) continue;
        add_once(out.absent, one.absent);
        if (out.claim.empty()) out.claim = one.claim;
    }
    return out;
}

}  // namespace cllab::portrait
