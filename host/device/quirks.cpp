#include "device/quirks.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "core/embedded.hpp"
#include "core/entries.hpp"
#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/text.hpp"

namespace cllab::device {

namespace {

using model::Device;
using model::Implementation;

bool is(const Device& d, Implementation implementation) { return d.implementation == implementation; }

/// Mesa's version, e.g. 2203, from "Mesa 22.3.6 …" or "22.3.6"; 0 if there is none.
int mesa_version(const Device& d) {
    for (const auto& source : {d.driver, d.platform_version, d.device_version}) {
        for (const auto& word : split(source, ' ')) {
            int major = 0, minor = 0;
            if (std::sscanf(word.c_str(), "%d.%d", &major, &minor) == 2 && major >= 20) return major * 100 + minor;
        }
    }
    return 0;
}

/// Devices to which a quirk applies, if it does not apply to all devices of its driver.
const std::map<std::string, bool (*)(const Device&)> applies_to{
    {"rusticl-stub-timer", [](const Device& d) { return mesa_version(d) < 2400; }},
    {"rusticl-group-32", [](const Device& d) { return mesa_version(d) < 2300; }},
    {"rusticl-queues", [](const Device& d) { return mesa_version(d) < 2300; }},
    {"rusticl-finish", [](const Device& d) { return mesa_version(d) < 2300; }},
    {"llvmpipe-loop-65535", [](const Device& d) { return d.name.find("llvmpipe") != std::string::npos; }},
    {"pocl-r16f-images", [](const Device& d) { return d.driver.starts_with("3."); }},
    {"pocl-inline-assembly", [](const Device& d) { return d.driver.starts_with("5."); }}};

std::vector<Quirk> read_quirks() {
    return mapped(text_entries(embedded("device/quirks.txt")), [](const TextEntry& entry) {
        const auto field = [&](const char* of) { return entry.field(of); };
        return Quirk{entry.name,     field("driver"),   field("versions"), field("fault"),
                     field("dealt"), field("handling"), field("seen"),     field("gone when")};
    });
}

}  // namespace

const std::vector<Quirk>& quirks() {
    static const auto all = read_quirks();
    return all;
}

std::vector<const Quirk*> quirks_of(const Device& device) {
    std::vector<const Quirk*> out;
    for (const auto& quirk : quirks()) {
        const auto* applies = find_in(applies_to, quirk.name);
        if (quirk.driver == model::name(device.implementation) && (!applies || (*applies)(device)))
            out.push_back(&quirk);
    }
    return out;
}

bool has_quirk(const Device& device, const std::string& name) {
    for (const auto* quirk : quirks_of(device)) {
        if (quirk->name == name) return true;
    }
    return false;
}

std::string extra_build_options(const Device& device) {
    return is(device, Implementation::nvidia) ? "-cl-nv-verbose" : "";
}

std::string option_of_users_kernels(const Device& device) {
    return is(device, Implementation::pocl) ? option_of_arguments : "";
}

namespace {
const std::string renamed = "_cl_";  // PoCL's prefix for renamed kernels
}

std::string written_name(const Device& device, const std::string& name) {
    return is(device, Implementation::pocl) && name.starts_with(renamed) ? name.substr(renamed.size()) : name;
}

std::string given_name(const Device& device, const std::string& written, const std::vector<std::string>& kernels) {
    const auto has = [&](const std::string& name) { return std::ranges::find(kernels, name) != kernels.end(); };
    return is(device, Implementation::pocl) && !has(written) && has(renamed + written) ? renamed + written : written;
}

std::string line_option(const Device& device) {
    // PoCL's cache may hold a build with -g that lacks what pocl-no-lines needs. The define makes it another build.
    return is(device, Implementation::pocl) ? "-g -DLAB_LINES" : is(device, Implementation::intel_cpu) ? "-g" : "";
}

std::vector<std::string> device_defines(const Device& device) {
    static constexpr Entry<model::DeviceType, const char*> types[] = {{model::DeviceType::cpu, "LAB_CPU"},
                                                                      {model::DeviceType::gpu, "LAB_GPU"}};
    static constexpr Entry<Implementation, const char*> implementations[] = {
        {Implementation::pocl, "LAB_POCL"},       {Implementation::nvidia, "LAB_NVIDIA"},
        {Implementation::amd, "LAB_AMD"},         {Implementation::intel_cpu, "LAB_INTEL"},
        {Implementation::intel_gpu, "LAB_INTEL"}, {Implementation::rusticl, "LAB_RUSTICL"},
        {Implementation::clover, "LAB_CLOVER"},   {Implementation::oclgrind, "LAB_OCLGRIND"}};
    std::vector<std::string> out{value_of(types, device.type, "LAB_ACCELERATOR")};
    if (const auto* name = value_of(implementations, device.implementation)) out.push_back(name);
    // Packed vector types need a clang front end and hardware that accepts any address. CPUs accept any address, and
    // all their OpenCL compilers are clang. Oclgrind simulates bytes, so it accepts these types, too, and checks the
    // same code.
    const bool clang_cpu =
        device.is_cpu() && (is(device, Implementation::pocl) || is(device, Implementation::intel_cpu));
    if (clang_cpu || is(device, Implementation::oclgrind)) out.push_back("LAB_UNALIGNED=1");
    if (device.compute_capability > 0) out.push_back("LAB_SM=" + std::to_string(device.compute_capability));
    return out;
}

}  // namespace cllab::device
