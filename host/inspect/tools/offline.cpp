#include "inspect/tools/offline.hpp"

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/text.hpp"
#include "inspect/isa/list.hpp"

namespace cllab::inspect {
namespace {

std::vector<std::string> words(const std::string& options) {
    std::vector<std::string> out;
    for (const auto& word : split(options, ' '))
        if (!trim(word).empty()) out.push_back(trim(word));
    return out;
}

struct Found {
    const InstructionSet& set;
    OfflineTarget target;
};

Found find_target(const std::string& name) {
    std::vector<std::string> names;
    for (const auto* set : isa::all()) {
        if (!set->offline) continue;
        for (auto& target : set->offline->targets()) {
            if (target.name == name) return {*set, std::move(target)};
            names.push_back(std::move(target.name));
        }
    }
    throw Error(Blame::usage,
                "there is no target '" + name + "'; " + did_you_mean(name, names, "`cllab isa --targets` lists them"));
}

}  // namespace

std::vector<OfflineTarget> offline_targets() {
    std::vector<OfflineTarget> targets;
    for (const auto* set : isa::all())
        if (set->offline)
            for (auto& target : set->offline->targets()) targets.push_back(std::move(target));
    return targets;
}

model::Device offline_device(const std::string& target, const std::string& options) {
    const Found found = find_target(target);
    model::Device device;
    device.selector = target;
    device.platform = "offline";
    device.name = target;
    device.c_version = "OpenCL C 1.2";
    device.type = model::DeviceType::gpu;
    device.compute_units = 64;
    device.global_bytes = 16ull << 30;
    device.max_alloc_bytes = 4ull << 30;
    device.constant_bytes = 64 << 10;
    device.last_level_bytes = 1 << 20;
    device.max_group = 256;
    device.max_group_promised = 1024;
    device.max_items = {device.max_group_promised, device.max_group_promised, 64};
    device.images = device.fp64 = device.local_is_dedicated = true;
    device.image2d_max_width = device.image2d_max_height = 16384;
    device.extensions = {"cl_khr_fp64", "cl_khr_byte_addressable_store", "cl_khr_global_int32_base_atomics",
                         "cl_khr_local_int32_base_atomics"};
    const auto& compiler = *found.set.offline;
    device.vendor = compiler.vendor;
    device.driver = compiler.driver;
    device.implementation = compiler.implementation;
    device.local_bytes = compiler.local_bytes;
    compiler.describe(device, target, words(options));
    return device;
}

OfflineBuild compile_offline(const std::string& target, const std::string& source, const std::string& options,
                             const std::string& entry, const LaunchSize& launch) {
    const Found found = find_target(target);
    if (!found.target.available())
        throw Error(Blame::environment, "no code can be made for " + target + " here: " + found.target.missing);
    OfflineCode made = found.set.offline->compile(target, source, words(options));
    OfflineBuild build{made.ok, std::move(made.log), std::move(made.binary), {}};
    if (build.ok && isa::of(recognise(as_bytes(build.binary))) == &found.set)
        build.analysis = analyse(as_bytes(build.binary), entry, build.log, launch, made.options);
    if (build.analysis.best() != nullptr) return build;
    // The compiler may have been asked for something else, and done it.
    if (build.ok || build.log.empty())
        build.log += (build.log.empty() || build.log.ends_with('\n') ? "" : "\n") + ("no code of kernel '" + entry) +
                     "' came out; build options: " + options + "\n";
    build.ok = false;
    return build;
}

}  // namespace cllab::inspect
