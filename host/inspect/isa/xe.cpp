// Intel GPUs, Gen9 to Xe-HPC. The text is ocloc's: one line an instruction, "(f0.0)  while (32|M0)  L288", with labels
// that are byte addresses; messages to memory are `send`, with what they do in a comment: "// wr:2+0, rd:8; untyped
// surface read with xyzw".
#include <algorithm>
#include <cctype>

#include "core/text.hpp"
#include "inspect/isa/intel.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::inspect::xe {
namespace {

using std::string_view;
using What = model::Declared::What;

// --- Parsing ---------------------------------------------------------------------------------------------------------

/// "L288:" gives 288.
std::optional<std::uint64_t> label(string_view line) {
    if (line.size() < 3 || line.front() != 'L' || line.back() != ':') return std::nullopt;
    return whole_number(line.substr(1, line.size() - 2));
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
    if (!is_named(m, "if else endif while break cont goto join jmpi brd brc halt")) return;
    i.flow = m == "jmpi" && i.guard.find('f') == std::string::npos ? Flow::jump : Flow::branch;
    const std::string operands = " " + i.operands;  // a jump of pvc has nothing but its target
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
    if (i.flow != Flow::next || is_named(m, "call calla")) return {"branch"};
    if (is_named(m, "sync wait")) return {"wait"};
    if (is_named(m, "dpas dpasw")) return {"matrix"};
    // For one item, or for the thread as a whole: addresses, counters, message headers.
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
