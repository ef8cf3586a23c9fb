#include "report/html/page.hpp"

#include <algorithm>
#include <functional>
#include <ostream>

#include "core/grouped.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"
#include "report/records/points.hpp"

namespace cllab::report::html {
namespace {

/// "H200" of "NVIDIA H200": the vendors' words go, for a link that one can type.
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

/// 'sha256-…' of a content security policy: the hash in base 64.
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

/// In the order of a reader's questions.
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

std::string Context::sentence_on(const std::string& device, std::string sentence) const {
    if (devices.size() > 1) return "On " + device + " " + sentence;
    // A name stays as it is written.
    if (sentence.starts_with("no ") || sentence.starts_with("none ")) sentence.front() = 'N';
    return sentence;
}

std::string Context::link(std::size_t cell, const std::string& label) const {
    return "<a href=\"#" + text(anchors[cell]) + "\">" + breakable(label) + "</a>";
}

std::string Context::links(const std::vector<std::size_t>& cells, std::size_t most) const {
    return first_few(cells, most, [&](auto cell) { return link(cell, records()[cell].id); });
}

void write_page(std::ostream& out, const Page& page) {
    const Context c(page);
    const auto style = asset("page.css"), script = asset("page.js"), d3 = asset("d3.min.js");
    const auto title = title_of(c);
    out << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
    out << fmt::format(R"(<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src {}; )",
                       source_hash(style));
    out << fmt::format("script-src {}{}; img-src data:; base-uri 'none'; form-action 'none'\">\n", source_hash(script),
                       d3.empty() ? "" : " " + source_hash(d3));
    out << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n";
    out << fmt::format("<title>cllab: {0}</title>\n<style>{1}</style></head>\n<body>\n<header><h1>{0}</h1>\n",
                       text(title), style);
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

}  // namespace cllab::report::html
