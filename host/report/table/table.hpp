// What is printed as tables: cells, a row each in a section a device and family; counts; where the time went.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "core/phases.hpp"
#include "model/counts.hpp"
#include "model/result.hpp"
#include "report/table/ranking.hpp"

namespace cllab::report {

struct TableStyle {
    bool colour = false;
    unsigned width = 0;  ///< columns that a line may take; 0: as many as it needs, and no column is dropped
    /// What --columns asks for beside the names of the rows and their status, whatever that takes; "all" is every
    /// column. Empty: what there is room for.
    std::vector<std::string> columns{};
    /// Where sentences and headings are wrapped.
    std::size_t text_width() const { return width ? width : 100; }
};

/// Columns: id (with the axes that vary), status, median ± interval, the headline rates, fraction of the device's own
/// copy bandwidth, registers where known, dump folder. Where the room is short only id, axes, status and time are sure
/// to stay; the rest goes from the least telling on, and a line names what went. Failures show their reason on a line
/// of their own; warnings follow the table, each once, with the rows they belong to. `may_be_auto` is for records of
/// several runs.
void print_table(std::ostream& out, const Rows& rows, const TableStyle& style, const MayBeAuto& may_be_auto = {});

/// The table as GitHub shows it, for an issue or the summary of a pull request. Verdicts first, then a picture where
/// `picture` names one, then a table per device and family, with the reasons of failures and the warnings below. Of the
/// columns those that a line of 110 characters has room for.
void print_markdown(std::ostream& out, const Rows& rows, const std::vector<std::string>& verdicts,
                    const std::string& picture, const MayBeAuto& may_be_auto = {});

/// What launches execute: a table with a column for each, so that what differs is seen at once; below it the costliest
/// lines of each and what was not counted.
void print_counts(std::ostream& out, const std::vector<model::Counts>& all, const TableStyle& style);

/// By phase: seconds, the share of `wall` seconds, and the cell that took most of it; then by cell: seconds and the
/// phases that took most. `besides`: phases that belong to no record. What of the seconds is in no phase is the phase
/// `other`.
void print_timings(std::ostream& out, const std::vector<model::Record>& records, const Phases& besides, double wall);

/// The columns' names that do not depend on the family: --columns takes these, "all", and the names of axes and
/// metrics.
const std::vector<std::string>& column_names();

/// A column's name as --columns takes it, with blanks or dashes for underlines: "inner loop" is inner_loop.
std::string column_name(std::string_view text);

}  // namespace cllab::report
