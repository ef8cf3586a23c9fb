// host/README.md, rule 10: what the caches hold when an operation begins, and how it is brought about.
//   hot     whatever the operation before left there: the same buffers again and again
//   cold    a sweep through other memory, four times the last level, before each timed operation
//   rotate  sets of the operation's own buffers, four times the last level together, used in turn
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/session.hpp"
#include "model/device.hpp"
#include "model/experiment.hpp"

namespace cllab::run {

enum class Cache { hot, cold, rotate };
const char* name(Cache cache);
/// Of one of the three names.
Cache cache_from(const std::string& text);

struct LastLevel {
    std::uint64_t bytes = 0;
    std::string from;  ///< "measured, profile of UTC", "reported by the driver", …
};

/// The size of the last-level cache: measured, else as known of the device, else a guess by its type.
LastLevel last_level(const model::Device& device, const std::optional<model::Limits>& limits);

/// Bytes that the cells of one comparison may have on the device together; what does not fit is measured in a second
/// batch.
double memory_budget(const model::Device& device);

/// Bytes that displace a last level of this size.
inline std::uint64_t displacing(std::uint64_t last_level_bytes) { return 4 * last_level_bytes; }

/// Sets of the setup's buffers that rotate through `displacing(last_level_bytes)`; 1 when one set is that large.
/// Throws model-level Unsupported when the operation cannot be brought into the state `cache`, when it needs too many
/// sets, or more than `room` bytes on the device. 1 for hot and cold.
std::size_t sets_for(Cache cache, const model::Device& device, const model::Setup& setup,
                     std::uint64_t last_level_bytes, double room);

/// Memory that is read through to displace what the caches hold.
class Flush {
public:
    /// Throws Unsupported when the device has no room for `bytes` or does not build the kernel.
    Flush(device::Session& session, std::uint64_t bytes);
    /// Reads all of it and waits.
    void run();

private:
    device::Session& session_;
    cl::Kernel kernel_;
    cl::Buffer memory_, sums_;
    std::size_t items_ = 1;
    cl::NDRange local_ = cl::NullRange;
};

}  // namespace cllab::run
