// Sizes from the facts of a device: how much work fills it, and what it cannot hold.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "core/units.hpp"
#include "model/params.hpp"

namespace cllab::model::lib {

/// A simulator takes about a microsecond per instruction and gets the least work that shows anything.
inline bool is_simulator(const Device& device) { return device.implementation == Implementation::oclgrind; }

/// One of three values: for a simulator, for a GPU, which must be filled, and for everything else.
template <typename T>
T by_scale(const Device& device, T simulated, T cpu, T gpu) {
    return is_simulator(device) ? simulated : device.is_gpu() ? gpu : cpu;
}

inline std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
inline std::size_t divide_up(std::size_t n, std::size_t step) { return (n + step - 1) / step; }

/// Work-items that issue together: what the driver says, else the vendor's usual number; 1 on a CPU, where a work-item
/// is one iteration of a loop.
inline std::uint32_t wave_width(const Device& device) {
    if (!device.is_gpu()) return 1;
    if (device.preferred_multiple > 0) return device.preferred_multiple;
    return device.implementation == Implementation::amd ? 64 : 32;
}

/// Bytes that no cache holds. A CPU's last level is known; a GPU's is an upper guess that is already twice too large.
inline std::uint64_t beyond_caches(const Device& device) { return (device.is_gpu() ? 2 : 4) * device.last_level_bytes; }

/// The largest one-dimensional work-group of at most `wanted` work-items.
inline std::size_t group_of(const Device& device, std::size_t wanted) {
    return std::max<std::size_t>(1, std::min({wanted, device.max_group, device.max_items[0]}));
}

/// 256 work-items, or the most that the device takes, as a power of two.
inline std::uint32_t even_group(const Device& device) {
    return static_cast<std::uint32_t>(std::bit_floor(std::min<std::size_t>(256, device.max_group)));
}

/// Throws Unsupported when a work-group of `items` work-items is too large.
inline void require_group(std::size_t items, std::size_t most) {
    if (items > most)
        throw Unsupported("a work-group of " + std::to_string(items) + " work-items is too large; at most " +
                          std::to_string(most) + " are possible here");
}
/// The same for a set-up whose launches share one local size: the executor then makes its kernels promise it.
inline void require_group(const Device& device, std::size_t items) { require_group(items, device.max_group_promised); }

/// The one-dimensional work-group of axis `local`: what the point asks for, else at most `automatic` work-items.
inline std::size_t group(Params& params, const Device& device, std::size_t automatic) {
    const auto items = params.count("local", group_of(device, automatic));
    require_group(items, std::min(device.max_group_promised, device.max_items[0]));
    return items;
}

/// Throws Unsupported when the device cannot allocate one buffer of `bytes`.
inline void require_room(const Device& device, const std::string& buffer, std::uint64_t bytes) {
    if (device.max_alloc_bytes > 0 && bytes > device.max_alloc_bytes)
        throw Unsupported("buffer '" + buffer + "' needs " + format_bytes(bytes) + "; the device allocates at most " +
                          format_bytes(device.max_alloc_bytes) + " at once");
}

/// `wanted` bytes, or as much of it as one buffer can have, in whole blocks of 4 KiB.
inline std::uint64_t whole_pages(const Device& device, std::uint64_t wanted) {
    return (device.max_alloc_bytes > 0 ? std::min(wanted, device.max_alloc_bytes) : wanted) / 4096 * 4096;
}

/// a * b * …; throws Unsupported naming `what` when it passes `most`, the limit of the kernels' indices.
inline std::uint64_t product(const std::string& what, std::initializer_list<std::uint64_t> factors,
                             std::uint64_t most) {
    unsigned __int128 out = 1;
    std::string shown;
    for (const auto factor : factors) {
        out *= factor;
        shown += (shown.empty() ? "" : " x ") + std::to_string(factor);
        if (out > most)
            throw Unsupported(what + " is " + shown + " or more; the kernels take at most " + std::to_string(most));
    }
    return static_cast<std::uint64_t>(out);
}

/// True when an address of local memory has four bytes; elsewhere it is a whole pointer.
inline bool short_local_address(const Device& device) {
    return device.implementation == Implementation::nvidia || device.implementation == Implementation::amd;
}

/// Two trip counts for the kernel's argument `trips`. A simulator runs some million instructions per second and gets 1
/// and 2.
inline Slope slope(const Device& device, std::int64_t low, std::int64_t high, double steps_per_trip) {
    if (is_simulator(device)) return {"trips", 1, 2, steps_per_trip};
    return {"trips", static_cast<std::int32_t>(low), static_cast<std::int32_t>(high), steps_per_trip};
}

}  // namespace cllab::model::lib
