// Maps sampled addresses to basic blocks: the part of a listing that ran.
//
// A driver has several functions of one kernel (generic, specialized, of other widths). It loads them from its own
// files or writes them into anonymous memory, and does not report which one a launch runs. So the listing's machine
// code is searched for, byte by byte, in the memory that contains samples. Code that is not found there did not run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "inspect/binary/bounded_bytes.hpp"
#include "inspect/code/analysis.hpp"
#include "model/result.hpp"

namespace cllab::inspect {

struct InstructionSet;

/// A piece of executable memory.
struct CodeRegion {
    std::uint64_t address = 0;
    ByteSpan bytes;
    std::string path;                                              ///< of the mapped file; empty for generated code
    std::shared_ptr<const std::vector<std::byte>> copy = nullptr;  ///< owner of `bytes`; nullptr: they belong to others
};

struct AddressSamples {
    std::vector<std::uint64_t> addresses;
    std::vector<CodeRegion> regions;  ///< at least those that contain a sample, by address
    std::string method;               ///< "perf_event_open, cpu-clock"
    std::string refused;              ///< why there are no samples, in one sentence; empty otherwise
};

/// Minimum number of samples in a kernel to report shares of its blocks.
inline constexpr unsigned least_samples = 100;

/// Whether the host's processor runs the machine code of such a binary.
bool runs_on_the_host(Kind kind);

/// The shared object of `entry` in PoCL's container that has the most samples; an empty path if none has any.
struct SampledObject {
    std::string path;
    unsigned samples = 0;
};
SampledObject sampled_pocl_code(ByteSpan binary, const std::string& entry, const AddressSamples& samples);

/// The share of each block and loop of the kernel's listing. Unknown, with the reason, if the shares cannot be
/// determined.
model::Hot hot_code(const Analysis& analysis, const AddressSamples& samples);

/// Code for which a profiler counted the executions of each instruction.
struct ExecutedCode {
    std::string title, method;  ///< as in Hot::code and Hot::method
    const InstructionSet* isa = nullptr;
    std::string listing;  ///< in a form that `isa` reads
    /// Address in the listing, and how many times warps executed it.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> instructions;
    double by_items = 0;  ///< all instructions times the work-items that executed them; 0: not counted
};
/// The share of each block and loop of the executed instructions.
model::Hot hot_code(const ExecutedCode& code);

/// isa.txt with a line before each hot block, and the evidence in its head.
std::string marked_isa_text(const Analysis& analysis, const model::Hot& hot);
/// stats.json with "hot", and with lines about it in the summary.
std::string marked_stats(const Analysis& analysis, const model::Hot& hot);
/// These lines: the statement, and one line per hot block.
std::string hot_summary(const model::Hot& hot);

}  // namespace cllab::inspect
