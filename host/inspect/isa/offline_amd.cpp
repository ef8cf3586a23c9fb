// AMD processors by amd_comgr.
#include <algorithm>

#include "inspect/binary/amd_metadata.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/comgr.hpp"
#include "inspect/tools/offline.hpp"

namespace cllab::inspect::gcn {
namespace {

std::vector<OfflineTarget> targets() {
    std::vector<OfflineTarget> targets;
    const std::string no_amd = comgr_missing();
    const auto processors = comgr_processors();
    for (const auto& name : processors) targets.push_back({name, "code object, GCN, metadata", ""});
    // Processors younger than the amd_comgr of Debian 12 are listed too, so that the list says what would enable them.
    std::vector<std::string> others{"gfx940",  "gfx942",  "gfx950",  "gfx1100", "gfx1101", "gfx1102",
                                    "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201"};
    if (!no_amd.empty())
        others.insert(others.begin(), {"gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx1010", "gfx1030"});
    for (const auto& name : others)
        if (!comgr_nearest(name).empty())
            targets.push_back({name, "code object, GCN, metadata", ""});
        else if (std::ranges::find(processors, name) == processors.end())
            targets.push_back(
                {name, "",
                 no_amd.empty()
                     ? name +
                           " needs a newer amd_comgr than this one (ROCm 6 or later, and cllab built with its header)"
                     : no_amd});
    return targets;
}

/// Work-items of a wave in code for this processor; 0 when nothing comes out.
unsigned wave(const std::string& target, const std::vector<std::string>& options) {
    const auto code = comgr_compile("kernel void k(void) {}\n", options, target, std::chrono::seconds(60));
    const auto metadata = code.ok ? read_amd_metadata(as_bytes(code.bytes)) : std::nullopt;
    const auto* kernel = metadata ? amd_kernel(*metadata, "k") : nullptr;
    return kernel ? static_cast<unsigned>(amd_number(*kernel, ".wavefront_size").value_or(0)) : 0;
}

void describe(model::Device& device, const std::string& target, const std::vector<std::string>& options) {
    device.preferred_multiple = comgr_missing().empty() ? wave(target, options) : 0;
    device.fp16 = true;
    device.extensions.insert("cl_khr_subgroups");
}

OfflineCode compile(const std::string& target, const std::string& source, const std::vector<std::string>& options,
                    std::chrono::milliseconds limit) {
    ComgrOutput made = comgr_compile(source, options, target, limit);
    // Asked for bitcode, the compiler hands the linker a module of no processor, for which that one takes the oldest.
    const bool ok = made.ok && amd_processor(as_bytes(made.bytes)) == target;
    OfflineCode code{ok, std::move(made.log), std::move(made.bytes), {.own_make = true}, {}, made.timed_out};
    if (const auto nearest = comgr_nearest(target); ok && !nearest.empty())
        code.notes.push_back("built-in functions are those of the device libraries for " + nearest +
                             ", the nearest processor that this amd_comgr lists");
    return code;
}

}  // namespace

constexpr Addition additions[]{{"-cl-std=CL2.0", "-cl-std=CL2.0"}};

extern const OfflineCompiler compiler;
const OfflineCompiler compiler{"AMD",   "amd_comgr", model::Implementation::amd, 64 << 10, targets, describe,
                               compile, additions};

}  // namespace cllab::inspect::gcn
