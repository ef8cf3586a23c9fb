// Aligned columns of UTF-8 text for a terminal or a pipe. Knows nothing of records.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cllab::report {

enum class Tone { plain, strong, good, bad, dim };

/// The text, printable, in the tone's terminal colour where there is colour.
std::string paint(std::string_view text, Tone tone, bool colour);

/// Columns that UTF-8 text takes on a terminal: one a code point (no wide or combining characters are printed here).
std::size_t display_width(std::string_view text);

/// With blanks, up to that width: before the text where it stands at the right.
std::string padded(const std::string& text, std::size_t width, bool right);

/// Whether a column names the row: by what stands in the cell, or by "title=cell".
enum class Names { nothing, by_itself, with_title };

struct Column {
    std::string title{};
    bool right = false;                ///< numbers are right-aligned
    int keep = 100;                    ///< the column with the smallest value is the first to go when the room is short
    std::vector<std::string> cells{};  ///< one a row
    std::vector<Tone> tones{};         ///< one a row, or none at all
    Names names = Names::nothing;
    std::string key{};     ///< what it is called where it is left out or asked for; empty: the title
    std::size_t most = 0;  ///< cells that are wider are wrapped; 0: none is
};

/// A cell for each of the columns.
void add_row(std::vector<Column>& columns, const std::vector<std::string>& cells);

/// Printable text in which nothing is Markdown; an underline within a word is none.
std::string plain_markdown(std::string_view raw);

/// The columns as a table of Markdown.
void write_markdown_grid(std::ostream& out, const std::vector<Column>& columns, std::size_t rows);

/// Columns with less may go before the names of the rows have a line of their own.
inline constexpr int keep_of_answer = 90;

/// A column of numbers under one unit with one SI prefix (that of the median), three significant digits each, decimal
/// points in line. Values more than a factor 1000 apart carry their own unit each, so that no row shows 0.00. Absent
/// values show as "-". `unit` "s" and units with "/s" take prefixes (B/s is always GB/s unless tiny), "byte" binary
/// ones, "%" stands in the cell with one decimal; any other is printed as it is, whole numbers as such. The unit stands
/// in the title: "time [ms]"; where `column` has none, alone: "GB/s".
Column quantity_column(Column column, const std::vector<std::optional<double>>& values, const std::string& unit);

/// A value with its unit in a sentence or a cell: seconds, bytes, rates with prefixes; whole numbers as such.
std::string quantity(double value, const std::string& unit);

/// The same in a column of text: "12%", "-3 ns".
std::string value_text(double value, const std::string& unit);

/// "1 cell", "2 cells".
std::string counted(std::size_t number, const std::string& what);

/// Columns that a line of the table takes.
std::size_t width_of(const std::vector<Column>& columns);

/// Columns as lines of text. What a cell holds is made printable, whoever wrote it.
class Grid {
public:
    /// Where the answer has no room beside the names of the rows, the widest of those stand above their row. Then takes
    /// away columns of least `keep` (later ones first) with keep < 100 until a row fits `width`; 0 keeps all as they
    /// are.
    Grid(std::vector<Column> columns, std::size_t width, bool colour);
    /// Keys of the columns taken away, in their order.
    const std::vector<std::string>& dropped() const { return dropped_; }
    std::string header() const;
    /// With the names that stand above the row, where they are not those of the row before. Several lines where a cell
    /// is wrapped.
    std::string row(std::size_t i) const;

private:
    std::string names_of(std::size_t row) const;

    std::vector<Column> columns_, above_;
    std::vector<std::size_t> widths_;
    std::vector<std::string> dropped_;
    std::size_t width_;
    bool colour_;
};

/// The rows of the grid, each below the heading of its section where that is another one than the row's before.
void print_sections(std::ostream& out, const Grid& grid, const std::vector<std::string>& sections, bool colour);

/// Columns of text for lines of `width` columns, by print_sections: cells are wrapped. Columns without `most` share the
/// room that the others leave.
void print_text_table(std::ostream& out, std::vector<Column> columns, const std::vector<std::string>& sections,
                      std::size_t width, bool colour);

/// Words of `text`, printable, broken into lines of at most `width` columns, each after `indent`. A longer word is
/// broken, a longer path gets its own line.
std::string wrap(std::string_view text, std::string_view indent, std::size_t width);

/// `label` and, beside it, `text` wrapped: the lines after the first are indented by the label's width.
std::string wrap_beside(std::string_view label, std::string_view text, std::size_t width);

/// Lines of at most `width` columns: a longer one goes on below the last of its columns (what stands behind two blanks)
/// that begins in the left 60 %, else below its own indent. Names are not cut: a word without a comma that is wider
/// than the room has a line of its own.
std::string fit(std::string_view text, std::size_t width);

/// The text of HTML or XML: an entity in place of each of `characters`, of & < > " '.
std::string with_entities(std::string_view text, std::string_view characters);

/// A heading whose first part is strong: `strong` and `rest`, wrapped, the lines after the first indented.
std::string wrap_heading(std::string_view strong, std::string_view rest, std::size_t width, bool colour);

}  // namespace cllab::report
