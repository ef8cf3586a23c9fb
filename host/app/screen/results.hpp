// What `run` ends with and `report` makes again: the page on standard output; `--html FILE`, the records as one page,
// with the code from their dumps and the profiles beside these; --markdown, --svg and --png: its table and its chart.
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

/// True when a record's value of the axis may be what the variant or the device chose, or missing.
bool may_be_auto(const std::string& family, const std::string& axis);

/// Tables, curves with conclusions, summaries and, of several devices, the variants by devices: to standard output,
/// with the terminal's width, 80 columns where there is none, and its colours. `several_runs`: an axis may differ
/// because it was asked for, not only because it was auto. `columns`: those of the tables that --columns asks for.
/// `by_time`: rows stand in the order of their times also where none is ranked.
void print_page(const std::vector<model::Record>& records, const std::vector<portrait::Conclusion>& conclusions,
                const std::vector<report::LostDevice>& lost, bool several_runs, const std::vector<std::string>& columns,
                bool by_time);

/// Throws Error(usage), with the nearest names, for a name of --columns that is none of a column, of `axes` or
/// `metrics`.
void require_columns(const std::vector<std::string>& columns, const std::set<std::string>& axes_and_metrics);

/// Curves and findings, with the device's name above each device's part when there are several.
void print_conclusions(std::ostream& out, const std::vector<portrait::Conclusion>& conclusions,
                       const report::TableStyle& style);

/// Throws Error(usage) for more records than a page takes.
void require_page(std::size_t records);

/// The program that makes PNG of SVG. Throws Error(environment), with how to get it, where it is not there.
std::filesystem::path require_rasterizer();

/// --html, --markdown, --svg and --png, each where it is asked for. `verdicts`: of comparisons, a sentence each.
/// `lines`: of JSON that are no records, among them those of `cllab why`.
void write_pages(const Outputs& outputs, const FileOptions& files, const std::vector<model::Record>& records,
                 const std::vector<portrait::Conclusion>& conclusions, const std::vector<std::string>& verdicts,
                 const std::vector<std::string>& lines = {});
bool has_page_on_stdout(const Outputs& outputs);

/// A regular file of sensible size; nothing else is opened, because a record may name anything.
std::optional<std::string> read_plain(const std::filesystem::path& path);

/// A command line as a shell takes it, without the files that it writes and without these options, which take a value.
std::string typed(const Strings& argv, const std::set<std::string>& options = {});
/// By record: the command that measures its cell again, alone where that can be; empty where it is not known.
std::vector<std::string> commands_again(const std::vector<model::Record>& records);

inline constexpr std::size_t most_cards = 60;  ///< of the page: different codes
/// What the dumps of the records say: source, loop and counts of each code once, and pairs of variants aligned.
void add_code(report::html::Page& page);

// Two variants side by side: what the compiler made of them, and one loop of each aligned.
/// A part of a cell's code, for people.
struct CodePart {
    std::string place;
    inspect::Counts counts;
    std::vector<inspect::Instruction> body;
};
/// The loop with the most work (FunctionStats::shown). All of the code if it has no loop, or if `whole` asks for it.
CodePart shown_part(const inspect::FunctionStats& stats, bool whole = false);
CodePart hot_part(HotBody body);

/// Registers, spills, counts of what is hot on both sides where that is known, else of one iteration of the loops shown
/// (FunctionStats::shown), and the two bodies aligned; for a terminal with colours. `columns`: of the aligned lines,
/// which are cut; 0: the left side at 44, the right one whole.
std::string comparison_text(const CellCode& left, const CellCode& right, bool colour, unsigned columns = 0);

}  // namespace cllab::app
