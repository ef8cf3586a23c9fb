// Code for devices that are not here: the same kernel text with the same options, compiled for another
// processor by the libraries and compilers of this machine.
#pragma once

#include <string>
#include <vector>

#include "inspect/code/analysis.hpp"
#include "model/device.hpp"

namespace cllab::inspect {

struct OfflineTarget {
    std::string name;     ///< "gfx900", "sm_90"
    std::string gives;    ///< "code object, GCN, metadata", "PTX", "PTX, SASS, registers": what this machine can make
    std::string missing;  ///< a sentence: what would enable it, or the rest of it; empty when nothing is missing
    bool available() const { return !gives.empty(); }
};

/// Every target the lab knows, vendor by vendor, each with what this machine can make of it.
std::vector<OfflineTarget> offline_targets();

/// A device such as the target, for Experiment::setup and the LAB_* defines. Its memory and caches are small on
/// purpose: nothing runs on it, and inputs are sized after them. `options` are those of the build to come: an RDNA
/// processor's wave is as wide as the compiler makes it. Throws Error(usage) for a target that is not in the
/// list, with the nearest names.
model::Device offline_device(const std::string& target, const std::string& options = {});

struct OfflineBuild {
    bool ok = false;
    std::string log;     ///< the compiler's own words
    std::string binary;  ///< code object or PTX
    Analysis analysis;   ///< empty unless ok
};

/// Compiles one kernel. `options` are those of clBuildProgram; vendor switches that only a driver knows (-cl-nv-…) are
/// left out. A source that does not compile is an answer (ok == false, log). Throws Error(usage) as offline_device and
/// Error(environment) when this machine cannot make code for the target, with what would enable it.
OfflineBuild compile_offline(const std::string& target, const std::string& source, const std::string& options,
                             const std::string& entry, const LaunchSize& launch);

}  // namespace cllab::inspect
