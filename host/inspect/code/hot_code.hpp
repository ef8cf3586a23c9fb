// Sampled addresses to basic blocks: which part of a listing ran.
//
// A driver holds several functions of one kernel (generic, specialised, of other widths), loads them from files of its
// own or writes them into anonymous memory, and says nowhere which one a launch runs. So the listing's machine code is
// looked for, byte by byte, in the memory in which samples lie. What is not found there did not run.
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
    std::shared_ptr<const std::vector<std::byte>> copy = nullptr;  ///< that `bytes` are; nothing: they are elsewhere
};

struct AddressSamples {
    std::vector<std::uint64_t> addresses;
    std::vector<CodeRegion> regions;  ///< at least those that hold a sample, by address
    std::string method;               ///< "perf_event_open, cpu-clock"
    std::string refused;              ///< why there are no samples, in one sentence; empty otherwise
};

/// Fewer samples in a kernel say nothing of its blocks.
inline constexpr unsigned least_samples = 100;

/// True for binaries of which the host's processor runs the machine code itself.
bool runs_on_the_host(Kind kind);

/// Of the shared objects that PoCL's container has of `entry`, that with the most samples; an empty path: none has any.
struct SampledObject {
    std::string path;
    unsigned samples = 0;
};
SampledObject sampled_pocl_code(ByteSpan binary, const std::string& entry, const AddressSamples& samples);

/// The share of each block and loop of the kernel's listing. Unknown, with the reason, where that cannot be said.
model::Hot hot_code(const Analysis& analysis, const AddressSamples& samples);

/// Code of which a profiler counted how often each instruction was executed.
struct ExecutedCode {
    std::string title, method;  ///< as in Hot::code and Hot::method
    const InstructionSet* isa = nullptr;
    std::string listing;  ///< in a form that `isa` reads
    /// Address in the listing, times that warps executed it.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> instructions;
    double by_items = 0;  ///< all instructions times the work-items that executed them; 0: not counted
};
/// The share that each block and loop has of the executed instructions.
model::Hot hot_code(const ExecutedCode& code);

/// isa.txt with a line in front of each hot block, and what they rest on in its head.
std::string marked_isa_text(const Analysis& analysis, const model::Hot& hot);
/// stats.json with "hot", and the summary's lines about it.
std::string marked_stats(const Analysis& analysis, const model::Hot& hot);
/// The same lines: the statement and one for each hot block.
std::string hot_summary(const model::Hot& hot);

}  // namespace cllab::inspect
