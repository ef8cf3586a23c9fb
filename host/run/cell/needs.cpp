// What a variant must have of its device.
#include <algorithm>

#include "core/units.hpp"
#include "device/quirks.hpp"
#include "run/kernel_source.hpp"

namespace cllab::run {
namespace {

using model::Device;
using model::Implementation;

struct Need {
    const char *name, *what;  ///< what: the device has no …
    bool (*met)(const Device&);
};
constexpr Need needs[]{
    {"image", "images", [](const Device& d) { return d.images; }},
    {"fp64", "double precision", [](const Device& d) { return d.fp64; }},
    {"fp16", "half precision", [](const Device& d) { return d.fp16; }},
    {"local", "dedicated local memory", [](const Device& d) { return d.local_is_dedicated; }},
    {"gpu", "GPU", [](const Device& d) { return d.is_gpu(); }},
    {"cpu", "CPU", [](const Device& d) { return d.is_cpu(); }},
    {"nvidia", "NVIDIA driver", [](const Device& d) { return d.implementation == Implementation::nvidia; }},
    {"pocl", "PoCL driver", [](const Device& d) { return d.implementation == Implementation::pocl; }},
    {"amd", "AMD driver", [](const Device& d) { return d.implementation == Implementation::amd; }},
    {"subgroups", "sub-groups",
     [](const Device& d) { return d.has("cl_khr_subgroups") || d.has("cl_intel_subgroups"); }},
    {"clock", "in-kernel clock", [](const Device& d) {
         return d.implementation == Implementation::nvidia || d.implementation == Implementation::amd ||
                d.has("cl_khr_kernel_clock");
     }}};

}  // namespace

std::optional<std::string> missing_need(const model::Variant& variant, const Device& device) {
    for (const auto& name : variant.needs) {
        const auto need = std::ranges::find(needs, name, &Need::name);
        if (need == std::end(needs) ? device.has(name) : need->met(device)) continue;
        return "the device has no " + (need == std::end(needs) ? "extension " + name : need->what);
    }
    return std::nullopt;
}

void require_local_memory(const Device& device, std::uint64_t of_kernel, std::uint64_t of_arguments) {
    // What is too much for a kernel's own arrays the build has refused there.
    if (of_arguments == 0 && device::has_quirk(device, "nvidia-local-arrays")) return;
    if (device.local_bytes > 0 && of_kernel + of_arguments > device.local_bytes)
        throw Unsupported("it needs " + format_bytes(of_kernel + of_arguments) + " of local memory; the device has " +
                          format_bytes(device.local_bytes));
}

}  // namespace cllab::run
