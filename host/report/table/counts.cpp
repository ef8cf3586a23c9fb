// What launches execute, for people.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <set>
#include <tuple>

#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "report/records/points.hpp"
#include "report/table/layout.hpp"
#include "report/table/table.hpp"

namespace cllab::report {
namespace {

using namespace model;
using All = std::vector<Counts>;
using Of = std::function<double(const Counts&)>;
using Text = std::function<std::string(const Counts&)>;

/// Whole numbers as such, others with four digits.
std::string number(double value) {
    constexpr double most_exact = 1e12;
    const bool whole = std::abs(value - std::round(value)) < 1e-9 * std::abs(value) + 1e-12;
    return whole && value < most_exact ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

/// The mean, and the range over the groups that were counted where they differ.
std::string text_of(const Amount& a) {
    const double difference = a.high - a.low;
    if (difference <= 1e-6 * a.high) return number(a.mean);
    return number(a.mean) + " [" + number(a.low) + " .. " + number(a.high) + "]";
}

std::string ratio(double over, double under) { return under > 0 ? number(over / under) : "-"; }

struct Line {
    std::string title;
    std::vector<std::string> cells;  ///< none: a heading
    bool differs = false;
};

class Table {
public:
    explicit Table(const All& all) : all_(all) {}

    void heading(const std::string& title) { heading_ = title; }
    /// Always there.
    void text(const std::string& title, const Text& of) {
        Line line{title, mapped(all_, of)};
        line.differs = std::any_of(line.cells.begin(), line.cells.end(),
                                   [&](const auto& cell) { return cell != line.cells.front(); });
        if (!heading_.empty()) lines_.push_back({std::exchange(heading_, {}), {}});
        lines_.push_back(std::move(line));
    }
    /// Where it is above zero in one of them.
    void text(const std::string& title, const Of& there, const Text& of) {
        if (std::any_of(all_.begin(), all_.end(), [&](const auto& counts) { return there(counts) > 0; }))
            text(title, of);
    }
    void amount(const std::string& title, const std::function<Amount(const Counts&)>& of) {
        text(
            title, [&](const Counts& c) { return of(c).high; }, [&](const Counts& c) { return text_of(of(c)); });
    }
    void value(const std::string& title, const Of& of) {
        text(title, of, [&](const Counts& c) { return number(of(c)); });
    }
    const std::vector<Line>& lines() const { return lines_; }

private:
    const All& all_;
    std::string heading_;
    std::vector<Line> lines_;
};

using OperationKind = std::tuple<Operation, unsigned, std::string>;  ///< with bits and function

std::string title_of(const OperationKind& operation) {
    static constexpr Entry<Operation, const char*> titles[] = {{Operation::float_add, "float{} add"},
                                                               {Operation::float_multiply, "float{} multiply"},
                                                               {Operation::float_fma, "float{} fma"},
                                                               {Operation::float_divide, "float{} divide"},
                                                               {Operation::float_compare, "float{} compare, min, max"},
                                                               {Operation::float_function, "float{} {}"},
                                                               {Operation::integer_add, "int{} add, logic"},
                                                               {Operation::integer_multiply, "int{} multiply"},
                                                               {Operation::integer_divide, "int{} divide"},
                                                               {Operation::conversion, "convert to {} bits"}};
    const auto& [kind, bits, function] = operation;
    if (bits == 1) return "logic of conditions";
    return fmt::format(fmt::runtime(value_of(titles, kind, "")), bits, function);
}

void add_operations(Table& table, const All& all) {
    const auto kind_of = [](const OperationCount& o) { return OperationKind(o.kind, o.bits, o.function); };
    std::set<OperationKind> kinds;
    for (const auto& counts : all)
        for (const auto& o : counts.operations) kinds.insert(kind_of(o));
    table.heading("operations per work-item");
    for (const auto& wanted : kinds)
        table.amount(title_of(wanted), [&](const Counts& c) {
            const auto found = std::ranges::find(c.operations, wanted, kind_of);
            return found == c.operations.end() ? Amount{} : found->per_item;
        });
}

void add_bytes(Table& table, const std::string& kind, Accesses Counts::*space, bool may_write = true) {
    table.amount(kind + "bytes read", [=](const Counts& c) { return (c.*space).load_bytes; });
    if (may_write) table.amount(kind + "bytes written", [=](const Counts& c) { return (c.*space).store_bytes; });
}

/// "32 (4)": what a request takes of something, and the least for as many bytes; where there was one.
template <typename Requests>
void add_of_least(Table& table, const std::string& title, Requests Counts::*where, Amount Requests::*found,
                  Amount Requests::*least) {
    const auto per_request = [=](const Counts& c) {
        const auto& of = c.*where;
        const double requests = of.requests.mean;
        return requests > 0 ? number((of.*found).mean / requests) + " (" + number((of.*least).mean / requests) + ")"
                            : "-";
    };
    table.text(
        title + " (least)", [=](const Counts& c) { return (c.*where).requests.high; }, per_request);
}

void add_global(Table& table) {
    table.heading("global memory per work-item");
    add_bytes(table, "", &Counts::global);
    add_bytes(table, "constant ", &Counts::constant, false);
    table.value("bytes moved in sectors", moved_bytes);
    table.value("different bytes", distinct_bytes);
    add_of_least(table, "sectors per read", &Counts::reads, &SectorRequests::sectors, &SectorRequests::least_sectors);
    add_of_least(table, "sectors per write", &Counts::writes, &SectorRequests::sectors, &SectorRequests::least_sectors);
    table.heading("floating-point operations");
    const auto flop = [](const Counts& c) { return flops(c); };
    table.value("FLOP per work-item", flop);
    const auto per_byte = [&](const std::string& which, double (*bytes)(const Counts&)) {
        table.text("FLOP per " + which, flop, [=](const Counts& c) { return ratio(flops(c), bytes(c)); });
    };
    per_byte("byte asked", asked_bytes);
    per_byte("byte moved", moved_bytes);
    per_byte("different byte", distinct_bytes);
}

void add_near(Table& table) {
    table.heading("local and private memory per work-item");
    add_bytes(table, "local ", &Counts::local);
    add_of_least(table, "ways per local read", &Counts::local_reads, &BankRequests::ways, &BankRequests::least_ways);
    add_of_least(table, "ways per local write", &Counts::local_writes, &BankRequests::ways, &BankRequests::least_ways);
    add_bytes(table, "private ", &Counts::private_memory);
    table.amount("barriers", [](const Counts& c) { return c.barriers; });
}

void add_atomics(Table& table, const std::string& space, Atomics Counts::*where) {
    table.heading("atomics on " + space + " memory");
    table.amount("per work-item", [=](const Counts& c) { return (c.*where).number; });
    table.text(
        "lanes that meet per request", [=](const Counts& c) { return (c.*where).requests.high; },
        [=](const Counts& c) { return ratio((c.*where).turns.mean, (c.*where).requests.mean); });
    table.value("most of a group on one address", [=](const Counts& c) { return (c.*where).most_in_group; });
    table.value("different addresses", [=](const Counts& c) { return (c.*where).addresses; });
}

/// Of each axis the value that was counted.
void add_points(Table& table, const All& all) {
    std::vector<std::string> axes;
    for (const auto& counts : all)
        for (const auto& [axis, text] : counts.point)
            if (!text.empty()) add_once(axes, axis);
    for (const auto& axis : axes) table.text(axis, [&](const Counts& c) { return value_at(c.point, axis); });
}

Table table_of(const All& all) {
    Table table(all);
    add_points(table, all);
    table.text("work-items", [](const Counts& c) { return number(c.items); });
    table.text("work-items per group", [](const Counts& c) { return number(c.group_items); });
    table.text("groups counted",
               [](const Counts& c) { return fmt::format("{:.0f} of {:.0f}", c.counted_groups, c.groups); });
    add_operations(table, all);
    add_global(table);
    add_near(table);
    add_atomics(table, "global", &Counts::global_atomics);
    add_atomics(table, "local", &Counts::local_atomics);
    table.heading("waves");
    table.text("work-items per wave", [](const Counts& c) { return std::to_string(c.wave); });
    table.text("instructions per wave", [](const Counts& c) { return number(c.issued.mean * c.wave); });
    table.text("lanes active", [](const Counts& c) { return fmt::format("{:.0f} %", 100 * c.lanes_active); });
    table.heading("longest dependent chain of a work-item");
    table.value("global loads", [](const Counts& c) { return c.longest.loads; });
    table.value("local loads", [](const Counts& c) { return c.longest.local_loads; });
    table.value("arithmetic operations", [](const Counts& c) { return c.longest.arithmetic; });
    table.value("atomics", [](const Counts& c) { return c.longest.atomics; });
    return table;
}

std::string heading_of(const Counts& c) {
    return c.id.find(c.kernel) == std::string::npos ? c.id + " " + c.kernel : c.id;
}

/// As many of them side by side as there is room for.
void print_table(std::ostream& out, const All& all, const TableStyle& style) {
    const auto table = table_of(all);
    constexpr std::size_t between = 2;
    std::vector<std::size_t> widths;
    std::size_t titles = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
        widths.push_back(display_width(heading_of(all[k])));
        for (const auto& line : table.lines())
            if (!line.cells.empty()) widths.back() = std::max(widths.back(), display_width(line.cells[k]));
    }
    for (const auto& line : table.lines()) titles = std::max(titles, display_width(line.title) + between);
    for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
        std::size_t room = titles + between;
        do room += widths[last] + between;
        while (++last < all.size() && (style.width == 0 || room + widths[last] + between <= style.width));
        const auto row = [&](const std::string& mark, const std::string& title, const auto& cell_of) {
            std::string text = fmt::format("{:<2}{:<{}}", mark, title, titles);
            for (std::size_t k = first; k < last; ++k)
                text += std::string(between + widths[k] - display_width(cell_of(k)), ' ') + cell_of(k);
            return text.substr(0, text.find_last_not_of(' ') + 1);
        };
        out << row("", "", [&](std::size_t k) { return printable(heading_of(all[k])); }) << '\n';
        for (const auto& line : table.lines()) {
            if (line.cells.empty())
                out << paint(line.title, Tone::strong, style.colour) << '\n';
            else
                out << row(line.differs ? "*" : "", line.title, [&](std::size_t k) { return line.cells[k]; }) << '\n';
        }
        out << '\n';
    }
}

/// "40 sectors (least 8)": what a wave takes for a line.
std::string cost_of(const CountedLine& line, double wave) {
    std::vector<std::string> out;
    const auto add = [&](double found, double least, const std::string& unit) {
        if (found > 0) out.push_back(number(wave * found) + " " + unit + " (least " + number(wave * least) + ")");
    };
    add(line.sectors, line.least_sectors, "sectors");
    add(line.ways, line.least_ways, "bank ways");
    if (line.atomic_turns > 0) out.push_back(number(wave * line.atomic_turns) + " atomic turns");
    if (out.empty()) out.push_back(number(wave * line.instructions) + " instructions");
    return join(out, ", ");
}

void print_lines(std::ostream& out, const Counts& c, const TableStyle& style) {
    constexpr std::size_t most_lines = 5;
    out << wrap_heading(heading_of(c), ": costliest lines, per wave", style.text_width(), style.colour);
    for (std::size_t i = 0; i < std::min(c.lines.size(), most_lines); ++i) {
        const auto& line = c.lines[i];
        if (!(line.instructions > 0)) continue;
        const auto file = line.file.substr(line.file.find_last_of('/') + 1);
        out << fmt::format("  {}:{}: {}\n", printable(file), line.line, cost_of(line, c.wave));
        if (!line.text.empty()) out << "      " << printable(line.text) << '\n';
    }
}

void print_notes(std::ostream& out, const Counts& c, const TableStyle& style) {
    if (!c.asked_point.empty())
        out << wrap("counted at " + point_text(c.point) + ", because " + point_text(c.asked_point) +
                        " takes longer than the budget",
                    "  ", style.text_width());
    for (const auto& g : c.growth)
        out << wrap(fmt::format("at {}: {} instructions, {} FLOP, {} bytes asked per work-item", point_text(g.point),
                                number(g.instructions), number(g.flops), number(g.bytes)),
                    "  ", style.text_width());
    for (const auto& text : c.assumed) out << wrap("counted with " + text, "  ", style.text_width());
    for (const auto& n : c.not_counted)
        out << wrap("not counted: " + n.what + " (" + n.why + ")", "  ", style.text_width());
}

}  // namespace

void print_counts(std::ostream& out, const All& all, const TableStyle& style) {
    print_table(out, all, style);
    for (const auto& counts : all) {
        print_lines(out, counts, style);
        print_notes(out, counts, style);
    }
}

}  // namespace cllab::report
