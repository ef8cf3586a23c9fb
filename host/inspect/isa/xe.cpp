// Intel GPUs, Gen9 to Xe-HPC. The text is ocloc's: one line an instruction, "(f0.0)  while (32|M0)  L288", with labels
// that are byte addresses; messages to memory are `send`, with what they do in a comment: "// wr:2+0, rd:8; untyped
// surface read with xyzw".
#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "core/text.hpp"
#include "inspect/code/analysis.hpp"
#include "inspect/isa/intel.hpp"
#include "inspect/isa/list.hpp"

namespace cllab::inspect {
namespace {

using model::Declared;
using std::string_view;
using What = Declared::What;

std::uint64_t number_at(string_view text, std::size_t at) {
    std::uint64_t value = 0;
    if (at < text.size()) std::from_chars(text.data() + at, text.data() + text.size(), value);
    return value;
}

// --- Parsing ---------------------------------------------------------------------------------------------------------

/// "L288:" gives 288.
std::optional<std::uint64_t> label(string_view line) {
    if (line.size() < 3 || line.front() != 'L' || line.back() != ':') return std::nullopt;
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(line.data() + 1, line.data() + line.size() - 1, value);
    return parsed.ptr == line.data() + line.size() - 1 ? std::optional(value) : std::nullopt;
}

/// "(16|M8)": sixteen work-items from the eighth on.
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
    if (!one_of(m, {"if", "else", "endif", "while", "break", "cont", "goto", "join", "jmpi", "brd", "brc", "halt"}))
        return;
    i.flow = m == "jmpi" && i.guard.find('f') == std::string::npos ? Flow::jump : Flow::branch;
    const string_view operands = i.operands;
    for (auto at = operands.find(" L"); at != string_view::npos; at = operands.find(" L", at + 1))
        if (at + 2 < operands.size() && std::isdigit(static_cast<unsigned char>(operands[at + 2])))
            i.targets.push_back(number_at(operands, at + 2));
}

std::optional<Instruction> read_instruction(const std::string& line) {
    Instruction i;
    i.text = line;
    std::string rest = line;
    while (rest.starts_with("(")) {  // "(W)", "(f0.0)", "(W&~f1.0)"
        const auto close = rest.find(')');
        if (close == std::string::npos) return std::nullopt;
        i.guard += rest.substr(0, close + 1);
        rest = trim(string_view(rest).substr(close + 1));
    }
    const auto end = std::min(rest.find_first_of(" \t"), rest.size());
    i.mnemonic = rest.substr(0, end);
    i.operands = trim(string_view(rest).substr(end));
    if (i.mnemonic.empty() || !std::islower(static_cast<unsigned char>(i.mnemonic[0]))) return std::nullopt;
    i.bytes = rest.find("Compacted") == std::string::npos ? 16 : 8;
    set_flow(i);
    return i;
}

/// The work-items of a thread are the most that an instruction reaches; one for fewer of them is a part of what it
/// does.
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
    std::vector<Function> functions;
    std::uint64_t address = 0;
    for (const auto raw : lines_of(text)) {
        const std::string line = trim(raw);
        if (const auto at = label(line)) {
            address = *at;
        } else if (line.size() > 1 && line.back() == ':' && line.find_first_of(" \t(") == std::string::npos) {
            functions.push_back({line.substr(0, line.size() - 1), {}});
            address = 0;
        } else if (functions.empty() || line.empty() || line.starts_with("//")) {
            continue;
        } else if (auto instruction = read_instruction(line)) {
            instruction->address = address;
            address += instruction->bytes;
            functions.back().instructions.push_back(std::move(*instruction));
        }
    }
    for (auto& function : functions) {
        auto& code = function.instructions;
        while (!code.empty() && code.back().mnemonic == "nop") code.pop_back();
        set_shares(function);
    }
    return functions;
}

// --- Classes ---------------------------------------------------------------------------------------------------------

/// What a message does, "untyped surface read with xyzw": the comment behind its lengths and its receiver.
string_view message(string_view operands) {
    const auto comment = operands.find("//");
    if (comment == string_view::npos) return {};
    operands.remove_prefix(comment + 2);
    const auto semicolon = operands.rfind(';');
    if (semicolon != string_view::npos) operands.remove_prefix(semicolon + 1);
    operands.remove_prefix(std::min(operands.find_first_not_of(' '), operands.size()));
    return operands;
}

/// Bits for one work-item, of a block read for the whole thread. 0: the text does not say.
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
    constexpr std::array<std::pair<string_view, unsigned>, 4> units{
        {{"hword", 256}, {"oword", 128}, {"qword", 64}, {"dword", 32}}};
    for (const auto& [unit, bits] : units)
        if (what.find(unit) != string_view::npos) {
            const auto times = what.rfind(" x");
            return bits * (times == string_view::npos ? 1 : static_cast<unsigned>(number_at(what, times + 2) & 0x3ff));
        }
    return 0;
}

/// The descriptor's last byte names the surface; 0xFE is the shared local memory.
bool is_slm(const Instruction& i, string_view what) {
    if (has_any(what, {".slm", "SLM"})) return true;
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
    if (has_any(what, {"fence", "flush"})) return {"fence"};
    const bool atomic = what.find("atomic") != string_view::npos;
    const bool store = has_any(what, {"write", "store", "scatter"});
    const bool load = has_any(what, {"read", "load", "sample", "gather"});
    if (!atomic && !store && !load) return {"send_other"};
    const bool image = has_any(what, {"sample", "typed"}) && what.find("untyped") == string_view::npos;
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

/// Type of the first operand, the result: "f", "hf", "ud". A comparison writes flags and has it on null.
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
    if (i.flow != Flow::next || one_of(m, {"call", "calla"})) return {"branch"};
    if (one_of(m, {"sync", "wait"})) return {"wait"};
    if (one_of(m, {"dpas", "dpasw"})) return {"matrix"};
    // For one item, or for the thread as a whole: addresses, counters, message headers.
    if (lanes_of(i.operands).width == 1) return {"scalar"};
    if (m == "math") return {"special"};
    if (one_of(m, {"mov", "movi", "sel", "csel", "smov"})) return {"move"};
    const auto type = result_type(i);
    if (type == "f") return {"fp32"};
    if (type == "hf" || type == "bf") return {"fp16"};
    if (type == "df") return {"fp64"};
    return {"integer"};
}

// --- Declared work ---------------------------------------------------------------------------------------------------

double arithmetic(const Instruction& i, const Declared& d) {
    const string_view m = string_view(i.mnemonic).substr(0, i.mnemonic.find('.'));
    const auto type = result_type(i);
    const unsigned bits = type == "df" ? 64 : type == "f" ? 32 : type == "hf" || type == "bf" ? 16 : 0;
    if (d.what == What::multiply_add) return one_of(m, {"mad", "mac", "madm"}) && bits >= d.bits ? i.share : 0;
    if (d.what == What::integer_multiply)
        return one_of(m, {"mul", "mad", "mach", "macl", "dp4a"}) && bits == 0 ? i.share : 0;
    if (one_of(m, {"call", "calla"})) return lanes_of_call;
    if (m == "math") return i.share;
    return bits > 0 && one_of(m, {"add", "mul", "mad", "madm", "mac", "frc", "rndd", "rnde", "rndu", "rndz"}) ? i.share
                                                                                                              : 0;
}

bool is_call(const Instruction& i) { return starts_with_any(i.mnemonic, {"call"}); }

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
        return note(
            "ocloc must be told the processor, which the binary does not name: ocloc disasm -file FILE -dump DIR "
            "-device NAME");
    }
    const TempFolder folder;
    const auto file = folder.write("program.bin", binary);
    const auto dump = folder.path() / "dump";
    const auto result =
        run_ocloc(folder, *tool, {"disasm", "-file", file.string(), "-dump", dump.string(), "-device", options.target});
    out.tool_log = read_file(dump / "PTM.txt").value_or("");
    // A file for each kernel. A variant may be made of several, of which none has its name: then it is the first.
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

/// Threads of an execution unit: as the compiler has set them, half as many with the large register file.
std::optional<Occupancy> occupancy(const std::string& processor, const KernelNeeds& needs) {
    if (needs.registers <= 0 || needs.wavefront <= 0) return std::nullopt;
    OccupancyLimits found;
    found.add(needs.wavefront, "hardware",
              std::to_string(needs.wavefront) + " threads with " + std::to_string(needs.registers) + " registers each");
    const auto shares = subslice(processor);
    if (shares && needs.local_bytes > 0 && needs.group_items > 0 && needs.simd > 0) {
        const auto given = static_cast<std::int64_t>(
            std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(needs.local_bytes, 1024))));
        const auto threads = (static_cast<std::int64_t>(needs.group_items) + needs.simd - 1) / needs.simd;
        const auto groups = shares->local_bytes / given, each = groups * threads / shares->units;
        found.add(each, "local memory",
                  "floor(" + std::to_string(shares->local_bytes) + " byte / " + std::to_string(given) + ") * " +
                      std::to_string(threads) + " / " + std::to_string(shares->units) + " = " + std::to_string(each));
    }
    return found.result(static_cast<unsigned>(needs.wavefront), "threads per execution unit");
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
        set_fact(a.info, "registers", &model::CodeInfo::registers, named_registers(code->code),
                 "listing by ocloc, general registers named, of " + std::to_string(*file) + " per thread");
    set_fact(a.info, "private_bytes", &model::CodeInfo::private_bytes, word(scratch, 1).value_or(0),
             origin + ", scratch per thread");
    set_local_bytes(a.info, word(local_memory, 1).value_or(0), request, origin);
    // "kernel k  compiled SIMD8 allocated 128 regs and spilled around 188"
    const auto said = request.build_log.find("kernel " + kernel + " ");
    const auto end = request.build_log.find('\n', said);
    const auto spilled = request.build_log.find("spilled around ", said);
    const bool spills = said != string_view::npos && spilled < end;
    set_fact(a.info, "spills", &model::CodeInfo::spills,
             spills ? static_cast<std::int64_t>(number_at(request.build_log, spilled + 15)) : 0,
             "ocloc's log, registers spilled, around");
    add_occupancy(facts, occupancy(request.target, {.registers = *file,
                                                    .local_bytes = a.info.local_bytes.value_or(0),
                                                    .wavefront = *threads,
                                                    .group_items = request.group_items,
                                                    .simd = *simd}));
}

constexpr Kind kinds[]{Kind::intel_gpu_patch_tokens, Kind::intel_gpu_zebin};
constexpr ShownFact shown_facts[]{{"register_file", "of", "", true}, {"simd_width", "SIMD", "", true}};
constexpr string_view local_spaces[]{"slm"}, global_spaces[]{"global", "block"};

}  // namespace

const InstructionSet isa::xe{
    .name = "xe",
    .rule =
        "Every instruction is in one class; one for 32 work-items may be two of 16 each; send_ is a message, by where "
        "it goes; "
        "scalar is an instruction of width 1, for the thread as a whole; memory widths are per work-item, of block_ "
        "per thread; nop "
        "is padding and not counted.",
    .kinds = kinds,
    .words = {"registers named", "spilled registers", "", "scratch", "shared local memory"},
    .shown_facts = shown_facts,
    .parse = parse,
    .classify = classify,
    .local_spaces = local_spaces,
    .global_spaces = global_spaces,
    .arithmetic = arithmetic,
    .is_call = is_call,
    .disassemble = disassemble,
    .read_facts = read_facts,
    .occupancy = occupancy,
    .offline = &intel_compiler,
};

}  // namespace cllab::inspect
