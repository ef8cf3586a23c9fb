// How it was measured: warnings in full, options, versions, hashes.
#include <algorithm>
#include <map>
#include <ostream>

#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"
#include "report/html/page.hpp"

namespace cllab::report::html {
namespace {

using Cells = std::vector<std::size_t>;

std::string whom(const Context& c, const Cells& cells) {
    const bool all = cells.size() == c.records().size() && cells.size() > 1;
    return all ? fmt::format("all {} cells", cells.size()) : c.links(cells, 8);
}

void write_warnings(std::ostream& out, const Context& c) {
    out << "<h3>Warnings</h3>\n";
    if (c.warnings.all().empty()) {
        out << "<p>No record has a warning.</p>\n";
        return;
    }
    out << "<ol class=\"warnings\">\n";
    for (std::size_t number = 1; const auto& note : c.warnings.all()) {
        const auto cells = mapped(note.records, [&](const auto* record) { return c.index(*record); });
        out << fmt::format("<li id=\"warning-{}\">{} <small>({})</small></li>\n", number++, text(note.text),
                           whom(c, cells));
    }
    out << "</ol>\n";
}

/// A table of the distinct values of something, with the cells that have each.
template <typename F>
void write_distinct(std::ostream& out, const Context& c, const char* caption, const char* title, F value) {
    std::map<std::string, Cells> cells;
    for (std::size_t i = 0; i < c.records().size(); ++i)
        if (const std::string v = value(c.records()[i]); !v.empty()) cells[v].push_back(i);
    if (cells.empty()) return;
    constexpr std::size_t most = 100;
    out << fmt::format("<details><summary>{} ({})</summary><div class=\"scroll\"><table>{}<tbody>\n", caption,
                       cells.size(), head_of({title, "cells"}));
    std::size_t shown = 0;
    for (const auto& [v, of] : cells)
        if (shown++ < most) out << fmt::format("<tr><td><code>{}</code></td><td>{}</td></tr>\n", text(v), whom(c, of));
    out << "</tbody></table></div>";
    if (cells.size() > most)
        out << fmt::format("<p class=\"dim\">{} more are in the JSON lines.</p>", cells.size() - most);
    out << "</details>\n";
}

void write_runs(std::ostream& out, const Context& c) {
    const auto runs = grouped(model::rows_of(c.records()), [](const model::Record* r) { return r->run.id; });
    out << fmt::format("<h3>Runs</h3>\n<div class=\"scroll\"><table>{}<tbody>\n",
                       head_of({"run", "from", "to", "cells", "label", "seed", "host", "command line"}));
    for (const auto& cells : runs) {
        const auto& first = *cells.front();
        const auto [from, to] = std::ranges::minmax(cells, {}, [](const auto* r) { return r->utc; });
        out << "<tr>" << cell(first.run.id.empty() ? "of schema 1" : first.run.id) << "<td><time>" << text(from->utc)
            << "</time></td><td><time>" << text(to->utc) << "</time></td>" << number_cell(std::to_string(cells.size()))
            << cell(first.run.label) << number_cell(first.run.seed ? std::to_string(*first.run.seed) : "")
            << cell(join({first.host.name, first.host.cpu, first.host.os}, "; "));
        out << fmt::format("<td><code>{}</code></td></tr>\n", text(join(first.argv, " ")));
    }
    out << "</tbody></table></div>\n";
}

/// Why sampling ended, in words. Reasons that only a later version knows are quoted.
std::string ending(const std::string& reason) {
    static constexpr Entry<std::string_view, const char*> endings[] = {
        {"precise", "the interval was within 1 %"},
        {"noise-floor", "more samples no longer narrowed the interval"},
        {"timeout", "the time given for it was over"},
        {"cut", "it took twice as long as the fastest"},
        {"cap", "the most samples were taken"}};
    const char* known = value_of(endings, reason);
    return known ? std::string("sampled until ") + known : "sampling ended by '" + reason + "'";
}

}  // namespace

void write_method(std::ostream& out, const Context& c) {
    out << "<section>\n" << heading(2, "method", "How it was measured");
    std::map<std::string, std::size_t> how;
    for (const auto& r : c.records())
        if (r.time)
            ++how["caches " + (r.time->cache.empty() ? "hot" : r.time->cache) + ", " +
                  (r.time->clock == "event" ? "the device's event clock" : r.time->clock + " clock") + ", " +
                  ending(r.time->stop_reason)];
    out << "<p>A time is the median of its samples with its 95 % order-statistic interval. A cell with a wrong result "
           "has no time.</p>\n<ul>\n";
    for (const auto& [words, count] : how) out << fmt::format("<li>{}: {}</li>\n", counted(count, "cell"), text(words));
    out << "</ul>\n";
    write_warnings(out, c);
    write_runs(out, c);
    write_distinct(out, c, "Devices and drivers", "platform, driver, identity", [](const auto& r) {
        return join({r.device.name, r.device.platform, "driver " + r.device.driver, r.device.identity,
                     "selected by " + r.device.selector},
                    "; ");
    });
    write_distinct(out, c, "Build options", "options", [](const auto& r) { return r.build.options; });
    write_distinct(out, c, "Kernel texts", "SHA-256 of the text, and where it is from", [](const auto& r) {
        return r.build.source_sha256.empty() ? std::string() : r.build.source_sha256 + " " + r.build.source;
    });
    write_distinct(out, c, "Fingerprints of the machine code", "equal for equal code",
                   [](const auto& r) { return r.code.fingerprint; });
    write_distinct(out, c, "Dumps", "folder", [](const auto& r) { return r.dump; });
    out << "</section>\n";
}

}  // namespace cllab::report::html
