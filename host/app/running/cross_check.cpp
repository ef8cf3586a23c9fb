// --check: runs each kernel on another implementation with the same data and compares the results. Reports Oclgrind's
// findings.
#include "app/running/cross_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <ranges>
#include <regex>

#include "app/choose/request.hpp"
#include "app/commands.hpp"
#include "app/files/behaviour_file.hpp"
#include "app/processes/runner.hpp"
#include "app/processes/simulation.hpp"
#include "app/screen/streams.hpp"
#include "core/kernel_text.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "experiments/lib/math_functions.hpp"
#include "inspect/tools/tool.hpp"
#include "kernelfile/data/data.hpp"
#include "model/params.hpp"
#include "run/launch_once.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;
using kernelfile::Agreement;

constexpr double simulated_seconds = 10;  ///< per cell, if only results are needed
constexpr std::size_t few_items = 1024;   ///< work-items of the smaller cell that replaces a slow one

struct SimulatorFinding {
    std::string what, kernel, entity, file, line;
    bool operator<(const SimulatorFinding& other) const {
        return std::tie(file, line, kernel, what) < std::tie(other.file, other.line, other.kernel, other.what);
    }
    /// An access outside of a buffer: neither a race nor an uninitialized value.
    bool is_outside() const { return what.starts_with("Invalid "); }
    bool is_unwritten() const { return what.find("ninitialized") != std::string::npos; }
};
using Findings = std::map<SimulatorFinding, std::size_t>;  ///< with the number of occurrences

/// Parses Oclgrind's messages: each is a line followed by indented lines. `limit`: the feature that Oclgrind lacks, if
/// it ended the launch for that reason.
Findings findings_of(const std::string& log, std::string& limit) {
    static const std::regex at(R"(At line (\d+)(?: \(column \d+\))? of (.*):)");
    static const std::regex address("( at| to)? (global|local|private|constant) memory address 0x[0-9a-f]+");
    Findings out;
    SimulatorFinding now;
    std::smatch found;
    for (const auto& line : split(log + "\nend", '\n')) {
        const auto text = trim(line);
        if (text.empty()) continue;
        if (line.front() != '\t') {
            if (!now.line.empty()) ++out[now];
            // An unreachable instruction is the kernel's fault, not a limit of Oclgrind.
            if (now.what.starts_with("OCLGRIND FATAL ERROR") && !text.starts_with("Encountered unreachable"))
                limit = text;
            now = {std::regex_replace(text, address, " in $2 memory"), "", "", "", ""};
        } else if (text.starts_with("Kernel: ")) {
            now.kernel = text.substr(8);
        } else if (now.entity.empty() && (text.starts_with("Entity: ") || text.starts_with("First entity: "))) {
            now.entity = text.substr(text.find(": ") + 2);
        } else if (now.line.empty() && std::regex_match(text, found, at)) {
            now.line = found[1];
            now.file = found[2];
        }
    }
    return out;
}

void print(const Findings& findings, const Choice& choice) {
    for (const auto& [place, times] : findings) {
        results() << fmt::format("  {}:{}: {} in kernel '{}', {}, first by {}\n", printable(place.file), place.line,
                                 printable(place.what), printable(place.kernel),
                                 times == 1 ? "once" : std::to_string(times) + " times", printable(place.entity));
        if (const auto text = trim(choice.source_line(place.file, std::stoul(place.line))); !text.empty())
            results() << "      " << printable(text) << '\n';
    }
}

/// The function in the text to which OpenCL C (7.4) allows the largest single-precision error. Results of two devices
/// may differ by twice that error.
const model::math::Function* least_exact_function(const model::Cell& cell) {
    const model::math::Function* out = nullptr;
    if (!cell.variant->own) return out;
    for (const auto& name : names_in(without_comments(cell.variant->own->text)))
        if (const auto* found = model::math::find(name); found && found->ulp_float > (out ? out->ulp_float : 0))
            out = found;
    return out;
}

/// Clauses with the measured errors of these functions on both devices; empty if unknown.
std::string errors_of_functions(const Answers& here, const Answers& there, const std::set<std::string>& names) {
    std::string out;
    for (const auto& name : names) {
        const auto one = note_of(here, "ulp.plain." + name), other = note_of(there, "ulp.plain." + name);
        if (!one.empty() && !other.empty())
            out += "; the error of " + name + "() is up to " + one + " on the first and " + other +
                   " on the second (`cllab behaviour`), so its results may differ";
    }
    return out;
}

/// The result of a cell on the other device, compared with the checked device.
struct Checked {
    model::Cell cell;       ///< as it was launched
    std::string trouble{};  ///< a clause: why the other device gave no result
    Findings found{};       ///< Oclgrind's findings in its kernels
    Agreement::Kind results = Agreement::Kind::unknown;
    std::string about{};                            ///< how the results differ, or why they were not compared
    bool sees_unwritten = true;                     ///< whether Oclgrind looked for uninitialized values
    bool is_smaller = false;                        ///< the cell's own size takes too long or does not run
    const model::math::Function* within = nullptr;  ///< if set, results agree within twice its allowed error

    bool is_fine() const { return trouble.empty() && found.empty() && results != Agreement::Kind::differs; }
    std::string at() const {
        std::string out;
        for (const auto& [axis, value] : cell.point.values())
            if (!value.empty()) out += (out.empty() ? " at " : " ") + axis + "=" + value;
        return out;
    }
};

/// The implementation to check against.
struct Other {
    std::string selector, name;
    std::optional<Oclgrind> oclgrind;  ///< nullopt: an ordinary device
    Answers known{};
};

Other other_than(const model::Device& device, const RunOptions& options) {
    const auto wanted = options.check.substr(options.check.find('=') + 1);
    if (device.implementation != model::Implementation::oclgrind && (lower(wanted) == "oclgrind" || wanted.empty()))
        try {
            return {"", "Oclgrind", find_oclgrind("--check device=oclgrind", false)};
        } catch (const Error&) {  // --check without a device falls back to a CPU device
            if (!wanted.empty()) throw;
        }
    auto found = in_child_processes(options.timeout_seconds)->devices({wanted.empty() ? "all" : wanted});
    if (wanted.empty()) {
        std::erase_if(found, [&](const auto& d) { return !d.is_cpu() || d.implementation == device.implementation; });
        if (found.empty())
            throw Error(Blame::environment, "--check needs an OpenCL implementation for CPUs other than that of ",
                        cllab::quoted(device.name), ", but none is installed; on Debian: apt-get install oclgrind");
    } else if (found.size() != 1) {
        throw Error(Blame::usage,
                    "--check takes one device, but 'device=" + wanted + "' selects " + std::to_string(found.size()));
    }
    if (found.front().selector == device.selector)
        throw Error(Blame::usage, "--check 'device=" + wanted + "' selects the device under test itself, " +
                                      cllab::quoted(device.name) + "; `cllab devices` lists the others");
    return {found.front().selector, found.front().name, std::nullopt, known_answers(options.dumps, found.front())};
}

class CrossCheck {
public:
    CrossCheck(const RunOptions& options, const Choice& choice, const model::Device& device, Other other)
        : options_(options), choice_(choice), device_(device), other_(std::move(other)) {}

    /// Checks the cell at its own size. If that takes a simulator too long or does not run there, checks a smaller
    /// size.
    Checked check(const model::Cell& cell) try {
        const auto less = other_.oclgrind ? smaller(cell) : std::nullopt;
        const auto items = items_of(cell);
        if (!less || items < too_many_items_) {
            auto out = look(cell);
            if (!less || out.trouble.empty()) return out;
        }
        too_many_items_ = std::min(too_many_items_, items);  // skip this size for later kernels
        auto out = look(*less);
        out.is_smaller = true;
        return out;
    } catch (const Unsupported& e) {
        return {cell, e.what()};
    }

    Agreement agreement(const Checked& seen) const {
        using Kind = Agreement::Kind;
        std::string found;
        if (const auto n = seen.found.size(); n > 0) {
            const auto& first = seen.found.begin()->first;
            found = "Oclgrind finds in it '" + printable(first.file + ":" + first.line + ": " + first.what) + "'" +
                    (n == 1 ? "" : " and " + std::to_string(n - 1) + " more") + "; --check oclgrind shows where";
        }
        Agreement out{seen.results, "", found};
        if (seen.results == Kind::agrees && seen.within)
            out.device = concat(other_.name, seen.at(), " within ", format_exact(2 * seen.within->ulp_float),
                                " ulp: OpenCL allows ", seen.within->name, "() ", format_exact(seen.within->ulp_float),
                                " on each");
        else if (seen.results == Kind::agrees)
            out.device = other_.name + seen.at();
        else if (seen.results == Kind::differs)
            out.sentence = cllab::quoted(device_.name) + " and " + cllab::quoted(other_.name) +
                           " give different results" + seen.at() + ": " + seen.about +
                           "; only a reference can tell which of the two is right" +
                           errors_of_functions(known_answers(options_.dumps, device_), other_.known,
                                               names_in(seen.cell.variant->own ? seen.cell.variant->own->text : "")) +
                           (found.empty() ? "" : "; " + found);
        else
            out.sentence = "not checked by " + other_.name + seen.at() + ": " + seen.trouble + seen.about;
        // A size smaller than the file's may itself cause the error, for example 16 bins for 256 gray levels.
        if (seen.is_smaller && std::ranges::any_of(seen.found, [](const auto& f) { return f.first.is_outside(); }))
            out = {Kind::unknown, "", out.sentence + "; its own size takes too long or does not run there"};
        return out;
    }

    /// The simulator's findings about a cell, as a text.
    std::string words(const Checked& seen) const {
        const auto size = seen.at() + (seen.is_smaller ? ", as its own size takes too long or does not run: " : ": ");
        if (!seen.trouble.empty()) return size + "not checked: " + seen.trouble;
        if (const auto n = seen.found.size(); n > 0) return size + std::to_string(n) + (n == 1 ? " place" : " places");
        const auto nothing = size + (seen.sees_unwritten ? "no race, no uninitialised value, no access outside"
                                                         : "no race, no access outside (uninitialised values: "
                                                           "Oclgrind cannot look for them here)");
        const auto name = cllab::quoted(device_.name);
        if (seen.results == Agreement::Kind::agrees) return nothing + "; the results are those of " + name;
        if (seen.results == Agreement::Kind::differs)
            return nothing + "; other results than on " + name + ": " + seen.about;
        return seen.about.empty() ? nothing : nothing + "; results not compared: " + seen.about;
    }

private:
    kernelfile::CellArguments arguments_of(const model::Cell& cell, std::uint64_t seed) const {
        return choice_.arguments_of({*cell.variant, cell.point, device_, seed, model::no_files});
    }
    model::Setup setup_of(const model::Cell& cell) const {
        return model::set_up(*cell.experiment, {*cell.variant, cell.point, device_, options_.seed, model::no_files});
    }
    std::size_t items_of(const model::Cell& cell) const { return setup_of(cell).global.count(); }

    /// The cell with its largest sizes halved until it has at most few_items work-items; nullopt if it already has.
    /// With --check oclgrind, axes that the user gave stay.
    std::optional<model::Cell> smaller(const model::Cell& cell) const {
        std::vector<std::string> axes;
        for (const auto& axis : cell.experiment->axes)
            if (axis.tune.empty() &&
                !(finds_ && std::ranges::count(options_.axes, axis.name, [](const auto& a) { return a.first; })))
                axes.push_back(axis.name);
        auto out = cell;
        const auto size_of = [&](const std::string& axis) {
            return out.point.has(axis) ? parse_integer(out.point.text(axis)).value_or(0) : std::int64_t{0};
        };
        while (items_of(out) > few_items) {
            std::ranges::sort(axes, std::greater<>(), size_of);
            const auto can_be = [&](const std::string& axis) {
                if (size_of(axis) < 2) return false;
                auto next = out;
                next.point.set(axis, std::to_string(size_of(axis) / 2));
                try {
                    if (items_of(next) >= items_of(out)) return false;
                } catch (const std::exception&) {  // no such point
                    return false;
                }
                out = std::move(next);
                return true;
            };
            if (std::ranges::none_of(axes, can_be)) break;
        }
        return out.point == cell.point ? std::nullopt : std::optional(out);
    }

    std::vector<std::uint64_t> seeds_of(const model::Cell& cell) const {
        if (finds_ || !arguments_of(cell, options_.seed).random_inputs) return {options_.seed};
        return {options_.seed, options_.seed + 1};
    }

    /// Launches the cell in a child process with the inputs of each seed, and writes the results into `folder`. Returns
    /// a clause if it fails, else an empty text. `simulator`: settings of Oclgrind, if it is the target.
    std::string launch(const model::Cell& cell, const std::string& selector, const fs::path& folder,
                       const std::map<std::string, std::string>* simulator = nullptr) const try {
        const auto work = [&](const HandOver& hand_over) {
            if (simulator) use_oclgrind(*other_.oclgrind, *simulator);
            LocalDevices here;
            auto& session = simulator ? open_oclgrind(here) : here.open(selector);
            auto settings = settings_of(options_);
            if (simulator) settings.build_options += " -cl-opt-disable";  // optimization would hide faults
            for (const auto seed : seeds_of(cell)) {
                settings.seed = seed;
                const auto done =
                    run::launch_once(session, settings, cell, session.facts(), {}, [&](const model::Buffers& left) {
                        fs::create_directories(folder / std::to_string(seed));
                        for (const auto& [name, bytes] : left.data)
                            cllab::write_file(folder / std::to_string(seed) / name, bytes);
                    });
                hand_over(done.status == model::Status::ok
                              ? ""
                              : one_line(std::string(model::name(done.status)) + ": " + done.reason));
            }
        };
        const double seconds =
            simulator && !finds_ ? std::min(simulated_seconds, options_.timeout_seconds) : options_.timeout_seconds;
        const auto said = in_child(work, "while it ran,", seconds, seconds);
        const auto failed = std::ranges::find_if(said, [](const auto& one) { return !one.empty(); });
        return failed == said.end() ? "" : *failed;
    } catch (const DeviceLost& e) {
        return e.what();
    }

    /// Runs the cell in Oclgrind. Looks for uninitialized values unless Oclgrind cannot do so, as after sincos(x, &c).
    void simulate(Checked& seen, const fs::path& folder) const {
        for (const bool unwritten : {true, false}) {
            const auto log = folder.parent_path() / (unwritten ? "log" : "second_log");
            const std::map<std::string, std::string> settings{{"OCLGRIND_DATA_RACES", "1"},
                                                              {"OCLGRIND_UNINITIALIZED", unwritten ? "1" : "0"},
                                                              {"OCLGRIND_MAX_ERRORS", "20000"},  // one race: 1000
                                                              {"OCLGRIND_LOG", log}};
            std::string limit;
            seen.trouble = launch(seen.cell, "", folder, &settings);
            seen.found = findings_of(cllab::read_file(log).value_or(""), limit);
            seen.sees_unwritten = unwritten;
            if (limit.empty()) break;
            seen.trouble = "it cannot do what the kernel does, in its words '" + printable(limit) + "'";
            seen.found.clear();  // findings of an aborted launch are unreliable
        }
        const auto is_image = [](const auto& argument) { return std::holds_alternative<model::Image>(argument); };
        // Oclgrind reports every texel and every size of an image as uninitialized.
        if (std::ranges::any_of(setup_of(seen.cell).args, is_image) &&
            std::erase_if(seen.found, [](const auto& f) { return f.first.is_unwritten(); }) > 0)
            seen.sees_unwritten = false;
    }

    Checked look(const model::Cell& cell) const {
        const inspect::TempFolder folder;
        const auto here = folder.path() / "here", there = folder.path() / "there";
        Checked out{cell};
        if (other_.oclgrind)
            simulate(out, there);
        else
            out.trouble = launch(cell, other_.selector, there);
        // A kernel checked for findings may be harmful, so it runs on the device only if there are none.
        const bool is_simulated = device_.implementation == model::Implementation::oclgrind;
        if (!out.trouble.empty() || (finds_ && (is_simulated || !out.found.empty()))) return out;
        if (const auto why = launch(cell, device_.selector, here); !why.empty()) {
            out.about = cllab::quoted(device_.name) + ": " + why;
            return out;
        }
        const auto compare = [&](const model::math::Function* within) {
            for (const auto seed : seeds_of(cell))
                if (const auto apart = difference(arguments_of(cell, seed), within, here / std::to_string(seed),
                                                  there / std::to_string(seed));
                    !apart.empty())
                    return apart;
            return std::string();
        };
        out.about = compare(nullptr);
        if (const auto* function = out.about.empty() ? nullptr : least_exact_function(cell);
            function && compare(function).empty()) {
            out.within = function;
            out.about.clear();
        }
        out.results = out.about.empty() ? Agreement::Kind::agrees : Agreement::Kind::differs;
        return out;
    }

    /// The first element that differs, with the largest errors, as a text; empty if none differs.
    std::string difference(const kernelfile::CellArguments& known, const model::math::Function* within,
                           const fs::path& here, const fs::path& there) const {
        // OpenCL allows an error of 1.5 ulp when a device reads a normalized texel as a float. Two devices differ by at
        // most 3.
        const double apart = known.reads_normalised ? 3 * 0x1p-23 : 0;
        auto floats = known.tolerance;
        floats.absolute = std::max(floats.absolute, apart);
        floats.relative = std::max(floats.relative, apart);
        auto singles = floats;
        if (within) singles.ulp = std::max(singles.ulp, 2 * within->ulp_float);
        model::Errors errors(known.tolerance), float_errors(floats), single_errors(singles);
        const auto errors_for = [&](const model::ElementType& type) -> model::Errors& {
            const bool is_single = type.kind == model::ElementType::Kind::floating && type.lane_bytes == sizeof(float);
            return is_single ? single_errors : type.is_floating() ? float_errors : errors;
        };
        std::map<std::string, model::ElementType> types;
        for (const auto& a : known.arguments)
            if (a.comes_out) types.emplace(a.name, a.element);
        const auto results_in = [&](const fs::path& folder) {
            std::map<std::string, model::Bytes, std::less<>> out;
            for (const auto& [name, type] : types)
                out.emplace(name, kernelfile::read_bytes(folder / name, {"the results", 0, 0}));
            put_in_order(known.any_order, types, "", out);
            return out;
        };
        const auto found = results_in(here), other = results_in(there);
        for (const auto& [name, type] : types)
            if (auto wrong = kernelfile::difference(name, found.at(name), other.at(name), type, errors_for(type),
                                                    "on " + cllab::quoted(other_.name), true))
                return *wrong;
        return {};
    }

    const RunOptions& options_;
    const Choice& choice_;
    const model::Device& device_;
    Other other_;
    std::size_t too_many_items_ = std::numeric_limits<std::size_t>::max();  ///< a simulation is too slow from here
    bool finds_ = options_.check == "oclgrind";                             ///< whether findings are requested
};

}  // namespace

int check_oclgrind(const RunOptions& asked) {
    const auto simulator = find_oclgrind("--check oclgrind", false);
    const Choice choice(asked);
    if (!choice.own())
        throw Error(Blame::usage,
                    "--check oclgrind applies to kernel files only, as in `cllab run my.cl --check oclgrind`");
    const auto plan = model::make_plan(choice.selected(), asked.axes, model::Points::first);
    catch_interrupts();
    const auto device = in_child_processes(asked.timeout_seconds)->devices(asked.devices).front();
    CrossCheck simulation(asked, choice, device, {"", "Oclgrind", simulator});
    bool all_fine = true;
    for (const auto& cell : plan | std::views::join) {
        const auto seen = simulation.check(cell);
        results() << cell.id << " in Oclgrind" << printable(simulation.words(seen)) << '\n';
        print(seen.found, choice);
        all_fine = all_fine && seen.is_fine();
    }
    return all_fine ? 0 : 1;
}

void cross_check(const RunOptions& options, const Choice& choice, const std::vector<model::Group>& cells,
                 const std::vector<model::Device>& devices) {
    for (const auto& device : devices) {
        CrossCheck other(options, choice, device, other_than(device, options));
        for (const auto& cell : cells | std::views::join) try {
                const model::Request asked{*cell.variant, cell.point, device, options.seed, model::no_files};
                const auto key = choice.arguments_of(asked).agreement_key;
                choice.answers(*cell.variant).by_device[key] = other.agreement(other.check(cell));
            } catch (const Unsupported&) {  // the cell's record says so
            }
    }
}

}  // namespace cllab::app
