#include "app/regress.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "app/baseline.hpp"
#include "app/request.hpp"
#include "app/say.hpp"
#include "app/versus.hpp"
#include "compare/regression.hpp"
#include "core/text.hpp"
#include "model/params.hpp"
#include "report/comparison.hpp"
#include "run/conditions.hpp"

namespace cllab::app {
namespace {

using Clock = std::chrono::steady_clock;
using model::CellChange;
using model::Record;
using model::RegressionCell;
using Point = std::vector<std::pair<std::string, std::string>>;

/// Everything that one command line of the baseline asks for today.
struct Asked {
    std::vector<std::string> argv;
    run::RunRequest request;
};

/// One cell of either side or of both.
struct Item {
    RegressionCell out;
    const Asked* asked = nullptr;
    std::optional<model::Cell> cell;     ///< today's
    std::vector<const Record*> before;   ///< the baseline's records of it, in the order of its runs
    std::shared_ptr<const model::StoredBuild> stored;
    std::optional<Record> today, rebuilt;
    std::vector<double> logs_before, logs_today;  ///< --recorded

    bool comparable() const { return today && today->status == model::Status::ok && today->time && !before.empty() && before.back()->time; }
};

model::DeviceInfo info_of(const model::Device& d) {
    return {d.platform, d.name, d.vendor, d.driver, model::name(d.type), d.selector, d.identity};
}

bool same_device(const model::DeviceInfo& a, const model::DeviceInfo& b) {
    return a.platform == b.platform && a.name == b.name && (a.identity.empty() || b.identity.empty() || a.identity == b.identity);
}

std::string same_build(const Record& today, const Record& before) {
    const bool text = today.build.source_sha256 == before.build.source_sha256 && today.build.options == before.build.options;
    if (text) return "its text and options are the baseline's";
    return "";
}

bool same_code(const Record& a, const Record& b) { return !a.code.fingerprint.empty() && a.code.fingerprint == b.code.fingerprint; }

/// How many processes today can tell from `before` of the baseline, at the most twenty; nothing when none can.
std::optional<unsigned> processes_needed(std::size_t before, double alpha) {
    double orders = 1;  // C(before + n, n)
    for (unsigned n = 1; n <= 20; ++n) {
        orders *= static_cast<double>(before + n) / n;
        if (n >= 3 && 2 / orders <= alpha) return n;
    }
    return std::nullopt;
}

class Regress {
public:
    Regress(const Invocation& invocation, const std::function<void(const std::string&)>& progress)
        : invocation_(invocation), progress_(progress), baseline_(read_baseline(invocation.patterns.front())),
          runner_(in_child_processes(invocation.timeout_seconds)) {
        auto& r = result_.regression;
        r.baseline = invocation.patterns.front();
        r.recorded = invocation.recorded;
        r.threshold = rules_.threshold = invocation.threshold;
        r.family_rate = rules_.family_rate;
        for (const auto& condition : run::host_conditions()) r.conditions[condition.name] = condition.value;
    }

    RegressResult run() {
        const auto start = Clock::now();
        read_command_lines();
        for (const auto& device : devices()) collect(device);
        if (items_.empty()) throw Error(Blame::usage, "no cell of the baseline or of today matches " + join({invocation_.patterns.begin() + 1, invocation_.patterns.end()}, ", "));
        try {
            if (invocation_.calibrate) {
                calibrate();
            } else {
                look_at_today();
                if (invocation_.recorded)
                    compare_recorded();
                else
                    compare_rebuilt();
            }
        } catch (const run::Interrupted&) {
            result_.interrupted = true;
        } catch (const DeviceLost& e) {
            result_.lost = e.what();
        }
        judge();
        for (auto& item : items_) result_.regression.cells.push_back(std::move(item.out));
        result_.regression.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        return std::move(result_);
    }

private:
    /// The command lines of the baseline's runs, as they would run today with what this invocation changes.
    void read_command_lines() {
        std::set<std::vector<std::string>> seen;
        for (const auto& record : baseline_.records) {
            if (record.argv.empty() || !seen.insert(record.argv).second) continue;
            std::vector<std::string> copy = record.argv;
            std::vector<char*> argv;
            for (auto& argument : copy) argv.push_back(argument.data());
            try {
                auto then = parse(static_cast<int>(argv.size()), argv.data());
                if (!invocation_.cl_dir.empty()) then.cl_dir = invocation_.cl_dir;
                if (!invocation_.build_options.empty()) then.build_options = invocation_.build_options;
                then.outputs.clear();
                then.no_dumps = then.no_yardstick = true;
                then.verify_only = false;
                then.label = invocation_.label;
                then.seed = invocation_.seed;
                then.timeout_seconds = invocation_.timeout_seconds;
                then.argv = invocation_.argv;
                then.sampling_seconds = std::min(then.sampling_seconds, 0.1);
                asked_.push_back(std::make_unique<Asked>(Asked{record.argv, request_of(Choice(then), then)}));
            } catch (const Error& e) {
                say("the baseline's command line '" + join(record.argv, " ") + "' is not understood today: " + e.what());
            }
        }
        if (asked_.empty()) throw Error(Blame::usage, "none of the baseline's command lines can be run today, so there is nothing to compare");
    }

    std::vector<model::Device> devices() {
        std::vector<std::string> troubles;
        const bool named = !invocation_.devices.empty();
        const auto here = runner_->devices(named ? invocation_.devices : std::vector<std::string>{"all"}, &troubles);
        for (const auto& trouble : troubles) say(trouble);
        std::vector<model::Device> out;
        std::vector<std::string> wanted;
        for (const auto& device : here) {
            const auto info = info_of(device);
            const auto of = std::find_if(baseline_.records.begin(), baseline_.records.end(), [&](const auto& r) {
                return same_device(r.device, info) || (named && r.device.platform == info.platform && r.device.type == info.type);
            });
            if (of == baseline_.records.end()) continue;
            if (of->device.name != info.name) say("the baseline was made on '" + of->device.name + "'; both sides run on '" + info.name + "'");
            if (of->device.driver != info.driver)
                say("the baseline was made with driver " + of->device.driver + "; " +
                    (invocation_.recorded ? "today's is " + info.driver : "both sides are built by today's, " + info.driver));
            out.push_back(device);
        }
        if (!out.empty()) return out;
        std::set<std::string> of;
        for (const auto& r : baseline_.records) of.insert("'" + r.device.name + "' of " + r.device.platform);
        throw Error(Blame::environment, "the baseline was made on " + join({of.begin(), of.end()}, " and ") +
                                            (named ? "; --device names another platform or type" : ", which is not here; --device D names another device of the same platform"));
    }

    bool wanted(const std::string& id, const std::string& family) const {
        const auto& all = invocation_.patterns;
        return all.size() == 1 || std::any_of(all.begin() + 1, all.end(), [&](const auto& p) { return p == family || glob_match(p, id); });
    }

    /// The cells of both sides on one device, joined by id and point.
    void collect(const model::Device& device) {
        const auto info = info_of(device);
        std::map<std::pair<std::string, Point>, std::size_t> at;
        const auto item_of = [&](const std::string& id, const Point& point) -> Item& {
            const auto [found, is_new] = at.emplace(std::pair(id, point), items_.size());
            if (is_new) {
                auto& item = items_.emplace_back();
                item.out.id = id;
                item.out.point = point;
                item.out.device = info;
            }
            return items_[found->second];
        };
        const bool own = std::any_of(baseline_.records.begin(), baseline_.records.end(), [&](const auto& r) { return same_device(r.device, info); });
        for (const auto& record : baseline_.records) {
            if (!wanted(record.id, record.family)) continue;
            if (own ? !same_device(record.device, info) : record.device.platform != info.platform || record.device.type != info.type) continue;
            item_of(record.id, record.point).before.push_back(&record);
        }
        for (const auto& asked : asked_) {
            const auto& settings = asked->request.settings;
            for (const auto& group : asked->request.comparisons) {
                for (const auto& cell : group) {
                    if (!wanted(cell.id, cell.experiment->family)) continue;
                    auto point = cell.point.values();
                    try {
                        point = model::resolve(*cell.experiment, {*cell.variant, cell.point, device, settings.seed, settings.files}).values();
                    } catch (const Unsupported&) {
                        // The point as it was asked for, as in the record of an unsupported cell.
                    }
                    // A cell that failed before its axes were read has the point as it was asked for in its record.
                    auto& item = item_of(cell.id, at.count({cell.id, cell.point.values()}) ? cell.point.values() : point);
                    if (item.cell) continue;
                    item.cell = cell;
                    item.asked = asked.get();
                }
            }
        }
        for (auto& [key, index] : at) {
            auto& item = items_[index];
            if (item.before.empty()) continue;
            const auto& last = *item.before.back();
            item.out.before = last.time ? last.time->median : 0;
            item.out.before_text = last.build.source_sha256;
        }
    }

    /// Runs one cell per item, each a comparison of its own, and keeps the records in Item::*to.
    void run_cells(const std::vector<Item*>& items, std::optional<Record> Item::*to, bool stored, const std::string& doing) {
        for (const auto& asked : asked_) {
            std::map<std::string, std::vector<Item*>> by_device;
            for (auto* item : items)
                if (item->asked == asked.get()) by_device[item->out.device.selector].push_back(item);
            for (const auto& [selector, own] : by_device) {
                run::RunRequest request{std::nullopt, {}, asked->request.settings};
                for (const auto* item : own) {
                    auto cell = *item->cell;
                    if (stored) cell.stored = item->stored;
                    request.comparisons.push_back({cell});
                }
                runner_->run(request, selector,
                             {[&](std::size_t, std::size_t, const Record& record, const char* phase) { progress_(doing + " " + record.id + ": " + phase); },
                              [&](std::size_t group, std::size_t, const Record& record) { own[group]->*to = record; }});
            }
        }
    }

    std::vector<Item*> items_that(const std::function<bool(const Item&)>& hold) {
        std::vector<Item*> out;
        for (auto& item : items_)
            if (hold(item)) out.push_back(&item);
        return out;
    }

    void look_at_today() {
        run_cells(items_that([](const Item& item) { return item.cell && !item.before.empty(); }), &Item::today, false, "today's");
        for (auto& item : items_) {
            if (!item.today) continue;
            item.out.today = item.today->time ? item.today->time->median : 0;
            item.out.today_text = item.today->build.source_sha256;
        }
    }

    /// The baseline's text of a cell; false: the cell is incomparable and says why.
    bool fetch(Item& item) {
        try {
            const auto& last = *item.before.back();
            item.stored = std::make_shared<const model::StoredBuild>(model::StoredBuild{baseline_.text_of(last), last.build.options});
            return true;
        } catch (const Error& e) {
            item.out.reason = e.what();
            item.out.change = CellChange::incomparable;
            return false;
        }
    }

    compare::FamilyRules rules_for(std::size_t cells) {
        rules_.cells = static_cast<unsigned>(cells);
        result_.regression.tested = rules_.cells;
        return rules_;
    }

    void compare_rebuilt() {
        std::vector<Item*> to_build;
        for (auto* item : items_that([](const Item& i) { return i.comparable(); })) {
            const auto why = same_build(*item->today, *item->before.back());
            if (!why.empty())
                item->out.change = CellChange::same_code;
            else if (fetch(*item))
                to_build.push_back(item);
        }
        run_cells(to_build, &Item::rebuilt, true, "the baseline's");
        std::vector<Item*> to_time;
        for (auto* item : to_build) {
            if (!item->rebuilt) continue;
            if (item->rebuilt->status != model::Status::ok || !item->rebuilt->time) {
                item->out.change = CellChange::incomparable;
                item->out.reason = std::string("the baseline's text is ") + model::name(item->rebuilt->status) + " today: " + item->rebuilt->reason;
            } else if (same_code(*item->today, *item->rebuilt)) {
                item->out.change = CellChange::same_code;
            } else {
                to_time.push_back(item);
            }
        }
        rules_for(to_time.size());
        for (auto* item : to_time) {
            auto stored = *item->cell;
            stored.stored = item->stored;
            time(*item, {*item->cell, stored}, *item->today, *item->rebuilt);
        }
        share_shift();
    }

    /// The baseline's text against itself, under another name.
    void calibrate() {
        std::vector<Item*> usable;
        for (auto* item : items_that([](const Item& i) { return i.cell && !i.before.empty() && i.before.back()->time; }))
            if (fetch(*item)) usable.push_back(item);
        rules_for(usable.size());
        for (auto* item : usable) {
            auto left = *item->cell;
            left.stored = item->stored;
            auto right = left;
            right.options = "-DCLLAB_TWIN=1";
            time(*item, {left, right}, *item->before.back(), *item->before.back());
        }
    }

    void time(Item& item, const model::Group& pair, const Record& left, const Record& right) {
        const auto comparison = compare_cells(*runner_, item.asked->request.settings, item.out.device.selector, pair, left, right, invocation_.comparison_seconds,
                                              [&](const model::Comparison& so_far) { progress_(report::comparison_progress(so_far)); }, rules_.of_cell());
        item.out.arrangements = comparison.arrangements;
        item.out.seconds = comparison.seconds;
        if (!comparison.trouble.empty()) {
            item.out.reason = comparison.trouble;
            return;
        }
        std::vector<double> ratios, controls;
        for (const auto& a : comparison.arrangements) {
            ratios.push_back(a.log_ratio);
            controls.push_back(a.control);
        }
        item.out.test = compare::test_cell(ratios, controls, rules_);
    }

    void share_shift() {
        std::vector<double> logs;
        for (const auto& item : items_)
            if (item.out.test) logs.push_back(std::log(item.out.test->ratio.ratio));
        result_.regression.shift = compare::common_shift(logs);
    }

    /// Medians of processes today against medians of the baseline's runs.
    void compare_recorded() {
        auto items = items_that([](const Item& i) { return i.comparable(); });
        std::size_t fewest = 1000;
        for (auto* item : items) {
            for (const auto* record : item->before)
                if (record->time) item->logs_before.push_back(std::log(record->time->median));
            fewest = std::min(fewest, item->logs_before.size());
            if (same_code(*item->today, *item->before.back()) || !same_build(*item->today, *item->before.back()).empty())
                item->out.change = CellChange::same_code;
        }
        const auto tested = static_cast<std::size_t>(std::count_if(items.begin(), items.end(), [](const auto* i) { return i->out.change != CellChange::same_code; }));
        rules_for(tested);
        const double alpha = rules_.family_rate / std::max<double>(1, static_cast<double>(tested));
        const auto needed = processes_needed(fewest, alpha);
        for (unsigned n = 0; n < needed.value_or(3); ++n) {
            if (n > 0) run_cells(items, &Item::today, false, "process " + std::to_string(n + 1) + ",");
            for (auto* item : items)
                if (item->today && item->today->time) item->logs_today.push_back(std::log(item->today->time->median));
        }
        std::vector<double> logs;
        for (const auto* item : items) logs.push_back(std::log(compare::estimate_between(item->logs_today, item->logs_before, 1).ratio));
        auto& shift = result_.regression.shift = compare::common_shift(logs);
        for (auto* item : items) {
            if (item->out.change == CellChange::same_code) continue;
            item->out.test = compare::test_recorded(item->logs_today, item->logs_before, shift.n >= 3 ? std::log(shift.ratio) : 0, rules_);
            if (!needed)
                item->out.reason = std::to_string(item->logs_before.size()) + " run(s) in the baseline are too few to claim anything; `cllab run ... --baseline DIR --append` adds one";
        }
    }

    void judge() {
        std::vector<model::CellTest*> tests;
        std::vector<model::CellTest> kept;
        for (auto& item : items_)
            if (item.out.test) tests.push_back(&*item.out.test);
        compare::correct(tests);
        for (auto& item : items_) {
            auto& out = item.out;
            if (out.test)
                out.change = compare::change_of(*out.test, rules_);
            else if (out.change == CellChange::undecided)
                out.change = change_without_times(item);
            if (out.test) kept.push_back(*out.test);
        }
        if (invocation_.calibrate) result_.regression.calibration = compare::calibration(kept, rules_);
    }

    CellChange change_without_times(Item& item) {
        auto& reason = item.out.reason;
        if (item.before.empty()) return CellChange::added;
        if (!item.cell) {
            reason = "today's program does not have it";
            return CellChange::vanished;
        }
        const auto before = item.before.back()->status;
        if (!item.today) {
            if (reason.empty() && (result_.interrupted || !result_.lost.empty())) reason = "not reached";
            return CellChange::undecided;
        }
        const auto today = item.today->status;
        const bool was_ok = before == model::Status::ok;
        if (today == model::Status::ok) {
            if (!was_ok) return CellChange::fixed;
            if (reason.empty()) reason = item.before.back()->time ? "not reached" : "the baseline has no time of it";
            return CellChange::undecided;
        }
        reason = std::string(model::name(today)) + ": " + item.today->reason;
        if (today == model::Status::unsupported) return before == model::Status::unsupported ? CellChange::unsupported : CellChange::vanished;
        if (!was_ok) return CellChange::still_failing;
        return today == model::Status::wrong_result ? CellChange::newly_wrong : CellChange::newly_failing;
    }

    const Invocation& invocation_;
    const std::function<void(const std::string&)>& progress_;
    Baseline baseline_;
    std::unique_ptr<Runner> runner_;
    compare::FamilyRules rules_;
    std::vector<std::unique_ptr<Asked>> asked_;
    std::vector<Item> items_;
    RegressResult result_;
};

}  // namespace

RegressResult regress(const Invocation& invocation, const std::function<void(const std::string&)>& progress) {
    return Regress(invocation, progress).run();
}

}  // namespace cllab::app
