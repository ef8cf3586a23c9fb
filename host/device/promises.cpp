#include "device/promises.hpp"

#include <algorithm>

#include "device/program.hpp"
#include "device/session.hpp"

namespace cllab::device {
namespace {

struct Trial {
    const char *extension, *expression;  ///< expression: of an uint, from an uint `x`
};

/// PoCL 7.2 and Intel's CPU runtime 2026.2 define cl_khr_kernel_clock in language versions without its functions.
constexpr Trial trials[]{{"cl_khr_kernel_clock", "(uint)clock_read_sub_group()"},
                         {"cl_khr_subgroups", "sub_group_reduce_add(x) + get_sub_group_local_id()"},
                         {"cl_khr_subgroup_shuffle", "sub_group_shuffle(x, 0)"},
                         {"cl_intel_subgroups", "intel_sub_group_shuffle(x, 0)"},
                         {"cl_khr_fp16", "(uint)fma((half)x, (half)x, (half)1)"},
                         {"cl_khr_fp64", "(uint)fma((double)x, (double)x, 1.0)"}};

/// The language of the device's own version: some extensions have no functions in an older one.
std::string language(const model::Device& device) {
    if (device.device_version.starts_with("OpenCL 3")) return "-cl-std=CL3.0";
    return device.device_version.starts_with("OpenCL 2") ? "-cl-std=CL2.0" : "-cl-std=CL1.2";
}

}  // namespace

bool keeps_promise(Session& session, const std::string& extension) {
    const auto trial = std::ranges::find(trials, extension, &Trial::extension);
    if (trial == std::end(trials)) return true;
    return session.remembered("promise " + extension, [&] {
        const auto text = "#pragma OPENCL EXTENSION " + extension +
                          " : enable\n"
                          "kernel void trial(global uint* out) {\n"
                          "    const uint x = get_global_id(0);\n"
                          "    out[x] = " +
                          trial->expression + ";\n}\n";
        return build(session, text, language(session.facts())).ok;
    });
}

}  // namespace cllab::device
