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

std::vector<std::string> kernel_options(const Record& r) {
    static const std::set<std::string> names{"--arg",       "--global",   "--local",    "--offset",        "--variant",
                                             "--extends",   "-I",         "--include",  "--work",          "--where",
                                             "--expect",    "--cl-dir",   "--dumps",    "--build-options", "--input",
                                             "--reference", "--relation", "--tolerance"};
    std::vector<std::string> out;
    for (std::size_t i = 0; i < r.argv.size(); ++i) {
        const auto& word = r.argv[i];
        if (!names.contains(word.starts_with("-I") ? "-I" : word.substr(0, word.find('=')))) continue;
        out.push_back(word);
        if (names.contains(word) && i + 1 < r.argv.size()) out.push_back(r.argv[++i]);
    }
    return out;
}

std::string command_text(const Record& r, const std::string& words, const model::PointValues& also) {
    // isa has another --expect and no --input, profile has no kernel.
    const bool is_profile = words == "profile", is_isa = words.starts_with("isa ");
    std::string options = is_profile ? "" : axes_of(r, also);
    const auto given = kernel_options(r);
    for (std::size_t i = 0; i < given.size(); ++i) {
        const auto name = given[i].substr(0, given[i].find('='));
        const bool has_value = name == given[i] && i + 1 < given.size();
        if (is_profile ? name == "--dumps" : !is_isa || (name != "--expect" && name != "--input"))
            options += " " + shell_word(given[i]) + (has_value ? " " + shell_word(given[i + 1]) : "");
        i += has_value ? 1 : 0;
    }
    return "`cllab " + words + options + (r.device.selector.empty() ? "" : " --device " + r.device.selector) + "`";
}

std::string check_command(const Record& r, const std::string& file) {
    return command_text(r, "run " + shell_word(file + ":" + r.variant) + " --check oclgrind");
}

}  // namespace cllab::report
