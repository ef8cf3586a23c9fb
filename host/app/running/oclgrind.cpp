#include "app/running/oclgrind.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <regex>

#include "app/processes/worker.hpp"
#include "app/screen/streams.hpp"
#include "core/text.hpp"
#include "count/oclgrind.hpp"
#include "device/driver_settings.hpp"

namespace cllab::app {
namespace {

/// "Invalid read of size 4 at global memory address 0x…" without the address, which differs from item to item.
std::string kind_of(const std::string& message) {
    static const std::regex address("( at| to)? (global|local|private|constant) memory address 0x[0-9a-f]+");
    return std::regex_replace(message, address, " in $2 memory");
}

/// Oclgrind's messages, each with how often it was said. A message is a line and the indented ones behind it.
OclgrindFindings messages_of(const std::string& log) {
    OclgrindFindings out;
    OclgrindFinding current;
    const auto end = [&] {
        if (!current.what.empty() && (!current.line.empty() || current.is_limit)) ++out[current];
        current = {};
    };
    static const std::regex at(R"(At line (\d+)(?: \(column \d+\))? of (.*):)");
    for (const auto& line : split(log, '\n')) {
        const auto text = trim(line);
        if (text.empty()) continue;
        std::smatch found;
        if (line.front() != '\t') {
            const bool is_fatal = current.what.starts_with("OCLGRIND FATAL ERROR");
            end();
            current.what = kind_of(text);
            current.is_limit = is_fatal && !text.starts_with("Encountered unreachable");  // which is the kernel's fault
        } else if (text.starts_with("Kernel: ")) {
            current.kernel = text.substr(8);
        } else if (current.entity.empty() && (text.starts_with("Entity: ") || text.starts_with("First entity: "))) {
            current.entity = text.substr(text.find(": ") + 2);
        } else if (std::regex_match(text, found, at) && current.line.empty()) {
            current.line = found[1];
            current.file = found[2];
        }
    }
    end();
    return out;
}

constexpr const char* log_variable = "OCLGRIND_LOG";

}  // namespace

OnlyOclgrind::OnlyOclgrind(const std::filesystem::path& library, bool sees_unwritten) {
    std::map<std::string, std::string> wanted{{"OCLGRIND_DATA_RACES", "1"},
                                              {"OCLGRIND_UNINITIALIZED", sees_unwritten ? "1" : "0"},
                                              {"OCLGRIND_MAX_ERRORS", "20000"},  // one race may say 1000
                                              {log_variable, (folder_.path() / "log").string()}};
    // It adds functions that Oclgrind lacks, as popcount.
    if (const auto plugin = count::find_count_plugin(this_program())) wanted.emplace("OCLGRIND_PLUGINS", *plugin);
    const auto keep = [&](const std::string& name) {
        const char* value = std::getenv(name.c_str());
        before_.emplace_back(name, value ? std::optional<std::string>(value) : std::nullopt);
    };
    for (const char* name : {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"}) keep(name);
    for (const auto& [name, value] : wanted) keep(name);
    device::use_only_drivers({{"oclgrind.icd", library}}, wanted);
}

OnlyOclgrind::~OnlyOclgrind() {
    for (const auto& [name, value] : before_) {
        if (value)
            setenv(name.c_str(), value->c_str(), 1);
        else
            unsetenv(name.c_str());
    }
}

OclgrindFindings OnlyOclgrind::findings() const {
    return messages_of(cllab::read_file(folder_.path() / "log").value_or(""));
}

bool OnlyOclgrind::left_some_out() const {
    const auto log = cllab::read_file(folder_.path() / "log").value_or("");
    return log.find("errors generated - suppressing further errors") != std::string::npos;
}

std::string first_finding(const OclgrindFindings& findings) {
    if (findings.empty()) return {};
    const auto& place = findings.begin()->first;
    return "Oclgrind finds in it '" + printable(place.file + ":" + place.line + ": " + place.what) + "'" +
           (findings.size() == 1 ? "" : " and " + std::to_string(findings.size() - 1) + " more") +
           "; `cllab run --check oclgrind` shows where";
}

void print_findings(const OclgrindFindings& findings, const Choice& choice) {
    for (const auto& [place, times] : findings) {
        results() << fmt::format("  {}:{}: {} in kernel '{}', {}, first by {}\n", printable(place.file), place.line,
                                 printable(place.what), printable(place.kernel),
                                 times == 1 ? "once" : std::to_string(times) + " times", printable(place.entity));
        if (const auto text = choice.source_line(place.file, std::stoul(place.line)); !text.empty())
            results() << "      " << printable(text) << '\n';
    }
}

}  // namespace cllab::app
