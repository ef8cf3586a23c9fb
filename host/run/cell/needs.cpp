#include "run/cell/needs.hpp"

namespace cllab::run {

using model::Implementation;

std::optional<std::string> missing_need(const model::Variant& variant, const model::Device& d) {
    for (const auto& need : variant.needs) {
        bool has = d.has(need);
        std::string what = "extension " + need;
        if (need == "image")
            has = d.images, what = "images";
        else if (need == "fp64")
            has = d.fp64, what = "double precision";
        else if (need == "fp16")
            has = d.fp16, what = "half precision";
        else if (need == "local")
            has = d.local_is_dedicated, what = "dedicated local memory";
        else if (need == "gpu")
            has = d.is_gpu(), what = "GPU";
        else if (need == "cpu")
            has = d.is_cpu(), what = "CPU";
        else if (need == "nvidia")
            has = d.implementation == Implementation::nvidia, what = "NVIDIA driver";
        else if (need == "pocl")
            has = d.implementation == Implementation::pocl, what = "PoCL driver";
        else if (need == "amd")
            has = d.implementation == Implementation::amd, what = "AMD driver";
        else if (need == "subgroups")
            has = d.has("cl_khr_subgroups") || d.has("cl_intel_subgroups"), what = "sub-groups";
        else if (need == "clock")
            has = d.implementation == Implementation::nvidia || d.implementation == Implementation::amd ||
                  d.has("cl_khr_kernel_clock"),
            what = "in-kernel clock";
        if (!has) return "the device has no " + what;
    }
    return std::nullopt;
}

}  // namespace cllab::run
