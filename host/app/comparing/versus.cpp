#include "app/comparing/versus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "app/screen/results.hpp"
#include "app/screen/streams.hpp"
#include "core/clock.hpp"
#include "core/grouped.hpp"
#include "model/result.hpp"
#include "model/warning.hpp"
#include "report/records/points.hpp"
#include "report/table/comparison.hpp"
#include "run/conditions/conditions.hpp"

namespace cllab::app {
namespace {

constexpr const char* control_option = "-DCLLAB_CONTROL=1";

/// The cell's id. If both are one variant, adds the build options, or the other axes in which the cells differ.
std::string name_beside(const model::Cell& cell, const model::Cell& other) {
    auto apart = cell.point.values();
    std::erase_if(apart, [&](const auto& axis) {
        return cell.id != other.id || !other.point.has(axis.first) || other.point.text(axis.first) == axis.second;
    });
    const auto options = model::build_options_axis();
    if (apart.size() == 1 && apart.front().first == options.name)
        return cell.id + (apart.front().second == options.values.front() ? "" : " " + apart.front().second);
    return report::cell_title(cell.id, apart);
}

}  // namespace

model::Cell control_of(model::Cell cell) {
    cell.options += (cell.options.empty() ? "" : " ") + std::string(control_option);
    return cell;
}

Versus::Versus(Runner& runner, const run::Settings& settings, const std::string& selector, const model::Group& cells,
               const std::vector<model::Record>& records, model::Control control)
    : runner_(runner),
      request_{std::nullopt, {cells}, settings},
      selector_(selector),
      control_(control),
      seeds_(mix64(settings.seed) ^ 0x636f6d70617265) {
    const auto& left = records.front();
    for (std::size_t i = 1; i < cells.size(); ++i) {
        auto& one = all_.emplace_back();
        one.left = name_beside(cells.front(), cells[i]);
        one.right = name_beside(cells[i], cells.front());
        one.point = left.point;
        one.right_point = records[i].point;
        one.device = left.device;
        one.control_of = control;
        one.cache = left.time ? left.time->cache : "";
        one.conditions = run::host_conditions();
        same_code_.push_back(compare::same_code(left, records[i]));
    }
    auto& all = request_.comparisons.front();
    all.push_back(control_of(cells.front()));
    if (control == model::Control::both) all.push_back(control_of(cells.back()));
    request_.settings.arrangement = request_.settings.continues_run = true;
    // Restore the inputs of all cells if any of them needed it when run alone.
    request_.settings.fresh_data = std::ranges::any_of(
        records, [](const auto& record) { return model::warns(record, model::Warning::fresh_data); });
    request_.settings.dumps.reset();
    request_.settings.pictures.clear();
    for (const auto& record : records)
        if (record.time) longest_sample_ = std::max(longest_sample_, record.time->median * record.time->per_sample);
}

/// Whether the arrangement is usable; if not, sets the reason in all_.
bool Versus::is_sound(const std::vector<model::Record>& records) {
    const auto say = [&](const std::string& trouble) {
        for (auto& one : all_) one.trouble = trouble;
    };
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto& record = records[i];
        const auto changed = std::ranges::find_if(
            record.warnings, [](const auto& w) { return model::is(w, model::Warning::other_results); });
        const bool differs = !results_may_change_ && changed != record.warnings.end();
        if (record.status == model::Status::ok && !differs) continue;
        const bool failed = record.status != model::Status::ok;
        const bool is_left = i == 0 || i == all_.size() + 1;
        failure_ = {record.status, is_left, failed ? record.reason : std::string(model::sentence_of(*changed))};
        say(record.id + (failed ? std::string(" is ") + model::name(record.status) : " gives other results") +
            " in one of the replicates: " + failure_->reason);
        return false;
    }
    const bool timed = std::ranges::all_of(records, [](const auto& r) { return r.time.has_value(); });
    say(timed ? "" : "a replicate has no samples");
    return timed;
}

bool Versus::take_one() {
    request_.settings.seed = seeds_() >> 1;  // every JSON reader accepts 63-bit integers
    // Order of the records: left, the right sides, the controls.
    const auto records = records_of(runner_, request_, selector_);
    ++taken_;
    if (!is_sound(records)) return false;
    add(records);
    return true;
}

void Versus::add(const std::vector<model::Record>& records) {
    using Cells = std::vector<std::size_t>;
    const bool both = control_ == model::Control::both;
    const std::size_t again = all_.size() + 1;  // index of the first control
    const auto turns = [&](const Cells& cells) {
        return mapped(cells, [&](std::size_t i) { return compare::Turns{records[i].samples, records[i].rounds}; });
    };
    const auto cores = [&](const Cells& cells) {
        double least = 1;
        for (const auto i : cells) least = std::min(least, model::cores_share(records[i]));
        return least;
    };
    // The indices of each side: the cell and, if it has one, its control.
    const Cells left{0, again};
    std::vector<model::Arrangement> found;
    for (std::size_t right_cell = 1; right_cell < again; ++right_cell) {
        const Cells right = both ? Cells{right_cell, again + 1} : Cells{right_cell};
        compare::Differences sides, themselves;
        sides.add(turns(both ? left : Cells{0}), turns(both ? right : Cells{right_cell}));
        for (const auto& own : {left, right})
            if (own.size() > 1) themselves.add(turns({own.back()}), turns({own.front()}));
        const auto [log_ratio, error] = sides.centre();
        const auto [control, control_error] = themselves.centre();
        if (!std::isfinite(log_ratio) || !std::isfinite(control)) return;
        const auto &one = records[0], &other = records[right_cell];
        found.push_back({request_.settings.seed, log_ratio, error, control, control_error,
                         static_cast<unsigned>(std::min(one.samples.size(), other.samples.size())),
                         one.time->shared_memory || other.time->shared_memory, cores(left), cores(right)});
    }
    sampled_.push_back(request_.settings.sampling_seconds);
    for (std::size_t i = 0; i < found.size(); ++i) all_[i].arrangements.push_back(found[i]);
}

bool Versus::is_enough(const compare::Rules& rules) const {
    const auto decided = [](const auto& one) { return one.judgement.verdict != model::Verdict::undecided; };
    if (rules.verdict_suffices && all_.front().arrangements.size() == rules.least && std::ranges::all_of(all_, decided))
        return true;
    return std::ranges::all_of(
        all_, [&](const auto& one) { return compare::enough(compare::ratios_of(one.arrangements), rules); });
}

double Versus::sampling_that_suffices(const compare::Rules& rules) const {
    double most = 0;
    for (const auto& one : all_)
        most = std::max(most, compare::sampling_that_suffices(one.arrangements, sampled_, rules));
    return most;
}

void Versus::judge(const compare::Rules& rules) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const auto& arrangements = all_[i].arrangements;
        all_[i].judgement =
            compare::judge(compare::ratios_of(arrangements), compare::controls_of(arrangements), same_code_[i], rules);
    }
}

void Versus::run(double seconds, const compare::Rules& rules,
                 const std::function<void(const model::Comparison&)>& progress) {
    // Ends the waiting processes, which would otherwise keep memory during later work.
    struct Expecting {
        Versus& of;
        ~Expecting() { of.runner_.expect(of.request_, of.selector_, false); }
    } const expecting{*this};
    const auto cells = static_cast<double>(request_.comparisons.front().size());
    auto& sampling = request_.settings.sampling_seconds;
    // With little time, the first arrangement is short, to learn how long one takes. With more time, it has enough
    // rounds to detect disturbed ones. Example: a kernel of 5 ms on an H200. With six rounds (0.02 s), 2 of 28
    // arrangements were off by 6 %; with ten or more rounds, none of 48.
    constexpr double few = 0.02, rounds = 12, most = 0.5;
    const double least = seconds < 5 ? few : std::clamp(rounds * longest_sample_, few, 0.1);
    if (taken_ == 0) sampling = least;
    auto start = Clock::now();
    const double before = all_.front().seconds;
    for (;;) {
        const auto begin = Clock::now();
        runner_.expect(request_, selector_, true);
        const bool sound = take_one();
        const double took = seconds_since(begin);
        const bool first = taken_ == 1;
        // The first arrangement compiles the controls, so its time does not count.
        if (first)
            start = Clock::now();
        else
            sampling = std::clamp(std::min(compare::sampling_seconds(took - cells * sampling, seconds) / cells,
                                           sampling_that_suffices(rules)),
                                  least, most);
        for (auto& one : all_) one.seconds = before + seconds_since(start);
        if (!sound) break;
        judge(rules);
        progress(all_.front());
        // A late verdict is better than none. Slow arrangements may take longer until there are rules.least of them,
        // and the limit grows with rules.least.
        const double limit = all_.front().judgement.ratio.n < rules.least
                                 ? (compare::late + 1) * seconds * rules.least / compare::Rules{}.least
                                 : seconds;
        if (is_enough(rules) || (!first && seconds_since(start) + took > limit)) break;
    }
    judge(rules);
}

namespace {

void print_code_of(std::ostream& out, const Pair& pair, bool colour) {
    if (pair.left.status != model::Status::ok || pair.right.status != model::Status::ok) return;
    if (pair.left.dump.empty() || pair.right.dump.empty()) {
        out << "The code is compared only with dumps.\n";
        return;
    }
    auto left = code_of(pair.left, ""), right = code_of(pair.right, "");
    if (pair.comparison) left.id = pair.comparison->left, right.id = pair.comparison->right;
    // If the code is the same, the verdict says so.
    if (!pair.comparison || left.info.fingerprint.empty() || left.info.fingerprint != right.info.fingerprint)
        out << '\n' << comparison_text(left, right, colour);
}

/// A sentence if the table of the run contradicts the verdict; empty if their intervals overlap.
std::string table_differs(const Pair& pair) {
    const auto& ratio = pair.comparison->judgement.ratio;
    if (!ratio.covered() || !pair.left.time || !pair.right.time) return {};
    const auto &left = *pair.left.time, &right = *pair.right.time;
    if (left.high / right.low >= ratio.low && left.low / right.high <= ratio.high) return {};
    return fmt::format(
        "  in the table {} takes {:.3g} times as long as {}; the table comes from one process and one placement of "
        "the buffers, the verdict from {}\n",
        pair.comparison->left, left.median / right.median, pair.comparison->right, ratio.n);
}

}  // namespace

std::vector<Pair> pairs_of(const model::Group& cells, const std::vector<model::Record>& records, bool with_fastest) {
    std::optional<std::size_t> right;
    if (!with_fastest) right = cells.size() - 1;
    for (std::size_t i = 0; with_fastest && i < records.size(); ++i)
        if (records[i].time && (!right || records[i].time->median < records[*right].time->median)) right = i;
    std::vector<Pair> out;
    if (!right || records.size() != cells.size()) return out;
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (i != *right) out.push_back({records[i], records[*right], {cells[i], cells[*right]}});
    return out;
}

model::PointValues where_among(const std::vector<Pair>& pairs, const Pair& pair) {
    auto out = pair.left.point;
    std::erase_if(out, [&](const auto& here) {
        return std::ranges::none_of(pairs, [&](const Pair& other) {
            return std::ranges::any_of(other.left.point, [&](const auto& there) {
                return there.first == here.first && there.second != here.second;
            });
        });
    });
    return out;
}

compare::Rules rules_for(std::size_t pairs) {
    compare::FamilyRules all;
    all.family_rate = 1 - compare::Rules{}.coverage;
    all.cells = static_cast<unsigned>(pairs);
    return all.of_cell();
}

void print_pairs(std::ostream& out, const std::vector<Pair>& pairs, bool colour) {
    for (const auto& pair : pairs) {
        if (pair.right.id.empty()) continue;
        if (pairs.size() == 1) print_code_of(out, pair, colour);
        if (pair.comparison)
            out << '\n' << wrapped_to_page(report::comparison_text(*pair.comparison) + table_differs(pair));
    }
}

}  // namespace cllab::app
