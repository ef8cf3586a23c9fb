// What was compared, on what, and the verdict.
#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"
#include "report/table/curve.hpp"

namespace cllab::report::html {
namespace {

constexpr std::size_t most_points = 3;  // of a family that are judged in words

void write_verdicts(std::ostream& out, const Context& c, const GridFamily& family) {
    std::size_t said = 0;
    for (const auto& group : family.groups) {
        if (said == most_points) break;
        std::vector<std::string> sentences;
        for (std::size_t d = 0; d < c.grid.devices.size(); ++d)
            if (!c.grid.devices[d].simulated)
                for (const auto& sentence : ranking_sentences(group, d))
                    sentences.push_back("On " + c.name_of_grid_device(d) + " " + sentence);
        if (sentences.empty()) continue;
        ++said;
        const auto where = c.where(family, group);
        if (!where.empty()) out << "<p class=\"where\">At " << text(where) << "</p>\n";
        for (const auto& sentence : sentences) out << "<p class=\"verdict\">" << text(sentence) << "</p>\n";
        if (const auto differs = verdict(group, c.grid.devices); !differs.empty()) {
            out << "<p>" << text(differs) << " Here";
            for (std::size_t d = 0; d < c.grid.devices.size(); ++d)
                out << (d ? ", " : " ") << c.grid.devices[d].letter << " is " << text(c.name_of_grid_device(d));
            out << ".</p>\n";
        }
    }
    if (family.groups.size() > said && said > 0)
        out << "<p class=\"dim\">" << family.groups.size() - said << " more points are in the charts below.</p>\n";
}

/// Of a variant that nothing stands beside.
std::vector<std::string> only_sentence(const GridGroup& group, std::size_t device) {
    const model::Record* only = nullptr;
    std::string id;
    for (std::size_t v = 0; v < group.ids.size(); ++v) {
        const auto* r = group.cells[v][device].record;
        if (!r || !r->time || r->status != model::Status::ok) continue;
        if (only) return {};  // several, none of which is ranked
        only = r;
        id = group.ids[v];
    }
    if (!only) return {};
    const auto copy = metric_value(*only, "of_copy");
    return {
        id + " takes " + format_seconds(only->time->median) + " (" + spread(*only) + ")" +
        (copy ? ", at " + format_significant(*copy, 3) + " % of the bandwidth of a plain copy of as many bytes" : "") +
        "."};
}

/// How far the curves of a family go, one sentence each.
void write_curve_sentences(std::ostream& out, const Context& c, const std::string& family) {
    constexpr std::size_t most = 6;
    std::size_t said = 0, left = 0;
    for (const auto& set : c.page.curves) {
        if (set.family != family) continue;
        const auto device = c.name_of_device(set.device_key);
        for (const auto& series : set.series) {
            const auto& samples = series.curve.samples;
            if (samples.empty() || said++ >= most) {
                ++left;
                continue;
            }
            const auto at = [&](const auto& s) {
                return format_seconds(value_of(s)) + " at " + series.axis + " " + quantity(s.x, series.unit);
            };
            out << "<p class=\"verdict\">"
                << text("On " + device + " " + family + "_" + series.curve.variant + " takes " + at(samples.front()) +
                        " and " + at(samples.back()) + (samples.front().per_step > 0 ? " per step." : "."))
                << "</p>\n";
        }
    }
    if (left > 0) out << "<p class=\"dim\">" << left << " more curves are below.</p>\n";
}

void write_failed(std::ostream& out, const Context& c) {
    std::vector<std::size_t> failed;
    for (std::size_t i = 0; i < c.records().size(); ++i)
        if (model::is_failure(c.records()[i].status)) failed.push_back(i);
    if (failed.empty()) return;
    constexpr std::size_t most = 50;
    out << "<h3>What failed</h3>\n<ul>\n";
    for (std::size_t k = 0; k < std::min(most, failed.size()); ++k) {
        const auto& r = c.records()[failed[k]];
        out << "<li>" << c.link(failed[k], r.id) << " on " << text(c.devices[c.device_of[failed[k]]].name)
            << ": <b class=\"bad\">" << model::name(r.status) << "</b>, " << text(one_line(r.reason)) << "</li>\n";
    }
    if (failed.size() > most) out << "<li>and " << failed.size() - most << " more, in the table of all cells</li>\n";
    out << "</ul>\n";
}

}  // namespace

std::vector<std::string> ranking_sentences(const GridGroup& group, std::size_t device) {
    struct Entry {
        std::string id;
        const GridCell* cell;
    };
    std::map<std::size_t, std::vector<Entry>> sets;
    for (std::size_t v = 0; v < group.ids.size(); ++v)
        if (const auto& cell = group.cells[v][device]; cell.rank.compared)
            sets[cell.rank.set].push_back({group.ids[v], &cell});
    if (sets.empty()) return only_sentence(group, device);
    std::vector<std::string> out;
    for (auto& [set, ranked] : sets) {
        std::ranges::stable_sort(
            ranked, [](const Entry& a, const Entry& b) { return a.cell->rank.ratio < b.cell->rank.ratio; });
        const auto& best = ranked.front();
        const auto time = format_seconds(best.cell->record->time->median);
        const auto& last = ranked.back();
        const std::string range =
            " (" + last.id + " takes " + format_significant(last.cell->rank.ratio, 3) + " times as long)";
        if (best.cell->rank.fastest) {
            out.push_back(best.id + " is fastest at " + time + "; next is " + ranked[1].id + ", " +
                          format_significant(ranked[1].cell->rank.ratio, 3) + " times as long" +
                          (ranked.size() > 2 ? range : "") + ".");
            continue;
        }
        std::vector<std::string> close;
        for (const auto& entry : ranked)
            if (entry.cell->rank.indistinct) close.push_back(entry.id);
        out.push_back("no variant is clearly the fastest: " + join(close, ", ") +
                      " are too close to call, the least time is " + time +
                      (close.size() < ranked.size() ? range : "") + ".");
    }
    return out;
}

void write_overview(std::ostream& out, const Context& c) {
    std::map<model::Status, std::size_t> counts;
    std::set<std::string> runs;
    std::string first, last;
    for (const auto& r : c.records()) {
        ++counts[r.status];
        runs.insert(r.run.id);
        if (first.empty() || r.utc < first) first = r.utc;
        last = std::max(last, r.utc);
    }
    out << "<section class=\"lead\">\n"
        << heading(2, "overview", "What was compared, and the verdict") << "<p>" << c.records().size()
        << (c.records().size() == 1 ? " cell" : " cells") << " (";
    bool any = false;
    for (const auto& [status, count] : counts) {
        out << (any ? ", " : "") << count << " " << model::name(status);
        any = true;
    }
    out << ") of " << runs.size() << (runs.size() == 1 ? " run" : " runs") << " on " << c.devices.size()
        << (c.devices.size() == 1 ? " device" : " devices") << ", " << text(first)
        << (last == first ? "" : " to " + text(last)) << ".</p>\n<ul class=\"devices\">\n";
    for (const auto& device : c.devices)
        out << "<li><b>" << text(device.name) << "</b> " << text(device.description) << "</li>\n";
    out << "</ul>\n";
    std::vector<std::string> families;
    const auto name_family = [&](const std::string& name) {
        if (std::ranges::find(families, name) == families.end()) families.push_back(name);
    };
    for (const auto& family : c.grid.families) name_family(family.name);
    for (const auto& set : c.page.curves) name_family(set.family);
    for (const auto& name : families) {
        out << "<h3>" << text(name) << "</h3>\n";
        for (const auto& [of, question] : c.page.questions)
            if (of == name) out << "<p class=\"question\">" << text(question) << "</p>\n";
        for (const auto& family : c.grid.families)
            if (family.name == name) write_verdicts(out, c, family);
        write_curve_sentences(out, c, name);
    }
    for (const auto& note : ranking_notes(c.grid.difference, c.grid.apart))
        out << "<p class=\"dim\">" << text(note) << "</p>\n";
    if (!c.page.verdicts.empty()) {
        out << "<h3>Verdicts over arrangements</h3>\n";
        for (const auto& sentence : c.page.verdicts) out << "<p class=\"verdict\">" << text(sentence) << "</p>\n";
    }
    write_failed(out, c);
    out << "</section>\n";
}

}  // namespace cllab::report::html
