#include "app/comparing/regress.hpp"

#include <algorithm>
#include <cmath>

#include "app/comparing/versus.hpp"
#include "app/files/baseline.hpp"
#include "app/screen/results.hpp"
#include "compare/verdict.hpp"
#include "core/clock.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/result.hpp"
#include "report/table/comparison.hpp"
#include "report/table/verdict.hpp"
#include "run/conditions/conditions.hpp"

namespace cllab::app {
namespace {

using model::CellChange;
using model::Record;
using Item = RegressItem;

/// Compares texts, and also machine code if the text includes a header that the baseline does not hold.
bool same_code(const Record& today, const Record& before) {
    return today.build.source_sha256 == before.build.source_sha256 && today.build.options == before.build.options &&
           compare::same_launch(today, before) && (before.build.elsewhere.empty() || compare::same_code(today, before));
}

/// The text, options and launch are equal, but the machine code differs. If the code of a side is unknown, another
/// driver or device counts as other code.
bool other_code(const Record& today, const Record& before) {
    if (today.build.source_sha256 != before.build.source_sha256 || today.build.options != before.build.options ||
        !before.build.elsewhere.empty())
        return false;
    if (!today.code.fingerprint.empty() && !before.code.fingerprint.empty())
        return today.code.fingerprint != before.code.fingerprint;
    return today.device.driver != before.device.driver || today.device.name != before.device.name;
}

/// Processes needed today, at least 3, to tell them from `before` runs of the baseline; nullopt if 20 are too few.
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
    Regress(const RegressOptions& invocation, Runner& runner, const std::function<void(const std::string&)>& progress)
        : invocation_(invocation),
          progress_(progress),
          baseline_(read_baseline(invocation.patterns.front())),
          runner_(runner) {
        auto& r = result_.regression;
        r.baseline = invocation.patterns.front();
        r.recorded = invocation.recorded;
        r.threshold = rules_.threshold = invocation.threshold;
        r.family_rate = rules_.family_rate;
        r.conditions = run::host_conditions();
    }

    RegressResult run(const std::function<void()>& before_running) {
        const auto start = Clock::now();
        cells_ = regress_cells(invocation_, baseline_, runner_);
        before_running();
        try {
            look_at_today();
            if (invocation_.recorded)
                compare_recorded();
            else
                compare_rebuilt();
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
    /// Runs one cell per item, each as its own comparison, and stores the records in Item::*to.
    void run_cells(const std::vector<Item*>& items, std::optional<Record> Item::*to, bool stored,
                   const std::string& doing) {
        const auto where = [](const Item* item) { return std::pair(item->asked, item->out.device.selector); };
        for (const auto& own : grouped(items, where)) {
            run::RunRequest request{std::nullopt, {}, own.front()->asked->settings};
            for (const auto* item : own) request.comparisons.push_back({stored ? item->stored_cell() : *item->cell});
            runner_.run(request, own.front()->out.device.selector,
                        {[&](std::size_t, std::size_t, const Record& record, const char* phase) {
                             progress_(doing + " " + record.id + ": " + phase);
                         },
                         [&](std::size_t group, std::size_t, const Record& record) {
                             own[group]->*to = record;
                             add(result_.of_cells, record.phases);
                         }});
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

    void rules_for(std::size_t cells) { result_.regression.tested = rules_.cells = static_cast<unsigned>(cells); }

    /// The items whose code may differ. All other items get their change here.
    std::vector<Item*> those_that_differ() {
        std::vector<Item*> out;
        for (auto* item : items_that([](const Item& i) { return i.comparable(); })) {
            const auto& before = *item->before.back();
            if (!compare::same_launch(*item->today, before))
                item->end(
                    CellChange::incomparable,
                    "its arguments, sizes, groups or data differ from the baseline's, so it is another cell; a new "
                    "baseline would hold it");
            else if (other_code(*item->today, before))
                take_other_code(*item, *item->today, before);
            else if (same_code(*item->today, before) ||
                     (invocation_.recorded && compare::same_code(*item->today, before)))
                item->out.change = CellChange::same_code;
            else if (item->stored || invocation_.recorded)
                out.push_back(item);
            else
                item->end(CellChange::incomparable, "the baseline's record lacks the hash of its kernel source");
        }
        return out;
    }

    /// `built`: a record of today, built from the baseline's text.
    void take_other_code(Item& item, const Record& built, const Record& before) {
        auto& out = item.out;
        const auto& today = *item.today;
        const bool known = !built.code.fingerprint.empty() && !before.code.fingerprint.empty();
        const auto of = [](const Record& r) { return r.device.name + ", driver " + r.device.driver; };
        auto text =
            concat("same text, ",
                   known ? "other machine code than on " : "and machine code that cannot be compared with that of ",
                   before.utc.substr(0, 10), ": ", format_seconds(before.time->median), " then, ",
                   format_seconds(today.time->median), " now");
        if (of(today) != of(before)) text += " (" + of(before) + " then; " + of(today) + " now)";
        item.end(CellChange::other_code, text);
        if (!invocation_.allow_new_compiler)
            out.lean = compare::lean_of_recorded(*today.time, *before.time, rules_.threshold);
    }

    void compare_rebuilt() {
        const auto to_build = those_that_differ();
        run_cells(to_build, &Item::rebuilt, true, "the baseline's");
        std::vector<Timed> timed;
        for (auto* item : to_build) {
            if (!item->rebuilt) continue;
            if (item->rebuilt->status != model::Status::ok || !item->rebuilt->time)
                item->end(CellChange::incomparable, std::string("the baseline's text is ") +
                                                        model::name(item->rebuilt->status) +
                                                        " today: " + item->rebuilt->reason);
            else if (const auto& before = *item->before.back();
                     !before.build.elsewhere.empty() && !compare::same_code(*item->rebuilt, before))
                item->end(CellChange::incomparable, "the baseline does not contain " +
                                                        join(before.build.elsewhere, ", ") +
                                                        ", and its text makes other machine code today than it did");
            else if (!invocation_.allow_new_compiler && other_code(*item->rebuilt, *item->before.back()))
                take_other_code(*item, *item->rebuilt, *item->before.back());  // an edit must not hide a new compiler
            else if (compare::same_code(*item->today, *item->rebuilt))
                item->out.change = CellChange::same_code;
            else
                timed.push_back({*item, {*item->cell, item->stored_cell()}, *item->today, *item->rebuilt});
        }
        // Cells with the same code need no time, so the other cells get it.
        time(timed, items_that([](const Item& i) { return i.comparable(); }).size());
        share_shift();
    }

    /// A cell that is compared over arrangements.
    struct Timed {
        Item& item;
        model::Group pair;
        const Record& left;
        const Record& right;
        std::unique_ptr<Versus> versus{};
    };

    /// `cells`: number of comparable cells; it determines the time per cell.
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
        const InPhase phase(Phase::arrangements);
        auto& out = one.item.out;
        if (!one.versus) {
            one.versus = std::make_unique<Versus>(runner_, one.item.asked->settings, out.device.selector, one.pair,
                                                  std::vector{one.left, one.right});
            if (invocation_.results_may_change) one.versus->let_results_change();
        }
        auto rules = rules_.of_cell();
        rules.precise = compare::looks[number].precise;
        one.versus->run(seconds, rules,
                        [&](const model::Comparison& so_far) { progress_(report::comparison_progress(so_far)); });
        const auto& comparison = one.versus->comparison();
        out.arrangements = comparison.arrangements;
        out.seconds = comparison.seconds;
        out.looks = static_cast<unsigned>(number) + 1;
        if (one.versus->failure()) return fail(one.item, *one.versus->failure());
        if (!comparison.trouble.empty()) {
            out.reason = comparison.trouble;
            return;
        }
        const auto test = compare::test_cell(compare::ratios_of(comparison.arrangements),
                                             compare::controls_of(comparison.arrangements), rules_);
        out.test = out.test ? compare::looked_again(*out.test, test) : test;
    }

    /// A failure in one process counts as a failure of the cell.
    static void fail(Item& item, const Versus::Failure& failure) {
        item.out.today = 0;  // a wrong kernel has no time
        if (failure.status == model::Status::ok)
            return item.end(CellChange::other_results,
                            "today's text gives other results than the baseline's: " + failure.reason +
                                "; --results-may-change compares the times all the same");
        const auto seen = std::string(model::name(failure.status)) + " in one of its processes: " + failure.reason;
        if (failure.is_left)
            item.end(failure_since(failure.status), seen);
        else
            item.end(CellChange::incomparable, "the baseline's text is " + seen);
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

    /// Adds the time of a run, unless other processes had its cores: such a time reflects the load.
    static void add_time(std::vector<double>& logs, const Record& record) {
        if (record.time && model::had_its_cores(record)) logs.push_back(std::log(record.time->median));
    }

    /// Runs today's cells in as many processes as processes_needed() says, or in three if 20 are too few. A failure in
    /// any process is the cell's. Returns the number needed.
    std::optional<unsigned> run_processes(const std::vector<Item*>& items, double alpha) {
        std::size_t fewest = 1000;
        for (const auto* item : items) fewest = std::min(fewest, item->logs_before.size());
        const auto needed = processes_needed(fewest, alpha);
        for (unsigned n = 0; n < needed.value_or(3); ++n) {
            if (n > 0) run_cells(items, &Item::again, false, "process " + std::to_string(n + 1) + ",");
            for (auto* item : items) {
                auto& latest = n > 0 ? item->again : item->today;
                if (latest) add_time(item->logs_today, *latest);
                if (latest && latest->status != model::Status::ok && item->today->status == model::Status::ok)
                    item->today = latest;
            }
        }
        return needed;
    }

    /// Compares medians of today's processes with medians of the baseline's runs.
    void compare_recorded() {
        auto items = those_that_differ();
        for (auto* item : items)
            for (const auto* record : item->before) add_time(item->logs_before, *record);
        rules_for(items.size());
        const auto needed = run_processes(items, rules_.family_rate / std::max(1.0, static_cast<double>(items.size())));
        std::erase_if(items, [](const auto* item) { return item->today->status != model::Status::ok; });
        std::erase_if(items, [](auto* item) {
            const bool none_before = item->logs_before.empty();
            if (!none_before && !item->logs_today.empty()) return false;
            item->out.reason = std::string("in every run ") + (none_before ? "of the baseline" : "of today") +
                               " other processes had its cores";
            return true;
        });
        std::vector<double> logs;
        for (const auto* item : items)
            logs.push_back(std::log(compare::estimate_between(item->logs_today, item->logs_before, 1).ratio));
        auto& shift = result_.regression.shift = compare::common_shift(logs);
        for (auto* item : items) {
            item->out.test = compare::test_recorded(item->logs_today, item->logs_before,
                                                    shift.n >= 3 ? std::log(shift.ratio) : 0, rules_);
            if (!needed)
                item->out.reason = std::to_string(item->logs_before.size()) +
                                   " run(s) in the baseline are too few for a verdict; `" +
                                   typed(item->before.back()->argv) + " --baseline " +
                                   report::shell_word(result_.regression.baseline) + " --append` adds one";
        }
    }

    /// Without an arrangement there are only the times of the two cells, measured one after the other.
    model::Lean lean_of(const Item& item) const {
        if (item.out.test) return compare::lean_of(*item.out.test);
        const auto* other = item.rebuilt ? &*item.rebuilt : item.before.empty() ? nullptr : item.before.back();
        if (!item.today || !item.today->time || !other || !other->time) return model::Lean::none;
        const bool beyond = item.today->time->median > other->time->median * (1 + rules_.threshold);
        return beyond ? model::Lean::middle_slower : model::Lean::none;
    }

    void judge() {
        correct();
        for (auto& item : cells_.items) {
            auto& out = item.out;
            if (out.test)
                out.change = compare::change_of(*out.test, rules_);
            else if (out.change == CellChange::undecided)
                item.judge_without_times(result_.interrupted || !result_.lost.empty());
            if (out.change != CellChange::undecided) continue;
            out.lean = lean_of(item);
            if (out.lean != model::Lean::none && out.reason.empty())
                out.reason = out.lean == model::Lean::all_slower
                                 ? "too few replicates for a verdict, and each of their ratios is beyond the threshold"
                                 : "no verdict, and the middle of the ratios is beyond the threshold; more time "
                                   "(--max-time) may decide";
        }
    }

    const RegressOptions& invocation_;
    const std::function<void(const std::string&)>& progress_;
    Baseline baseline_;
    Runner& runner_;
    compare::FamilyRules rules_;
    RegressCells cells_;
    RegressResult result_;
};

}  // namespace

RegressResult regress(const RegressOptions& invocation, Runner& runner, const std::function<void()>& before_running,
                      const std::function<void(const std::string&)>& progress) {
    return Regress(invocation, runner, progress).run(before_running);
}

}  // namespace cllab::app
