// The probes of a device, one after the other, each within its time.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <ranges>
#include <utility>

#include "app/choose/request.hpp"
#include "app/commands/profile.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/streams.hpp"
#include "core/clock.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "portrait/probes.hpp"

namespace cllab::app {
namespace {

std::size_t cells_of(const std::vector<model::Group>& plan) {
    return static_cast<std::size_t>(std::ranges::distance(plan | std::views::join));
}

class Profiler {
public:
    Profiler(const ProfileOptions& invocation, Runner& runner, const model::Device& device)
        : invocation_(invocation), runner_(runner) {
        profile_.device = device;
        profile_.budget_seconds = invocation.budget_seconds;
        profile_.utc = utc_now();
    }

    MeasuredProfile measure() && {
        const auto start = Clock::now();
        const auto probes = portrait::probes_for(profile_.device);
        for (const auto& probe : probes) total_ += cells_of(portrait::plan_of(probe.parts, probe.interleave));
        bool finished = true;
        for (const auto& probe : probes) {
            const double left = invocation_.budget_seconds - seconds_since(start);
            finished = run_probe(probe, left);
            if (!finished) break;
        }
        say_doing("");
        profile_.seconds = seconds_since(start);
        profile_.conclusions = portrait::conclude(profile_.records, profile_.device);
        return {std::move(profile_), finished, std::move(lost_)};
    }

private:
    /// Returns false when interrupted, or the device is lost. `left`: seconds of the whole profile.
    bool run_probe(const portrait::Probe& probe, double left) {
        const auto whole = format_seconds(invocation_.budget_seconds);
        if (left <= 0) {
            profile_.skipped[probe.family] = "not measured: the " + whole + " of the profile ended before its turn";
            return true;
        }
        const auto plan = portrait::plan_of(probe.parts, probe.interleave);
        const std::size_t cells = cells_of(plan), before = profile_.records.size();
        if (!run_plan(plan, std::min(left, probe.seconds))) return false;
        if (const auto measured = profile_.records.size() - before; measured < cells)
            profile_.skipped[probe.family] =
                fmt::format("not measured: {} of its {} cells had no time within {}", cells - measured, cells,
                            left < probe.seconds ? "the " + whole + " of the profile" : format_seconds(probe.seconds));
        return true;
    }

    /// Adds the records of the cells that have time, in the plan's order. Returns false as run_probe().
    bool run_plan(const std::vector<model::Group>& plan, double seconds) {
        run::RunRequest request{std::nullopt, plan, settings_of(invocation_)};
        auto& settings = request.settings;
        const std::chrono::duration<double> time(seconds);
        settings.ends = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
        // The device is warm from the cell before.
        settings.goes_on = true;
        // What a GPU's compiler says of registers and spills is a figure. A CPU's code takes as long to read as to
        // measure.
        settings.read_code = profile_.device.is_gpu();
        settings.sampling_seconds = invocation_.budget_seconds < ProfileOptions::whole_seconds ? 0.02 : 0.05;
        settings.warm_seconds = 0.2 * settings.sampling_seconds;
        std::map<run::CellNumber, model::Record> done;
        const Events events{[&](std::size_t, std::size_t, const model::Record& record, const char* phase) {
                                show(done.size(), record, phase);
                            },
                            [&](std::size_t group, std::size_t index, const model::Record& record) {
                                done[{group, index}] = record;
                            }};
        bool finished = true;
        try {
            runner_.run(request, profile_.device.selector, events);
        } catch (const run::Interrupted&) {
            finished = false;
        } catch (const DeviceLost& e) {  // the next process would find it no better
            finished = false;
            lost_ = e.what();
        }
        for (auto& [at, record] : done) profile_.records.push_back(std::move(record));
        return finished;
    }

    void show(std::size_t done, const model::Record& record, const char* phase) {
        if (seconds_since(shown_) < 0.1) return;
        shown_ = Clock::now();
        say_doing(fmt::format("[{}/{}] {}: {}", profile_.records.size() + done + 1, total_, record.id, phase));
    }

    const ProfileOptions& invocation_;
    Runner& runner_;
    portrait::Profile profile_;
    std::string lost_;
    std::size_t total_ = 0;
    Clock::time_point shown_{};
};

}  // namespace

MeasuredProfile measure_profile(const ProfileOptions& invocation, Runner& runner, const model::Device& device) {
    return Profiler(invocation, runner, device).measure();
}

}  // namespace cllab::app
