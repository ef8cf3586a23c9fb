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

/// Whole numbers exactly, others with four digits.
std::string number(double value) {
    constexpr double most_exact = 1e12;
    const bool whole = std::abs(value - std::round(value)) < 1e-9 * std::abs(value) + 1e-12;
    return whole && value < most_exact ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

constexpr const char* not_known = "not known";

/// "12 ± 3", with "or more" if there is no upper limit. "9 or more" if only a lower limit is known.
std::string estimate(const Amount& a, double times = 1) {
    if (!a.known) return a.at_least > 0 ? number(times * a.at_least) + " or more" : not_known;
    const bool has_margin = a.margin > 1e-6 * a.mean;
    return number(times * a.mean) + (has_margin ? " ± " + fmt::format("{:.2g}", times * a.margin) : "") +
           (a.open ? " or more" : "");
}

/// The mean, and the range over the counted groups if these differ.
std::string text_of(const Amount& a) {
    const double difference = a.high - a.low;
    if (difference <= 1e-6 * a.high) return estimate(a) + (a.known ? "" : " [" + number(a.low) + "]");
    return estimate(a) + " [" + number(a.low) + " .. " + number(a.high) + "]";
}

std::string ratio(const Amount& over, const Amount& under) {
    if (!over.known || !under.known) return not_known;
    return under.mean > 0 ? number(over.mean / under.mean) : "-";
}

/// Above zero if there is some of the amount, or if it is unknown.
Of is_there(const std::function<Amount(const Counts&)>& of) {
    return [=](const Counts& c) { return of(c).known ? of(c).high : 1; };
}

struct Line {
    std::string title;
    std::vector<std::string> cells;  ///< none: a heading
    bool differs = false;
};

class Table {
public:
    explicit Table(const All& all) : all_(all) {}

    void heading(const std::string& title) { heading_ = title; }
    /// Adds a line that is always shown.
    void text(const std::string& title, const Text& of) {
        Line line{title, mapped(all_, of)};
        line.differs = std::any_of(line.cells.begin(), line.cells.end(),
                                   [&](const auto& cell) { return cell != line.cells.front(); });
        if (!heading_.empty()) lines_.push_back({std::exchange(heading_, {}), {}});
        lines_.push_back(std::move(line));
    }
    /// Adds a line that is shown if `there` is above zero for one of the launches.
    void text(const std::string& title, const Of& there, const Text& of) {
        if (std::any_of(all_.begin(), all_.end(), [&](const auto& counts) { return there(counts) > 0; }))
            text(title, of);
    }
    void amount(const std::string& title, const std::function<Amount(const Counts&)>& of) {
        text(title, is_there(of), [&](const Counts& c) { return text_of(of(c)); });
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

/// "32 (4)": what a request takes of something, and the least for as many bytes. Shown if there was a request.
template <typename Requests>
void add_of_least(Table& table, const std::string& title, Requests Counts::*where, Amount Requests::*found,
                  Amount Requests::*least) {
    const auto per_request = [=](const Counts& c) {
        const auto& of = c.*where;
        const auto taken = ratio(of.*found, of.requests);
        return taken == "-" || taken == not_known ? taken : taken + " (" + ratio(of.*least, of.requests) + ")";
    };
    table.text(title + " (least)", is_there([=](const Counts& c) { return (c.*where).requests; }), per_request);
}

/// Distinct bytes per work-item of the launch.
Amount distinct_amount(const Counts& c) {
    const auto bytes = distinct_bytes(c);
    Amount out{.mean = bytes.value_or(0) / c.items, .known = bytes.has_value()};
    out.high = out.mean;
    return out;
}

/// The distinct memory that the launch touches, which is unknown unless all groups are counted; and that of the counted
/// groups.
void add_different(Table& table) {
    const auto touched = [](const Counts& c) { return c.footprint.empty() ? 0 : c.footprint.back().bytes; };
    table.text("distinct bytes, launch", touched, [](const Counts& c) {
        const auto bytes = distinct_bytes(c);
        return bytes ? number(*bytes) : not_known;
    });
    table.value("distinct bytes, counted groups", touched);
    table.value("distinct sectors, counted groups",
                [](const Counts& c) { return c.footprint.empty() ? 0 : c.footprint.back().sectors; });
}

void add_global(Table& table) {
    table.heading("global memory per work-item");
    add_bytes(table, "", &Counts::global);
    add_bytes(table, "constant ", &Counts::constant, false);
    table.text("bytes moved in sectors", is_there(moved_amount),
               [](const Counts& c) { return estimate(moved_amount(c)); });
    add_of_least(table, "sectors per read", &Counts::reads, &SectorRequests::sectors, &SectorRequests::least_sectors);
    add_of_least(table, "sectors per write", &Counts::writes, &SectorRequests::sectors, &SectorRequests::least_sectors);
    table.heading("different global memory");
    add_different(table);
    table.heading("floating-point operations");
    const auto flop = [](const Counts& c) { return flop_amount(c); };
    table.text("FLOP per work-item", is_there(flop), [=](const Counts& c) { return estimate(flop(c)); });
    const auto per_byte = [&](const std::string& which, const auto& bytes) {
        table.text("FLOP per " + which, is_there(flop), [=](const Counts& c) { return ratio(flop(c), bytes(c)); });
    };
    per_byte("byte asked", asked_amount);
    per_byte("byte moved", moved_amount);
    per_byte("different byte", distinct_amount);
}

void add_near(Table& table) {
    table.heading("local and private memory per work-item");
    add_bytes(table, "local ", &Counts::local);
    add_of_least(table, "ways per local read", &Counts::local_reads, &BankRequests::ways, &BankRequests::least_ways);
    add_of_least(table, "ways per local write", &Counts::local_writes, &BankRequests::ways, &BankRequests::least_ways);
    add_bytes(table, "private ", &Counts::private_memory);
    table.amount("barriers", [](const Counts& c) { return c.barriers; });
}

/// `groups`: the groups that the addresses are of, in words.
void add_atomics(Table& table, const std::string& space, Atomics Counts::*where, const std::string& groups) {
    table.heading("atomics on " + space + " memory");
    table.amount("per work-item", [=](const Counts& c) { return (c.*where).number; });
    table.text("lanes that meet per request", is_there([=](const Counts& c) { return (c.*where).requests; }),
               [=](const Counts& c) { return ratio((c.*where).turns, (c.*where).requests); });
    table.value("most of a counted group on one address", [=](const Counts& c) { return (c.*where).most_in_group; });
    table.value("different addresses, " + groups, [=](const Counts& c) { return (c.*where).addresses; });
}

/// The counted value of each axis.
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
    table.text(
        "groups unlike the counted ones", [](const Counts& c) { return c.unlike_groups; },
        [](const Counts& c) { return fmt::format("at most {:.2g} % (95 %)", 100 * c.unlike_groups); });
    const auto is_several = [](const Counts& c) { return c.launch.empty() ? 0.0 : 1.0; };
    table.text("launch", is_several, [](const Counts& c) { return c.launch; });
    table.value("launches that execute the same", [](const Counts& c) { return c.launches > 1 ? c.launches : 0; });
    add_operations(table, all);
    add_global(table);
    add_near(table);
    add_atomics(table, "global", &Counts::global_atomics, "counted groups");
    add_atomics(table, "local", &Counts::local_atomics, "a counted group");
    table.heading("waves");
    table.text("work-items per wave", [](const Counts& c) {
        const double items = items_per_wave(c);
        return number(items) + (items < c.wave ? fmt::format(" of {}", c.wave) : "");
    });
    table.text("instructions per wave", [](const Counts& c) { return estimate(c.issued, items_per_wave(c)); });
    table.text("lanes active", [](const Counts& c) {
        return c.issued.known ? fmt::format("{:.0f} %", 100 * c.lanes_active) : not_known;
    });
    table.heading("longest dependent chain of a counted work-item");
    table.value("global loads", [](const Counts& c) { return c.longest.loads; });
    table.value("local loads", [](const Counts& c) { return c.longest.local_loads; });
    table.value("arithmetic operations", [](const Counts& c) { return c.longest.arithmetic; });
    table.value("atomics", [](const Counts& c) { return c.longest.atomics; });
    return table;
}

std::string heading_of(const Counts& c) {
    return c.id.find(c.kernel) == std::string::npos ? c.id + " " + c.kernel : c.id;
}

/// Prints as many launches side by side as fit, and the others below.
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

/// The cost of a line per wave: "40 sectors (least 8)".
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
    out << wrap_heading(heading_of(c), ": costliest lines, per wave of the counted groups", style.text_width(),
                        style.colour);
    for (std::size_t i = 0; i < std::min(c.lines.size(), most_lines); ++i) {
        const auto& line = c.lines[i];
        if (!(line.instructions > 0)) continue;
        const auto file = line.file.substr(line.file.find_last_of('/') + 1);
        out << fmt::format("  {}:{}: {}\n", printable(file), line.line, cost_of(line, items_per_wave(c)));
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
