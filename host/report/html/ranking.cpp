// The variants at one point on one device, fastest first: bars from zero with their intervals and times, how far each
// is from the best, what limits it, and the density of its samples.
#include <algorithm>
#include <limits>
#include <ostream>
#include <set>
#include <vector>

#include "core/embedded.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"
#include "report/table/columns.hpp"

namespace cllab::report::html {
namespace {

using model::Record;

/// The position of a time on the axis of a chart, from 0 to 1. Bars begin at zero. If that hides short times, points on
/// a logarithmic axis replace the bars: a bar has no length there.
struct TimeAxis {
    Scale scale;
    double at(double seconds) const;
};

/// The variants of a group on one device.
struct Ranking {
    std::vector<const RankedCell*> timed;  ///< fastest first
    model::Rows failed;
    TimeAxis axis;
};

/// "best", "tie", "value", or "apart" if it is not ranked.
const char* style_of(const Rank& rank);

/// A column about a record. It is omitted if it is empty for all records.
struct RankColumn {
    const char *title, *style;
    std::string (*html)(const Context&, std::size_t cell);
};

constexpr RankColumn rank_columns[]{
    {"limited by", "limit", limit_tag},
    {"registers", "n",
     [](const Context& c, std::size_t i) {
         const auto& registers = c.records()[i].code.registers;
         return registers ? std::to_string(*registers) : std::string();
     }},
    {"hot code", "n",
     [](const Context& c, std::size_t i) {
         for (const auto& [name, metric] : c.records()[i].metrics)
             if (name == "hot_code") return text(quantity(metric.value, metric.unit));
         return std::string();
     }},
    {"inner loop", "n", [](const Context& c, std::size_t i) { return loop_text(c.records()[i]); }}};

/// The columns with a value for one of the cells.
std::vector<const RankColumn*> columns_of(const Context& c, const std::vector<const RankedCell*>& cells) {
    std::vector<const RankColumn*> out;
    for (const auto& column : rank_columns)
        if (std::ranges::any_of(
                cells, [&](const RankedCell* cell) { return !column.html(c, c.index(*cell->record)).empty(); }))
            out.push_back(&column);
    // "hot code" (instructions per pixel or byte) says more than the length of the loop, and the bars need the space.
    if (std::ranges::any_of(out, [](const auto* column) { return column->title == std::string_view("hot code"); }))
        std::erase_if(out, [](const auto* column) { return column->title == std::string_view("inner loop"); });
    return out;
}

/// The bar, or the point, with its interval, and the time next to it.
void write_bar(std::ostream& out, const Record& r, const Rank& rank, const TimeAxis& axis) {
    const auto& t = *r.time;
    const auto x = [&](double seconds) { return percent(axis.at(seconds)); };
    const auto median = format_seconds(t.median);
    out << fmt::format(R"(<td class="bar"><svg height="24" width="100%" role="img" aria-label="{}">)", median);
    if (axis.scale.logarithmic)
        out << fmt::format(R"(<circle class="{}" cx="{}" cy="12" r="6"/>)", style_of(rank), x(t.median));
    else
        out << fmt::format(R"(<rect class="{}" y="4" height="16" width="{}"/>)", style_of(rank), x(t.median));
    if (t.has_interval()) {
        out << fmt::format(R"(<g class="interval"><line x1="{}" x2="{}" y1="12" y2="12"/>)", x(t.low), x(t.high));
        for (const double end : {t.low, t.high})
            out << fmt::format(R"(<line x1="{0}" x2="{0}" y1="7" y2="17"/>)", x(end));
        out << "</g>";
    }
    out << fmt::format(R"(<text class="time" x="{}" dx="9" y="16"><tspan>{}</tspan> {}</text></svg></td>)",
                       x(std::max(t.median, t.has_interval() ? t.high : 0)), median, text(spread_of(r)));
}

/// The ratio to the best, and the numbers of the warnings.
std::string ratio_cell(const Context& c, const Record& r, const Rank& rank, bool alone) {
    std::string words = rank.fastest ? R"(<span class="good">)" + rank_text(rank) + "</span>" : rank_text(rank);
    if (rank.indistinct) words += " <small>not told apart</small>";
    if (!rank.compared && !alone) words = R"(<span class="dim">not ranked</span>)";
    for (const auto number : c.warnings.of(r))
        words += fmt::format(R"( <sup><a href="#warning-{0}" title="{1}">{0}</a></sup>)", number,
                             text(c.warnings.all()[number - 1].text));
    return "<td class=\"ratio\">" + words + "</td>";
}

void write_row(std::ostream& out, const Context& c, const RankedCell& cell, const Ranking& ranking,
               const std::vector<const RankColumn*>& columns) {
    const auto& r = *cell.record;
    const auto i = c.index(r);
    out << fmt::format(R"(<tr class="row {}" data-cell="{}"><th class="name">{}</th>)", style_of(cell.rank), i,
                       c.link(i, r.id));
    write_bar(out, r, cell.rank, ranking.axis);
    out << ratio_cell(c, r, cell.rank, ranking.timed.size() == 1);
    for (const auto* column : columns)
        out << fmt::format(R"(<td class="{}" data-title="{}">{}</td>)", column->style, column->title,
                           column->html(c, i));
    out << "<td class=\"samples\">";
    write_density(out, r);
    out << "</td></tr>\n";
}

void write_failed_row(std::ostream& out, const Context& c, const Record& r, std::size_t columns) {
    const auto i = c.index(r);
    out << fmt::format(
               R"(<tr class="row" data-cell="{}"><th class="name">{}</th><td class="bad" colspan="{}">{}</td></tr>)", i,
               c.link(i, r.id), columns, model::name(r.status))
        << "\n";
}

/// The class of a tick's label. Labels of class "last" are always shown, the others if the stylesheet finds room.
const char* kind_of_tick(std::size_t k, std::size_t ticks) {
    if (k == 0) return "first";
    if (k + 1 == ticks) return "last";
    return k + 2 == ticks || k % 2 ? "ample" : k % 4 ? "minor" : "major";
}

void write_axis(std::ostream& out, const TimeAxis& axis, std::size_t columns) {
    out << R"(<tr class="axis"><td></td><td class="bar"><svg height="18" width="100%">)";
    const auto ticks = axis.scale.ticks();
    for (std::size_t k = 0; k < ticks.size(); ++k)
        out << fmt::format(R"(<line x1="{0}" x2="{0}" y1="0" y2="4"/><text class="{1}" x="{0}" y="15">{2}</text>)",
                           percent(axis.at(ticks[k])), kind_of_tick(k, ticks.size()),
                           ticks[k] == 0 ? "0" : format_seconds(ticks[k]));
    out << fmt::format("</svg></td><td colspan=\"{}\"></td></tr>\n", columns);
}

double TimeAxis::at(double seconds) const {
    constexpr double from = 0.02;  // keeps the shortest one visible
    if (scale.logarithmic) return seconds >= scale.low ? from + (1 - from) * scale.at(seconds) : 0;
    return std::max(0.0, seconds) / scale.high;
}

const char* style_of(const Rank& rank) {
    return rank.fastest ? "best" : rank.indistinct ? "tie" : rank.compared ? "value" : "apart";
}

Scale scale_of(const std::vector<const RankedCell*>& timed) {
    constexpr double most_for_bars = 40;  // ratio of the longest bar to the shortest
    double longest = 0, shortest = std::numeric_limits<double>::infinity(), least = shortest;
    for (const auto* cell : timed) {
        const auto& t = *cell->record->time;
        longest = std::max({longest, t.median, t.has_interval() ? t.high : 0});
        shortest = std::min(shortest, t.median);
        least = std::min(least, t.has_interval() && t.low > 0 ? t.low : t.median);
    }
    const bool far_apart = longest > most_for_bars * shortest;
    return far_apart ? Scale{least, longest, true, false} : Scale{0, longest, false, false};
}

Ranking ranking_of(const GridGroup& group, std::size_t device) {
    Ranking out{fastest_first(group, device), {}, {}};
    std::erase_if(out.timed, [](const RankedCell* cell) { return !(cell->record->time->median > 0); });
    for (const auto& cells : group.cells)
        if (const auto* r = cells[device].record; r && model::is_failure(r->status)) out.failed.push_back(r);
    out.axis.scale = scale_of(out.timed);
    return out;
}

std::vector<std::string> sentences_of(const Context& c, const GridFamily& family, const GridGroup& group,
                                      std::size_t device, const std::vector<const RankedCell*>& timed) {
    if (c.grid.devices[device].simulated) return {};
    return ranking_sentences(timed, family.place(group));
}

}  // namespace

void write_ranking(std::ostream& out, const Context& c, const GridFamily& family, const GridGroup& group,
                   std::size_t d) {
    const auto ranking = ranking_of(group, d);
    if (ranking.timed.empty()) return;
    const auto columns = columns_of(c, ranking.timed);
    out << "<figure class=\"bars\"><figcaption>";
    const auto on = c.name_of_grid_device(d);
    const auto sentences = sentences_of(c, family, group, d, ranking.timed);
    for (const auto& sentence : sentences)
        out << fmt::format("<span class=\"verdict\">{}</span> ", marked(c.sentence_on(on, sentence)));
    if (const auto where = family.where(group); !where.empty() || sentences.empty())
        out << fmt::format("<span class=\"where\">{}{}{}</span>", text(family.name), text(c.on_device(on)),
                           text((where.empty() ? "" : ", ") + where));
    out << "</figcaption>\n";
    out << fmt::format(
        "<table><thead><tr class=\"head\"><th>variant</th><th class=\"bar\">median time of one operation, "
        "{}, with its 95 % interval</th><th>vs best</th>",
        ranking.axis.scale.logarithmic ? "logarithmic" : "from 0");
    for (const auto* column : columns) out << fmt::format("<th class=\"{}\">{}</th>", column->style, column->title);
    out << "<th class=\"samples\">distribution of its samples</th></tr></thead>\n<tbody>\n";
    for (const auto* cell : ranking.timed) write_row(out, c, *cell, ranking, columns);
    const auto behind = columns.size() + 2;  // columns to the right of the bars
    for (const auto* r : ranking.failed) write_failed_row(out, c, *r, behind + 1);
    out << "</tbody><tfoot>\n";
    write_axis(out, ranking.axis, behind);
    out << "</tfoot></table></figure>\n";
}

// The ranked chart alone.

namespace {

constexpr double picture_width = 860, character = 7.3, row_height = 24, picture_margin = 12;
constexpr std::size_t most_parts = 24, longest_name = 44;

/// Kernels at one point on one device. Or, of a family that has several points and one kernel at each, all points.
struct Part {
    std::string title;
    Ranking ranking;
    std::vector<std::string> sentences;
    bool names_points = false;
};

/// The beginning and the end of a name that is too long; else the name.
std::string shortened(const std::string& name) {
    if (name.size() <= longest_name) return name;
    return name.substr(0, longest_name / 2) + "…" + name.substr(name.size() - (longest_name / 2 - 1));
}

/// Joins parts of one kernel each.
Part joined(const std::vector<Part>& parts) {
    Part out{"", {}, {}, true};
    std::set<std::string> kernels;
    for (const auto& part : parts) {
        kernels.insert(part.ranking.timed.front()->record->id);
        if (out.ranking.timed.size() < most_parts) out.ranking.timed.push_back(part.ranking.timed.front());
    }
    out.ranking.axis.scale = scale_of(out.ranking.timed);
    out.sentences = {counted(kernels.size(), "kernel") + " at " + counted(parts.size(), "point") +
                     (kernels.size() > 1 ? ", each at its own" : "") + ": nothing to rank" +
                     (parts.size() > most_parts ? "; the picture shows the first " + std::to_string(most_parts) : "")};
    return out;
}

std::vector<Part> parts_of(const Context& c) {
    std::vector<Part> out;
    for (std::size_t d = 0; d < c.grid.devices.size(); ++d)
        for (const auto& family : c.grid.families) {
            std::vector<Part> alone, several;
            for (const auto& group : family.groups) {
                auto ranking = ranking_of(group, d);
                if (ranking.timed.empty()) continue;
                auto sentences = sentences_of(c, family, group, d, ranking.timed);
                const auto point =
                    point_text(group.point, [](const auto&, const auto& value) { return !value.empty(); });
                auto& parts = ranking.timed.size() > 1 ? several : alone;
                parts.push_back({family.name + (point.empty() ? "" : ": ") + point + " on " +
                                     ranking.timed.front()->record->device.name,
                                 std::move(ranking), std::move(sentences)});
            }
            if (several.empty() && alone.size() > 1) {
                alone = {joined(alone)};
                alone.front().title = family.name + " on " + alone.front().ranking.timed.front()->record->device.name;
            }
            std::ranges::move(several.empty() ? alone : several, std::back_inserter(out));
        }
    return out;
}

double width_of(const std::string& words) { return character * static_cast<double>(display_width(words)); }

std::string value_of(const RankedCell& cell) {
    const auto rank = rank_text(cell.rank);
    return format_seconds(cell.record->time->median) + " " + spread_of(*cell.record) +
           (rank.empty() ? "" : "  " + rank);
}

class Picture {
public:
    explicit Picture(const Context& context) : context_(context) {}

    void part(const Part& part) {
        double name = 0, value = 0, tag = 0;
        for (const auto* cell : part.ranking.timed) {
            name = std::max(name, width_of(name_of(*cell, part.names_points)));
            value = std::max(value, width_of(value_of(*cell)));
            if (const auto limit = limit_of(context_, context_.index(*cell->record)))
                tag = std::max(tag, width_of(limit->words) + 18);
        }
        sentence(part.title, "title");
        for (const auto& words : part.sentences) sentence(words, "note");
        y_ += 8;
        left_ = picture_margin + name + 8;
        tags_ = picture_width - picture_margin - tag;
        right_ = tags_ - value - 16;
        const double top = y_;
        // The rules are drawn behind the bars and end where these end.
        const auto before = std::move(body_);
        body_.clear();
        for (const auto* cell : part.ranking.timed) bar(*cell, name_of(*cell, part.names_points), part.ranking.axis);
        const auto bars = std::move(body_);
        body_ = before;
        axis(part.ranking.axis, top);
        body_ += bars;
        y_ += 6;
    }

    void sentence(const std::string& words, const char* style) {
        const auto room = static_cast<std::size_t>((picture_width - 2 * picture_margin) / character);
        for (const auto& line : split(trim(wrap(words, "", room)), '\n')) {
            y_ += 18;
            put(R"(<text class="{}" x="{}" y="{}">{}</text>)", style, picture_margin, number(y_), text(line));
        }
    }

    double height() const { return y_ + picture_margin; }
    const std::string& body() const { return body_; }
    bool has_bars() const { return has_bars_; }
    bool has_points() const { return has_points_; }

private:
    double at(const TimeAxis& axis, double seconds) const { return left_ + (right_ - left_) * axis.at(seconds); }

    std::string name_of(const RankedCell& cell, bool with_point) const {
        const auto& r = *cell.record;
        return shortened(r.id + (with_point ? " " + context_.varying_point(r) : ""));
    }

    void bar(const RankedCell& cell, const std::string& name, const TimeAxis& axis) {
        const auto& time = *cell.record->time;
        const double middle = y_ + row_height / 2, end = at(axis, time.median);
        put(R"(<text class="name" x="{}" y="{}" text-anchor="end">{}</text>)", number(left_ - 8), number(middle + 4),
            text(name));
        (axis.scale.logarithmic ? has_points_ : has_bars_) = true;
        if (axis.scale.logarithmic)
            put(R"(<circle class="{}" cx="{}" cy="{}" r="6"/>)", style_of(cell.rank), number(end), number(middle));
        else
            put(R"(<rect class="{}" x="{}" y="{}" width="{}" height="14"/>)", style_of(cell.rank), number(left_),
                number(middle - 7), number(end - left_));
        if (time.has_interval())
            put(R"(<path class="interval" d="M{0} {2}H{1}M{0} {3}v8M{1} {3}v8"/>)", number(at(axis, time.low)),
                number(at(axis, time.high)), number(middle), number(middle - 4));
        put(R"(<text class="time" x="{}" y="{}" text-anchor="end">{}</text>)", number(tags_), number(middle + 4),
            text(value_of(cell)));
        if (const auto limit = limit_of(context_, context_.index(*cell.record))) {
            put(R"(<rect class="{}" x="{}" y="{}" width="{}" height="18" rx="4"/>)", limit->style, number(tags_ + 10),
                number(middle - 9), number(width_of(limit->words) + 8));
            put(R"(<text class="limit" x="{}" y="{}">{}</text>)", number(tags_ + 14), number(middle + 4),
                text(limit->words));
        }
        y_ += row_height;
    }

    /// A rule per tick, and its label below the bars unless it would touch the label before.
    void axis(const TimeAxis& axis, double top) {
        double free = left_ - 30;
        for (const double tick : axis.scale.ticks()) {
            const double x = at(axis, tick);
            const auto label = tick == 0 ? "0" : quantity(tick, "s");
            const double half = width_of(label) / 2;
            put(R"(<line class="rule" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>)", number(x), number(top), number(y_));
            if (x - half < free) continue;
            put(R"(<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>)", number(x), number(y_ + 14),
                text(label));
            free = x + half + character;
        }
        y_ += 18;
    }

    template <typename... T>
    void put(fmt::format_string<T...> format, T&&... values) {
        body_ += fmt::format(format, std::forward<T>(values)...) + "\n";
    }

    const Context& context_;
    std::string body_;
    bool has_bars_ = false, has_points_ = false;
    double y_ = picture_margin, left_ = 0, right_ = 0, tags_ = 0;  ///< where bars begin and end, and values end
};

}  // namespace

void write_ranked(std::ostream& out, const Page& page) {
    Page whole = page;
    whole.in_curve.clear();  // the picture has no curves
    const Context c(whole);
    const auto parts = parts_of(c);
    Picture picture(c);
    if (parts.empty()) picture.sentence("No kernel has a time.", "note");
    for (const auto& part : first_of(parts, most_parts)) picture.part(part);
    if (parts.size() > most_parts)
        picture.sentence(std::to_string(parts.size() - most_parts) + " more points are not shown", "note");
    if (!parts.empty())
        picture.sentence(std::string("Median time with its 95 % interval.") +
                             (picture.has_bars() ? " Bars begin at zero." : "") +
                             (picture.has_points() ? " Points lie on a logarithmic scale." : ""),
                         "note");
    if (c.grid.apart) picture.sentence(apart_note, "note");
    out << fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" )",
                       number(picture_width), number(picture.height()))
        << "role=\"img\">\n<title>The kernels, fastest first</title>\n"
        << "<style>\n"
        << embedded("report/html/assets/ranked.css") << "</style>\n"
        << fmt::format("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", number(picture_width),
                       number(picture.height()))
        << picture.body() << "</svg>\n";
}

}  // namespace cllab::report::html
