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
    inspect::ChosenCompiler compiler;  ///< the one that compiles now
    std::string save, against, expect, allow, sarif;
    unsigned width = 0;  ///< width in columns; 0: unlimited
    bool list_targets = false, summary = false, hot = false, source = false, live = false, require_all = false;
};

struct CellCode {
    std::string id, where;                  ///< "pitch_short8", "gfx900" or a device's name
    std::string isa, summary;               ///< as in isa.txt and stats.json
    std::string stats;                      ///< the content of stats.json
    std::string column, compiler, options;  ///< of --compiler; the compiler with its version; build options
    std::string file;                       ///< file with its text
    std::uint64_t line = 0;
    std::vector<std::size_t> group;  ///< of the launch; empty: unknown
    inspect::FunctionStats counts;
    model::CodeInfo info;
    std::optional<model::Hot> hot;                ///< which code runs; nullopt: not examined
    std::string hot_note;                         ///< why better evidence is missing; empty: it is not missing
    std::map<std::uint64_t, std::string> places;  ///< "pitch.cl:141" by instruction address, if known
    std::vector<std::pair<std::string, std::string>> source;  ///< lines of the text, with their places
    std::string source_note;                                  ///< with --source: why there are no source lines
    model::Status status = model::Status::ok;
    std::string reason;              ///< a line, or the compiler's log; empty when ok
    std::string enough;              ///< what would be enough to know more, if known
    std::vector<std::string> notes;  ///< sentences: how the code differs from its text and options
    bool own = false;                ///< from a user's text; one reason often applies to all its kernels

    /// Whether there is code to show. A kernel with wrong results has code too.
    bool has_code() const {
        const bool was_built = status != model::Status::unsupported && status != model::Status::build_failed;
        return status == model::Status::ok || (was_built && !isa.empty());
    }
};

/// Why installed tools refused to make a listing; empty if none refused.
std::string refusal_of(const inspect::Analysis& analysis);

/// The code in a finished cell's dump; without a dump, no listing.
CellCode code_of(const model::Record& record, const std::string& label);

/// The kernels of a program binary that match the glob; an empty glob matches all. Throws Error(usage) if the file is
/// not a program binary.
std::vector<CellCode> code_of_binary(const std::string& path, const std::string& glob);

/// A region of code that runs, with its instructions.
struct HotBody {
    model::HotRegion region;  ///< of CellCode::hot
    std::vector<inspect::Instruction> instructions;
    inspect::Counts counts;
};
/// Regions with the most samples first; empty if unknown. Loops that are nearly the same are one region, with the code
/// of the most sampled. `code` must outlive the result.
std::vector<HotBody> hot_bodies(const CellCode& code);

/// Removes unknown or unavailable targets from the options. Names each on stderr and adds a code without a kernel to
/// `left_out`. Returns the exit status that follows; 0 if all are available. If none is left, throws the first Error.
int leave_out_missing_targets(IsaOptions& options, std::vector<CellCode>& left_out);

/// Compiles a user's texts for invocation.targets to find their kernels; needs no device. Returns kernels that compile
/// for at least one target, and kernels of the text that do not compile.
AskDevice ask_compilers(const IsaOptions& invocation, inspect::OfflinePrograms& programs);

/// The code of each cell for each of invocation.targets, grouped by target. Throws Error for an unknown or unavailable
/// target.
std::vector<CellCode> code_for_target(const IsaOptions& invocation, inspect::OfflinePrograms& programs,
                                      const std::vector<model::Cell>& cells);

/// Builds and verifies each cell once on the devices that the invocation selects.
std::vector<CellCode> code_on_devices(const IsaOptions& invocation, const std::vector<model::Cell>& cells);

/// A comment with the source line of an instruction. Empty if the line equals `last`, the previous instruction's.
std::string source_line(const CellCode& code, std::uint64_t address, std::string& last);

/// The listing with its source lines.
std::string with_source(const CellCode& code);

/// Live registers for each instruction of a cell's code.
struct LiveCode {
    std::string summary;  ///< where most registers are live, or why that is unknown
    std::string head;     ///< heading of the columns; empty if unknown
    std::map<std::uint64_t, std::string> columns;

    /// The numbers to print before the instruction at `address`; blanks if unknown.
    std::string column_at(std::uint64_t address) const;
};

LiveCode live_code(const CellCode& code);

/// Prints on stderr which cells have no code, and what differs from the request. Kernels of a user's text with the same
/// reason share a line. Returns the exit status.
int report_failures(const std::vector<CellCode>& codes, const IsaOptions& invocation);

}  // namespace cllab::app
