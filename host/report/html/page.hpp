// The records of a report as one self-contained HTML page. Tables and charts are made here, as text and SVG, so that
// the page says everything without JavaScript; the script adds hover, zoom, sorting and filtering. No request is made,
// and text from records is text: a policy in the page lets nothing run but the page's own two scripts, named by their
// hashes.
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

inline constexpr std::size_t most_cells = 5000;  ///< of a page; beyond it a browser takes seconds

/// The curves of one family on one device.
struct Curves {
    std::string device_key, family, question;
    struct Series {
        model::Curve curve;
        std::string axis, unit;
        std::vector<std::size_t> cells;  ///< indices into Page::records, one a sample
    };
    std::vector<Series> series;
    std::vector<model::Finding> findings;
};

/// A line of a listing: its text and the class or access that it is colored by; without one a remark between
/// instructions.
struct CodeLine {
    std::string text, kind;
    std::size_t source = 0;  ///< number in Code::source_numbers of the line that it was compiled from; 0: not known
};

struct Counts {
    std::string place;  ///< "whole kernel", "innermost loop at 0x1a68"
    unsigned instructions = 0;
    std::vector<std::pair<std::string, unsigned>> classes, memory;
};

/// What the dump of a cell says. `absent`: why it says nothing, as a sentence; then the rest is empty.
struct Code {
    std::size_t cell = 0;           ///< index into Page::records
    std::vector<std::size_t> same;  ///< other cells of the same variant and device with equal code, or all absent
    std::string absent;
    std::string evidence;  ///< whether the place shown is where the time goes, as a sentence
    std::string source;    ///< the kernel's own function
    /// By line of `source`; 0 where no instruction is known to be of it. Empty where nothing is known of lines.
    std::vector<std::size_t> source_numbers;
    std::string isa, place;  ///< of `lines`: "x86", "innermost loop at 0x1a68"
    std::vector<CodeLine> lines;
    std::size_t lines_left_out = 0;
    std::vector<CodeLine> whole;  ///< where lines are known: the function that `lines` are a part of
    std::size_t whole_left_out = 0;
    std::vector<Counts> counts;
    std::string occupancy;  ///< with its arithmetic; empty when unknown
};

/// The loops of two cells aligned; marks as inspect::DiffLine has them.
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
    std::vector<std::string> verdicts;                           ///< of comparisons over arrangements, a sentence each
    std::vector<std::string> comparisons;                        ///< their lines of JSON
    std::map<std::size_t, model::Explanation> explanations;      ///< by record, of those whose limits are known
    std::vector<std::string> again;                              ///< by record: the command that measures it; or empty
    std::vector<Curves> curves;
    std::vector<Code> code;
    std::vector<CodePair> pairs;
    std::string code_left_out;  ///< a sentence, when not all code is on the page
    std::vector<Portrait> portraits;
    std::string made;  ///< by what program, and when
};

void write_page(std::ostream& out, const Page& page);

/// A page with a table of text alone, below `remarks`.
std::string table_page(const std::string& title, const std::vector<std::string>& remarks,
                       const std::vector<Column>& columns);

/// By family: the axes on which its records differ.
std::map<std::string, std::set<std::string>> varying_axes(const std::vector<model::Record>& records);

/// The ranked chart alone, as an SVG picture for an issue or a slide. A part per device, family and point: kernels
/// fastest first on one scale, each with the interval of its median, its time, its ratio to the best where it is
/// ranked, and what limits it. Points with one kernel are shown where no point has several. Bright and dark by what the
/// reader's screen prefers.
void write_ranked(std::ostream& out, const Page& page);

}  // namespace cllab::report::html
