// What was compared, on what, and which was fastest: of each family, point and device the ranking with its verdict.
#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"
#include "report/records/points.hpp"
#include "report/table/curve.hpp"

namespace cllab::report::html {
namespace {

constexpr std::size_t most_groups = 60;  // of a family: a sweep with more is read in the table

void write_verdict(std::ostream& out, const std::string& sentence) {
    out << fmt::format("<p class=\"verdict\">{}</p>\n", breakable(sentence));
}

/// Whether the devices rank the variants differently.
void write_difference(std::ostream& out, const Context& c, const GridGroup& group) {
    const auto differs = verdict(group, c.grid.devices);
    if (differs.empty()) return;
    std::vector<std::string> names;
    for (std::size_t d = 0; d < c.grid.devices.size(); ++d)
        names.push_back(c.grid.devices[d].letter + " is " + c.name_of_grid_device(d));
    out << fmt::format("<p>{} Here {}.</p>\n", breakable(differs), text(join(names, ", ")));
}

/// The cells that no device of the record supports: a line for each reason, with their number.
void write_unsupported(std::ostream& out, const Context& c, const GridFamily& family) {
    std::vector<std::pair<std::string, std::size_t>> unsupported;  // with what is said of each
    for (const auto& group : family.groups)
        for (const auto& cells : group.cells)
            for (std::size_t d = 0; d < cells.size(); ++d)
                if (const auto* r = cells[d].record; r && r->status == model::Status::unsupported)
                    unsupported.emplace_back(c.on_device(c.name_of_grid_device(d)) + ", " + one_line(r->reason),
                                             c.index(*r));
    for (const auto& alike : grouped(unsupported, [](const auto& one) { return without_numbers(one.first); })) {
        const auto reasons = grouped(alike, [](const auto& one) { return one.first; }).size();
        const auto variants = grouped(alike, [&](const auto& one) { return c.records()[one.second].id; });
        constexpr std::size_t most = 12;
        const auto link = [&](const auto& points) {
            const auto cell = points.front().second;
            return c.link(cell, c.records()[cell].id) +
                   (points.size() > 1 ? fmt::format(" ({} points)", points.size()) : "");
        };
        out << fmt::format("<p class=\"dim untimed\">{} unsupported{}{}: {}</p>\n", alike.size(),
                           text(alike.front().first), reasons > 1 ? ", and the like" : "",
                           first_few(variants, most, link));
    }
}

void write_family(std::ostream& out, const Context& c, const GridFamily& family) {
    const auto common = family.common_point();
    if (!common.empty()) out << fmt::format("<p class=\"point\">{}</p>\n", text(common));
    out << "<div class=\"figures\">\n";
    for (const auto& group : first_of(family.groups, most_groups)) {
        write_difference(out, c, group);
        for (std::size_t d = 0; d < c.grid.devices.size(); ++d) write_ranking(out, c, family, group, d);
    }
    out << "</div>\n";
    if (family.groups.size() > most_groups)
        out << fmt::format("<p class=\"dim\">{} more points are in the table of all cells.</p>\n",
                           family.groups.size() - most_groups);
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
            write_verdict(out,
                          c.sentence_on(device, fmt::format("{} takes {} and {}{}.", name_of_series(c, family, series),
                                                            at(samples.front()), at(samples.back()),
                                                            samples.front().per_step > 0 ? " per step" : "")));
        }
    }
    if (left > 0) out << fmt::format("<p class=\"dim\">{} more curves are below.</p>\n", left);
}

void write_failed(std::ostream& out, const Context& c) {
    const auto failed = places_where(c.records(), [](const auto& r) { return model::is_failure(r.status); });
    if (failed.empty()) return;
    constexpr std::size_t most = 50;
    out << heading(3, "failed", "What failed") << "<ul>\n";
    for (const auto i : first_of(failed, most)) {
        const auto& r = c.records()[i];
        out << fmt::format("<li>{}{}: <b class=\"bad\">{}</b>, {}</li>\n", c.link(i, r.id),
                           text(c.on_device(c.devices[c.device_of[i]].name)), model::name(r.status),
                           text(one_line(r.reason)));
    }
    if (failed.size() > most)
        out << fmt::format("<li>and {} more, in the table of all cells</li>\n", failed.size() - most);
    out << "</ul>\n";
}

/// What is below, in numbers.
void write_about(std::ostream& out, const Context& c) {
    std::map<model::Status, std::size_t> counts;
    std::set<std::string> runs;
    std::string first, last;
    for (const auto& r : c.records()) {
        ++counts[r.status];
        runs.insert(r.run.id);
        if (first.empty() || r.utc < first) first = r.utc;
        last = std::max(last, r.utc);
    }
    const auto status = [](const auto& one) {
        const auto words = fmt::format("{} {}", one.second, model::name(one.first));
        return model::is_failure(one.first) ? R"(<a class="bad" href="#failed">)" + words + "</a>" : words;
    };
    out << fmt::format("<p class=\"about\">{}: {}; {}, {}{}</p>\n<ul class=\"devices\">\n",
                       counted(c.records().size(), "cell"), join(counts, ", ", status), counted(runs.size(), "run"),
                       "<time>" + text(first) + "</time>", last == first ? "" : " to <time>" + text(last) + "</time>");
    for (const auto& device : c.devices)
        out << fmt::format("<li><b>{}</b> {}</li>\n", text(device.name), text(device.description));
    out << "</ul>\n";
}

/// How to learn what limits the kernels, where no profile says it.
void write_without_limits(std::ostream& out, const Context& c) {
    const auto& records = c.records();
    const auto known = [&](std::size_t i) { return limit_of(c, i).has_value(); };
    std::size_t i = 0;
    while (i < records.size() && !known(i)) ++i;
    if (i < records.size() || std::ranges::none_of(records, [](const auto& r) { return r.time.has_value(); })) return;
    out << "<p class=\"dim\">What limits each kernel is known with a profile of its device: <code>cllab "
           "profile</code> measures it.</p>\n";
}

}  // namespace

void write_overview(std::ostream& out, const Context& c) {
    out << "<section class=\"lead\" id=\"overview\">\n";
    write_about(out, c);
    for (const auto& sentence : c.page.verdicts) write_verdict(out, sentence);
    std::vector<std::string> families;
    for (const auto& family : c.grid.families) add_once(families, family.name);
    for (const auto& set : c.page.curves) add_once(families, set.family);
    for (const auto& name : families) {
        out << "<div class=\"family\">\n";
        if (families.size() > 1) out << heading(2, "family-" + name, name);
        for (const auto& [of, question] : c.page.questions)
            if (of == name) out << fmt::format("<p class=\"question\">{}</p>\n", text(question));
        for (const auto& family : c.grid.families)
            if (family.name == name) write_family(out, c, family);
        write_curve_sentences(out, c, name);
        for (const auto& family : c.grid.families)
            if (family.name == name) write_unsupported(out, c, family);
        out << "</div>\n";
    }
    for (const auto& note : ranking_notes(c.grid)) out << fmt::format("<p class=\"dim\">{}</p>\n", text(note));
    write_without_limits(out, c);
    write_failed(out, c);
    out << "</section>\n";
}

}  // namespace cllab::report::html
