// The records of a report as one self-contained HTML page. Tables and charts are written as text and SVG, so the page
// is complete without JavaScript. The script adds hover, zoom, sorting and filtering. The page makes no requests. Text
// from records is escaped. A content security policy allows only the page's own two scripts, by their hashes.
#pragma once

#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/experiment.hpp"
#include "model/explanation.hpp"
#include "model/result.hpp"
#include "report/table/layout.hpp"
#include "report/table/ranking.hpp"

namespace cllab::report::html {

inline constexpr std::size_t most_cells = 5000;  ///< per page; a browser takes seconds for more

/// The curves of one family on one device.
struct Curves {
    std::string device_key, family, question;
    struct Series {
        model::Curve curve;
        std::string axis, unit;
        std::vector<std::size_t> cells;  ///< indices into Page::records, one per sample
    };
    std::vector<Series> series;
    std::vector<model::Finding> findings;
};

/// A line of a listing: its text, and the class or access that colors it. Without `kind`, a remark between
/// instructions.
struct CodeLine {
    std::string text, kind;
    std::size_t source = 0;  ///< its source line's number in Code::source_numbers; 0: unknown
};

struct Counts {
    std::string place;  ///< "whole kernel", "innermost loop at 0x1a68"
    unsigned instructions = 0;
    std::vector<std::pair<std::string, unsigned>> classes, memory;
};

/// The code of a cell, from its dump. `absent`: why there is none, as a sentence; then the rest is empty.
struct Code {
    std::size_t cell = 0;           ///< index into Page::records
    std::vector<std::size_t> same;  ///< other cells of the same variant and device with equal code, or all absent
    std::string absent;
    std::string evidence;  ///< whether the place shown takes the time, as a sentence
    std::string source;    ///< the kernel's own function
    /// By line of `source`: its number, or 0 if no instruction is known to come from it. Empty if no lines are known.
    std::vector<std::size_t> source_numbers;
    std::string isa, place;  ///< of `lines`: "x86", "innermost loop at 0x1a68"
    std::vector<CodeLine> lines;
    std::size_t lines_left_out = 0;
    std::vector<CodeLine> whole;  ///< if source lines are known: the function that has `lines`
    std::size_t whole_left_out = 0;
    std::vector<Counts> counts;
    std::string occupancy;  ///< with its arithmetic; empty when unknown
};

/// The loops of two cells, aligned. Marks are those of inspect::DiffLine.
struct CodePair {
    std::size_t left = 0, right = 0;  ///< cells
    struct Line {
        char mark = ' ';
        CodeLine left, right;  ///< empty on the side that has none
    };
    std::vector<Line> lines;
};

/// A device as `cllab profile` measured it.
struct Portrait {
    std::string device_key, device, utc;
    struct Figure {
        std::string section, name, unit, how, driver_says;
        double value = 0, low = 0, high = 0;
    };
    std::vector<Figure> figures;
    std::vector<std::string> absent;  ///< what has no figure, and why
    struct Series {
        std::string id, over;
        std::vector<model::Curve::Sample> samples;
    };
    std::vector<Series> curves;
};

struct Page {
    const std::vector<model::Record>& records;
    MayBeAuto may_be_auto{};
    std::vector<bool> in_curve;                                  ///< by record: it is a point of one of `curves`
    std::vector<std::pair<std::string, std::string>> questions;  ///< of families
    std::vector<std::string> verdicts;                           ///< of A/B comparisons, one sentence each
    std::vector<std::string> comparisons;                        ///< the JSON line of each
    std::map<std::size_t, model::Explanation> explanations;      ///< by record, if its bounds are known
    std::vector<std::string> again;                              ///< by record: the command that measures it; or empty
    std::vector<Curves> curves;
    std::vector<Code> code;
    std::vector<CodePair> pairs;
    std::string code_left_out;  ///< a sentence, when not all code is on the page
    std::vector<Portrait> portraits;
    std::string made;  ///< the program that made the page, and the time
};

void write_page(std::ostream& out, const Page& page);

/// A page with only `remarks` and a table of text.
std::string table_page(const std::string& title, const std::vector<std::string>& remarks,
                       const std::vector<Column>& columns);

/// By family: the axes on which its records differ.
std::map<std::string, std::set<std::string>> varying_axes(const std::vector<model::Record>& records);

/// The ranked chart alone, as an SVG picture for an issue or a slide. It has one part per device, family and point:
/// kernels, fastest first, on one scale. Each kernel has its median time with interval, its ratio to the best if
/// ranked, and what limits it. Points with one kernel are shown only if no point of the family has several, and then in
/// one part. Colors are light or dark, as the reader's screen prefers.
void write_ranked(std::ostream& out, const Page& page);

}  // namespace cllab::report::html
