#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "app/commandline/command.hpp"
#include "app/commandline/topics.hpp"
#include "app/commands.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

/// Paragraphs, with empty lines between.
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

/// The overview, and behind it each command and each topic.
std::string everything() {
    std::string out = overview();
    for (const auto& command : commands()) out += "\n\n" + help_of(command, Detail::all);
    for (const auto& topic : topics()) out += "\n\n" + topic.text();
    return out;
}

}  // namespace

const Command* find_command(const std::string& name) {
    const auto& all = commands();
    const auto found = std::ranges::find_if(all, [&](const auto& c) { return c.manual.name == name; });
    return found == all.end() ? nullptr : &*found;
}

Strings command_names() {
    Strings out;
    for (const auto& command : commands()) out.push_back(command.manual.name);
    return out;
}

std::string help_of(const Command& command, Detail detail) {
    const auto& manual = command.manual;
    const bool whole = detail == Detail::all;
    const auto about = whole ? manual.about : manual.about.substr(0, manual.about.find("\n\n"));
    std::ostringstream out;
    out << "Usage: " << manual.usage << "\n\n" << wrapped(about) << '\n' << options_text(command.options, detail);
    out << "\nExample:\n";
    bool call = true;  // its output follows
    for (const auto& line : split(manual.example, '\n')) {
        out << (call ? "  $ " : line.empty() ? "" : "  ") << line << '\n';
        call = false;
    }
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
    // What is a command and a topic has both on one page.
    for (const auto& one : topics()) {
        known.emplace_back(one.name);
        if (topic == one.name) out += (out.empty() ? "" : "\n") + one.text();
    }
    if (out.empty())
        throw Error(Blame::usage, "there is no command and no topic '" + topic + "'; possible are " +
                                      join(known, ", ") + or_did_you_mean(topic, known));
    return out;
}

}  // namespace cllab::app
