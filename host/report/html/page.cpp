#include "report/html/page.hpp"

#include <algorithm>
#include <ostream>

#include "core/hash.hpp"
#include "core/text.hpp"
#include "report/html/assets.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"

namespace cllab::report::html {
namespace {

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
    for (const auto& r : c.records())
        if (std::ranges::find(families, r.family) == families.end()) families.push_back(r.family);
    constexpr std::size_t most = 4;
    const auto more =
        families.size() > most ? " and " + std::to_string(families.size() - most) + " more" : std::string();
    families.resize(std::min(most, families.size()));
    return join(families, ", ") + more + " on " +
           (c.devices.size() == 1 ? c.devices.front().name : std::to_string(c.devices.size()) + " devices");
}

}  // namespace

void write_page(std::ostream& out, const Page& page) {
    const Context c(page);
    const auto style = asset("page.css"), script = asset("page.js"), d3 = asset("d3.min.js");
    const auto title = title_of(c);
    out << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
           "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
           "style-src "
        << source_hash(style) << "; script-src " << source_hash(script) << (d3.empty() ? "" : " " + source_hash(d3))
        << "; img-src data:; base-uri 'none'; form-action 'none'\">\n<meta name=\"viewport\" "
           "content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>cllab: "
        << text(title) << "</title>\n<style>" << style << "</style></head>\n<body>\n<header><h1>" << text(title)
        << "</h1>\n"
           "<nav aria-label=\"parts of the page\">";
    for (const auto& [id, name] : {std::pair{"overview", "Verdict"},
                                   {"variants", "Variants"},
                                   {"curves", "Curves"},
                                   {"by-device", "By device"},
                                   {"history", "History"},
                                   {"roofline", "Roofline"},
                                   {"code", "Code"},
                                   {"method", "Method"},
                                   {"portrait", "Portrait"},
                                   {"cells", "All cells"}}) {
        const std::string part = id;
        if ((part == "variants" && c.grid.families.empty()) || (part == "curves" && page.curves.empty()) ||
            (part == "by-device" && c.grid.devices.size() < 2) || (part == "history" && page.histories.empty()) ||
            (part == "code" && page.code.empty()))
            continue;
        out << "<a href=\"#" << id << "\">" << name << "</a> ";
    }
    out << "</nav></header>\n<main>\n";
    write_overview(out, c);
    write_bars(out, c);
    write_curves(out, c);
    write_heat(out, c);
    write_history(out, c);
    write_roofline(out, c);
    write_code(out, c);
    write_method(out, c);
    write_portraits(out, c);
    write_cells(out, c);
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
