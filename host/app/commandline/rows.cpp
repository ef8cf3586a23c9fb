#include "app/commandline/rows.hpp"

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/table/table.hpp"

namespace cllab::app {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& found, const std::string& possible) {
    throw Error(Blame::usage, "option '--", option, "' is ", found, "; possible are ", possible);
}

template <typename T>
T parsed(const std::string& option, const std::string& text, const std::string& possible) {
    T out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc{} || end != text.data() + text.size()) refuse(option, "'" + text + "'", possible);
    return out;
}

}  // namespace

double number_of(const std::string& option, const std::string& text, const Range& range) {
    const auto out = parsed<double>(option, text, range.possible);
    const bool inside = (range.above_low ? out > range.low : out >= range.low) && out <= range.high;
    if (!inside) refuse(option, format_exact(out), range.possible);
    return out;
}

unsigned whole_of(const std::string& option, const std::string& text, const Range& range) {
    const auto out = parsed<unsigned>(option, text, range.possible);
    if (out < range.low || out > range.high) refuse(option, std::to_string(out), range.possible);
    return out;
}

std::string word_of(const std::string& option, const std::string& text, const Strings& possible) {
    if (std::ranges::find(possible, text) != possible.end()) return text;
    if (possible.size() == 1)
        throw Error(Blame::usage, "option '--", option, "' is '", text, "'; possible is ", possible.front());
    const Strings first(possible.begin(), possible.end() - 1);
    refuse(option, "'" + text + "'", join(first, ", ") + " and " + possible.back() + or_did_you_mean(text, possible));
}

void add_named(const std::string& option, const std::string& text, Pairs& to) {
    const auto at = text.find('=');
    if (at == 0 || at == std::string::npos || at + 1 == text.size())
        throw Error(Blame::usage, "option '--", option, "' takes NAME=VALUE; found '", text, "'");
    const std::pair<std::string, std::string> added{text.substr(0, at), text.substr(at + 1)};
    for (const auto& [name, value] : to)
        if (name == added.first)
            throw Error(Blame::usage, "option '--", option, "' gives '", name, "' twice, '", value, "' and '",
                        added.second, "'");
    to.push_back(added);
}

Strings columns_of(const std::string& text) {
    auto out = mapped(split(text, ','), report::column_name);
    if (std::ranges::find(out, "") != out.end())
        throw Error(Blame::usage, "option '--columns' takes names with commas between; found '", text, "'");
    return out;
}

std::uint64_t seed_of(const std::string& text) {
    return parsed<std::uint64_t>("seed", text, "whole numbers from 0 to 18446744073709551615");
}

void refuse_empty(const Strings& args) {
    for (std::size_t i = 0; i < args.size(); ++i)
        if (args[i].empty())
            throw Error(Blame::usage,
                        i == 0 ? "the first argument is empty" : "the argument after '" + args[i - 1] + "' is empty");
}

}  // namespace cllab::app
