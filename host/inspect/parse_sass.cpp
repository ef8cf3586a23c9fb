// nvdisasm ("        /*0110*/              @P0 BRA `(.L_x_0) ;" between labels) and cuobjdump -sass (addresses instead
// of labels, the encoding in a comment behind each line).
#include <algorithm>
#include <map>

#include "core/text.hpp"
#include "inspect/code.hpp"

namespace cllab::inspect {
namespace {

struct Parsed {
    Function function;
    std::map<std::string, std::uint64_t, std::less<>> labels;
    std::vector<std::string> waiting;  ///< labels in front of the next instruction
};

/// "/*0110*/" at the start of the trimmed line.
std::optional<std::uint64_t> address_comment(std::string_view line) {
    if (!line.starts_with("/*")) return std::nullopt;
    const auto end = line.find("*/");
    if (end == std::string_view::npos || end == 2 || end > 2 + 16) return std::nullopt;
    const auto digits = line.substr(2, end - 2);
    return digits.starts_with("0x") ? std::nullopt : leading_hex(digits);
}

std::optional<Instruction> read_instruction(std::string_view line) {
    const auto address = address_comment(line);
    if (!address) return std::nullopt;
    std::string body(line.substr(line.find("*/") + 2));
    if (const auto comment = body.find("/*"); comment != std::string::npos) body.resize(comment);
    body.erase(std::remove_if(body.begin(), body.end(), [](char c) { return c == '{' || c == '}' || c == ';'; }),
               body.end());
    body = trim(body);
    if (body.empty()) return std::nullopt;
    Instruction i;
    i.address = *address;
    i.text = body;
    if (body.front() == '@') {
        const auto space = std::min(body.find(' '), body.size());
        i.guard = body.substr(0, space);
        body = trim(std::string_view(body).substr(space));
    }
    const auto space = std::min(body.find(' '), body.size());
    i.mnemonic = body.substr(0, space);
    i.operands = trim(std::string_view(body).substr(space));
    return i;
}

bool is(std::string_view mnemonic, std::string_view root) {
    return mnemonic.starts_with(root) && (mnemonic.size() == root.size() || mnemonic[root.size()] == '.');
}

/// Target of "`(.L_x_0)", "UP0, `(.L_x_0)" or "0x130"; nothing for a register.
std::optional<std::uint64_t> branch_target(const Instruction& i, const Parsed& parsed) {
    const auto open = i.operands.rfind("`("), close = i.operands.rfind(')');
    if (open != std::string::npos && close != std::string::npos && close > open) {
        const auto found = parsed.labels.find(std::string_view(i.operands).substr(open + 2, close - open - 2));
        return found == parsed.labels.end() ? std::nullopt : std::optional(found->second);
    }
    const auto last = i.operands.find_last_of(" ,");
    const std::string word = i.operands.substr(last == std::string::npos ? 0 : last + 1);
    return word.starts_with("0x") ? leading_hex(word) : std::nullopt;
}

void set_flow(Instruction& i, const Parsed& parsed) {
    const bool guarded = !i.guard.empty() && i.guard != "@PT" && i.guard != "@UPT";
    if (is(i.mnemonic, "EXIT") || is(i.mnemonic, "RET") || is(i.mnemonic, "KILL")) {
        i.flow = guarded ? Flow::next : Flow::stop;
    } else if (is(i.mnemonic, "BRA") || is(i.mnemonic, "JMP") || is(i.mnemonic, "BRX") || is(i.mnemonic, "JMX") ||
               is(i.mnemonic, "BRXU")) {
        // A predicate may also be an operand: "BRA.U UP0, `(.L_x_1)", "BRA.DIV UR4, `(.L_x_2)".
        const bool conditional = guarded || i.operands.find(',') != std::string::npos;
        i.flow = conditional ? Flow::branch : Flow::jump;
        if (const auto target = branch_target(i, parsed)) i.targets.push_back(*target);
    } else if (is(i.mnemonic, "CALL")) {
        // The subroutine (a division, say) stands behind the kernel's own code; as a branch it becomes reachable.
        if (const auto target = branch_target(i, parsed)) i.flow = Flow::branch, i.targets.push_back(*target);
    }
}

Function finish(Parsed&& parsed) {
    auto& list = parsed.function.instructions;
    for (std::size_t k = 0; k + 1 < list.size(); ++k)
        if (list[k + 1].address > list[k].address)
            list[k].bytes = static_cast<std::uint32_t>(list[k + 1].address - list[k].address);
    if (list.size() > 1) list.back().bytes = list[list.size() - 2].bytes;
    for (auto& i : list) set_flow(i, parsed);
    // Behind the code stands a branch to itself and NOPs up to the alignment.
    while (!list.empty() && is(list.back().mnemonic, "NOP")) list.pop_back();
    if (!list.empty() && list.back().flow == Flow::jump && list.back().targets == std::vector{list.back().address})
        list.pop_back();
    return std::move(parsed.function);
}

}  // namespace

std::vector<Function> parse_sass(std::string_view text) {
    std::vector<Function> functions;
    Parsed current;
    const auto begin = [&](std::string name) {
        if (!current.function.instructions.empty()) functions.push_back(finish(std::move(current)));
        current = Parsed{{std::move(name), {}}, {}, {}};
    };
    for (const auto raw : lines_of(text)) {
        const std::string line = trim(raw);
        if (const auto at = line.find(" .text."); line.starts_with("//---") && at != std::string::npos) {
            begin(line.substr(at + 7, line.find(' ', at + 7) - at - 7));
        } else if (const auto function = line.find("Function : "); function != std::string::npos) {
            begin(trim(line.substr(function + 11)));
        } else if (auto instruction = read_instruction(line)) {
            for (auto& label : current.waiting) current.labels.emplace(std::move(label), instruction->address);
            current.waiting.clear();
            current.function.instructions.push_back(std::move(*instruction));
        } else if (line.size() > 1 && line.back() == ':' && line.find(' ') == std::string::npos) {
            current.waiting.push_back(line.substr(0, line.size() - 1));
        }
    }
    begin({});
    return functions;
}

}  // namespace cllab::inspect
