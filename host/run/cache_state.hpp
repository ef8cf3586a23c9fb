// host/README.md, rule 10: what the caches hold when an operation begins, and how that state is reached.
//   hot     what the previous operation on the same buffers left
//   cold    before each timed operation, other memory of four times the last level is read
//   rotate  operations use several sets of the buffers in turn, together four times the last level
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
/// `text`: one of the three names.
Cache cache_from(const std::string& text);

struct LastLevel {
    std::uint64_t bytes = 0;
    std::string from;  ///< "measured, profile of UTC", "reported by the driver", …
};

/// The size of the last-level cache: measured, else known for the device, else a guess by the device type.
LastLevel last_level(const model::Device& device, const std::optional<model::Limits>& limits);

/// Bytes that the cells of one comparison may use on the device together. The cells that do not fit are measured in
/// another batch.
double memory_budget(const model::Device& device);

/// Bytes to read in order to displace a last-level cache of this size.
inline std::uint64_t displacing(std::uint64_t last_level_bytes) { return 4 * last_level_bytes; }

/// Number of sets of the setup's buffers that total `displacing(last_level_bytes)`; 1 if one set is that large, and for
/// hot and cold. Throws model-level Unsupported if the state `cache` is impossible for the operation, or needs too many
/// sets or more than `room` bytes on the device.
std::size_t sets_for(Cache cache, const model::Device& device, const model::Setup& setup,
                     std::uint64_t last_level_bytes, double room);

/// Memory that is read to displace the contents of the caches.
class Flush {
public:
    /// Throws Unsupported if the device cannot allocate `bytes` or does not build the kernel.
    Flush(device::Session& session, std::uint64_t bytes);
    /// Reads all of the memory and waits.
    void run();

private:
    device::Session& session_;
    cl::Kernel kernel_;
    cl::Buffer memory_, sums_;
    std::size_t items_ = 1;
    cl::NDRange local_ = cl::NullRange;
};

}  // namespace cllab::run
