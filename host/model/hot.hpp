// Which code of a kernel its time goes to, by evidence and never by the shape of the code (host/README.md, rule 18).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cllab::model {

/// A basic block that was seen running. Addresses are those of isa.txt; where executions were counted, those of the
/// listing that was counted.
struct HotBlock {
    /// In `memory` on x86: loads whose result is the index of the next such load.
    static constexpr const char* index_chain = "index_chain";

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
};

/// A loop with at least one block that was seen running.
struct HotLoop {
    std::string function;
    std::uint64_t header = 0;
    unsigned depth = 1;         ///< 1 is outermost
    double own = 0, share = 0;  ///< of the samples, or of the executed instructions: in it but in no inner loop; with
                                ///< its inner loops
    unsigned instructions = 0;  ///< of its own body, without that of inner loops
};

/// Cycles of one pass through a block by a model of a processor, with everything that it loads in the first level.
struct CoreModel {
    std::string processor;  ///< "icelake-server"
    double ports = 0;       ///< at least, by the ports and the width of issue: whatever waits for whatever
    double cycles = 0;      ///< of one pass after the other, with its dependencies
};

/// llvm-mca's predictions for the block with the most samples.
struct CoreModels {
    std::string by;  ///< "llvm-mca-15"; empty where there is none
    std::vector<CoreModel> processors;
    std::string reason;  ///< why there are none; empty otherwise
};

struct Hot {
    static constexpr const char *sampled = "sampled", *counted = "counted", *accounted = "accounted",
                                *unknown = "unknown";
    std::string evidence = unknown;
    std::string reason;  ///< why it is unknown, in one sentence; empty otherwise
    /// "perf_event_open, cpu-clock", "ncu, inst_executed"; empty where nothing was sampled or counted.
    std::string method;
    unsigned samples = 0;        ///< of all threads of the process while the kernel ran again and again
    unsigned in_kernel = 0;      ///< of these, in the functions of the listing
    std::uint64_t executed = 0;  ///< instructions that warps executed in one launch; 0 where nobody counted
    std::map<std::string, unsigned> elsewhere;  ///< the others by where: "libpocl.so.2.9.0", "generated code"
    std::string code;                           ///< title of the listing: which of a driver's functions ran
    std::vector<HotBlock> blocks;               ///< largest share first; those with less than 0.5 % are left out
    std::vector<HotLoop> loops;                 ///< of these blocks, by their own share, most first
    std::optional<CoreModels> models;           ///< nothing: nobody asked

    bool known() const { return evidence != unknown; }
    const HotBlock* hottest() const { return known() && !blocks.empty() ? &blocks.front() : nullptr; }
};

/// `hot`, of which `reason` says why its code is not known.
Hot unknown(Hot hot, std::string reason);
/// "sampled, 412 samples in the kernel of 430", "counted, 329383936 instructions of warps", "unknown: …": what the
/// shares rest on.
std::string statement(const Hot& hot);
/// The total that shares refer to: "the samples", "the executed instructions".
const char* what_is_shared(const Hot& hot);

/// Blocks of one function with the same innermost loop, or in none. They live as long as the Hot they are of.
struct HotRegion {
    std::vector<const HotBlock*> blocks;  ///< by address
    double share = 0;                     ///< of what_is_shared
    const char* of = "the samples";       ///< what_is_shared
    unsigned instructions = 0;            ///< of its blocks together
    bool is_loop() const { return !blocks.front()->loops.empty(); }
    std::uint64_t header() const { return blocks.front()->loops.back(); }  ///< of a loop
};

/// All of them, largest share first; none where the hot code is unknown.
std::vector<HotRegion> hot_regions(const Hot& hot);
/// "loop at 0x1a68, 93.1 % of the samples", "straight-line code from 0x1160, …"
std::string place(const HotRegion& region);

}  // namespace cllab::model
