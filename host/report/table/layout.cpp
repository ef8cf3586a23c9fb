#include "report/table/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::report {
namespace {

constexpr std::string_view gap = "  ";
constexpr double widest_common_range = 1e3;

std::size_t width_of(const Column& column) {
    std::size_t width = 0;
    for (const auto& cell : column.cells) width = std::max(width, display_width(cell));
    if (column.most > 0) width = std::min(width, column.most);
    return std::max(width, display_width(column.title));
}

/// The width that the column takes of a line.
std::size_t room_of(const Column& column) { return width_of(column) + gap.size(); }

/// One line of the table; what(column) gives text and tone.
template <typename F>
std::string line(const std::vector<Column>& columns, const std::vector<std::size_t>& widths, bool colour, F what) {
    std::string out;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto [text, tone] = what(columns[c]);
        const std::string cell = padded(text, widths[c], columns[c].right);
        const auto first = std::min(cell.find_first_not_of(' '), cell.size());
        const auto end = cell.find_last_not_of(' ') + 1;
        out.append(gap).append(cell, 0, first);
        if (first < end) out.append(paint(cell.substr(first, end - first), tone, colour)).append(cell, end);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
}

/// Pads the part after the decimal point, so that right alignment puts the points in line.
void align_points(std::vector<std::string>& cells) {
    const auto tail = [](const std::string& cell) { return cell.size() - std::min(cell.find('.'), cell.size()); };
    if (cells.empty()) return;
    const auto longest = tail(*std::ranges::max_element(cells, {}, tail));
    for (auto& cell : cells) cell += std::string(longest - tail(cell), ' ');
}

struct Scale {
    double factor = 1;
    std::string prefix;
};

/// The scale of a column whose absolute values are `sizes`, ascending: that of their median.
Scale common_scale(const std::vector<double>& sizes, const std::string& unit) {
    // Memory bandwidth is usually given in GB/s, from hundredths to thousands.
    if (unit == "B/s" && sizes.back() >= 1e7) return {1e9, "G"};
    static constexpr std::array<const char*, 11> prefixes{"p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    // Times end at seconds, and rates begin at one per second: nobody uses kiloseconds or millibytes.
    const bool seconds = unit == "s";
    const int power = static_cast<int>(std::floor(std::log10(sizes[sizes.size() / 2]) / 3 + 1e-9));
    const int index = std::clamp(power + 4, seconds ? 0 : 4, seconds ? 4 : 10);
    return {std::pow(1000.0, index - 4), prefixes[static_cast<std::size_t>(index)]};
}

/// The words of a text. Words of more than `room` columns are split, except paths, which users copy.
std::vector<std::string> words_of(const std::string& text, std::size_t room) {
    std::vector<std::string> out;
    for (const auto& word : split(text, ' ')) {
        if (word.empty()) continue;
        out.emplace_back();
        const bool whole = word.find('/') != std::string::npos;
        std::size_t columns = 0;
        for (const char c : word) {
            const bool begins = (c & 0xC0) != 0x80;
            if (begins && !whole && columns == room) out.emplace_back(), columns = 0;
            columns += begins;
            out.back() += c;
        }
    }
    return out;
}

/// Where a long line is broken: the bytes of the part that stays, and the indent of the rest in columns.
std::pair<std::size_t, std::size_t> hang_of(std::string_view line, std::size_t width) {
    const auto first = std::min(line.find_first_not_of(' '), line.size());
    std::size_t best = first;
    for (std::size_t i = first + 2; i < line.size(); ++i)
        if (line[i] != ' ' && line.substr(i - 2, 2) == gap && display_width(line.substr(0, i)) <= width * 6 / 10)
            best = i;
    return {best, best == first ? std::min(first + 4, width / 2) : display_width(line.substr(0, best))};
}

std::string fitted(const std::string& line, std::size_t width) {
    // No structured binding: a lambda cannot capture its names (clang 15).
    const auto hang = hang_of(line, width);
    const auto head = hang.first, indent = hang.second;
    std::string out = line.substr(0, head);
    std::size_t at = display_width(out);
    bool begins = true;
    const auto put = [&](const std::string& part, bool blank) {
        const auto room = display_width(part) + (blank && !begins ? 1 : 0);
        if (!begins && at + room > width) {
            out += "\n" + std::string(indent, ' ');
            at = indent;
            begins = true;
        }
        if (blank && !begins) out += ' ', ++at;
        out += part;
        at += display_width(part);
        begins = false;
    };
    for (const auto& word : split(line.substr(head), ' ')) {
        if (word.empty()) continue;
        if (indent + display_width(word) <= width || word.find(',') == std::string::npos) {
            put(word, true);
            continue;
        }
        bool blank = true;  // a list of values breaks after its commas
        for (std::size_t from = 0; from < word.size(); blank = false) {
            const auto comma = std::min(word.find(',', from), word.size() - 1);
            put(word.substr(from, comma + 1 - from), blank);
            from = comma + 1;
        }
    }
    return out;
}

}  // namespace

std::string paint(std::string_view raw, Tone tone, bool colour) {
    const std::string text = printable(raw, "\n");
    if (!colour || tone == Tone::plain || text.empty()) return text;
    static constexpr std::array<const char*, 5> codes{"", "\x1b[1m", "\x1b[1;32m", "\x1b[1;31m", "\x1b[2m"};
    return codes[static_cast<std::size_t>(tone)] + text + "\x1b[0m";
}

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
    const std::string space(width - std::min(width, display_width(text)), ' ');
    return right ? space + text : text + space;
}

void add_row(std::vector<Column>& columns, const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(cells.at(i));
}

Column quantity_column(Column column, const std::vector<std::optional<double>>& values, const std::string& unit) {
    column.right = true;
    std::vector<double> sizes;
    for (const auto& value : values)
        if (value && std::isfinite(*value) && *value != 0) sizes.push_back(std::abs(*value));
    std::ranges::sort(sizes);
    const bool prefixed = unit == "s" || unit.find("/s") != std::string::npos;
    const bool common = unit != "byte" && (sizes.empty() || sizes.back() / sizes.front() <= widest_common_range);
    const bool counts =
        !prefixed && std::ranges::all_of(sizes, [](double x) { return x == std::floor(x) && x < 1e15; });
    const Scale scale = prefixed && common && !sizes.empty() ? common_scale(sizes, unit) : Scale{};
    for (const auto& value : values) {
        if (!value || !std::isfinite(*value))
            column.cells.push_back("-");
        else if (!common)
            column.cells.push_back(quantity(*value, unit));
        else if (unit == "%")
            column.cells.push_back(fmt::format("{:.1f}%", *value));
        else if (counts)
            column.cells.push_back(fmt::format("{:.0f}", *value));
        else
            column.cells.push_back(format_significant(*value / scale.factor, 3));
    }
    if (!common || unit == "%") return column;
    const std::string full_unit = scale.prefix + unit;
    if (column.title.empty())
        column.title = full_unit;
    else if (!full_unit.empty())
        column.title += " [" + full_unit + "]";
    align_points(column.cells);
    return column;
}

std::string counted(std::size_t number, const std::string& what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::size_t width_of(const std::vector<Column>& columns) {
    std::size_t width = 0;
    for (const auto& column : columns) width += room_of(column);
    return width;
}

Grid::Grid(std::vector<Column> columns, std::size_t width, bool colour)
    : columns_(std::move(columns)), width_(width), colour_(colour) {
    for (auto& column : columns_) {
        column.title = printable(column.title);
        for (auto& cell : column.cells) cell = printable(cell);
    }
    const auto needed = [&](int keep) {
        std::size_t out = above_.empty() ? 0 : gap.size();
        for (const auto& column : columns_)
            if (column.keep >= keep) out += room_of(column);
        return out;
    };
    while (width != 0 && needed(keep_of_answer) > width) {
        const auto rank = [](const Column& column) {
            return column.names == Names::nothing || column.keep < keep_of_answer ? 0 : room_of(column);
        };
        const auto widest = std::ranges::max_element(columns_, {}, rank);
        if (widest == columns_.end() || rank(*widest) == 0) break;
        above_.push_back(std::move(*widest));
        columns_.erase(widest);
    }
    // The kernel's name comes before "title=cell" names.
    std::ranges::stable_sort(above_, {}, &Column::names);
    const auto all = columns_;
    while (width != 0 && needed(0) > width) {
        const auto least = std::ranges::min_element(columns_.rbegin(), columns_.rend(), {}, &Column::keep);
        if (least == columns_.rend() || least->keep >= 100) break;
        columns_.erase(std::next(least).base());
    }
    auto remaining = columns_.begin();
    for (const auto& column : all) {
        if (remaining != columns_.end() && remaining->title == column.title && remaining->key == column.key)
            ++remaining;
        else
            dropped_.push_back(column.key.empty() ? column.title : column.key);
    }
    for (const auto& column : columns_) widths_.push_back(width_of(column));
}

std::string Grid::header() const {
    return std::string(above_.empty() ? "" : gap) +
           line(columns_, widths_, colour_, [](const Column& c) { return std::pair(c.title, Tone::dim); });
}

std::string Grid::row(std::size_t i) const {
    std::size_t height = 1;
    std::string text;
    for (std::size_t l = 0; l < height; ++l)
        text += (l > 0 ? "\n" : "") + line(columns_, widths_, colour_, [&](const Column& c) {
                    const auto lines =
                        c.most == 0 ? std::vector{c.cells.at(i)} : split(wrap(c.cells.at(i), "", c.most), '\n');
                    height = std::max(height, lines.size() - (c.most > 0));
                    return std::pair(l < lines.size() ? lines[l] : "", c.tones.empty() ? Tone::plain : c.tones.at(i));
                });
    if (above_.empty()) return text;
    const auto names = names_of(i);
    return (i > 0 && names == names_of(i - 1) ? "" : names) + gap.data() + text;
}

void print_sections(std::ostream& out, const Grid& grid, const std::vector<std::string>& sections, bool colour) {
    for (std::size_t row = 0; row < sections.size(); ++row) {
        if (row == 0 || sections[row] != sections[row - 1])
            out << '\n' << paint(sections[row], Tone::strong, colour) << '\n';
        out << grid.row(row) << '\n';
    }
}

void print_text_table(std::ostream& out, std::vector<Column> columns, const std::vector<std::string>& sections,
                      std::size_t width, bool colour) {
    std::size_t taken = gap.size() * columns.size(), sharing = 0;
    for (const auto& column : columns) taken += column.most, sharing += column.most == 0;
    for (auto& column : columns)
        if (column.most == 0) column.most = (width - std::min(width - sharing, taken)) / sharing;
    const Grid grid(std::move(columns), 0, colour);
    out << grid.header() << '\n';
    print_sections(out, grid, sections, colour);
}

std::string Grid::names_of(std::size_t row) const {
    std::vector<std::string> words;
    for (const auto& column : above_)
        if (const auto& cell = column.cells.at(row); !cell.empty())
            words.push_back(column.names == Names::with_title ? column.title + "=" + cell : cell);
    return wrap(join(words, " "), gap, width_);
}

std::string wrap(std::string_view text, std::string_view indent, std::size_t width) {
    std::string out, current;
    for (const auto& word : words_of(printable(text), width - std::min(width - 1, display_width(indent)))) {
        if (!current.empty() && display_width(indent) + display_width(current) + 1 + display_width(word) > width) {
            out.append(indent).append(current) += '\n';
            current.clear();
        }
        if (!current.empty()) current += ' ';
        current += word;
    }
    if (!current.empty()) out.append(indent).append(current) += '\n';
    return out;
}

std::string wrap_beside(std::string_view label, std::string_view text, std::size_t width) {
    const std::string indent(display_width(label), ' ');
    const auto lines = wrap(text, indent, width);
    return std::string(label) + (lines.empty() ? "\n" : lines.substr(indent.size()));
}

std::string fit(std::string_view text, std::size_t width) {
    return join(split(text, '\n'), "\n",
                [&](const std::string& line) { return display_width(line) > width ? fitted(line, width) : line; });
}

std::string wrap_heading(std::string_view strong, std::string_view rest, std::size_t width, bool colour) {
    constexpr std::string_view indent = "    ";
    std::string lines = wrap(std::string(strong).append(rest), indent, width);
    if (lines.empty()) return "\n";
    lines.erase(0, indent.size());
    const auto visible = [](char c) { return c != ' ' && c != '\n'; };
    auto left = std::ranges::count_if(strong, visible);
    const auto end = std::ranges::find_if(lines, [&](char c) { return left == 0 || (visible(c) && left-- == 0); });
    return paint({lines.begin(), end}, Tone::strong, colour).append(end, lines.end());
}

std::string with_entities(std::string_view text, std::string_view characters) {
    static constexpr Entry<char, const char*> entities[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    std::string out;
    for (const char c : text)
        if (characters.find(c) == std::string_view::npos)
            out += c;
        else
            out += value_of(entities, c);
    return out;
}

}  // namespace cllab::report
