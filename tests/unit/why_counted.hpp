// Counts of a launch, and a profile of a GPU, for the tests of bounds by what was counted.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "explain/advice.hpp"
#include "unit/why_cells.hpp"

namespace cllab::test::why {

using model::Counts;
using model::Operation;

/// A GPU of 100 units with levels of 128 KiB and 32 MiB.
inline model::Limits gpu() {
    model::Limits out;
    out.utc = "2026-01-01T00:00:00Z";
    out.units = 100;
    out.figures = {figure("bandwidth.l1.size", "L1 capacity", "byte", 128 * KiB, 0),
                   figure("bandwidth.l2.size", "L2 capacity", "byte", 32 * MiB, 0),
                   figure("bandwidth.copy", "copy bandwidth", "B/s", 4e12),
                   figure("bandwidth.read", "read bandwidth", "B/s", 3.8e12),
                   figure("bandwidth.write", "write bandwidth", "B/s", 4.2e12),
                   figure("bandwidth.triad", "triad bandwidth", "B/s", 4.1e12),
                   figure("bandwidth.l1.rate", "level 1 read bandwidth", "B/s", 32e12),
                   figure("bandwidth.l2.rate", "level 2 read bandwidth", "B/s", 8e12),
                   figure("scatter.store.rate", "store block rate", "block/s", 80e9),
                   figure("scatter.load.rate", "load block rate", "block/s", 160e9),
                   figure("banks.rate", "local memory bandwidth", "B/s", 25e12),
                   figure("fma.peak.float", "float peak", "FLOP/s", 64e12),
                   figure("fma.peak.double", "double peak", "FLOP/s", 32e12),
                   figure("fma.latency.float", "float latency", "s", 2e-9),
                   figure("math.rate.exp.medium", "exp rate", "call/s", 1e12),
                   figure("launch.empty.item", "empty kernel", "s", 5e-6),
                   figure("dispatch.group.rate", "group rate", "group/s", 1.6e9),
                   figure("latency.l1.size", "L1 capacity", "byte", 128 * KiB, 0),
                   figure("latency.l2.size", "L2 capacity", "byte", 32 * MiB, 0),
                   figure("latency.l1.latency", "L1 latency", "s", 16e-9),
                   figure("latency.l2.latency", "L2 latency", "s", 140e-9),
                   figure("latency.memory.latency", "memory latency", "s", 350e-9),
                   figure("latency.local.latency", "local memory latency", "s", 12e-9),
                   figure("atomic.global.one", "atomics, one address", "op/s", 1e9),
                   figure("atomic.global.32", "atomics, 32 addresses", "op/s", 30e9),
                   figure("atomic.global.4096", "atomics, 4096 addresses", "op/s", 100e9),
                   figure("atomic.global.many", "atomics, many addresses", "op/s", 400e9)};
    return out;
}

inline model::Amount each(double number) { return {number, number, number}; }

/// A launch of so many groups of 256, of which each reads and writes so many sectors of its own; four were counted.
inline Counts launch(double groups, double read = 32, double written = 32) {
    Counts out;
    out.groups = groups;
    out.group_items = 256;
    out.items = 256 * groups;
    out.counted_groups = std::min(4.0, groups);
    out.counted_items = 256 * out.counted_groups;
    for (double n = 1; n <= out.counted_groups; ++n)
        out.footprint.push_back({n, n * (read + written), n * read, n * written, n * (read + written) / 4});
    out.reads = {each(1.0 / 32), each(read / 256), each(read / 256), 4};
    out.writes = {each(1.0 / 32), each(written / 256), each(written / 256), 4};
    out.global = {each(1), each(1), each(4), each(4)};
    return out;
}

inline model::Record counted(double seconds, const Counts& counts, model::WorkInfo work = {}) {
    work.launches = 1;
    work.groups = counts.groups;
    work.group = counts.group_items;
    if (work.type.empty()) work.type = "float";
    auto out = record(seconds, std::move(work));
    out.device.type = "gpu";
    out.counts = std::make_shared<const Counts>(counts);
    return out;
}

/// On a CPU, in a second of which the samples lie in these blocks.
inline model::Record on_cpu(const Counts& counts, std::vector<model::HotBlock> blocks) {
    auto out = counted(1, counts);
    out.device.type = "cpu";
    out.hot = model::Hot{.evidence = model::Hot::sampled};
    out.hot->blocks = std::move(blocks);
    return out;
}

inline model::Explanation explained(const model::Record& r) { return explanation(r, gpu()); }

inline void compute(Counts& counts, Operation kind, double number, unsigned bits = 32,
                    const std::string& function = "") {
    counts.operations.push_back({kind, bits, function, each(number)});
}

}  // namespace cllab::test::why
