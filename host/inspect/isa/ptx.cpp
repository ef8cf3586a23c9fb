// PTX statements of every .entry and .func body. A statement ends in ';' and may span lines (calls do).
#include <algorithm>
#include <map>

#include "core/text.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/binary/nvidia.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/isa/nvidia.hpp"
#include "inspect/tools/kept_code.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect::ptx {
namespace {

using std::string_view;
using What = model::Declared::What;

// --- Parsing ---------------------------------------------------------------------------------------------------------

/// Removes comments, `.loc` and `.file`. These two end with their line, not with ';'; a build with -g has one before
/// most instructions.
std::string statements_only(string_view text) {
    std::string out;
    out.reserve(text.size());
    bool line_is_blank = true;
    for (std::size_t i = 0; i < text.size();) {
        const auto rest = text.substr(i);
        if (rest.starts_with("//") || (line_is_blank && (rest.starts_with(".loc") || rest.starts_with(".file")))) {
            i = std::min(text.find('\n', i), text.size());
        } else if (rest.starts_with("/*")) {
            const auto end = text.find("*/", i + 2);
            i = end == string_view::npos ? text.size() : end + 2;
            out += ' ';
        } else {
            const char c = text[i++];
            line_is_blank = c == '\n' || (line_is_blank && (c == ' ' || c == '\t' || c == '\r'));
            out += c;
        }
    }
    return out;
}

struct Body {
    Function function;
    std::map<std::string, std::uint64_t, std::less<>> labels;
    std::map<std::string, std::vector<std::string>, std::less<>> tables;  ///< of .branchtargets
    std::string table;                                                    ///< label directly before this statement
};

void add_label(Body& body, const std::string& name) {
    body.table = name;
    body.labels.emplace(name, body.function.instructions.size());
}

bool is_name(string_view text) { return !text.empty() && std::ranges::all_of(text, in_ptx_name); }

void add_statement(Body& body, std::string statement) {
    statement = trim(statement);
    if (statement.empty()) return;
    if (statement.front() == '.') {
        if (statement.starts_with(".branchtargets"))
            for (const auto& name : split(statement.substr(14), ',')) body.tables[body.table].push_back(trim(name));
        return;
    }
    for (char& c : statement)
        if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    auto& code = body.function.instructions;
    code.push_back(instruction_of(std::move(statement)));
    code.back().address = code.size() - 1;
}

void set_flow(Body& body) {
    for (auto& i : body.function.instructions) {
        const auto root = i.mnemonic.substr(0, i.mnemonic.find('.'));
        if (root == "ret" || root == "exit" || root == "trap") {
            i.flow = i.guard.empty() ? Flow::stop : Flow::next;
        } else if (root == "bra" || root == "brx") {
            i.flow = i.guard.empty() ? Flow::jump : Flow::branch;
            std::vector<std::string> names{i.operands};
            if (root == "brx") {
                const auto comma = i.operands.rfind(',');
                const auto table =
                    body.tables.find(comma == std::string::npos ? std::string{} : trim(i.operands.substr(comma + 1)));
                names = table == body.tables.end() ? std::vector<std::string>{} : table->second;
            }
            for (const auto& name : names)
                if (const auto label = body.labels.find(name); label != body.labels.end())
                    i.targets.push_back(label->second);
        }
    }
}

std::vector<Function> parse(string_view raw) {
    std::vector<Function> functions;
    const std::string text = statements_only(raw);
    std::size_t at = 0;
    while (at < text.size()) {
        const auto entry = text.find(".entry", at), func = text.find(".func", at);
        const auto head = std::min(entry, func);
        if (head == std::string::npos) break;
        const auto name_at = head + (head == entry ? 6 : 5);
        const auto open = text.find('{', name_at), semicolon = text.find(';', name_at);
        at = name_at;
        if (open == std::string::npos) break;
        if (semicolon < open) continue;  // a declaration

        Body body;
        body.function.name = ptx_function_name(string_view(text).substr(name_at));
        std::string statement;
        int depth = 1;
        for (at = open + 1; at < text.size() && depth > 0; ++at) {
            const char c = text[at];
            // Braces make scopes, except in an operand list: "ld.v4 {%r1, %r2}, [%rd1];" has a statement before them.
            if (c == '{' && trim(statement).empty())
                ++depth;
            else if (c == '}' && trim(statement).empty())
                --depth;
            else if (c == ';')
                add_statement(body, std::move(statement)), statement.clear();
            else if (c == ':' && is_name(trim(statement)))  // else part of an operation: "shared::cta"
                add_label(body, trim(statement)), statement.clear();
            else
                statement += c;
        }
        set_flow(body);
        functions.push_back(std::move(body.function));
    }
    return functions;
}

// --- Classes ---------------------------------------------------------------------------------------------------------

/// Bits of "f32", "u64", "b8", "bf16"; 0 for anything else.
unsigned type_bits(string_view part) {
    const auto digit = part.find_first_of("0123456789");
    if (digit == string_view::npos || digit == 0 || !is_named(part.substr(0, digit), "f u s b bf tf")) return 0;
    return static_cast<unsigned>(number_at(part, digit));
}

struct Opcode {
    std::vector<std::string> parts;
    std::string root;
    string_view type;  ///< first type of the mnemonic: the result's for cvt, otherwise the only one
    unsigned bits = 0;

    explicit Opcode(string_view mnemonic) : parts(split(mnemonic, '.')), root(parts.front()) {
        for (const auto& part : parts)
            if (bits = type_bits(part); bits > 0) {
                type = part;
                break;
            }
    }
    bool has(string_view part) const { return std::ranges::find(parts, part) != parts.end(); }
};

Class memory_class(const Opcode& op) {
    std::string space = "generic";
    for (const auto& part : op.parts)
        if (is_named(string_view(part).substr(0, part.find(':')), "global shared local const param"))
            space = part.substr(0, part.find(':'));
    if (space == "const") space = "constant";
    unsigned lanes = 1;
    for (const auto& part : op.parts)
        if (part == "v2" || part == "v4" || part == "v8") lanes = static_cast<unsigned>(part[1] - '0');
    const std::string what = op.root == "ld" || op.root == "ldu" ? "load" : op.root == "st" ? "store" : "atomic";
    return {space == "param" ? "parameter" : "memory", {space + "_" + what + "_" + std::to_string(lanes * op.bits)}};
}

std::string integer_class(const Opcode& op) { return op.bits == 64 || op.has("wide") ? "address" : "integer"; }

std::string by_type(const Opcode& op) {
    if (op.type.starts_with("f64")) return "fp64";
    if (op.type.starts_with("f32")) return "fp32";
    if (op.type.starts_with("f16") || op.type.starts_with("bf16")) return "fp16";
    return integer_class(op);
}

Class classify(const Instruction& i) {
    const Opcode op(i.mnemonic);
    if (is_named(op.root, "ld ldu st atom red")) return memory_class(op);
    if (is_named(op.root, "tex tld4 suld")) return {"memory", {"image_load"}};
    if (op.root == "sust") return {"memory", {"image_store"}};
    if (op.root == "sured") return {"memory", {"image_atomic"}};
    if (is_named(op.root, "txq suq")) return {"memory", {"image_query"}};
    if (is_named(op.root, "cp prefetch prefetchu discard applypriority")) return {"other"};
    if (is_named(op.root, "bra brx ret exit trap call")) return {"branch"};
    const bool orders = op.root == "wgmma" && !op.has("mma_async");  // fence, commit_group and wait_group
    if (is_named(op.root, "bar barrier membar fence mbarrier") || orders) return {"barrier"};
    if (is_named(op.root, "mma wmma wgmma ldmatrix stmatrix")) return {"matrix"};
    if (is_named(op.root, "shfl vote match activemask redux elect")) return {"warp"};
    if (op.root == "mov") return {"move"};
    if (op.root == "cvta") return {"address"};
    if (op.root == "cvt") {
        // Widening an index to 64 bits is address arithmetic; any other cvt is a conversion.
        const bool widens = (op.type == "s64" || op.type == "u64") &&
                            (op.has("s32") || op.has("u32") || op.has("s16") || op.has("u16"));
        return {widens ? "address" : "convert"};
    }
    if (is_named(op.root, "sin cos ex2 lg2 rcp rsqrt sqrt tanh") && op.has("approx") && op.type == "f32")
        return {"special"};
    if (op.bits != 0) return {by_type(op)};
    if (is_named(op.root, "and or xor not setp selp prmt lop3 shf popc clz")) return {"integer"};
    return {"other"};
}

// --- Declared work ---------------------------------------------------------------------------------------------------

double arithmetic(const Instruction& i, const model::Declared& d) {
    const Opcode op(i.mnemonic);
    const bool is_float = op.type.starts_with('f') || op.type.starts_with("bf"), is_wide = op.bits >= d.bits;
    const double lanes = op.type.ends_with("x2") ? 2 : 1;
    if (d.what == What::multiply_add) return is_named(op.root, "fma mad") && is_float && is_wide ? lanes : 0;
    if (d.what == What::integer_multiply)
        return is_named(op.root, "mul mad mul24 mad24") && !is_float && is_wide ? 1 : 0;
    if (op.root == "call") return lanes_of_call;
    const bool moves = is_named(op.root, "ld* st* mov* cvt* setp* selp* abs* neg* testp*");
    return is_float && !moves ? lanes : 0;
}

bool is_call(const Instruction& i) { return i.mnemonic.starts_with("call"); }

// --- The binary ------------------------------------------------------------------------------------------------------

/// The PTX, then SASS by ptxas if the tools are installed.
Disassembly disassemble(ByteSpan binary, const std::string& entry, const DisassembleOptions& options) {
    const string_view ptx = ptx_text(binary);
    Disassembly out;
    const bool has_others = kernel_names(binary).size() > 1;
    out.listings.push_back({describe(Kind::ptx),
                            &isa::ptx,
                            has_others ? listing_of_ptx_kernel(ptx, entry) : std::string(ptx),
                            {},
                            body_of_kernel(ptx, entry),
                            options.made_by});
    const std::string title = "SASS, re-assembled by ptxas, may differ from the driver's";
    const auto ptxas = options.ptxas.empty() ? find_tool({"ptxas"}) : options.ptxas;
    const auto sm = ptx_target(options.target.empty() ? ptx : ".target " + options.target);
    if (!ptxas || !nvidia::assembles(*ptxas, sm)) {
        const auto tools =
            concat("ptxas", ptxas ? " that knows sm_" + std::to_string(sm) : "", " with nvdisasm or cuobjdump");
        out.listings.push_back({title, &isa::sass, {}, needs("SASS", tools, "nvidia-cuda-toolkit"), entry});
        return out;
    }
    // Assembles only this kernel: the others would take time, and an error in one of them would reject all.
    const auto alone = has_others ? kernel_of_ptx(ptx, entry) : std::string(ptx);
    const bool is_own = ptx.find(".target sm_90a") != ptx.npos;  // has instructions that only this processor knows
    const std::string target = !options.target.empty() ? options.target
                               : is_own                ? "sm_90a"
                                                       : "sm_" + std::to_string(sm);
    const auto cubin = kept_code({"ptxas", target}, {*ptxas}, alone, {}, [&] {
        const TempFolder folder;
        const auto source = folder.write("program.ptx", as_bytes(alone)), to = folder.path() / "program.cubin";
        const ToolResult result = run_tool(*ptxas, {"-v", "-arch=" + target, source.string(), "-o", to.string()});
        const auto bytes = result.ok() ? read_file(to) : std::nullopt;
        return OfflineCode{bytes.has_value(),
                           bytes ? result.out + result.err : without_folder(result.failure(), folder.path()),
                           bytes.value_or(""),
                           {}};
    });
    if (!cubin.ok) {
        out.listings.push_back({title, &isa::sass, {}, "no disassembly: ptxas " + cubin.log, entry, {}, true});
        return out;
    }
    out.tool_log = cubin.log;
    Disassembly sass = disassemble_cubin(as_bytes(cubin.binary), entry, title + " (" + target + ")");
    out.code_bytes = sass.code_bytes;
    out.code_bytes_from = "cubin re-assembled by ptxas";
    out.listings.push_back(std::move(sass.listings.front()));
    out.parts.push_back({"program.cubin", cubin.binary});
    return out;
}

}  // namespace
}  // namespace cllab::inspect::ptx

namespace cllab::inspect {

const InstructionSet isa::ptx{
    .name = "ptx",
    .rule =
        "Each statement is in one class, before ptxas schedules and merges them. address: 64-bit integer arithmetic "
        "and mul.wide. Memory widths are per work-item.",
    .virtual_machine = true,
    .kinds = {Kind::ptx},
    .shown_facts = {nvidia::spill_loads},
    .parse = ptx::parse,
    .classify = ptx::classify,
    .local_spaces = {"shared", "generic"},
    .global_spaces = {"global", "generic"},
    .arithmetic = ptx::arithmetic,
    .is_call = ptx::is_call,
    .disassemble = ptx::disassemble,
    .read_facts = nvidia::read_facts,
    .occupancy = nvidia::occupancy,
    .offline = &nvidia::compiler,
};

}  // namespace cllab::inspect
