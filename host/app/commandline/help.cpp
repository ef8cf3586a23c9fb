#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "app/commandline/command.hpp"
#include "app/commands.hpp"
#include "core/embedded.hpp"
#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
#include "report/table/columns.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

/// With at most this many options, a command shows all of them.
constexpr std::size_t few = 7;

constexpr std::size_t room_of_names = 26;

/// "  -d, --device D".
std::string names_of(const Row& row) {
    const auto comma = row.name.find(',');
    const auto brief = comma == std::string::npos ? "" : "-" + row.name.substr(comma + 1) + ", ";
    return "  " + brief + "--" + row.long_name() + (row.value.empty() ? "" : " ") + row.value;
}

std::string line_of(const Row& row, const std::string& about) {
    auto names = names_of(row);
    const std::string whole = about + (row.otherwise.empty() ? "" : " Default: " + row.otherwise + ".");
    if (names.size() + 2 > room_of_names)
        return names + "\n" + report::wrap(whole, std::string(room_of_names, ' '), help_width);
    names.resize(room_of_names, ' ');
    return report::wrap_beside(names, whole, help_width);
}

const Row help_row{"help,h", "[all]", "Prints this page; with `all`, the full page."};

/// Adds a last group for options in no other group, such as one that only a single command has.
std::vector<OptionGroup> groups_of(const std::vector<Row>& options) {
    auto out = option_groups();
    Strings grouped;
    for (const auto& group : out)
        for (const auto* names : {&group.often, &group.others})
            grouped.insert(grouped.end(), names->begin(), names->end());
    OptionGroup more{"More", {}, {}};
    for (const auto& row : options)
        if (std::ranges::find(grouped, row.long_name()) == grouped.end()) more.others.push_back(row.long_name());
    out.push_back(std::move(more));
    return out;
}

bool screen_is_short(const std::vector<Row>& options) { return options.size() > few; }

/// Joins the lines of each paragraph, so that the screen's width wraps it.
std::string joined_lines(std::string text) {
    for (std::size_t i = 1; i + 1 < text.size(); ++i)
        if (text[i] == '\n' && text[i - 1] != '\n' && text[i + 1] != '\n') text[i] = ' ';
    return text;
}

/// Wraps paragraphs that are separated by empty lines.
std::string wrapped(const std::string& text) {
    std::string out;
    for (const auto& line : split(text, '\n')) out += line.empty() ? "\n" : report::wrap(line, "", help_width);
    return out;
}

std::string overview() {
    std::ostringstream out;
    out << wrapped(
               "cllab: an OpenCL kernel lab. It runs kernel variants on any OpenCL device, proves each right, times "
               "it, and keeps the machine code beside the time.")
        << '\n';
    const auto line = [&](const std::string& call, const std::string& what) {
        out << "  " << call << std::string(call.size() < 42 ? 42 - call.size() : 1, ' ') << what << '\n';
    };
    line("cllab --device cpu --kernel pitch_short8", "verify, time and dump one variant (as `cllab run`)");
    line("cllab run FILE.cl[:KERNEL]...", "a kernel of your own: `cllab help kernel-file`");
    for (const auto& command : commands())
        line("cllab " + command.manual.name + (command.manual.synopsis.empty() ? "" : " ") + command.manual.synopsis,
             command.manual.summary);
    out << "\n`cllab COMMAND --help` explains a command, `cllab COMMAND --help all` each of its options.\n"
           "`cllab --help all` prints all of that; `cllab --version` prints the version.\n\n"
           "Topics (`cllab help TOPIC`)\n";
    for (const auto& topic : topics())
        out << "  " << topic.name << std::string(14 - std::string(topic.name).size(), ' ') << topic.about << '\n';
    out << "\nExit status\n";
    for (const auto& [status, meaning] : exit_statuses) out << fmt::format("  {:<5}{}\n", status, meaning);
    return out.str();
}

/// The overview, followed by each command and each topic.
std::string everything() {
    std::string out = overview();
    for (const auto& command : commands()) out += "\n\n" + help_of(command, Detail::all);
    for (const auto& topic : topics()) out += "\n\n" + topic.text();
    return out;
}

}  // namespace

/// groups.txt has one line per group. A bar follows the most common options.
const std::vector<OptionGroup>& option_groups() {
    static const auto all = [] {
        std::vector<OptionGroup> out;
        for (const auto& line : split(trim(embedded("app/commandline/groups.txt")), '\n')) {
            const auto colon = line.find(": ");
            auto& group = out.emplace_back(OptionGroup{line.substr(0, colon), {}, {}});
            auto* names = &group.often;
            for (const auto& word : split(line.substr(colon + 2), ' '))
                if (word == "|")
                    names = &group.others;
                else
                    names->push_back(word);
        }
        return out;
    }();
    return all;
}

std::string first_sentence(const std::string& text) {
    for (auto at = text.find(". "); at != std::string::npos; at = text.find(". ", at + 1))
        if (std::isupper(static_cast<unsigned char>(text[at + 2])) || text[at + 2] == '`')
            return text.substr(0, at + 1);
    return text;
}

std::string options_text(const std::vector<Row>& options, Detail detail) {
    const bool whole = detail == Detail::all;
    std::string out = whole ? "" : "Options:\n";
    for (const auto& group : groups_of(options)) {
        auto names = group.often;
        if (whole || !screen_is_short(options)) names.insert(names.end(), group.others.begin(), group.others.end());
        std::string lines;
        for (const auto& name : names)
            for (const auto& row : options)
                if (row.long_name() == name) lines += line_of(row, whole ? row.about : first_sentence(row.about));
        if (whole && !lines.empty()) out += std::string(out.empty() ? "" : "\n") + group.title + ":\n";
        out += lines;
    }
    if (whole) out += std::string(out.empty() ? "" : "\n") + "Help:\n";
    return out + line_of(help_row, help_row.about);
}

const Command* find_command(const std::string& name) {
    const auto& all = commands();
    const auto found = std::ranges::find_if(all, [&](const auto& c) { return c.manual.name == name; });
    return found == all.end() ? nullptr : &*found;
}

Strings command_names() {
    return mapped(commands(), [](const auto& command) { return command.manual.name; });
}

Manual manual_of(const std::string& name) {
    const std::string text{embedded("app/commands/" + name + ".txt")}, between = "\n\nExample:\n";
    const auto said = [&](const std::string& what) {
        const auto at = text.find(what) + what.size();
        return trim(text.substr(at, text.find('\n', at) - at));
    };
    const auto begin = text.find("\n\n") + 2, end = text.find(between), example = end + between.size();
    return {name,
            said("Arguments:"),
            said("Summary:"),
            said("Usage:"),
            joined_lines(text.substr(begin, end - begin)),
            text.substr(example, text.size() - 1 - example)};
}

std::string option_text(const std::string& command, const std::string& option) {
    std::string general;
    const std::string text{embedded("app/commandline/options.txt")};
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 2) {
        end = std::min(text.find("\n\n", at), text.size() - 1);
        const auto entry = text.substr(at, end - at);
        const auto head = split(entry.substr(0, entry.find('\n')), ' ');
        if (head.front() != "--" + option) continue;
        const auto about = joined_lines(entry.substr(entry.find('\n') + 1));
        if (head.size() == 1)
            general = about;
        else if (std::ranges::find(head, command) != head.end())
            return about;
    }
    return general;
}

std::string help_of(const Command& command, Detail detail) {
    const auto& manual = command.manual;
    const bool whole = detail == Detail::all;
    const auto about = whole ? manual.about : manual.about.substr(0, manual.about.find("\n\n"));
    std::ostringstream out;
    out << "Usage: " << manual.usage << "\n\n" << wrapped(about) << '\n' << options_text(command.options, detail);
    out << "\nExample:\n";
    const auto example = split(manual.example, '\n');
    for (const auto& line : example)
        out << (&line == &example.front() ? "  $ " : line.empty() ? "" : "  ") << line << '\n';
    if (!whole && (screen_is_short(command.options) || about.size() < manual.about.size()))
        out << "\n`cllab " << manual.name << " --help all` explains all " << command.options.size() + 1
            << " options in full.\n";
    return out.str();
}

std::string help_text(const std::string& topic, Detail detail) {
    if (topic.empty()) return detail == Detail::all ? everything() : overview();
    const auto* command = find_command(topic);
    std::string out = command ? help_of(*command, detail) : "";
    auto known = command_names();
    // A name that is both a command and a topic gets both on one page.
    for (const auto& one : topics()) {
        add_once(known, one.name);
        if (topic == one.name) out += (out.empty() ? "" : "\n") + one.text();
    }
    if (out.empty())
        throw Error(Blame::usage, "unknown command or topic '", topic, "'; expected one of ", join(known, ", "),
                    or_did_you_mean(topic, known));
    return out;
}

const std::vector<ExitStatus> exit_statuses{
    {0, "every cell is ok or unsupported; report: there is a record"},
    {1, "a cell is wrong, or did not build, launch or end"},
    {2, "the command line or an input file is wrong, or nothing matched"},
    {3, "no platform, no such device, a lost device, or a file that cannot be written"},
    {4, "regress: something is slower than the threshold allows, or gives other results; isa: code is worse, or "
        "--expect fails"},
    {5, "regress, isa: something cannot be compared; regress: leans beyond the threshold; --strict: undecided"},
    {130, "interrupted; finished cells are kept and printed"}};

namespace {

std::string term_line(const std::string& name, std::size_t room, const std::string& meaning) {
    return report::wrap_beside("  " + name + std::string(room - name.size() + 2, ' '), meaning, help_width);
}

/// Replaces a line of the text by a list.
std::string with_list(std::string text, const std::string& line, const std::string& list) {
    return text.replace(text.find(line), line.size(), list);
}

}  // namespace

std::string Topic::text() const {
    std::string list, page{embedded(std::string("app/commandline/topics/") + name + ".txt")};
    if (name == std::string("columns")) {
        for (const auto& [column, meaning] : report::column_meanings()) list += term_line(column, 10, meaning);
        return with_list(page, "{columns}\n", list);
    }
    if (name == std::string("statuses")) {
        for (const auto& [status, meaning] : exit_statuses) list += term_line(std::to_string(status), 3, meaning);
        return with_list(page, "{statuses}\n", list);
    }
    return page;
}

const std::vector<Topic>& topics() {
    static const std::vector<Topic> all{
        {"kernel-file", "your own kernels: the whole grammar"},
        {"data", "what its arguments are given: random data of many kinds, files, images"},
        {"sequences", "several of your own kernels as one operation"},
        {"proof", "what your own kernel's results are held against"},
        {"axes", "what a kernel is run with, and ranges of it"},
        {"devices", "how to select one, and whether its timer is trusted"},
        {"columns", "what each column of the table means"},
        {"statuses", "of cells, and exit statuses"},
        {"json", "what commands write for programs, and how a figure or a refusal looks there"},
        {"method", "where a number comes from"},
        {"terms", "a glossary"}};
    return all;
}

}  // namespace cllab::app
