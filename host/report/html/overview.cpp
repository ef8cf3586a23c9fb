// What was compared, on what, and the verdict.
#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"

namespace cllab::report::html {
namespace {

constexpr std::size_t most_points = 3;  // of a family that are judged in words

void write_verdicts(std::ostream& out, const Context& c, const GridFamily& family) {
    std::size_t said = 0;
    for (const auto& group : family.groups) {
        if (said == most_points) break;
        std::vector<std::string> sentences;
        for (std::size_t d = 0; d < c.grid.devices.size(); ++d)
            if (const auto sentence = ranking_sentence(group, d); !sentence.empty() && !c.grid.devices[d].simulated)
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

}  // namespace

std::string ranking_sentence(const GridGroup& group, std::size_t device) {
    struct Entry {
        std::string id;
        const GridCell* cell;
    };
    std::vector<Entry> ranked;
    for (std::size_t v = 0; v < group.ids.size(); ++v)
        if (group.cells[v][device].rank.compared) ranked.push_back({group.ids[v], &group.cells[v][device]});
    if (ranked.size() < 2) return "";
    std::stable_sort(ranked.begin(), ranked.end(), [](const Entry& a, const Entry& b) { return a.cell->rank.ratio < b.cell->rank.ratio; });
    const auto& best = ranked.front();
    const auto time = format_seconds(best.cell->record->time->median);
    const auto& last = ranked.back();
    const std::string range = " (" + last.id + " takes " + format_significant(last.cell->rank.ratio, 3) + " times as long)";
    if (best.cell->rank.fastest)
        return best.id + " is fastest at " + time + "; next is " + ranked[1].id + ", " + format_significant(ranked[1].cell->rank.ratio, 3) +
               " times as long" + (ranked.size() > 2 ? range : "") + ".";
    std::vector<std::string> close;
    for (const auto& entry : ranked)
        if (entry.cell->rank.indistinct) close.push_back(entry.id);
    return "no variant is clearly the fastest: " + join(close, ", ") + " cannot be told apart, the least time is " + time +
           (close.size() < ranked.size() ? range : "") + ".";
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
    out << "<section class=\"lead\">\n" << heading(2, "overview", "What was compared, and the verdict") << "<p>" << c.records().size() << (c.records().size() == 1 ? " cell" : " cells") << " (";
    bool any = false;
    for (const auto& [status, count] : counts) {
        out << (any ? ", " : "") << count << " " << model::name(status);
        any = true;
    }
    out << ") of " << runs.size() << (runs.size() == 1 ? " run" : " runs") << " on " << c.devices.size() << (c.devices.size() == 1 ? " device" : " devices")
        << ", " << text(first) << (last == first ? "" : " to " + text(last)) << ".</p>\n<ul class=\"devices\">\n";
    for (const auto& device : c.devices) out << "<li><b>" << text(device.name) << "</b> " << text(device.description) << "</li>\n";
    out << "</ul>\n";
    for (const auto& family : c.grid.families) {
        out << "<h3>" << text(family.name) << "</h3>\n";
        for (const auto& [name, question] : c.page.questions)
            if (name == family.name) out << "<p class=\"question\">" << text(question) << "</p>\n";
        write_verdicts(out, c, family);
    }
    if (!c.page.verdicts.empty()) {
        out << "<h3>Verdicts over arrangements</h3>\n";
        for (const auto& sentence : c.page.verdicts) out << "<p class=\"verdict\">" << text(sentence) << "</p>\n";
    }
    std::vector<std::size_t> failed;
    for (std::size_t i = 0; i < c.records().size(); ++i)
        if (model::is_failure(c.records()[i].status)) failed.push_back(i);
    if (!failed.empty()) {
        constexpr std::size_t most = 50;
        out << "<h3>What failed</h3>\n<ul>\n";
        for (std::size_t k = 0; k < std::min(most, failed.size()); ++k) {
            const auto& r = c.records()[failed[k]];
            out << "<li>" << c.link(failed[k], r.id) << " on " << text(c.devices[c.device_of[failed[k]]].name) << ": <b class=\"bad\">" << model::name(r.status)
                << "</b>, " << text(one_line(r.reason)) << "</li>\n";
        }
        if (failed.size() > most) out << "<li>and " << failed.size() - most << " more, in the table of all cells</li>\n";
        out << "</ul>\n";
    }
    out << "</section>\n";
}

}  // namespace cllab::report::html
