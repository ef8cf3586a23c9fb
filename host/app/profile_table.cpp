// The profile as two tables: what is run, and where each finding stands on the page.
#include <fmt/format.h>

#include <algorithm>

#include "app/profile.hpp"
#include "core/units.hpp"

namespace cllab::app {
namespace {

using model::Device;

/// Work-groups around one, two and three full rounds of the units the driver reports, as fma's axis `load` wants them.
std::string loads_around_units(const Device& device) {
    const double n = device.compute_units;
    std::string out;
    double last = 0;
    for (const double groups :
         {1.0, n / 2, n - 1, n, n + 1, 1.5 * n, 2 * n - 1, 2 * n, 2 * n + 1, 2.5 * n, 3 * n, 3 * n + 1}) {
        const double whole = std::max(1.0, std::floor(groups));
        if (whole <= last) continue;
        last = whole;
        out += fmt::format("{}{:.6f}", out.empty() ? "" : ",", 100 * whole / n);
    }
    return out;
}

std::string units_claim(const Device& d) { return fmt::format("{} compute units", d.compute_units); }
std::string clock_claim(const Device& d) { return d.clock_mhz ? fmt::format("{} MHz at most", d.clock_mhz) : ""; }
std::string width_claim(const Device& d) {
    return d.preferred_multiple ? fmt::format("preferred multiple {}", d.preferred_multiple) : "";
}
std::string cache_claim(const Device& d) {
    return d.reported_cache_bytes ? "cache " + format_bytes(d.reported_cache_bytes) : "";
}
std::string line_claim(const Device& d) { return "line " + format_bytes(d.cacheline_bytes); }
std::string group_claim(const Device& d) { return fmt::format("{} work-items a group", d.max_group_promised); }
std::string local_claim(const Device& d) {
    return format_bytes(d.local_bytes) + (d.local_is_dedicated ? " of its own" : " of ordinary memory");
}

}  // namespace

std::vector<ProfileProbe> profile_probes(const Device& device) {
    const bool gpu = device.is_gpu();
    const std::string functions = "identity,divide,sqrt,exp,log,sin";
    std::vector<ProfileProbe> out{
        {"fma",
         {{"fma_clock"},
          {"fma_latency"},
          {"fma_units", {{"load", loads_around_units(device)}}, true},
          {"fma_peak", {{"ilp", gpu ? "auto" : "4,8"}}},
          {"fma_ilp"},
          {"fma_loop"},
          {"fma_nested"},
          {"fma_code", {{"code", gpu ? "256:16384:*2" : "256:4096:*2"}}}}},
        {"launch", {{"launch_item"}, {"launch_device"}}},
        {"bandwidth",
         {{"bandwidth_copy"},
          {"bandwidth_batch"},
          {"bandwidth_read"},
          {"bandwidth_write"},
          {"bandwidth_triad"},
          {"bandwidth_reread", {{"size", gpu ? "16Ki:512Mi:*2" : "16Ki:256Mi:*2"}}}},
         false},
        {"latency", {{"latency"}}, false},
        {"cacheline", {{"cacheline"}}, false},
        {"banks", {{"banks_word"}}, false},
        {"barrier", {{"barrier_plain"}, {"barrier_none"}}, false},
        {"atomic", {{"atomic"}}, false},
        {"dispatch", {{"dispatch"}}},
        {"divergence",
         {{"divergence_width", {{"fill", "full"}}},
          {"divergence_paths"},
          {"divergence_plain"},
          {"divergence_branch"},
          {"divergence_select"},
          {"divergence_straight"},
          {"divergence_looped"}}},
        {"registers", {{"registers_live"}, {"registers_live", {{"items", "1024"}, {"live", "32,40,48,56,64,96"}}}}},
        {"scatter", {{"scatter"}}, false},
        {"channels", {{"channels"}}, false},
        {"math",
         {{"math_latency", {{"function", functions}}},
          {"math_rate", {{"function", functions}}},
          {"math_latency_native", {{"function", functions}}},
          {"math_rate_native", {{"function", functions}}},
          {"math_latency_double", {{"function", functions}}},
          {"math_rate_double", {{"function", functions}}}}},
    };
    return out;
}

const std::vector<Figure>& profile_figures() {
    using enum PerCycle;
    static const std::vector<Figure> all{
        {"Compute", "compute units", "fma", "compute units", no, units_claim, "units"},
        {"Compute", "clock", "fma", "clock", no, clock_claim, "latency"},
        {"Compute", "SIMT width", "divergence", "SIMT width*", no, width_claim, "width"},
        {"Compute", "wave width", "dispatch", "wave width", no, width_claim, "2d"},
        {"Compute", "vectorised work-items", "divergence", "gain of vectorised work-items", no, {}, "straight"},
        {"Compute", "parallelism for full rate", "fma", "parallelism for full rate", no, {}, "ilp"},
        {"Compute", "resident work-items", "dispatch", "resident work-items*", no, {}, "1d"},

        {"Arithmetic", "FMA latency", "fma", "* latency", cycles, {}, "latency"},
        {"Arithmetic", "FMA latency in cycles", "fma", "* latency in cycles", no, {}, "clock"},
        {"Arithmetic", "peak rate", "fma", "* peak", rate_of_unit, {}, "peak"},
        {"Arithmetic", "rate of one group", "fma", "rate of one group", rate, {}, "ilp"},
        {"Arithmetic", "loop cost", "fma", "loop cost", cycles, {}, "loop"},
        {"Arithmetic", "rolled loop", "fma", "rolled loop penalty", no, {}, "nested"},
        {"Arithmetic", "code knee", "fma", "code knee", no, {}, "code"},
        {"Arithmetic", "function latency", "math", "* latency", cycles, {}, "latency"},
        {"Arithmetic", "function rate", "math", "* rate", rate_of_unit, {}, "rate"},

        {"Registers", "registers a work-item", "registers", "registers a work-item*", no, {}, "live"},
        {"Registers", "registers a group", "registers", "registers a group*", no, group_claim, "live"},
        {"Registers", "live values", "registers", "live values*", no, {}, "live"},

        {"Branches", "cost of ways", "divergence", "cost of*", no, {}, "paths"},
        {"Branches", "branch or select", "divergence", "* against no branch", no, {}, "branch"},

        {"Caches and memory", "capacity", "latency", "* capacity", no, cache_claim, "global"},
        {"Caches and memory", "local memory latency", "latency", "local memory latency", cycles, local_claim, "local"},
        {"Caches and memory", "latency", "latency", "* latency", cycles, {}, "global"},
        {"Caches and memory", "line", "cacheline", "*", no, line_claim, "pair"},
        {"Caches and memory", "bandwidth of a level", "bandwidth", "level*", rate_of_unit, {}, "reread"},
        {"Caches and memory", "memory bandwidth", "bandwidth", "*", rate, {}, "copy"},
        {"Caches and memory", "scattered access", "scatter", "*", no, {}, "load"},
        {"Caches and memory", "channels", "channels", "*", no, {}, "load"},

        {"Local memory and atomics", "banks", "banks", "* local load", cycles, {}, "word"},
        {"Local memory and atomics", "banks", "banks", "* time per way", cycles, {}, "word"},
        {"Local memory and atomics", "banks", "banks", "*", no, {}, "word"},
        {"Local memory and atomics", "barrier", "barrier", "*", cycles, {}, "plain"},
        {"Local memory and atomics", "atomics", "atomic", "atomic latency", cycles, {}, "chain"},
        {"Local memory and atomics", "atomics", "atomic", "*", rate, {}, "global"},

        {"Launching", "empty kernel", "launch", "empty kernel*", no, {}, "item"},
        {"Launching", "launch to launch", "launch", "launch to launch*", no, {}, "item"},
        {"Launching", "time per group", "dispatch", "time per group", cycles, {}, "1d"},
        {"Launching", "group and wave rate", "dispatch", "* rate", rate, {}, "1d"},
    };
    return all;
}

}  // namespace cllab::app
