// What was compared, on what, and the verdict.
#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"
#include "report/table/curve.hpp"

namespace cllab::report::html {
namespace {

constexpr std::size_t most_points = 3;  // of a family that are judged in words

void write_verdict(std::ostream& out, const std::string& sentence) {
    out << fmt::format("<p class=\"verdict\">{}</p>\n", text(sentence));
}

/// Of a variant that nothing stands beside.
std::vector<std::string> only_sentence(const GridGroup& group, std::size_t device) {
    model::Rows timed;
    for (const auto& cells : group.cells)
        if (const auto* r = cells[device].record; r && r->time) timed.push_back(r);
    if (timed.size() != 1) return {};  // of several, none is ranked
    const auto& only = *timed.front();
    const auto copy = metric_value(only, "of_copy");
    return {fmt::format(
        "{} takes {} ({}){}.", only.id, format_seconds(only.time->median), spread(only),
        copy ? ", at " + format_significant(*copy, 3) + " % of the bandwidth of a plain copy of as many bytes" : "")};
}

/// Which variants of the group are before the others on one device: a sentence for each set that took turns.
std::vector<std::string> ranking_sentences(const GridGroup& group, std::size_t device) {
    std::map<std::size_t, std::vector<const GridCell*>> sets;
    for (const auto& cells : group.cells)
        if (const auto& cell = cells[device]; cell.rank.compared) sets[cell.rank.set].push_back(&cell);
    if (sets.empty()) return only_sentence(group, device);
    const auto id = [](const GridCell* cell) { return cell->record->id; };
    const auto times = [](const GridCell* cell) { return format_significant(cell->rank.ratio, 3) + " times as long"; };
    std::vector<std::string> out;
    for (auto& [set, ranked] : sets) {
        std::ranges::stable_sort(ranked, {}, [](const GridCell* cell) { return cell->rank.ratio; });
        const auto* best = ranked.front();
        const auto time = format_seconds(best->record->time->median);
        const auto range = " (" + id(ranked.back()) + " takes " + times(ranked.back()) + ")";
        if (best->rank.fastest) {
            out.push_back(id(best) + " is fastest at " + time + "; next is " + id(ranked[1]) + ", " + times(ranked[1]) +
                          (ranked.size() > 2 ? range : "") + ".");
            continue;
        }
        auto close = ranked;
        std::erase_if(close, [](const GridCell* cell) { return !cell->rank.indistinct; });
        out.push_back("no variant is clearly the fastest: " + join(close, ", ", id) +
                      " are too close to call, the least time is " + time +
                      (close.size() < ranked.size() ? range : "") + ".");
    }
    return out;
}

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
        const auto where = family.where(group);
        if (!where.empty()) out << fmt::format("<p class=\"where\">At {}</p>\n", text(where));
        for (const auto& sentence : sentences) write_verdict(out, sentence);
        if (const auto differs = verdict(group, c.grid.devices); !differs.empty()) {
            std::vector<std::string> names;
            for (std::size_t d = 0; d < c.grid.devices.size(); ++d)
                names.push_back(c.grid.devices[d].letter + " is " + c.name_of_grid_device(d));
            out << fmt::format("<p>{} Here {}.</p>\n", text(differs), text(join(names, ", ")));
        }
    }
    if (family.groups.size() > said && said > 0)
        out << fmt::format("<p class=\"dim\">{} more points are in the charts below.</p>\n",
                           family.groups.size() - said);
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
            write_verdict(out, fmt::format("On {} {}_{} takes {} and {}{}.", device, family, series.curve.variant,
                                           at(samples.front()), at(samples.back()),
                                           samples.front().per_step > 0 ? " per step" : ""));
        }
    }
    if (left > 0) out << fmt::format("<p class=\"dim\">{} more curves are below.</p>\n", left);
}

void write_failed(std::ostream& out, const Context& c) {
    std::vector<std::size_t> failed;
    for (std::size_t i = 0; i < c.records().size(); ++i)
        if (model::is_failure(c.records()[i].status)) failed.push_back(i);
    if (failed.empty()) return;
    constexpr std::size_t most = 50;
    out << "<h3>What failed</h3>\n<ul>\n";
    for (const auto i : first_of(failed, most)) {
        const auto& r = c.records()[i];
        out << fmt::format("<li>{} on {}: <b class=\"bad\">{}</b>, {}</li>\n", c.link(i, r.id),
                           text(c.devices[c.device_of[i]].name), model::name(r.status), text(one_line(r.reason)));
    }
    if (failed.size() > most)
        out << fmt::format("<li>and {} more, in the table of all cells</li>\n", failed.size() - most);
    out << "</ul>\n";
}

}  // namespace

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
    out << fmt::format(
        "<section class=\"lead\">\n{}<p>{} ({}) of {} on {}, {}{}.</p>\n<ul class=\"devices\">\n",
        heading(2, "overview", "What was compared, and the verdict"), counted(c.records().size(), "cell"),
        join(counts, ", ", [](const auto& one) { return fmt::format("{} {}", one.second, model::name(one.first)); }),
        counted(runs.size(), "run"), counted(c.devices.size(), "device"), text(first),
        last == first ? "" : " to " + text(last));
    for (const auto& device : c.devices)
        out << fmt::format("<li><b>{}</b> {}</li>\n", text(device.name), text(device.description));
    out << "</ul>\n";
    std::vector<std::string> families;
    for (const auto& family : c.grid.families) add_once(families, family.name);
    for (const auto& set : c.page.curves) add_once(families, set.family);
    for (const auto& name : families) {
        out << fmt::format("<h3>{}</h3>\n", text(name));
        for (const auto& [of, question] : c.page.questions)
            if (of == name) out << fmt::format("<p class=\"question\">{}</p>\n", text(question));
        for (const auto& family : c.grid.families)
            if (family.name == name) write_verdicts(out, c, family);
        write_curve_sentences(out, c, name);
    }
    for (const auto& note : ranking_notes(c.grid)) out << fmt::format("<p class=\"dim\">{}</p>\n", text(note));
    if (!c.page.verdicts.empty()) {
        out << "<h3>Verdicts over arrangements</h3>\n";
        for (const auto& sentence : c.page.verdicts) write_verdict(out, sentence);
    }
    write_failed(out, c);
    out << "</section>\n";
}

}  // namespace cllab::report::html
