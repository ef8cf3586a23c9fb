// Sampled addresses to basic blocks: which part of a listing ran.
//
// A driver holds several functions of one kernel (generic, specialised, of other widths), loads them from files of its own
// or writes them into anonymous memory, and says nowhere which one a launch runs. So the listing's machine code is looked
// for, byte by byte, in the memory in which samples lie. What is not found there did not run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inspect/analysis.hpp"
#include "inspect/bytes.hpp"
#include "model/hot.hpp"

namespace cllab::inspect {

/// A piece of executable memory.
struct CodeRegion {
    std::uint64_t address = 0;
    ByteSpan bytes;
    std::string path;  ///< of the mapped file; empty for generated code
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

/// isa.txt with a line in front of each hot block, and what they rest on in its head.
std::string marked_isa_text(const Analysis& analysis, const model::Hot& hot);
/// stats.json with "hot", and the summary's lines about it.
std::string marked_stats(const Analysis& analysis, const model::Hot& hot);
/// The same lines: the statement and one for each hot block.
std::string hot_summary(const model::Hot& hot);

}  // namespace cllab::inspect
