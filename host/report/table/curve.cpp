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

std::string value_text(double value, const std::string& unit) {
    return unit == "%" ? quantity(value, "") + unit : quantity(value, unit);
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

/// Every k-th row, with the ends and the marked ones.
std::vector<CurveRow> thinned(const std::vector<CurveRow>& rows, std::size_t most) {
    const std::size_t step = most == 0 ? 1 : (rows.size() + most - 1) / most;
    if (step <= 1) return rows;
    std::vector<CurveRow> kept;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (i % step == 0 || i + 1 == rows.size() || !rows[i].mark.empty()) kept.push_back(rows[i]);
    return kept;
}

/// A bar of `length` columns in eighths of a block.
std::string bar(double length) {
    static constexpr const char* eighths[]{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto parts = static_cast<std::size_t>(std::lround(std::max(0.0, length) * 8));
    std::string out;
    for (std::size_t i = 0; i < parts / 8; ++i) out += "█";
    return out + eighths[parts % 8];
}

/// How wide the interval is, relative to the value; the samples where there are too few for one.
std::string spread(const CurveRow& r) {
    if (r.n > 0 && r.n < least_for_interval) return "n = " + std::to_string(r.n);
    const auto interval = r.low > 0 ? format_interval(r.value, r.low, r.high) : "";
    return interval.empty() ? "" : interval + "%";
}

std::string pad_left(const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, display_width(text)), ' ') + text;
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

void print_curve(std::ostream& out, const model::Curve& curve, const CurveText& text,
                 const std::vector<model::Finding>& findings, const TableStyle& style) {
    std::size_t skipped = 0;
    auto rows = rows_of(curve, skipped);
    mark(rows, findings, text.x_unit);
    const auto shown = thinned(rows, text.most_lines);

    std::string fixed;
    for (const auto& [axis, value] : curve.fixed.values())
        if (axis != text.x_name) (fixed += ' ') += axis + "=" + value;
    const bool stepped = !curve.samples.empty() && curve.samples.front().per_step > 0;
    double least = 0, most = 0;
    for (const auto& row : rows) {
        least = least == 0 ? row.value : std::min(least, row.value);
        most = std::max(most, row.value);
    }
    const bool logarithmic = least > 0 && most / least > logarithmic_from;
    out << wrap(text.id + ": " + (stepped ? "time per step" : "time") + " over " + text.x_name + fixed +
                    (logarithmic ? " (bars are logarithmic)" : ""),
                "", width_of_page(style));
    // The shortest logarithmic bar stands for half the smallest value, so that it is seen too.
    const auto length = [&](double value) {
        return bar_width * (logarithmic ? std::log(2 * value / least) / std::log(2 * most / least) : value / most);
    };
    const auto x_text = [&](const CurveRow& r) { return value_text(r.x, text.x_unit); };
    const auto time_text = [](const CurveRow& r) { return format_seconds(r.value); };
    const std::size_t x_width = widest(shown, x_text), value_width = widest(shown, time_text),
                      spread_width = widest(shown, spread);
    for (const auto& row : shown) {
        std::string line = "  " + pad_left(x_text(row), x_width) + "  " + pad_left(time_text(row), value_width);
        if (spread_width > 0) line += " " + pad_left(spread(row), spread_width);
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
    const auto found = [](const model::Finding& f) { return f.withheld.empty() ? value_text(f.value, f.unit) : "-"; };
    // An interval of no width says nothing; a count known exactly has none.
    const auto interval = [](const model::Finding& f) {
        return f.low < f.high ? "[" + value_text(f.low, f.unit) + " .. " + value_text(f.high, f.unit) + "]"
                              : std::string();
    };
    const std::size_t name_width = widest(findings, [](const auto& f) { return f.name; });
    const std::size_t value_width = widest(findings, found), interval_width = widest(findings, interval);
    for (const auto& f : findings) {
        const std::string value = found(f), range = interval(f);
        std::string line = "  " + f.name + std::string(name_width - display_width(f.name), ' ') + "  ";
        line += std::string(value_width - display_width(value), ' ') + paint(value, Tone::strong, style.colour);
        if (interval_width > 0) line += "  " + range + std::string(interval_width - display_width(range), ' ');
        const std::size_t used = 2 + name_width + 2 + value_width + (interval_width > 0 ? 2 + interval_width : 0);
        const std::string how = one_line(f.withheld.empty() ? f.how : "withheld: " + f.withheld);
        if (how.empty()) {
            line.erase(line.find_last_not_of(' ') + 1);
            out << line << '\n';
        } else if (used + 2 + display_width(how) <= width_of_page(style)) {
            out << line << "  " << paint(how, Tone::dim, style.colour) << '\n';
        } else {
            line.erase(line.find_last_not_of(' ') + 1);
            out << line << '\n' << wrap(how, "      ", width_of_page(style));
        }
    }
}

}  // namespace cllab::report
