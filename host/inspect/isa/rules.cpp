#include "inspect/isa/rules.hpp"

namespace cllab::inspect {
namespace {

bool matches(std::string_view pattern, std::string_view word) {
    const auto star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == word;
    if (!word.starts_with(pattern.substr(0, star))) return false;
    const auto rest = pattern.substr(star + 1);
    for (auto at = star; at <= word.size(); ++at)
        if (rest.empty() || matches(rest, word.substr(at))) return true;
    return false;
}

}  // namespace

bool is_named(std::string_view mnemonic, std::string_view names) {
    const auto root = mnemonic.substr(0, mnemonic.find('.'));
    while (!names.empty() && !mnemonic.empty()) {
        const auto end = std::min(names.find(' '), names.size());
        const auto name = names.substr(0, end);
        names.remove_prefix(std::min(end + 1, names.size()));
        if (!name.starts_with('*') && !name.starts_with(mnemonic.front())) continue;  // most names, in one comparison
        if (matches(name, mnemonic) || (root != mnemonic && matches(name, root))) return true;
    }
    return false;
}

bool has_part(std::string_view mnemonic, std::string_view part) {
    for (auto at = mnemonic.find('.'); at != std::string_view::npos; at = mnemonic.find('.', at + 1)) {
        const auto end = std::min(mnemonic.find('.', at + 1), mnemonic.size());
        if (mnemonic.substr(at + 1, end - at - 1) == part) return true;
    }
    return false;
}

void set_sizes(Function& function) {
    auto& code = function.instructions;
    for (std::size_t k = 0; k + 1 < code.size(); ++k)
        if (code[k + 1].address > code[k].address)
            code[k].bytes = static_cast<std::uint32_t>(code[k + 1].address - code[k].address);
}

void drop_padding(Function& function, std::string_view names) {
    auto& code = function.instructions;
    while (!code.empty() && is_named(code.back().mnemonic, names)) code.pop_back();
}

const RoleRule* rule_of(std::span<const RoleRule> rules, std::string_view mnemonic, std::size_t operands) {
    for (const auto& rule : rules)
        if (operands >= rule.least && is_named(mnemonic, rule.names)) return rule.operands == "?" ? nullptr : &rule;
    return nullptr;
}

bool each_operand(const RoleRule& rule, std::size_t operands,
                  const std::function<bool(std::size_t operand, char letter, char width)>& give,
                  const std::function<bool(std::size_t operand)>& is_predicate) {
    std::size_t at = 0, sources = 0;
    for (std::size_t k = 0; k < operands && !rule.operands.empty();) {
        const char letter = rule.operands[at];
        const bool predicate = is_predicate && is_predicate(k), optional = letter == 'p' || letter == 'P';
        if (letter != 'P' || !predicate) at = std::min(at + 1, rule.operands.size() - 1);
        if (optional && !predicate) continue;
        sources += letter == 'r' && !predicate;
        const auto width = optional || letter == 'w' ? 0 : std::min(sources, rule.widths.size() - 1);
        if (!give(k++, optional ? 'w' : letter, rule.widths[width])) return false;
    }
    return true;
}

void add_units(Roles& roles, const std::vector<Unit>& units, char letter, bool whole) {
    auto& written = whole ? roles.writes : roles.touches;
    if (letter == 'r' || letter == 'm') roles.reads.insert(roles.reads.end(), units.begin(), units.end());
    if (letter == 'w' || letter == 'm') written.insert(written.end(), units.begin(), units.end());
}

}  // namespace cllab::inspect
