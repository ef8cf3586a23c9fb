#include "report/html/markup.hpp"

#include <cmath>

#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::report::html {

std::string text(std::string_view raw, std::string_view allowed) {
    return with_entities(printable(raw, allowed), "&<>\"'");
}

std::string breakable(std::string_view raw) {
    std::string out;
    for (const char c : text(raw)) {
        if (c == '%' && out.ends_with(' ')) out.replace(out.size() - 1, 1, "&#160;");  // no line begins with a "%"
        out.append(1, c).append(c == '_' ? "<wbr>" : "");
    }
    return out;
}

std::string number(double value) { return format_exact(std::round(value * 1e4) / 1e4); }

std::string percent(double share) { return format_exact(std::round(share * 1e4) / 1e2) + "%"; }

double Scale::at(double value) const {
    if (!(high > low)) return 0.5;
    return logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
}

std::vector<double> Scale::ticks() const {
    std::vector<double> out;
    if (!(high > low)) return {low};
    constexpr int wanted = 5;
    if (logarithmic) {
        const double base = binary ? 2 : 10, span = std::log(high / low) / std::log(base);
        if (!binary && span < 2.5) {
            for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10)
                for (const double m : {1., 2., 5.})
                    if (const double v = decade * m; v >= low * 0.999 && v <= high * 1.001) out.push_back(v);
            if (out.size() > 1) return out;
            return {low, high};
        }
        const int step = std::max(1, static_cast<int>(std::ceil(span / wanted)));
        const int first = static_cast<int>(std::ceil(std::log(low) / std::log(base) - 1e-9));
        const int last = static_cast<int>(std::floor(std::log(high * 1.0001) / std::log(base)));
        for (int e = first + std::max(0, last - first) % step; e <= last; e += step) out.push_back(std::pow(base, e));
        return out;
    }
    const double rough = (high - low) / wanted, decade = std::pow(10, std::floor(std::log10(rough)));
    double step = decade * 10;
    for (const double m : {5., 2.5, 2., 1.})
        if (decade * m >= rough * 0.999) step = decade * m;
    for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) out.push_back(i * step);
    return out;
}

std::string command(std::string_view words) {
    return "<code>" + join(split(words, ' '), " ", [](const auto& word) {
               return word.starts_with('-') ? "<span class=\"option\">" + text(word) + "</span>" : text(word);
           }) + "</code>";
}

std::string marked(std::string_view sentence) {
    std::string out;
    bool code = false;
    for (const auto& part : split(sentence, '`')) {
        out += code ? command(part) : breakable(part);
        code = !code;
    }
    return out;
}

std::string heading(int level, const std::string& id, const std::string& title) {
    return fmt::format(
        "<h{0} id=\"{1}\">{2} <a class=\"here\" href=\"#{1}\" aria-label=\"link to this part\">#</a></h{0}>\n", level,
        text(id), text(title));
}

std::string head_of(const std::vector<std::string>& titles) {
    return "<thead><tr><th>" + join(titles, "</th><th>") + "</th></tr></thead>";
}

std::string cell(std::string_view raw) { return "<td>" + text(raw) + "</td>"; }

std::string number_cell(std::string_view raw) { return "<td class=\"n\">" + text(raw) + "</td>"; }

std::string range(double low, double high, const std::string& unit) {
    return low < high ? quantity(low, unit) + " to " + quantity(high, unit) : "";
}

}  // namespace cllab::report::html
