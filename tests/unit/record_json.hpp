// A record as JSON, and what is said of a line that is none.
#pragma once

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "report/records/json.hpp"
#include "unit/report_records.hpp"

namespace cllab::test::json {

using Json = nlohmann::ordered_json;

inline model::Record full() {
    auto r = test::moving(test::cell("pitch", "short8", 1.23e-3), 3e8, 4e12);
    r.point = {{"width", "8192"}, {"pitch", "20.2"}, {"local", "64x4"}, {"weights", "linear"}, {"odd", "007"}};
    r.metrics.push_back({"pixels", {5.4e10, "pixel/s", model::Better::higher}});
    r.samples.assign(20, 1.23e-3);
    r.samples.front() = 1.22e-3;
    r.samples.back() = 1.24e-3;
    r.aside = {2.5e-3};
    for (unsigned round = 0; round < 20; ++round) r.rounds.push_back(round < 5 ? round : round + 1);
    r.aside_rounds = {5};
    r.phases = {{Phase::build, 0.25}, {Phase::host_reference, 0.03}, {Phase::sampling, 0.4}};
    r.time->cache = "rotate";
    r.time->sets = 5;
    r.time->batch = 2;
    r.time->references = 3;
    r.time->reference_spread = 0.02;
    r.time->cores = 1.5;
    r.time->waited = 0.4;
    r.clocks = {.core_mhz_low = 1905, .core_mhz_high = 1980, .limits = {"power cap"}, .source = "NVML"};
    r.energy = {.joules = 0.35,
                .low = 0.34,
                .high = 0.36,
                .idle = 0.1,
                .watts = 520,
                .windows = 6,
                .updates = 5,
                .source = "NVML"};
    r.yardstick = {.bytes = 32 << 20, .bandwidth = 2.5e12, .cache = "rotate", .n = 20};
    r.device.last_level_bytes = 50 << 20;
    r.device.last_level_from = "reported by the driver";
    r.checked_by = "host code";
    r.warnings = {"throttled: the clock fell; run again when the machine is idle"};
    r.build = {.options = "-DLANES=8",
               .source = "embedded",
               .source_sha256 = std::string(64, 'a'),
               .log = "line 1\nline \"2\"\t",
               .seconds = 0.25,
               .cached = true};
    r.code.kind = "ptx";
    r.code.registers = 32;
    r.code.spills = 0;
    r.code.loop = {{"instructions", 44}, {"reuse", 3}};
    r.code.origin = {{"registers", "ptxas verbose log"}};
    r.hot =
        model::Hot{.evidence = "sampled",
                   .method = "perf_event_open, cpu-clock",
                   .samples = 430,
                   .in_kernel = 400,
                   .elsewhere = {{"libpocl.so.2", 30}},
                   .code = "work-group function",
                   .blocks = {{"k", 4448, 4480, 300, 0.75, 9, {{"vector_256", 4}}, {{"load_256", 2}}, {4400, 4448}}},
                   .loops = {{"k", 4448, 2, 0.75, 0.8, 9}}};
    r.dump = "dumps/NVIDIA-H200/pitch_short8";
    r.host = {.name = "box", .cpu = "EPYC", .os = "Debian 12", .threads = 16};
    r.utc = "2026-11-20T23:59:59Z";
    r.argv = {"cllab", "--device", "cpu"};
    r.run = {.id = "0123456789abcdef",
             .label = "before the change",
             .seed = 18446744073709551615u,
             .order = {.comparison = 2, .position = 1, .prepared = 7},
             .driver_caches = {{"POCL_CACHE_DIR", "/var/cache"}}};
    return r;
}

/// Every field has a value, but those of hot code that is unknown or counted by a profiler.
inline model::Record whole() {
    auto r = full();
    r.problem = "first";
    r.point.push_back({"seed", "1e+30"});
    r.metrics.push_back({"odd \"name\"\n", {-2, "x", model::Better::neither}});
    r.warnings.push_back("noise-floor: caf\xc3\xa9");
    r.limit = "memory";
    r.work = {.bytes = 1e9,
              .flops = 2e9,
              .assumed = true,
              .read = 5e8,
              .type = "float",
              .chain = "load",
              .atomics = 3,
              .footprint = 1e9,
              .shared = true,
              .launches = 1,
              .groups = 4,
              .group = 64,
              .links = 5,
              .barriers = 6,
              .local_bytes = 7,
              .local_atomics = 8,
              .local_addresses = 9,
              .instructions = 1e6};
    r.time->shared_memory = true;
    r.code.local_bytes = 1024;
    r.code.private_bytes = 16;
    r.code.code_bytes = 4096;
    r.hot->blocks.front().elements = {{"float", 8}};
    r.launch = std::string(64, 'b');
    r.above = model::Above{.level = 7, .pixels = 2, .first = {{1, 2, 9}, {3, 4, 200}}};
    r.counters = {{"dram__bytes_read.sum", "Mbyte", 3.5}};
    r.native = model::NativeInfo{2, "GCC 12.2.0", "AVX2"};
    r.build.elsewhere = {"tile.h"};
    r.code.fingerprint = "0123";
    return r;
}

inline std::string refusal(std::string_view line) {
    try {
        report::from_json(line);
    } catch (const Error& e) {
        BOOST_TEST((e.blame() == Blame::usage));
        return e.what();
    }
    return {};
}

/// The refusal of a good record after `change`.
template <typename F>
std::string refusal_after(F change) {
    Json j = Json::parse(report::to_json_line(full()));
    change(j);
    return refusal(j.dump());
}

}  // namespace cllab::test::json
