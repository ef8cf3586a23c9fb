// The columns of a table, and which of them are shown: what --columns asks for, else those for which there is room.
#pragma once

#include <iosfwd>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/records/points.hpp"
#include "report/table/layout.hpp"
#include "report/table/ranking.hpp"
#include "report/table/table.hpp"

namespace cllab::report {

/// What --columns asks for.
class Asked {
public:
    explicit Asked(const std::vector<std::string>& names) : names_(names.begin(), names.end()) {}
    bool any() const { return !names_.empty(); }
    bool all() const { return names_.count("all") != 0; }
    bool by_name(const std::string& column) const { return names_.count(column) != 0; }
    bool wants(const std::string& column) const { return all() || by_name(column); }
    /// Only what was asked for stays, beside what names a row and says whether it is right.
    void choose(std::vector<Column>& columns) const;
    std::vector<std::string> missing(const std::vector<Column>& columns) const;  ///< asked for, and not there

private:
    std::set<std::string> names_;
};

/// Each of column_names() with what it shows, in the order of the table.
const std::vector<std::pair<std::string, std::string>>& column_meanings();

/// What --columns takes beside "all" where a command's table has always the same columns; nothing for other commands,
/// whose columns are column_names() and the names of axes and metrics.
const std::vector<std::string>& columns_of_command(const std::string& command);

/// Throws Error(usage) for a name that is neither "all" nor one of `known`, with the nearest one: before the work whose
/// table it is for.
void require_known_columns(const std::vector<std::string>& asked, std::vector<std::string> known);

/// The columns' keys are made of their titles where they have none.
Grid grid_of(std::vector<Column> columns, const TableStyle& style);

/// A line that names the columns for which there was no room, and how to have them; nothing where none was left out.
void print_left_out(std::ostream& out, const std::vector<std::string>& dropped, const TableStyle& style);

/// Header, rows, and what was left out.
void print_grid(std::ostream& out, const std::vector<Column>& columns, const TableStyle& style);

/// Instructions of the inner loop: "v 12, s 3", or "15" where they are of one kind.
std::string loop_text(const model::Record& record);

/// Axes on which the rows differ; the others are said once, above them.
std::set<std::string> varying_axes(const Rows& rows);

/// "width=4096 cache=cold": what the rows share, the values of all axes but `varying` and an unusual state of the
/// cache.
std::string common_text(const Rows& rows, const std::set<std::string>& varying);

/// The columns of a family's table: all for which a row has something to say, and `varying` axes.
std::vector<Column> columns_of(const Comparison& comparison, const std::set<std::string>& varying, const Asked& asked,
                               const Notes& notes);

}  // namespace cllab::report
