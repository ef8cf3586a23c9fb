// Tables: cells, one row each, in one section per device and family; and counts.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "model/counts.hpp"
#include "model/result.hpp"
#include "report/table/ranking.hpp"

namespace cllab::report {

struct TableStyle {
    bool colour = false;
    unsigned width = 0;  ///< columns that a line may take; 0: as many as it needs, and no column is dropped
    /// The columns that --columns requests. Row names and the status are always shown, and the width is ignored. "all":
    /// every column. Empty: the columns that fit.
    std::vector<std::string> columns{};
    /// Where sentences and headings are wrapped.
    std::size_t text_width() const { return width ? width : 100; }
};

/// Columns: id (with the axes that vary), status, median ± interval, the main rates, share of the device's own copy
/// bandwidth, registers if known, dump folder. If space is short, only id, axes, status and time are sure to stay. The
/// others are dropped, the least informative first, and a line names them. The reason of a failure has a separate
/// line. Warnings follow the table, each once, with their rows. `may_be_auto` is for records of several runs.
void print_table(std::ostream& out, const Rows& rows, const TableStyle& style, const MayBeAuto& may_be_auto = {});

/// The table as GitHub shows it, for an issue or the summary of a pull request. Verdicts first, then the picture that
/// `picture` names, if any. Then one table per device and family, with the reasons of failures and the warnings below.
/// Shows the columns that fit 110 characters.
void print_markdown(std::ostream& out, const Rows& rows, const std::vector<std::string>& verdicts,
                    const std::string& picture, const MayBeAuto& may_be_auto = {});

/// What launches execute: a table with one column per launch, in which different rows are marked. Below it the
/// costliest lines of each launch, and what was not counted.
void print_counts(std::ostream& out, const std::vector<model::Counts>& all, const TableStyle& style);

/// The names of the columns that do not depend on the family. --columns takes these, "all", and the names of axes and
/// metrics.
const std::vector<std::string>& column_names();

/// A column's name as --columns takes it, with blanks or dashes for underlines: "inner loop" is inner_loop.
std::string column_name(std::string_view text);

}  // namespace cllab::report
