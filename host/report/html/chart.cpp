#include "report/html/chart.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <ostream>
#include <span>

#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/table/curve.hpp"

namespace cllab::report::html {
namespace {

constexpr double height = 240, top = 14, margin = 0.03;
constexpr std::size_t colours = 8;
constexpr double narrowest = 240, letter = 6.6, line_height = 12;  // pixels: a chart on a phone, its labels

double share(double at) { return margin + (1 - 2 * margin) * at; }

/// The scale of an axis with these values; at least one. Logarithmic if all are positive and span more than a factor of
/// 8.
Scale scale_of(const std::vector<double>& values, bool binary) {
    const auto [least, most] = std::ranges::minmax(values);
    constexpr double logarithmic_from = 8;
    return {least, most, least > 0 && most / least > logarithmic_from, binary};
}

/// A unit in words: "seconds" for "s". Other units without '/' get a plural.
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

/// Words at a position of the chart: a share of its width, and a height. They go to the side that has room for them.
struct Label {
    double share = 0, y = 0;
    const std::string* words = nullptr;
    std::string style{};  ///< class of the points that it names; empty: none

    double width() const { return 8 + letter * static_cast<double>(display_width(*words)); }
    bool ends() const { return share * narrowest + width() > narrowest && share > 0.3; }
    double left() const { return share * narrowest - (ends() ? width() : 0); }
    bool hits(const Label& other) const {
        return std::abs(y - other.y) < line_height && left() < other.left() + other.width() &&
               other.left() < left() + width();
    }
};

/// Places labels so that they do not overlap. If two do not overlap on the narrowest chart, they do not on a wider one:
/// their positions move apart, and their words keep their size.
class Labels {
public:
    /// Places a label at the first of the `heights` that is free. False if none is.
    bool place(double share, const std::vector<double>& heights, const std::string& words,
               const std::string& style = "") {
        for (const double y : heights) {
            const Label label{share, y, &words, style};
            if (y < 7 || y > height - 3 ||
                std::ranges::any_of(placed_, [&](const auto& other) { return label.hits(other); }))
                continue;
            placed_.push_back(label);
            return true;
        }
        return false;
    }

    /// Places a label below all others placed so for lines with the same `end`. Prefers the two nearest heights,
    /// because a label further away would seem to belong to another line.
    void place_in_order(std::size_t end, double share, std::vector<double> heights, const std::string& words) {
        const auto before = lowest_.find(end);
        if (before != lowest_.end()) std::erase_if(heights, [&](double y) { return y < before->second + line_height; });
        const std::vector<double> near(heights.begin(),
                                       heights.begin() + std::min<std::ptrdiff_t>(2, std::ssize(heights)));
        if (place(share, near, words) || place(share, heights, words)) lowest_[end] = placed_.back().y;
    }

    void write(std::ostream& out) const {
        for (const auto& label : placed_)
            out << fmt::format(R"(<text data-share="{}" x="{}" y="{}" dx="{}" class="{} {}">{}</text>)",
                               number(label.share), percent(label.share), number(label.y), label.ends() ? -4 : 4,
                               label.ends() ? "end" : "start", label.style, text(*label.words));
    }

private:
    std::vector<Label> placed_;
    std::map<std::size_t, double> lowest_;  ///< by `end`: the last label placed in order
};

/// Heights above `y`, below it, further above, and so on. With `below`, the one below comes first.
std::vector<double> heights_about(double y, bool below) {
    std::vector<double> out;
    for (double away = 0; away < 6; ++away)
        for (const bool under : {below, !below}) out.push_back(under ? y + 14 + away * 12 : y - 7 - away * 12);
    return out;
}

/// A chart while it is written, part by part from the back to the front.
struct Drawing {
    std::ostream& out;
    const ChartText& words;
    Scale x, y;
    std::vector<std::string> styles{};  ///< of the lines

    std::string px(double v) const { return number(1000 * share(x.at(v))); }
    double height_of(double v) const { return std::clamp(top + (height - top - 6) * (1 - y.at(v)), 0.0, height); }
    std::string py(double v) const { return number(height_of(v)); }

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

    /// Shades every second range between guides, such as the levels of a memory.
    void bands(const std::vector<ChartGuide>& guides) const {
        std::vector<double> ends;
        for (const auto& guide : guides) ends.push_back(guide.at);
        std::ranges::sort(ends);
        for (std::size_t i = 0; i < ends.size(); i += 2)
            out << fmt::format("<path class=\"band\" d=\"M{0} 0H{1}V{2}H{0}Z\"/>\n", px(ends[i]),
                               i + 1 < ends.size() ? px(ends[i + 1]) : "1000", height);
    }

    void guide(const ChartGuide& guide) const {
        out << fmt::format("<path class=\"guide\" d=\"M{} 0V{}\"/>\n", px(guide.at), height);
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

    void label(const ChartGuide& guide, Labels& labels) const {
        if (guide.label.empty()) return;
        std::vector<double> rows;
        for (double row = 10; row < height / 2; row += line_height) rows.push_back(row);
        labels.place(share(x.at(guide.at)), rows, guide.label);
    }

    void label(const ChartLine& line, const std::string& style, Labels& labels) const {
        if (line.label.empty() || line.labelled >= line.marks.size()) return;
        const auto& mark = line.marks[line.labelled];
        // If the line rises, there is room below it.
        const bool rises =
            line.joined && line.labelled + 1 < line.marks.size() && line.marks[line.labelled + 1].y > mark.y;
        const auto heights = heights_about(height_of(mark.y), rises);
        const double at = share(x.at(mark.x));
        if (line.name.empty()) return labels.place_in_order(line.labelled, at, heights, line.label);
        labels.place(at, heights, line.label, line.dots ? style : "");
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
    if (!y.logarithmic && y.low > 0) y.low = 0;
    Drawing drawing{out, words, x, y};
    drawing.axes();
    drawing.bands(guides);
    for (const auto& guide : guides) drawing.guide(guide);
    std::size_t colour = 0;
    for (const auto& line : lines) {
        drawing.styles.push_back(line.style.empty() ? "s" + std::to_string(colour++ % colours) : line.style);
        drawing.line(line, drawing.styles.back());
    }
    out << "</g></svg><g class=\"labels\">";
    Labels labels;
    for (const auto& guide : guides) drawing.label(guide, labels);
    for (const bool roofs : {true, false})  // roofs first: only their labels name them
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (lines[i].name.empty() == roofs) drawing.label(lines[i], drawing.styles[i], labels);
    labels.write(out);
    out << "</g></svg></div>\n<p class=\"xtitle\">" << text(title_of(words.x_name, words.x_unit, x)) << "</p>\n";
    drawing.legend(lines);
}

// Curves over an axis, with the probe's findings.

namespace {

/// The probe's findings on the axis, as vertical lines.
std::vector<ChartGuide> guides_of(const std::vector<model::Finding>& findings, const std::vector<ChartLine>& lines,
                                  const std::string& unit) {
    double first = std::numeric_limits<double>::infinity(), last = -first;
    for (const auto& line : lines)
        for (const auto& mark : line.marks) {
            first = std::min(first, mark.x);
            last = std::max(last, mark.x);
        }
    return mapped(knees(findings, unit, first, last), [&](const auto& f) {
        return ChartGuide{f.value, quantity(f.value, unit) + " " + f.name};
    });
}

/// A curve's variant, with the values of the axes that its family varies.
std::string name_of_series(const Context& c, const std::string& family, const Curves::Series& series) {
    auto out = family + "_" + series.curve.variant;
    for (const auto& [axis, value] : series.curve.fixed.values())
        if (c.varies(family, axis)) out += " " + axis + "=" + value;
    return out;
}

/// The line of a series, with the intervals of its points.
ChartLine line_of(const Context& c, const std::string& family, const Curves::Series& series) {
    ChartLine line{name_of_series(c, family, series), {}};
    for (std::size_t i = 0; i < series.curve.samples.size(); ++i) {
        const auto& s = series.curve.samples[i];
        const double value = value_of(s), scale = s.seconds > 0 ? value / s.seconds : 1;
        if (!(value > 0)) continue;
        const bool interval = s.n >= least_for_interval;
        line.marks.push_back({s.x, value, interval ? s.low * scale : 0, interval ? s.high * scale : 0,
                              static_cast<long>(series.cells[i])});
    }
    return line;
}

void write_set(std::ostream& out, const Context& c, const Curves& set) {
    // One chart for all series with the same axis and the same kind of value: time, or time per step.
    std::map<std::pair<std::string, bool>, std::vector<const Curves::Series*>> charts;
    for (const auto& series : set.series)
        charts[{series.axis, !series.curve.samples.empty() && series.curve.samples.front().per_step > 0}].push_back(
            &series);
    const auto device = c.name_of_device(set.device_key);
    for (const auto& [what, members] : charts) {
        const auto& unit = members.front()->unit;
        constexpr std::size_t most_lines = 8;  // more colors than this cannot be told apart
        for (std::size_t first = 0; first < members.size(); first += most_lines) {
            const auto part = mapped(std::span(members).subspan(first, std::min(most_lines, members.size() - first)),
                                     [&](const auto* series) { return line_of(c, set.family, *series); });
            const auto number =
                members.size() > most_lines ? ", part " + std::to_string(first / most_lines + 1) : std::string();
            write_chart(out,
                        {set.family + c.on_device(device) + number, what.first, unit,
                         what.second ? "time per step" : "time", "s"},
                        part, guides_of(set.findings, part, unit));
        }
    }
    if (set.findings.empty()) return;
    out << fmt::format("<table class=\"findings\"><caption>Findings of the probe{}</caption>{}<tbody>\n",
                       text(c.on_device(device)), head_of({"finding", "value", "95 % interval", "how"}));
    for (const auto& f : set.findings) {
        const bool there = f.withheld.empty();
        out << "<tr>" << cell(f.name) << number_cell(there ? quantity(f.value, f.unit) : "none")
            << number_cell(there ? range(f.low, f.high, f.unit) : "") << cell(there ? f.how : "withheld: " + f.withheld)
            << "</tr>\n";
    }
    out << "</tbody></table>\n";
}

}  // namespace

void write_curves(std::ostream& out, const Context& c) {
    out << "<section>\n"
        << heading(2, "curves", "Curves over an axis")
        << "<p>Points are medians, bars their 95 % intervals. A dashed line is a value that the probe found on the "
           "axis.</p>\n";
    std::string last;
    for (const auto& set : c.page.curves) {
        if (set.family != last) {
            if (!last.empty()) out << "</div>\n";
            last = set.family;
            out << fmt::format("{}<p class=\"question\">{}</p>\n<div class=\"figures\">\n",
                               heading(3, "curve-" + set.family, set.family), text(set.question));
        }
        write_set(out, c, set);
    }
    out << "</div>\n</section>\n";
}

}  // namespace cllab::report::html
