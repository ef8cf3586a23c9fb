// An experiment as plain data: a question, axes, variants, the setup of a cell, its declared work and the check of its
// result. Independent of OpenCL, so every reference is tested without a device.
#pragma once

#include <algorithm>
#include <any>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "model/axes.hpp"
#include "model/device.hpp"
#include "model/operation.hpp"

namespace cllab::model {

// Allowed and observed differences from the expected results, so that a cell's time is shown with the accuracy that its
// build options cost.
/// A result is near enough if it satisfies at least one of the three limits.
struct Tolerance {
    double absolute = 0, relative = 0, ulp = 0;
};

/// |a - b| of whole numbers. Subtracts integers, because two different integers may round to the same double.
template <typename T>
double distance(T a, T b) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<double>(
        static_cast<Unsigned>(static_cast<Unsigned>(std::max(a, b)) - static_cast<Unsigned>(std::min(a, b))));
}

/// Number of steps from `a` to `b`, each to the next floating-point number of the type.
template <typename T>
double ulps_between(T a, T b) {
    using Signed = std::conditional_t<sizeof(T) == 2, std::int16_t,
                                      std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;
    // Maps the bits to integers in the order of the numbers: neighbors differ by one, both zeros map to 0.
    const auto ordered = [](T v) {
        const auto bits = std::bit_cast<Signed>(v);
        return bits < 0 ? static_cast<Signed>(std::numeric_limits<Signed>::min() - bits) : bits;
    };
    return distance(ordered(a), ordered(b));
}

/// Judges results and keeps the largest errors. Not thread-safe: each thread has its own object, and merge() combines
/// them.
class Errors {
public:
    explicit Errors(const Tolerance& allowed) : allowed_(allowed) {}

    /// Whether the result is near enough.
    template <typename T>
    bool tolerates(T found, T expected) {
        if constexpr (std::is_integral_v<T>)
            return tolerates_distance(distance(found, expected), static_cast<double>(expected));
        else
            return tolerates_floating(static_cast<double>(found), static_cast<double>(expected),
                                      [&] { return ulps_between(found, expected); });
    }
    /// The same for a floating-point result of any size. Calls `ulps` only for finite numbers that differ.
    template <typename Ulps>
    bool tolerates_floating(double found, double expected, Ulps ulps) {
        floating_ = true;
        // +0 and -0 are equal.
        if (found == expected || (std::isnan(found) && std::isnan(expected))) return true;
        if (!std::isfinite(found) || !std::isfinite(expected)) return false;
        const double steps = ulps();
        ulp_ = std::max(ulp_, steps);
        return tolerates_distance(std::abs(found - expected), expected) || steps <= allowed_.ulp;
    }
    /// A result of any type by its distance.
    bool tolerates_distance(double apart, double expected) {
        absolute_ = std::max(absolute_, apart);
        if (expected != 0) relative_ = std::max(relative_, apart / std::abs(expected));
        return apart <= allowed_.absolute || apart <= allowed_.relative * std::abs(expected);
    }
    void merge(const Errors& other) { add(other.absolute_, other.relative_, other.ulp_, other.floating_); }
    /// The largest errors of further results.
    void add(double absolute, double relative, double ulp, bool floating) {
        absolute_ = std::max(absolute_, absolute);
        relative_ = std::max(relative_, relative);
        ulp_ = std::max(ulp_, ulp);
        floating_ = floating_ || floating;
    }

    const Tolerance& allowed() const { return allowed_; }
    // The largest errors so far. An expected value of 0 gives no relative error. Only floating-point results have ulps.
    double absolute() const { return absolute_; }
    double relative() const { return relative_; }
    double ulp() const { return ulp_; }
    bool of_floating_point() const { return floating_; }

private:
    Tolerance allowed_;
    double absolute_ = 0, relative_ = 0, ulp_ = 0;
    bool floating_ = false;
};

/// A kernel's text that is not part of the lab. It is compiled unchanged, and without lab.h and its defines unless it
/// includes lab.h.
struct Text {
    std::string path, text;
    bool includes_lab = false;  ///< the text had #include "lab.h", which was replaced by that header
};

/// A hand-written C++ loop that --native runs in addition to the kernels.
struct Native;

/// One way to write the kernel. Its entry point, CLI pattern, JSON key and dump folder are all `<family>_<name>`.
struct Variant {
    std::string name;
    std::string meaning;                 ///< one sentence: what distinguishes this variant
    std::vector<std::string> defines{};  ///< "LANES=8" becomes -DLANES=8; "-cl-std=CL2.0" is passed unchanged
    /// Requirements of the device, else the cell is `unsupported`: an extension name, "image", "fp64", "local"
    /// (dedicated local memory), "gpu", "cpu", "nvidia", "amd", "pocl", "subgroups", "clock".
    std::vector<std::string> needs{};
    /// Defaults of axes that differ from the family's for this variant, as --axis would give them: {"ilp", "1,2,4,8"}.
    std::vector<std::pair<std::string, std::string>> axes{};
    std::string curve_over{};                ///< the axis this variant sweeps, if not the family's
    std::string header{};                    ///< header in cl/include, shared with variants of other families
    std::shared_ptr<const Text> own{};       ///< null: the family's text
    std::string entry{};                     ///< the kernel's name in `own`
    std::shared_ptr<const Native> native{};  ///< null: the variant is a kernel
};

/// The least work of one operation: bytes to and from memory, floating-point operations, and steps (the probe's own
/// unit: chained loads, work-items, barriers). Rates are computed from these elsewhere.
struct Work {
    double bytes = 0, flops = 0, steps = 0;
    double stored = 0;           ///< the part of `bytes` that is stored; 0: every output is stored completely
    bool assumed = false;        ///< the bytes are not declared: every buffer counts once
    double atomics = 0;          ///< on global memory
    double barriers = 0;         ///< barriers that each work-item passes
    double local_bytes = 0;      ///< of local memory, loaded and stored by all work-items
    double local_addresses = 0;  ///< distinct words of a group's local memory that its local atomics access
    /// Dependent loads from global memory of one work-item. Each needs the result of the previous one.
    double chain = 0;
};

/// Two trip counts of the by-value int argument `argument`. The reported time of a step is
/// (t(high) - t(low)) / ((high - low) * steps_per_trip), so launch cost and prologue cancel.
struct Slope {
    std::string argument;
    std::int32_t low = 0, high = 0;
    double steps_per_trip = 1;
    bool may_be_free = false;  ///< the step is a baseline to subtract, and may take no time
};

/// Operations that the machine code of the kernel must contain: those of one trip of its loop with a Slope, else of the
/// whole kernel. If fewer than 95 % are found, the compiler has removed the work, and the cell is wrong_result,
/// "collapsed: …". Declare a lower bound: omit operations that a compiler may legally remove.
struct Declared {
    enum class What {
        multiply_add,  ///< fused, floating-point
        integer_multiply,
        load,
        store,  ///< of global memory
        local_load,
        local_store,
        atomic,
        local_atomic,
        barrier,
        function,  ///< calls of built-in functions: at least one floating-point operation or call instruction each
    };
    What what;
    double count = 0;  ///< elements per work-item; an instruction counts as many as it processes
    /// Bits of one element. A wider instruction counts as several elements, in arithmetic one per lane.
    unsigned bits = 32;
};

/// The data that a check reads: every Output, InOut and output Image by name, after the operations.
class Buffers {
public:
    std::map<std::string, std::span<const std::byte>, std::less<>> data;
    std::uint64_t poison_seed = 0;
    std::int32_t trips = 0;        ///< value of Slope::argument in this run; 0 without a slope
    std::uint64_t operations = 1;  ///< since the data was loaded
    /// With Setup::reference: that kernel's results for the same data after as many operations, by name.
    const std::map<std::string, Bytes, std::less<>>* expected = nullptr;
    Errors* errors = nullptr;  ///< Setup::errors

    /// Whether a result that differs from the expected one is near enough. Always false without a tolerance.
    template <typename T>
    bool near_enough(T found, T wanted) const {
        return errors && errors->tolerates(found, wanted);
    }
    template <typename T>
    std::span<const T> as(std::string_view name) const {
        const auto found = data.find(name);
        if (found == data.end()) throw Error(Blame::result, "check asks for unknown buffer '", name, "'");
        return {reinterpret_cast<const T*>(found->second.data()), found->second.size() / sizeof(T)};
    }
    /// True if byte `i` of an Output still holds its poison, i.e. was almost surely not written.
    bool untouched(std::string_view name, std::size_t i) const;
};

/// Poison for a buffer: position-dependent bytes, so that neither a constant nor a shifted copy equals it.
std::byte poison_byte(std::uint64_t seed, std::size_t index);
/// Fills `bytes` with the poison for buffer offset `at` and above. `at` is a multiple of eight.
void poison(std::span<std::byte> bytes, std::uint64_t seed, std::size_t at = 0);

/// Returns the first difference from the reference ("dst[17]: 3, expected 4"); nullopt if there is none.
using Check = std::function<std::optional<std::string>(const Buffers&)>;

/// A buffer that can be written as a grey picture by --output NAME=FILE.
struct Picture {
    std::size_t width = 0, height = 0;
    std::function<Bytes(std::span<const std::byte>)> grey;  ///< width*height bytes for the file
};

/// How data gets to the device and back. copied: from and to memory of the process. pinned: from and to memory that the
/// driver allocated. mapped: the host maps the buffer and accesses it in place. host_pointer: as mapped, with the
/// buffer in memory of the process.
enum class Transfer { copied, pinned, mapped, host_pointer };
constexpr bool is_in_place(Transfer t) { return t == Transfer::mapped || t == Transfer::host_pointer; }

/// Pages of buffers in the host's memory. Ignored elsewhere. small, huge: the size, if the buffer is large enough.
/// repeated: all pages of a buffer are the same few pages of memory, so that every access hits the nearest caches.
/// separate: like repeated, but each page of the buffer is a separate small page of memory.
enum class Pages { any, small, huge, separate, repeated };
constexpr bool are_of_file(Pages p) { return p == Pages::separate || p == Pages::repeated; }

struct Setup;
/// Another kernel whose results are the expected ones. It runs on the same device with its own arguments.
struct Reference {
    const Variant* variant = nullptr;
    std::shared_ptr<const Setup> setup;
};

/// The evidence that a cell's result is right.
struct Proof {
    std::string checked_by;               ///< "host code", "reference naive"
    std::vector<std::string> warnings{};  ///< as Record::warnings
    std::string disagrees{};  ///< the disagreement with another variant, in a sentence; neither is known to be right
    std::string problem{};    ///< Record::problem
};

struct Setup {
    std::vector<Argument> args;
    Extent global, local{}, offset{};  ///< offset: of the single launch of a setup without steps
    /// Arguments of the launch, one name per parameter. Empty: all arguments, in order.
    std::vector<std::string> parameters{};
    std::vector<Step> steps{};
    std::vector<std::string> svm{};  ///< arguments in shared virtual memory: kernels receive their pointers
    std::vector<Part> parts{};       ///< parts of buffers; launches and `parameters` may name them like arguments
    unsigned verify_operations = 1;  ///< operations run before the check
    /// Each operation continues from the previous one's output. `check` must then depend on Buffers::operations and is
    /// called after verify_operations or one more. Without this flag `check` must hold after any number of operations,
    /// and it also checks the output of the timed ones.
    bool accumulates = false;
    /// InOut arguments whose data is restored before each operation. The time excludes this.
    std::vector<std::string> reset{};
    Work work;
    Check check;
    std::optional<Slope> slope{};
    std::vector<Declared> declared{};
    bool chained = false;  ///< each operation of the first `declared` entry needs the result of the previous one
    bool shared = false;   ///< every work-group reads all of the input
    std::vector<std::string> defines{};  ///< from the point, added to the variant's
    /// Extensions whose functions or types the text uses. If the build fails, and a short kernel with the same
    /// extension does not build either, the cell is unsupported.
    std::vector<std::string> extensions{};
    Point point{};  ///< the resolved value of every axis; filled by set_up(); the point of the record
    std::map<std::string, Picture> pictures{};
    Transfer transfer = Transfer::copied;
    bool blocking = false;        ///< the host waits for each step before it enqueues the next
    Pages pages = Pages::any;     ///< unless `any`, the metric huge_pages reports the pages of the buffers
    bool time_transfers = false;  ///< also report upload and download time as metrics
    /// Optional: reads numbers from the outputs after sampling. `operations`: number of operations since the data was
    /// loaded. The numbers become metrics under their names, without a unit and with Better::neither.
    std::function<std::vector<std::pair<std::string, double>>(const Buffers&, std::uint64_t operations)> observe{};
    /// Other numbers that `check` finds, e.g. the largest error in ulp. Metric::compute can report them.
    std::shared_ptr<std::map<std::string, double>> observed{};
    /// Set for a cell with a tolerance: every check uses it to judge a result that differs from the expected one. Set
    /// by the run, or by a kernel file that states a tolerance. The largest errors become metrics.
    std::shared_ptr<Errors> errors{};
    std::optional<Reference> reference{};
    /// Called after all cells of the comparison have been verified. Empty: the checks are independent host code.
    std::function<Proof()> proof{};
    /// Called with the code's fingerprint before the check of any cell that is measured together with this one.
    std::function<void(const std::string& fingerprint)> know_code{};
};

struct Native {
    std::string like;         ///< the kernel variant whose arguments, work and check the loop uses
    bool every_core = false;  ///< one thread per compute unit of the device; else one thread
    /// Executes one operation at the point with `threads` threads.
    std::function<void(const HostMemory&, const Point&, unsigned threads)> loop;
    std::string compiler, instruction_set;  ///< the compiler, and the instruction set it compiled for

    unsigned threads(const Device& device) const { return every_core ? std::max(1u, device.compute_units) : 1; }
};

/// A file given by --input NAME=FILE, as one grey byte per pixel.
struct Loaded {
    std::string path;
    std::size_t width = 0, height = 0;
    SharedBytes grey;
};

/// For requests without --input.
inline const std::map<std::string, Loaded> no_files;

/// Inputs and references that are expensive to make and that several variants of one run share. Owned by the run. Keeps
/// the last two values of each name, for the two seeds of a verification. An older one is dropped before a new one is
/// made, because each may have gigabytes. Not thread-safe.
class Memo {
public:
    /// Returns the value stored under `name` and `key`; if there is none, stores the result of make().
    template <typename Key, typename Make>
    auto get(const std::string& name, const Key& key, const Make& make) {
        using Made = std::invoke_result_t<const Make&>;
        auto& entries = kept_[name];
        for (const auto& entry : entries)
            if (const auto* known = std::any_cast<Key>(&entry.key); known && *known == key)
                return std::static_pointer_cast<Made>(entry.value);
        if (entries.size() == 2) entries.pop_front();
        auto made = std::make_shared<Made>(make());
        entries.push_back({key, made});
        return made;
    }

private:
    struct Entry {
        std::any key;
        std::shared_ptr<void> value;
    };
    std::map<std::string, std::deque<Entry>> kept_;
};

struct Request {
    const Variant& variant;
    const Point& point;
    const Device& device;
    std::uint64_t seed = 1;
    const std::map<std::string, Loaded>& files;
    /// 0: the first verification. 1: the second, whose data is then timed. Prescribed data can hide mistakes, so a
    /// family with prescribed timed data uses random data in the first verification.
    unsigned verification = 0;
    Memo* memo = nullptr;  ///< the run's memo; null: no other setup shares this one's data
};

enum class Better { lower, higher, neither };

/// A metric beyond the standard ones (bandwidth, flop rate, time per step, which follow from Work).
struct Metric {
    std::string name, unit;
    Better better = Better::higher;
    std::function<double(const Setup&, double seconds)> compute;  ///< seconds of one operation
};

/// One measured curve: a variant over the axis named by Experiment::curve_over, all other axes fixed.
struct Curve {
    std::string variant;
    Point fixed;
    struct Sample {
        double x = 0, seconds = 0, low = 0, high = 0;
        Work work{};
        double per_step = 0;
        unsigned n = 0;                           ///< number of timings in `seconds`; 0: unknown
        std::map<std::string, double> metrics{};  ///< every metric of the record; also registers and spills if known
    };
    std::vector<Sample> samples;
};

/// A probe's conclusion from its curves: a knee, a capacity or a rate, with its interval and method.
struct Finding {
    std::string id;  ///< identifier, unique in its family: "peak.float"; never shown in a table
    std::string name, unit;
    double value = 0, low = 0, high = 0;
    std::string how;
    std::string withheld{};  ///< why the evidence allows no figure; then there is no value
};

struct Record;
class Params;

struct Experiment {
    std::string family;
    std::string question;  ///< one sentence ending in a question mark
    std::vector<Axis> axes;
    std::vector<Variant> variants;
    /// Native loops that a user would choose instead of the kernels. Only --native selects them.
    std::vector<Variant> native{};
    /// Reads every axis of the cell from the Params (model/params.hpp) and never from the request's point.
    std::function<Setup(const Request&, Params&)> setup;
    /// The cheap part of `setup`: reads every axis and makes no data. For families with an axis that may be auto, or
    /// with points that may make no sense. Throws Error(usage) for a point that makes no sense on any device,
    /// Unsupported for one that this device cannot do.
    std::function<void(const Request&, Params&)> resolve{};
    std::map<std::string, std::vector<Constraint>> constraints{};  ///< constraints of the points, by variant
    std::vector<Metric> metrics{};
    std::string curve_over{};
    std::function<std::vector<Finding>(const std::vector<Curve>&, const Device&)> conclude{};
    /// Optional: lines after the table, e.g. the output of a known benchmark. Gets the family's timed, ok records of
    /// all devices, at least one.
    std::function<std::string(const std::vector<const Record*>&)> summary{};
    std::vector<std::string> file_inputs{};  ///< names that --input accepts

    std::string id(const Variant& v) const { return family + "_" + v.name; }
    std::string entry(const Variant& v) const { return v.entry.empty() ? id(v) : v.entry; }
    const std::string& swept_axis(const Variant& v) const { return v.curve_over.empty() ? curve_over : v.curve_over; }
};

/// The amount that one operation produces, in the unit of the family's first rate with its own unit ("pixel" of
/// "pixel/s").
struct Units {
    std::string unit;
    double number = 0;
};
/// nullopt if all rates count operations, bytes or FLOP.
std::optional<Units> units_of(const Experiment& experiment, const Setup& setup);

}  // namespace cllab::model
