// AMD processors: amd_comgr compiles for those that it knows, clang for the others. libclc (15 to 19) reads the global
// offset where older code objects have it. clang's code is therefore for reading and counting registers, not for
// launching.
#include <algorithm>
#include <regex>

#include "core/kernel_text.hpp"
#include "inspect/binary/amd_metadata.hpp"
#include "inspect/tools/clang.hpp"
#include "inspect/tools/comgr.hpp"
#include "inspect/tools/kept_code.hpp"
#include "inspect/tools/offline.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect::gcn {
namespace {

const std::string library = "amdgcn--amdhsa";

// Listed even if no compiler here supports them, so that the list says what would.
constexpr const char* of_comgr[]{"gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx1010", "gfx1030"};
constexpr const char* younger[]{"gfx940",  "gfx942",  "gfx950",  "gfx1100", "gfx1101", "gfx1102", "gfx1103",
                                "gfx1150", "gfx1151", "gfx1200", "gfx1201", "gfx1250", "gfx1251"};

bool is_of_comgr(const std::string& target) {
    const auto listed = comgr_processors();
    return std::ranges::find(listed, target) != listed.end() || !comgr_nearest(target).empty();
}

/// The linker of the same LLVM, otherwise the newest: another version can link the objects too.
std::optional<std::filesystem::path> linker(const Clang& clang) {
    return clang.has("ld.lld") ? clang.folder / "ld.lld" : find_tool(llvm_names("ld.lld"));
}

OfflineCode compile_and_link(const Clang& clang, const std::string& target, const std::string& source,
                             const std::vector<std::string>& options, std::chrono::milliseconds limit) {
    auto code =
        clang.compile(source, {"--target=amdgcn-amd-amdhsa", "-mcpu=" + target, "-c"}, options, {clang.library}, limit);
    const auto lld = linker(clang);
    if (!code.ok || !lld) return code;
    const TempFolder folder;
    const auto out = folder.path() / "program";
    const auto object = folder.write("kernel.o", as_bytes(code.binary));
    auto linked = made_by_tool(
        *lld, run_tool(*lld, {"-shared", "--no-undefined", object.string(), "-o", out.string()}, limit), folder, out);
    linked.log = code.log + linked.log;
    return linked;
}

/// Why clang cannot compile for the processor here, and what could; empty if it can. clang 19 also reads older
/// libraries. Mesa's OpenCL needs Debian's libclc-15, which cannot be installed together with another libclc.
std::string clang_missing(const std::string& target, const ChosenCompiler& by = {}) {
    // LLVM 20 added gfx950, 21 gfx1250 and 22 gfx1251. Versions before 19 were not tried for the others.
    const int needed = target == "gfx950" ? 20 : target == "gfx1250" ? 21 : target == "gfx1251" ? 22 : 19;
    const Clang clang(library, by);
    if (!by.clang.empty() && is_of_comgr(target) && clang.is_here()) return {};
    if (clang.is_here() && clang.version >= needed && linker(clang) && objdump_missing(target).empty()) return {};
    const std::string packages =
        clang.library.empty() ? "clang-19 lld-19 llvm-19 libclc-15" : "clang-19 lld-19 llvm-19";
    return fmt::format("{} needs clang {} or later with lld, llvm-objdump and libclc: {}", target, needed,
                       needed == 19
                           ? "apt-get install " + packages
                           : "Debian 12 has clang 19 at most; `pip install --target DIR ziglang==0.17.0` has 22, "
                             "for --compiler DIR");
}

std::vector<OfflineTarget> targets() {
    std::vector<OfflineTarget> targets;
    const auto add = [&](const std::string& name, const std::string& missing) {
        if (std::ranges::find(targets, name, &OfflineTarget::name) != targets.end()) return;
        const auto no_listing = missing.empty() ? objdump_missing(name) : "";
        targets.push_back({name,
                           !missing.empty()     ? ""
                           : no_listing.empty() ? "code object, GCN, metadata"
                                                : "code object, metadata",
                           missing + no_listing});
    };
    for (const auto& name : comgr_processors()) add(name, "");
    for (const auto& name : of_comgr) add(name, clang_missing(name).empty() ? "" : comgr_missing());
    for (const auto& name : younger) add(name, is_of_comgr(name) ? "" : clang_missing(name));
    return targets;
}

OfflineCode compile(const std::string& target, const std::string& source, const std::vector<std::string>& options,
                    std::chrono::milliseconds limit, const ChosenCompiler& by) {
    OfflineCode code;
    if (by.clang.empty() && is_of_comgr(target)) {
        ComgrOutput made = comgr_compile(source, options, target, limit);
        code = {made.ok, std::move(made.log), std::move(made.bytes), {.own_make = true}, {}, made.timed_out};
        static const std::regex printing("\\bprintf\\s*\\(");
        const auto text = without_comments(source);
        if (std::regex_search(text, printing))
            code.notes.emplace_back(
                "calls of printf are not in the code: amd_comgr leaves them and what only they need out");
        if (const auto nearest = comgr_nearest(target); !nearest.empty())
            code.notes.push_back("built-in functions are those of the device libraries for " + nearest +
                                 ", the nearest processor that this amd_comgr lists");
    } else {
        const Clang clang(library, by);
        code = compile_and_link(clang, target, source, options, limit);
        code.options = {.made_by = clang.name() + ", not AMD's compiler"};
    }
    // If asked for bitcode, the compiler gives the linker a module without a processor; the linker then takes the
    // oldest.
    code.ok = code.ok && amd_processor(as_bytes(code.binary)) == target;
    return code;
}

std::string version(const std::string& target, const ChosenCompiler& by) {
    return by.clang.empty() && is_of_comgr(target) ? comgr_version() : Clang(library, by).name_with_version();
}

std::vector<std::filesystem::path> tools(const std::string&, const ChosenCompiler& by) {
    const Clang clang(library, by);
    auto out = clang.files();
    const auto clangs = llvm_beside(comgr_file());
    out.insert(out.end(), clangs.begin(), clangs.end());
    out.push_back(linker(clang).value_or(""));
    return out;
}

void describe(model::Device& device, const std::string& target, const std::vector<std::string>& options,
              const ChosenCompiler& by) {
    device.fp16 = true;
    // Work-items per wave in code for this processor; 0 if it does not compile.
    const std::string text = "kernel void k(void) {}\n";
    const auto code = kept_code({"wave", target, by.name}, tools(target, by), text, options,
                                [&] { return compile(target, text, options, std::chrono::seconds(60), by); });
    const auto metadata = code.ok ? read_amd_metadata(as_bytes(code.binary)) : std::nullopt;
    const auto* kernel = metadata ? amd_kernel(*metadata, "k") : nullptr;
    device.preferred_multiple = kernel ? static_cast<unsigned>(amd_number(*kernel, ".wavefront_size").value_or(0)) : 0;
    if (by.clang.empty() && is_of_comgr(target))
        device.extensions.insert("cl_khr_subgroups");
    else  // libclc has no sub-group functions
        device.driver = Clang(library, by).name();
}

}  // namespace

constexpr Addition additions[]{{"-cl-std=CL2.0", "-cl-std=CL2.0"}};

extern const OfflineCompiler compiler;
const OfflineCompiler compiler{
    "AMD", "amd_comgr", model::Implementation::amd, 64 << 10, targets, describe, compile, version, tools, additions};

}  // namespace cllab::inspect::gcn
