// How much memory the machine has.
#pragma once

#include <cstdint>
#include <unistd.h>

namespace cllab {

inline std::uint64_t host_memory_bytes() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace cllab
