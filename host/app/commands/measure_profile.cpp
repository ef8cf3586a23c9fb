// The probes of a device within a budget. What a probe needs at least is estimated before it begins.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "app/choose/request.hpp"
#include "app/commands/profile.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/streams.hpp"
#include "core/clock.hpp"
#include "core/phases.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/params.hpp"
#include "model/rankable.hpp"
#include "portrait/budget.hpp"
#include "portrait/probes.hpp"
#include "run/kernel_source.hpp"
#include "run/measure.hpp"

namespace cllab::app {
namespace {

using portrait::Budget;

/// How far the time may be off, by its interval or by the cores that others had.
double uncertainty(const model::Record& record) {
    return record.time ? std::max(record.time->uncertainty(), 1 - model::cores_share(record)) : 1;
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
        const bool finished = run();
        return {std::move(profile_), finished, lost_};
    }

private:
    /// Runs what the budget has room for. Returns false when interrupted, or the device is lost.
    bool run() {
        const auto probes = portrait::probes_for(profile_.device);
        portrait::Amount all;
        for (const auto& probe : probes) all = all + amount(probe) + portrait::refined(probe, probe.refine.most);
        total_ = all.cells;
        Budget budget(invocation_.budget_seconds, all, probes);
        bool finished = true;
        for (std::size_t i = 0; finished && i < probes.size();) {
            const auto end = together(probes, i, budget);
            finished = run_probes(std::span(probes).subspan(i, end - i), std::span(probes).subspan(end), budget);
            i = end;
        }
        if (finished) finished = caches_again(budget);
        if (finished) finished = again(budget);
        say_doing("");
        profile_.seconds = budget.spent();
        profile_.conclusions = portrait::conclude(profile_.records, profile_.device);
        return finished;
    }

    using Records = std::vector<model::Record>;

    /// What the device cannot do is a row at once.
    bool is_refused(const model::Cell& cell) const {
        static const std::map<std::string, model::Loaded> no_files;
        if (run::missing_need(*cell.variant, profile_.device)) return true;
        try {
            model::resolve(*cell.experiment, {*cell.variant, cell.point, profile_.device, 1, no_files});
        } catch (const Unsupported&) {
            return true;
        } catch (const Error&) {  // its row will say what
        }
        return false;
    }
    portrait::Amount amount(const portrait::Probe& probe) const {
        auto plan = portrait::plan_of(probe.parts, false);
        for (auto& group : plan) std::erase_if(group, [&](const auto& cell) { return is_refused(cell); });
        return portrait::amount_of(plan, probe.data);
    }

    /// The end of those that share a run with probe `i`. A GPU's driver and tools work on the code of one while the
    /// next is measured; what is added to a sweep needs its results, and on a CPU, where nothing goes on beside a
    /// measurement, the budget is looked at before each.
    std::size_t together(const std::vector<portrait::Probe>& probes, std::size_t i, const Budget& budget) const {
        std::size_t end = i + 1;
        if (!profile_.device.is_gpu() || probes[i].refine.most > 0) return end;
        for (auto all = amount(probes[i]); end < probes.size() && probes[end].refine.most == 0; ++end) {
            all = all + amount(probes[end]);
            if (budget.least(all) > budget.left() / 2) break;
        }
        return end;
    }

    bool run_probes(std::span<const portrait::Probe> probes, std::span<const portrait::Probe> later, Budget& budget) {
        std::vector<model::Group> plan;
        portrait::Amount all;
        for (const auto& probe : probes) {
            auto own = portrait::plan_of(probe.parts, probe.interleave);
            const auto needed = amount(probe);
            const auto count = needed.cells;
            if (count > 0 && !budget.has_room(needed, all)) {
                const double left = budget.left() - budget.least(all), least = budget.least(needed);
                budget.forget(needed + portrait::refined(probe, probe.refine.most));
                profile_.skipped[probe.family] = "not measured: its " + std::to_string(count) +
                                                 (count == 1 ? " cell needs about " : " cells need about ") +
                                                 format_seconds(least) + ", and " +
                                                 format_seconds(std::max(0.0, left)) + " of the budget of " +
                                                 format_seconds(profile_.budget_seconds) + " are left";
                continue;
            }
            all = all + needed;
            std::move(own.begin(), own.end(), std::back_inserter(plan));
        }
        if (plan.empty()) return true;
        std::vector<model::Group> upcoming;
        if (!later.empty()) upcoming = portrait::plan_of(later.front().parts, later.front().interleave);
        Records records;
        if (!run_new(plan, budget, records, std::move(upcoming))) return keep({}, std::move(records), false);
        budget.forget(all);
        const auto& probe = probes.front();
        budget.forget(portrait::refined(probe, probe.refine.most));
        for (std::size_t left = probe.refine.most; left > 0;) {
            const auto points = portrait::decisive_points(curves(probe, records), probe.refine.quantum,
                                                          std::min(left, (probe.refine.most + 1) / 2));
            const auto more = portrait::refined(probe, points.size());
            if (points.empty() || !budget.affords(more)) break;
            const auto values = join(points, ",", [](auto point) { return std::to_string(point); });
            auto added = portrait::plan_of(portrait::refined_parts(probe, values), probe.interleave);
            if (!run_new(added, budget, records)) return keep({}, std::move(records), false);
            std::move(added.begin(), added.end(), std::back_inserter(plan));
            left -= points.size();
        }
        return keep(std::move(plan), std::move(records), true);
    }

    bool keep(std::vector<model::Group> plan, Records records, bool finished) {
        std::move(plan.begin(), plan.end(), std::back_inserter(measured_));
        std::move(records.begin(), records.end(), std::back_inserter(profile_.records));
        return finished;
    }

    std::vector<model::Curve> curves(const portrait::Probe& probe, const Records& records) const {
        std::vector<model::Curve> out;
        for (auto& conclusion : portrait::curves_of_device(model::rows_of(records), profile_.device.name)) {
            for (auto& curve : conclusion.curves)
                if (curve.variant == probe.refine.variant) out.push_back(std::move(curve));
        }
        return out;
    }

    /// Once more what told nothing of the caches.
    bool caches_again(Budget& budget) {
        std::set<std::pair<std::string, model::Settings>> sweeps;  // by variant and point
        const auto parts =
            portrait::sweeps_to_repeat(portrait::conclude(profile_.records, profile_.device), profile_.device);
        for (const auto& group : portrait::plan_of(parts, false))
            for (const auto& cell : group) sweeps.emplace(cell.id, cell.point.values());
        return repeat(
            budget,
            [&](const auto& record) {
                return sweeps.contains({record.id, record.point});
            },
            portrait::is_shorter);
    }

    /// Once more what was disturbed: of both measurements the narrower one is kept.
    bool again(Budget& budget) {
        return repeat(
            budget,
            [](const auto& record) {
                return run::is_below_noise(record) ||
                       (record.status == model::Status::ok && uncertainty(record) > portrait::disturbed);
            },
            [](const auto& second, const auto& first) {
                return second.status == model::Status::ok &&
                       (run::is_below_noise(first) || uncertainty(second) < uncertainty(first));
            });
    }

    /// Measures once more what is wanted, the most important first, as far as there is time when every probe was
    /// measured, and keeps what is better. Returns false as run().
    bool repeat(Budget& budget, const std::function<bool(const model::Record&)>& wanted,
                const std::function<bool(const model::Record&, const model::Record&)>& is_better) {
        auto& records = profile_.records;
        std::vector<model::Group> plan;
        std::vector<std::size_t> which;
        double overhead = 0;
        std::size_t at = 0;
        for (const auto& group : measured_) {
            model::Group some;
            for (const auto& cell : group) {
                const double more = portrait::beside_sampling(records[at]);
                const double sampling = static_cast<double>(which.size() + 1) * Budget::least_sampling;
                if (wanted(records[at]) && overhead + more + sampling < budget.left()) {
                    overhead += more;
                    some.push_back(cell);
                    which.push_back(at);
                }
                ++at;
            }
            if (!some.empty()) plan.push_back(std::move(some));
        }
        if (which.empty()) return true;
        total_ += which.size();
        Records repeated;
        const bool finished = run_plan(plan, budget.sampling_of(which.size(), overhead), repeated);
        for (std::size_t i = 0; finished && i < repeated.size(); ++i) {
            auto& first = records[which[i]];
            if (is_better(repeated[i], first)) std::swap(first, repeated[i]);
            add(first.phases, repeated[i].phases);
        }
        return finished;
    }

    /// Records of what was not measured yet, in the plan's order; tells the budget what they took. `upcoming`: what the
    /// run after this one is likely to measure. Returns false as run().
    bool run_new(const std::vector<model::Group>& plan, Budget& budget, Records& records,
                 std::vector<model::Group> upcoming = {}) {
        const auto start = Clock::now();
        const auto before = static_cast<std::ptrdiff_t>(records.size());
        if (!run_plan(plan, budget.sampling(), records, std::move(upcoming))) return false;
        budget.learn(plan, std::span(records.begin() + before, records.end()), seconds_since(start));
        return true;
    }

    /// Records in the plan's order, each cell sampling for so many seconds.
    bool run_plan(const std::vector<model::Group>& plan, double sampling, Records& records,
                  std::vector<model::Group> upcoming = {}) {
        run::RunRequest request{std::nullopt, plan, settings_of(invocation_), std::move(upcoming)};
        auto& settings = request.settings;
        settings.keep_builds = invocation_.cl_dir.empty();  // points added to a sweep have its text
        // The device is warm from the cell before.
        settings.goes_on = true;
        // What a GPU's compiler says of registers and spills is a figure. A CPU's code takes as long to read as to
        // measure.
        settings.read_code = profile_.device.is_gpu();
        settings.sampling_seconds = sampling;
        settings.warm_seconds = std::clamp(0.2 * sampling, 0.005, 0.25);
        std::vector<std::size_t> first_of(plan.size());
        for (std::size_t g = 1; g < plan.size(); ++g) first_of[g] = first_of[g - 1] + plan[g - 1].size();
        std::map<std::size_t, model::Record> done;
        const Events events{[&](std::size_t, std::size_t, const model::Record& record, const char* phase) {
                                show(done.size(), record, phase);
                            },
                            [&](std::size_t group, std::size_t index, const model::Record& record) {
                                done[first_of[group] + index] = record;
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
        for (auto& [at, record] : done) records.push_back(std::move(record));
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
    std::vector<model::Group> measured_;  ///< the cells of profile_.records, in their order
    Clock::time_point shown_{};
};

}  // namespace

MeasuredProfile measure_profile(const ProfileOptions& invocation, Runner& runner, const model::Device& device) {
    return Profiler(invocation, runner, device).measure();
}

}  // namespace cllab::app
