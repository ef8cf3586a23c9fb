#include "report/table/curve.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "core/stats.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/table/layout.hpp"

namespace cllab::report {
namespace {

constexpr std::size_t page_width = 100;
constexpr std::size_t bar_width = 32;
constexpr double logarithmic_from = 8;  // largest over smallest value

struct CurveRow {
    double x = 0, value = 0, low = 0, high = 0;
    unsigned n = 0;
    std::string mark{};
};

std::size_t width_of_page(const TableStyle& style) {
    return style.width == 0 ? page_width : std::min<std::size_t>(style.width, page_width);
}

std::vector<CurveRow> rows_of(const model::Curve& curve, std::size_t& skipped) {
    std::vector<CurveRow> rows;
    for (const auto& s : curve.samples) {
        const double value = value_of(s);
        if (!std::isfinite(s.x) || !std::isfinite(value) || value <= 0) {
            ++skipped;
            continue;
        }
        const double scale = s.seconds > 0 ? value / s.seconds : 1;
        rows.push_back({s.x, value, s.low * scale, s.high * scale, s.n});
    }
    std::ranges::sort(rows, {}, &CurveRow::x);
    return rows;
}

void mark(std::vector<CurveRow>& rows, const std::vector<model::Finding>& findings, const std::string& x_unit) {
    if (rows.empty()) return;
    for (const auto& finding : knees(findings, x_unit, rows.front().x, rows.back().x)) {
        const auto after = std::ranges::upper_bound(rows, finding.value, {}, &CurveRow::x);
        std::string& text = std::prev(after)->mark;
        text += (text.empty() ? "" : ", ") + finding.name;
    }
}

/// If there are many rows: every k-th one, both ends and the marked ones.
std::vector<CurveRow> thinned(const std::vector<CurveRow>& rows) {
    constexpr std::size_t most = 48;
    const auto step = std::max<std::size_t>(1, (rows.size() + most - 1) / most);
    std::vector<CurveRow> selection;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (i % step == 0 || i + 1 == rows.size() || !rows[i].mark.empty()) selection.push_back(rows[i]);
    return selection;
}

/// A bar of `length` columns in eighths of a block.
std::string bar(double length) {
    static constexpr const char* eighths[]{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto parts = static_cast<std::size_t>(std::lround(std::max(0.0, length) * 8));
    std::string out;
    for (std::size_t i = 0; i < parts / 8; ++i) out += "█";
    return out + eighths[parts % 8];
}

/// The relative width of the interval, or the number of samples if they are too few for an interval.
std::string spread(const CurveRow& r) {
    if (r.n > 0 && r.n < least_for_interval) return "n = " + std::to_string(r.n);
    const auto interval = r.low > 0 ? format_interval(r.value, r.low, r.high) : "";
    return interval.empty() ? "" : interval + "%";
}

template <typename Items, typename F>
std::size_t widest(const Items& items, F text) {
    std::size_t width = 0;
    for (const auto& item : items) width = std::max(width, display_width(text(item)));
    return width;
}

}  // namespace

std::vector<model::Finding> knees(const std::vector<model::Finding>& findings, const std::string& x_unit, double first,
                                  double last) {
    auto out = findings;
    std::erase_if(out, [&](const model::Finding& f) {
        return !f.withheld.empty() || f.unit != x_unit || f.value < first || f.value > last;
    });
    return out;
}

void print_curve(std::ostream& out, const model::Curve& curve, const std::string& id, const model::Axis& axis,
                 const std::vector<model::Finding>& findings, const TableStyle& style) {
    std::size_t skipped = 0;
    auto rows = rows_of(curve, skipped);
    mark(rows, findings, axis.unit);
    const auto shown = thinned(rows);

    std::string fixed;
    for (const auto& [name, value] : curve.fixed.values())
        if (name != axis.name) fixed += " " + name + "=" + value;
    const bool stepped = !curve.samples.empty() && curve.samples.front().per_step > 0;
    const auto [first, last] = std::ranges::minmax_element(rows, {}, &CurveRow::value);
    const double least = rows.empty() ? 0 : first->value, most = rows.empty() ? 0 : last->value;
    const bool logarithmic = least > 0 && most / least > logarithmic_from;
    out << wrap(id + ": " + (stepped ? "time per step" : "time") + " over " + axis.name + fixed +
                    (logarithmic ? " (bars are logarithmic)" : ""),
                "", width_of_page(style));
    // Logarithmic bars begin at half the smallest value, so that its bar is visible.
    const auto length = [&](double value) {
        return bar_width * (logarithmic ? std::log(2 * value / least) / std::log(2 * most / least) : value / most);
    };
    const auto x_text = [&](const CurveRow& r) { return value_text(r.x, axis.unit); };
    const auto time_text = [](const CurveRow& r) { return format_seconds(r.value); };
    const std::size_t x_width = widest(shown, x_text), value_width = widest(shown, time_text),
                      spread_width = widest(shown, spread);
    for (const auto& row : shown) {
        std::string line = "  " + padded(x_text(row), x_width, true) + "  " + padded(time_text(row), value_width, true);
        if (spread_width > 0) line += " " + padded(spread(row), spread_width, true);
        line += "  " + bar(length(row.value));
        if (!row.mark.empty()) {
            // A mark too long for the line is cut; print_findings gives it in full.
            const std::size_t room = width_of_page(style) - std::min(width_of_page(style), display_width(line) + 3);
            std::string name = row.mark;
            if (display_width(name) > room) name = name.substr(0, room > 1 ? room - 1 : 0) + "…";
            line += paint(" ◄ " + name, Tone::good, style.colour);
        }
        out << line << '\n';
    }
    if (rows.size() > shown.size())
        out << "  " << shown.size() << " of " << rows.size() << " points shown; --json FILE writes all\n";
    if (skipped > 0) out << "  " << skipped << (skipped == 1 ? " point has" : " points have") << " no valid time\n";
}

void print_findings(std::ostream& out, const std::vector<model::Finding>& findings, const TableStyle& style) {
    std::vector<Column> columns(3);
    columns[1].right = true;
    columns[1].tones.assign(findings.size(), Tone::strong);
    for (const auto& f : findings)
        // An interval without width is not shown: a count that is known exactly has none.
        add_row(columns,
                {f.name, f.withheld.empty() ? value_text(f.value, f.unit) : "-",
                 f.low < f.high ? "[" + value_text(f.low, f.unit) + " .. " + value_text(f.high, f.unit) + "]" : ""});
    if (std::ranges::all_of(columns[2].cells, &std::string::empty)) columns.pop_back();
    const auto room = width_of_page(style) - std::min(width_of_page(style), width_of(columns) + 2);
    // How a value was found is printed next to it if there is room, else below.
    Column finding_column{.tones = std::vector<Tone>(findings.size(), Tone::dim)};
    std::vector<std::string> below;
    for (const auto& f : findings) {
        const auto how = one_line(f.withheld.empty() ? f.how : "withheld: " + f.withheld);
        const bool fits = display_width(how) <= room;
        finding_column.cells.push_back(fits ? how : "");
        below.push_back(fits ? "" : wrap(how, "      ", width_of_page(style)));
    }
    columns.push_back(std::move(finding_column));
    const Grid grid(std::move(columns), 0, style.colour);
    for (std::size_t i = 0; i < findings.size(); ++i) out << grid.row(i) << '\n' << below[i];
}

}  // namespace cllab::report
