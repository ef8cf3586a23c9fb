#include "explain/kernel_text.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "inspect/code/code.hpp"

namespace cllab::explain {
namespace {

/// Whether `word` stands in `text` as a word of its own.
bool has_word(std::string_view text, std::string_view word) {
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const auto end = at + word.size();
        if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end]))) return true;
    }
    return false;
}

/// What #if asks of a text that is built with these options.
struct Conditions {
    const std::string &text, &options;

    bool is_defined(std::string_view name) const {
        name = name.substr(0, name.find_first_of(" \t/"));
        // The compiler has names of its own, and the text may define what it asks for.
        return name.starts_with("cl_") || name.starts_with("__") || has_word(text, "#define " + std::string(name)) ||
               has_word(options, "-D" + std::string(name));
    }

    /// defined(A), !defined(A) and what && and || make of them. What is in further parentheses is taken for true rather
    /// more often than it is.
    bool may_hold(const std::string& condition) const {
        if (condition.find("!(") != std::string::npos) return true;
        const auto term_may = [&](const std::string& term) {
            const auto at = term.find("defined("), close = term.find(')', at);
            if (close == std::string::npos) return true;
            const auto around = term.substr(0, at) + term.substr(close + 1);
            if (around.find_first_not_of(" ()!") != std::string::npos) return true;
            return is_defined(term.substr(at + 8, close - at - 8)) != (around.find('!') != std::string::npos);
        };
        // Between the two characters of || and && is an empty part.
        const auto any = split(condition, '|');
        return std::ranges::any_of(any, [&](const auto& part) {
            return !part.empty() && std::ranges::all_of(split(part, '&'), [&](const auto& term) {
                return term.empty() || term_may(term);
            });
        });
    }
};

}  // namespace

bool asks_for(const std::string& text, const std::string& options, const std::vector<std::string>& functions) {
    const Conditions conditions{text, options};
    std::vector<bool> compiled;  // of each #if around a line; one whose condition is not understood is
    for (const auto line : inspect::lines_of(text)) {
        const auto words = trim(line);
        if (words.starts_with("#if "))
            compiled.push_back(conditions.may_hold(words.substr(4)));
        else if (words.starts_with("#if"))
            compiled.push_back(!words.starts_with("#ifdef ") || conditions.is_defined(trim(words.substr(7))));
        else if (words.starts_with("#el") && !compiled.empty())
            compiled.back() = true;
        else if (words.starts_with("#endif") && !compiled.empty())
            compiled.pop_back();
        else if (std::ranges::find(compiled, false) == compiled.end() &&
                 std::ranges::any_of(functions, [&](const auto& f) { return has_word(line, f); }))
            return true;
    }
    return false;
}

}  // namespace cllab::explain
