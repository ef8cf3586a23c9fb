#include "run/cache_state.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/embedded.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "device/program.hpp"
#include "model/work.hpp"
#include "run/cell/operation.hpp"

namespace cllab::run {
namespace {

// Enough for sets of 1 MiB and a last level of 1 GiB. Each set costs a kernel, guarded buffers and a verification,
// about 0.3 ms.
constexpr double most_sets = 4096;

constexpr Entry<Cache, const char*> cache_names[] = {
    {Cache::hot, "hot"}, {Cache::cold, "cold"}, {Cache::rotate, "rotate"}};

}  // namespace

const char* name(Cache cache) { return value_of(cache_names, cache); }

Cache cache_from(const std::string& text) { return key_of(cache_names, text).value(); }

std::size_t sets_for(Cache cache, const model::Device& device, const model::Setup& setup,
                     std::uint64_t last_level_bytes, double room) {
    if (cache == Cache::hot) return 1;
    if (device.implementation == model::Implementation::oclgrind)
        throw Unsupported("a simulator has no caches; use --cache hot");
    if (setup.slope)
        throw Unsupported("'", name(cache),
                          "' does not apply: a difference of two trip counts cancels the first pass; use --cache hot");
    if (cache == Cache::cold) return 1;
    if (setup.observe)
        throw Unsupported("'rotate' would spread one accumulating buffer over several copies; use --cache hot or cold");
    std::set<std::string> launched;
    for (const auto* launch : model::launches_of(setup))
        if (!launched.insert(launch->entry).second)
            throw Unsupported(
                "'rotate' would apply only to the first of several launches of one kernel, because the others reuse "
                "its data; use --cache hot or cold");
    const double bytes = data_bytes(setup);
    if (bytes <= 0) throw Unsupported("'rotate' needs buffers, and this kernel has none; use --cache hot or cold");
    const double wanted = static_cast<double>(displacing(last_level_bytes));
    const double sets = std::max(1.0, std::ceil(wanted / bytes));
    const auto sized = [](double n) { return format_bytes(static_cast<std::uint64_t>(n)); };
    if (sets > most_sets)
        throw Unsupported("'rotate' needs " + std::to_string(static_cast<std::uint64_t>(sets)) + " copies of " +
                          sized(bytes) + ", " + sized(wanted) + " in all; at most " +
                          std::to_string(static_cast<unsigned>(most_sets)) + " are possible, so use larger buffers");
    const double guarded = device_bytes(setup);
    if (sets > 1 && sets * guarded > room)
        throw Unsupported("'rotate' needs " + std::to_string(static_cast<std::uint64_t>(sets)) + " copies of " +
                          sized(guarded) + " with their guards, " + sized(sets * guarded) +
                          " in all; the device has room for " + sized(room));
    return static_cast<std::size_t>(sets);
}

Flush::Flush(device::Session& session, std::uint64_t bytes) : session_(session) {
    const auto& facts = session.facts();
    const auto room = facts.max_alloc_bytes > 0 ? facts.max_alloc_bytes : bytes;
    if (bytes > room)
        throw Unsupported("'cold' needs a cache-flushing buffer of ", format_bytes(bytes),
                          "; the device allocates at most ", format_bytes(room), " at once");
    const auto built = device::build(session, std::string(embedded("run/flush.cl")), "");
    if (!built.ok)
        throw Unsupported("'cold': cllab's kernel lab_flush does not build (", device::error_name(built.code), ")");
    items_ = facts.is_cpu() ? facts.compute_units : std::size_t{256} * 8 * facts.compute_units;
    // One work-item per work-group on a CPU. Otherwise a driver may put all work-items into one group, on one core.
    if (facts.is_cpu()) local_ = cl::NDRange(1);
    const cl_ulong count = (bytes / 16 + items_ - 1) / items_ * items_;
    memory_ = cl::Buffer(session.context(), CL_MEM_READ_WRITE, count * 16);
    sums_ = cl::Buffer(session.context(), CL_MEM_READ_WRITE, items_ * 16);
    cl::Kernel fill(built.program, "lab_flush_fill");
    fill.setArg(0, memory_);
    fill.setArg(1, count);
    session.queue().enqueueNDRangeKernel(fill, cl::NullRange, cl::NDRange(items_), local_);
    kernel_ = cl::Kernel(built.program, "lab_flush");
    kernel_.setArg(0, memory_);
    kernel_.setArg(1, sums_);
    kernel_.setArg(2, count);
    // CPU cores have caches of their own, and large CPUs several last levels. So every unit reads everything, each from
    // another start. A GPU's work-items read everything once, with adjacent accesses.
    const bool whole = facts.is_cpu();
    kernel_.setArg(3, cl_ulong{whole ? count / items_ : 1});
    kernel_.setArg(4, cl_ulong{whole ? 1 : items_});
    kernel_.setArg(5, cl_ulong{whole ? count : count / items_});
    run();
}

void Flush::run() {
    const auto& queue = session_.queue();
    queue.enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(items_), local_);
    queue.finish();
}

double memory_budget(const model::Device& device) {
    // On a CPU, the device's buffers, the host's copies and the references share one memory.
    return static_cast<double>(device.global_bytes) * (device.is_cpu() ? 0.35 : 0.7);
}

LastLevel last_level(const model::Device& device, const std::optional<model::Limits>& limits) {
    if (limits && limits->last_level_bytes > 0)
        return {limits->last_level_bytes, "measured, profile of " + limits->utc};
    if (device.host_cache_bytes > device.reported_cache_bytes && device.host_cache_bytes == device.last_level_bytes)
        return {device.last_level_bytes, "reported by the operating system"};
    if (device.reported_cache_bytes == 0 || device.last_level_bytes == 0)
        return {std::max<std::uint64_t>(device.last_level_bytes, (device.is_cpu() ? 64ull : 256ull) << 20),
                "a guess, the driver reports none"};
    if (device.reported_cache_bytes == device.last_level_bytes)
        return {device.last_level_bytes, "reported by the driver"};
    return {device.last_level_bytes, "an upper bound for devices of this kind"};
}

}  // namespace cllab::run
