// The ranked chart alone.
#include <algorithm>
#include <ostream>

#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/ranking.hpp"

namespace cllab::report::html {
namespace {

constexpr double picture_width = 860, character = 7.3, row_height = 24, picture_margin = 12;
constexpr std::size_t most_parts = 24, longest_name = 44;

/// Kernels at one point on one device.
struct Part {
    std::string title;
    Ranking ranking;
};

/// A name of more characters than there is room for: its beginning and its end.
std::string shortened(const std::string& name) {
    if (name.size() <= longest_name) return name;
    return name.substr(0, longest_name / 2) + "…" + name.substr(name.size() - (longest_name / 2 - 1));
}

std::vector<Part> parts_of(const Context& c, std::size_t least_bars) {
    std::vector<Part> out;
    for (std::size_t d = 0; d < c.grid.devices.size(); ++d)
        for (const auto& family : c.grid.families)
            for (const auto& group : family.groups) {
                auto ranking = ranking_of(group, d);
                if (ranking.timed.size() < least_bars) continue;
                const auto point =
                    point_text(group.point, [](const auto&, const auto& value) { return !value.empty(); });
                out.push_back({family.name + (point.empty() ? "" : ": ") + point + " on " +
                                   ranking.timed.front()->record->device.name,
                               std::move(ranking)});
            }
    return out;
}

double width_of(const std::string& words) { return character * static_cast<double>(display_width(words)); }

std::string value_of(const GridCell& cell) {
    const auto rank = rank_text(cell.rank);
    return format_seconds(cell.record->time->median) + " " + spread(*cell.record) + (rank.empty() ? "" : "  " + rank);
}

class Picture {
public:
    explicit Picture(const Context& context) : context_(context) {}

    void part(const Part& part) {
        double name = 0, value = 0, tag = 0;
        for (const auto* cell : part.ranking.timed) {
            name = std::max(name, width_of(shortened(cell->record->id)));
            value = std::max(value, width_of(value_of(*cell)));
            if (const auto limit = limit_of(context_, context_.index(*cell->record)))
                tag = std::max(tag, width_of(limit->words) + 18);
        }
        sentence(part.title, "title");
        y_ += 8;
        left_ = picture_margin + name + 8;
        tags_ = picture_width - picture_margin - tag;
        right_ = tags_ - value - 16;
        const double top = y_;
        // The rules lie behind the bars, and end where those do.
        const auto before = std::move(body_);
        body_.clear();
        for (const auto* cell : part.ranking.timed) bar(*cell, part.ranking.axis);
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

private:
    double at(const TimeAxis& axis, double seconds) const { return left_ + (right_ - left_) * axis.at(seconds); }

    void bar(const GridCell& cell, const TimeAxis& axis) {
        const auto& time = *cell.record->time;
        const double middle = y_ + row_height / 2, end = at(axis, time.median);
        put(R"(<text class="name" x="{}" y="{}" text-anchor="end">{}</text>)", number(left_ - 8), number(middle + 4),
            text(shortened(cell.record->id)));
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

    /// Ticks below the bars, without those whose labels would touch the one before.
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
    double y_ = picture_margin, left_ = 0, right_ = 0, tags_ = 0;  ///< where bars begin and end, and values end
};

/// Rules of plain colours: programs that draw SVG outside of a browser know no variables, and pass over what is for a
/// dark screen.
constexpr auto style_sheet = R"(<style>
svg { color-scheme: light dark; }
text { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1f2328; white-space: pre; }
.title { font-weight: bold; } .tick, .note { fill: #59636e; }
.paper { fill: #ffffff; } .value { fill: #6aaed6; } .best { fill: #00785a; } .apart { fill: #c9ced4; }
.tie { fill: #a9d6c5; stroke: #00785a; } .t-memory { fill: #b5d8f6; } .t-compute { fill: #8fd6b0; }
.t-shared { fill: #fbf0a6; } .t-launch { fill: #c9a4e3; } .t-wrong { fill: #f6c9c4; }
.t-none { fill: none; stroke: #59636e; stroke-dasharray: 2; }
.rule { stroke: #d8dee4; } .interval { stroke: #1f2328; fill: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .tick, .note { fill: #9198a1; }
  .paper { fill: #0d1117; } .value { fill: #2f74a3; } .best { fill: #2aa37f; } .apart { fill: #545d68; }
  .tie { fill: #17503f; stroke: #2aa37f; } .t-memory { fill: #12507f; } .t-compute { fill: #0b4a37; }
  .t-shared { fill: #6a5f12; } .t-launch { fill: #381c5c; } .t-wrong { fill: #6a201b; }
  .t-none { stroke: #9198a1; } .rule { stroke: #30363d; } .interval { stroke: #e6edf3; }
}
</style>
)";

}  // namespace

void write_ranked(std::ostream& out, const Page& page) {
    const Context c(page);
    auto parts = parts_of(c, 2);
    if (parts.empty()) parts = parts_of(c, 1);
    Picture picture(c);
    if (parts.empty()) picture.sentence("No kernel has a time.", "note");
    for (const auto& part : first_of(parts, most_parts)) picture.part(part);
    if (parts.size() > most_parts)
        picture.sentence(std::to_string(parts.size() - most_parts) + " more points are not shown", "note");
    if (!parts.empty())
        picture.sentence("Median time with its 95 % interval. Bars begin at zero; points lie on a logarithmic scale.",
                         "note");
    for (const auto& note : ranking_notes(c.grid)) picture.sentence(note, "note");
    out << fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" )",
                       number(picture_width), number(picture.height()))
        << "role=\"img\">\n<title>The kernels, fastest first</title>\n"
        << style_sheet
        << fmt::format("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", number(picture_width),
                       number(picture.height()))
        << picture.body() << "</svg>\n";
}

}  // namespace cllab::report::html
