// Which function of a kernel Intel's CPU runtime runs. Of a kernel with a barrier it compiles two: `k`, an item at a
// time, and `_ZGVeN16uu_k`, 16 items at a time (the vector function ABI's names).
#pragma once

#include <string>

#include "inspect/binary/elf.hpp"
#include "inspect/code/launch_size.hpp"

namespace cllab::inspect {

struct IntelCpuCode {
    std::string symbol, label;
};

/// The vector function when its width divides the local size's first dimension, else the plain one (2025.3.2, by
/// sampling). Where the driver chose the local size the label says that it is open.
IntelCpuCode choose_intel_cpu_code(const Elf& object, const std::string& kernel, const LaunchSize& launch);

}  // namespace cllab::inspect
