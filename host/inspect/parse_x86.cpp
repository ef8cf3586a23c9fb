// objdump and llvm-objdump, Intel syntax: "    1160:\tmov    rax,QWORD PTR [rdi]" and "    1160:      \tmov\trax, qword
// ptr [rdi]".
#include <algorithm>
#include <array>
#include <cctype>

#include "core/text.hpp"
#include "inspect/code.hpp"

namespace cllab::inspect {
namespace {

bool is_prefix(std::string_view word) {
    constexpr std::array<std::string_view, 12> prefixes{"lock", "rep",     "repz",   "repnz", "repe",     "repne",
                                                        "bnd",  "notrack", "data16", "cs",    "xacquire", "xrelease"};
    return std::find(prefixes.begin(), prefixes.end(), word) != prefixes.end();
}

void set_flow(Instruction& i) {
    const std::string_view m = i.mnemonic;
    if (m.starts_with("ret") || m == "ud2" || m == "hlt" || m == "iretq")
        i.flow = Flow::stop;
    else if (m.starts_with("jmp"))
        i.flow = Flow::jump;
    else if (m.starts_with("j") || m.starts_with("loop"))
        i.flow = Flow::branch;
    else
        return;
    // A direct target is a number; "rax" and "QWORD PTR [rax*8+0x10]" are indirect, and "a" to "f" would read as hex.
    const std::string_view target = i.operands;
    const bool number = !target.empty() && std::isxdigit(static_cast<unsigned char>(target[0])) &&
                        (target.starts_with("0x") || target.find('<') != std::string_view::npos);
    if (i.flow == Flow::stop || !number) return;
    if (const auto address = leading_hex(target)) i.targets.push_back(*address);
}

/// The register that an address starts from, "rbp" of "[rbp - 0x40]"; a register that is scaled is an index and no
/// base.
std::string_view base_register(std::string_view operands) {
    const auto open = operands.find('[');
    if (open == std::string_view::npos) return {};
    operands.remove_prefix(open + 1);
    std::size_t end = 0;
    while (end < operands.size() && std::isalnum(static_cast<unsigned char>(operands[end]))) ++end;
    return end < operands.size() && operands[end] == '*' ? std::string_view{} : operands.substr(0, end);
}

/// rbp is a register as any other, unless the function makes it its frame pointer.
bool sets_frame_pointer(const Instruction& i) {
    const std::string operands = lower(i.operands);
    return i.mnemonic == "enter" || (i.mnemonic == "mov" && (operands == "rbp,rsp" || operands == "rbp, rsp")) ||
           (i.mnemonic == "lea" && operands.starts_with("rbp") && base_register(operands) == "rsp");
}

void mark_stack(Function& function) {
    auto& code = function.instructions;
    const bool frame = std::any_of(code.begin(), code.end(), sets_frame_pointer);
    for (auto& i : code) {
        const std::string operands = lower(i.operands);
        const auto base = base_register(operands);
        i.stack = base == "rsp" || (frame && base == "rbp");
    }
}

}  // namespace

std::vector<Function> parse_x86(std::string_view text) {
    std::vector<Function> functions;
    std::optional<Instruction> prefix;  // llvm-objdump prints "lock" on a line of its own
    for (const auto line : lines_of(text)) {
        if (const auto header = function_header(line); !header.empty()) {
            prefix.reset();
            functions.push_back({std::string(header), {}});
            continue;
        }
        const auto first = line.find_first_not_of(" ");
        const auto colon = line.find(':');
        if (functions.empty() || first == std::string_view::npos || colon == std::string_view::npos || colon <= first)
            continue;
        // Behind the colon the tools print a tab; a file's name and line, "add:12", has none.
        const auto body_at = line.find_first_not_of(' ', colon + 1);
        if (body_at == std::string_view::npos || line[body_at] != '\t') continue;
        const auto digits = line.substr(first, colon - first);
        if (!std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isxdigit(c); })) continue;

        std::string body = std::string(line.substr(colon + 1));
        std::replace(body.begin(), body.end(), '\t', ' ');
        if (const auto comment = body.find(" #"); comment != std::string::npos) body.resize(comment);
        body = trim(body);
        if (body.empty()) continue;
        Instruction i = prefix.value_or(Instruction{});
        if (!prefix) i.address = leading_hex(digits).value_or(0);
        prefix.reset();
        std::string rest = body;
        for (;;) {
            const auto space = std::min(rest.find(' '), rest.size());
            i.mnemonic = lower(rest.substr(0, space));
            rest = trim(rest.substr(space));
            if (!is_prefix(i.mnemonic)) break;
            i.locked = i.locked || i.mnemonic == "lock";
            if (rest.empty()) break;
        }
        if (is_prefix(i.mnemonic)) {
            prefix = i;
            continue;
        }
        i.operands = rest;
        i.text = i.mnemonic + (rest.empty() ? "" : " " + rest);
        set_flow(i);
        auto& list = functions.back().instructions;
        if (!list.empty() && i.address > list.back().address)
            list.back().bytes = static_cast<std::uint32_t>(i.address - list.back().address);
        list.push_back(std::move(i));
    }
    for (auto& function : functions) mark_stack(function);
    return functions;
}

}  // namespace cllab::inspect
