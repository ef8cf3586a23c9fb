#include "portrait/page.hpp"

#include <algorithm>
#include <set>

#include "core/grouped.hpp"
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

/// One sentence: why no finding of this figure is there.
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
    return no_time.empty() ? "not seen: the curve shows no such thing" : no_time;
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

using enum PerCycle;
const std::vector<Figure> all_figures{
    {"Compute", "compute units", "fma.units", no, units_claim, "units"},
    {"Compute", "clock", "fma.clock", no, clock_claim, "latency"},
    {"Compute", "SIMT width", "divergence.width.*", no, width_claim, "width"},
    {"Compute", "sub-group width", "subgroup.width", no, width_claim, "rate"},
    {"Compute", "wave width", "dispatch.wave.width", no, width_claim, "2d"},
    {"Compute", "vectorised work-items", "divergence.vectorised", no, {}, "straight"},
    {"Compute", "parallelism for full rate", "fma.parallelism", no, {}, "ilp"},
    {"Compute", "resident work-items", "dispatch.resident", no, {}, "1d"},
    {"Arithmetic", "FMA latency", "fma.latency.*", cycles, {}, "latency"},
    {"Arithmetic", "FMA latency in cycles", "fma.cycles.*", no, {}, "clock"},
    {"Arithmetic", "peak rate", "fma.peak.*", rate_of_unit, {}, "peak"},
    {"Arithmetic", "rate of one group", "fma.group.rate", rate, {}, "ilp"},
    {"Arithmetic", "instruction rate", "issue.rate", rate_of_unit, {}, "mixed"},
    {"Arithmetic", "loop cost", "fma.loop.cost", cycles, {}, "loop"},
    {"Arithmetic", "rolled loop", "fma.loop.rolled", no, {}, "nested"},
    {"Arithmetic", "code knee", "fma.code.knee", no, {}, "code"},
    {"Arithmetic", "integer rate", "integer.rate.*", rate_of_unit, {}, "divide"},
    {"Arithmetic", "dot products of bytes", "integer.dot", rate_of_unit, {}, "dot"},
    {"Arithmetic", "dot products of shorts", "integer.pair", rate_of_unit, {}, "pair"},
    {"Arithmetic", "dot product latency", "integer.latency.*", cycles, {}, "dot_latency"},
    {"Arithmetic", "matrix units", "matrix.rate.*", rate_of_unit, {}, "rate"},
    {"Arithmetic", "matrix units, by four waves", "matrix.wgmma.*", rate_of_unit, {}, "wgmma"},
    {"Arithmetic", "matrix product latency", "matrix.latency.*", cycles, {}, "latency"},
    {"Arithmetic", "products in flight", "matrix.tiles.*", no, {}, "rate"},
    {"Arithmetic", "function latency of half", "math.latency.fp16_*", cycles, {}, "latency_fp16"},
    {"Arithmetic", "function rate of half", "math.rate.fp16_*", rate_of_unit, {}, "rate_fp16"},
    {"Arithmetic", "function latency", "math.latency.*", cycles, {}, "latency"},
    {"Arithmetic", "function rate", "math.rate.*", rate_of_unit, {}, "rate"},
    {"Arithmetic", "sub-group latency", "subgroup.latency.*", cycles, {}, "latency"},
    {"Arithmetic", "sub-group rate", "subgroup.rate.*", rate_of_unit, {}, "rate"},
    {"Arithmetic", "conversion latency", "convert.latency.*", cycles, {}, "latency"},
    {"Arithmetic", "conversion rate", "convert.rate.*", rate_of_unit, {}, "rate"},
    {"Registers", "registers a work-item", "registers.item.*", no, {}, "live"},
    {"Registers", "registers a group", "registers.group.*", no, group_claim, "live"},
    {"Registers", "live values", "registers.live.*", no, {}, "live"},
    {"Branches", "cost of ways", "divergence.ways.*", no, {}, "paths"},
    {"Branches", "branch or select", "divergence.against.*", no, {}, "branch"},
    {"Caches and memory", "capacity", "latency.l?.size", no, cache_claim, "global"},
    {"Caches and memory", "capacity", "latency.*.size", no, {}, "global"},
    {"Caches and memory", "local memory latency", "latency.local.latency", cycles, local_claim, "local"},
    {"Caches and memory", "latency", "latency.*.latency", cycles, {}, "global"},
    {"Caches and memory", "latency by an index", "latency.l1.indexed", cycles, {}, "indexed"},
    {"Caches and memory", "TLB", "latency.*tlb*.reach", no, {}, "global"},
    {"Caches and memory", "TLB", "latency.*tlb*.cost", cycles, {}, "global"},
    {"Caches and memory", "line", "cacheline.*", no, line_claim, "pair"},
    {"Caches and memory", "bandwidth of a level", "bandwidth.l?.*", rate_of_unit, {}, "reread"},
    {"Caches and memory", "bandwidth of a level", "bandwidth.memory.rate", rate, {}, "reread"},
    {"Caches and memory", "memory bandwidth", "bandwidth.streamed", no, {}, "copy"},
    {"Caches and memory", "memory bandwidth", "bandwidth.*", rate, {}, "copy"},
    {"Caches and memory", "scattered access", "scatter.*", no, {}, "load"},
    {"Caches and memory", "channels", "channels.*", no, {}, "load"},
    {"Local memory and atomics", "bandwidth", "banks.rate", rate_of_unit, {}, "rate"},
    {"Local memory and atomics", "banks", "banks.load.*", cycles, {}, "word"},
    {"Local memory and atomics", "banks", "banks.way.*", cycles, {}, "word"},
    {"Local memory and atomics", "banks", "banks.*", no, {}, "word"},
    {"Local memory and atomics", "barrier", "barrier.*", cycles, {}, "plain"},
    {"Local memory and atomics", "atomics", "atomic.latency", cycles, {}, "chain"},
    {"Local memory and atomics", "atomics", "atomic.*", rate, {}, "global"},
    {"Launching", "empty kernel", "launch.empty.*", no, {}, "item"},
    {"Launching", "second launch", "launch.second.*", no, {}, "item"},
    {"Launching", "launch to launch", "launch.next.*", no, {}, "item"},
    {"Launching", "launch to all units", "launch.spread", no, {}, "spread"},
    {"Launching", "time per group", "dispatch.group.time", cycles, {}, "1d"},
    {"Launching", "group and wave rate", "dispatch.*.rate", rate, {}, "1d"},
};

}  // namespace

const std::vector<Figure>& figures() { return all_figures; }

std::vector<PageLine> page_of(const Profile& profile) {
    std::vector<PageLine> out;
    std::set<std::string> shown;      // by identifier: the first figure that names it has it
    std::set<std::string> explained;  // one line for an absence, however many figures lack it, and none beside what
                                      // others of the label say
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
            add(figure.section, id, *f, figure.per_cycle, claim);
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
        // An absent figure may stand for several, by a glob of its own.
        const bool meant = std::ranges::any_of(
            line.ids, [&](const auto& id) { return glob_match(id, one.id) || glob_match(one.id, id) || one.id == id; });
        if (!meant || one.absent.empty()) continue;
        add_once(out.absent, one.absent);
        if (out.claim.empty()) out.claim = one.claim;
    }
    return out;
}

}  // namespace cllab::portrait
