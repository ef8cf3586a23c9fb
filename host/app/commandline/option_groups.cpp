#include "app/commandline/option_groups.hpp"

#include <algorithm>
#include <cctype>

#include "app/commandline/topics.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

/// With this many options a command shows them all.
constexpr std::size_t few = 7;

constexpr std::size_t room_of_names = 26;

/// "  -d, --device D".
std::string names_of(const Row& row) {
    const auto comma = row.name.find(',');
    const auto brief = comma == std::string::npos ? "" : "-" + row.name.substr(comma + 1) + ", ";
    return "  " + brief + "--" + row.long_name() + (row.value.empty() ? "" : " " + row.value);
}

std::string line_of(const Row& row, const std::string& about) {
    auto names = names_of(row);
    const std::string whole = about + (row.otherwise.empty() ? "" : " Default: " + row.otherwise + ".");
    if (names.size() + 2 > room_of_names)
        return names + "\n" + report::wrap(whole, std::string(room_of_names, ' '), help_width);
    names.resize(room_of_names, ' ');
    return report::wrap_beside(names, whole, help_width);
}

/// Those of `names` that the command has, in that order.
std::vector<const Row*> found(const std::vector<Row>& options, const Strings& names) {
    std::vector<const Row*> out;
    for (const auto& name : names)
        for (const auto& row : options)
            if (row.long_name() == name) out.push_back(&row);
    return out;
}

const Row help_row{"help,h", "[all]", "Prints this page; `all`: everything."};

}  // namespace

const std::vector<OptionGroup>& option_groups() {
    static const std::vector<OptionGroup> all{
        {"What to run", {"device", "target", "axis"}, {"kernel", "targets", "points", "input", "replay", "native"}},
        {"Measurement",
         {"max-time", "budget", "count-budget", "wave", "test", "on", "noise"},
         {"verify", "cache", "steps", "no-yardstick", "seed"}},
        {"Comparison",
         {"vs", "watch", "baseline", "threshold", "strict", "results-may-change"},
         {"rebuild", "recorded", "calibrate", "history"}},
        {"Machine code", {"hot", "source", "summary"}, {"live", "width"}},
        {"Output",
         {"json", "html", "junit", "long", "columns", "no-dumps"},
         {"csv", "t4", "google-benchmark", "dumps", "export", "output", "count-above", "label", "timings", "force",
          "append", "no-pager"}},
        {"Kernel text", {"cl-dir"}, {"build-options"}},
        {"Kernel files (`cllab help kernel-file`)",
         {},
         {"print-block", "write-block", "check", "arg", "global", "local", "offset", "variant", "extends", "work", "expect", "reference",
          "tolerance"}},
        {"Processes", {}, {"isolate", "parallel", "processes", "timeout", "require-all"}},
    };
    return all;
}

namespace {

/// With a last one for options that stand in none, as one that only its own command has may do.
std::vector<OptionGroup> groups_of(const std::vector<Row>& options) {
    auto out = option_groups();
    OptionGroup more{"More", {}, {}};
    for (const auto& row : options) {
        const auto has_it = [&](const auto& g) {
            return !found({row}, g.often).empty() || !found({row}, g.others).empty();
        };
        if (std::ranges::none_of(out, has_it)) more.others.push_back(row.long_name());
    }
    out.push_back(std::move(more));
    return out;
}

}  // namespace

std::string first_sentence(const std::string& text) {
    for (auto at = text.find(". "); at != std::string::npos; at = text.find(". ", at + 1))
        if (std::isupper(static_cast<unsigned char>(text[at + 2])) || text[at + 2] == '`')
            return text.substr(0, at + 1);
    return text;
}

bool screen_is_short(const std::vector<Row>& options) { return options.size() > few; }

std::string options_text(const std::vector<Row>& options, Detail detail) {
    std::string out;
    if (detail == Detail::screen) {
        out = "Options:\n";
        for (const auto& group : groups_of(options)) {
            for (const auto* row : found(options, group.often)) out += line_of(*row, first_sentence(row->about));
            if (screen_is_short(options)) continue;
            for (const auto* row : found(options, group.others)) out += line_of(*row, first_sentence(row->about));
        }
        return out + line_of(help_row, help_row.about);
    }
    for (const auto& group : groups_of(options)) {
        std::string lines;
        for (const auto* names : {&group.often, &group.others})
            for (const auto* row : found(options, *names)) lines += line_of(*row, row->about);
        if (!lines.empty()) out += std::string(out.empty() ? "" : "\n") + group.title + ":\n" + lines;
    }
    return out + (out.empty() ? "" : "\n") + "Help:\n" + line_of(help_row, help_row.about);
}

}  // namespace cllab::app
