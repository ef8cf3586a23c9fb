// The output of `run` and `report`: the page on standard output; `--html FILE`, a page with the records, the code from
// their dumps and the profiles next to the dumps; --markdown, --svg and --png, its table and chart.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/code/isa_code.hpp"
#include "app/files/outputs.hpp"
#include "portrait/conclusion.hpp"
#include "report/html/page.hpp"
#include "report/table/device_grid.hpp"
#include "report/table/table.hpp"

namespace cllab::app {

/// True if a record's value of the axis may be missing or chosen by the variant or the device.
bool may_be_auto(const std::string& family, const std::string& axis);

/// Prints tables, curves with conclusions, summaries and, for several devices, the variants by device. Uses standard
/// output, its colors, and the terminal's width, or 80 columns. `several_runs`: an axis may differ because the user set
/// it, not only because it was auto. `columns`: table columns requested by --columns. `by_time`: sorts rows by time
/// even if none is ranked.
void print_page(const std::vector<model::Record>& records, const std::vector<portrait::Conclusion>& conclusions,
                const std::vector<report::LostDevice>& lost, bool several_runs, const std::vector<std::string>& columns,
                bool by_time);

/// Checks the names in --columns. Throws Error(usage), with the nearest names, for a name that is neither a column nor
/// in `axes_and_metrics`.
void require_columns(const std::vector<std::string>& columns, const std::set<std::string>& axes_and_metrics);

/// Prints curves and findings. With several devices, the device's name is above its part.
void print_conclusions(std::ostream& out, const std::vector<portrait::Conclusion>& conclusions,
                       const report::TableStyle& style);

/// Throws Error(usage) if there are too many records for a page.
void require_page(std::size_t records);

/// The program that converts SVG to PNG. Throws Error(environment), with how to install it, if it is missing.
std::filesystem::path require_rasterizer();

/// Writes the files of --html, --markdown, --svg and --png. `verdicts`: one sentence per comparison. `lines`: JSON
/// lines that are not records, such as those of `cllab why`.
void write_pages(const Outputs& outputs, const FileOptions& files, const std::vector<model::Record>& records,
                 const std::vector<portrait::Conclusion>& conclusions, const std::vector<std::string>& verdicts,
                 const std::vector<std::string>& lines = {});
bool has_page_on_stdout(const Outputs& outputs);

/// Reads a regular file of limited size. Opens nothing else, because a record may name any path.
std::optional<std::string> read_plain(const std::filesystem::path& path);

/// The command line for a shell, without the files that it writes, and without `options`, each of which takes a value.
std::string typed(const Strings& argv, const std::set<std::string>& options = {});
/// Per record, the command that measures its cell again, alone if possible. Empty: unknown.
std::vector<std::string> commands_again(const std::vector<model::Record>& records);

inline constexpr std::size_t most_cards = 60;  ///< different codes per page
/// Adds code from the dumps of the records: source, loop and counts, each code once, and aligned pairs of variants.
void add_code(report::html::Page& page);

// Two variants side by side: the compiler's results, and one loop of each, aligned.
//
// A part of a cell's code, for printing.
struct CodePart {
    std::string place;
    inspect::Counts counts;
    std::vector<inspect::Instruction> body;
};
/// The loop with the most work (FunctionStats::shown). All of the code if it has no loop, or if `whole` asks for it.
CodePart shown_part(const inspect::FunctionStats& stats, bool whole = false);
CodePart hot_part(HotBody body);

/// Registers, spills, counts, and the two bodies aligned, with `colour` for a terminal. The bodies are the hot parts if
/// both sides have one, else one iteration of the shown loops (FunctionStats::shown). `columns`: width of the aligned
/// lines, which are cut; 0: at least 44 for the left side, and the right side uncut.
std::string comparison_text(const CellCode& left, const CellCode& right, bool colour, unsigned columns = 0);

}  // namespace cllab::app
