// A profile and records for the tests of what limits a cell.
#pragma once

#include <boost/test/unit_test.hpp>

#include "explain/limiter.hpp"
#include "report/table/explanation.hpp"
#include "unit/cells.hpp"
#include "unit/report_records.hpp"

namespace cllab::test::why {

using model::Limit;
using test::says;

inline constexpr double KiB = 1 << 10, MiB = 1 << 20;

inline model::Figure figure(const std::string& id, const std::string& name, const std::string& unit, double value,
                            double spread = 0.01) {
    return {id, name, unit, value, value * (1 - spread), value * (1 + spread)};
}

/// A device of two units with caches of 32 KiB and 1 MiB.
inline model::Limits profile() {
    model::Limits out;
    out.utc = "2026-01-01T00:00:00Z";
    out.caches = {32 << 10, 1 << 20};
    out.units = 2;
    out.figures = {figure("bandwidth.streamed", "streamed", "byte", 64 * MiB, 0),
                   figure("bandwidth.copy", "copy bandwidth", "B/s", 10e9),
                   figure("bandwidth.read", "read bandwidth", "B/s", 12e9),
                   figure("bandwidth.write", "write bandwidth", "B/s", 8e9),
                   figure("bandwidth.triad", "triad bandwidth", "B/s", 11e9),
                   figure("bandwidth.l1.rate", "L1 read bandwidth", "B/s", 200e9),
                   figure("bandwidth.l2.rate", "L2 read bandwidth", "B/s", 50e9),
                   figure("fma.peak.float", "float peak", "FLOP/s", 100e9),
                   figure("fma.peak.double", "double peak", "FLOP/s", 50e9),
                   figure("launch.empty.item", "empty kernel", "s", 1e-6),
                   figure("launch.next.item", "launch to launch", "s", 2e-6),
                   figure("latency.l1.latency", "L1 latency", "s", 2e-9),
                   figure("latency.memory.latency", "memory latency", "s", 100e-9),
                   figure("fma.latency.float", "float latency", "s", 1.3e-9),
                   figure("atomic.global.one", "atomics, one address", "op/s", 10e6),
                   figure("atomic.global.many", "atomics, many addresses", "op/s", 100e6)};
    return out;
}

inline model::Limits with(model::Limits limits, const std::vector<model::Figure>& more) {
    limits.figures.insert(limits.figures.end(), more.begin(), more.end());
    return limits;
}

/// A record that took so long and declares this.
inline model::Record record(double seconds, model::WorkInfo work) {
    auto out = test::cell("any", "cell", seconds, test::pocl());
    out.work = std::move(work);
    return out;
}

/// Reads and writes as much of 100 MiB.
inline model::WorkInfo copying() {
    return {.bytes = 100 * MiB, .read = 50 * MiB, .type = "float", .footprint = 100 * MiB, .launches = 1};
}

inline model::Explanation explanation(const model::Record& r, const model::Limits& limits = profile()) {
    return explain::explain(r, limits);
}

inline model::Bound bound(const model::Explanation& e, const std::string& id) {
    const auto found = std::ranges::find(e.bounds, id, &model::Bound::id);
    BOOST_REQUIRE_MESSAGE(found != e.bounds.end(), "no bound " + id);
    return *found;
}
inline model::Bound bound(const model::Record& r, const std::string& id, const model::Limits& limits = profile()) {
    return bound(explanation(r, limits), id);
}

/// Its identifier; empty where none is named.
inline std::string limiter(const model::Explanation& e) { return e.limiter() ? e.limiter()->id : ""; }

inline std::string why_not(const model::Explanation& e, const std::string& what) {
    for (const auto& [name, why] : e.unbounded)
        if (name == what) return why;
    return "";
}
inline std::string why_not(const model::Record& r, const std::string& what, const model::Limits& limits = profile()) {
    return why_not(explanation(r, limits), what);
}

inline std::string said(const model::Record& r, const model::Limits& limits = profile()) {
    return report::limit_sentence(explanation(r, limits), *r.time);
}

/// Bounds of these parts of a time of one second, each known to 1 %.
inline Limit judged(const std::vector<double>& parts, double spread = 0.01) {
    std::vector<model::Bound> bounds;
    for (const double part : parts)
        bounds.push_back({"b", "b", "b", part, part * (1 - spread), part * (1 + spread), "", ""});
    return explain::limit_of(bounds, model::Timing{.median = 1, .low = 0.99, .high = 1.01, .n = 20});
}

const auto is_close = boost::test_tools::tolerance(1e-9);

}  // namespace cllab::test::why
