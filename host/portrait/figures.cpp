#include "portrait/figures.hpp"

#include "core/units.hpp"

namespace cllab::portrait {
namespace {

using model::Device;

std::string units_claim(const Device& d) { return std::to_string(d.compute_units) + " compute units"; }
std::string clock_claim(const Device& d) { return d.clock_mhz ? std::to_string(d.clock_mhz) + " MHz at most" : ""; }
std::string width_claim(const Device& d) {
    return d.preferred_multiple ? "preferred multiple " + std::to_string(d.preferred_multiple) : "";
}
std::string cache_claim(const Device& d) {
    std::string levels;
    for (const auto bytes : d.host_cache_levels) levels += (levels.empty() ? "" : ", ") + format_bytes(bytes);
    if (!levels.empty()) return levels;
    return d.reported_cache_bytes ? "cache " + format_bytes(d.reported_cache_bytes) : "";
}
std::string line_claim(const Device& d) { return "line " + format_bytes(d.cacheline_bytes); }
std::string group_claim(const Device& d) { return std::to_string(d.max_group_promised) + " work-items per group"; }
std::string local_claim(const Device& d) {
    return format_bytes(d.local_bytes) + (d.local_is_dedicated ? " of its own" : " of ordinary memory");
}

}  // namespace

const std::vector<Figure>& figures() {
    using enum PerCycle;
    static const std::vector<Figure> all{
        {"Compute", "compute units", "fma.units", no, units_claim, "units"},
        {"Compute", "clock", "fma.clock", no, clock_claim, "latency"},
        {"Compute", "SIMT width", "divergence.width.*", no, width_claim, "width"},
        {"Compute", "wave width", "dispatch.wave.width", no, width_claim, "2d"},
        {"Compute", "vectorised work-items", "divergence.vectorised", no, {}, "straight"},
        {"Compute", "parallelism for full rate", "fma.parallelism", no, {}, "ilp"},
        {"Compute", "resident work-items", "dispatch.resident", no, {}, "1d"},
        {"Arithmetic", "FMA latency", "fma.latency.*", cycles, {}, "latency"},
        {"Arithmetic", "FMA latency in cycles", "fma.cycles.*", no, {}, "clock"},
        {"Arithmetic", "peak rate", "fma.peak.*", rate_of_unit, {}, "peak"},
        {"Arithmetic", "rate of one group", "fma.group.rate", rate, {}, "ilp"},
        {"Arithmetic", "instruction rate", "issue.rate", rate_of_unit, {}, "mixed"},
        {"Arithmetic", "loop cost", "fma.loop.cost", cycles, {}, "loop"},
        {"Arithmetic", "rolled loop", "fma.loop.rolled", no, {}, "nested"},
        {"Arithmetic", "code knee", "fma.code.knee", no, {}, "code"},
        {"Arithmetic", "integer rate", "integer.rate.*", rate_of_unit, {}, "divide"},
        {"Arithmetic", "function latency", "math.latency.*", cycles, {}, "latency"},
        {"Arithmetic", "function rate", "math.rate.*", rate_of_unit, {}, "rate"},
        {"Registers", "registers a work-item", "registers.item.*", no, {}, "live"},
        {"Registers", "registers a group", "registers.group.*", no, group_claim, "live"},
        {"Registers", "live values", "registers.live.*", no, {}, "live"},
        {"Branches", "cost of ways", "divergence.ways.*", no, {}, "paths"},
        {"Branches", "branch or select", "divergence.against.*", no, {}, "branch"},
        {"Caches and memory", "capacity", "latency.l?.size", no, cache_claim, "global"},
        {"Caches and memory", "capacity", "latency.*.size", no, {}, "global"},
        {"Caches and memory", "local memory latency", "latency.local.latency", cycles, local_claim, "local"},
        {"Caches and memory", "latency", "latency.*.latency", cycles, {}, "global"},
        {"Caches and memory", "latency by an index", "latency.l1.indexed", cycles, {}, "indexed"},
        {"Caches and memory", "TLB", "latency.*tlb*.reach", no, {}, "global"},
        {"Caches and memory", "TLB", "latency.*tlb*.cost", cycles, {}, "global"},
        {"Caches and memory", "line", "cacheline.*", no, line_claim, "pair"},
        {"Caches and memory", "bandwidth of a level", "bandwidth.l?.*", rate_of_unit, {}, "reread"},
        {"Caches and memory", "bandwidth of a level", "bandwidth.memory.rate", rate, {}, "reread"},
        {"Caches and memory", "memory bandwidth", "bandwidth.streamed", no, {}, "copy"},
        {"Caches and memory", "memory bandwidth", "bandwidth.*", rate, {}, "copy"},
        {"Caches and memory", "scattered access", "scatter.*", no, {}, "load"},
        {"Caches and memory", "channels", "channels.*", no, {}, "load"},
        {"Local memory and atomics", "bandwidth", "banks.rate", rate_of_unit, {}, "rate"},
        {"Local memory and atomics", "banks", "banks.load.*", cycles, {}, "word"},
        {"Local memory and atomics", "banks", "banks.way.*", cycles, {}, "word"},
        {"Local memory and atomics", "banks", "banks.*", no, {}, "word"},
        {"Local memory and atomics", "barrier", "barrier.*", cycles, {}, "plain"},
        {"Local memory and atomics", "atomics", "atomic.latency", cycles, {}, "chain"},
        {"Local memory and atomics", "atomics", "atomic.*", rate, {}, "global"},
        {"Launching", "empty kernel", "launch.empty.*", no, {}, "item"},
        {"Launching", "second launch", "launch.second.*", no, {}, "item"},
        {"Launching", "launch to launch", "launch.next.*", no, {}, "item"},
        {"Launching", "launch to all units", "launch.spread", no, {}, "spread"},
        {"Launching", "time per group", "dispatch.group.time", cycles, {}, "1d"},
        {"Launching", "group and wave rate", "dispatch.*.rate", rate, {}, "1d"},
    };
    return all;
}

}  // namespace cllab::portrait
