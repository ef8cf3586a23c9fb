// `cllab profile`: all probes within a budget, then one page. The budget is shared out cell by cell as it is left, so a
// slow driver shortens the sampling of what comes later before it costs a figure.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string_view>

#include "app/commands.hpp"
#include "app/profile.hpp"
#include "app/profile_file.hpp"
#include "app/request.hpp"
#include "app/runner.hpp"
#include "app/say.hpp"
#include "app/streams.hpp"
#include "core/text.hpp"
#include "inspect/dump_folder.hpp"
#include "core/units.hpp"
#include "model/registry.hpp"

namespace cllab::app {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The cells of a probe: of each sweep every `thin`-th point and the last. Interleaved: one group a variant, so that
/// the samples of its points alternate.
std::vector<model::Group> plan_of(const ProfileProbe& probe, std::size_t thin) {
    std::vector<model::Group> plan;
    for (const auto& part : probe.parts) {
        const auto whole = model::make_plan(model::select(model::registry(), {part.pattern}), part.axes);
        std::map<std::string, std::size_t> points, seen, of_variant;
        for (const auto& group : whole) {
            for (const auto& cell : group) ++points[cell.id];
        }
        for (const auto& group : whole) {
            model::Group kept;
            for (const auto& cell : group) {
                const auto i = seen[cell.id]++;
                if (!part.whole && i % thin != 0 && i + 1 != points[cell.id]) continue;
                if (!probe.interleave) {
                    kept.push_back(cell);
                    continue;
                }
                const auto [at, fresh] = of_variant.emplace(cell.id, plan.size());
                if (fresh) plan.emplace_back();
                plan[at->second].push_back(cell);
            }
            if (!kept.empty()) plan.push_back(std::move(kept));
        }
    }
    return plan;
}

std::size_t cells_in(const std::vector<model::Group>& plan) {
    std::size_t n = 0;
    for (const auto& group : plan) n += group.size();
    return n;
}

class Budget {
public:
    Budget(double seconds, std::size_t cells) : seconds_(seconds), cells_(cells) {}
    double spent() const { return since(start_); }
    bool over() const { return spent() >= seconds_; }
    /// What one of the cells still to come may take.
    double of_a_cell() const {
        return std::max(0.0, seconds_ - spent()) / static_cast<double>(std::max<std::size_t>(1, cells_));
    }
    /// Of how many points of a sweep one can be taken, when a cell takes what building and verifying took so far and
    /// the least sampling.
    std::size_t thin() const {
        const double least = least_sampling + (done_ == 0 ? 0.03 : overhead_ / static_cast<double>(done_));
        return static_cast<std::size_t>(std::clamp(std::ceil(least / std::max(of_a_cell(), 1e-3)), 1.0, 16.0));
    }
    /// A probe of `planned` cells is behind us, of which `run` were run in `seconds`, sampling `sampling` each.
    void done(std::size_t planned, std::size_t run, double seconds, double sampling) {
        cells_ -= std::min(planned, cells_);
        done_ += run;
        overhead_ += std::max(0.0, seconds - sampling * static_cast<double>(run));
    }

    static constexpr double least_sampling = 0.02;

private:
    Clock::time_point start_ = Clock::now();
    double seconds_, overhead_ = 0;
    std::size_t cells_, done_ = 0;
};

/// Ends a probe between two of its groups.
struct BudgetSpent {};

class Profiler {
public:
    Profiler(const Invocation& invocation, Runner& runner, const model::Device& device) : invocation_(invocation), runner_(runner) {
        profile_.device = device;
        profile_.budget_seconds = invocation.budget_seconds;
        profile_.utc = utc_now();
    }

    /// Runs what the budget allows. Returns false when interrupted.
    bool run() {
        const auto probes = profile_probes(profile_.device);
        total_ = 0;
        for (const auto& probe : probes) total_ += cells_in(plan_of(probe, 1));
        Budget budget(invocation_.budget_seconds, total_);
        bool finished = true;
        for (const auto& probe : probes) {
            if (!finished || budget.over()) break;
            finished = run_probe(probe, budget);
        }
        if (takes_escapes(STDERR_FILENO)) std::fputs("\r\033[K", stderr);
        profile_.seconds = budget.spent();
        profile_.conclusions = conclude(profile_.records, profile_.device);
        return finished;
    }

    const Profile& profile() const { return profile_; }

private:
    bool run_probe(const ProfileProbe& probe, Budget& budget) {
        const auto thin = budget.thin();
        profile_.thinned = std::max(profile_.thinned, thin);
        run::RunRequest request{std::nullopt, plan_of(probe, thin), settings_of(invocation_)};
        auto& settings = request.settings;
        // The device is warm from the cell before. About half of a cell's time goes to building and verifying.
        settings.sampling_seconds = std::clamp(0.35 * budget.of_a_cell(), Budget::least_sampling, 0.5);
        settings.warm_seconds = std::clamp(0.1 * budget.of_a_cell(), 0.005, 0.25);
        const auto start = Clock::now();
        const auto before = profile_.records.size();
        const Events events{[&](std::size_t, std::size_t index, const model::Record& record, const char* phase) {
                                if (index == 0 && budget.over() && std::string_view(phase) == "build") throw BudgetSpent{};
                                show(record, phase);
                            },
                            [&](std::size_t, std::size_t, const model::Record& record) {
                                profile_.records.push_back(record);
                            }};
        try {
            runner_.run(request, profile_.device.selector, events);
        } catch (const run::Interrupted&) {
            return false;
        } catch (const BudgetSpent&) {
        }
        budget.done(cells_in(plan_of(probe, 1)), profile_.records.size() - before, since(start),
                    settings.sampling_seconds + settings.warm_seconds);
        return true;
    }

    void show(const model::Record& record, const char* phase) {
        if (!takes_escapes(STDERR_FILENO) || since(shown_) < 0.1) return;
        shown_ = Clock::now();
        std::fprintf(stderr, "\r\033[K[%zu/%zu] %s: %s", profile_.records.size() + 1, total_, record.id.c_str(), phase);
        std::fflush(stderr);
    }

    const Invocation& invocation_;
    Runner& runner_;
    Profile profile_;
    std::size_t total_ = 0;
    Clock::time_point shown_{};
};

void open_for_writing(const std::filesystem::path& path, std::ofstream& out) {
    out.open(path, std::ios::binary);
    if (!out)
        throw Error(
            Blame::environment,
            "file '" + path.string() + "' cannot be written; --dumps DIR names another folder, --no-dumps writes none");
}

}  // namespace

int command_profile(const Invocation& asked) {
    auto invocation = asked;
    // Text that is not the lab's own may write anywhere and never end.
    invocation.isolate = asked.isolate || !asked.cl_dir.empty();
    catch_interrupts();
    catch_driver_crashes();
    const auto runner = invocation.isolate ? in_child_processes(invocation.timeout_seconds) : in_this_process();
    bool failed = false;
    for (const auto& device : runner->devices(invocation.devices)) {
        std::ofstream file;
        if (!invocation.no_dumps) inspect::claim_device_folder(invocation.dumps, device, run::this_host().name);
        const auto path = profile_path(invocation.dumps, device);
        // Beside its final name, in a file of its own: neither a profile that is cut short nor one that another process makes
        // meanwhile mixes with it.
        const auto part = path.string() + "." + std::to_string(getpid()) + ".part";
        if (!invocation.no_dumps) open_for_writing(part, file);
        Profiler profiler(invocation, *runner, device);
        const bool finished = profiler.run();
        const auto& profile = profiler.profile();
        const auto json = profile_json(profile);
        if (invocation.as_json)
            std::cout << json << '\n';
        else
            print_profile(std::cout, profile, {wants_colour(STDOUT_FILENO), terminal_width(STDOUT_FILENO)});
        std::cout.flush();
        if (!finished) {
            std::error_code code;
            if (!invocation.no_dumps) std::filesystem::remove(part, code);
            say("interrupted; the page shows the " + std::to_string(profile.records.size()) + " cells that were finished");
            return 130;
        }
        if (!invocation.no_dumps) {
            file << json << '\n';
            file.close();
            std::error_code code;
            std::filesystem::rename(part, path, code);
            if (!file || code)
                throw Error(Blame::environment, "file '" + path.string() + "' cannot be written any more");
        }
        for (const auto& record : profile.records) {
            if (!model::is_failure(record.status)) continue;
            failed = true;
            say(record.id + " is " + model::name(record.status) + ": " + record.reason);
        }
    }
    return failed ? 1 : 0;
}

}  // namespace cllab::app
