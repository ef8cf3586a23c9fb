// `--html FILE`: the records of a run or a report as one page, with the code from their dumps and the profiles beside
// these; --markdown and --svg: its table and its chart.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/files/outputs.hpp"
#include "portrait/conclusion.hpp"
#include "report/html/page.hpp"

namespace cllab::app {

/// Throws Error(usage) for more records than a page takes.
void require_page(std::size_t records);

/// --html, --markdown and --svg, each where it is asked for. `verdicts`: of comparisons, a sentence each.
void write_pages(const Outputs& outputs, const FileOptions& files, const std::vector<model::Record>& records,
                 const std::vector<portrait::Conclusion>& conclusions, const std::vector<std::string>& verdicts);
bool has_page_on_stdout(const Outputs& outputs);

/// A regular file of sensible size; nothing else is opened, because a record may name anything.
std::optional<std::string> read_plain(const std::filesystem::path& path);

/// What the dumps of the records say: source, loop and counts of each code once, and pairs of variants aligned.
void add_code(report::html::Page& page);

}  // namespace cllab::app
