#include "report/html/chart.hpp"

#include <algorithm>
#include <ostream>

namespace cllab::report::html {
namespace {

constexpr double height = 240, top = 14, margin = 0.03;
constexpr std::size_t colours = 8, most_labels = 8;

double share(double at) { return margin + (1 - 2 * margin) * at; }

std::string title_of(const std::string& name, const std::string& unit, const Scale& scale) {
    const auto words = in_words(unit);
    return name + (words.empty() ? "" : ", in " + words) + (scale.logarithmic ? ", logarithmic" : "");
}

/// A chart while it is written, part by part from the back to the front.
struct Drawing {
    std::ostream& out;
    const ChartText& words;
    Scale x, y;
    std::vector<std::string> styles{};  ///< of the lines

    std::string px(double v) const { return number(1000 * share(x.at(v))); }
    std::string py(double v) const { return number(std::clamp(top + (height - top - 6) * (1 - y.at(v)), 0.0, height)); }

    void axes() const;
    void guide(const ChartGuide& guide) const;
    void line(const ChartLine& line, const std::string& style) const;
    void label(const ChartGuide& guide, std::size_t k) const;
    void label(const ChartLine& line) const;
    void legend(const std::vector<ChartLine>& lines) const;
};

void Drawing::axes() const {
    out << "<figure class=\"chart\" data-low=\"" << exact(x.low) << "\" data-high=\"" << exact(x.high)
        << "\" data-log=\"" << x.logarithmic << "\" data-unit=\"" << text(words.x_unit) << "\"><figcaption>"
        << text(words.title) << "</figcaption>\n<p class=\"ytitle\">" << text(title_of(words.y_name, words.y_unit, y))
        << "</p>\n<div class=\"frame\"><svg class=\"ylabels\" width=\"84\" height=\"" << height + 20 << "\">";
    const auto y_ticks = y.ticks();
    for (const double tick : y_ticks)
        out << "<text x=\"78\" y=\"" << py(tick) << "\" dy=\"4\">"
            << (tick == 0 ? "0" : text(quantity(tick, words.y_unit))) << "</text>";
    out << "</svg><svg class=\"plot\" width=\"100%\" height=\"" << height + 20 << "\" role=\"img\" aria-label=\""
        << text(words.title) << "\">\n<g class=\"rules\">";
    for (const double tick : y_ticks)
        out << "<line x1=\"0\" x2=\"100%\" y1=\"" << py(tick) << "\" y2=\"" << py(tick) << "\"/>";
    out << "<line class=\"base\" x1=\"0\" x2=\"100%\" y1=\"" << height << "\" y2=\"" << height
        << "\"/></g><g class=\"ticks\">";
    std::size_t k = 0;
    for (const double tick : x.ticks()) {
        const auto at = percent(share(x.at(tick)));
        out << "<g data-share=\"" << number(share(x.at(tick))) << "\" class=\"" << (k++ % 2 ? "minor" : "major")
            << "\"><line x1=\"" << at << "\" x2=\"" << at << "\" y1=\"" << height << "\" y2=\"" << height + 5
            << "\"/><text x=\"" << at << "\" y=\"" << height + 17 << "\">" << text(quantity(tick, words.x_unit))
            << "</text></g>";
    }
    out << "</g>\n<svg class=\"inner\" viewBox=\"0 0 1000 " << height
        << "\" preserveAspectRatio=\"none\" width=\"100%\" height=\"" << height << "\"><g class=\"zoomed\">\n";
}

void Drawing::guide(const ChartGuide& guide) const {
    out << "<path class=\"guide\" d=\"";
    if (guide.vertical)
        out << "M" << px(guide.at) << " 0V" << height;
    else
        out << "M" << (guide.to > guide.from ? px(guide.from) : "0") << " " << py(guide.at) << "H"
            << (guide.to > guide.from ? px(guide.to) : "1000");
    out << "\"/>\n";
}

void Drawing::line(const ChartLine& line, const std::string& style) const {
    std::string path, intervals;
    for (const auto& mark : line.marks) {
        path += (path.empty() ? "M" : "L") + px(mark.x) + " " + py(mark.y);
        if (mark.high > mark.low)
            intervals +=
                "M" + px(mark.x) + " " + py(y.logarithmic ? std::max(mark.low, y.low) : mark.low) + "V" + py(mark.high);
    }
    if (line.joined && line.marks.size() > 1) out << "<path class=\"line " << style << "\" d=\"" << path << "\"/>\n";
    if (!intervals.empty()) out << "<path class=\"span " << style << "\" d=\"" << intervals << "\"/>\n";
    if (!line.dots) return;
    for (const auto& mark : line.marks) {
        out << "<path class=\"dot " << style << "\"";
        if (mark.cell >= 0) out << " data-cell=\"" << mark.cell << "\"";
        out << " d=\"M" << px(mark.x) << " " << py(mark.y) << "h0\"/>\n";
    }
}

void Drawing::label(const ChartGuide& guide, std::size_t k) const {
    const double at = share(x.at(guide.vertical ? guide.at : guide.to > guide.from ? guide.from : x.low));
    const auto row = guide.vertical ? number(10 + 12 * static_cast<double>(k % 3)) : py(guide.at);
    out << "<text data-share=\"" << number(at) << "\" x=\"" << percent(at) << "\" y=\"" << row << "\" dy=\""
        << (guide.vertical ? 0 : -4) << "\" dx=\"" << (at > 0.8 ? -4 : 4) << "\" class=\""
        << (at > 0.8 ? "end" : "start") << "\">" << text(guide.label) << "</text>";
}

void Drawing::label(const ChartLine& line) const {
    if (line.label.empty() || line.labelled >= line.marks.size()) return;
    const auto& mark = line.marks[line.labelled];
    const double at = share(x.at(mark.x));
    // Then there is room below it.
    const bool rises = line.joined && line.labelled + 1 < line.marks.size() && line.marks[line.labelled + 1].y > mark.y;
    out << "<text data-share=\"" << number(at) << "\" x=\"" << percent(at) << "\" y=\"" << py(mark.y) << "\" dy=\""
        << (rises ? 14 : -7) << "\" dx=\"" << (at > 0.65 ? -4 : 4) << "\" class=\"" << (at > 0.65 ? "end" : "start")
        << "\">" << text(line.label) << "</text>";
}

void Drawing::legend(const std::vector<ChartLine>& lines) const {
    out << "<ul class=\"legend\">";
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (!lines[i].name.empty())
            out << "<li><svg width=\"28\" height=\"10\">"
                << (lines[i].joined ? "<path class=\"line " + styles[i] + "\" d=\"M0 5H28\"/>" : "")
                << (lines[i].dots ? "<path class=\"dot " + styles[i] + "\" d=\"M14 5h0\"/>" : "") << "</svg> "
                << text(lines[i].name) << "</li>";
    out << "</ul></figure>\n";
}

}  // namespace

void write_chart(std::ostream& out, const ChartText& words, const std::vector<ChartLine>& lines,
                 const std::vector<ChartGuide>& guides) {
    std::vector<double> xs, ys;
    for (const auto& line : lines)
        for (const auto& mark : line.marks) {
            xs.push_back(mark.x);
            ys.push_back(mark.y);
            if (mark.low > 0 && mark.high > mark.low) ys.insert(ys.end(), {mark.low, mark.high});
        }
    if (xs.empty()) return;
    const auto x = scale_of(xs, words.x_unit == "byte");
    auto y = scale_of(ys, false);
    if (words.from_zero && !y.logarithmic && y.low > 0) y.low = 0;
    Drawing drawing{out, words, x, y};
    drawing.axes();
    for (const auto& guide : guides) drawing.guide(guide);
    std::size_t colour = 0;
    for (const auto& line : lines) {
        drawing.styles.push_back(line.style.empty() ? "s" + std::to_string(colour++ % colours) : line.style);
        drawing.line(line, drawing.styles.back());
    }
    out << "</g></svg><g class=\"labels\">";
    std::size_t k = 0;
    for (const auto& guide : guides) {
        if (guide.label.empty() || k == most_labels) continue;
        drawing.label(guide, k);
        k += guide.vertical;
    }
    for (const auto& line : lines) drawing.label(line);
    out << "</g></svg></div>\n<p class=\"xtitle\">" << text(title_of(words.x_name, words.x_unit, x)) << "</p>\n";
    drawing.legend(lines);
}

}  // namespace cllab::report::html
