#include <algorithm>
#include <sstream>

#include "app/commandline/command.hpp"
#include "app/commands.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/text.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

constexpr std::size_t columns = 100;

/// Paragraphs, with empty lines between.
std::string wrapped(const std::string& text) {
    std::string out;
    for (const auto& line : split(text, '\n')) out += line.empty() ? "\n" : report::wrap(line, "", columns);
    return out;
}

std::string overview() {
    std::ostringstream out;
    out << wrapped(
               "cllab: an OpenCL kernel lab. It runs kernel variants on any OpenCL device, proves each right, times "
               "it, and keeps the program binary with its disassembly beside the time.")
        << '\n';
    const auto line = [&](const std::string& call, const std::string& what) {
        out << "  " << call << std::string(call.size() < 42 ? 42 - call.size() : 1, ' ') << what << '\n';
    };
    line("cllab --device cpu --kernel pitch_short8", "verify, time and dump one variant (as `cllab run`)");
    line("cllab run FILE.cl[:KERNEL]...", "a kernel of your own: `cllab help kernel-file`");
    for (const auto& command : commands())
        line("cllab " + command.manual.name + (command.manual.synopsis.empty() ? "" : " ") + command.manual.synopsis,
             command.manual.summary);
    out << "\n`cllab COMMAND --help` explains a command. `cllab --version` prints the version.\n\n"
        << wrapped(
               "Exit status: 0 every cell ok or unsupported; 1 some cell failed, was wrong or timed out; 2 the command "
               "line or an input is wrong, or nothing matched; 3 no platform, no such device, a device was lost, or a "
               "file cannot be written; 4 (regress) something is slower; 5 (regress --strict) something is undecided; "
               "130 interrupted (SIGINT, SIGTERM).");
    return out.str();
}

}  // namespace

const Command* find_command(const std::string& name) {
    const auto& all = commands();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.manual.name == name; });
    return found == all.end() ? nullptr : &*found;
}

Strings command_names() {
    Strings out;
    for (const auto& command : commands()) out.push_back(command.manual.name);
    return out;
}

std::string help_of(const Command& command) {
    const auto& manual = command.manual;
    std::ostringstream out;
    out << "Usage: " << manual.usage << "\n\n"
        << wrapped(manual.about) << "\nExample: " << manual.example << "\n\n"
        << described(command.options);
    return out.str();
}

std::string help_text(const std::string& topic) {
    if (topic.empty()) return overview();
    if (topic == "kernel-file") return kernel_file_help();
    if (const auto* command = find_command(topic)) return help_of(*command);
    throw Error(Blame::usage, "there is no command '" + topic + "'; the commands are " + join(command_names(), ", ") +
                                  or_did_you_mean(topic, command_names()));
}

}  // namespace cllab::app
