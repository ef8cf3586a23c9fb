// Which function of a kernel a CPU's driver ran, by the size of the launch. PoCL compiles a generic function at the
// build and another one for every local size that is launched. The container also has the functions that earlier runs
// left in PoCL's cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inspect/binary/binary.hpp"
#include "inspect/binary/bounded_bytes.hpp"
#include "model/axes.hpp"
#include "model/result.hpp"

namespace cllab::inspect {

/// The size of a launch, for code that depends on it. dims == 0: unknown, or left to the driver.
struct LaunchSize {
    model::Extent local{}, global{};
    std::int64_t local_arguments = 0;  ///< bytes of local memory in its __local arguments
};

struct PoclCode {
    std::string path;    ///< "/vadd/64-4-1-goffs0/vadd.so"; empty: the container has no code of this kernel
    ByteSpan content;    ///< the shared object
    std::string label;   ///< "work-group function specialised for 64x4x1 (…)", "generic work-group function"
    std::string symbol;  ///< entry point in the shared object
    std::vector<std::string> others;  ///< paths of the kernel's other shared objects
};

/// The shared object that a launch of this size runs; the generic function if no specialized one fits. If the driver
/// chose the local size, the object's size divides the global size. If any fitting objects are in `loaded` (files that
/// PoCL loaded into this process), one of these is taken. The label says if several objects are possible. `ran`: the
/// path of the object that was seen running, which then decides alone.
PoclCode choose_pocl_code(const PoclContainer& container, const std::string& kernel, const LaunchSize& launch,
                          const std::vector<std::string>& loaded = {}, const std::string& ran = {});

/// The local size that PoCL compiled the shared object `path` of `kernel` for; nullopt for the generic one.
std::optional<model::Extent> local_size_of(const std::string& path, const std::string& kernel);

/// Sets the number and size of the groups, from the shared object that was seen running. Only for a single launch whose
/// groups the driver chose.
void learn_groups(model::WorkInfo& work, const std::string& path, const model::Extent& global);

/// Adds the objects in `loaded` that PoCL compiled for this program after it made the container. PoCL 3.1 makes the
/// container once, when the program's binary is first requested. It compiles for another local size when that is first
/// launched.
PoclContainer with_loaded(PoclContainer container, const std::vector<std::string>& loaded);

/// Paths of the shared objects in this process.
std::vector<std::string> loaded_objects();

/// Intel's CPU runtime compiles two functions of a kernel with a barrier: `k`, one item at a time, and `_ZGVeN16uu_k`,
/// 16 items at a time (the vector function ABI's names).
struct IntelCpuCode {
    std::string symbol, label;
};

/// The vector function if its width divides the local size's first dimension, otherwise the plain one (2025.3.2, found
/// by sampling). If the driver chose the local size, the label says that the choice is unknown.
IntelCpuCode choose_intel_cpu_code(const Elf& object, const std::string& kernel, const LaunchSize& launch);

}  // namespace cllab::inspect
