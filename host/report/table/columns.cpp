#include "report/table/columns.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <tuple>
#include <unordered_map>

#include "core/embedded.hpp"
#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::report {
namespace {

using model::Record;

template <typename F>
std::vector<std::optional<double>> values_of(const Rows& rows, F value) {
    return mapped(rows, [&](const auto* row) -> std::optional<double> { return value(*row); });
}

bool any(const std::vector<std::optional<double>>& values) {
    return std::ranges::any_of(values, [](const auto& v) { return v.has_value(); });
}

bool any_row(const Rows& rows, const std::function<bool(const Record&)>& holds) {
    return std::ranges::any_of(rows, [&](const Record* r) { return holds(*r); });
}

bool has_rate(const Record& r) { return metric_value(r, "bandwidth") || metric_value(r, "flops"); }

/// Appends a text column if some cell is neither empty nor "-".
void add_text(std::vector<Column>& columns, Column column, const Rows& rows,
              const std::function<std::string(const Record&)>& text) {
    if (column.key.empty()) column.key = column_name(column.title);
    for (const auto* row : rows) column.cells.push_back(text(*row));
    if (std::ranges::any_of(column.cells, [](const auto& c) { return !c.empty() && c != "-"; }))
        columns.push_back(std::move(column));
}

/// "1.2%" under the title "±", "-5.0/+82%", or the number of samples if they are too few for an interval.
std::string interval_of(const Record& r) {
    if (!r.time) return "-";
    if (!r.time->has_interval()) return "n = " + std::to_string(r.time->n);
    const auto text = format_interval(r.time->median, r.time->low, r.time->high);
    constexpr std::string_view both = "±";
    return text.empty() ? "-" : text.substr(text.starts_with(both) ? both.size() : 0) + "%";
}

/// The states of the cache that rows were timed in.
std::set<std::string> caches_of(const Rows& rows) {
    std::set<std::string> out;
    for (const auto* row : rows)
        if (row->time) out.insert(row->time->cache.empty() ? "hot" : row->time->cache);
    return out;
}

void add_times(std::vector<Column>& columns, const Rows& rows, const RequestedColumns& asked) {
    const auto medians =
        values_of(rows, [](const Record& r) { return r.time ? std::optional(r.time->median) : std::nullopt; });
    if (!any(medians)) return;
    // The time of a slope already is the time of a step: show one column instead of two equal ones.
    const bool per_step = std::ranges::all_of(rows, [](const Record* r) {
        const auto step = metric_value(*r, "step_time");
        return !r->time || (step && std::abs(*step - r->time->median) <= 1e-9 * r->time->median);
    });
    columns.push_back(quantity_column({.title = per_step ? "per step" : "time", .key = "time"}, medians, "s"));
    add_text(columns, {.title = "±", .right = true, .keep = 92, .key = "interval"}, rows, interval_of);
    // With a rate, the time per step is only its inverse.
    const auto steps = values_of(rows, [](const Record& r) { return metric_value(r, "step_time"); });
    if (any(steps) && !per_step && (!any_row(rows, has_rate) || asked.wants("step_time")))
        columns.push_back(quantity_column({.title = "per step", .key = "step_time"}, steps, "s"));
    // The usual clock and cache state are not shown. Any other is, because it changes what the number means.
    if (asked.wants("clock") || any_row(rows, [](const Record& r) { return r.time && r.time->clock != "event"; }))
        add_text(columns, {.title = "clock", .keep = 90}, rows,
                 [](const Record& r) { return r.time ? r.time->clock : ""; });
    if (asked.wants("cache") || caches_of(rows).size() > 1)
        add_text(columns, {.title = "cache", .keep = 90}, rows, [](const Record& r) {
            return !r.time ? "" : r.time->cache.empty() ? "hot" : r.time->cache;
        });
}

void add_metrics(std::vector<Column>& columns, const Rows& rows) {
    std::vector<std::string> names{"bandwidth", "flops", "of_copy", "upload", "download"};
    std::map<std::string, std::string> units;
    for (const auto* row : rows)
        for (const auto& [name, metric] : row->metrics) {
            if (auto& unit = units[name]; unit.empty()) unit = metric.unit;
            if (name != "step_time") add_once(names, name);  // step_time is a column of time
        }
    // Without a rate, the family's own metric is the main one.
    const int keep_own = any_row(rows, has_rate) ? 45 : 75;
    static constexpr Entry<std::string_view, int> keeps[] = {{"bandwidth", 80}, {"flops", 80},    {"of_copy", 60},
                                                             {"upload", 40},    {"download", 40}, {"hot_code", 10}};
    const auto keep_of = [&](const std::string& name) {
        return value_of(keeps, name, name.starts_with("error_") || name.starts_with("step_") ? 65 : keep_own);
    };
    for (const auto& name : names) {
        const auto values = values_of(rows, [&](const Record& r) { return metric_value(r, name); });
        if (!any(values)) continue;
        const bool headline = name == "bandwidth" || name == "flops";
        columns.push_back(quantity_column({.title = headline            ? ""
                                                    : name == "of_copy" ? "of copy"
                                                                        : name,
                                           .keep = keep_of(name),
                                           .key = name},
                                          values, units[name]));
        if (columns.back().title.empty()) columns.back().title = name;
    }
}

void add_comparison(std::vector<Column>& columns, const std::vector<Rank>& ranks) {
    if (std::ranges::none_of(ranks, [](const Rank& r) { return r.compared; })) return;
    Column column{.title = "vs best", .right = true, .keep = 95, .key = "vs_best"};
    for (const auto& rank : ranks) {
        column.cells.push_back(rank_text(rank));
        column.tones.push_back(rank.fastest ? Tone::good : Tone::plain);
    }
    columns.push_back(std::move(column));
}

/// "12 mJ, 33% idle". Shows no interval, because runs differ by more than the windows of one run.
std::string energy_of(const Record& r) {
    if (!r.energy) return "-";
    return format_joules(r.energy->joules) + ", " + format_significant(100 * r.energy->idle / r.energy->joules, 2) +
           "% idle";
}

/// Whether rows of one variant differ in the axis.
bool tells_apart(const Rows& rows, const std::string& axis) {
    std::map<std::string, std::string> first;
    return any_row(rows, [&](const Record& r) {
        return first.emplace(r.id, value_at(r.point, axis)).first->second != value_at(r.point, axis);
    });
}

/// By row: the record whose loop it shows. Samples find a different part each time as the one that ran most. So rows
/// with equal code at one point show the loop of the first.
auto loops_of(const Comparison& comparison) {
    std::map<std::tuple<const std::string&, const model::PointValues&>, const Record*> first;
    std::unordered_map<const Record*, const Record*> out;
    for (const auto* row : comparison.rows) {
        const auto& code = row->code.fingerprint;
        const auto known = first.emplace(std::tie(code, row->point), row).first;
        out[row] = code.empty() ? row : known->second;
    }
    return out;
}

/// A number of the inner loop, as `CodeInfo::loop` names it; empty if it is unknown.
std::string in_loop(const Record& record, const std::string& what) {
    const auto found = record.code.loop.find(what);
    return found == record.code.loop.end() ? std::string() : std::to_string(found->second);
}

}  // namespace

std::string loop_text(const Record& record) {
    return record.code.loop.contains("v") ? "v " + in_loop(record, "v") + ", s " + in_loop(record, "s")
                                          : in_loop(record, "instructions");
}

const std::vector<std::pair<std::string, std::string>>& column_meanings() {
    static const auto all = mapped(split(trim(embedded("report/table/columns.txt")), '\n'), [](const auto& line) {
        const auto colon = line.find(": ");
        return std::pair(line.substr(0, colon), line.substr(colon + 2));
    });
    return all;
}

const std::vector<std::string>& column_names() {
    static const auto names = mapped(column_meanings(), [](const auto& one) { return one.first; });
    return names;
}

const std::vector<std::string>& columns_of_command(const std::string& command) {
    static const std::map<std::string, std::vector<std::string>> known{
        {"isa",
         {"kernel", "target", "registers", "spills", "local", "private", "occupancy", "code", "instructions",
          "inner_loop"}},
        {"profile", {"figure", "value", "interval", "per_cycle", "driver_says", "how"}},
        {"regress", {"cell", "change", "time", "interval", "control", "arrangements", "runs", "recorded", "today"}}};
    static const std::vector<std::string> none;
    const auto found = known.find(command);
    return found == known.end() ? none : found->second;
}

void RequestedColumns::choose(std::vector<Column>& columns) const {
    if (!any() || all()) return;
    std::erase_if(columns, [&](const Column& c) {
        return !by_name(c.key) && c.key != "status" && (c.names == Names::nothing || c.keep < 100);
    });
}

std::vector<std::string> RequestedColumns::missing(const std::vector<Column>& columns) const {
    std::vector<std::string> out;
    for (const auto& name : names_)
        if (name != "all" && std::ranges::none_of(columns, [&](const Column& c) { return c.key == name; }))
            out.push_back(name);
    return out;
}

void require_known_columns(const std::vector<std::string>& asked, std::vector<std::string> known) {
    known.emplace_back("all");
    for (const auto& name : asked)
        if (std::ranges::find(known, name) == known.end())
            throw Error(Blame::usage, "no table has a column '" + name + "' (--columns); the columns are " +
                                          join(known, ", ") + or_did_you_mean(name, known));
}

Grid grid_of(std::vector<Column> columns, const TableStyle& style) {
    for (auto& column : columns)
        if (column.key.empty()) column.key = column_name(column.title);
    const RequestedColumns asked(style.columns);
    asked.choose(columns);
    return Grid(std::move(columns), asked.any() ? 0 : style.width, style.colour);
}

void print_left_out(std::ostream& out, const std::vector<std::string>& dropped, const TableStyle& style) {
    if (!dropped.empty())
        out << wrap("columns left out: " + join(dropped, ", ") + "; --columns all", "  ", style.text_width());
}

void print_grid(std::ostream& out, const std::vector<Column>& columns, const TableStyle& style) {
    const auto grid = grid_of(columns, style);
    out << grid.header() << '\n';
    for (std::size_t i = 0; !columns.empty() && i < columns.front().cells.size(); ++i) out << grid.row(i) << '\n';
    print_left_out(out, grid.dropped(), style);
}

std::vector<Column> columns_of(const Comparison& comparison, const std::set<std::string>& varying,
                               const RequestedColumns& asked, const Notes& notes) {
    const Rows& rows = comparison.rows;
    std::vector<Column> columns;
    add_text(columns, {.title = "kernel", .names = Names::by_itself}, rows, [](const Record& r) { return r.id; });
    if (asked.wants("label") || any_row(rows, [&](const Record& r) { return r.run.label != rows.front()->run.label; }))
        add_text(columns, {.title = "label", .names = Names::with_title}, rows,
                 [](const Record& r) { return r.run.label; });
    std::vector<std::string> axes;  // in the order of the point
    for (const auto* row : rows)
        for (const auto& [axis, value] : row->point)
            if (varying.contains(axis) || asked.by_name(column_name(axis))) add_once(axes, axis);
    for (const auto& axis : axes) {
        const bool identifies =
            std::ranges::find(comparison.axes, axis) != comparison.axes.end() || tells_apart(rows, axis);
        add_text(columns, {.title = axis, .right = true, .keep = identifies ? 100 : 50, .names = Names::with_title},
                 rows, [&](const Record& r) { return axis_value(value_at(r.point, axis)); });
    }
    add_text(columns, {.title = "status"}, rows, [](const Record& r) { return model::name(r.status); });
    for (const auto* row : rows)
        columns.back().tones.push_back(is_failure(row->status)            ? Tone::bad
                                       : row->status == model::Status::ok ? Tone::plain
                                                                          : Tone::dim);
    // Checks by host code are not shown, weaker ones are. If all rows are unverified, a warning says so instead.
    const auto shows_proof = [](const Record& r) {
        return !r.checked_by.empty() && r.checked_by != "host code" && r.checked_by != "only itself";
    };
    if (asked.wants("checked_by") || any_row(rows, shows_proof))
        add_text(columns, {.title = "checked by", .keep = 99, .names = Names::with_title}, rows,
                 [](const Record& r) { return r.checked_by; });
    add_times(columns, rows, asked);
    add_comparison(columns, comparison.ranks);
    add_text(columns, {.title = "energy", .right = true, .keep = 91}, rows, energy_of);
    add_metrics(columns, rows);
    const auto count = [](const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : std::string(); };
    add_text(columns, {.title = "regs", .right = true, .keep = 57}, rows,
             [&](const Record& r) { return count(r.code.registers); });
    if (asked.wants("spills") || any_row(rows, [](const Record& r) { return r.code.spills.value_or(0) != 0; }))
        add_text(columns, {.title = "spills", .right = true, .keep = 58}, rows,
                 [&](const Record& r) { return count(r.code.spills); });
    const auto loops = loops_of(comparison);
    add_text(columns, {.title = "inner loop", .right = true, .keep = 54}, rows,
             [&](const Record& r) { return loop_text(*loops.at(&r)); });
    add_text(columns, {.title = ".reuse", .right = true, .keep = 25}, rows,
             [&](const Record& r) { return in_loop(*loops.at(&r), "reuse"); });
    add_text(columns, {.title = "limit", .keep = 56}, rows, [](const Record& r) { return r.limit; });
    add_text(columns, {.title = "note", .keep = 85}, rows, [&](const Record& r) { return notes.text_of(r); });
    add_text(columns, {.title = "dump", .keep = 0}, rows, [](const Record& r) { return r.dump; });
    return columns;
}

std::set<std::string> varying_axes(const Rows& rows) {
    const Points points(rows, [](const model::Record&) { return ""; });
    std::set<std::string> varying;
    for (std::size_t axis = 0; axis < points.names().size(); ++axis)
        if (points.differs(axis)) varying.insert(points.names()[axis]);
    return varying;
}

std::string common_text(const Rows& rows, const std::set<std::string>& varying) {
    const auto& first = *rows.front();
    auto out = point_text(first.point, [&](const auto& axis, const auto&) { return !varying.contains(axis); });
    const auto caches = caches_of(rows);
    if (caches.size() != 1 || caches.contains("hot")) return out;
    out += (out.empty() ? "" : " ") + ("cache=" + *caches.begin());
    if (first.device.last_level_bytes > 0)
        out += " (4 times the last level, " + format_bytes(first.device.last_level_bytes) + " " +
               first.device.last_level_from + ")";
    return out;
}

}  // namespace cllab::report
