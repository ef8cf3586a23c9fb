// The record of a cell, the result of a run. JSON form in report/records/json.hpp.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/phases.hpp"
#include "core/stats.hpp"
#include "model/counts.hpp"
#include "model/experiment.hpp"

namespace cllab::model {

// Which code of a kernel its time goes to, by evidence and never by the shape of the code (host/README.md, rule 18).
/// An executed basic block. Addresses are those of isa.txt or, if executions were counted, those of the profiler's
/// listing.
struct HotBlock {
    /// In `memory` on x86: loads whose result is the index of the next such load.
    static constexpr const char* index_chain = "index_chain";
    /// In `elements` on x86: instructions on several elements of a register; stores that add fewer bytes to an output
    /// than they are wide (masked, to the stack, to one address in every pass of a loop); moves of unknown length.
    static constexpr const char *vector = "vector", *part_store = "part_store", *uncounted = "uncounted";

    std::string function;
    std::uint64_t begin = 0, end = 0;  ///< end: the first address behind it
    unsigned samples = 0;
    double share = 0;                                 ///< of the samples in the kernel, or of all executed instructions
    unsigned instructions = 0;                        ///< of one pass through it, as the following counts
    std::map<std::string, unsigned> classes, memory;  ///< as in stats.json: "vector_256", "load_256"
    std::vector<std::uint64_t> loops;  ///< headers of the loops around it, outermost first; empty: straight-line code
    std::uint64_t executed = 0;        ///< instructions that warps executed in it; 0 where nobody counted
    /// That one pass computes: "float" operations, integer "product"s, integer "division"s.
    std::map<std::string, double> elements{};

    unsigned of_class(const char* name) const;
    /// Bits of the widest vectors that it computes in; 0: it has scalar instructions only. Nothing for a mixture, and
    /// where the code was not read for it.
    std::optional<unsigned> vector_bits() const;
    /// Instructions for a byte that it stores, at least; exactly without a part_store. Nothing where it stores none.
    std::optional<double> per_stored_byte() const;
};

/// Bytes of the accesses of one kind, "load" or "store", to memory that is not the stack. Nothing where one of them
/// does not say its width, as a gather.
std::optional<double> bytes_of(const std::map<std::string, unsigned>& memory, std::string_view kind);

/// A loop with at least one block that was seen running.
struct HotLoop {
    std::string function;
    std::uint64_t header = 0;
    unsigned depth = 1;         ///< 1 is outermost
    double own = 0, share = 0;  ///< of the samples, or of the executed instructions: in it but in no inner loop; with
                                ///< its inner loops
    unsigned instructions = 0;  ///< of its own body, without that of inner loops
};

struct Hot {
    static constexpr const char *sampled = "sampled", *counted = "counted", *accounted = "accounted",
                                *unknown = "unknown";
    std::string evidence = unknown;
    std::string reason;  ///< why it is unknown, in one sentence; empty otherwise
    /// "perf_event_open, cpu-clock", "ncu, inst_executed"; empty without samples and counts.
    std::string method;
    unsigned samples = 0;        ///< of all threads of the process while the kernel ran again and again
    unsigned in_kernel = 0;      ///< of these, in the functions of the listing
    std::uint64_t executed = 0;  ///< instructions that warps executed in one launch; 0 where nobody counted
    std::map<std::string, unsigned> elsewhere;  ///< the others by where: "libpocl.so.2.9.0", "generated code"
    std::string code;                           ///< title of the listing: which of a driver's functions ran
    std::vector<HotBlock> blocks;               ///< largest share first; those with less than 0.5 % are left out
    std::vector<HotLoop> loops;                 ///< of these blocks, by their own share, most first

    bool known() const { return evidence != unknown; }
    const HotBlock* hottest() const { return known() && !blocks.empty() ? &blocks.front() : nullptr; }
};

/// `hot` with `reason` for its unknown code.
Hot unknown(Hot hot, std::string reason);
/// The evidence of the shares: "sampled, 412 samples in the kernel of 430", "counted, 329383936 instructions of warps",
/// "unknown: …".
std::string statement(const Hot& hot);
/// The total that shares refer to: "the samples", "the executed instructions".
const char* what_is_shared(const Hot& hot);

/// Blocks of one function with the same innermost loop, or in none. They live as long as the Hot they are of.
struct HotRegion {
    std::vector<const HotBlock*> blocks;  ///< by address
    std::vector<std::uint64_t> like{};    ///< headers of other loops with nearly the same code; `share` has theirs too
    double share = 0;                     ///< of what_is_shared
    const char* of = "the kernel's samples";  ///< what_is_shared
    unsigned instructions = 0;                ///< of its blocks together
    bool is_loop() const { return !blocks.front()->loops.empty(); }
    std::uint64_t header() const { return blocks.front()->loops.back(); }  ///< of a loop
};

/// All hot regions, largest share first; none if the hot code is unknown.
std::vector<HotRegion> hot_regions(const Hot& hot);
/// " and 15 like it"; empty for 0.
std::string and_like(std::size_t others);
/// "loop at 0x1a68, 93.1 % of the kernel's samples", "straight-line code from 0x1160, …"
std::string place(const HotRegion& region);

inline constexpr int schema_version = 2;

enum class Status { ok, unsupported, build_failed, launch_failed, wrong_result, timed_out, disagree };
const char* name(Status status);
std::optional<Status> status_from(std::string_view name);
bool is_failure(Status status);  ///< neither ok nor unsupported

struct MetricValue {
    double value = 0;
    std::string unit;
    Better better = Better::neither;
};
const char* name(Better better);

/// Seconds of one operation (or of one step, for a slope). low..high is the 95 % order-statistic interval of the
/// median; with too few samples for one, their range.
struct Timing {
    double median = 0, low = 0, high = 0, min = 0, q1 = 0, q3 = 0, mad = 0;
    unsigned n = 0;               ///< samples
    unsigned per_sample = 1;      ///< operations in one sample
    std::string stop_reason;      ///< "precise", "noise-floor", "timeout", "cap", "cut"
    std::string clock;            ///< "event" or "host"
    std::string cache;            ///< "hot", "cold", "rotate"
    unsigned sets = 1;            ///< of buffers used in turn; more than 1 only when the cache state is "rotate"
    unsigned batch = 1;           ///< cells of one comparison that have the same were sampled in turns
    unsigned references = 0;      ///< timings of the reference kernel around and between the samples
    double reference_spread = 0;  ///< slowest less fastest of them over their median
    double cores = 0;             ///< of a CPU that its threads had on average; 0: not known
    double waited = 0;            ///< more that they could have used and others had
    bool settled = false;         ///< warm-up ended because two windows agreed
    bool shared_memory = false;   ///< its buffers are those of the cell it takes turns with

    bool has_interval() const { return n >= least_for_interval; }
    /// The wider side of the interval over the median; of too few samples for an interval, the farthest of them from
    /// the median.
    double spread() const { return median > 0 ? std::max(high - median, median - low) / median : 1; }
    /// The share of `parallel` cores that the cell's threads had; 1 if unknown. A missing core counts only if a thread
    /// waited for it, because uneven work also leaves cores idle.
    double share_of(double parallel) const {
        const double lacked = cores > 0 && parallel > 0 ? std::clamp(parallel - cores, 0.0, std::max(0.0, waited)) : 0;
        return lacked > 0 ? 1 - lacked / parallel : 1;
    }
};

/// The copy that a cell is compared with: as many bytes as the cell's data, in the same cache state.
struct YardstickInfo {
    std::uint64_t bytes = 0;  ///< of source and destination together
    double bandwidth = 0;     ///< B/s, both directions
    std::string cache;        ///< "hot", "cold", "rotate"
    unsigned n = 0;           ///< samples
};

/// The clock during the samples of a cell, if a driver or the system reports it.
struct ClockInfo {
    double core_mhz_low = 0, core_mhz_high = 0;  ///< least and most that was read
    std::vector<std::string> limits;             ///< what held it down at any reading: "power cap", "thermal", …
    std::string source;                          ///< "NVML", "sysfs amdgpu", …
};

/// The energy of one operation or step during an uninterrupted series of them. low..high is the 95 % interval of the
/// median of several time windows; with too few windows, their range. It holds for this run: others lie outside more
/// often than in 5 % (tests/trial/energy.py).
struct EnergyInfo {
    double joules = 0, low = 0, high = 0;  ///< all that the device draws meanwhile
    double idle = 0;                       ///< of it: what it drew at rest just before, over the same time
    double watts = 0;
    unsigned windows = 0;
    unsigned updates = 0;  ///< of the counter in the window that had the fewest
    std::string source;    ///< "NVML"
};

struct BuildInfo {
    std::string options, source, source_sha256, log;  ///< source: "embedded" or the file's path
    double seconds = 0;
    bool cached = false;
    std::vector<std::string> elsewhere{};  ///< headers that only the driver finds, so that no text here has them
};

/// A hand-written C++ loop in place of a kernel.
struct NativeInfo {
    unsigned threads = 1;
    std::string compiler, instruction_set;  ///< that made it, and that it was made for
};

/// Facts about the code that ran. Unknown numbers stay empty; `origin` names the source of each.
struct CodeInfo {
    std::string kind;  ///< "ptx", "amdgpu-code-object", "poclbin", …
    std::optional<std::int64_t> registers, spills, local_bytes, private_bytes, code_bytes;
    /// Counts of one iteration of the loop with the most samples, else of the innermost loop with the most work:
    /// "instructions", on GCN also "v" and "s", on SASS also "reuse". Empty without a loop or without a counted
    /// disassembly.
    std::map<std::string, std::int64_t> loop;
    std::map<std::string, std::string> origin;  ///< "registers" -> "ptxas verbose log"
    std::string fingerprint;                    ///< equal for equal code (inspect/code/analysis.hpp); empty: unknown
};

/// The declared work per unit of the cell's time: per operation, or per step of a slope. Zeros: not declared or not
/// known.
struct WorkInfo {
    /// That must move to or from memory; floating-point operations, for uint integer ones.
    double bytes = 0, flops = 0;
    bool assumed = false;        ///< the bytes are those of every buffer once: nobody declared them
    std::optional<double> read;  ///< how many of the bytes are read; nothing: not known
    std::string type;            ///< that it computes in: "float", "double", "half", "uint"
    std::string chain;   ///< of what one waits for the one before: "load", "local_load", "multiply_add", "atomic";
                         ///< empty: not declared
    double atomics = 0;  ///< on global memory
    double atomic_addresses = 0;  ///< different ones that these go to, where they were counted
    double footprint = 0;         ///< bytes of all buffers and images
    /// Each work-group goes through all of the footprint, so that no level's instances hold parts of it.
    bool shared = false;
    unsigned launches = 0;       ///< of an operation; 0 for a step
    double groups = 0;           ///< of the only launch
    double group = 0;            ///< work-items in one of its groups
    double links = 0;            ///< of the chain, one behind the other
    double barriers = 0;         ///< that each work-item passes
    double local_bytes = 0;      ///< of local memory, loaded and stored
    double local_atomics = 0;    ///< on local memory
    double local_addresses = 0;  ///< words of a group's local memory that they go to
    /// Executed instructions of all cores: those of the hot block, times the passes that the declared bytes need. At
    /// least, if several blocks store.
    double instructions = 0;
};

/// A profiler's counter of one launch.
struct Counter {
    std::string name, unit;  ///< the profiler's own, as in "dram__bytes_read.sum" and "Mbyte"
    double value = 0;
};

struct DeviceInfo {
    std::string platform, name, vendor, driver, type, selector, identity;
    std::uint64_t last_level_bytes = 0;  ///< what the cache states go by
    std::string last_level_from;         ///< where that figure is from
};

struct HostInfo {
    std::string name, cpu, os;
    unsigned threads = 0;
};

/// Position of a cell in its run.
struct Order {
    std::uint64_t comparison = 0;  ///< cells of one comparison share its number
    std::uint64_t position = 0;    ///< of the cell in its comparison
    std::uint64_t prepared = 0;    ///< cells that the same process had prepared before
};

/// Data for repeating the run, besides the command line and the device.
struct RunInfo {
    std::string id;     ///< of the process that the user started, its children included; empty in schema 1
    std::string label;  ///< --label
    std::optional<std::uint64_t> seed;  ///< of the first verification's inputs; absent in schema 1
    Order order;
    /// Environment variables that set drivers' caches of compiled kernels and PoCL's threads.
    std::map<std::string, std::string> driver_caches;
};

/// The bright pixels of a picture that a cell makes, e.g. the defects of an image comparison.
struct Above {
    unsigned level = 0;
    std::uint64_t pixels = 0;  ///< brighter than `level`
    struct Pixel {
        unsigned x = 0, y = 0, value = 0;
    };
    std::vector<Pixel> first;  ///< in reading order, most_listed at the most
    static constexpr std::size_t most_listed = 1000;
};

struct Record {
    int schema = schema_version;
    std::string id, family, variant;
    std::vector<std::pair<std::string, std::string>> point;
    Status status = Status::ok;
    std::string reason;  ///< one line; never empty unless ok
    DeviceInfo device;
    std::vector<std::pair<std::string, MetricValue>> metrics;  ///< in display order
    std::optional<Timing> time;
    WorkInfo work;
    std::string limit;  ///< what limits its time, in a word or two, or "-"; empty: no profile was there
    std::optional<YardstickInfo> yardstick;  ///< of the metric of_copy
    std::optional<ClockInfo> clocks;
    std::optional<EnergyInfo> energy;            ///< --energy
    std::optional<Above> above;                  ///< --count-above
    std::vector<double> samples;                 ///< seconds, in the order taken
    std::vector<double> aside;                   ///< likewise, of blocks in which the clock was off
    std::string checked_by;                      ///< what its results were held against; empty: not checked
    std::vector<unsigned> rounds, aside_rounds;  ///< of each of them; cells of a comparison with the same took turns
    std::vector<std::string> warnings;           ///< "short-name: sentence with advice"
    BuildInfo build;
    std::string launch;  ///< equal for equal arguments, sizes, groups and data (model/work.hpp); empty: not known
    CodeInfo code;
    std::optional<NativeInfo> native;        ///< nothing: a kernel
    std::optional<Hot> hot;                  ///< which of it ran; nothing: nobody looked
    std::vector<Counter> counters;           ///< of `cllab ncu`; empty: no profiler looked
    std::shared_ptr<const Counts> counts{};  ///< what its launch executes; null: nobody counted. In no file
    std::string dump;                        ///< folder; empty when nothing was dumped
    Phases phases;                           ///< what the cell took, with its share of what cells have in common
    HostInfo host;
    RunInfo run;
    std::string utc;  ///< as utc_now() has it
    std::vector<std::string> argv;
};

/// Equal for records of the same device under the same driver. A GPU's UUID names it wherever it is; a PCI address does
/// so on its host only; a device without either is its host's device of that name and place in its platform (the D of
/// P:D, because P depends on which other drivers are installed).
std::string device_key(const Record& record);

/// Records that somebody else holds.
using Rows = std::vector<const Record*>;

/// Those for which `which` holds.
template <typename Which>
Rows rows_of(const std::vector<Record>& records, Which which) {
    Rows out;
    for (const auto& record : records)
        if (which(record)) out.push_back(&record);
    return out;
}
inline Rows rows_of(const std::vector<Record>& records) {
    return rows_of(records, [](const Record&) { return true; });
}

struct Counted {
    std::string id;
    std::vector<std::pair<std::string, std::string>> point;
    DeviceInfo device;
    double opencl_seconds = 0;      ///< median of the cell by the lab's own method
    double cuda_seconds = 0;        ///< median of the launches through the CUDA driver, without the profiler
    std::vector<Counter> counters;  ///< empty: no profiler
};

// Whether a record's time may be ranked, and against which others (rules 21 and 22 of host/README.md).

/// A cell that had less than this share of its usable cores is neither precise nor ranked.
inline constexpr double nearly_all_cores = 0.9;

/// Cores that the threads of a CPU's cell could use: those that ran or were ready to run, at most `groups` and at most
/// the host's cores. A factor that is 0 is unknown and ignored; the result is 0 if nothing was counted.
double usable_cores(const Timing& time, double groups, unsigned of_host);

/// The share of the usable cores that the threads had; 1 if unknown, and on a GPU.
double cores_share(const Record& record);
inline bool had_its_cores(const Record& record) { return cores_share(record) >= nearly_all_cores; }

/// Cells of one device with equal Turns were timed round by round. Only such cells are ranked.
struct Turns {
    std::string run;
    std::uint64_t comparison = 0;
    unsigned batch = 0;
    auto operator<=>(const Turns&) const = default;
};
/// Nothing for a record without a time, and for schema 1, which does not name the run.
std::optional<Turns> turns_of(const Record& record);

}  // namespace cllab::model
