#include "inspect/isa/nvidia.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <regex>

#include "core/embedded.hpp"
#include "core/grouped.hpp"
#include "core/kernel_text.hpp"
#include "core/text.hpp"
#include "device/cuda.hpp"
#include "inspect/binary/nvidia.hpp"
#include "inspect/code/analysis.hpp"
#include "inspect/tools/clang.hpp"
#include "inspect/tools/offline.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect::nvidia {
namespace {

struct Limits {
    int sm;
    std::int64_t warps, groups, shared_bytes, reserved;
};

constexpr std::array<Limits, 14> table{{
    {60, 64, 32, 64 << 10, 0},
    {61, 64, 32, 96 << 10, 0},
    {62, 64, 32, 64 << 10, 0},
    {70, 64, 32, 96 << 10, 0},
    {72, 64, 32, 96 << 10, 0},
    {75, 32, 16, 64 << 10, 0},
    {80, 64, 32, 164 << 10, 1024},
    {86, 48, 16, 100 << 10, 1024},
    {87, 48, 16, 164 << 10, 1024},
    {89, 48, 24, 100 << 10, 1024},
    {90, 64, 32, 228 << 10, 1024},
    {100, 64, 32, 228 << 10, 1024},
    {103, 64, 32, 228 << 10, 1024},
    {120, 48, 24, 100 << 10, 1024},
}};

void add_facts(Analysis& a, nlohmann::json& facts, const PtxasFacts& from, const FactsRequest& request,
               const std::string& origin) {
    set_fact(a.info, "registers", from.registers, origin + ", per work-item");
    set_fact(a.info, "spills", from.spill_store_bytes, origin + ", bytes of spill stores per work-item");
    set_local_bytes(a.info, from.shared_bytes, request, origin);
    set_fact(a.info, "private_bytes", from.stack_bytes, origin + ", stack frame per work-item");
    if (from.spill_load_bytes) facts["spill_load_bytes"] = *from.spill_load_bytes;
    if (from.barriers) facts["barriers"] = *from.barriers;
}

}  // namespace

void read_facts(Analysis& a, nlohmann::json& facts, const FactsRequest& request) {
    const PtxasFacts driver = parse_ptxas_log(request.build_log, request.entry);
    const PtxasFacts here = parse_ptxas_log(a.disassembly.tool_log, request.entry);
    if (!driver.empty())
        add_facts(a, facts, driver, request, "driver's ptxas verbose log");
    else if (a.kind == Kind::cubin)
        add_facts(a, facts, read_cubin(request.binary, request.entry), request, "cubin .nv.info");
    else if (!here.empty())
        add_facts(a, facts, here, request, "ptxas -v of this machine, may differ from the driver's");
    const int sm = !request.target.empty() ? ptx_target(".target " + request.target)
                   : a.kind == Kind::ptx   ? ptx_target(ptx_text(request.binary))
                                           : 0;
    if (sm == 0) return;
    const std::string processor = "sm_" + std::to_string(sm);
    facts["processor"] = processor;
    if (!a.info.registers) return;
    const auto required = a.kind == Kind::ptx ? required_group(ptx_text(request.binary), request.entry) : 0;
    add_occupancy(facts, occupancy(processor, {*a.info.registers, 0, a.info.local_bytes.value_or(0), 32,
                                               required > 0 ? required : request.group_items}));
}

std::optional<Occupancy> occupancy(const std::string& processor, const KernelNeeds& needs) {
    const int sm = ptx_target(".target " + processor);
    const auto limits = std::ranges::find_if(table, [&](const Limits& l) { return l.sm == sm; });
    if (limits == table.end()) return std::nullopt;
    if (needs.group_items > most_items)
        return OccupancyLimits::too_large(needs.group_items, static_cast<unsigned>(limits->warps), "warps per SM");
    // Registers: four partitions of 16384, allocated to a warp in units of 256.
    const auto each = round_up(std::max<std::int64_t>(needs.registers, 1) * 32, 256);
    const auto by_registers = 16384 / each * 4;
    const auto registers_text =
        fmt::format("4 * floor(16384 registers / roundup(32 * {}, 256)) = {}", needs.registers, by_registers);
    OccupancyLimits found;
    const auto most = static_cast<unsigned>(limits->warps);
    if (needs.group_items == 0) {
        found.add(limits->warps, "hardware", "{}", limits->warps);
        found.add(by_registers, "registers", "{}", registers_text);
        return found.result(most, "warps per SM");
    }
    const auto warps = round_up(static_cast<std::int64_t>(needs.group_items), 32) / 32;
    const auto whole_groups = [&](std::int64_t limit) { return limit / warps * warps; };
    found.add(whole_groups(limits->warps), "hardware", "{} in whole groups of {} = {}", limits->warps, warps,
              whole_groups(limits->warps));
    found.add(limits->groups * warps, "work-group size", "{} groups * {} = {}", limits->groups, warps,
              limits->groups * warps);
    found.add(whole_groups(by_registers), "registers", "{}, in whole groups {}", registers_text,
              whole_groups(by_registers));
    if (needs.local_bytes > 0) {
        const auto groups = limits->shared_bytes / (round_up(needs.local_bytes, 128) + limits->reserved);
        found.add(groups * warps, "local memory", "floor({} byte / (roundup({}, 128) + {})) * {} = {}",
                  limits->shared_bytes, needs.local_bytes, limits->reserved, warps, groups * warps);
    }
    return found.result(most, "warps per SM");
}

// --- The compiler ----------------------------------------------------------------------------------------------------

// clang's NVPTX with the triple nvptx64-nvidia-nvcl, which writes the same ".target sm_80, texmode_independent" as
// NVIDIA's driver. libclc has the built-in functions. Its get_global_id omits the global offset, so this PTX is for
// reading and for counting registers, not for launching.

namespace {

Clang clang(const ChosenCompiler& by = {}) { return Clang("nvptx64--nvidiacl", by); }

/// The newest processor up to `sm` that this clang knows, otherwise sm_80. 14 and 15 end at sm_86, 16 at sm_90; 20
/// added sm_100 and sm_120, 21 sm_103 and sm_121 (LLVM release notes).
int nearest_processor(int version, int sm) {
    constexpr std::pair<int, int> since[]{{87, 16}, {89, 16}, {90, 16}, {100, 20}, {103, 21}, {120, 20}, {121, 21}};
    int out = sm <= 86 ? sm : 80;
    for (const auto& [known, from] : since)
        if (known <= sm && version >= from) out = known;
    return out;
}

/// The number of "sm_90"; 0 for anything else.
int sm_of(const std::string& target) {
    return target.starts_with("sm_") ? static_cast<int>(whole_number(target.substr(3)).value_or(0)) : 0;
}

/// Functions that PTX declares but does not define, except the driver's. ptxas rejects such PTX.
std::vector<std::string> only_declared(const std::string& ptx) {
    static const std::regex declared("\\.func +(?:\\([^)]*\\) *)?([A-Za-z0-9_$]+)[^;{]*;");
    std::vector<std::string> out;
    for (auto at = std::sregex_iterator(ptx.begin(), ptx.end(), declared); at != std::sregex_iterator(); ++at)
        out.push_back((*at)[1]);
    constexpr std::string_view of_the_driver[]{"printf", "vprintf", "malloc", "free", "__assertfail"};
    std::erase_if(out, [&](const auto& name) {
        return std::ranges::find(of_the_driver, name) != std::end(of_the_driver) ||
               std::regex_search(ptx, std::regex("\\.func [^;{]*\\b" + name + "\\b[^;{]*\\{"));
    });
    return out;
}

std::vector<std::string> undefined(ByteSpan binary, const std::string& entry) {
    return only_declared(kernel_of_ptx(ptx_text(binary), entry));
}

/// Functions that libclc lacks and that this source may need, as bitcode in the folder.
std::optional<std::filesystem::path> beside_libclc(const Clang& compiler, const std::string& source,
                                                   const TempFolder& folder) {
    if (!has_any(source, {"native_", "half", "image"})) return std::nullopt;
    static std::mutex access;
    static std::map<std::filesystem::path, std::string> made;  // empty: this clang cannot compile it
    const std::lock_guard lock(access);
    const auto [at, is_new] = made.try_emplace(compiler.program);
    auto& known = at->second;
    if (is_new)
        known = compiler
                    .compile(std::string(embedded("inspect/isa/beside_libclc.cl")),
                             split("-target nvptx64-nvidia-nvcl -c -emit-llvm -O1 -cl-std=CL2.0 -Xclang "
                                   "-cl-ext=+cl_khr_fp16,+cl_khr_3d_image_writes -Xclang -target-cpu -Xclang sm_60",
                                   ' '),
                             {}, {}, std::chrono::seconds(20))
                    .binary;
    if (known.empty()) return std::nullopt;
    return folder.write("beside_libclc.bc", as_bytes(known));
}

/// Replaces constant samplers. clang calls a function for them that only NVIDIA's driver has; the constant replaces the
/// function's result.
void replace_samplers(std::string& ptx) {
    const std::string name = "__translate_sampler_initializer";
    static const std::regex declared("\\.func +\\([^)]*\\) *__translate_sampler_initializer\\s*\\([^)]*\\)\\s*;"),
        constant("st\\.param\\.b32\\s*\\[param0(?:\\+0)?\\],\\s*([^;]+);"), result("ld\\.param\\.b64\\s*([^,\\s]+),");
    for (auto at = ptx.find(name); at != ptx.npos; at = ptx.find(name, at + 1)) {
        const auto begin = ptx.rfind("{", at), end = ptx.find("}", at);
        if (begin == ptx.npos || end == ptx.npos) continue;
        const auto call = ptx.substr(begin, end - begin);
        std::smatch value, to;
        if (call.find("call") == call.npos || !std::regex_search(call, value, constant)) continue;
        const auto move = std::regex_search(call, to, result) ? "mov.b64 \t" + to[1].str() + ", " + value[1].str() + ";"
                                                              : std::string();
        const auto line = std::min(ptx.find('\n', end), ptx.size());
        ptx.replace(begin, line - begin, move);
        at = begin;
    }
    ptx = std::regex_replace(ptx, declared, "");
}

/// Replaces `printf` with `vprintf`, which takes the same two addresses and is in NVIDIA's driver. False: not called.
bool replace_printf(std::string& ptx) {
    static const std::regex called("\\bprintf\\b");
    static const std::regex declared("\\.func +\\([^)]*\\) *printf\\b");
    if (!std::regex_search(ptx, declared)) return false;
    ptx = std::regex_replace(ptx, called, "vprintf");
    ptx = std::regex_replace(ptx, std::regex("\\.func( +\\([^)]*\\) *vprintf\\b)"), ".extern .func$1");
    for (auto at = ptx.find(".extern .extern"); at != ptx.npos; at = ptx.find(".extern .extern")) ptx.erase(at, 8);
    return true;
}

/// Adds the group sizes that kernels require, which clang omits from PTX: they limit the registers that ptxas uses.
void require_groups(OfflineCode& code, const std::string& source, const std::vector<std::string>& options) {
    if (source.find("reqd_work_group_size") == source.npos) return;
    for (auto at = code.binary.find(".entry"); at != code.binary.npos; at = code.binary.find(".entry", at + 1)) {
        const auto body = code.binary.find('{', at);
        const std::string entry{ptx_function_name(std::string_view(code.binary).substr(at + 6))};
        const auto group = required_group_in(source, entry, options);
        if (!group || body == code.binary.npos || required_group(code.binary, entry) > 0) continue;
        if ((*group)[0] * (*group)[1] * (*group)[2] > 0)
            code.binary.insert(body, concat(".reqntid ", (*group)[0], ", ", (*group)[1], ", ", (*group)[2], "\n"));
        else
            code.notes.push_back("the size of the groups that '" + entry +
                                 "' may require was not read from the text, so its registers and spills may be others; "
                                 "write numbers, or macros that are numbers");
    }
}

OfflineCode compile_ptx(int sm, const std::string& source, const std::vector<std::string>& options,
                        std::chrono::milliseconds limit, const ChosenCompiler& by) {
    const auto compiler = clang(by);
    const std::string target = "sm_" + std::to_string(sm);
    const std::string made_for = "sm_" + std::to_string(nearest_processor(compiler.version, sm));
    const TempFolder folder;
    std::vector<std::filesystem::path> libraries{compiler.library};
    if (const auto first = beside_libclc(compiler, source, folder)) libraries.insert(libraries.begin(), *first);
    // -fno-dwarf-directory-asm: ptxas rejects `.file` with a separate folder.
    auto arguments = split(
        "-target nvptx64-nvidia-nvcl -S -fno-dwarf-directory-asm -Xclang "
        "-cl-ext=+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,+cl_khr_3d_image_writes,"
        "+__opencl_c_3d_image_writes,+__opencl_c_images -Xclang -target-cpu -Xclang " +
            made_for,
        ' ');
    const auto run = [&] { return compiler.compile(source, arguments, options, libraries, limit); };
    OfflineCode code = run();
    replace_samplers(code.binary);
    // NVIDIA's compiler emits code for `inline` functions of C99; clang expects another source to define them.
    if (code.ok && source.find("inline") != source.npos && !only_declared(code.binary).empty()) {
        arguments.emplace_back("-fgnu89-inline");
        code = run();
        replace_samplers(code.binary);
    }
    require_groups(code, source, options);
    if (replace_printf(code.binary))
        code.notes.emplace_back("printf is a call of the driver's vprintf, whose registers are not in the code");
    if (source.find("native_") != source.npos && (code.binary.find(".approx.f32") != std::string::npos ||
                                                  code.binary.find(".approx.ftz.f32") != std::string::npos))
        code.notes.emplace_back(
            "native_ functions are ex2.approx, lg2.approx, sin.approx and cos.approx, for which libclc has no code");
    if (has_any(code.binary, {"\ttex.", "\tsuld.", "\tsust.", "\ttxq.", "\tsuq."}))
        code.notes.emplace_back(
            "functions of images are the lab's own texture and surface instructions: the code that "
            "NVIDIA's driver makes of them may differ");
    if (code.ok && made_for != target && code.binary.find(".target " + made_for) != std::string::npos &&
        sm > sm_of(made_for))
        code.binary =
            "// made for " + made_for + ", the newest this clang knows; assembled for " + target + "\n" + code.binary;
    const auto own = sm == 90 ? device::with_sm_90a(code.binary) : std::string();
    if (!own.empty()) code.binary = own;
    // SASS is assembled for the target even if the PTX was made for an older processor.
    code.options = {.target = made_for == target || !own.empty() ? std::string{} : target,
                    .made_by = compiler.name() + ", not NVIDIA's compiler",
                    .ptxas = by.ptxas};
    return code;
}

constexpr std::array processors{60, 61, 70, 75, 80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120, 121};

}  // namespace

/// Reads the help of ptxas. A ptxas whose help lists no processors counts as able.
bool assembles(const std::filesystem::path& ptxas, int sm) {
    static std::mutex access;
    static std::map<std::filesystem::path, std::string> known;
    const std::lock_guard lock(access);
    const auto [help, is_new] = known.try_emplace(ptxas);
    if (is_new) help->second = run_tool(ptxas, {"--help"}).out;
    const auto lists = [&](const std::string& what) { return help->second.find("'sm_" + what) != std::string::npos; };
    return !lists("") || lists(std::to_string(sm) + "'");
}

namespace {

std::filesystem::path assembler(const ChosenCompiler& by) {
    return by.ptxas.empty() ? find_tool({"ptxas"}).value_or("") : by.ptxas;
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
    if (const auto ptxas = assembler({}); !ptxas.empty() && !assembles(ptxas, sm))
        return {name, "PTX",
                "SASS and registers need " +
                    (sm < 75 ? "ptxas before CUDA 13, which dropped "
                             : "a ptxas newer than " + version_of(ptxas) + " for ") +
                    name};
    if (no_sass.empty()) return {name, "PTX, SASS, registers", ""};
    return {name, find_tool({"ptxas"}) ? "PTX, registers" : "PTX", no_sass};
}

std::vector<OfflineTarget> targets() {
    const std::string no_sass = sass_missing(),
                      no_ptx =
                          clang().is_here() ? "" : "PTX needs clang with libclc: apt-get install clang-15 libclc-15";
    return mapped(processors, [&](int sm) { return nvidia_target(sm, no_ptx, no_sass); });
}

std::string version(const std::string&, const ChosenCompiler& by) {
    const auto ptxas = assembler(by);
    return clang(by).name_with_version() + (ptxas.empty() ? "" : ", ptxas " + version_of(ptxas));
}

std::vector<std::filesystem::path> tools(const std::string&, const ChosenCompiler& by) {
    auto out = clang(by).files();
    out.push_back(assembler(by));
    return out;
}

void describe(model::Device& device, const std::string& target, const std::vector<std::string>&,
              const ChosenCompiler&) {
    device.compute_capability = static_cast<unsigned>(sm_of(target));
    device.preferred_multiple = 32;
}

OfflineCode compile(const std::string& target, const std::string& source, const std::vector<std::string>& options,
                    std::chrono::milliseconds limit, const ChosenCompiler& by) {
    const auto all = join(options, " ");
    if (!device::asks_for_cuda(all)) return compile_ptx(sm_of(target), source, options, limit, by);
    auto made = device::compile_cuda(source, all, sm_of(target));
    return {made.ok,
            std::move(made.log),
            std::move(made.ptx),
            {.target = {}, .made_by = "NVRTC, from the text as CUDA C++"}};
}

}  // namespace

// clang's NVPTX has no half arithmetic, but all of these processors have. OpenCL C 3.0 makes features of 2.0 optional,
// and NVPTX enables none of them by default.
constexpr Addition additions[]{
    {"-Xclang -cl-ext=+cl_khr_fp16", "cl_khr_fp16 (functions of half are those of float, rounded)"},
    {"-cl-std=CL2.0", "-cl-std=CL2.0"},
    {"-cl-std=CL2.0 -Xclang -cl-ext=+cl_khr_fp16", "-cl-std=CL2.0 and cl_khr_fp16"},
    {"-cl-std=CL3.0 -Xclang -cl-ext=+all,-cl_khr_subgroups", "-cl-std=CL3.0 with its optional features"}};

const OfflineCompiler compiler{
    "NVIDIA",  "clang NVPTX", model::Implementation::nvidia, 48 << 10, targets, describe, compile, version, tools,
    additions, undefined};

}  // namespace cllab::inspect::nvidia
