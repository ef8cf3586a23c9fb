// Intel GPUs, Gen9 to Xe-HPC. ocloc's text has one line per instruction, "(f0.0) while (32|M0) L288". Labels are byte
// addresses. Messages to memory are `send`; a comment says what they do: "// wr:2+0, rd:8; untyped surface read with
// xyzw". `ocloc` (Debian intel-opencl-icd) compiles and disassembles.
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/kernel_text.hpp"
#include "inspect/tools/offline.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect::xe {
namespace {

using std::string_view;
using What = model::Declared::What;

// --- Facts: from ocloc's patch tokens, its log, and the listing ------------------------------------------------------

/// Word `index` of patch token `token` of a kernel, from ocloc's text: "Token 23", its size, "Hex 0 0 1f".
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

/// Registers that the code names, such as "r12.0": a lower bound of those in use. The highest number tells nothing,
/// because the last message of a thread takes its operand from the end of the file.
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

/// The execution units that share local memory, and its size; nullopt for an unknown processor. Sources: Intel's oneAPI
/// GPU optimization guide, "Intel Xe GPU architecture"; for skl and icllp, Intel's Gen9 and Gen11 architecture papers.
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

/// Threads per execution unit. The compiler sets their maximum: half as many with the large register file.
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
        if (needs.local_bytes <= 0) return found.result(most, unit);
        const auto given = static_cast<std::int64_t>(
            std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(needs.local_bytes, 1024))));
        const double by_local =
            static_cast<double>(shares->local_bytes / given * threads) / static_cast<double>(shares->units);
        found.add(by_local, "local memory", "floor({} byte / {}) * {} / {} = {:g}", shares->local_bytes, given, threads,
                  shares->units, by_local);
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

/// Returns both streams in `err`. ocloc looks for libiga64.so, but Debian's package has only libiga64.so.1: a link
/// provides the name.
ToolResult run_ocloc(const TempFolder& folder, const std::filesystem::path& tool, std::vector<std::string> arguments,
                     std::chrono::milliseconds limit = std::chrono::seconds(60)) {
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

constexpr std::array processors{"skl", "icllp", "tgllp", "dg1", "dg2", "pvc"};

std::vector<OfflineTarget> targets() {
    std::vector<OfflineTarget> out;
    for (const char* name : processors)
        out.push_back(ocloc() ? OfflineTarget{name, "machine code, registers", ""}
                              : OfflineTarget{name, "", missing_ocloc});
    return out;
}

/// ocloc writes its version into a file in the current folder.
std::string version(const std::string&, const ChosenCompiler&) {
    static const std::string known = [] {
        const TempFolder folder;
        run_tool(find_tool({"env"}).value_or("/usr/bin/env"),
                 {"-C", folder.path().string(), ocloc().value_or("ocloc").string(), "query", "OCL_DRIVER_VERSION"});
        return "ocloc " + one_line(read_file(folder.path() / "OCL_DRIVER_VERSION").value_or(""));
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
    // ocloc accepts undefined symbols, which clBuildProgram would reject.
    for (const auto& symbol : undefined_symbols(as_bytes(out.binary))) {
        out.ok = false;
        out.log += "undefined reference to `" + symbol + "'\n";
    }
    out.options = {.target = target};
    return out;
}

constexpr Addition additions[]{{"-cl-std=CL2.0", "-cl-std=CL2.0"}, {"-cl-std=CL3.0", "-cl-std=CL3.0"}};

const OfflineCompiler compiler{
    "Intel", "ocloc",  model::Implementation::intel_gpu, 64 << 10, targets, describe, compile, version,
    tools,   additions};

// --- Parsing ---------------------------------------------------------------------------------------------------------

/// "L288:" gives 288.
std::optional<std::uint64_t> label(string_view line) {
    if (line.size() < 3 || line.front() != 'L' || line.back() != ':') return std::nullopt;
    return whole_number(line.substr(1, line.size() - 2));
}

/// "(16|M8)": sixteen work-items, from number 8.
struct Lanes {
    unsigned width = 0, first = 0;
};

Lanes lanes_of(string_view operands) {
    const auto open = operands.find('('), bar = operands.find("|M");
    if (open == string_view::npos || bar == string_view::npos || bar < open || open > 1) return {};
    return {static_cast<unsigned>(std::min<std::uint64_t>(number_at(operands, open + 1), 64)),
            static_cast<unsigned>(std::min<std::uint64_t>(number_at(operands, bar + 2), 64))};
}

void set_flow(Instruction& i) {
    const string_view m = string_view(i.mnemonic).substr(0, i.mnemonic.find('.'));
    if (i.operands.find("EOT") != std::string::npos || m == "ret") {
        i.flow = Flow::stop;
        return;
    }
    if (!is_named(m, "if else endif while break cont goto join jmpi brd brc halt")) return;
    i.flow = m == "jmpi" && i.guard.find('f') == std::string::npos ? Flow::jump : Flow::branch;
    const std::string operands = " " + i.operands;  // on pvc a jump has only its target
    for (auto at = operands.find(" L"); at != string_view::npos; at = operands.find(" L", at + 1))
        if (at + 2 < operands.size() && std::isdigit(static_cast<unsigned char>(operands[at + 2])))
            i.targets.push_back(number_at(operands, at + 2));
}

std::optional<Instruction> read_instruction(const std::string& line, std::uint64_t address) {
    std::string guard, rest = line;
    while (rest.starts_with("(")) {  // "(W)", "(f0.0)", "(W&~f1.0)"
        const auto close = rest.find(')');
        if (close == std::string::npos) return std::nullopt;
        guard += rest.substr(0, close + 1);
        rest = trim(string_view(rest).substr(close + 1));
    }
    Instruction i = instruction_of(std::move(rest));
    if (i.mnemonic.empty() || !std::islower(static_cast<unsigned char>(i.mnemonic[0]))) return std::nullopt;
    i.guard = std::move(guard);
    i.address = address;
    i.bytes = i.text.find("Compacted") == std::string::npos ? 16 : 8;
    i.text = line;
    set_flow(i);
    return i;
}

/// A thread has as many work-items as its widest instruction reaches. An instruction for fewer work-items does a share
/// of its work.
void set_shares(Function& function) {
    unsigned simd = 1;
    for (const auto& i : function.instructions)
        if (const Lanes lanes = lanes_of(i.operands); i.guard.find('W') == std::string::npos)
            simd = std::max(simd, lanes.first + lanes.width);
    for (auto& i : function.instructions) {
        const Lanes lanes = lanes_of(i.operands);
        const bool for_all = i.guard.find('W') != std::string::npos || lanes.width <= 1;
        i.share = for_all ? 1.0 : std::min(1.0, static_cast<double>(lanes.width) / simd);
    }
}

std::vector<Function> parse(string_view text) {
    std::uint64_t address = 0;
    const auto name_of = [&](string_view raw) {
        const auto line = raw.substr(std::min(raw.find_first_not_of(" \t"), raw.size()));
        const auto end = line.find_last_not_of(" \t\r");
        if (end == string_view::npos || end == 0 || line[end] != ':' || label(line.substr(0, end + 1)) ||
            line.substr(0, end).find_first_of(" \t(") != string_view::npos)
            return string_view{};
        address = 0;
        return line.substr(0, end);
    };
    const auto read = [&](string_view raw) -> std::optional<Instruction> {
        const std::string line = trim(raw);
        if (const auto at = label(line)) address = *at;
        if (line.empty() || line.starts_with("//") || label(line)) return std::nullopt;
        auto instruction = read_instruction(line, address);
        if (instruction) address += instruction->bytes;
        return instruction;
    };
    auto functions = functions_of(text, name_of, read);
    for (auto& function : functions) {
        drop_padding(function, "nop");
        set_shares(function);
    }
    return functions;
}

// --- Classes ---------------------------------------------------------------------------------------------------------

/// The action of a message, "untyped surface read with xyzw": the comment after its lengths and its receiver.
string_view message(string_view operands) {
    const auto comment = operands.find("//");
    if (comment == string_view::npos) return {};
    operands.remove_prefix(comment + 2);
    const auto semicolon = operands.rfind(';');
    if (semicolon != string_view::npos) operands.remove_prefix(semicolon + 1);
    operands.remove_prefix(std::min(operands.find_first_not_of(' '), operands.size()));
    return operands;
}

/// Bits per work-item, or per thread for a block read. 0: unknown.
unsigned message_bits(string_view what) {
    if (const auto with = what.find(" with "); with != string_view::npos) {
        const auto channels = what.substr(with + 6);
        unsigned count = 0;
        while (count < channels.size() && string_view("xyzw").find(channels[count]) != string_view::npos) ++count;
        return 32 * count;
    }
    // "load.ugm.d32x4.a64", "store.ugm.d8u32.a64", "load.ugm.d32x16t.a32"
    for (auto at = what.find(".d"); at != string_view::npos; at = what.find(".d", at + 1)) {
        const auto each = static_cast<unsigned>(number_at(what, at + 2) & 0x3ff);
        const auto end = what.find_first_not_of("0123456789", at + 2);
        if (each == 0) continue;
        const bool vector = end != string_view::npos && what[end] == 'x';
        return each * (vector ? static_cast<unsigned>(number_at(what, end + 1) & 0x3ff) : 1);
    }
    // "byte gathering read 16b", "a64 dword gathering read", "hword scratch block read x4", "oword aligned block read
    // x8"
    if (const auto byte = what.find("byte "); byte == 0 || what.find(" byte ") != string_view::npos) {
        const auto last = what.rfind(' ');
        return static_cast<unsigned>(number_at(what, last + 1) & 0x3ff);
    }
    constexpr NumberRule units[]{{"*hword*", 256}, {"*oword*", 128}, {"*qword*", 64}, {"*dword*", 32}};
    const auto times = what.rfind(" x");
    return value_of(units, what) *
           (times == string_view::npos ? 1 : static_cast<unsigned>(number_at(what, times + 2) & 0x3ff));
}

/// The descriptor's last byte names the surface; 0xFE is the shared local memory.
bool is_slm(const Instruction& i, string_view what) {
    if (is_named(what, "*.slm* *SLM*")) return true;
    const string_view operands = string_view(i.operands).substr(0, i.operands.find("//"));
    const auto descriptor = operands.rfind("0x");
    if (descriptor == string_view::npos || what.find("a64") != string_view::npos) return false;
    const auto end = std::min(operands.find_first_not_of("0123456789ABCDEFabcdef", descriptor + 2), operands.size());
    return operands.substr(descriptor, end - descriptor).ends_with("FE");
}

Class message_class(const Instruction& i) {
    const string_view what = message(i.operands);
    if (i.flow == Flow::stop) return {"branch"};
    if (what.find("barrier") != string_view::npos) return {"barrier"};
    if (is_named(what, "*fence* *flush*")) return {"fence"};
    const bool atomic = what.find("atomic") != string_view::npos;
    const bool store = is_named(what, "*write* *store* *scatter*");
    const bool load = is_named(what, "*read* *load* *sample* *gather*");
    if (!atomic && !store && !load) return {"send_other"};
    const bool image = is_named(what, "*sample* *typed*") && what.find("untyped") == string_view::npos;
    const bool block = what.find("block") != string_view::npos || what.find("t.a") != string_view::npos;
    const std::string space = what.find("scratch") != string_view::npos ? "scratch"
                              : image                                   ? "image"
                              : is_slm(i, what)                         ? "slm"
                              : block                                   ? "block"
                                                                        : "global";
    std::string access = space + (atomic ? "_atomic" : store ? "_store" : "_load");
    if (const unsigned bits = atomic || image ? 0 : message_bits(what)) access += "_" + std::to_string(bits);
    return {"send_" + space, {std::move(access)}};
}

/// Type of the first operand, the result: "f", "hf", "ud". A comparison writes flags; its null operand has the type.
string_view result_type(const Instruction& i) {
    const string_view operands = i.operands;
    const auto colon = operands.find(':');
    if (colon == string_view::npos) return {};
    const auto end = std::min(operands.find_first_of(" \t", colon), operands.size());
    return operands.substr(colon + 1, end - colon - 1);
}

Class classify(const Instruction& i) {
    const string_view m = string_view(i.mnemonic).substr(0, i.mnemonic.find('.'));
    if (m == "nop") return {"padding"};
    if (m.starts_with("send")) return message_class(i);
    if (i.flow != Flow::next || is_named(m, "call calla")) return {"branch"};
    if (is_named(m, "sync wait")) return {"wait"};
    if (is_named(m, "dpas dpasw")) return {"matrix"};
    // For one work-item, or for the thread as a whole: addresses, counters, message headers.
    if (lanes_of(i.operands).width == 1) return {"scalar"};
    if (m == "math") return {"special"};
    if (is_named(m, "mov movi sel csel smov")) return {"move"};
    const auto type = result_type(i);
    if (type == "f") return {"fp32"};
    if (type == "hf" || type == "bf") return {"fp16"};
    if (type == "df") return {"fp64"};
    return {"integer"};
}

// --- Declared work ---------------------------------------------------------------------------------------------------

double arithmetic(const Instruction& i, const model::Declared& d) {
    const string_view m = string_view(i.mnemonic).substr(0, i.mnemonic.find('.'));
    const auto type = result_type(i);
    const unsigned bits = type == "df" ? 64 : type == "f" ? 32 : type == "hf" || type == "bf" ? 16 : 0;
    if (d.what == What::multiply_add) return is_named(m, "mad mac madm") && bits >= d.bits ? i.share : 0;
    if (d.what == What::integer_multiply) return is_named(m, "mul mad mach macl dp4a") && bits == 0 ? i.share : 0;
    if (is_named(m, "call calla")) return lanes_of_call;
    if (m == "math") return i.share;
    return bits > 0 && is_named(m, "add mul mad madm mac frc rndd rnde rndu rndz") ? i.share : 0;
}

bool is_call(const Instruction& i) { return is_named(i.mnemonic, "call*"); }

// --- The binary ------------------------------------------------------------------------------------------------------

Disassembly disassemble(ByteSpan binary, const std::string& entry, const DisassembleOptions& options) {
    Listing listing{"machine code of the execution units (" + options.target + ")", &isa::xe, {}, {}, entry};
    Disassembly out;
    const auto note = [&](const std::string& why) {
        listing.note = "no disassembly: " + why;
        out.listings.push_back(std::move(listing));
        return std::move(out);
    };
    const auto tool = ocloc();
    if (!tool) return note(missing_ocloc);
    if (options.target.empty()) {
        listing.title = "Intel GPU binary";
        return note("the binary does not name its processor, so run: ocloc disasm -file FILE -dump DIR -device NAME");
    }
    const TempFolder folder;
    const auto file = folder.write("program.bin", binary);
    const auto dump = folder.path() / "dump";
    const auto result =
        run_ocloc(folder, *tool, {"disasm", "-file", file.string(), "-dump", dump.string(), "-device", options.target});
    out.tool_log = read_file(dump / "PTM.txt").value_or("");
    // One file per kernel. If no kernel has the variant's name, the first kernel is used.
    const auto file_of = [&](const std::string& kernel) { return dump / (kernel + "_KernelHeap.asm"); };
    std::string kernel = entry;
    if (const auto first = out.tool_log.find("KernelName ");
        first != std::string::npos && !std::filesystem::exists(file_of(entry)))
        kernel = trim(string_view(out.tool_log).substr(first + 11, out.tool_log.find('\n', first) - first - 11));
    const auto text = read_file(file_of(kernel));
    if (!text)
        return note("ocloc " +
                    (result.ok() ? "wrote no text of '" + entry + "': " + one_line(result.err) : result.failure()));
    listing.text = kernel + ":\n" + *text;
    listing.made_by = "ocloc";
    if (const auto functions = parse(listing.text); !functions.empty() && !functions.front().instructions.empty()) {
        const auto& last = functions.front().instructions.back();
        out.code_bytes = static_cast<std::int64_t>(last.address + last.bytes);
        out.code_bytes_from = "listing by ocloc";
    }
    out.listings.push_back(std::move(listing));
    return out;
}

}  // namespace
}  // namespace cllab::inspect::xe

namespace cllab::inspect {

const InstructionSet isa::xe{
    .name = "xe",
    .rule =
        "Each instruction is in one class. One instruction for 32 work-items may appear as two for 16. send_: a "
        "message, by its destination. scalar: width 1, for the whole thread. Memory widths are per work-item, those of "
        "block_ per thread. nop is padding and not counted.",
    .kinds = {Kind::intel_gpu_patch_tokens, Kind::intel_gpu_zebin},
    .words = {"registers named", "spilled registers", "", "scratch", "shared local memory", "hardware thread"},
    .shown_facts = {{"register_file", "of", "", true}, {"simd_width", "SIMD", "", true}},
    .parse = xe::parse,
    .classify = xe::classify,
    .local_spaces = {"slm"},
    .global_spaces = {"global", "block"},
    .arithmetic = xe::arithmetic,
    .is_call = xe::is_call,
    .disassemble = xe::disassemble,
    .read_facts = xe::read_facts,
    .occupancy = xe::occupancy,
    .offline = &xe::compiler,
};

}  // namespace cllab::inspect
