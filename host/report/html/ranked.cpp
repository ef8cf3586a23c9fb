// The ranked chart alone.
#include <algorithm>
#include <ostream>

#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/markup.hpp"
#include "report/html/page.hpp"
#include "report/records/points.hpp"
#include "report/table/device_grid.hpp"

namespace cllab::report::html {
namespace {

constexpr double picture_width = 860, character = 7.3, row_height = 24, picture_margin = 12;
constexpr std::size_t most_parts = 24, longest_name = 44;

/// Kernels at one point on one device.
struct Part {
    std::string title;
    std::vector<const GridCell*> bars;
};

/// A name of more characters than there is room for: its beginning and its end.
std::string shortened(const std::string& name) {
    if (name.size() <= longest_name) return name;
    return name.substr(0, longest_name / 2) + "…" + name.substr(name.size() - (longest_name / 2 - 1));
}

std::vector<Part> parts_of(const DeviceGrid& grid, std::size_t least_bars) {
    std::vector<Part> out;
    for (std::size_t d = 0; d < grid.devices.size(); ++d)
        for (const auto& family : grid.families)
            for (const auto& group : family.groups) {
                Part part{"", fastest_first(group, d)};
                if (part.bars.size() < least_bars) continue;
                const auto point = point_text(group.point);
                part.title =
                    family.name + (point.empty() ? "" : ": ") + point + " on " + part.bars.front()->record->device.name;
                out.push_back(std::move(part));
            }
    return out;
}

class Picture {
public:
    void part(const Part& part) {
        std::size_t name = 0, value = 0;
        double most = 0;
        for (const auto* cell : part.bars) {
            const auto& r = *cell->record;
            name = std::max(name, display_width(shortened(r.id)));
            value = std::max(
                value, display_width(format_seconds(r.time->median) + " " + spread(r) + "  " + rank_text(cell->rank)));
            most = std::max({most, r.time->median, r.time->has_interval() ? r.time->high : 0});
        }
        sentence(part.title, "title");
        y_ += 8;
        const double left = picture_margin + character * static_cast<double>(name) + 8;
        const double right = picture_width - picture_margin - character * static_cast<double>(value) - 16;
        const double top = y_;
        // The rules lie behind the bars, and end where those do.
        const auto before = std::move(body_);
        body_.clear();
        for (const auto* cell : part.bars) bar(*cell, left, (right - left) / most);
        const auto bars = std::move(body_);
        body_ = before;
        axis(Scale{0, most}, left, right, top);
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
    /// One row; `scale` is the width of a second.
    void bar(const GridCell& cell, double left, double scale) {
        const auto& r = *cell.record;
        const auto& time = *r.time;
        const double middle = y_ + row_height / 2;
        put(R"(<text class="name" x="{}" y="{}" text-anchor="end">{}</text>)", number(left - 8), number(middle + 4),
            text(shortened(r.id)));
        put(R"(<rect class="{}" x="{}" y="{}" width="{}" height="14"/>)",
            !cell.rank.compared                         ? "apart"
            : cell.rank.fastest || cell.rank.indistinct ? "best"
                                                        : "bar",
            number(left), number(middle - 7), number(time.median * scale));
        if (time.has_interval())
            put(R"(<path class="interval" d="M{0} {2}H{1}M{0} {3}v8M{1} {3}v8"/>)", number(left + time.low * scale),
                number(left + time.high * scale), number(middle), number(middle - 4));
        const auto rank = rank_text(cell.rank);
        put(R"(<text class="value" x="{}" y="{}" text-anchor="end">{}</text>)", number(picture_width - picture_margin),
            number(middle + 4),
            text(format_seconds(time.median) + " " + spread(r) + (rank.empty() ? "" : "  " + rank)));
        y_ += row_height;
    }

    /// Ticks below the bars, without those whose labels would touch the one before.
    void axis(const Scale& scale, double left, double right, double top) {
        double free = left - 30;
        for (const double tick : scale.ticks()) {
            const double x = left + (right - left) * scale.at(tick);
            const auto label = tick == 0 ? "0" : quantity(tick, "s");
            const double half = character * static_cast<double>(display_width(label)) / 2;
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

    std::string body_;
    double y_ = picture_margin;
};

/// Rules of plain colours: programs that draw SVG outside of a browser know no variables, and pass over what is for a
/// dark screen.
constexpr auto style_sheet = R"(<style>
svg { color-scheme: light dark; }
text { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1f2328; white-space: pre; }
.title { font-weight: bold; } .tick, .note { fill: #59636e; }
.paper { fill: #ffffff; } .bar { fill: #8fb3d9; } .best { fill: #2f7d4f; } .apart { fill: #c9ced4; }
.rule { stroke: #d8dee4; } .interval { stroke: #1f2328; fill: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .tick, .note { fill: #9198a1; }
  .paper { fill: #0d1117; } .bar { fill: #40648c; } .best { fill: #3f9a63; } .apart { fill: #545d68; }
  .rule { stroke: #30363d; } .interval { stroke: #e6edf3; }
}
</style>
)";

}  // namespace

void write_ranked(std::ostream& out, const Rows& records, const MayBeAuto& may_be_auto) {
    const auto grid = device_grid(records, {}, may_be_auto);
    auto parts = parts_of(grid, 2);
    if (parts.empty()) parts = parts_of(grid, 1);
    Picture picture;
    if (parts.empty()) picture.sentence("No kernel has a time.", "note");
    for (const auto& part : first_of(parts, most_parts)) picture.part(part);
    if (parts.size() > most_parts)
        picture.sentence(std::to_string(parts.size() - most_parts) + " more points are not shown", "note");
    if (!parts.empty()) picture.sentence("Median time with its 95 % interval; the scale begins at zero.", "note");
    for (const auto& note : ranking_notes(grid)) picture.sentence(note, "note");
    out << fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" )",
                       number(picture_width), number(picture.height()))
        << "role=\"img\">\n<title>The kernels, fastest first</title>\n"
        << style_sheet
        << fmt::format("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", number(picture_width),
                       number(picture.height()))
        << picture.body() << "</svg>\n";
}

}  // namespace cllab::report::html
