#include "report/table/columns.hpp"

#include <algorithm>
#include <map>
#include <ostream>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/text.hpp"

namespace cllab::report {

const std::vector<ColumnMeaning>& column_meanings() {
    static const std::vector<ColumnMeaning> all{
        {"kernel", "<family>_<variant>, or <file>_<kernel>; behind it the axes that vary"},
        {"label", "--label of the run, where runs differ in it"},
        {"status", "ok, or why there is no time: `cllab help statuses`"},
        {"checked_by", "for kernel files, the proof, e.g. reference NAME, or only itself"},
        {"time", "median of the samples; per step where a probe subtracts two trip counts"},
        {"interval", "the ± column: the larger half of the median's 95 % interval; n = 3 where there is none"},
        {"clock", "event or host, where it is not the event timer"},
        {"cache", "hot, cold or rotate, where rows differ"},
        {"vs_best", "time over the fastest row's; ~: too close to call"},
        {"step_time", "time per step of a probe"},
        {"bandwidth", "declared bytes per second"},
        {"flops", "declared operations per second"},
        {"of_copy", "bandwidth as a share of a plain copy of as many bytes, timed in the same cache state"},
        {"upload", "time of the way from the host to the device"},
        {"download", "time of the way back to the host"},
        {"hot_code", "executed instructions per pixel or byte in the block that ran most"},
        {"huge_pages", "share of the memory that lies in huge pages"},
        {"spills", "registers spilled to memory, where a compiler reports them"},
        {"regs", "registers per work-item, where a compiler reports them"},
        {"limit", "what limits the time, where `cllab profile` has measured the device's peaks"},
        {"inner_loop",
         "instructions per iteration of the loop that ran most, or of the innermost loop with the most work; v and s: "
         "vector and scalar"},
        {"reuse", "operands that NVIDIA's code reads from the reuse cache (.reuse)"},
        {"note", "numbers of the warnings below the table"},
        {"dump", "folder with source, binary, disassembly and record"}};
    return all;
}

const std::vector<std::string>& column_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> out;
        for (const auto& column : column_meanings()) out.push_back(column.name);
        return out;
    }();
    return names;
}

const std::vector<std::string>& columns_of_command(const std::string& command) {
    static const std::map<std::string, std::vector<std::string>> known{
        {"isa",
         {"kernel", "target", "registers", "spills", "local", "private", "occupancy", "code", "instructions",
          "inner_loop"}},
        {"profile", {"figure", "value", "interval", "per_cycle", "driver_says", "how"}},
        // Of the comparison, and behind "today" of --history.
        {"regress",
         {"cell", "change", "time", "interval", "control", "arrangements", "runs", "recorded", "today", "level_since",
          "note", "device"}}};
    static const std::vector<std::string> none;
    const auto found = known.find(command);
    return found == known.end() ? none : found->second;
}

void Asked::choose(std::vector<Column>& columns) const {
    if (!any() || all()) return;
    std::erase_if(columns, [&](const Column& c) {
        return !by_name(c.key) && c.key != "status" && (c.names == Names::nothing || c.keep < 100);
    });
}

std::vector<std::string> Asked::missing(const std::vector<Column>& columns) const {
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
            throw Error(Blame::usage, "no table has a column '" + name + "' (--columns); possible are " +
                                          join(known, ", ") + or_did_you_mean(name, known));
}

Grid grid_of(std::vector<Column> columns, const TableStyle& style) {
    for (auto& column : columns)
        if (column.key.empty()) column.key = column_name(column.title);
    const Asked asked(style.columns);
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

}  // namespace cllab::report
