// Who can run cells, for what holds an explanation against more measurements.
#pragma once

#include "explain/amounts.hpp"
#include "model/device.hpp"
#include "model/experiment.hpp"
#include "model/plan.hpp"

namespace cllab::explain {

/// When a comparison has said enough.
struct Enough {
    double seconds = 0;   ///< it takes about as long at the most
    double coverage = 0;  ///< of its interval
    unsigned least = 0;   ///< arrangements
    double precise = 0;   ///< half-width of the interval
};

/// Of one device. What measures throws when it is interrupted, and where the device is lost.
class Measure {
public:
    virtual ~Measure() = default;
    virtual const Device& device() const = 0;
    /// Throws Unsupported and Error where there is no such cell here.
    virtual Setup set_up(const Cell& cell) const = 0;
    /// The text and the options that a cell of this set-up is built from.
    virtual StoredBuild built_from(const Cell& cell, const Setup& setup) const = 0;

    /// The cell alone, sampled for `seconds` at the most. `code`: also which of its code runs.
    virtual Record run(const Cell& cell, double seconds, bool code) = 0;
    /// A figure of a profile from the few cells that say it, each sampled for `seconds`, and behind it others that the
    /// same cells say; empty where they do not say it.
    virtual std::vector<Figure> peak(const std::string& id, double seconds) = 0;
    /// `changed` over `cell`, whose records are known, over arrangements. `what` is changed, for who waits.
    virtual Comparison compare(const Cell& changed, const Cell& cell, const Record& record, const std::string& what,
                               const Enough& enough) = 0;
};

}  // namespace cllab::explain
