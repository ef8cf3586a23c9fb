// Aligned columns of UTF-8 text for a terminal or a pipe. Knows nothing of records.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cllab::report {

enum class Tone { plain, strong, good, bad, dim };

/// The text, made printable, in the tone's terminal color if `colour`.
std::string paint(std::string_view text, Tone tone, bool colour);

/// Columns that UTF-8 text takes on a terminal: one per code point (no wide or combining characters are printed here).
std::size_t display_width(std::string_view text);

/// Adds blanks up to that width: before the text if `right`, else after it.
std::string padded(const std::string& text, std::size_t width, bool right);

/// Whether a column names the row: no, by its cell, or by "title=cell".
enum class Names { nothing, by_itself, with_title };

struct Column {
    std::string title{};
    bool right = false;                ///< numbers are right-aligned
    int keep = 100;                    ///< if space is short, the column with the smallest value is dropped first
    std::vector<std::string> cells{};  ///< one per row
    std::vector<Tone> tones{};         ///< one per row, or none at all
    Names names = Names::nothing;
    std::string key{};     ///< its name for --columns and in the list of dropped columns; empty: the title
    std::size_t most = 0;  ///< wider cells are wrapped; 0: none is
};

/// Adds a row with one cell per column.
void add_row(std::vector<Column>& columns, const std::vector<std::string>& cells);

/// Printable text with Markdown's characters escaped. An underscore inside a word needs no escape.
std::string plain_markdown(std::string_view raw);

/// The columns as a table of Markdown.
void write_markdown_grid(std::ostream& out, const std::vector<Column>& columns, std::size_t rows);

/// Columns with a smaller `keep` may be dropped before the names of the rows move to a separate line.
inline constexpr int keep_of_answer = 90;

/// A column of numbers with one unit and one SI prefix (that of the median), three significant digits each, decimal
/// points aligned. If values are more than a factor of 1000 apart, each has its own unit, so that no row shows 0.00.
/// Absent values show as "-". `unit`: "s" and units with "/s" take SI prefixes (B/s is always GB/s unless tiny), "byte"
/// takes binary ones. "%" is in the cell, with one decimal. Other units are printed as they are, and whole numbers
/// without decimals. The unit is in the title: "time [ms]"; without a title in `column`, it is the title: "GB/s".
Column quantity_column(Column column, const std::vector<std::optional<double>>& values, const std::string& unit);

/// "1 cell", "2 cells".
std::string counted(std::size_t number, const std::string& what);

/// Terminal columns that a line of the table takes.
std::size_t width_of(const std::vector<Column>& columns);

/// Columns as lines of text. Makes all cells printable.
class Grid {
public:
    /// If the columns from keep_of_answer on do not fit next to the names of the rows, the widest names move above
    /// their row. Then drops columns with keep < 100, the smallest `keep` first (of equal ones the later), until a row
    /// fits `width`. With `width` 0 all columns stay.
    Grid(std::vector<Column> columns, std::size_t width, bool colour);
    /// Keys of the dropped columns, in their order.
    const std::vector<std::string>& dropped() const { return dropped_; }
    std::string header() const;
    /// The row. The names above it come first, unless the row before has the same. Several lines if a cell is wrapped.
    std::string row(std::size_t i) const;

private:
    std::string names_of(std::size_t row) const;

    std::vector<Column> columns_, above_;
    std::vector<std::size_t> widths_;
    std::vector<std::string> dropped_;
    std::size_t width_;
    bool colour_;
};

/// The rows of the grid. Each section has its heading above its first row.
void print_sections(std::ostream& out, const Grid& grid, const std::vector<std::string>& sections, bool colour);

/// Columns of text in lines of `width` columns, by print_sections(). Cells are wrapped. Columns without `most` share
/// the space that the others leave.
void print_text_table(std::ostream& out, std::vector<Column> columns, const std::vector<std::string>& sections,
                      std::size_t width, bool colour);

/// Words of `text`, printable, broken into lines of at most `width` columns, each after `indent`. A longer word is
/// broken, a longer path gets its own line.
std::string wrap(std::string_view text, std::string_view indent, std::size_t width);

/// `label` and next to it `text`, wrapped. The lines after the first are indented by the label's width.
std::string wrap_beside(std::string_view label, std::string_view text, std::size_t width);

/// Lines of at most `width` columns. The rest of a longer line goes below the last column that begins in its left 60 %.
/// A column follows two blanks. Without one, the rest is indented by four more blanks. Does not cut names: a word
/// without a comma that is too wide has its own line.
std::string fit(std::string_view text, std::size_t width);

/// The text of HTML or XML: an entity in place of each of `characters`, of & < > " '.
std::string with_entities(std::string_view text, std::string_view characters);

/// A heading whose first part is strong: `strong` and `rest`, wrapped, the lines after the first indented.
std::string wrap_heading(std::string_view strong, std::string_view rest, std::size_t width, bool colour);

}  // namespace cllab::report
