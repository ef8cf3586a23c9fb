// bandwidth: the copy that every other family is measured against.
#include <algorithm>

#include "core/random.hpp"
#include "model/experiment.hpp"

namespace cllab::model {
namespace {

/// Bytes of one buffer when the axis says auto: source and destination together are four times the last-level cache,
/// within what the device can allocate.
std::uint64_t automatic_bytes(const Device& device) {
    const std::uint64_t wanted = std::max<std::uint64_t>(2 * device.last_level_bytes, 16ull << 20);
    const std::uint64_t room = device.max_alloc_bytes > 0 ? device.max_alloc_bytes : wanted;
    return std::min(wanted, room) / 4096 * 4096;
}

Setup setup(const Request& request) {
    const auto& point = request.point;
    const std::uint64_t bytes =
        point.is_auto("size") ? automatic_bytes(request.device) : static_cast<std::uint64_t>(point.integer("size"));
    if (bytes % 16 != 0)
        throw Error(Blame::usage, "axis 'size' is " + std::to_string(bytes) + " byte; the copy moves multiples of 16 byte");
    if (request.device.max_alloc_bytes > 0 && bytes > request.device.max_alloc_bytes)
        throw Error(Blame::usage, "axis 'size' is " + std::to_string(bytes) + " byte; device '" + request.device.name +
                                      "' allocates at most " + std::to_string(request.device.max_alloc_bytes) + " byte at once");
    Bytes data(bytes);
    fill_random(data, request.seed);
    const auto src = std::make_shared<const Bytes>(std::move(data));
    const std::uint64_t count = bytes / 16;

    Setup out;
    out.args = {Input{"src", src}, Output{"dst", bytes}, value("count", count)};
    if (request.device.is_cpu()) {
        out.global = Extent(request.device.compute_units * 4ull);
        out.local = Extent(1);
    } else {
        const std::size_t local = std::min<std::size_t>(256, request.device.max_group);
        // Four accesses an item keep enough bytes in flight; fewer items when the buffer is small.
        const std::size_t items = std::max<std::size_t>(1, (count + 3) / 4);
        out.global = Extent((items + local - 1) / local * local);
        out.local = Extent(local);
    }
    out.work.bytes = 2.0 * static_cast<double>(bytes);
    out.resolved = {{"size", std::to_string(bytes)}};
    out.check = [src](const Buffers& buffers) -> std::optional<std::string> {
        const auto dst = buffers.as<std::byte>("dst");
        if (std::memcmp(dst.data(), src->data(), src->size()) == 0) return std::nullopt;
        const auto at = std::mismatch(dst.begin(), dst.end(), src->begin()).first - dst.begin();
        return "dst[" + std::to_string(at) + "] is " + std::to_string(std::to_integer<int>(dst[at])) + ", expected " +
               std::to_string(std::to_integer<int>((*src)[at]));
    };
    return out;
}

}  // namespace

Experiment describe_bandwidth() {
    Experiment out;
    out.family = "bandwidth";
    out.question = "How many bytes a second does memory move when a kernel does nothing else?";
    out.axes = {{"size", "byte", "size of each of the two buffers; auto is twice the last-level cache", Axis::Kind::integer,
                 {"auto"}, {}, 16, 1e15, true}};
    out.variants = {{"copy", "Reads every 16-byte word of one buffer once and writes it to another; both directions count."}};
    out.setup = setup;
    return out;
}

}  // namespace cllab::model
