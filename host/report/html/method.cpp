// How it was measured: warnings in full, options, versions, hashes.
#include <algorithm>
#include <map>
#include <ostream>

#include "core/text.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"

namespace cllab::report::html {
namespace {

using Cells = std::vector<std::size_t>;

void write_whom(std::ostream& out, const Context& c, const Cells& cells) {
    constexpr std::size_t most = 8;
    if (cells.size() == c.records().size() && cells.size() > 1) {
        out << "all " << cells.size() << " cells";
        return;
    }
    for (std::size_t i = 0; i < std::min(most, cells.size()); ++i)
        out << (i ? ", " : "") << c.link(cells[i], c.records()[cells[i]].id);
    if (cells.size() > most) out << " and " << cells.size() - most << " more";
}

void write_warnings(std::ostream& out, const Context& c) {
    out << "<h3>Warnings</h3>\n";
    if (c.warnings.empty()) {
        out << "<p>No record has a warning.</p>\n";
        return;
    }
    std::vector<Cells> cells(c.warnings.size());
    for (std::size_t i = 0; i < c.records().size(); ++i)
        for (const auto w : c.warnings_of[i])
            if (cells[w].empty() || cells[w].back() != i) cells[w].push_back(i);
    out << "<ol class=\"warnings\">\n";
    for (std::size_t w = 0; w < c.warnings.size(); ++w) {
        out << "<li id=\"warning-" << w + 1 << "\">" << text(c.warnings[w]) << " <small>(";
        write_whom(out, c, cells[w]);
        out << ")</small></li>\n";
    }
    out << "</ol>\n";
}

/// A table of the different values of something, and the cells that have each.
template <typename F>
void write_distinct(std::ostream& out, const Context& c, const char* caption, const char* title, F value) {
    std::map<std::string, Cells> cells;
    for (std::size_t i = 0; i < c.records().size(); ++i)
        if (const std::string v = value(c.records()[i]); !v.empty()) cells[v].push_back(i);
    if (cells.empty()) return;
    constexpr std::size_t most = 100;
    out << "<details><summary>" << caption << " (" << cells.size()
        << ")</summary><div class=\"scroll\"><table><thead><tr><th>" << title
        << "</th><th>cells</th></tr></thead><tbody>\n";
    std::size_t shown = 0;
    for (const auto& [v, of] : cells) {
        if (shown++ == most) break;
        out << "<tr><td><code>" << text(v) << "</code></td><td>";
        write_whom(out, c, of);
        out << "</td></tr>\n";
    }
    out << "</tbody></table></div>";
    if (cells.size() > most) out << "<p class=\"dim\">" << cells.size() - most << " more are in the JSON lines.</p>";
    out << "</details>\n";
}

void write_runs(std::ostream& out, const Context& c) {
    std::map<std::string, Cells> runs;
    std::vector<std::string> order;
    for (std::size_t i = 0; i < c.records().size(); ++i) {
        auto& cells = runs[c.records()[i].run.id];
        if (cells.empty()) order.push_back(c.records()[i].run.id);
        cells.push_back(i);
    }
    out << "<h3>Runs</h3>\n<div "
           "class=\"scroll\"><table><thead><tr><th>run</th><th>from</th><th>to</th><th>cells</th><th>label</"
           "th><th>seed</th><th>host</th><th>command "
           "line</th></tr></thead><tbody>\n";
    for (const auto& id : order) {
        const auto& cells = runs[id];
        const auto& first = c.records()[cells.front()];
        std::string from = first.utc, to = first.utc;
        for (const auto i : cells) {
            from = std::min(from, c.records()[i].utc);
            to = std::max(to, c.records()[i].utc);
        }
        out << "<tr><td>" << text(id.empty() ? "of schema 1" : id) << "</td><td>" << text(from) << "</td><td>"
            << text(to) << "</td><td class=\"n\">" << cells.size() << "</td><td>" << text(first.run.label)
            << "</td><td class=\"n\">" << (first.run.seed ? std::to_string(*first.run.seed) : "") << "</td><td>"
            << text(join({first.host.name, first.host.cpu, first.host.os}, "; ")) << "</td><td><code>"
            << text(join(first.argv, " ")) << "</code></td></tr>\n";
    }
    out << "</tbody></table></div>\n";
}

/// Why sampling ended, in words; what a later version writes stays as it is.
std::string ending(const std::string& reason) {
    if (reason == "precise") return "sampled until the interval was within 1 %";
    if (reason == "noise-floor") return "sampled until more samples no longer narrowed the interval";
    if (reason == "timeout") return "sampled until the time given for it was over";
    if (reason == "cap") return "sampled until the most samples were taken";
    return "sampling ended by '" + reason + "'";
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
    for (const auto& [words, count] : how)
        out << "<li>" << count << (count == 1 ? " cell: " : " cells: ") << text(words) << "</li>\n";
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
