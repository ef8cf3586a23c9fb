#include "inspect/isa/intel.hpp"

#include <array>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "core/kernel_text.hpp"
#include "core/text.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/code/analysis.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/offline.hpp"

namespace cllab::inspect::xe {

// --- Facts -----------------------------------------------------------------------------------------------------------

// Read from ocloc's patch tokens, its log, and the listing.

namespace {

using std::string_view;

/// Word `index` of patch token `token` of a kernel, in the text that ocloc makes of them: "Token 23", its size, "Hex 0
/// 0 1f".
std::optional<std::int64_t> patch_word(string_view tokens, const std::string& kernel, int token, std::size_t index) {
    bool mine = false, wanted = false;
    for (const auto raw : lines_of(tokens)) {
        const std::string line = trim(raw);
        if (line.starts_with("KernelName ")) mine = line.substr(11) == kernel;
        if (line.starts_with("4 Token ")) wanted = mine && line == "4 Token " + std::to_string(token);
        if (!wanted || !line.starts_with("Hex ")) continue;
        const auto bytes = split(line.substr(4), ' ');
        std::int64_t value = 0;
        if (bytes.size() < 4 * (index + 1)) return std::nullopt;
        for (std::size_t k = 4; k-- > 0;)
            value = value << 8 | static_cast<std::int64_t>(leading_hex(bytes[4 * index + k]).value_or(0) & 0xff);
        return value;
    }
    return std::nullopt;
}

/// Registers that the code names by "r12.0": a lower bound of those in use. The last message of a thread takes its
/// operand from the end of the file, so the highest number says nothing.
std::int64_t named_registers(const Function& function) {
    std::set<std::uint64_t> names;
    for (const auto& i : function.instructions) {
        const string_view operands = string_view(i.operands).substr(0, i.operands.find("//"));
        for (std::size_t at = 0; at + 1 < operands.size(); ++at)
            if (operands[at] == 'r' && (at == 0 || operands[at - 1] == ' ') &&
                std::isdigit(static_cast<unsigned char>(operands[at + 1])))
                names.insert(number_at(operands, at + 1));
    }
    return static_cast<std::int64_t>(names.size());
}

/// What shares its local memory: execution units, and how much there is; nothing for a processor that is not known.
/// From Intel's oneAPI GPU optimization guide, "Intel Xe GPU architecture", and for skl and icllp its Gen9 and Gen11
/// architecture papers.
struct Subslice {
    std::int64_t units = 0, local_bytes = 0;
};
std::optional<Subslice> subslice(const std::string& processor) {
    constexpr std::int64_t kib = 1024;
    if (processor == "skl" || processor == "icllp") return Subslice{8, 64 * kib};
    if (processor == "tgllp" || processor == "dg1" || processor == "dg2") return Subslice{16, 128 * kib};
    if (processor == "pvc") return Subslice{8, 128 * kib};
    return std::nullopt;
}

}  // namespace

/// Threads of an execution unit: as the compiler has set them, half as many with the large register file.
std::optional<Occupancy> occupancy(const std::string& processor, const KernelNeeds& needs) {
    if (needs.registers <= 0 || needs.wavefront <= 0) return std::nullopt;
    const std::string unit = "threads per execution unit";
    const auto most = static_cast<unsigned>(needs.wavefront);
    if (needs.group_items > most_items) return OccupancyLimits::too_large(needs.group_items, most, unit);
    OccupancyLimits found;
    found.add(needs.wavefront, "hardware", "{} threads with {} registers each", needs.wavefront, needs.registers);
    const auto shares = subslice(processor);
    if (shares && needs.group_items > 0 && needs.simd > 0) {
        const auto threads = (static_cast<std::int64_t>(needs.group_items) + needs.simd - 1) / needs.simd;
        const auto groups = shares->units * needs.wavefront / threads;
        const double each = static_cast<double>(groups * threads) / static_cast<double>(shares->units);
        found.add(each, "work-group size", "{} groups * {} / {} = {:g}", groups, threads, shares->units, each);
    }
    if (shares && needs.local_bytes > 0 && needs.group_items > 0 && needs.simd > 0) {
        const auto given = static_cast<std::int64_t>(
            std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(needs.local_bytes, 1024))));
        const auto threads = (static_cast<std::int64_t>(needs.group_items) + needs.simd - 1) / needs.simd;
        const auto all = shares->local_bytes / given * threads;
        const double each = static_cast<double>(all) / static_cast<double>(shares->units);
        found.add(each, "local memory", "floor({} byte / {}) * {} / {} = {:g}", shares->local_bytes, given, threads,
                  shares->units, each);
    }
    return found.result(most, unit);
}

/// The numbers of the patch tokens were found by compiling kernels that differ in one thing (ocloc 22.43).
void read_facts(Analysis& a, nlohmann::json& facts, const FactsRequest& request) {
    constexpr int local_memory = 15, scratch = 18, execution = 23;
    const auto* code = a.best();
    const std::string kernel = code ? code->code.name : request.entry;
    const auto word = [&](int token, std::size_t index) {
        return patch_word(a.disassembly.tool_log, kernel, token, index);
    };
    if (!request.target.empty()) facts["processor"] = request.target;
    const auto simd = word(execution, 3), file = word(execution, 20), threads = word(execution, 25);
    if (!simd || !file || !threads) return;
    facts["simd_width"] = *simd;
    facts["register_file"] = *file;
    const std::string origin = "patch tokens";
    if (code)
        set_fact(a.info, "registers", named_registers(code->code),
                 "listing by ocloc, general registers named, of " + std::to_string(*file) + " per thread");
    set_fact(a.info, "private_bytes", word(scratch, 1).value_or(0), origin + ", scratch per thread");
    set_local_bytes(a.info, word(local_memory, 1).value_or(0), request, origin);
    // "kernel k  compiled SIMD8 allocated 128 regs and spilled around 188"
    const auto said = request.build_log.find("kernel " + kernel + " ");
    const auto end = request.build_log.find('\n', said);
    const auto spilled = request.build_log.find("spilled around ", said);
    const bool spills = said != string_view::npos && spilled < end;
    set_fact(a.info, "spills", spills ? static_cast<std::int64_t>(number_at(request.build_log, spilled + 15)) : 0,
             "ocloc's log, registers spilled, around");
    const auto required =
        word(execution, 0).value_or(0) * word(execution, 1).value_or(0) * word(execution, 2).value_or(0);
    add_occupancy(facts, occupancy(request.target, {.registers = *file,
                                                    .local_bytes = a.info.local_bytes.value_or(0),
                                                    .wavefront = *threads,
                                                    .group_items = required > 0 ? static_cast<std::size_t>(required)
                                                                                : request.group_items,
                                                    .simd = *simd}));
}

// --- The compiler ----------------------------------------------------------------------------------------------------

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

/// It writes its version into a file of the current folder.
std::string version(const std::string&, const ChosenCompiler&) {
    static const std::string known = [] {
        const TempFolder folder;
        run_tool(find_tool({"env"}).value_or("/usr/bin/env"),
                 {"-C", folder.path().string(), ocloc().value_or("ocloc").string(), "query", "OCL_DRIVER_VERSION"});
        return "ocloc " + trim(read_file(folder.path() / "OCL_DRIVER_VERSION").value_or(""));
    }();
    return known;
}

std::vector<std::filesystem::path> tools(const std::string&, const ChosenCompiler&) {
    const std::filesystem::path libraries = "/usr/lib/x86_64-linux-gnu";
    return {ocloc().value_or(""), libraries / "libocloc.so", libraries / "libigc.so.1", libraries / "libigdfcl.so.1",
            libraries / "libopencl-clang.so.14"};
}

void describe(model::Device& device, const std::string& target, const std::vector<std::string>&,
              const ChosenCompiler&) {
    device.preferred_multiple = 16;
    device.fp16 = true;
    // Gen11, Gen12 and Xe-HPG have no double arithmetic.
    device.fp64 = is_named(target, "skl pvc");
    if (!device.fp64) device.extensions.erase("cl_khr_fp64");
    device.images = target != "pvc";
    device.extensions.insert({"cl_khr_subgroups", "cl_intel_subgroups"});
    if (is_named(target, "dg2 pvc")) device.extensions.insert("cl_intel_subgroup_matrix_multiply_accumulate");
}

OfflineCode compile(const std::string& target, const std::string& source, const std::vector<std::string>& options,
                    std::chrono::milliseconds limit, const ChosenCompiler&) {
    const TempFolder folder;
    const auto spirv = program_of_text(source);
    const auto text = folder.write(spirv ? "kernel.spv" : "kernel.cl", as_bytes(spirv.value_or(source)));
    std::vector<std::string> words{
        "compile",          "-file",    text.string(),          "-device", target,    "-options",
        join(options, " "), "-out_dir", folder.path().string(), "-output", "program", "-output_no_suffix",
        "-exclude_ir"};
    if (spirv) words.push_back("-spirv_input");
    const auto result = run_ocloc(folder, ocloc().value_or("ocloc"), words, limit);
    OfflineCode out = made_by_tool("ocloc", result, folder, folder.path() / "program");
    // ocloc leaves to whoever loads the code what no clBuildProgram would take.
    for (const auto& symbol : undefined_symbols(as_bytes(out.binary))) {
        out.ok = false;
        out.log += "undefined reference to `" + symbol + "'\n";
    }
    out.options = {.target = target};
    return out;
}

}  // namespace

constexpr Addition additions[]{{"-cl-std=CL2.0", "-cl-std=CL2.0"}, {"-cl-std=CL3.0", "-cl-std=CL3.0"}};

const OfflineCompiler compiler{
    "Intel", "ocloc",  model::Implementation::intel_gpu, 64 << 10, targets, describe, compile, version,
    tools,   additions};

}  // namespace cllab::inspect::xe
