// One instruction set: how its listings are read, counted, named and made. Everything about an instruction set is in
// its file in this folder and in its name at the end of this file. "Adding an instruction set" in dumps/README.md
// explains the steps.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "inspect/binary/binary.hpp"
#include "inspect/binary/bounded_bytes.hpp"
#include "inspect/code/code.hpp"
#include "inspect/code/liveness.hpp"
#include "inspect/tools/disassemble.hpp"
#include "model/device.hpp"
#include "model/experiment.hpp"
#include "model/result.hpp"

namespace cllab::inspect {

struct Analysis;
struct ChosenCompiler;
class TempFolder;
struct ToolResult;
struct OfflineTarget;

/// A count in addition to the classes, such as "v": mnemonics that begin with v_.
struct Mark {
    const char* key;    ///< in JSON
    const char* label;  ///< for people
    bool always;        ///< shown even if zero, and before the classes
};

/// The vendor's terms for the resources of a kernel.
struct Words {
    const char* registers = "registers";
    const char* spills = "spill stores";
    const char* spill_unit = " byte";
    const char* private_bytes = "stack frame";
    const char* local_bytes = "shared memory";
    const char* private_per = "work-item";  ///< whose private memory is counted
};

/// A number of `facts` that the line for people shows.
struct ShownFact {
    const char* key;
    const char* label;
    const char* unit;
    bool before_spills;
};

/// The sources of a kernel's facts, besides the analysis so far.
struct FactsRequest {
    ByteSpan binary;
    const std::string& entry;
    std::string_view build_log;
    std::size_t group_items;           ///< 0: unknown
    std::string target;                ///< requested, such as "sm_90"; empty: taken from the binary
    std::int64_t local_arguments = 0;  ///< bytes of local memory in __local arguments
};

/// How many waves fit a kernel's registers and local memory, with the arithmetic as text.
struct Occupancy {
    double waves = 0;        ///< average number resident at once, in `unit`
    unsigned most = 0;       ///< maximum of the hardware
    std::string unit;        ///< "wavefronts per SIMD", "warps per SM"
    std::string limited_by;  ///< "registers", "local memory", "hardware", "work-group size"
    std::string formula;     ///< "min(10, floor(256 / roundup(7, 4)) = 32, …) = 10"
};

/// `wavefront` is in work-items: 32 or 64 on RDNA, as the compiler chose. `group_items` is the work-group size, 0 if
/// unknown. Whole groups then do not limit the waves, and local memory does so only if `largest_group` is known.
struct KernelNeeds {
    std::int64_t registers = 0, scalar_registers = 0, local_bytes = 0, wavefront = 0;
    std::size_t group_items = 0;
    std::int64_t simd = 0;          ///< work-items of a thread if `wavefront` is in threads
    std::size_t largest_group = 0;  ///< maximum that the code was compiled for
};

/// No device of any target launches a larger group.
inline constexpr std::size_t most_items = 1024;

/// The smallest of several limits, with its name and the arithmetic of all of them.
class OccupancyLimits {
public:
    /// Adds a limit in waves, an integer or a double. `arithmetic` and `numbers` are arguments of fmt::format.
    template <typename Waves, typename... Numbers>
    void add(Waves limit, const std::string& name, fmt::format_string<const Numbers&...> arithmetic,
             const Numbers&... numbers) {
        const auto waves = static_cast<double>(limit);
        terms_ += (terms_.empty() ? "" : ", ") + fmt::format(arithmetic, numbers...);
        if (least_ < 0 || waves < least_) least_ = waves, name_ = name;
    }
    Occupancy result(unsigned most, const std::string& unit) const {
        const auto waves = std::max(least_, 0.0);
        return {waves, most, unit, name_,
                fmt::format("min({}) = {:g} {}{}", terms_, waves, unit, waves > 0 ? "" : ", no work-group fits")};
    }

    /// The occupancy of a group of more than `most_items`: 0, with the reason.
    static Occupancy too_large(std::size_t items, unsigned most, const std::string& unit) {
        return {0, most, unit, "work-group size",
                fmt::format("none: no such device launches a work-group of {} work-items, {} is the most", items,
                            most_items)};
    }

private:
    double least_ = -1;
    std::string name_, terms_;
};

inline std::int64_t round_up(std::int64_t value, std::int64_t granule) {
    return (value + granule - 1) / granule * granule;
}

/// Output of an offline compiler.
struct OfflineCode {
    bool ok = false;
    std::string log;                   ///< the compiler's messages
    std::string binary;                ///< code object, PTX …
    DisassembleOptions options;        ///< how to disassemble it
    std::vector<std::string> notes{};  ///< clauses: how the code differs from the source or its options
    bool timed_out = false;            ///< the compiler was stopped at the time limit
};

/// Options that a source may need but that the user did not give. Tried in order if it does not compile without them.
struct Addition {
    const char *options, *words;  ///< words: how a sentence names the options
};

/// Compiles for processors that this machine does not have.
struct OfflineCompiler {
    const char *vendor, *driver;  ///< as a device reports them
    model::Implementation implementation;
    std::uint64_t local_bytes;
    /// All known processors, each with what this machine can produce for it.
    std::vector<OfflineTarget> (*targets)();
    /// Sets what Experiment::setup and the LAB_* defines need to know of a target. The other members of `device` are
    /// set.
    void (*describe)(model::Device& device, const std::string& target, const std::vector<std::string>& options,
                     const ChosenCompiler& by);
    /// Stops the compiler at the limit. Throws Error(environment) if this machine cannot compile.
    OfflineCode (*compile)(const std::string& target, const std::string& source,
                           const std::vector<std::string>& options, std::chrono::milliseconds limit,
                           const ChosenCompiler& by);
    /// The compiler that makes the target's code, with its version.
    std::string (*version)(const std::string& target, const ChosenCompiler& by);
    /// Programs and libraries that its output depends on.
    std::vector<std::filesystem::path> (*tools)(const std::string& target, const ChosenCompiler& by);
    std::span<const Addition> additions{};
    /// Symbols that a kernel needs and that are not defined. nullptr if the compiler itself rejects such kernels.
    std::vector<std::string> (*undefined)(ByteSpan binary, const std::string& entry) = nullptr;
};

struct InstructionSet {
    const char* name;  ///< "x86", "gcn", "sass": the JSON value
    /// One sentence: how instructions are classified. nullptr: its listings are not counted.
    const char* rule = nullptr;
    bool virtual_machine = false;  ///< PTX: statements without addresses, compiled again before they run
    std::vector<Kind> kinds{};     ///< binaries that contain only its code, and that `disassemble` reads
    Words words{};
    std::vector<Mark> marks{};
    std::vector<ShownFact> shown_facts{};

    /// Functions of a listing, in order. Skips lines that are no instructions; never throws for malformed text.
    std::vector<Function> (*parse)(std::string_view text) = nullptr;
    Class (*classify)(const Instruction& instruction) = nullptr;

    /// First parts of access names ("lds" of "lds_load_64") for accesses that may be to local memory, and to other
    /// memory of the kernel. Both empty: there is only one memory, and access names have no first part.
    std::vector<std::string_view> local_spaces{}, global_spaces{};
    bool counts_barriers = true;  ///< false if no instruction is a barrier: on CPUs barriers are the ends of loops
    const RegisterRules* registers = nullptr;  ///< nullptr: no rules are known
    /// Maximum number of elements of the declared work that an instruction may process: multiply-adds, integer
    /// multiplications or functions. 0: none.
    double (*arithmetic)(const Instruction& instruction, const model::Declared& declared) = nullptr;
    bool (*is_call)(const Instruction& instruction) = nullptr;
    /// Whether an instruction computes or moves several elements of a register. nullptr: unknown.
    bool (*is_vector)(const Instruction& instruction) = nullptr;
    /// Whether it is a store that model::HotBlock::part_store counts. nullptr: unknown.
    bool (*is_part_store)(const Instruction& instruction, const Function& function, const Block& block) = nullptr;
    bool names_callees = false;  ///< calls and jumps to other functions name them: "<f>"
    bool hides_jumps = false;    ///< some jumps are missing from listings, so loops may be missing too
    /// is_housekeeping: an access to the compiler's own stack, which proves no work. is_uncountable: an access to an
    /// unknown number of bytes.
    bool (*is_housekeeping)(const Instruction& instruction) = nullptr;
    bool (*is_uncountable)(const Instruction& instruction) = nullptr;

    /// Disassembles a binary of one of `kinds`, like inspect::disassemble.
    Disassembly (*disassemble)(ByteSpan binary, const std::string& entry, const DisassembleOptions& options) = nullptr;
    /// Adds registers, spills and memory to `analysis`.info with their origin, and other facts to `facts`: "processor",
    /// "occupancy" (by add_occupancy).
    void (*read_facts)(Analysis& analysis, nlohmann::json& facts, const FactsRequest& request) = nullptr;
    /// Waves resident at once; nullopt for a processor with unknown limits.
    std::optional<Occupancy> (*occupancy)(const std::string& processor, const KernelNeeds& needs) = nullptr;
    const OfflineCompiler* offline = nullptr;
};

// --- For read_facts --------------------------------------------------------------------------------------------------

/// The numbers of CodeInfo, by their names in `origin` and stats.json.
struct FactName {
    const char* name;
    std::optional<std::int64_t> model::CodeInfo::*number;
};
inline constexpr FactName fact_names[]{{"registers", &model::CodeInfo::registers},
                                       {"spills", &model::CodeInfo::spills},
                                       {"local_bytes", &model::CodeInfo::local_bytes},
                                       {"private_bytes", &model::CodeInfo::private_bytes},
                                       {"code_bytes", &model::CodeInfo::code_bytes}};
/// Sets one of these numbers and its origin; no effect without a value.
void set_fact(model::CodeInfo& info, std::string_view name, std::optional<std::int64_t> value,
              const std::string& origin);
/// Sets the local memory of a group: the declared bytes and those of __local arguments. No effect without either.
void set_local_bytes(model::CodeInfo& info, std::optional<std::int64_t> declared, const FactsRequest& request,
                     const std::string& origin);
void add_occupancy(nlohmann::json& facts, const std::optional<Occupancy>& occupancy);

// --- For disassemble -------------------------------------------------------------------------------------------------

struct Command {
    std::vector<std::string> names;      ///< alternative programs, best first
    std::vector<std::string> arguments;  ///< before the file name
};
/// Runs the first available command that succeeds on a temporary copy of `content`. If none succeeds, the listing's
/// note says why.
Listing run_on_file(Listing listing, const std::vector<Command>& commands, const std::string& file_name,
                    ByteSpan content, const std::string& needed);
/// "no disassembly: SPIR-V needs spirv-dis, which is not on PATH (Debian spirv-tools)"
std::string needs(const std::string& what, const std::string& tools, const std::string& package);
/// Removes the folder of the temporary copy from a tool's output.
std::string without_folder(std::string text, const std::filesystem::path& folder);
/// Drops objdump's "file format" line and the blank lines after it.
std::string without_file_line(const std::string& text);
/// The first of these paths that exists.
std::optional<std::filesystem::path> first_file(const std::vector<std::filesystem::path>& paths);
/// The code that a compiler wrote into `file`. Its log is the compiler's error output, without the path of `folder`.
OfflineCode made_by_tool(const std::filesystem::path& tool, const ToolResult& result, const TempFolder& folder,
                         const std::filesystem::path& file);
/// Why no llvm-objdump on this machine can read the AMD processor's code, and what could; empty if one can.
std::string objdump_missing(const std::string& processor);
/// Bytes of a symbol in an ELF file; 0 if there is no such symbol.
std::int64_t symbol_size(ByteSpan file, const std::string& name);

// --- For classify and arithmetic -------------------------------------------------------------------------------------

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts);

/// A call may compute the four independent calls of one iteration at once, as a vector.
inline constexpr double lanes_of_call = 4;

}  // namespace cllab::inspect

namespace cllab::inspect::isa {

/// Every known instruction set. A new one needs a file in this folder, a name here and one in all(). All sets use the
/// same names, such as `parse` and `classify`, so each has its own namespace, such as inspect::gcn.
extern const InstructionSet x86, gcn, sass, ptx, xe, host, spirv, llvm_ir;

const std::vector<const InstructionSet*>& all();
/// "gcn" gives &gcn; nullptr for any other text.
const InstructionSet* named(std::string_view name);
/// The set whose code a binary of this kind contains; nullptr if it contains other data, or code of several sets.
const InstructionSet* of(Kind kind);

}  // namespace cllab::inspect::isa

// Tables of instruction names, and the function that reads them: the class of an instruction, and the roles of its
// operands. Blanks separate names; '*' matches any characters. A name matches the whole mnemonic, or its part before
// the first '.'. The first rule with a matching name applies.
namespace cllab::inspect {

bool is_named(std::string_view mnemonic, std::string_view names);
/// Whether "WIDE" is a part of "IMAD.WIDE.U32" after its first '.'.
bool has_part(std::string_view mnemonic, std::string_view part);
/// Sets sizes of instructions from the address of the next one, for listings without encodings.
void set_sizes(Function& function);
/// Drops the instructions of these names at the end of the function: padding.
void drop_padding(Function& function, std::string_view names);

template <typename Value>
struct Rule {
    std::string_view names;
    Value value;
};
using NameRule = Rule<std::string_view>;
using NumberRule = Rule<unsigned>;
/// The value of the first rule that names the mnemonic, otherwise `other`.
template <typename Value, std::size_t N>
Value value_of(const Rule<Value> (&rules)[N], std::string_view mnemonic, std::type_identity_t<Value> other = {}) {
    const auto found = std::ranges::find_if(rules, [&](const auto& rule) { return is_named(mnemonic, rule.names); });
    return found == std::end(rules) ? other : found->value;
}

/// The roles of an instruction's operands.
struct RoleRule {
    std::string_view names;
    /// One letter per operand; the last one also holds for all following operands. 'w': written, 'r': read, 'm': both,
    /// '-': neither. 'p': a written predicate that may be missing; 'P': any number of them. Empty: no operand is a
    /// register. "?": unknown.
    std::string_view operands;
    std::string_view widths = "1";  ///< registers of the result and of each source; the last also for all following
    std::size_t least = 0;          ///< minimum number of operands for the rule to apply
    std::string_view reads{};       ///< registers that are read without an operand
};
/// nullptr if nothing is known.
const RoleRule* rule_of(std::span<const RoleRule> rules, std::string_view mnemonic, std::size_t operands);

/// Passes each operand to `give`, with its letter ('w', 'r', 'm' or '-') and width. False as soon as `give` returns
/// false.
bool each_operand(const RoleRule& rule, std::size_t operands,
                  const std::function<bool(std::size_t operand, char letter, char width)>& give,
                  const std::function<bool(std::size_t operand)>& is_predicate = {});

/// Adds the registers of an operand with this letter. If not `whole`, written registers are added to `touches`.
void add_units(Roles& roles, const std::vector<Unit>& units, char letter, bool whole = true);

}  // namespace cllab::inspect
