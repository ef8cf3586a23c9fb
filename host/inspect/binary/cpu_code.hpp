// Which function of a kernel a CPU's driver ran, by the size of the launch. PoCL compiles a generic one at the build
// and one more for every local size it is asked to launch. The container also holds those that earlier runs left in
// PoCL's cache.
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

/// The size of a launch, for code that is made or chosen by it. dims == 0: not known, or left to the driver.
struct LaunchSize {
    model::Extent local{}, global{};
    std::int64_t local_arguments = 0;  ///< bytes of local memory that its __local arguments bring
};

struct PoclCode {
    std::string path;    ///< "/vadd/64-4-1-goffs0/vadd.so"; empty: the container has no code of this kernel
    ByteSpan content;    ///< the shared object
    std::string label;   ///< "work-group function specialised for 64x4x1 (…)", "generic work-group function"
    std::string symbol;  ///< entry point in the shared object
    std::vector<std::string> others;  ///< paths of the kernel's other shared objects
};

/// The shared object that a launch of this size runs. Where the driver chose the local size, it is one that divides the
/// global size, and one of `loaded` (files that PoCL has loaded into this process) where any of these is; what is still
/// open then is said in the label. The generic function when no specialised one fits. `ran`: the path of the one that
/// was seen running; nothing else is asked then.
PoclCode choose_pocl_code(const PoclContainer& container, const std::string& kernel, const LaunchSize& launch,
                          const std::vector<std::string>& loaded = {}, const std::string& ran = {});

/// The local size that PoCL compiled the shared object `path` of `kernel` for; nothing of the generic one.
std::optional<model::Extent> local_size_of(const std::string& path, const std::string& kernel);

/// Where the driver chose the groups of the only launch: how many there are, by the shared object that was seen
/// running.
void learn_groups(model::WorkInfo& work, const std::string& path, const model::Extent& global);

/// The container with those of `loaded` that PoCL compiled for this program after it had made the container: PoCL 3.1
/// makes it once, when the program's binary is first asked for, and compiles for another local size when that is first
/// launched.
PoclContainer with_loaded(PoclContainer container, const std::vector<std::string>& loaded);

/// Paths of the shared objects in this process.
std::vector<std::string> loaded_objects();

/// Of a kernel with a barrier Intel's CPU runtime compiles two functions: `k`, an item at a time, and `_ZGVeN16uu_k`,
/// 16 items at a time (the vector function ABI's names).
struct IntelCpuCode {
    std::string symbol, label;
};

/// The vector function when its width divides the local size's first dimension, else the plain one (2025.3.2, by
/// sampling). Where the driver chose the local size the label says that it is open.
IntelCpuCode choose_intel_cpu_code(const Elf& object, const std::string& kernel, const LaunchSize& launch);

}  // namespace cllab::inspect
