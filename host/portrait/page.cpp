#include "portrait/page.hpp"

#include <set>

#include "core/text.hpp"
#include "portrait/figures.hpp"

namespace cllab::portrait {
namespace {

using namespace model;

/// The figure's value, 0 when no probe found it.
double value_of(const Profile& profile, const std::string& id) {
    for (const auto& c : profile.conclusions) {
        for (const auto& f : c.findings) {
            if (f.withheld.empty() && id_of(c, f) == id) return f.value;
        }
    }
    return 0;
}

/// One sentence: why no finding of this figure is there.
std::string why_absent(const Profile& profile, const Figure& figure) {
    const Record* failed = nullptr;
    const Record* unsupported = nullptr;
    bool any = false, ok = false;
    for (const auto& r : profile.records) {
        if (r.family != figure.family() || (!figure.variant.empty() && r.variant != figure.variant)) continue;
        any = true;
        ok = ok || r.status == Status::ok;
        if (r.status == Status::unsupported && !unsupported) unsupported = &r;
        if (is_failure(r.status) && !failed) failed = &r;
    }
    if (const auto skipped = profile.skipped.find(figure.family()); skipped != profile.skipped.end())
        return skipped->second;
    if (!any) return "not measured";
    if (failed) return failed->id + " is " + name(failed->status) + ": " + failed->reason;
    if (!ok && unsupported) return unsupported->reason;
    return "not seen: the curve shows no such thing";
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

}  // namespace

std::string id_of(const Conclusion& conclusion, const Finding& finding) {
    return conclusion.experiment->family + "." + finding.id;
}

std::vector<PageLine> page_of(const Profile& profile) {
    std::vector<PageLine> out;
    std::set<std::string> shown;      // by identifier: the first figure that names it has it
    std::set<std::string> explained;  // one line for an absence, however many figures lack it, and none beside what
                                      // others of the label say
    const double clock = value_of(profile, "fma.clock"), found = value_of(profile, "fma.units");
    const double units = found > 0 ? found : profile.device.compute_units;
    const auto add = [&](const std::string& section, const std::string& id, const Finding& f, PerCycle per_cycle,
                         const std::string& claim) {
        PageLine line{section, id, f.name, f.withheld, f, 0, {}, claim};
        if (f.withheld.empty()) add_per_cycle(line, per_cycle, clock, units);
        out.push_back(std::move(line));
        shown.insert(id);
    };
    for (const auto& figure : figures()) {
        const auto claim = figure.claim ? figure.claim(profile.device) : "";
        bool any = false;
        for (const auto& conclusion : profile.conclusions) {
            for (const auto& f : conclusion.findings) {
                const auto id = id_of(conclusion, f);
                if (!glob_match(figure.id, id)) continue;
                any = true;
                if (!shown.count(id)) add(figure.section, id, f, figure.per_cycle, claim);
            }
        }
        if (any) explained.insert(figure.section + figure.label);
        if (!any && explained.insert(figure.section + figure.label).second)
            out.push_back({figure.section, figure.id, figure.label, why_absent(profile, figure), {}, 0, {}, claim});
    }
    for (const auto& conclusion : profile.conclusions) {
        for (const auto& f : conclusion.findings) {
            const auto id = id_of(conclusion, f);
            if (!shown.count(id)) add("More", id, f, PerCycle::no, "");
        }
    }
    return out;
}

}  // namespace cllab::portrait
