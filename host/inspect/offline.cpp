#include "inspect/offline.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/error.hpp"
#include "core/text.hpp"
#include "inspect/amd_metadata.hpp"
#include "inspect/comgr.hpp"
#include "inspect/tool.hpp"

namespace cllab::inspect {
namespace {

// Processors younger than the amd_comgr of Debian 12 are listed too, so that the list says what would enable them.
constexpr std::array young_amd{"gfx940",  "gfx942",  "gfx950",  "gfx1100", "gfx1101", "gfx1102",
                               "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201"};
constexpr std::array nvidia{60, 61, 70, 75, 80, 86, 87, 89, 90, 100, 120};

std::vector<std::string> words(const std::string& options) {
    std::vector<std::string> out;
    for (const auto& word : split(options, ' '))
        if (!trim(word).empty()) out.push_back(trim(word));
    return out;
}

std::string sass_missing() {
    if (!find_tool({"ptxas"}))
        return "SASS and registers need ptxas, and nvdisasm or cuobjdump: apt-get install nvidia-cuda-toolkit (Debian "
               "non-free), or NVIDIA's own CUDA toolkit";
    if (!find_tool({"nvdisasm", "cuobjdump"}))
        return "SASS needs nvdisasm or cuobjdump: apt-get install nvidia-cuda-toolkit (Debian non-free), or NVIDIA's "
               "own CUDA toolkit";
    return {};
}

OfflineTarget nvidia_target(int sm, const std::string& no_ptx, const std::string& no_sass) {
    const std::string name = "sm_" + std::to_string(sm);
    if (!no_ptx.empty()) return {name, "", no_ptx};
    if (sm < 75) return {name, "PTX", "SASS needs ptxas before CUDA 13, which dropped " + name};
    if (no_sass.empty()) return {name, "PTX, SASS, registers", ""};
    return {name, find_tool({"ptxas"}) ? "PTX, registers" : "PTX", no_sass};
}

/// The number of "sm_90"; 0 for anything else.
int sm_of(const std::string& target) {
    int sm = 0;
    if (!target.starts_with("sm_")) return 0;
    const auto parsed = std::from_chars(target.data() + 3, target.data() + target.size(), sm);
    return parsed.ptr == target.data() + target.size() ? sm : 0;
}

OfflineTarget find_target(const std::string& target) {
    const auto all = offline_targets();
    const auto found = std::find_if(all.begin(), all.end(), [&](const OfflineTarget& t) { return t.name == target; });
    if (found != all.end()) return *found;
    std::vector<std::string> names;
    for (const auto& t : all) names.push_back(t.name);
    const auto near = nearest(target, names);
    throw Error(Blame::usage, "there is no target '" + target + "'" +
                                  (near.empty() ? "" : "; near it: " + join(near, ", ")) +
                                  "; `cllab isa --targets` lists them");
}

/// SASS is assembled for the target even where the text was made for an older processor.
Analysis analyse_ptx(const PtxBuild& build, const std::string& target, const std::string& entry,
                     const model::Extent& local) {
    std::string ptx = build.ptx;
    if (build.made_for != target)
        if (const auto at = ptx.find(".target " + build.made_for);
            at != std::string::npos && sm_of(target) > sm_of(build.made_for))
            ptx =
                "// made for " + build.made_for + ", the newest this clang knows; assembled for " + target + "\n" + ptx;
    return analyse(as_bytes(ptx), entry, {}, {local},
                   {build.made_for == target ? std::string{} : target, build.made_by});
}

/// Work-items of a wave in code for this processor; 0 when nothing comes out.
unsigned amd_wave(const std::string& target, const std::string& options) {
    const auto code = comgr_compile("kernel void k(void) {}\n", words(options), target);
    const auto metadata = code.ok ? read_amd_metadata(as_bytes(code.bytes)) : std::nullopt;
    const auto facts = metadata ? amd_kernel_facts(*metadata, "k") : std::nullopt;
    return facts ? static_cast<unsigned>(facts->wavefront.value_or(0)) : 0;
}

}  // namespace

std::vector<OfflineTarget> offline_targets() {
    std::vector<OfflineTarget> targets;
    const std::string no_amd = comgr_missing();
    const auto processors = comgr_processors();
    for (const auto& name : processors) targets.push_back({name, "code object, GCN, metadata", ""});
    std::vector<std::string> others(young_amd.begin(), young_amd.end());
    if (!no_amd.empty())
        others.insert(others.begin(), {"gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx1010", "gfx1030"});
    for (const auto& name : others)
        if (std::find(processors.begin(), processors.end(), name) == processors.end())
            targets.push_back(
                {name, "",
                 no_amd.empty()
                     ? name +
                           " needs a newer amd_comgr than this one (ROCm 6 or later, and cllab built with its header)"
                     : no_amd});
    const std::string no_ptx = ptx_compiler_missing(), no_sass = sass_missing();
    for (const int sm : nvidia) targets.push_back(nvidia_target(sm, no_ptx, no_sass));
    return targets;
}

model::Device offline_device(const std::string& target, const std::string& options) {
    const bool available = find_target(target).available();
    const int sm = sm_of(target);
    model::Device device;
    device.selector = target;
    device.platform = "offline";
    device.name = target;
    device.vendor = sm ? "NVIDIA" : "AMD";
    device.driver = sm ? "clang NVPTX" : "amd_comgr";
    device.c_version = "OpenCL C 1.2";
    device.type = model::DeviceType::gpu;
    device.implementation = sm ? model::Implementation::nvidia : model::Implementation::amd;
    device.compute_capability = static_cast<unsigned>(sm);
    device.compute_units = 64;
    device.global_bytes = 16ull << 30;
    device.max_alloc_bytes = 4ull << 30;
    device.local_bytes = sm ? 48 << 10 : 64 << 10;
    device.constant_bytes = 64 << 10;
    device.last_level_bytes = 1 << 20;
    device.max_group = 256;
    device.max_group_promised = 1024;
    device.max_items = {device.max_group_promised, device.max_group_promised, 64};
    device.preferred_multiple = sm ? 32 : available ? amd_wave(target, options) : 0;
    device.images = device.fp64 = device.local_is_dedicated = true;
    device.fp16 = sm == 0;
    device.image2d_max_width = device.image2d_max_height = 16384;
    device.extensions = {"cl_khr_fp64", "cl_khr_byte_addressable_store", "cl_khr_global_int32_base_atomics",
                         "cl_khr_local_int32_base_atomics"};
    if (!sm) device.extensions.insert("cl_khr_subgroups");
    return device;
}

OfflineBuild compile_offline(const std::string& target, const std::string& source, const std::string& options,
                             const std::string& entry, const model::Extent& local) {
    const OfflineTarget known = find_target(target);
    if (!known.available())
        throw Error(Blame::environment, "no code can be made for " + target + " here: " + known.missing);
    OfflineBuild build;
    const int sm = sm_of(target);
    if (sm) {
        const PtxBuild made = compile_ptx(sm, source, words(options));
        build.ok = made.ok;
        build.log = made.log;
        build.binary = made.ptx;
        if (made.ok && recognise(as_bytes(made.ptx)) == Kind::ptx)
            build.analysis = analyse_ptx(made, target, entry, local);
    } else {
        ComgrOutput made = comgr_compile(source, words(options), target);
        build.ok = made.ok;
        build.log = std::move(made.log);
        build.binary = std::move(made.bytes);
        // Asked for bitcode, the compiler hands the linker a module of no processor, for which that one takes the
        // oldest.
        if (build.ok && amd_processor(as_bytes(build.binary)) == target)
            build.analysis = analyse(as_bytes(build.binary), entry, {}, {local}, {.own_make = true});
    }
    const auto* code = build.analysis.best();
    if (code && code->code.name == entry) return build;
    // The compiler may have been asked for something else, and done it.
    if (build.ok || build.log.empty())
        build.log += (build.log.empty() || build.log.ends_with('\n') ? "" : "\n") + ("no code of kernel '" + entry) +
                     "' came out; build options: " + options + "\n";
    build.ok = false;
    return build;
}

}  // namespace cllab::inspect
