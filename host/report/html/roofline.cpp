// Rooflines: operations per second over operations per byte, below what the device itself was measured to reach. Peaks
// are those of the device's profile; where there is none, the fastest of the records of the probes, and of the copies
// that the cells were held against.
#include <algorithm>
#include <ostream>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "report/html/chart.hpp"
#include "report/html/context.hpp"

namespace cllab::report::html {
namespace {

struct Peak {
    std::string name, from;
    double value = 0;
};

void raise(std::vector<Peak>& peaks, const std::string& name, double value, const std::string& from) {
    const auto at = std::ranges::find_if(peaks, [&](const auto& p) { return p.name == name; });
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

Roofs roofs_of(const Context& c, std::size_t device) {
    Roofs out;
    for (const auto& portrait : c.page.portraits) {
        if (portrait.device_key != c.devices[device].key) continue;
        for (const auto& f : portrait.figures) {
            const auto from = "profile of " + portrait.utc;
            if (f.unit == "FLOP/s" && (f.name == "float peak" || f.name == "double peak"))
                raise(out.compute, f.name, f.value, from);
            if (f.unit == "B/s" && (f.name == "copy bandwidth" || f.name == "read bandwidth" ||
                                    f.name == "level 1 read bandwidth" || f.name == "level 2 read bandwidth"))
                raise(out.memory, f.name, f.value, from);
        }
    }
    // What the profile left out, because its budget did not reach or the device did other work, comes from the records.
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

/// The variants of the device, a line a family: a colour each.
std::vector<ChartLine> points_of(const Context& c, std::size_t device) {
    model::Rows rows;
    for (std::size_t i = 0; i < c.records().size(); ++i) {
        const auto& r = c.records()[i];
        if (c.device_of[i] != device || !r.time || c.in_curve(i)) continue;
        if (metric_value(r, "flops").value_or(0) > 0 && metric_value(r, "bandwidth").value_or(0) > 0)
            rows.push_back(&r);
    }
    std::vector<ChartLine> lines;
    for (const auto& own : grouped(rows, [](const model::Record* r) { return r->family; })) {
        ChartLine line{own.front()->family, {}, false, true};
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

void write_sources(std::ostream& out, const Roofs& roofs) {
    // Most are of one profile, which is named once.
    auto all = roofs.compute;
    all.insert(all.end(), roofs.memory.begin(), roofs.memory.end());
    const auto sources = grouped(all, [](const Peak& peak) { return peak.from; });
    const auto said = [](const std::vector<Peak>& of) {
        return text(join(of, ", ", [](const Peak& peak) { return peak.name; }) + " from " + of.front().from);
    };
    out << fmt::format("<p class=\"dim\">Roofs: {}.</p>\n", join(sources, "; ", said));
}

void write_device(std::ostream& out, const Context& c, std::size_t device) {
    auto lines = points_of(c, device);
    if (lines.empty()) return;
    const auto roofs = roofs_of(c, device);
    const auto name = c.devices[device].name;
    if (roofs.compute.empty() && roofs.memory.empty()) {
        out << fmt::format("<p>{}: no measured peak, so no roof; <code>cllab profile</code> measures it.</p>\n",
                           text(name));
        return;
    }
    std::vector<double> xs;
    for (const auto& line : lines)
        for (const auto& mark : line.marks) xs.push_back(mark.x);
    const double from = std::ranges::min(xs) / 4, to = std::ranges::max(xs) * 4;
    const double top = highest(roofs.compute), fastest = highest(roofs.memory);
    for (const auto& memory : roofs.memory) {
        ChartLine roof{memory.name + ", " + quantity(memory.value, "B/s"), {}, true, false, "roof"};
        const double end = top > 0 ? std::min(to, top / memory.value) : to;
        roof.marks = {{from, from * memory.value}, {std::max(end, from), std::max(end, from) * memory.value}};
        // Roofs that lie on each other have one label; the legend has all.
        const bool near = std::ranges::any_of(roofs.memory, [&](const auto& other) {
            return &other < &memory && std::max(other.value, memory.value) < 1.4 * std::min(other.value, memory.value);
        });
        if (!near) roof.label = memory.name;
        lines.push_back(std::move(roof));
    }
    for (const auto& peak : roofs.compute) {
        const double start = fastest > 0 ? std::max(from, peak.value / fastest) : from;
        lines.push_back({peak.name + ", " + quantity(peak.value, "FLOP/s"),
                         {{std::min(start, to), peak.value}, {to, peak.value}},
                         true,
                         false,
                         "roof",
                         peak.name,
                         1});
    }
    write_chart(out, {"Roofline of " + name, "operations per byte", "", "rate", "FLOP/s"}, lines, {});
    write_sources(out, roofs);
}

}  // namespace

bool has_roofline(const Context& c) {
    return std::ranges::any_of(c.records(),
                               [](const auto& r) { return metric_value(r, "flops") && metric_value(r, "bandwidth"); });
}

void write_roofline(std::ostream& out, const Context& c) {
    out << "<section>\n" << heading(2, "roofline", "Roofline");
    out << "<p>Bytes and operations are the least that the work needs, not what the code executes. Each point is a "
           "variant with the interval of its time. The colour is its family; the highest of each is named.</p>\n<div "
           "class=\"figures\">\n";
    for (std::size_t d = 0; d < c.devices.size(); ++d) write_device(out, c, d);
    out << "</div>\n</section>\n";
}

}  // namespace cllab::report::html
