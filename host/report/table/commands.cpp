// Commands for the user to paste.
#include <algorithm>
#include <cctype>
#include <set>

#include "core/text.hpp"
#include "report/table/verdict.hpp"

namespace cllab::report {

using model::Record;

std::string pattern_of(const Record& r) {
    const auto& file = r.build.source;
    const bool own = std::ranges::any_of(r.argv, [&](const auto& word) { return word.starts_with(file); });
    return own && !file.empty() ? shell_word(file + ":" + r.variant) : r.id;
}

std::string shell_word(std::string word) {
    constexpr std::string_view plain = "_-+=:,./@%^";
    const auto is_plain = [&](unsigned char c) { return std::isalnum(c) || plain.find(c) != plain.npos; };
    if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
    for (auto at = word.find('\''); at != word.npos; at = word.find('\'', at + 4)) word.replace(at, 1, "'\\''");
    return "'" + word + "'";
}

bool sets_axis(std::string_view word, const std::string& axis) {
    if (constexpr std::string_view option = "--axis="; word.starts_with(option)) word.remove_prefix(option.size());
    return word.starts_with(axis) && word.substr(axis.size()).starts_with('=');
}

std::string axes_of(const Record& r, const model::PointValues& also) {
    const auto is_given = [&](const std::string& axis) {
        return std::ranges::any_of(r.argv, [&](const auto& word) { return sets_axis(word, axis); });
    };
    std::string out;
    for (const auto& [axis, value] : r.point)
        if (!value.empty() && (is_given(axis) || std::ranges::count(also, axis, [](const auto& a) { return a.first; })))
            out += " --axis " + shell_word(axis + "=" + value);
    return out;
}

std::string command_text(const Record& r, const std::string& words, const model::PointValues& also) {
    static const std::set<std::string> of_kernel{
        "--arg",     "--global",    "--local",    "--offset",   "--variant", "--extends",       "-I",
        "--include", "--work",      "--where",    "--expect",   "--cl-dir",  "--build-options", "--dumps",
        "--input",   "--reference", "--relation", "--tolerance"};
    // isa has another --expect and no --input, profile has no kernel.
    static const std::set<std::string> none, dumps{"--dumps"}, not_of_isa{"--expect", "--input"};
    const bool is_profile = words == "profile";
    const auto& kept = is_profile ? dumps : of_kernel;
    const auto& left_out = words.starts_with("isa ") ? not_of_isa : none;
    std::string options = is_profile ? "" : axes_of(r, also);
    for (std::size_t i = 0; i < r.argv.size(); ++i) {
        const auto& word = r.argv[i];
        const auto name = word.starts_with("-I") ? "-I" : word.substr(0, word.find('='));
        if (left_out.contains(name) || !kept.contains(name)) continue;
        options += " " + shell_word(word);
        if (kept.contains(word) && i + 1 < r.argv.size()) options += " " + shell_word(r.argv[++i]);
    }
    return "`cllab " + words + options + " --device " + r.device.selector + "`";
}

}  // namespace cllab::report
