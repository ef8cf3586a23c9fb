// A card for each variant: its samples, bounds and warnings, how to run it again, and its code: the kernel's text, the
// loop of its machine code colored by class, and the counts.
#include <algorithm>
#include <array>
#include <ostream>
#include <set>
#include <span>
#include <utility>

#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"

namespace cllab::report::html {
namespace {

constexpr std::size_t most_log = 20'000;  // characters of a build log

struct Tint {
    const char* style;   ///< CSS class
    const char* letter;  ///< for readers who cannot tell the colors apart
    const char* words;
};
constexpr std::array<Tint, 7> tints{{{"k-memory", "M", "memory"},
                                     {"k-branch", "B", "branch and synchronisation"},
                                     {"k-vector", "V", "vector or floating-point arithmetic"},
                                     {"k-scalar", "S", "scalar or integer arithmetic"},
                                     {"k-address", "A", "address"},
                                     {"k-move", "C", "moves and conversions"},
                                     {"k-other", "O", "other"}}};

/// The tint of a class of instructions. The instruction sets name their classes differently.
const Tint& tint_of(const std::string& kind) {
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

/// A text in the tint of its class; empty for an empty text. `source`: see CodeLine.
std::string tinted(const std::string& kind, const std::string& raw, std::size_t source = 0) {
    const auto& tint = tint_of(kind);
    if (raw.empty()) return "";
    return fmt::format(R"(<span class="{}"{}><i>{}</i>{}</span>)", tint.style,
                       source ? fmt::format(R"( data-l="{}")", source) : "", tint.letter, text(raw));
}

void write_legend(std::ostream& out) {
    out << "<ul class=\"legend kinds\">";
    for (const auto& tint : tints)
        out << fmt::format(R"(<li><span class="{}"><i>{}</i></span> {}</li>)", tint.style, tint.letter, tint.words);
    out << "</ul>\n";
}

/// Counts of the place shown, which comes first, then of the whole kernel and its loops.
void write_counts(std::ostream& out, const std::vector<Counts>& all) {
    const auto& shown = all.front();
    const bool is_loop = shown.place.find("loop at") != std::string::npos;
    out << fmt::format("<table class=\"counts\"><caption>{} instructions in {}{}</caption>", shown.instructions,
                       is_loop ? "one iteration of the " : "the ", text(shown.place));
    out << head_of({"class", "instructions", R"(<span class="hidden">bar</span>)"}) << "<tbody>\n";
    unsigned most = 1;
    for (const auto& [kind, count] : shown.classes) most = std::max(most, count);
    for (const auto& [kind, count] : shown.classes)
        out << fmt::format(
            "<tr>{}{}<td><svg width=\"100%\" height=\"12\"><rect class=\"{}\" height=\"12\" width=\"{}\"/>"
            "</svg></td></tr>\n",
            cell(kind), number_cell(std::to_string(count)), tint_of(kind).style,
            percent(static_cast<double>(count) / most));
    out << "</tbody></table>\n";
    if (!shown.memory.empty())
        out << fmt::format("<p>Accesses: {}.</p>\n", join(shown.memory, ", ", [](const auto& access) {
                               return std::to_string(access.second) + " " + text(access.first);
                           }));
    if (all.size() < 3) return;
    out << "<details><summary>The whole kernel, and all loops with one iteration each</summary><ul>";
    for (const auto& counts : std::span(all).subspan(1))
        out << fmt::format("<li>{}: {} instructions</li>", text(counts.place), counts.instructions);
    out << "</ul></details>\n";
}

/// Registers, memory and occupancy, with the source of each figure.
void write_origins(std::ostream& out, const model::Record& r, const Code& code) {
    out << "<dl class=\"facts\">";
    const auto fact = [&](const char* name, const char* key, const std::optional<std::int64_t>& value,
                          const char* unit = "byte") {
        if (!value) return;
        const auto origin = r.code.origin.find(key);
        out << fmt::format("<div><dt>{}</dt><dd><b>{}</b>{}</dd></div>", name,
                           quantity(static_cast<double>(*value), unit),
                           origin == r.code.origin.end() ? "" : " <small>" + text(origin->second) + "</small>");
    };
    fact("registers", "registers", r.code.registers, "");
    fact("spills", "spills", r.code.spills, "");
    fact("local memory", "local_bytes", r.code.local_bytes);
    fact("private memory", "private_bytes", r.code.private_bytes);
    fact("code", "code_bytes", r.code.code_bytes);
    if (!code.occupancy.empty()) out << fmt::format("<div><dt>occupancy</dt><dd>{}</dd></div>", text(code.occupancy));
    out << "</dl>\n";
}

/// What a closed card shows.
void write_summary(std::ostream& out, const Context& c, const Code& code) {
    const auto& r = c.records()[code.cell];
    out << fmt::format("<summary>{}{}", breakable(r.id), text(c.on_device(c.devices[c.device_of[code.cell]].name)));
    if (c.varying.count(r.family)) out << fmt::format(" <small>{}</small>", text(c.varying_point(r)));
    if (r.time) out << fmt::format(": {} <small>{}</small>", format_seconds(r.time->median), text(spread_of(r)));
    if (!r.time) out << fmt::format(": <span class=\"bad\">{}</span>", model::name(r.status));
    out << " " << limit_tag(c, code.cell);
    if (r.code.registers) out << fmt::format(" {} registers", *r.code.registers);
    if (!code.counts.empty())
        out << fmt::format("{} {} instructions in the {}", r.code.registers ? "," : "",
                           code.counts.front().instructions, text(code.place));
    out << "</summary>\n";
}

/// The other points of the card, with their addresses.
void write_same(std::ostream& out, const Context& c, const Code& code) {
    if (code.same.empty()) return;
    constexpr std::size_t most = 12;
    const auto place = [&](std::size_t same) {
        const auto& other = c.records()[same];
        const auto at = c.varying_point(other);
        const auto label = (at.empty() ? other.id : at) + (other.time ? ", " + format_seconds(other.time->median) : "");
        return fmt::format(R"(<span id="{}">{}</span>)", text(c.anchors[same]), c.link(same, label));
    };
    const auto shown = first_of(code.same, most);
    out << fmt::format("<p>{} at {}: {}", code.absent.empty() ? "The same code" : "Measured",
                       counted(code.same.size(), "other point"), join(shown, ", ", place));
    for (const auto same : std::span(code.same).subspan(shown.size()))
        out << fmt::format(R"(<span id="{}"></span>)", text(c.anchors[same]));
    out << (shown.size() < code.same.size() ? ", …</p>\n" : ".</p>\n");
}

/// Samples, bounds, warnings, the command that runs the cell again, and facts about the code.
void write_facts(std::ostream& out, const Context& c, const Code& code) {
    const auto cell = code.cell;
    const auto& r = c.records()[cell];
    if (!r.reason.empty()) out << fmt::format("<p class=\"bad\">{}</p>\n", text(one_line(r.reason)));
    out << "<div class=\"flow\">";
    if (r.time) {
        out << fmt::format("<h5>{}</h5>\n", counted(r.time->n, "sample"));
        write_density(out, r);
    }
    write_bounds(out, c, cell);
    if (const auto warnings = c.warnings.of(r); !warnings.empty())
        out << "<h5>warnings</h5><ul>" << join(warnings, "", [&](std::size_t number) {
            return fmt::format("<li><a href=\"#warning-{}\">{}</a></li>", number,
                               text(c.warnings.all()[number - 1].text));
        }) << "</ul>\n";
    if (cell < c.page.again.size() && !c.page.again[cell].empty())
        out << fmt::format("<h5>run it again</h5><pre class=\"again\" tabindex=\"0\">{}</pre>\n",
                           command(c.page.again[cell]));
    if (model::is_failure(r.status) && !r.build.log.empty())
        out << fmt::format("<h5>build log</h5><pre tabindex=\"0\">{}</pre>\n",
                           text(std::string_view(r.build.log).substr(0, most_log), "\n\t"));
    write_origins(out, r, code);
    if (!code.counts.empty()) write_counts(out, code.counts);
    const auto& said = code.absent.empty() ? code.evidence : code.absent;
    out << fmt::format("<p{}>{}</p>\n", code.absent.empty() ? "" : R"( class="absent")", text(said));
    out << "</div>\n";
}

/// Lines with known instructions have a number, by which the script finds these instructions.
void write_source(std::ostream& out, const Code& code) {
    if (code.source.empty()) return;
    out << R"(<div><h5>source</h5><pre class="source" tabindex="0">)";
    if (code.source_numbers.empty()) out << text(code.source, "\n\t");
    const auto lines = code.source_numbers.empty() ? std::vector<std::string>{} : split(code.source, '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto number = i < code.source_numbers.size() ? code.source_numbers[i] : 0;
        out << (number ? fmt::format(R"(<span data-l="{}">{}</span>)", number, text(lines[i], "\t"))
                       : text(lines[i], "\t"));
        if (i + 1 < lines.size()) out << '\n';
    }
    out << "</pre></div>";
}

void write_listing(std::ostream& out, std::span<const CodeLine> lines, std::size_t left_out) {
    out << R"(<pre class="isa" tabindex="0">)";
    for (const auto& line : lines)
        out << (line.kind.empty() ? "<b class=\"share\">" + text(line.text) + "</b>"
                                  : tinted(line.kind, line.text, line.source))
            << '\n';
    if (left_out > 0) out << fmt::format("… {} more lines are in the dump\n", left_out);
    out << "</pre>";
}

void write_beside(std::ostream& out, const Code& code) {
    out << "<div class=\"beside\">";
    write_source(out, code);
    if (!code.lines.empty()) {
        out << fmt::format("<div><h5>{}, {}</h5>", text(code.isa), text(code.place));
        write_listing(out, code.lines, code.lines_left_out);
        if (!code.whole.empty()) {
            out << "<details class=\"whole\"><summary>The whole function</summary>";
            write_listing(out, code.whole, code.whole_left_out);
            out << "</details>";
        }
        out << "</div>";
    }
    out << "</div>";
}

void write_pair(std::ostream& out, const Context& c, const CodePair& pair, bool open) {
    struct Sign {
        const char *style, *text;
    };
    static constexpr Entry<char, Sign> signs[] = {
        {' ', {"same", ""}}, {'~', {"near", "~"}}, {'<', {"left", "&lt;"}}, {'>', {"right", "&gt;"}}};
    const auto& left = c.records()[pair.left];
    const auto& right = c.records()[pair.right];
    const auto named = [](const model::Record& r) {
        return breakable(r.id) + (r.time ? " " + format_seconds(r.time->median) : "");
    };
    out << fmt::format(R"(<details class="pair"{}><summary>{} beside {}{}</summary><div class="scroll">)",
                       open ? " open" : "", named(left), named(right),
                       text(c.on_device(c.devices[c.device_of[pair.left]].name)));
    out << "<table class=\"aligned\">"
        << head_of({text(left.id), R"(<span class="hidden">same or not</span>)", text(right.id)}) << "<tbody>\n";
    for (const auto& line : pair.lines) {
        const auto sign = value_of(signs, line.mark);
        out << fmt::format("<tr class=\"{}\"><td>{}</td><td>{}</td><td>{}</td></tr>\n", sign.style,
                           tinted(line.left.kind, line.left.text), sign.text, tinted(line.right.kind, line.right.text));
    }
    out << "</tbody></table></div></details>\n";
}

/// The pairs of the card's cell: its listing next to those of others.
void write_pairs(std::ostream& out, const Context& c, const Code& code, bool open) {
    bool any = false;
    for (const auto& pair : c.page.pairs) {
        if (pair.left != code.cell) continue;
        if (!any)
            out << "<h5>Beside others, aligned</h5>\n<p>No sign: the same text; ~: the same instruction with other "
                   "operands; &lt;: only on the left; &gt;: only on the right.</p>\n";
        write_pair(out, c, pair, open && !any);
        any = true;
    }
}

void write_card(std::ostream& out, const Context& c, const Code& code, bool open) {
    out << fmt::format(R"(<details class="code" id="{}" data-cell="{}"{}>)", text(c.anchors[code.cell]), code.cell,
                       open ? " open" : "");
    write_summary(out, c, code);
    write_same(out, c, code);
    write_facts(out, c, code);
    write_beside(out, code);
    write_pairs(out, c, code, open);
    out << "</details>\n";
}

/// The cards in the order of the rankings.
std::vector<const Code*> in_order(const Context& c) {
    const auto order = ranked_order(c);
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    auto out = mapped(c.page.code, [](const auto& code) { return &code; });
    std::ranges::stable_sort(out, {}, [&](const Code* code) {
        auto first = place[code->cell];
        for (const auto same : code->same) first = std::min(first, place[same]);
        return first;
    });
    return out;
}

}  // namespace

std::vector<std::size_t> ranked_order(const Context& c) {
    std::vector<std::size_t> out;
    std::set<std::size_t> seen;
    const auto add = [&](std::size_t cell) {
        if (seen.insert(cell).second) out.push_back(cell);
    };
    for (const auto& family : c.grid.families)
        for (const auto& group : family.groups)
            for (std::size_t d = 0; d < c.grid.devices.size(); ++d)
                for (const auto* cell : fastest_first(group, d)) add(c.index(*cell->record));
    for (std::size_t i = 0; i < c.records().size(); ++i) add(i);
    return out;
}

void write_code(std::ostream& out, const Context& c) {
    out << "<section>\n"
        << heading(2, "code", "Each variant: time and code side by side")
        << "<p>Each listing is the machine code that ran most, where addresses were sampled. Elsewhere it is the "
           "innermost loop with the most work per iteration; the entry says so.</p>\n";
    if (std::ranges::any_of(c.page.code, [](const auto& code) { return code.absent.empty(); })) write_legend(out);
    bool first = true;
    for (const auto* code : in_order(c)) write_card(out, c, *code, std::exchange(first, false));
    if (!c.page.code_left_out.empty()) out << fmt::format("<p class=\"dim\">{}</p>\n", text(c.page.code_left_out));
    out << "</section>\n";
}

}  // namespace cllab::report::html
