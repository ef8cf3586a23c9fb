#include "device/quirks.hpp"

#include <algorithm>
#include <cstdio>

#include "core/table.hpp"
#include "core/text.hpp"

namespace cllab::device {
namespace {

using model::Device;
using model::Implementation;
using Dealt = Quirk::Dealt;

bool is(const Device& d, Implementation implementation) { return d.implementation == implementation; }

/// Mesa's version from "Mesa 22.3.6 …" or "22.3.6"; 0 when there is none, e.g. 2203.
int mesa_version(const Device& d) {
    for (const auto& source : {d.driver, d.platform_version, d.device_version}) {
        for (const auto& word : split(source, ' ')) {
            int major = 0, minor = 0;
            if (std::sscanf(word.c_str(), "%d.%d", &major, &minor) == 2 && major >= 20) return major * 100 + minor;
        }
    }
    return 0;
}

const std::vector<Quirk> all_quirks{
    {"rusticl-stub-timer", Implementation::rusticl, "Mesa 22.3; gone in later Mesa by its sources",
     "every event says QUEUED 0, SUBMIT 1, START 2, END 3, and the reported resolution is 0", Dealt::everywhere,
     "the timer audit fails it, so every row is timed by the host clock and says so (device/timer.cpp)",
     "Mesa 22.3.6 on llvmpipe, Debian 12", "cllab devices: the timer line says 'events trusted'",
     [](const Device& d) { return mesa_version(d) < 2400; }},
    {"rusticl-binary-abort", Implementation::rusticl, "Mesa 22.3",
     "a query of CL_PROGRAM_BINARY_SIZES before a build aborts the process; so does a damaged binary at creation",
     Dealt::everywhere,
     "binaries are asked only after a successful build (device/program.cpp), and never created from a file",
     "Mesa 22.3.6, Debian 12", "tests/device: binary_is_asked_only_after_a_build, on a newer Mesa without the guard"},
    {"rusticl-group-32", Implementation::rusticl, "Mesa 22.3",
     "CL_KERNEL_WORK_GROUP_SIZE is 32, even for a kernel with reqd_work_group_size 256; groups of the device's "
     "1024 run",
     Dealt::where_asked, "the kernel is not asked; the launch itself decides (run/cell/operation.cpp)",
     "Mesa 22.3.6 on llvmpipe, Debian 12, 2026-11-21", "CL_KERNEL_WORK_GROUP_SIZE of a plain kernel is above 32",
     [](const Device& d) { return mesa_version(d) < 2300; }},
    {"rusticl-queues", Implementation::rusticl, "Mesa 22.3",
     "two queues that work at the same time, on separate buffers, sometimes give wrong results or damage the "
     "process's memory",
     Dealt::where_asked, "an operation of several queues is unsupported (run/cell/operation.cpp)",
     "Mesa 22.3.6 on llvmpipe, Debian 12, 2026-11-22: transfer_queues was wrong_result in 6 of 12 runs and crashed "
     "in one; with one queue in 0 of 12",
     "without the refusal `cllab run transfer_queues --axis size=65540 --axis memory=pageable,pinned --verify` is "
     "ok twenty times",
     [](const Device& d) { return mesa_version(d) < 2300; }},
    {"llvmpipe-loop-65535", Implementation::rusticl, "Mesa 22.3 on llvmpipe",
     "a loop silently ends after 65535 iterations, whatever its condition", Dealt::nowhere,
     "nothing: a kernel with a longer loop is wrong_result, as it should be",
     "Mesa 22.3.6 on llvmpipe, Debian 12, 2026-11-21: atomic_global misses the additions of the last of 65536 trips",
     "cllab run atomic_global --verify is ok",
     [](const Device& d) { return d.name.find("llvmpipe") != std::string::npos; }},
    {"pocl-first-launch-compiles", Implementation::pocl, "all seen, 3.1 to 7.1",
     "a work-group function is compiled at the first launch of each local size, outside START..END", Dealt::everywhere,
     "verification launches come before warm-up, with the local size that is timed (run/cell/cell_state.cpp)",
     "PoCL 3.1: 31.8 ms before the first START, 25 to 40 us later", "SUBMIT..START of a first launch below 1 ms"},
    {"pocl-growing-binary", Implementation::pocl, "all seen, 3.1 to 7.1",
     "the binary grows with what has run: generic work-group function after the build, one more for each local size",
     Dealt::everywhere,
     "the dump is written after timing (run/cell/cell_finish.cpp), picks the function of the local size that ran, else "
     "says 'generic' (inspect/binary/cpu_code.cpp)",
     "PoCL 3.1: 64 002 bytes after the build, 91 221 after one launch",
     "cllab dump and cllab run give binaries of one size"},
    {"pocl-unknown-options", Implementation::pocl, "all seen",
     "an unknown build option, e.g. -cl-nv-verbose, fails the build with CL_INVALID_BUILD_OPTIONS (-43)", Dealt::here,
     "vendor options are added by implementation only: extra_build_options", "PoCL 3.1",
     "a build with -cl-nv-verbose succeeds"},
    {"oclgrind-timer", Implementation::oclgrind, "21.10",
     "stamps are gettimeofday in a double (256 ns steps) of a simulation, given before completion and without a "
     "profiling queue",
     Dealt::where_asked,
     "times are kept but every row is marked 'simulated': use it for races and bounds, never for speed",
     "Oclgrind 21.10, Debian 12", "no version is known to time real work"},
    {"oclgrind-sampler-properties", Implementation::oclgrind, "21.10",
     "clCreateSamplerWithProperties never returns: the loader's table of its functions leads back to the loader",
     Dealt::everywhere, "samplers are made by clCreateSampler, on every device (run/cell/operation_memory.cpp)",
     "Oclgrind 21.10, Debian 12, 2026-11-22: the backtrace of a hanging tests/kernels/soften.cl",
     "clCreateSamplerWithProperties returns on Oclgrind"},
    {"oclgrind-kernels", Implementation::oclgrind, "21.10",
     "clCreateKernelsInProgram crashes where a kernel calls a function that the simulator lacks; clCreateKernel gives "
     "CL_INVALID_KERNEL_NAME for it",
     Dealt::where_asked,
     "kernels are made one by one (device/program.cpp). The plugin adds functions of LLVM that clang makes of "
     "ordinary text (count/plugin/intrinsics.cpp)",
     "Oclgrind 21.10, Debian 12, 2026-11-28: a kernel with sub_group_reduce_add, or with abs by ?: and no plugin",
     "clCreateKernelsInProgram gives an error for such a program"},
    {"nvidia-trailing-nuls", Implementation::nvidia, "580.159.04; a 2023 driver too",
     "the PTX of CL_PROGRAM_BINARIES ends in two NULs, which ptxas refuses", Dealt::everywhere,
     "the dump cuts them: ptx_text (inspect/binary/binary.cpp)", "H200, driver 580.159.04",
     "tail -c 2 of a raw binary is not 00 00"},
    {"nvidia-log-lines", Implementation::nvidia, "580.159.04",
     "the build log ignores #line directives: it says <kernel> and the line of the whole text", Dealt::everywhere,
     "its places are looked up in the text: name_lines (run/kernel_source.cpp)", "H200, driver 580.159.04",
     "the log of a broken kernel names its .cl file"},
    {"nvidia-offset-32", Implementation::nvidia, "580.159.04",
     "a global offset reaches the kernel in %envreg3 and %envreg4, which PTX has in 32 bits; a launch whose last "
     "global ID needs more fails",
     Dealt::where_asked, "such a launch is unsupported (run/cell/operation.cpp)", "H200, driver 580.159.04",
     "without the refusal a kernel that stores get_global_id(0) from --offset 4Gi is ok"},
    {"nvidia-local-arrays", Implementation::nvidia, "580.159.04",
     "CL_DEVICE_LOCAL_MEM_SIZE is 48 KiB, which holds for arguments only: local arrays of a kernel may be as large as "
     "ptxas allows, 227 KiB on sm_90",
     Dealt::where_asked,
     "a kernel without local arguments that was built is launched, whatever local memory it has "
     "(run/kernel_source.cpp)",
     "H200, driver 580.159.04, 2026-11-27: a kernel with a local array of 223 KiB is right, with an argument of 48 KiB "
     "CL_OUT_OF_RESOURCES",
     "cllab run hgemm_async --axis stages=8 is refused by the driver"},
    {"nvidia-sm_90a", Implementation::nvidia, "580.159.04",
     "OpenCL C is compiled for sm_90, without the instructions of sm_90a that Hopper has besides, such as wgmma; PTX "
     "for sm_90a is taken as a binary",
     Dealt::everywhere,
     "such instructions stand as PTX comments in inline assembly; a program that has some is built again of its PTX "
     "without the comment signs (device/program.cpp)",
     "H100, driver 580.159.04, 2026-11-27: -cl-nv-arch sm_90a changes nothing, PTX with .target sm_90a runs",
     "a kernel with asm(\"wgmma.fence.sync.aligned;\") builds on an H100"},
    {"nvidia-timer-step", Implementation::nvidia, "580.159.04",
     "the reported resolution is 1000 ns while stamps step by 32 ns", Dealt::everywhere,
     "the audit measures the step, the gcd of the stamps (device/timer.cpp), and samples are sized by it "
     "(run/measure.cpp)",
     "H200, driver 580.159.04", "cllab devices: reported resolution equals the step"},
    {"nvidia-group-256", Implementation::nvidia, "580.159.04",
     "CL_KERNEL_WORK_GROUP_SIZE is 256 although the device allows 1024, unless the kernel has reqd_work_group_size",
     Dealt::everywhere,
     "larger groups are promised by reqd_work_group_size (lab.h, LAB_GROUP_X), when all launches of a cell share "
     "one (run/kernel_source.cpp)",
     "H200, driver 580.159.04, 2026-11-21", "CL_KERNEL_WORK_GROUP_SIZE of a plain kernel is 1024"},
    {"nvidia-log-from-cache", Implementation::nvidia, "driver family unknown",
     "the build log, and the registers in it, is empty when the driver's compile cache answers", Dealt::everywhere,
     "each process has a cache of its own, new and empty, unless the user set CUDA_CACHE_DISABLE "
     "(device/driver_settings.cpp)",
     "H200, driver 580.159.04, 2026-11-23", "registers shown on a second run with CUDA_CACHE_DISABLE=0"},
    {"pocl-renames", Implementation::pocl, "3.1",
     "a kernel or an argument that has the name of a built-in function, such as step, max or length, is called "
     "_cl_step: the headers rename",
     Dealt::where_asked,
     "the program is asked for its kernels (device/program.cpp); written_name takes the prefix off what it reports",
     "PoCL 3.1, 2026-11-22", "CL_PROGRAM_KERNEL_NAMES of `kernel void step(global float* max) { *max = 1; }` is step"},
    {"pocl-no-lines", Implementation::pocl, "3.1",
     "a build with -g has no source lines for the code that runs: PoCL generates that function, and the debug "
     "information names only the kernel in it",
     Dealt::everywhere, "that function is named before PoCL makes machine code of it (device/pocl_lines.cpp)",
     "PoCL 3.1, 2026-11-28: the bytes of 36 kernels are the same with and without",
     "readelf --debug-dump=decodedline of a program.so that was built with -g names lines of the kernel's loop"},
    {"pocl-compile-cache", Implementation::pocl, "all seen, 3.1 to 7.1",
     "equal text and options are answered from the folder POCL_CACHE_DIR, across processes, so a second build "
     "compiles nothing",
     Dealt::everywhere, "a build that took under 5 ms is `cached` in its record (run/cell/cell_state.cpp)",
     "PoCL 3.1 and 5.0", "a build leaves the folder POCL_CACHE_DIR empty"},
    {"pocl-threads-move", Implementation::pocl, "3.1 and 5.0",
     "its threads are not pinned, and Linux runs two of them on one core while another is idle: times double for a "
     "launch or for a second",
     Dealt::everywhere,
     "pin_threads (device/driver_settings.cpp) sets POCL_AFFINITY, unless the user has, others run, or the process may "
     "not use all cores",
     "PoCL 3.1 on two idle cores of an EPYC VM, 2026-11-23",
     "with POCL_AFFINITY=0 the times of `cllab run muladd_fma --device cpu` are those with 1"},
    {"pocl-inline-assembly", Implementation::pocl, "5.0 (LLVM 16); not 3.1",
     "inline assembly in a kernel trips an assertion of PoCL's compiler, at the first launch or query of the "
     "binary. In a function that is not inlined it works",
     Dealt::everywhere,
     "the assembly of issue is in such a function (cl/issue.cl). A profile of CPUs runs in child processes "
     "(app/commands/profile.cpp). Other kernels with assembly are launch_failed",
     "PoCL 5.0+debian on a Xeon of 16 cores, 2026-11-23", "a kernel of which all is `__asm__ volatile(\"nop\");` runs",
     [](const Device& d) { return d.driver.starts_with("5."); }},
    {"nvidia-compile-cache", Implementation::nvidia, "580.159.04",
     "unless CUDA_CACHE_DISABLE is 1, equal text and options are answered from the folder CUDA_CACHE_PATH, across "
     "processes",
     Dealt::everywhere,
     "use_own_cache (device/driver_settings.cpp) gives each process an empty folder, unless the user has set "
     "CUDA_CACHE_DISABLE",
     "H200, driver 580.159.04", "a build with CUDA_CACHE_DISABLE=0 leaves the folder CUDA_CACHE_PATH empty"},
    {"clover-binaries", Implementation::clover, "all", "the binary is Mesa's own serialised module without a magic",
     Dealt::everywhere, "recognised as a fall-through by an ELF inside (inspect/binary/binary.cpp)", "Mesa sources",
     "Clover was removed in Mesa 25"},
};

}  // namespace

const std::vector<Quirk>& quirks() { return all_quirks; }

std::vector<const Quirk*> quirks_of(const Device& device) {
    std::vector<const Quirk*> out;
    for (const auto& quirk : quirks()) {
        if (is(device, quirk.implementation) && (!quirk.applies || quirk.applies(device))) out.push_back(&quirk);
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
const std::string renamed = "_cl_";  // in front of what PoCL renames
}

std::string written_name(const Device& device, const std::string& name) {
    return is(device, Implementation::pocl) && name.starts_with(renamed) ? name.substr(renamed.size()) : name;
}

std::string given_name(const Device& device, const std::string& written, const std::vector<std::string>& kernels) {
    const auto has = [&](const std::string& name) { return std::ranges::find(kernels, name) != kernels.end(); };
    return is(device, Implementation::pocl) && !has(written) && has(renamed + written) ? renamed + written : written;
}

std::string line_option(const Device& device) {
    // PoCL's cache may hold a build with -g without what pocl-no-lines needs of it; with the define it is another one.
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
    // Packed vector types need a clang front end and hardware that takes any address: CPUs, whose OpenCL compilers all
    // are clang. Oclgrind simulates bytes, so it takes them too and checks the same code.
    const bool clang_cpu =
        device.is_cpu() && (is(device, Implementation::pocl) || is(device, Implementation::intel_cpu));
    if (clang_cpu || is(device, Implementation::oclgrind)) out.push_back("LAB_UNALIGNED=1");
    if (device.compute_capability > 0) out.push_back("LAB_SM=" + std::to_string(device.compute_capability));
    return out;
}

}  // namespace cllab::device
