#include "report/html/page.hpp"

#include <algorithm>
#include <functional>
#include <ostream>
#include <sstream>

#include "core/embedded.hpp"
#include "core/grouped.hpp"
#include "core/hash.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/chart.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"
#include "report/records/points.hpp"
#include "report/table/curve.hpp"

namespace cllab::report::html {
namespace {

/// "H200" for "NVIDIA H200": without the vendors' words, so that links are easy to type.
std::string short_name(const std::string& name) {
    std::string out = name;
    for (const char* word : {"NVIDIA ", "AMD ", "Intel(R) ", "Intel ", "(R)", "(TM)", " Processor", " CPU"})
        for (auto at = out.find(word); at != std::string::npos; at = out.find(word))
            out.erase(at, std::string_view(word).size());
    out = folder_name(out);
    return out.empty() ? folder_name(name) : out;
}

std::string unique(const std::string& wanted, std::set<std::string>& taken) {
    std::string out = wanted;
    for (int n = 2; !taken.insert(out).second; ++n) out = wanted + "-" + std::to_string(n);
    return out;
}

/// 'sha256-…' for a content security policy: the hash in base 64.
std::string source_hash(std::string_view bytes) {
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto hex = sha256_hex(bytes);
    std::string out = "'sha256-";
    for (std::size_t i = 0; i < hex.size(); i += 6) {
        const auto part = hex.substr(i, 6);
        unsigned long bits = std::stoul(part, nullptr, 16) << (24 - 4 * part.size());
        for (std::size_t k = 0; k < 4; ++k) out += k <= part.size() / 2 ? digits[(bits >> (18 - 6 * k)) & 63] : '=';
    }
    return out + "'";
}

std::string title_of(const Context& c) {
    std::vector<std::string> families;
    for (const auto& r : c.records()) add_once(families, r.family);
    constexpr std::size_t most = 4;
    return first_few(families, most, std::identity()) + " on " +
           (c.devices.size() == 1 ? c.devices.front().name : std::to_string(c.devices.size()) + " devices");
}

/// The parts of the page are in the order of a reader's questions.
struct PagePart {
    const char *id, *name;
    void (*write)(std::ostream&, const Context&);
    bool (*is_there)(const Context&) = [](const Context&) { return true; };
};
constexpr PagePart page_parts[]{
    {"overview", "Verdict", write_overview},
    {"curves", "Curves", write_curves, [](const Context& c) { return !c.page.curves.empty(); }},
    {"code", "Variants", write_code, [](const Context& c) { return !c.page.code.empty(); }},
    {"roofline", "Roofline", write_roofline, has_roofline},
    {"portrait", "Portrait", write_portraits, [](const Context& c) { return !c.page.portraits.empty(); }},
    {"cells", "All cells", write_cells},
    {"method", "Method", write_method}};

}  // namespace

std::map<std::string, std::set<std::string>> varying_axes(const std::vector<model::Record>& records) {
    std::map<std::string, std::set<std::string>> out;
    std::map<std::pair<std::string, std::string>, std::string> first;  // value, by family and axis
    for (const auto& r : records)
        for (const auto& [axis, value] : r.point)
            if (first.try_emplace({r.family, axis}, value).first->second != value) out[r.family].insert(axis);
    return out;
}

Context::Context(const Page& p) : page(p), varying(varying_axes(p.records)), warnings(model::rows_of(p.records)) {
    std::map<std::string, std::size_t> known;
    const bool hosts = several_hosts(records());
    std::set<std::string> names, addresses;
    for (const auto& r : records()) {
        const auto [at, is_new] = known.emplace(model::device_key(r), devices.size());
        if (is_new)
            devices.push_back({at->first, unique(short_name(r.device.name), names),
                               r.device.name + device_details(r.device, hosts ? r.host.name : ""), &r});
        device_of.push_back(at->second);
    }

    model::Rows rows;
    for (std::size_t i = 0; i < records().size(); ++i) {
        const auto& r = records()[i];
        std::string address = folder_name(r.id) + "@" + devices[device_of[i]].name;
        if (addresses.count(address))
            for (const auto& [axis, value] : r.point)
                if (varies(r.family, axis)) address += ";" + folder_name(axis) + "=" + folder_name(value);
        anchors.push_back(unique(address, addresses));
        if (!in_curve(i)) rows.push_back(&r);
    }
    grid = device_grid(rows, {}, page.may_be_auto);
    in_card.resize(records().size());
    for (const auto& code : page.code) {
        in_card[code.cell] = true;
        for (const auto same : code.same) in_card[same] = true;
    }
}

bool Context::varies(const std::string& family, const std::string& axis) const {
    const auto axes = varying.find(family);
    return axes != varying.end() && axes->second.contains(axis);
}

std::string Context::varying_point(const model::Record& record) const {
    return point_text(record.point, [&](const auto& axis, const auto&) { return varies(record.family, axis); });
}

std::string Context::name_of_device(const std::string& key) const {
    const auto at = std::ranges::find_if(devices, [&](const auto& d) { return d.key == key; });
    return at == devices.end() ? std::string() : at->name;
}

std::string Context::name_of_grid_device(std::size_t d) const {
    const auto* first = grid.devices[d].first;
    return first ? devices[device_of[index(*first)]].name : grid.devices[d].letter;
}

std::string Context::on_device(const std::string& device) const { return devices.size() == 1 ? "" : " on " + device; }

std::string Context::sentence_on(const std::string& device, const std::string& sentence) const {
    return devices.size() > 1 ? "On " + device + ": " + sentence : sentence;
}

std::string Context::link(std::size_t cell, const std::string& label) const {
    return "<a href=\"#" + text(anchors[cell]) + "\">" + breakable(label) + "</a>";
}

std::string Context::links(const std::vector<std::size_t>& cells, std::size_t most) const {
    return first_few(cells, most, [&](auto cell) { return link(cell, records()[cell].id); });
}

namespace {

/// The beginning of a page, up to the end of its title. `scripts`: the sources of scripts that its policy allows.
void write_head(std::ostream& out, const std::string& title, const std::string& scripts) {
    const auto style = embedded("report/html/assets/page.css");
    out << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
    out << fmt::format(R"(<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src {}; )",
                       source_hash(style));
    out << scripts << "img-src data:; base-uri 'none'; form-action 'none'\">\n";
    out << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n";
    out << fmt::format("<title>cllab: {0}</title>\n<style>{1}</style></head>\n<body>\n<header><h1>{0}</h1>\n",
                       text(title), style);
}

}  // namespace

std::string table_page(const std::string& title, const std::vector<std::string>& remarks,
                       const std::vector<Column>& columns) {
    std::ostringstream out;
    write_head(out, title, "");
    for (const auto& remark : remarks) out << "<p>" << text(remark) << "</p>\n";
    out << "</header>\n<main>\n<table>" << head_of(mapped(columns, [](const auto& one) { return text(one.title); }))
        << "\n";
    for (std::size_t row = 0; row < columns.front().cells.size(); ++row)
        out << "<tr>" << join(columns, "", [&](const auto& one) { return cell(one.cells.at(row)); }) << "</tr>\n";
    out << "</table>\n</main></body></html>\n";
    return out.str();
}

void write_page(std::ostream& out, const Page& page) {
    const Context c(page);
    const auto script = embedded("report/html/assets/page.js"), d3 = embedded("d3.min.js");
    write_head(out, title_of(c),
               fmt::format("script-src {}{}; ", source_hash(script), d3.empty() ? "" : " " + source_hash(d3)));
    out << "<nav aria-label=\"parts of the page\">";
    for (const auto& part : page_parts)
        if (part.is_there(c)) out << fmt::format("<a href=\"#{}\">{}</a> ", part.id, part.name);
    constexpr std::size_t many = 300;
    out << fmt::format("</nav></header>\n<main{}>\n", c.records().size() > many ? " class=\"many\"" : "");
    for (const auto& part : page_parts)
        if (part.is_there(c)) part.write(out, c);
    out << "</main>\n<footer><p>" << text(page.made)
        << ". All samples are in the JSON lines; this page holds at most 512 quantiles a cell.</p>";
    if (d3.empty())
        out << "<p>This cllab was built without D3 (Debian's node-d3), so charts neither zoom nor answer to the "
               "pointer.</p>";
    out << "</footer>\n<div id=\"tip\" role=\"status\" hidden></div>\n<script type=\"application/json\" id=\"data\">"
        << data_json(c) << "</script>\n";
    if (!d3.empty()) out << "<script>" << d3 << "</script>\n";
    out << "<script>" << script << "</script>\n</body></html>\n";
}

// What was compared, on which device, and which variant was fastest. Each family, point and device has a ranking with
// its verdict.

namespace {

constexpr std::size_t most_groups = 60;  // per family; the table of all cells has the others

void write_verdict(std::ostream& out, const std::string& sentence) {
    out << fmt::format("<p class=\"verdict\">{}</p>\n", marked(sentence));
}

/// The sentences below a table of these rows, which are all of one device.
void write_sentences(std::ostream& out, const Context& c, const std::string& on, const model::Rows& rows) {
    for (const auto& sentence :
         rows.empty() ? std::vector<std::string>() : table_sentences(compare(rows, c.page.may_be_auto)))
        write_verdict(out, c.sentence_on(on, sentence));
}

/// Says whether the devices rank the variants differently.
void write_difference(std::ostream& out, const Context& c, const GridGroup& group) {
    const auto differs = verdict(group, c.grid.devices);
    if (differs.empty()) return;
    std::vector<std::string> names;
    for (std::size_t d = 0; d < c.grid.devices.size(); ++d)
        names.push_back(c.grid.devices[d].letter + " is " + c.name_of_grid_device(d));
    out << fmt::format("<p>{} Here {}.</p>\n", breakable(differs), text(join(names, ", ")));
}

/// The cells that their device does not support: one line per reason, with their number.
void write_unsupported(std::ostream& out, const Context& c, const GridFamily& family) {
    std::vector<std::pair<std::string, std::size_t>> unsupported;  // device and reason, cell
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

/// The variants of a device over the only axis that varies, one line each. Empty if they make no curve.
std::vector<ChartLine> lines_of(const Context& c, const GridFamily& family, std::size_t device) {
    constexpr std::size_t least_points = 3, most_lines = 8;
    std::map<std::string, ChartLine> lines;
    if (family.varying.size() != 1 || family.groups.size() < least_points) return {};
    for (const auto& group : family.groups) {
        const auto place = family.place(group);
        const auto x = place.empty() ? std::nullopt : parse_real(place.front().second);
        if (!x) return {};
        for (const auto* cell : fastest_first(group, device)) {
            const auto& t = *cell->record->time;
            const bool interval = t.has_interval();
            auto& line = lines.try_emplace(cell->record->id, ChartLine{cell->record->id, {}}).first->second;
            line.marks.push_back(
                {*x, t.median, interval ? t.low : 0, interval ? t.high : 0, static_cast<long>(c.index(*cell->record))});
        }
    }
    std::vector<ChartLine> out;
    for (auto& [id, line] : lines) {
        std::ranges::sort(line.marks, {}, &ChartMark::x);
        if (line.marks.size() >= least_points) out.push_back(std::move(line));
    }
    return out.size() == lines.size() && out.size() <= most_lines ? out : std::vector<ChartLine>();
}

/// The sentences and the curve of a family whose points make a curve. False if they make none.
bool write_as_curve(std::ostream& out, const Context& c, const GridFamily& family) {
    bool any = false;
    for (std::size_t d = 0; d < c.grid.devices.size(); ++d) {
        const auto lines = lines_of(c, family, d);
        if (lines.empty()) continue;
        any = true;
        model::Rows rows;
        for (const auto& line : lines)
            for (const auto& mark : line.marks) rows.push_back(&c.records()[static_cast<std::size_t>(mark.cell)]);
        const auto on = c.name_of_grid_device(d);
        write_sentences(out, c, on, rows);
        out << "<div class=\"figures\">\n";
        write_chart(out, {family.name + c.on_device(on), *family.varying.begin(), "", "time", "s"}, lines, {});
        out << "</div>\n";
    }
    return any;
}

void write_family(std::ostream& out, const Context& c, const GridFamily& family) {
    const auto common = family.common_point();
    if (!common.empty()) out << fmt::format("<p class=\"point\">{}</p>\n", text(common));
    if (write_as_curve(out, c, family)) return;
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

/// The sentences about the curves of a family, per device.
void write_curve_sentences(std::ostream& out, const Context& c, const std::string& family) {
    for (std::size_t d = 0; d < c.devices.size(); ++d) {
        model::Rows rows;
        for (std::size_t i = 0; i < c.records().size(); ++i)
            if (c.in_curve(i) && c.device_of[i] == d && c.records()[i].family == family)
                rows.push_back(&c.records()[i]);
        write_sentences(out, c, c.devices[d].name, rows);
    }
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

/// The numbers of cells and runs, their time, and the devices.
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

/// If no cell has a known limit, says how to learn what limits the kernels.
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
    for (const auto& line : c.page.comparisons) write_comparison(out, line);
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
    if (c.grid.apart) out << fmt::format("<p class=\"dim\">{}</p>\n", apart_note);
    write_without_limits(out, c);
    write_failed(out, c);
    out << "</section>\n";
}

}  // namespace cllab::report::html
