#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "core/hash.hpp"
#include "inspect/binary/elf.hpp"
#include "inspect/binary/nvidia.hpp"
#include "inspect/code/analysis.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::inspect {
namespace {

/// Replaces the kernel's name where it is one: alone, or between the underscores that drivers and parameters put around
/// it.
void drop_name(std::string& text, const std::string& name) {
    if (name.empty()) return;
    const auto letter = [&](std::size_t at) {
        return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at]));
    };
    for (auto at = text.find(name); at != std::string::npos;) {
        const bool is_name = !(at > 0 && letter(at - 1)) && !letter(at + name.size());
        if (is_name) text.replace(at, name.size(), "@");
        at = text.find(name, at + 1);
    }
}

/// "[rip + 0x2f3]" and "[rip-18]" become "[rip]": where constants lie follows from the length of the code before them.
void drop_displacements(std::string& text) {
    for (auto at = text.find("rip"); at != std::string::npos; at = text.find("rip", at + 3)) {
        auto end = at + 3;
        while (end < text.size() && (std::isxdigit(static_cast<unsigned char>(text[end])) ||
                                     std::string_view(" +-x").find(text[end]) != std::string_view::npos))
            ++end;
        text.erase(at + 3, end - at - 3);
    }
}

/// The bytes of the constants that lie beside the code in an ELF file.
std::string constants_of(ByteSpan file) {
    std::string out;
    if (const auto elf = read_elf(file)) {
        for (const auto& section : elf->sections)
            if (section.name.starts_with(".rodata")) out.append(as_text(section.data));
    }
    return out;
}

}  // namespace

std::string normalised(const InstructionSet& set, const Function& function, const std::string& entry) {
    std::map<std::uint64_t, std::size_t> place;
    for (std::size_t i = 0; i < function.instructions.size(); ++i) place.emplace(function.instructions[i].address, i);
    std::string out;
    for (std::size_t i = 0; i < function.instructions.size(); ++i) {
        const auto& instruction = function.instructions[i];
        std::string operands = instruction.operands;
        if (!instruction.targets.empty()) {
            operands.clear();
            for (const auto target : instruction.targets) {
                const auto found = place.find(target);
                operands += found == place.end() ? std::string(" outside")
                                                 : " " + std::to_string(static_cast<std::ptrdiff_t>(found->second) -
                                                                        static_cast<std::ptrdiff_t>(i));
            }
        }
        if (&set == &isa::x86) drop_displacements(operands);
        drop_name(operands, entry);
        out += instruction.guard + (instruction.locked ? "lock " : "") + instruction.mnemonic + " " + operands + "\n";
    }
    return out;
}

std::string normalised_with_callees(const InstructionSet& set, std::string_view text, const Function& function,
                                    const std::string& entry) {
    const auto functions = set.parse(text);
    std::set<std::string_view> seen{function.name};
    std::vector<const Function*> todo{&function};
    std::string out;
    while (!todo.empty()) {
        const auto* next = todo.back();
        todo.pop_back();
        out += normalised(set, *next, entry);
        for (const auto& instruction : next->instructions) {
            const auto name = behind_plt(named_target(instruction.operands));
            const auto found = std::ranges::find(functions, name, &Function::name);
            if (found != functions.end() && seen.insert(found->name).second) todo.push_back(&*found);
        }
    }
    return out;
}

std::string fingerprint(const Analysis& analysis, ByteSpan binary, const std::string& entry) {
    if (analysis.kind == Kind::ptx) {
        auto kernel = kernel_of_ptx(ptx_text(binary), entry);
        drop_name(kernel, entry);
        return sha256_hex(kernel);
    }
    const auto* best = analysis.best();
    if (!best) return {};
    const auto& listing = analysis.disassembly.listings[static_cast<std::size_t>(best - analysis.counts.data())];
    auto text = std::string(best->isa->name) + "\n" +
                normalised_with_callees(*best->isa, listing.text, best->code, entry) + constants_of(binary);
    for (const auto& part : analysis.disassembly.parts) text += constants_of(as_bytes(part.bytes));
    return sha256_hex(text);
}

}  // namespace cllab::inspect
