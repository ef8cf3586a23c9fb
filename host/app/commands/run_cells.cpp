// `cllab run` and `cllab dump`: everything is resolved and opened before the first build, each cell is on disk before
// the next starts, and what can be saved is saved however the run ends.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <thread>

#include "app/choose/request.hpp"
#include "app/commands/run.hpp"
#include "app/commands/watch.hpp"
#include "app/comparing/versus.hpp"
#include "app/files/baseline.hpp"
#include "app/files/profile_file.hpp"
#include "app/files/sink.hpp"
#include "app/processes/crash.hpp"
#include "app/processes/runner.hpp"
#include "app/processes/share_out.hpp"
#include "app/processes/side_by_side.hpp"
#include "app/screen/html_page.hpp"
#include "app/screen/progress.hpp"
#include "app/screen/results.hpp"
#include "app/screen/say.hpp"
#include "app/screen/stdout_guard.hpp"
#include "app/screen/streams.hpp"
#include "core/clock.hpp"
#include "core/phases.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "portrait/conclusion.hpp"
#include "report/table/comparison.hpp"
#include "report/table/timings.hpp"

namespace cllab::app {
namespace {

/// Thrown while a version is compared that somebody has changed meanwhile.
struct Superseded {};

void describe_crash_in(const model::Record& record) {
    describe_crash("in " + record.id + " on '" + excerpt(record.device.name) + "'",
                   "Finished cells are on disk; --isolate continues after a crash.");
}

void check_dumps(const run::Settings& settings) {
    if (!settings.dumps) return;
    std::error_code code;
    std::filesystem::create_directories(*settings.dumps, code);
    if (code || access(settings.dumps->c_str(), W_OK) != 0)
        throw Error(Blame::environment, "the dumps folder '" + settings.dumps->string() +
                                            "' cannot be written: " + (code ? code.message() : std::strerror(errno)) +
                                            "; --dumps DIR names another, --no-dumps writes none");
}

int exit_status_of(const std::vector<model::Record>& records, bool require_all) {
    return std::any_of(records.begin(), records.end(), [&](const auto& r) {
        return model::is_failure(r.status) || (require_all && r.status == model::Status::unsupported);
    });
}

std::vector<portrait::Conclusion> conclusions_of(const Sink& sink, const std::vector<model::Device>& devices) {
    std::vector<portrait::Conclusion> out;
    for (const auto& device : devices)
        for (auto& conclusion : portrait::conclude(sink.records(), device)) out.push_back(std::move(conclusion));
    return out;
}

/// `printed`: the page is.
void print_results(const Sink& sink, const std::vector<Pair>& pairs, const std::vector<model::Device>& devices,
                   OutputFile* html, const std::vector<std::string>& columns, bool printed,
                   const std::vector<report::LostDevice>& lost = {}) {
    if (sink.records().empty()) return;
    const auto conclusions = conclusions_of(sink, devices);
    if (html) {
        std::vector<std::string> verdicts;
        for (const auto& pair : pairs)
            if (pair.comparison) {
                const auto words = report::comparison_text(*pair.comparison);
                verdicts.push_back(words.substr(0, words.find('\n')));
            }
        write_html(*html, sink.records(), conclusions, verdicts);
    }
    if (sink.uses_stdout() || (html && html->is_stdout())) return;
    if (!printed) print_page(sink.records(), conclusions, lost, false, columns);
    for (const auto& pair : pairs)
        if (!pair.right.id.empty()) print_pair(results(), pair, wants_colour(STDOUT_FILENO));
    results().flush();
}

/// What --columns may name beside every table's columns.
std::set<std::string> axes_and_metrics(const std::vector<model::Group>& plan) {
    std::set<std::string> out{model::build_options_axis().name};
    for (const auto& group : plan) {
        for (const auto& cell : group) {
            for (const auto& axis : cell.experiment->axes) out.insert(axis.name);
            for (const auto& metric : cell.experiment->metrics) out.insert(metric.name);
        }
    }
    return out;
}

/// Whether these selectors may name more than one device. Each then works in a child process, so that a driver that
/// crashes does not take the others' results along.
bool may_be_several(const std::vector<std::string>& selectors) {
    return selectors.size() > 1 || std::any_of(selectors.begin(), selectors.end(),
                                               [](const auto& s) { return lower(s) == "all" || parse_integer(s); });
}

}  // namespace

int run_cells(const RunOptions& asked, Watched* watched) {
    const auto start = Clock::now();
    Phases own;
    const ChargedTo account(own);
    auto invocation = asked;
    if (!asked.baseline.empty()) make_baseline_folder(asked.baseline);
    // Text that is not the lab's own may write anywhere and never end; the arrangements of --vs are processes of their
    // own.
    invocation.isolate =
        asked.isolate || !asked.cl_dir.empty() || !asked.versus.empty() || may_be_several(asked.devices);
    Outputs outputs(invocation);
    outputs.writes_pictures(invocation.outputs);
    outputs.reads_for(invocation);
    const Choice choice(invocation, watched ? watched->files : Snapshots{}, watched ? watched->ask : AskDevice{});
    invocation.isolate = invocation.isolate || choice.own();
    auto request = watched ? watched_request(choice, invocation, watched->before) : request_of(choice, invocation);
    if (watched) watched->prepared.recipe(recipe_of(invocation, *watched));
    const auto& plan = request.comparisons;
    require_columns(invocation.columns, axes_and_metrics(plan));
    check_dumps(request.settings);
    const bool paired = !invocation.versus.empty() || (watched && !watched->before.empty());
    const auto processes =
        watched || paired ? 1 : processes_for(request, invocation.processes, std::thread::hardware_concurrency());
    invocation.isolate = invocation.isolate || processes > 1;
    if (!invocation.html.empty()) {
        std::size_t cells = 0;
        for (const auto& group : plan) cells += group.size();
        require_page(cells);
    }
    catch_interrupts();
    std::vector<std::string> troubles;
    GiveUp give_up;  // nothing is measured before it has one
    const auto own_runner = watched ? nullptr
                            : invocation.isolate
                                ? in_child_processes(invocation.timeout_seconds)
                                : in_this_process(invocation.timeout_seconds, [&](model::Record& stuck) {
                                      if (give_up) give_up(stuck);
                                  });
    Runner* const runner = watched ? &watched->prepared : own_runner.get();
    const auto devices = [&] {
        const InPhase phase(Phase::driver_start);
        return runner->devices(invocation.devices, &troubles);
    }();
    for (const auto& trouble : troubles) say(trouble);
    if (!invocation.outputs.empty() && devices.size() != 1)
        throw Error(Blame::usage, "--output needs one device; " + std::to_string(devices.size()) + " are selected");
    if (watched && watched->files.empty() && devices.size() != 1)
        throw Error(Blame::usage,
                    "--watch with --cl-dir needs one device; " + std::to_string(devices.size()) + " are selected");

    for (const auto& device : devices)
        if (const bool simulated = device.implementation == model::Implementation::oclgrind;
            invocation.native && (simulated || !device.is_cpu()))
            throw Error(Blame::usage,
                        "option '--native' is for CPU devices; '" + excerpt(device.name) + "' is " +
                            (simulated ? "a simulator" : "of type " + std::string(model::name(device.type))));
    for (const auto& device : devices) {
        outputs.reads(profile_path(invocation.dumps, device));
        check_points(request, device);
    }
    choice.say_defaults();
    if (request.settings.measure) request.settings.limits = read_profiles(invocation.dumps, devices);
    outputs.open();
    Sink sink(outputs.json(), outputs.csv());
    bool printed = false;  // the page, before the arrangements of a pair
    BaselineWriter baseline(invocation.baseline, outputs.file("--baseline"), request.settings.cl_dir);
    std::vector<Pair> compared;

    std::size_t cells = 0;
    for (const auto& group : plan) cells += group.size() * devices.size();
    Progress progress(cells);
    give_up = [&](model::Record& stuck) {
        write_timing(stuck);
        sink.take(stuck);
        baseline.take(stuck, nullptr);
        progress.clear();
        print_results(sink, compared, devices, outputs.html(), invocation.columns, printed);
    };
    const Events events{[&](std::size_t, std::size_t, const model::Record& record, const char* phase) {
                            if (std::strcmp(phase, "sample") != 0)
                                describe_crash_in(record);  // samples come fast, and compile nothing
                            progress.phase(record, phase);
                        },
                        [&](std::size_t group, std::size_t index, const model::Record& record) {
                            progress.clear();
                            sink.take(record);
                            baseline.take(record, &plan[group][index]);
                            progress.finished();
                            if (watched && index == 0 && record.status == model::Status::ok)
                                watched->built[Watched::key_of(plan[group][index])] = {
                                    record.family, record.build.source_sha256, record.build.options};
                            if (paired) {
                                auto& pair = compared.at(compared.size() - plan.size() + group);
                                (index == 0 ? pair.left : pair.right) = record;
                            }
                        }};
    const auto compare_pairs = [&](const model::Device& device) {
        if (!paired || !request.settings.measure) return;
        for (std::size_t g = 0; g < plan.size(); ++g) {
            auto& pair = compared.at(compared.size() - plan.size() + g);
            if (!pair.left.time || !pair.right.time) continue;
            if (watched && compare::same_code(pair.left, pair.right)) {
                // Who waits for the answer has it: the times of equal code differ by the machine's doing.
                pair.comparison.emplace();
                pair.comparison->left = pair.left.id;
                pair.comparison->right = pair.right.id;
                pair.comparison->judgement.verdict = model::Verdict::same_code;
                continue;
            }
            const InPhase phase(Phase::arrangements);
            if (watched) watched->prepared.build_everywhere();
            try {
                pair.comparison = compare_cells(
                    *runner, request.settings, device.selector, plan[g], pair.left, pair.right,
                    invocation.comparison_seconds,
                    [&](const model::Comparison& so_far) {
                        progress.note(report::comparison_progress(so_far));
                        if (watched && watched->superseded()) throw Superseded{};
                    },
                    {}, watched ? model::Control::right : model::Control::both);
            } catch (const Superseded&) {
                progress.clear();
                say("saved again, so " + pair.left.id + " is not compared to the end");
                continue;
            }
            progress.clear();
            sink.take(*pair.comparison);
        }
    };
    std::vector<report::LostDevice> lost;
    const auto print_all = [&] {
        print_results(sink, compared, devices, outputs.html(), invocation.columns, printed, lost);
        if (!invocation.timings) return;
        const double wall = seconds_since(start);
        report::print_timings(std::cerr, sink.records(), own, wall, processes);
    };
    const auto lose = [&](const model::Device& device, const std::string& why) {
        progress.clear();
        say(why + "; the other devices go on");
        lost.push_back({{device.platform, device.name, device.vendor, device.driver, model::name(device.type),
                         device.selector, device.identity},
                        why});
    };
    const OnOneDevice run_alone = [&](const model::Device& device) {
        try {
            if (paired) compared.resize(compared.size() + plan.size());
            const auto rest = [&](const std::set<run::CellNumber>& done) {
                runner->run(request, device.selector, events, done);
            };
            if (processes > 1)
                share_out(request, device, processes, invocation.timeout_seconds, events, rest);
            else
                rest({});
            if (watched && devices.size() == 1 && !sink.uses_stdout() &&
                !(outputs.html() && outputs.html()->is_stdout())) {
                progress.clear();
                print_page(sink.records(), conclusions_of(sink, devices), lost, false, invocation.columns);
                results().flush();
                printed = true;
            }
            compare_pairs(device);
            return true;
        } catch (const DeviceLost& e) {
            if (devices.size() == 1) throw;
            lose(device, e.what());
            return false;
        }
    };
    try {
        const auto at_once =
            !paired ? may_work_at_once(devices, request, invocation.parallel) : std::vector<model::Device>{};
        for (const auto& device : devices)
            if (std::none_of(at_once.begin(), at_once.end(),
                             [&](const auto& d) { return d.selector == device.selector; }))
                run_alone(device);
        if (!at_once.empty()) {
            run_side_by_side(request, at_once, invocation.timeout_seconds, events, {run_alone, lose});
            sink.sort_by_plan();
        }
    } catch (const run::Interrupted&) {
        progress.clear();
        print_all();
        say("interrupted; " + std::to_string(sink.records().size()) + " finished cell(s) kept");
        return 130;
    } catch (...) {
        progress.clear();
        print_results(sink, compared, devices, outputs.html(), invocation.columns, printed,
                      lost);  // nothing finished is lost
        throw;
    }
    progress.clear();
    print_all();
    const bool troubled = std::any_of(compared.begin(), compared.end(),
                                      [](const auto& p) { return p.comparison && !p.comparison->trouble.empty(); });
    return !lost.empty() ? 3 : troubled ? 1 : exit_status_of(sink.records(), invocation.require_all);
}

}  // namespace cllab::app
