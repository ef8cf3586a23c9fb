// `cllab run FILE.cl --check oclgrind`: each kernel once, small, in the simulator, and what it saw as one line per
// place.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <regex>

#include "app/choose/choice.hpp"
#include "app/choose/request.hpp"
#include "app/processes/runner.hpp"
#include "app/running/running.hpp"
#include "app/screen/say.hpp"
#include "app/screen/stdout_guard.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "count/oclgrind.hpp"
#include "inspect/tools/tool.hpp"
#include "model/params.hpp"

namespace cllab::app {
namespace {

/// Whether every variant takes the values.
bool accept(const std::vector<model::Selected>& selected, const model::Settings& settings) {
    static const std::map<std::string, model::Loaded> no_files;
    const model::Device any;
    try {
        for (const auto& group : model::make_plan(selected, settings))
            for (const auto& cell : group)
                model::resolve(*cell.experiment, {*cell.variant, cell.point, any, 1, no_files});
        return true;
    } catch (const Unsupported&) {
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// The first value of each axis.
model::Settings first_values(const std::vector<model::Selected>& selected, const model::Settings& given) {
    model::Settings out;
    for (const auto& axis : selected.front().experiment->axes) {
        const auto said = std::ranges::find_if(given, [&](const auto& g) { return g.first == axis.name; });
        out.emplace_back(axis.name,
                         said == given.end() ? axis.values.front() : model::expand_axis(axis, said->second).front());
    }
    return out;
}

/// A simulator takes a microsecond per instruction: each axis that is not given is halved down to 16 while all variants
/// take it.
model::Settings small_values(const std::vector<model::Selected>& selected, const model::Settings& given,
                             model::Settings out) {
    constexpr std::int64_t small = 16;
    for (auto& [name, value] : out) {
        if (std::ranges::any_of(given, [&, &n = name](const auto& g) { return g.first == n; })) continue;
        for (;;) {
            const auto size = parse_integer(value);
            if (!size || *size / 2 < small) break;
            const auto before = value;
            value = std::to_string(*size / 2);
            if (accept(selected, out)) continue;
            value = before;
            break;
        }
    }
    return out;
}

struct OclgrindFinding {
    std::string what, kernel, entity, file, line;
    bool operator<(const OclgrindFinding& other) const {
        return std::tie(file, line, kernel, what) < std::tie(other.file, other.line, other.kernel, other.what);
    }
};

/// "Invalid read of size 4 at global memory address 0x…" without the address, which differs from item to item.
std::string kind_of(const std::string& message) {
    static const std::regex address("( at| to)? (global|local|private|constant) memory address 0x[0-9a-f]+");
    return std::regex_replace(message, address, " in $2 memory");
}

/// Oclgrind's messages, each with how often it was said. A message is a line and the indented ones behind it.
std::map<OclgrindFinding, std::size_t> messages_of(const std::string& log) {
    std::map<OclgrindFinding, std::size_t> out;
    OclgrindFinding current;
    const auto end = [&] {
        if (!current.what.empty() && !current.line.empty()) ++out[current];
        current = {};
    };
    static const std::regex at(R"(At line (\d+)(?: \(column \d+\))? of (.*):)");
    for (const auto& line : split(log, '\n')) {
        const auto text = trim(line);
        if (text.empty()) continue;
        std::smatch found;
        if (line.front() != '\t') {
            end();
            current.what = kind_of(text);
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

std::string point_of(const model::Settings& values) {
    std::vector<std::string> out;
    for (const auto& [name, value] : values) out.push_back(name + "=" + value);
    return out.empty() ? "" : " at " + join(out, " ");
}

/// What the simulator says of each kernel, at one value of each axis.
struct Simulation {
    std::string point;
    std::vector<model::Record> records{};
    std::map<OclgrindFinding, std::size_t> messages{};

    bool ran() const {
        return std::ranges::all_of(records, [](const auto& r) {
            return r.status == model::Status::ok || r.status == model::Status::wrong_result;
        });
    }
    bool fine() const {
        return messages.empty() &&
               std::ranges::all_of(records, [](const auto& r) { return r.status == model::Status::ok; });
    }
};

Simulation simulate(const RunOptions& asked, const std::vector<model::Selected>& selected,
                    const model::Settings& values) {
    Simulation out{point_of(values)};
    const inspect::TempFolder folder;
    const auto log = folder.path() / "log";
    setenv("OCLGRIND_LOG", log.c_str(), 1);
    run::RunRequest request{std::nullopt, model::make_plan(selected, values), settings_of(asked)};
    request.settings.measure = false;
    request.settings.build_options += " -cl-opt-disable";  // the optimiser takes faults away, and moves lines
    request.settings.guards = false;                       // the simulator sees what is outside; guards would be inside
    const auto runner = in_child_processes(asked.timeout_seconds);
    runner->run(
        request, runner->devices({"oclgrind"}).front().selector,
        {.done = [&](std::size_t, std::size_t, const model::Record& record) { out.records.push_back(record); }});
    out.messages = messages_of(inspect::read_file(log).value_or(""));
    return out;
}

void print(const Simulation& seen, const Choice& choice, const std::vector<model::Selected>& selected) {
    for (const auto& record : seen.records) {
        std::size_t count = 0;
        const auto cell = std::ranges::find_if(selected, [&](const auto& s) { return s.id == record.id; });
        for (const auto& [place, times] : seen.messages)
            count += cell != selected.end() && place.kernel == cell->variant->entry ? 1 : 0;
        const bool ran = record.status == model::Status::ok || record.status == model::Status::wrong_result;
        results() << fmt::format("{} in Oclgrind{}: {}\n", record.id, seen.point,
                                 !ran ? std::string(model::name(record.status)) + ": " + printable(record.reason)
                                 : count == 0 ? record.status == model::Status::ok
                                                    ? "no race, no uninitialised value, no access outside"
                                                    : printable(record.reason)
                                              : std::to_string(count) + (count == 1 ? " place" : " places"));
    }
    for (const auto& [place, times] : seen.messages) {
        const auto text = choice.source_line(place.file, std::stoul(place.line));
        results() << fmt::format("  {}:{}: {} in kernel '{}', {}, first by {}\n", printable(place.file), place.line,
                                 printable(place.what), printable(place.kernel),
                                 times == 1 ? "once" : std::to_string(times) + " times", printable(place.entity));
        if (!text.empty()) results() << "      " << printable(text) << '\n';
    }
}

}  // namespace

int check_oclgrind(const RunOptions& asked) {
    const auto library = count::oclgrind_library("--check oclgrind");
    const Choice choice(asked);
    if (!choice.own())
        throw Error(Blame::usage, "--check oclgrind is about kernel files, as in `cllab run my.cl --check oclgrind`");
    const auto selected = choice.selected();
    count::use_only_oclgrind(library, {{"OCLGRIND_DATA_RACES", "1"}, {"OCLGRIND_UNINITIALIZED", "1"}});
    catch_interrupts();
    const auto own = first_values(selected, asked.axes), small = small_values(selected, asked.axes, own);
    auto seen = simulate(asked, selected, small);
    // Sizes that are smaller than the file says may be what is wrong: 16 bins for 256 grey levels, files of data for
    // another size.
    if (!seen.fine() && small != own) {
        say("something was found" + seen.point +
            ", which is smaller than the file says; so its own sizes are simulated, up to " +
            format_significant(asked.timeout_seconds, 3) + " s per kernel");
        if (auto larger = simulate(asked, selected, own); larger.ran())
            seen = std::move(larger);
        else
            say("they take too long or do not run, so the findings may come from the smaller sizes; --axis chooses "
                "others");
    }
    print(seen, choice, selected);
    return seen.fine() ? 0 : 1;
}

}  // namespace cllab::app
