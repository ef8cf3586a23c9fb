// The machine code of cells, from an offline compiler or from a device that built and ran them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/choose/guessing.hpp"
#include "app/commandline/options.hpp"
#include "inspect/code/code.hpp"
#include "inspect/tools/offline.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"

namespace cllab::app {

struct IsaOptions : CellOptions, FileOptions {
    Strings targets, columns;
    std::string dumps;
    std::string compilers;             ///< --compiler
    inspect::ChosenCompiler compiler;  ///< of them that makes the code now
    std::string save, against, expect, allow, sarif;
    unsigned width = 0;  ///< columns; 0: as long as the lines are
    bool list_targets = false, summary = false, hot = false, source = false, live = false, require_all = false;
};

struct CellCode {
    std::string id, where;                  ///< "pitch_short8", "gfx900" or a device's name
    std::string isa, summary;               ///< as in isa.txt and stats.json
    std::string stats;                      ///< the content of stats.json
    std::string column, compiler, options;  ///< of --compiler; that made it, with its version; its build options
    std::string file;                       ///< that has its text
    std::uint64_t line = 0;
    std::vector<std::size_t> group;  ///< of the launch; empty: unknown
    inspect::FunctionStats counts;
    model::CodeInfo info;
    std::optional<model::Hot> hot;  ///< which of it runs; nothing: nobody looked
    std::string hot_note;           ///< why no better evidence of it was to be had; empty where it is the best
    std::map<std::uint64_t, std::string> places;  ///< "pitch.cl:141" of instructions, by address; where it is known
    std::vector<std::pair<std::string, std::string>> source;  ///< then: the lines of the text, with their places
    std::string source_note;                                  ///< with --source: why there are none
    model::Status status = model::Status::ok;
    std::string reason;              ///< a line, or the compiler's log; empty when ok
    std::string enough;              ///< what would be enough, where that is known
    std::vector<std::string> notes;  ///< sentences: what of it is not as its text and options say
    bool own = false;                ///< of a user's text, of which one reason often holds for all kernels
};

/// Why the tools that are there make no listing; empty: they do, or are not there.
std::string refusal_of(const inspect::Analysis& analysis);

/// What the dump of a finished cell says; no code when the cell has no dump.
CellCode code_of(const model::Record& record, const std::string& label);

/// The kernels of a program binary that match the glob, all with an empty one. Throws Error(usage) for a file that is
/// none.
std::vector<CellCode> code_of_binary(const std::string& path, const std::string& glob);

/// A part of the code that runs, with its instructions.
struct HotBody {
    model::HotRegion region;  ///< of CellCode::hot
    std::vector<inspect::Instruction> instructions;
    inspect::Counts counts;
};
/// Most samples first; none where it is not known. `code` outlives them.
std::vector<HotBody> hot_bodies(const CellCode& code);

/// Of several targets, those that are unknown or cannot be had here lose only their own rows: each is named on stderr
/// and taken out; `left_out` gets a code without a kernel for each. The exit status that follows; 0 where none is.
/// Throws the first one's Error where none is left.
int leave_out_missing_targets(IsaOptions& options, std::vector<CellCode>& left_out);

/// Asks the compilers of invocation.targets for the kernels of a user's texts, which no device needs to take: those
/// that came out for one target at least, and those of the text that do not compile.
AskDevice ask_compilers(const IsaOptions& invocation, inspect::OfflinePrograms& programs);

/// The code of each cell for each of invocation.targets, target by target. Throws Error for a target that is unknown or
/// cannot be had here.
std::vector<CellCode> code_for_target(const IsaOptions& invocation, inspect::OfflinePrograms& programs,
                                      const std::vector<model::Cell>& cells);

/// Builds and verifies each cell once on the devices the invocation selects.
std::vector<CellCode> code_on_devices(const IsaOptions& invocation, const std::vector<model::Cell>& cells);

/// A comment with the source line of an instruction where it is another than `last`, that of the one before; empty
/// where lines are not known.
std::string source_line(const CellCode& code, std::uint64_t address, std::string& last);

/// The listing with its source lines.
std::string with_source(const CellCode& code);

/// Live registers beside the instructions of a cell's code.
struct LiveCode {
    std::string summary;  ///< where most are live, or why that is not known
    std::string head;     ///< the line over the columns; empty where nothing is known
    std::map<std::uint64_t, std::string> columns;

    /// The numbers in front of the instruction at `address`; nothing where they are not known.
    std::string beside(std::uint64_t address) const;
};

LiveCode live_code(const CellCode& code);

/// Says on stderr what has no code, kernels of a user's text with one reason together, and what is not as it was asked
/// for; the exit status.
int report_failures(const std::vector<CellCode>& codes, const IsaOptions& invocation);

}  // namespace cllab::app
