#include "report/html/chart.hpp"

#include <algorithm>
#include <cctype>
#include <ostream>

#include "core/table.hpp"
#include "core/units.hpp"

namespace cllab::report::html {
namespace {

constexpr double height = 240, top = 14, margin = 0.03;
constexpr std::size_t colours = 8, most_labels = 8;

double share(double at) { return margin + (1 - 2 * margin) * at; }

/// From the values of an axis, of which there are some: logarithmic when all are positive and span more than a factor
/// of eight.
Scale scale_of(const std::vector<double>& values, bool binary) {
    const auto [least, most] = std::ranges::minmax(values);
    constexpr double logarithmic_from = 8;
    return {least, most, least > 0 && most / least > logarithmic_from, binary};
}

/// "time [s]" as "time, in seconds".
std::string in_words(const std::string& unit) {
    static constexpr Entry<std::string_view, const char*> words[] = {
        {"s", "seconds"}, {"B/s", "bytes per second"}, {"FLOP/s", "operations per second"}, {"%", "percent"}};
    if (const char* word = value_of(words, unit)) return word;
    const bool plural = !unit.empty() && unit.find('/') == std::string::npos && unit.back() != 's' &&
                        std::isalpha(static_cast<unsigned char>(unit.back()));
    return plural ? unit + "s" : unit;
}

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

    void axes() const {
        out << fmt::format(R"(<figure class="chart" data-low="{}" data-high="{}" data-log="{:d}" data-unit="{}">)",
                           format_exact(x.low), format_exact(x.high), x.logarithmic, text(words.x_unit));
        out << fmt::format("<figcaption>{}</figcaption>\n<p class=\"ytitle\">{}</p>\n", text(words.title),
                           text(title_of(words.y_name, words.y_unit, y)));
        out << fmt::format(R"(<div class="frame"><svg class="ylabels" width="84" height="{}">)", height + 20);
        const auto y_ticks = y.ticks();
        for (const double tick : y_ticks)
            out << fmt::format(R"(<text x="78" y="{}" dy="4">{}</text>)", py(tick),
                               tick == 0 ? "0" : text(quantity(tick, words.y_unit)));
        out << fmt::format("</svg><svg class=\"plot\" width=\"100%\" height=\"{}\" role=\"img\" aria-label=\"{}\">\n",
                           height + 20, text(words.title));
        out << "<g class=\"rules\">";
        for (const double tick : y_ticks) out << fmt::format(R"(<line x1="0" x2="100%" y1="{0}" y2="{0}"/>)", py(tick));
        out << fmt::format(R"(<line class="base" x1="0" x2="100%" y1="{0}" y2="{0}"/></g><g class="ticks">)", height);
        std::size_t k = 0;
        for (const double tick : x.ticks()) {
            const double at = share(x.at(tick));
            out << fmt::format(R"(<g data-share="{0}" class="{1}"><line x1="{2}" x2="{2}" y1="{3}" y2="{4}"/>)",
                               number(at), k++ % 2 ? "minor" : "major", percent(at), height, height + 5);
            out << fmt::format(R"(<text x="{}" y="{}">{}</text></g>)", percent(at), height + 17,
                               text(quantity(tick, words.x_unit)));
        }
        out << fmt::format(
            "</g>\n<svg class=\"inner\" viewBox=\"0 0 1000 {0}\" preserveAspectRatio=\"none\" width=\"100%\" ", height);
        out << fmt::format("height=\"{}\"><g class=\"zoomed\">\n", height);
    }

    void guide(const ChartGuide& guide) const {
        const bool whole = !(guide.to > guide.from);
        out << fmt::format("<path class=\"guide\" d=\"{}\"/>\n",
                           guide.vertical ? fmt::format("M{} 0V{}", px(guide.at), height)
                                          : fmt::format("M{} {}H{}", whole ? "0" : px(guide.from), py(guide.at),
                                                        whole ? "1000" : px(guide.to)));
    }

    void line(const ChartLine& line, const std::string& style) const {
        std::string path, intervals;
        for (const auto& mark : line.marks) {
            path += (path.empty() ? "M" : "L") + px(mark.x) + " " + py(mark.y);
            if (mark.high > mark.low)
                intervals += "M" + px(mark.x) + " " + py(y.logarithmic ? std::max(mark.low, y.low) : mark.low) + "V" +
                             py(mark.high);
        }
        const auto draw = [&](const char* kind, const std::string& d, const std::string& data = "") {
            out << fmt::format("<path class=\"{} {}\"{} d=\"{}\"/>\n", kind, style, data, d);
        };
        if (line.joined && line.marks.size() > 1) draw("line", path);
        if (!intervals.empty()) draw("span", intervals);
        if (!line.dots) return;
        for (const auto& mark : line.marks)
            draw("dot", "M" + px(mark.x) + " " + py(mark.y) + "h0",
                 mark.cell >= 0 ? fmt::format(" data-cell=\"{}\"", mark.cell) : "");
    }

    /// `turn`: from this share of the width on the text ends at its place.
    void label(double at, const std::string& y, int dy, double turn, const std::string& label) const {
        out << fmt::format(R"(<text data-share="{}" x="{}" y="{}" dy="{}" dx="{}" class="{}">{}</text>)", number(at),
                           percent(at), y, dy, at > turn ? -4 : 4, at > turn ? "end" : "start", text(label));
    }

    void label(const ChartGuide& guide, std::size_t k) const {
        const double at = share(x.at(guide.vertical ? guide.at : guide.to > guide.from ? guide.from : x.low));
        if (guide.vertical)
            label(at, number(10 + 12 * static_cast<double>(k % 3)), 0, 0.8, guide.label);
        else
            label(at, py(guide.at), -4, 0.8, guide.label);
    }

    void label(const ChartLine& line) const {
        if (line.label.empty() || line.labelled >= line.marks.size()) return;
        const auto& mark = line.marks[line.labelled];
        // Where the line rises there is room below it.
        const bool rises =
            line.joined && line.labelled + 1 < line.marks.size() && line.marks[line.labelled + 1].y > mark.y;
        label(share(x.at(mark.x)), py(mark.y), rises ? 14 : -7, 0.65, line.label);
    }

    void legend(const std::vector<ChartLine>& lines) const {
        out << "<ul class=\"legend\">";
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (lines[i].name.empty()) continue;
            out << "<li><svg width=\"28\" height=\"10\">";
            if (lines[i].joined) out << fmt::format(R"(<path class="line {}" d="M0 5H28"/>)", styles[i]);
            if (lines[i].dots) out << fmt::format(R"(<path class="dot {}" d="M14 5h0"/>)", styles[i]);
            out << fmt::format("</svg> {}</li>", text(lines[i].name));
        }
        out << "</ul></figure>\n";
    }
};

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
