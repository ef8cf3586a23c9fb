// Time and code side by side: the kernel's text, the loop of its machine code coloured by class, and the counts.
#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <set>

#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"

namespace cllab::report::html {
namespace {

struct Tint {
    const char* style;   ///< CSS class
    const char* letter;  ///< for eyes that do not tell the colours apart
    const char* words;
};
/// What a class of instructions is drawn as; the instruction sets name their classes differently.
const Tint& tint_of(const std::string& kind) {
    static constexpr std::array<Tint, 7> tints{{{"k-memory", "M", "memory"},
                                                {"k-branch", "B", "branch and synchronisation"},
                                                {"k-vector", "V", "vector or floating-point arithmetic"},
                                                {"k-scalar", "S", "scalar or integer arithmetic"},
                                                {"k-address", "A", "address"},
                                                {"k-move", "C", "moves and conversions"},
                                                {"k-other", "O", "other"}}};
    const auto has = [&](std::initializer_list<const char*> parts) {
        return std::ranges::any_of(parts, [&](const char* part) { return kind.find(part) != std::string::npos; });
    };
    if (has({"move", "convert"})) return tints[5];
    if (has({"address"})) return tints[4];
    if (has({"mem", "load", "store", "gather", "scatter", "send", "parameter", "constant", "atomic", "lds", "texture"}))
        return tints[0];
    if (has({"branch", "control", "barrier", "wait", "sync"})) return tints[1];
    if (has({"vector", "fp", "float", "v_", "math", "special", "half", "double", "mma", "mask"})) return tints[2];
    if (has({"scalar", "integer", "int", "s_", "uniform", "logic"})) return tints[3];
    return tints[6];
}

bool is_loop(const Code& code) { return code.place.find("loop at") != std::string::npos; }

void write_legend(std::ostream& out) {
    out << "<ul class=\"legend kinds\">";
    for (const char* kind : {"memory", "branch", "vector", "scalar", "address", "move", "other"}) {
        const auto& tint = tint_of(kind);
        out << "<li><span class=\"" << tint.style << "\"><i>" << tint.letter << "</i></span> " << tint.words << "</li>";
    }
    out << "</ul>\n";
}

void write_counts(std::ostream& out, const Code& code) {
    unsigned most = 1;
    if (!code.counts.empty())
        for (const auto& [kind, count] : code.counts.front().classes) most = std::max(most, count);
    if (!code.counts.empty()) {
        const auto& counts = code.counts.front();
        out << "<table class=\"counts\"><caption>" << counts.instructions << " instructions in "
            << (is_loop(code) ? "one iteration of the " : "the ") << text(counts.place)
            << "</caption><thead><tr><th>class</th><th>instructions</th><th><span "
               "class=\"hidden\">bar</span></th></tr></thead><tbody>\n";
        for (const auto& [kind, count] : counts.classes) {
            const auto& tint = tint_of(kind);
            out << "<tr><td>" << text(kind) << "</td><td class=\"n\">" << count
                << "</td><td><svg width=\"100%\" height=\"12\"><rect class=\"" << tint.style
                << "\" height=\"12\" width=\"" << percent(static_cast<double>(count) / most)
                << "\"/></svg></td></tr>\n";
        }
        out << "</tbody></table>\n";
        if (!counts.memory.empty()) {
            out << "<p>Accesses: ";
            for (std::size_t i = 0; i < counts.memory.size(); ++i)
                out << (i ? ", " : "") << counts.memory[i].second << " " << text(counts.memory[i].first);
            out << ".</p>\n";
        }
    }
    if (code.counts.size() < 3) return;
    out << "<details><summary>The whole kernel, and all loops with one iteration each</summary><ul>";
    for (std::size_t i = 1; i < code.counts.size(); ++i) {
        const auto& counts = code.counts[i];
        out << "<li>" << text(counts.place) << ": " << counts.instructions << " instructions</li>";
    }
    out << "</ul></details>\n";
}

void write_facts(std::ostream& out, const model::Record& r, const Code& code) {
    out << "<dl class=\"facts\">";
    const auto fact = [&](const char* name, const char* key, const std::optional<std::int64_t>& value) {
        if (!value) return;
        const auto origin = r.code.origin.find(key);
        out << "<div><dt>" << name << "</dt><dd><b>" << *value << "</b>"
            << (origin == r.code.origin.end() ? "" : " <small>" + text(origin->second) + "</small>") << "</dd></div>";
    };
    fact("registers", "registers", r.code.registers);
    fact("spills", "spills", r.code.spills);
    fact("local memory, in bytes", "local_bytes", r.code.local_bytes);
    fact("private memory, in bytes", "private_bytes", r.code.private_bytes);
    fact("code, in bytes", "code_bytes", r.code.code_bytes);
    if (!code.occupancy.empty()) out << "<div><dt>occupancy</dt><dd>" << text(code.occupancy) << "</dd></div>";
    out << "</dl>\n";
}

void write_one(std::ostream& out, const Context& c, const Code& code, bool open) {
    const auto& r = c.records()[code.cell];
    out << "<details class=\"code\" data-cell=\"" << code.cell << "\"" << (open ? " open" : "") << "><summary>"
        << text(r.id) << " on " << text(c.devices[c.device_of[code.cell]].name);
    if (c.varying.count(r.family)) out << " <small>" << text(c.varying_point(r)) << "</small>";
    if (r.time) out << ": " << text(format_seconds(r.time->median)) << " <small>" << text(spread(r)) << "</small>";
    if (r.code.registers) out << ", " << *r.code.registers << " registers";
    if (!code.counts.empty())
        out << ", " << code.counts.front().instructions << " instructions in the " << text(code.place);
    out << "</summary>\n";
    if (!code.same.empty()) {
        constexpr std::size_t most = 12;
        out << "<p>The same code at " << code.same.size()
            << (code.same.size() == 1 ? " other point: " : " other points: ");
        for (std::size_t i = 0; i < std::min(most, code.same.size()); ++i) {
            const auto& other = c.records()[code.same[i]];
            const auto at = c.varying_point(other);
            out << (i ? ", " : "")
                << c.link(code.same[i],
                          (at.empty() ? other.id : at) + (other.time ? ", " + format_seconds(other.time->median) : ""));
        }
        out << (code.same.size() > most ? ", …" : "") << ".</p>\n";
    }
    out << "<p>" << text(code.evidence) << "</p>\n";
    write_facts(out, r, code);
    write_counts(out, code);
    out << "<div class=\"beside\">";
    if (!code.source.empty())
        out << "<div><h5>source</h5><pre class=\"source\" tabindex=\"0\">" << listing(code.source) << "</pre></div>";
    if (!code.lines.empty()) {
        out << "<div><h5>" << text(code.isa) << ", " << text(code.place) << "</h5><pre class=\"isa\" tabindex=\"0\">";
        for (const auto& line : code.lines) {
            if (line.kind.empty()) {
                out << "<b class=\"share\">" << text(line.text) << "</b>\n";
                continue;
            }
            const auto& tint = tint_of(line.kind);
            out << "<span class=\"" << tint.style << "\"><i>" << tint.letter << "</i>" << text(line.text)
                << "</span>\n";
        }
        if (code.lines_left_out > 0) out << "… " << code.lines_left_out << " more lines are in the dump\n";
        out << "</pre></div>";
    }
    out << "</div></details>\n";
}

/// An instruction in the tint of its class; nothing for the side that has none.
std::string tinted(const CodeLine& line) {
    if (line.text.empty()) return "";
    const auto& tint = tint_of(line.kind);
    return std::string("<span class=\"") + tint.style + "\"><i>" + tint.letter + "</i>" + text(line.text) + "</span>";
}

void write_pair(std::ostream& out, const Context& c, const CodePair& pair, bool open) {
    const auto& left = c.records()[pair.left];
    const auto& right = c.records()[pair.right];
    const auto time = [](const model::Record& r) {
        return r.time ? " " + format_seconds(r.time->median) : std::string();
    };
    out << "<details class=\"pair\"" << (open ? " open" : "") << "><summary>" << text(left.id) << text(time(left))
        << " beside " << text(right.id) << text(time(right)) << " on " << text(c.devices[c.device_of[pair.left]].name)
        << "</summary><div class=\"scroll\"><table class=\"aligned\"><thead><tr><th>" << text(left.id)
        << "</th><th><span class=\"hidden\">same or not</span></th><th>" << text(right.id)
        << "</th></tr></thead><tbody>\n";
    for (const auto& line : pair.lines) {
        const char* style = line.mark == ' ' ? "same" : line.mark == '~' ? "near" : line.mark == '<' ? "left" : "right";
        const char* sign = line.mark == ' ' ? "" : line.mark == '~' ? "~" : line.mark == '<' ? "&lt;" : "&gt;";
        out << "<tr class=\"" << style << "\"><td>" << tinted(line.left) << "</td><td>" << sign << "</td><td>"
            << tinted(line.right) << "</td></tr>\n";
    }
    out << "</tbody></table></div></details>\n";
}

}  // namespace

void write_code(std::ostream& out, const Context& c) {
    if (c.page.code.empty()) return;
    out << "<section>\n"
        << heading(2, "code", "Time and code side by side")
        << "<p>Each listing is the machine code that ran most, where addresses were sampled. Elsewhere it is the "
           "innermost loop with the most work per iteration; the entry says so.</p>\n";
    std::map<std::string, std::vector<std::size_t>> absent;  // by reason: one sentence for many cells
    bool any = false;
    for (const auto& code : c.page.code) {
        if (code.absent.empty())
            any = true;
        else
            absent[code.absent].push_back(code.cell);
    }
    if (any) write_legend(out);
    std::set<std::string> families;  // the first of each stands open
    for (const auto& code : c.page.code)
        if (code.absent.empty()) write_one(out, c, code, families.insert(c.records()[code.cell].family).second);
    if (!c.page.pairs.empty()) {
        out << "<h3>Two variants beside each other</h3>\n<p>The fastest listing beside others, aligned. No sign: the "
               "same text; ~: the same instruction with other operands; &lt;: only on the left; &gt;: only on the "
               "right.</p>\n";
        for (const auto& pair : c.page.pairs) write_pair(out, c, pair, &pair == &c.page.pairs.front());
    }
    if (!c.page.code_left_out.empty()) out << "<p class=\"dim\">" << text(c.page.code_left_out) << "</p>\n";
    for (const auto& [reason, cells] : absent) {
        out << "<p class=\"absent\">" << text(reason) << " (" << cells.size()
            << (cells.size() == 1 ? " cell: " : " cells: ");
        for (std::size_t i = 0; i < std::min<std::size_t>(cells.size(), 6); ++i)
            out << (i ? ", " : "") << c.link(cells[i], c.records()[cells[i]].id);
        out << (cells.size() > 6 ? ", …" : "") << ")</p>\n";
    }
    out << "</section>\n";
}

}  // namespace cllab::report::html
