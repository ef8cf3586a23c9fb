// Rooflines: operations per second over operations per byte, below the measured peaks of the device. Peaks come from
// the device's profile. Without one, they are the fastest records of the probes and of the yardsticks' copies.
#include <algorithm>
#include <functional>
#include <ostream>
#include <set>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/chart.hpp"
#include "report/html/context.hpp"

namespace cllab::report::html {
namespace {

struct Peak {
    std::string name, from;
    double value = 0;
};

/// Keeps the largest value of each name.
void raise(std::vector<Peak>& peaks, const std::string& name, double value, const std::string& from) {
    const auto at = std::ranges::find(peaks, name, &Peak::name);
    if (!(value > 0)) return;
    if (at == peaks.end())
        peaks.push_back({name, from, value});
    else if (value > at->value)
        *at = {name, from, value};
}

double highest(const std::vector<Peak>& peaks) {
    return peaks.empty() ? 0 : std::ranges::max(peaks, {}, &Peak::value).value;
}

struct Roofs {
    std::vector<Peak> compute, memory;
};

/// `fastest`: the highest rate of the kernels. The peak of matrix units is a roof only if a kernel reaches a tenth of
/// it.
Roofs roofs_of(const Context& c, std::size_t device, double fastest) {
    constexpr double near = 0.1;
    Roofs out;
    for (const auto& portrait : c.page.portraits) {
        if (portrait.device_key != c.devices[device].key) continue;
        for (const auto& f : portrait.figures) {
            const auto from = "the profile of " + portrait.utc;
            if (f.unit == "FLOP/s" &&
                (f.name.ends_with(" peak") || (f.name.starts_with("matrix units") && fastest > near * f.value)))
                raise(out.compute, f.name, f.value, from);
            if (f.unit == "B/s" && (f.name == "copy bandwidth" || f.name.ends_with("read bandwidth")))
                raise(out.memory, f.name, f.value, from);
        }
    }
    // The profile may lack peaks, if its budget was too short or the device did other work. Those come from the
    // records.
    const bool needs_compute = out.compute.empty(), needs_memory = out.memory.empty();
    for (std::size_t i = 0; i < c.records().size(); ++i) {
        const auto& r = c.records()[i];
        if (c.device_of[i] != device || r.status != model::Status::ok) continue;
        if (needs_compute && r.family == "fma")
            if (const auto rate = metric_value(r, "flops")) raise(out.compute, "fastest fma record", *rate, r.id);
        if (needs_memory && r.yardstick && r.yardstick->bytes > r.device.last_level_bytes)
            raise(out.memory, "copy beyond the caches", r.yardstick->bandwidth, "copies beside the cells");
    }
    return out;
}

/// Whether the record has rates of operations and of bytes.
bool has_place(const model::Record& r) {
    return metric_value(r, "flops").value_or(0) > 0 && metric_value(r, "bandwidth").value_or(0) > 0;
}

/// The variants of the device: one color per variant if there are at most eight, else one per family.
std::vector<ChartLine> points_of(const Context& c, std::size_t device) {
    model::Rows rows;
    for (std::size_t i = 0; i < c.records().size(); ++i) {
        const auto& r = c.records()[i];
        if (c.device_of[i] != device || !r.time || c.in_curve(i)) continue;
        if (has_place(r)) rows.push_back(&r);
    }
    std::vector<ChartLine> lines;
    std::set<std::string> ids;
    for (const auto* r : rows) ids.insert(r->id);
    const bool by_variant = ids.size() <= 8;
    for (const auto& own : grouped(rows, [&](const model::Record* r) { return by_variant ? r->id : r->family; })) {
        ChartLine line{by_variant ? own.front()->id : own.front()->family, {}, false, true};
        for (const auto* r : own) {
            const double flops = *metric_value(*r, "flops"), scale = flops * r->time->median;
            const bool interval = r->time->has_interval() && r->time->low > 0;
            line.marks.push_back({flops / *metric_value(*r, "bandwidth"), flops, interval ? scale / r->time->high : 0,
                                  interval ? scale / r->time->low : 0, static_cast<long>(c.index(*r))});
        }
        const auto highest = std::ranges::max_element(line.marks, {}, &ChartMark::y);
        line.labelled = static_cast<std::size_t>(highest - line.marks.begin());
        line.label = own[line.labelled]->id;
        lines.push_back(std::move(line));
    }
    return lines;
}

void write_sources(std::ostream& out, const Context& c, std::size_t device, const Roofs& roofs) {
    // Most are from one profile, which is named once.
    auto all = roofs.compute;
    all.insert(all.end(), roofs.memory.begin(), roofs.memory.end());
    const auto said = [](const std::vector<Peak>& of) {
        return text(join(of, ", ", [](const Peak& peak) { return peak.name; }) + " from " + of.front().from);
    };
    out << "<p class=\"dim\">Roofs: " << join(grouped(all, [](const Peak& peak) { return peak.from; }), "; ", said)
        << ".";
    std::vector<std::size_t> left_out;
    std::set<std::string> ids;
    for (std::size_t i = 0; i < c.records().size(); ++i)
        if (const auto& r = c.records()[i];
            c.device_of[i] == device && r.time && !c.in_curve(i) && !has_place(r) && ids.insert(r.id).second)
            left_out.push_back(i);
    constexpr std::size_t most = 6;
    if (!left_out.empty())
        out << " Not here, because no operations or no bytes are declared: " << c.links(left_out, most) << ".";
    out << "</p>\n";
}

ChartLine roof_of(const Peak& peak, const char* unit, const ChartMark& from, const ChartMark& to,
                  std::size_t labelled) {
    return {"", {from, to}, true, false, "roof", peak.name + ", " + quantity(peak.value, unit), labelled};
}

void write_device(std::ostream& out, const Context& c, std::size_t device) {
    auto lines = points_of(c, device);
    if (lines.empty()) return;
    std::vector<double> xs;
    double fastest = 0;
    for (const auto& line : lines)
        for (const auto& mark : line.marks) {
            xs.push_back(mark.x);
            fastest = std::max(fastest, mark.y);
        }
    auto roofs = roofs_of(c, device, fastest);
    const auto name = c.devices[device].name;
    if (roofs.memory.empty()) {
        out << fmt::format(
            "<p>{}: no slope, because its profile has no bandwidth; <code>cllab profile</code> measures it unless "
            "other work disturbs it.</p>\n",
            text(name));
        return;
    }
    // From the top down, so that labels are in the order of the lines.
    for (auto* peaks : {&roofs.compute, &roofs.memory}) std::ranges::sort(*peaks, std::greater(), &Peak::value);
    const double from = std::ranges::min(xs) / 4, to = std::ranges::max(xs) * 4;
    const double top = highest(roofs.compute), widest = highest(roofs.memory);
    for (const auto& peak : roofs.memory) {
        const double end = std::max(from, top > 0 ? std::min(to, top / peak.value) : to);
        lines.push_back(roof_of(peak, "B/s", {from, from * peak.value}, {end, end * peak.value}, 0));
    }
    for (const auto& peak : roofs.compute) {
        const double start = std::min(to, widest > 0 ? std::max(from, peak.value / widest) : from);
        lines.push_back(roof_of(peak, "FLOP/s", {start, peak.value}, {to, peak.value}, 1));
    }
    out << "<div>\n";
    write_chart(out, {"Roofline of " + name, "operations per byte", "", "rate", "FLOP/s"}, lines, {});
    write_sources(out, c, device, roofs);
    out << "</div>\n";
}

}  // namespace

bool has_roofline(const Context& c) {
    for (std::size_t d = 0; d < c.devices.size(); ++d)
        if (!points_of(c, d).empty()) return true;
    return false;
}

void write_roofline(std::ostream& out, const Context& c) {
    out << "<section>\n" << heading(2, "roofline", "Roofline");
    out << "<p>Bytes and operations are the least that the work needs, not what the code executes. Each point is a "
           "variant with the interval of its time. The colour is the variant's, or its family's where there are more "
           "than eight; the legend names it. What is above a slope has its data in a nearer level.</p>\n<div "
           "class=\"figures\">\n";
    for (std::size_t d = 0; d < c.devices.size(); ++d) write_device(out, c, d);
    out << "</div>\n</section>\n";
}

}  // namespace cllab::report::html
