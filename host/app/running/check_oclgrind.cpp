// `cllab run FILE.cl --check oclgrind`: each kernel once, small, in the simulator, and what it saw as one line per
// place.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "app/choose/choice.hpp"
#include "app/choose/request.hpp"
#include "app/processes/runner.hpp"
#include "app/running/oclgrind.hpp"
#include "app/running/recording.hpp"
#include "app/running/running.hpp"
#include "app/screen/say.hpp"
#include "app/screen/stdout_guard.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "count/oclgrind.hpp"
#include "inspect/tools/tool.hpp"
#include "model/params.hpp"
#include "report/records/points.hpp"

namespace cllab::app {
namespace {

/// Whether every variant takes the values.
bool accept(const std::vector<model::Selected>& selected, const model::Settings& settings) {
    const model::Device any;
    try {
        for (const auto& group : model::make_plan(selected, settings))
            for (const auto& cell : group)
                model::resolve(*cell.experiment, {*cell.variant, cell.point, any, 1, model::no_files});
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
    for (const auto& axis : model::axes_of(*selected.front().experiment, *selected.front().variant, given))
        out.emplace_back(axis.name, axis.values.front());
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

/// What the simulator says of each kernel, at one value of each axis.
struct Simulation {
    std::string point;
    std::vector<model::Record> records{};
    OclgrindFindings messages{};
    std::map<std::string, std::string> compared{};  ///< by id, with the device that the kernels are for: in a clause
    bool differs = false;

    bool ran() const {
        return std::ranges::all_of(records, [](const auto& r) {
            return r.status == model::Status::ok || r.status == model::Status::wrong_result;
        });
    }
    bool fine() const {
        return messages.empty() && !differs &&
               std::ranges::all_of(records, [](const auto& r) { return r.status == model::Status::ok; });
    }
};

/// What the device that the kernels are for leaves of the same data.
void compare(const RunOptions& asked, const Choice& choice, const std::vector<model::Group>& plan,
             const Recording& simulated, Simulation& out) {
    const auto runner = in_child_processes(asked.timeout_seconds);
    const auto device = runner->devices(asked.devices).front();
    if (device.implementation == model::Implementation::oclgrind) return;
    const inspect::TempFolder folder;
    Recording here(folder.path() / "here", OwnCheck::left_out);
    run::RunRequest request{std::nullopt, {}, settings_of(asked)};
    request.settings.measure = false;
    std::vector<model::Cell> cells;
    for (const auto& group : plan)
        for (const auto& cell : group) {
            cells.push_back(cell);
            request.comparisons.push_back({here.cell(cell, asked.seed)});
        }
    runner->run(
        request, device.selector, {.done = [&](std::size_t number, std::size_t, const model::Record& record) {
            const auto name = "'" + excerpt(device.name) + "'";
            auto& said = out.compared[record.id];
            if (record.status != model::Status::ok) {
                said = "no results of " + name + " to compare: " + record.reason;
                return;
            }
            const auto& cell = cells[number];
            const auto known = choice.arguments_of({*cell.variant, cell.point, device, asked.seed, model::no_files});
            const auto wrong = difference(known, cell, asked.seed, simulated, here, "on " + name);
            said = wrong ? "other results than on " + name + ": " + *wrong : "the results of " + name;
            out.differs = out.differs || wrong;
        }});
}

Simulation simulate(const RunOptions& asked, const Choice& choice, const std::filesystem::path& library,
                    const model::Settings& values) {
    const auto plan = model::make_plan(choice.selected(), values);
    Simulation out{values.empty() ? "" : " at " + report::point_text(values)};
    const inspect::TempFolder folder;
    Recording there(folder.path() / "there", OwnCheck::asked);
    run::RunRequest request{std::nullopt, {}, settings_of(asked)};
    for (const auto& group : plan) {
        auto& recorded = request.comparisons.emplace_back();
        for (const auto& cell : group) recorded.push_back(there.cell(cell, asked.seed));
    }
    request.settings.measure = false;
    request.settings.build_options += " -cl-opt-disable";  // the optimiser takes faults away, and moves lines
    request.settings.guards = false;                       // the simulator sees what is outside; guards would be inside
    {
        const OnlyOclgrind only(library);
        const auto runner = in_child_processes(asked.timeout_seconds);
        runner->run(
            request, runner->devices({"oclgrind"}).front().selector,
            {.done = [&](std::size_t, std::size_t, const model::Record& record) { out.records.push_back(record); }});
        out.messages = only.findings();
    }
    if (out.fine()) compare(asked, choice, plan, there, out);
    return out;
}

void print(const Simulation& seen, const Choice& choice, const std::vector<model::Selected>& selected) {
    for (const auto& record : seen.records) {
        std::size_t count = 0;
        const auto cell = std::ranges::find_if(selected, [&](const auto& s) { return s.id == record.id; });
        for (const auto& [place, times] : seen.messages)
            count += cell != selected.end() && place.kernel == cell->variant->entry ? 1 : 0;
        const bool ran = record.status == model::Status::ok || record.status == model::Status::wrong_result;
        const auto compared = seen.compared.find(record.id);
        const auto others = compared == seen.compared.end() ? std::string() : "; " + printable(compared->second);
        results() << fmt::format("{} in Oclgrind{}: {}\n", record.id, seen.point,
                                 !ran ? std::string(model::name(record.status)) + ": " + printable(record.reason)
                                 : count == 0 ? record.status == model::Status::ok
                                                    ? "no race, no uninitialised value, no access outside" + others
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
    catch_interrupts();
    const auto own = first_values(selected, asked.axes), small = small_values(selected, asked.axes, own);
    auto seen = simulate(asked, choice, library, small);
    // Sizes that are smaller than the file says may be what is wrong: 16 bins for 256 grey levels, files of data for
    // another size.
    if (!seen.fine() && small != own) {
        say("something was found" + seen.point +
            ", which is smaller than the file says; so its own sizes are simulated, up to " +
            format_significant(asked.timeout_seconds, 3) + " s per kernel");
        if (auto larger = simulate(asked, choice, library, own); larger.ran())
            seen = std::move(larger);
        else
            say("they take too long or do not run, so the findings may come from the smaller sizes; --axis chooses "
                "others");
    }
    print(seen, choice, selected);
    return seen.fine() ? 0 : 1;
}

}  // namespace cllab::app
