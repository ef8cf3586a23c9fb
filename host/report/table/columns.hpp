// The columns of a table, and which of them are shown: those that --columns requests, else as many as fit.
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

/// The columns that --columns requests.
class RequestedColumns {
public:
    explicit RequestedColumns(const std::vector<std::string>& names) : names_(names.begin(), names.end()) {}
    bool any() const { return !names_.empty(); }
    bool all() const { return names_.count("all") != 0; }
    bool by_name(const std::string& column) const { return names_.count(column) != 0; }
    bool wants(const std::string& column) const { return all() || by_name(column); }
    /// Removes all columns except the requested ones, those that name the row, and the status.
    void choose(std::vector<Column>& columns) const;
    std::vector<std::string> missing(const std::vector<Column>& columns) const;  ///< requested columns that it lacks

private:
    std::set<std::string> names_;
};

/// Each of column_names() with its meaning, in the order of the table.
const std::vector<std::pair<std::string, std::string>>& column_meanings();

/// The values of --columns besides "all", for a command whose table always has the same columns. Empty for other
/// commands: they take column_names() and the names of axes and metrics.
const std::vector<std::string>& columns_of_command(const std::string& command);

/// Throws Error(usage), with the nearest known name, for a name that is neither "all" nor one of `known`. Call it
/// before the work that fills the table.
void require_known_columns(const std::vector<std::string>& asked, std::vector<std::string> known);

/// Makes a key from the title for columns that have none.
Grid grid_of(std::vector<Column> columns, const TableStyle& style);

/// A line with the names of the dropped columns, and how to show them. Prints nothing if none was dropped.
void print_left_out(std::ostream& out, const std::vector<std::string>& dropped, const TableStyle& style);

/// Prints the header, the rows and the names of dropped columns.
void print_grid(std::ostream& out, const std::vector<Column>& columns, const TableStyle& style);

/// Instructions of the inner loop: "v 12, s 3", or "15" if they are of one kind.
std::string loop_text(const model::Record& record);

/// Axes on which the rows differ. The others are printed once, above the rows.
std::set<std::string> varying_axes(const Rows& rows);

/// What all rows share: the values of all axes except `varying`, and a cache state other than hot: "width=4096
/// cache=cold".
std::string common_text(const Rows& rows, const std::set<std::string>& varying);

/// The columns of a family's table: all with a value in some row, and the `varying` axes.
std::vector<Column> columns_of(const Comparison& comparison, const std::set<std::string>& varying,
                               const RequestedColumns& asked, const Notes& notes);

}  // namespace cllab::report
