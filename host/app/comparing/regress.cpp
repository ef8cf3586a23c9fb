#include "app/comparing/regress.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "app/comparing/regress_cells.hpp"
#include "app/comparing/versus.hpp"
#include "app/files/baseline.hpp"
#include "compare/regression.hpp"
#include "core/clock.hpp"
#include "report/table/comparison.hpp"
#include "run/conditions/conditions.hpp"

namespace cllab::app {
namespace {

using model::CellChange;
using model::Record;
using Item = RegressItem;

bool same_text(const Record& a, const Record& b) {
    return a.build.source_sha256 == b.build.source_sha256 && a.build.options == b.build.options;
}

bool same_code(const Record& a, const Record& b) {
    return !a.code.fingerprint.empty() && a.code.fingerprint == b.code.fingerprint;
}

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
    Regress(const RegressOptions& invocation, const std::function<void(const std::string&)>& progress)
        : invocation_(invocation),
          progress_(progress),
          baseline_(read_baseline(invocation.patterns.front())),
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
        cells_ = regress_cells(invocation_, baseline_, *runner_);
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
        for (auto& item : cells_.items) result_.regression.cells.push_back(std::move(item.out));
        result_.regression.seconds = seconds_since(start);
        return std::move(result_);
    }

private:
    /// Runs one cell per item, each a comparison of its own, and keeps the records in Item::*to.
    void run_cells(const std::vector<Item*>& items, std::optional<Record> Item::*to, bool stored,
                   const std::string& doing) {
        for (const auto& asked : cells_.asked) {
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
                             {[&](std::size_t, std::size_t, const Record& record, const char* phase) {
                                  progress_(doing + " " + record.id + ": " + phase);
                              },
                              [&](std::size_t group, std::size_t, const Record& record) { own[group]->*to = record; }});
            }
        }
    }

    std::vector<Item*> items_that(const std::function<bool(const Item&)>& hold) {
        std::vector<Item*> out;
        for (auto& item : cells_.items)
            if (hold(item)) out.push_back(&item);
        return out;
    }

    void look_at_today() {
        run_cells(items_that([](const Item& item) { return item.cell && !item.before.empty(); }), &Item::today, false,
                  "today's");
        for (auto& item : cells_.items) {
            if (!item.today) continue;
            item.out.today = item.today->time ? item.today->time->median : 0;
            item.out.today_text = item.today->build.source_sha256;
        }
    }

    /// The baseline's text of a cell; false: the cell is incomparable and says why.
    bool fetch(Item& item) {
        try {
            const auto& last = *item.before.back();
            item.stored = std::make_shared<const model::StoredBuild>(
                model::StoredBuild{baseline_.text_of(last), last.build.options});
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
            if (same_text(*item->today, *item->before.back()))
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
                item->out.reason = std::string("the baseline's text is ") + model::name(item->rebuilt->status) +
                                   " today: " + item->rebuilt->reason;
            } else if (same_code(*item->today, *item->rebuilt)) {
                item->out.change = CellChange::same_code;
            } else {
                to_time.push_back(item);
            }
        }
        std::vector<Timed> timed;
        for (auto* item : to_time) {
            auto stored = *item->cell;
            stored.stored = item->stored;
            timed.push_back({*item, {*item->cell, stored}, *item->today, *item->rebuilt});
        }
        // What is the same code needs no time, and leaves it to those that are not.
        time(timed, items_that([](const Item& i) { return i.comparable(); }).size());
        share_shift();
    }

    /// The baseline's text against itself, under another name.
    void calibrate() {
        std::vector<Item*> usable;
        for (auto* item :
             items_that([](const Item& i) { return i.cell && !i.before.empty() && i.before.back()->time; }))
            if (fetch(*item)) usable.push_back(item);
        std::vector<Timed> timed;
        for (auto* item : usable) {
            auto left = *item->cell;
            left.stored = item->stored;
            auto right = left;
            right.options = "-DCLLAB_TWIN=1";
            timed.push_back({*item, {left, right}, *item->before.back(), *item->before.back()});
        }
        time(timed, timed.size());
    }

    /// A cell that is compared over arrangements.
    struct Timed {
        Item& item;
        model::Group pair;
        const Record& left;
        const Record& right;
        std::unique_ptr<Versus> versus{};
    };

    /// `cells`: how many could have taken the time that a cell may take.
    void time(std::vector<Timed>& timed, std::size_t cells) {
        rules_for(timed.size());
        const auto most = compare::looks_at_a_cell(cells);
        result_.regression.looks = static_cast<unsigned>(most);
        compare::take_looks(timed.size(), cells, invocation_.comparison_seconds,
                            {[&](std::size_t i, double seconds, std::size_t number) {
                                 rules_.share = compare::share_of_look(number, most);
                                 look(timed[i], seconds, number);
                             },
                             [&] { correct(); }, [&](std::size_t i) { return is_open(timed[i]); },
                             [&](std::size_t i) { return timed[i].item.out.seconds; }});
    }

    bool is_open(const Timed& one) const {
        return one.item.out.test && one.item.out.reason.empty() &&
               compare::change_of(*one.item.out.test, rules_) == CellChange::undecided;
    }

    void look(Timed& one, double seconds, std::size_t number) {
        auto& out = one.item.out;
        if (!one.versus)
            one.versus = std::make_unique<Versus>(*runner_, one.item.asked->request.settings, out.device.selector,
                                                  one.pair, one.left, one.right);
        auto rules = rules_.of_cell();
        rules.precise = compare::looks[number].precise;
        one.versus->run(seconds, rules,
                        [&](const model::Comparison& so_far) { progress_(report::comparison_progress(so_far)); });
        const auto& comparison = one.versus->comparison();
        out.arrangements = comparison.arrangements;
        out.seconds = comparison.seconds;
        out.looks = static_cast<unsigned>(number) + 1;
        if (!comparison.trouble.empty()) {
            out.reason = comparison.trouble;
            return;
        }
        const auto test = compare::test_cell(compare::ratios_of(comparison.arrangements),
                                             compare::controls_of(comparison.arrangements), rules_);
        out.test = out.test ? compare::looked_again(*out.test, test) : test;
    }

    void correct() {
        std::vector<model::CellTest*> tests;
        for (auto& item : cells_.items)
            if (item.out.test) tests.push_back(&*item.out.test);
        compare::correct(tests);
    }

    void share_shift() {
        std::vector<double> logs;
        for (const auto& item : cells_.items)
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
            if (same_code(*item->today, *item->before.back()) || same_text(*item->today, *item->before.back()))
                item->out.change = CellChange::same_code;
        }
        const auto tested = static_cast<std::size_t>(std::count_if(
            items.begin(), items.end(), [](const auto* i) { return i->out.change != CellChange::same_code; }));
        rules_for(tested);
        const double alpha = rules_.family_rate / std::max<double>(1, static_cast<double>(tested));
        const auto needed = processes_needed(fewest, alpha);
        for (unsigned n = 0; n < needed.value_or(3); ++n) {
            if (n > 0) run_cells(items, &Item::today, false, "process " + std::to_string(n + 1) + ",");
            for (auto* item : items)
                if (item->today && item->today->time) item->logs_today.push_back(std::log(item->today->time->median));
        }
        std::vector<double> logs;
        for (const auto* item : items)
            logs.push_back(std::log(compare::estimate_between(item->logs_today, item->logs_before, 1).ratio));
        auto& shift = result_.regression.shift = compare::common_shift(logs);
        for (auto* item : items) {
            if (item->out.change == CellChange::same_code) continue;
            item->out.test = compare::test_recorded(item->logs_today, item->logs_before,
                                                    shift.n >= 3 ? std::log(shift.ratio) : 0, rules_);
            if (!needed)
                item->out.reason = std::to_string(item->logs_before.size()) +
                                   " run(s) in the baseline are too few to claim anything; `cllab run ... --baseline "
                                   "DIR --append` adds one";
        }
    }

    void judge() {
        std::vector<model::CellTest> kept;
        correct();
        for (auto& item : cells_.items) {
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
        if (today == model::Status::unsupported)
            return before == model::Status::unsupported ? CellChange::unsupported : CellChange::vanished;
        if (!was_ok) return CellChange::still_failing;
        return today == model::Status::wrong_result ? CellChange::newly_wrong : CellChange::newly_failing;
    }

    const RegressOptions& invocation_;
    const std::function<void(const std::string&)>& progress_;
    Baseline baseline_;
    std::unique_ptr<Runner> runner_;
    compare::FamilyRules rules_;
    RegressCells cells_;
    RegressResult result_;
};

}  // namespace

RegressResult regress(const RegressOptions& invocation, const std::function<void(const std::string&)>& progress) {
    return Regress(invocation, progress).run();
}

}  // namespace cllab::app
