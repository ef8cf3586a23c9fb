// One instruction set: how its listings are read, counted, named and made. All that the lab knows of one stands in its
// file in this folder and a name in the list at the end. "Adding an instruction set" in dumps/README.md goes through
// it.
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

/// A count beside the classes: "v", the mnemonics that begin with v_.
struct Mark {
    const char* key;    ///< in JSON
    const char* label;  ///< for people
    bool always;        ///< shown when it is zero, and in front of the classes
};

/// The vendor's words for what a kernel needs.
struct Words {
    const char* registers = "registers";
    const char* spills = "spill stores";
    const char* spill_unit = " byte";
    const char* private_bytes = "stack frame";
    const char* local_bytes = "shared memory";
    const char* private_per = "work-item";  ///< whose private memory is counted
};

/// A number of `facts` that stands in the line for people.
struct ShownFact {
    const char* key;
    const char* label;
    const char* unit;
    bool before_spills;
};

/// What the facts of a kernel are read from, besides the analysis so far.
struct FactsRequest {
    ByteSpan binary;
    const std::string& entry;
    std::string_view build_log;
    std::size_t group_items;           ///< 0: unknown
    std::string target;                ///< asked for, "sm_90"; empty: what the binary says
    std::int64_t local_arguments = 0;  ///< bytes of local memory beside what the kernel declares
};

/// How many waves a kernel's registers and local memory leave room for, with the arithmetic written out.
struct Occupancy {
    double waves = 0;        ///< resident at once, in `unit`, on average
    unsigned most = 0;       ///< what the hardware holds at most
    std::string unit;        ///< "wavefronts per SIMD", "warps per SM"
    std::string limited_by;  ///< "registers", "local memory", "hardware", "work-group size"
    std::string formula;     ///< "min(10, floor(256 / roundup(7, 4)) = 32, …) = 10"
};

/// `wavefront` is in work-items: 32 or 64 on RDNA, as the compiler chose. `group_items` is the work-group size; 0 when
/// unknown, which leaves whole groups out of account, and local memory too where `largest_group` is not known.
struct KernelNeeds {
    std::int64_t registers = 0, scalar_registers = 0, local_bytes = 0, wavefront = 0;
    std::size_t group_items = 0;
    std::int64_t simd = 0;          ///< work-items of a thread, where `wavefront` is threads
    std::size_t largest_group = 0;  ///< that the code was compiled for
};

/// No device of any target launches a larger group.
inline constexpr std::size_t most_items = 1024;

/// The smallest of several limits, remembering which and how each came about.
class OccupancyLimits {
public:
    /// A limit in waves, an integer or a double; `arithmetic` and the numbers in it, as fmt::format takes them.
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

    /// What a group that is larger than `most_items` has: nothing, and why.
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

/// What came out of an offline compiler.
struct OfflineCode {
    bool ok = false;
    std::string log;                   ///< the compiler's own words
    std::string binary;                ///< code object, PTX …
    DisassembleOptions options;        ///< how to read it
    std::vector<std::string> notes{};  ///< clauses: what is not as the text or its options say
    bool timed_out = false;            ///< the compiler was ended at the time limit
};

/// Options that a text may need and that nobody gave: tried in turn where it does not compile without.
struct Addition {
    const char *options, *words;  ///< words: for a sentence
};

/// Makes code for processors that are not here.
struct OfflineCompiler {
    const char *vendor, *driver;  ///< as a device has them
    model::Implementation implementation;
    std::uint64_t local_bytes;
    /// All known processors, each with what this machine can produce for it.
    std::vector<OfflineTarget> (*targets)();
    /// What Experiment::setup and the LAB_* defines need to know of one; the rest of `device` is filled in already.
    void (*describe)(model::Device& device, const std::string& target, const std::vector<std::string>& options,
                     const ChosenCompiler& by);
    /// Is ended at the limit. Throws Error(environment) when this machine cannot.
    OfflineCode (*compile)(const std::string& target, const std::string& source,
                           const std::vector<std::string>& options, std::chrono::milliseconds limit,
                           const ChosenCompiler& by);
    /// The compiler that makes the target's code, with its version.
    std::string (*version)(const std::string& target, const ChosenCompiler& by);
    /// Programs and libraries that its output depends on.
    std::vector<std::filesystem::path> (*tools)(const std::string& target, const ChosenCompiler& by);
    std::span<const Addition> additions{};
    /// Symbols of functions that a kernel needs and that are nowhere, where the compiler does not refuse them.
    std::vector<std::string> (*undefined)(ByteSpan binary, const std::string& entry) = nullptr;
};

struct InstructionSet {
    const char* name;  ///< "x86", "gcn", "sass": the JSON value
    /// One sentence: by what rule its classes are told. nullptr: its listings are not counted.
    const char* rule = nullptr;
    bool virtual_machine = false;  ///< PTX: statements without addresses, translated once more before they run
    std::vector<Kind> kinds{};     ///< binaries that hold nothing but its code, and are taken apart by `disassemble`
    Words words{};
    std::vector<Mark> marks{};
    std::vector<ShownFact> shown_facts{};

    /// Functions of a listing, in its order. Lines that are no instruction are skipped; never throws for odd text.
    std::vector<Function> (*parse)(std::string_view text) = nullptr;
    Class (*classify)(const Instruction& instruction) = nullptr;

    /// First parts of the names of memory accesses ("lds_load_64") that may be to local, and to other memory of the
    /// kernel. Both empty: memory is one, and its accesses are named without a space.
    std::vector<std::string_view> local_spaces{}, global_spaces{};
    bool counts_barriers = true;  ///< false where no instructions are barriers, which on CPUs are the ends of loops
    const RegisterRules* registers = nullptr;  ///< nullptr: there are none
    /// Elements of a declared multiply-add, integer multiplication or function that an instruction may handle, at the
    /// most; 0 for none.
    double (*arithmetic)(const Instruction& instruction, const model::Declared& declared) = nullptr;
    bool (*is_call)(const Instruction& instruction) = nullptr;
    /// Whether an instruction computes or moves several elements of a register. nullptr: not told.
    bool (*is_vector)(const Instruction& instruction) = nullptr;
    /// Whether it is a store as model::HotBlock::part_store counts it. nullptr: not told.
    bool (*is_part_store)(const Instruction& instruction, const Function& function, const Block& block) = nullptr;
    bool names_callees = false;  ///< calls and jumps to other functions carry their names, "<f>"
    bool hides_jumps = false;    ///< some jumps are in no listing, so its loops may not be all
    /// Accesses of the compiler's own (its stack), which prove no work; and instructions that move nobody knows how
    /// much.
    bool (*is_housekeeping)(const Instruction& instruction) = nullptr;
    bool (*is_uncountable)(const Instruction& instruction) = nullptr;

    /// Takes a binary of one of `kinds` apart, as inspect::disassemble.
    Disassembly (*disassemble)(ByteSpan binary, const std::string& entry, const DisassembleOptions& options) = nullptr;
    /// Adds registers, spills and memory to `analysis`.info with their origin, and anything else to `facts`:
    /// "processor", "occupancy" (by add_occupancy).
    void (*read_facts)(Analysis& analysis, nlohmann::json& facts, const FactsRequest& request) = nullptr;
    /// Waves resident at once; nothing for a processor whose limits are not known.
    std::optional<Occupancy> (*occupancy)(const std::string& processor, const KernelNeeds& needs) = nullptr;
    const OfflineCompiler* offline = nullptr;
};

// --- For read_facts --------------------------------------------------------------------------------------------------

/// The numbers of CodeInfo, by the names that `origin` and stats.json have for them.
struct FactName {
    const char* name;
    std::optional<std::int64_t> model::CodeInfo::*number;
};
inline constexpr FactName fact_names[]{{"registers", &model::CodeInfo::registers},
                                       {"spills", &model::CodeInfo::spills},
                                       {"local_bytes", &model::CodeInfo::local_bytes},
                                       {"private_bytes", &model::CodeInfo::private_bytes},
                                       {"code_bytes", &model::CodeInfo::code_bytes}};
/// Sets one of them with its origin; does nothing without a value.
void set_fact(model::CodeInfo& info, std::string_view name, std::optional<std::int64_t> value,
              const std::string& origin);
/// The local memory of a group: what the kernel declares, if it says so, and what its arguments bring.
void set_local_bytes(model::CodeInfo& info, std::optional<std::int64_t> declared, const FactsRequest& request,
                     const std::string& origin);
void add_occupancy(nlohmann::json& facts, const std::optional<Occupancy>& occupancy);

// --- For disassemble -------------------------------------------------------------------------------------------------

struct Command {
    std::vector<std::string> names;      ///< programs that can do it, best first
    std::vector<std::string> arguments;  ///< before the file name
};
/// Runs the first command that is there and succeeds on a temporary copy of `content`; the listing's note tells why
/// when none did.
Listing run_on_file(Listing listing, const std::vector<Command>& commands, const std::string& file_name,
                    ByteSpan content, const std::string& needed);
/// "no disassembly: SPIR-V needs spirv-dis, which is not on PATH (Debian spirv-tools)"
std::string needs(const std::string& what, const std::string& tools, const std::string& package);
/// Tools print the path of the temporary copy; the reader of a dump has no use for it.
std::string without_folder(std::string text, const std::filesystem::path& folder);
/// Drops the "file format" line of objdump and the blank lines behind it.
std::string without_file_line(const std::string& text);
/// The first of these paths that is there.
std::optional<std::filesystem::path> first_file(const std::vector<std::filesystem::path>& paths);
/// What a compiler wrote into `file`; its log is that of its errors, without the path of `folder`.
OfflineCode made_by_tool(const std::filesystem::path& tool, const ToolResult& result, const TempFolder& folder,
                         const std::filesystem::path& file);
/// Empty where an llvm-objdump here knows the AMD processor, else the sentence that says what is needed.
std::string objdump_missing(const std::string& processor);
/// Bytes of a symbol in an ELF file; 0 when there is none.
std::int64_t symbol_size(ByteSpan file, const std::string& name);

// --- For classify and arithmetic -------------------------------------------------------------------------------------

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts);

/// A call may stand for the four independent calls of a trip at once, as one vector.
inline constexpr double lanes_of_call = 4;

}  // namespace cllab::inspect

namespace cllab::inspect::isa {

/// Every instruction set the lab knows. A new one is a file beside this one and a name here and in all(). What is
/// inside has the same names for each, `parse` and `classify`, so that each has a namespace of its own for it,
/// inspect::gcn.
extern const InstructionSet x86, gcn, sass, ptx, xe, host, spirv, llvm_ir;

const std::vector<const InstructionSet*>& all();
/// "gcn" gives &gcn; nullptr for any other text.
const InstructionSet* named(std::string_view name);
/// The one whose code a binary of this kind holds; nullptr when it holds something else, or the code of several.
const InstructionSet* of(Kind kind);

}  // namespace cllab::inspect::isa

// Tables of instruction names and the one reader of them: what class an instruction is in, and what it does with its
// operands. Names stand in one text with blanks between them; '*' stands for any characters. A name is that of the
// whole mnemonic, or of its part before the first '.'. The first rule that names an instruction holds.
namespace cllab::inspect {

bool is_named(std::string_view mnemonic, std::string_view names);
/// Whether "WIDE" is a part of "IMAD.WIDE.U32", behind its first '.'.
bool has_part(std::string_view mnemonic, std::string_view part);
/// Sizes of instructions by the address of the next one, where the text has no other sign of them.
void set_sizes(Function& function);
/// Drops the instructions of these names that fill the space behind the code.
void drop_padding(Function& function, std::string_view names);

template <typename Value>
struct Rule {
    std::string_view names;
    Value value;
};
using NameRule = Rule<std::string_view>;
using NumberRule = Rule<unsigned>;
/// `other` for a mnemonic that no rule names.
template <typename Value, std::size_t N>
Value value_of(const Rule<Value> (&rules)[N], std::string_view mnemonic, std::type_identity_t<Value> other = {}) {
    const auto found = std::ranges::find_if(rules, [&](const auto& rule) { return is_named(mnemonic, rule.names); });
    return found == std::end(rules) ? other : found->value;
}

/// What an instruction does with its operands.
struct RoleRule {
    std::string_view names;
    /// A letter for each operand, the last one for all that follow: 'w' is written, 'r' read, 'm' both, '-' neither;
    /// 'p' is a predicate that is written, or no operand where another one stands there, and 'P' any number of them.
    /// Empty: the operands are no registers. "?": nothing is known of these names.
    std::string_view operands;
    std::string_view widths = "1";  ///< registers of the result and of each source; the last one for all behind
    std::size_t least = 0;          ///< of fewer operands the rule says nothing
    std::string_view reads{};       ///< registers that no operand names
};
/// nullptr where nothing is known.
const RoleRule* rule_of(std::span<const RoleRule> rules, std::string_view mnemonic, std::size_t operands);

/// Gives each operand with its letter, 'w', 'r', 'm' or '-', and its width. False as soon as `give` is.
bool each_operand(const RoleRule& rule, std::size_t operands,
                  const std::function<bool(std::size_t operand, char letter, char width)>& give,
                  const std::function<bool(std::size_t operand)>& is_predicate = {});

/// Adds the registers of an operand with this letter. What is not written `whole` is touched.
void add_units(Roles& roles, const std::vector<Unit>& units, char letter, bool whole = true);

}  // namespace cllab::inspect
