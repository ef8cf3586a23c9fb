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

// The hot code of a kernel. It is found from evidence, never from the shape of the code (host/README.md, rule 18).
/// An executed basic block. Addresses are those of isa.txt or, if executions were counted, those of the profiler's
/// listing.
struct HotBlock {
    /// In `memory` on x86: loads whose result is the index of the next such load.
    static constexpr const char* index_chain = "index_chain";
    /// In `elements` on x86: instructions on several elements of a register; stores that add fewer bytes to an output
    /// than they are wide (masked, to the stack, to one address in every pass of a loop); moves of unknown length.
    static constexpr const char *vector = "vector", *part_store = "part_store", *uncounted = "uncounted";

    std::string function;
    std::uint64_t begin = 0, end = 0;  ///< end: the first address after the block
    unsigned samples = 0;
    double share = 0;                                 ///< of the samples in the kernel, or of all executed instructions
    unsigned instructions = 0;                        ///< of one pass through the block; the next counts likewise
    std::map<std::string, unsigned> classes, memory;  ///< as in stats.json: "vector_256", "load_256"
    std::vector<std::uint64_t> loops;  ///< headers of the loops around the block, outermost first; empty: no loop
    std::uint64_t executed = 0;        ///< instructions that warps executed in the block; 0: not counted
    /// Elements that one pass computes: "float" operations, integer "product"s, integer "division"s. Other keys: above.
    std::map<std::string, double> elements{};

    unsigned of_class(const char* name) const;
    unsigned widest_vector() const;  ///< N of the widest class "vector_N"; 0: none
    /// Bits of the widest vectors that the block computes with; 0: scalar instructions only. nullopt for a mixture of
    /// vector and scalar code, and if `elements` was not filled.
    std::optional<unsigned> vector_bits() const;
    /// Instructions per byte that the block stores. A lower bound if there are part stores, else exact. nullopt if the
    /// block stores nothing, or if the width of a store is unknown.
    std::optional<double> per_stored_byte() const;
};

/// Bytes of the accesses of one kind, "load" or "store", except to the stack. nullopt if the width of an access is
/// unknown, as for a gather.
std::optional<double> bytes_of(const std::map<std::string, unsigned>& memory, std::string_view kind);

/// A loop with at least one executed block.
struct HotLoop {
    std::string function;
    std::uint64_t header = 0;
    unsigned depth = 1;  ///< 1 is outermost
    /// Of the samples, or of the executed instructions. own: without inner loops; share: with them.
    double own = 0, share = 0;
    unsigned instructions = 0;  ///< of the loop's body without inner loops
};

struct Hot {
    static constexpr const char *sampled = "sampled", *counted = "counted", *accounted = "accounted",
                                *unknown = "unknown";
    std::string evidence = unknown;
    std::string reason;  ///< why the hot code is unknown, in one sentence; else empty
    /// "perf_event_open, cpu-clock", "ncu, inst_executed"; empty without samples and counts.
    std::string method;
    unsigned samples = 0;        ///< of all threads of the process while the kernel ran repeatedly
    unsigned in_kernel = 0;      ///< samples in the functions of the listing
    std::uint64_t executed = 0;  ///< instructions that warps executed in one launch; 0: not counted
    /// Samples outside the kernel, by place: "libpocl.so.2.9.0", "generated code".
    std::map<std::string, unsigned> elsewhere;
    std::string code;              ///< title of the listing: the driver's function that ran
    std::vector<HotBlock> blocks;  ///< largest share first, without blocks below 0.5 %
    std::vector<HotLoop> loops;    ///< loops of these blocks, largest own share first

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

/// The blocks of one function that are in the same loops, or in none. Valid as long as the Hot exists.
struct HotRegion {
    std::vector<const HotBlock*> blocks;  ///< by address
    std::vector<std::uint64_t> like{};    ///< headers of other loops with nearly the same code; `share` includes them
    double share = 0;                     ///< of the total named in `of`
    const char* of = "the kernel's samples";  ///< what_is_shared
    unsigned instructions = 0;                ///< total of the blocks
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
    unsigned n = 0;           ///< samples
    unsigned per_sample = 1;  ///< operations in one sample
    std::string stop_reason;  ///< "precise", "noise-floor", "timeout", "cap", "cut"
    std::string clock;        ///< "event" or "host"
    std::string cache;        ///< "hot", "cold", "rotate"
    unsigned sets = 1;        ///< buffer sets that operations cycle through; above 1 only in the cache state "rotate"
    unsigned batch = 1;       ///< cells of one comparison with the same number were sampled in turns
    unsigned references = 0;  ///< timings of the reference kernel around and between the samples
    double reference_spread = 0;  ///< of these timings: (slowest - fastest) / median
    double cores = 0;             ///< average number of CPU cores that the threads of the process used; 0: unknown
    double waited = 0;            ///< average number of runnable threads without a core
    bool settled = false;         ///< warm-up ended because two windows agreed
    bool shared_memory = false;   ///< the cell shares its buffers with the cells it takes turns with

    bool has_interval() const { return n >= least_for_interval; }
    /// The wider side of low..high divided by the median; 1 without a median.
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
    std::uint64_t bytes = 0;  ///< source and destination together
    double bandwidth = 0;     ///< B/s, both directions
    std::string cache;        ///< "hot", "cold", "rotate"
    unsigned n = 0;           ///< samples
};

/// The clock during the samples of a cell, if a driver or the system reports it.
struct ClockInfo {
    double core_mhz_low = 0, core_mhz_high = 0;  ///< minimum and maximum of the readings
    std::vector<std::string> limits;  ///< causes of a reduced clock, at any reading: "power cap", "thermal", …
    std::string source;               ///< "NVML", "sysfs amdgpu", …
};

/// The energy of one operation or step during an uninterrupted series of them. low..high is the 95 % interval of the
/// median of several time windows; with too few windows, their range. The interval holds for this run: more than 5 % of
/// other runs are outside it (tests/trial/energy.py).
struct EnergyInfo {
    double joules = 0, low = 0, high = 0;  ///< energy of the whole device in that time
    double idle = 0;  ///< part of `joules` that the idle device would draw in the same time, measured just before
    double watts = 0;
    unsigned windows = 0;
    unsigned updates = 0;  ///< counter updates in the window with the fewest
    std::string source;    ///< "NVML"
};

struct BuildInfo {
    std::string options, source, source_sha256, log;  ///< source: "embedded" or the file's path
    double seconds = 0;
    bool cached = false;
    std::vector<std::string> elsewhere{};  ///< headers that only the driver found; the text does not contain them
};

/// A hand-written C++ loop in place of a kernel.
struct NativeInfo {
    unsigned threads = 1;
    std::string compiler, instruction_set;  ///< the compiler, and the instruction set it compiled for
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
    /// bytes: minimum traffic to and from memory. flops: floating-point operations, or integer ones if `type` is an
    /// integer type.
    double bytes = 0, flops = 0;
    bool assumed = false;        ///< the bytes are not declared: every buffer counts once
    std::optional<double> read;  ///< how many of the bytes are read; nullopt: unknown
    std::string type;            ///< type of the arithmetic: "float", "double", "half", "uint", "ushort"
    /// The dependent operations: "load", "local_load", "multiply_add", "atomic"; empty: not declared.
    std::string chain;
    double atomics = 0;           ///< on global memory
    double atomic_addresses = 0;  ///< distinct addresses of these atomics; 0: not counted
    double footprint = 0;         ///< bytes of all buffers and images
    /// Each work-group reads the whole footprint. The instances of a cache level therefore cannot split it.
    bool shared = false;
    unsigned launches = 0;       ///< launches of an operation; 0 for a step
    double groups = 0;           ///< work-groups, if there is a single launch
    double group = 0;            ///< work-items in a group of that launch
    double links = 0;            ///< dependent steps of the chain
    double barriers = 0;         ///< barriers that each work-item passes
    double local_bytes = 0;      ///< of local memory, loaded and stored
    double local_atomics = 0;    ///< on local memory
    double local_addresses = 0;  ///< distinct words of a group's local memory that these atomics access
    /// Executed instructions of all cores: those of the hot block, times the passes that the declared bytes need. A
    /// lower bound if several blocks store.
    double instructions = 0;
};

/// A profiler's counter of one launch.
struct Counter {
    std::string name, unit;  ///< as the profiler writes them: "dram__bytes_read.sum", "Mbyte"
    double value = 0;
};

struct DeviceInfo {
    std::string platform, name, vendor, driver, type, selector, identity;
    std::uint64_t last_level_bytes = 0;  ///< size that the cache states use
    std::string last_level_from;         ///< source of that size
};

struct HostInfo {
    std::string name, cpu, os;
    unsigned threads = 0;
};

/// Position of a cell in its run.
struct Order {
    std::uint64_t comparison = 0;  ///< cells of one comparison share its number
    std::uint64_t position = 0;    ///< position of the cell in its comparison
    std::uint64_t prepared = 0;    ///< cells that the process prepared before this one
};

/// Data for repeating the run, besides the command line and the device.
struct RunInfo {
    std::string id;     ///< shared by all records of one command, also of its child processes; empty in schema 1
    std::string label;  ///< --label
    std::optional<std::uint64_t> seed;  ///< seed of the first verification's inputs; absent in schema 1
    Order order;
    /// Environment variables that set drivers' caches of compiled kernels and PoCL's threads.
    std::map<std::string, std::string> driver_caches;
};

/// The bright pixels of a cell's output picture, e.g. the defects of an image comparison.
struct Above {
    unsigned level = 0;
    std::uint64_t pixels = 0;  ///< brighter than `level`
    struct Pixel {
        unsigned x = 0, y = 0, value = 0;
    };
    std::vector<Pixel> first;  ///< in reading order, up to most_listed
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
    std::string limit;  ///< what limits the time, in a word or two, or "-"; empty: there was no profile
    std::optional<YardstickInfo> yardstick;  ///< the copy for the metric of_copy
    std::optional<ClockInfo> clocks;
    std::optional<EnergyInfo> energy;  ///< --energy
    std::optional<Above> above;        ///< --count-above
    std::vector<double> samples;       ///< seconds, in the order taken
    std::vector<double> aside;         ///< seconds of samples that were set aside because the clock had drifted
    std::string checked_by;            ///< how the results were checked; empty: not checked
    std::string problem;               ///< equal if results are, for kernels with a line `differ`; empty: no such line
    /// Round of each sample. Cells of a comparison with the same round took turns.
    std::vector<unsigned> rounds, aside_rounds;
    std::vector<std::string> warnings;  ///< "short-name: sentence with advice"
    BuildInfo build;
    std::string launch;  ///< equal for equal arguments, sizes, groups and data (model/work.hpp); empty: not known
    CodeInfo code;
    std::optional<NativeInfo> native;        ///< nullopt: the cell is a kernel
    std::optional<Hot> hot;                  ///< the code that takes the time; nullopt: not examined
    std::vector<Counter> counters;           ///< from `cllab ncu`; empty: not profiled
    std::shared_ptr<const Counts> counts{};  ///< what the launch executes; null: not counted. Not written to files
    std::string dump;                        ///< folder of the dump; empty if nothing was dumped
    Phases phases;                           ///< seconds of the cell by phase, with its share of common phases
    HostInfo host;
    RunInfo run;
    std::string utc;  ///< format of utc_now()
    std::vector<std::string> argv;
};

/// Equal for records of the same device under the same driver. A GPU's UUID is valid on every host, and a PCI address
/// on one host only. A device without either is identified by its host, its name and its index in the platform. That
/// index is the D of P:D; P is not used because it depends on the installed drivers.
std::string device_key(const Record& record);

/// Records that the caller owns.
using Rows = std::vector<const Record*>;

/// Pointers to the records for which `which` is true.
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

/// A cell with less than this share of its usable cores is neither precise nor ranked.
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
/// nullopt for a record without a time, and for schema 1, which does not name the run.
std::optional<Turns> turns_of(const Record& record);

}  // namespace cllab::model
