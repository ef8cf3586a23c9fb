#include <array>
#include <cstdlib>

#include "core/text.hpp"
#include "inspect/isa/intel.hpp"
#include "inspect/isa/rules.hpp"
#include "inspect/tools/offline.hpp"

namespace cllab::inspect::xe {

const std::string missing_ocloc = "Intel GPU code needs ocloc: apt-get install intel-opencl-icd";

std::optional<std::filesystem::path> ocloc() { return find_tool({"ocloc"}); }

/// ocloc looks for libiga64.so, while Debian's package has only libiga64.so.1: a link of that name, for it to find.
ToolResult run_ocloc(const TempFolder& folder, const std::filesystem::path& tool, std::vector<std::string> arguments,
                     std::chrono::milliseconds limit) {
    std::error_code ignored;
    if (const auto library = first_file({"/usr/lib/x86_64-linux-gnu/libiga64.so.1", "/usr/lib64/libiga64.so.1",
                                         "/usr/lib/libiga64.so.1", "/usr/local/lib/libiga64.so.1"}))
        std::filesystem::create_symlink(*library, folder.path() / "libiga64.so", ignored);
    const char* path = std::getenv("LD_LIBRARY_PATH");
    const auto env = find_tool({"env"});
    arguments.insert(
        arguments.begin(),
        {"LD_LIBRARY_PATH=" + folder.path().string() + (path && *path ? ":" + std::string(path) : ""), tool.string()});
    ToolResult result = run_tool(env.value_or("/usr/bin/env"), arguments, limit);
    result.err = without_folder(result.out + result.err, folder.path());
    return result;
}

namespace {

constexpr std::array processors{"skl", "icllp", "tgllp", "dg1", "dg2", "pvc"};

std::vector<OfflineTarget> targets() {
    std::vector<OfflineTarget> out;
    for (const char* name : processors)
        out.push_back(ocloc() ? OfflineTarget{name, "machine code, registers", ""}
                              : OfflineTarget{name, "", missing_ocloc});
    return out;
}

void describe(model::Device& device, const std::string& target, const std::vector<std::string>&) {
    device.preferred_multiple = 16;
    device.fp16 = true;
    // Gen11, Gen12 and Xe-HPG have no double arithmetic.
    device.fp64 = is_named(target, "skl pvc");
    if (!device.fp64) device.extensions.erase("cl_khr_fp64");
    device.images = target != "pvc";
    device.extensions.insert("cl_khr_subgroups");
}

OfflineCode compile(const std::string& target, const std::string& source, const std::vector<std::string>& options,
                    std::chrono::milliseconds limit) {
    const TempFolder folder;
    const auto text = folder.write("kernel.cl", as_bytes(source));
    const auto result =
        run_ocloc(folder, ocloc().value_or("ocloc"),
                  {"compile", "-file", text.string(), "-device", target, "-options", join(options, " "), "-out_dir",
                   folder.path().string(), "-output", "program", "-output_no_suffix", "-exclude_ir"},
                  limit);
    OfflineCode out = made_by_tool("ocloc", result, folder, folder.path() / "program");
    out.options = {.target = target};
    return out;
}

}  // namespace

constexpr Addition additions[]{{"-cl-std=CL2.0", "-cl-std=CL2.0"}, {"-cl-std=CL3.0", "-cl-std=CL3.0"}};

const OfflineCompiler compiler{"Intel", "ocloc",  model::Implementation::intel_gpu, 64 << 10, targets, describe,
                               compile, additions};

}  // namespace cllab::inspect::xe
