// Tables of instruction names and the one reader of them: what class an instruction is in, and what it does with its
// operands. Names stand in one text with blanks between them; '*' stands for any characters. A name is that of the
// whole mnemonic, or of its part before the first '.'. The first rule that names an instruction holds.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "inspect/code/code.hpp"
#include "inspect/code/liveness.hpp"

namespace cllab::inspect {

bool is_named(std::string_view mnemonic, std::string_view names);
/// Whether "WIDE" is a part of "IMAD.WIDE.U32", behind its first '.'.
bool has_part(std::string_view mnemonic, std::string_view part);
/// Sizes of instructions by the address of the next one, where the text has no other sign of them.
void set_sizes(Function& function);
/// Drops the instructions of these names that fill the space behind the code.
void drop_padding(Function& function, std::string_view names);

template <typename Value>
struct Rule {
    std::string_view names;
    Value value;
};
using NameRule = Rule<std::string_view>;
using NumberRule = Rule<unsigned>;
/// `other` for a mnemonic that no rule names.
template <typename Value, std::size_t N>
Value value_of(const Rule<Value> (&rules)[N], std::string_view mnemonic, std::type_identity_t<Value> other = {}) {
    const auto found = std::ranges::find_if(rules, [&](const auto& rule) { return is_named(mnemonic, rule.names); });
    return found == std::end(rules) ? other : found->value;
}

/// What an instruction does with its operands.
struct RoleRule {
    std::string_view names;
    /// A letter for each operand, the last one for all that follow: 'w' is written, 'r' read, 'm' both, '-' neither;
    /// 'p' is a predicate that is written, or no operand where another one stands there, and 'P' any number of them.
    /// Empty: the operands are no registers. "?": nothing is known of these names.
    std::string_view operands;
    std::string_view widths = "1";  ///< registers of the result and of each source; the last one for all behind
    std::size_t least = 0;          ///< of fewer operands the rule says nothing
    std::string_view reads{};       ///< registers that no operand names
};
/// nullptr where nothing is known.
const RoleRule* rule_of(std::span<const RoleRule> rules, std::string_view mnemonic, std::size_t operands);

/// Gives each operand with its letter, 'w', 'r', 'm' or '-', and its width. False as soon as `give` is.
bool each_operand(const RoleRule& rule, std::size_t operands,
                  const std::function<bool(std::size_t operand, char letter, char width)>& give,
                  const std::function<bool(std::size_t operand)>& is_predicate = {});

/// Adds the registers of an operand with this letter. What is not written `whole` is touched.
void add_units(Roles& roles, const std::vector<Unit>& units, char letter, bool whole = true);

}  // namespace cllab::inspect
