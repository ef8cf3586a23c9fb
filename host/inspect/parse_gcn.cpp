// llvm-objdump and amd_comgr: "\tv_add_u32_e32 v3, 1, v3    // 000000001A80: 68060681" and, behind a branch's encoding,
// " <f+0x68>".
#include <algorithm>
#include <charconv>

#include "core/text.hpp"
#include "inspect/code.hpp"

namespace cllab::inspect {
namespace {

/// Branches hold a signed count of dwords from the next instruction: "65522" is -14. Newer tools print a label instead;
/// then "<f+0x68>" behind the encoding tells.
std::optional<std::uint64_t> branch_target(const Instruction& i, std::string_view comment,
                                           std::uint64_t function_start) {
    unsigned value = 0;
    const auto parsed = std::from_chars(i.operands.data(), i.operands.data() + i.operands.size(), value);
    if (parsed.ec == std::errc{} && parsed.ptr == i.operands.data() + i.operands.size() && value <= 0xffff)
        return i.address + 4 +
               static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int16_t>(value)) * 4);
    const auto open = comment.find('<'), plus = comment.find('+', open), close = comment.find('>', open);
    if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
    if (plus == std::string_view::npos || plus > close) return function_start;
    const auto offset = leading_hex(comment.substr(plus + 1));
    return offset ? std::optional(function_start + *offset) : std::nullopt;
}

void set_flow(Instruction& i, std::string_view comment, std::uint64_t function_start) {
    const std::string_view m = i.mnemonic;
    if (m.starts_with("s_endpgm") || m == "s_setpc_b64" || m == "s_trap")
        i.flow = Flow::stop;
    else if (m == "s_branch")
        i.flow = Flow::jump;
    else if (m.starts_with("s_cbranch"))
        i.flow = Flow::branch;
    if (i.flow == Flow::jump || i.flow == Flow::branch)
        if (const auto target = branch_target(i, comment, function_start)) i.targets.push_back(*target);
}

/// The assembler fills the space behind a kernel with s_nop, s_code_end or repeated s_endpgm.
void drop_padding(Function& function) {
    auto& list = function.instructions;
    const auto is_padding = [](const Instruction& i) { return i.mnemonic == "s_nop" || i.mnemonic == "s_code_end"; };
    while (!list.empty() && is_padding(list.back())) list.pop_back();
}

}  // namespace

std::vector<Function> parse_gcn(std::string_view text) {
    std::vector<Function> functions;
    std::uint64_t start = 0;
    for (const auto line : lines_of(text)) {
        if (const auto header = function_header(line); !header.empty()) {
            functions.push_back({std::string(header), {}});
            start = leading_hex(line).value_or(0);
            continue;
        }
        const auto mark = line.find("// ");
        if (functions.empty() || mark == std::string_view::npos) continue;
        const std::string body = trim(line.substr(0, mark));
        const std::string_view comment = line.substr(mark + 3);
        const auto colon = comment.find(':');
        const auto address = leading_hex(comment);
        if (body.empty() || body.front() == ';' || !address || colon == std::string_view::npos) continue;

        Instruction i;
        i.address = *address;
        const auto space = std::min(body.find_first_of(" \t"), body.size());
        i.mnemonic = body.substr(0, space);
        i.operands = trim(std::string_view(body).substr(space));
        i.text = body;
        const std::string_view encoding =
            comment.substr(colon + 1, std::min(comment.find('<'), comment.size()) - colon - 1);
        std::size_t words = 0;
        for (const auto& word : split(encoding, ' ')) words += !trim(word).empty();
        i.bytes = static_cast<std::uint32_t>(4 * words);
        set_flow(i, comment, start);
        functions.back().instructions.push_back(std::move(i));
    }
    for (auto& function : functions) drop_padding(function);
    return functions;
}

}  // namespace cllab::inspect
