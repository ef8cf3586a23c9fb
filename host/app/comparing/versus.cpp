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
#include "report/table/comparison.hpp"
#include "run/conditions/conditions.hpp"

namespace cllab::app {
namespace {

constexpr const char* control_option = "-DCLLAB_CONTROL=1";

}  // namespace

model::Cell control_of(model::Cell cell) {
    cell.options += (cell.options.empty() ? "" : " ") + std::string(control_option);
    return cell;
}

Versus::Versus(Runner& runner, const run::Settings& settings, const std::string& selector, const model::Group& pair,
               const model::Record& left, const model::Record& right, model::Control control)
    : runner_(runner),
      request_{std::nullopt, {{pair.front(), pair.back()}}, settings},
      selector_(selector),
      same_code_(compare::same_code(left, right)),
      seeds_(mix64(settings.seed) ^ 0x636f6d70617265) {
    const auto name = [&](const model::Cell& cell) {
        const auto axis = model::build_options_axis().name;
        return cell.id + (pair.front().id == pair.back().id && cell.point.has(axis) && cell.point.text(axis) != "none"
                              ? " " + cell.point.text(axis)
                              : "");
    };
    out_.left = name(pair.front());
    out_.right = name(pair.back());
    out_.point = left.point;
    out_.device = left.device;
    out_.control_of = control;
    out_.cache = left.time ? left.time->cache : "";
    out_.conditions = run::host_conditions();
    auto& cells = request_.comparisons.front();
    if (control != model::Control::right) cells.push_back(control_of(pair.front()));
    if (control != model::Control::left) cells.push_back(control_of(pair.back()));
    request_.settings.arrangement = request_.settings.goes_on = true;
    // As they ran alone, and alike.
    const auto fresh = [](const model::Record& r) { return model::warns(r, model::Warning::fresh_data); };
    request_.settings.fresh_data = fresh(left) || fresh(right);
    request_.settings.dumps.reset();
    request_.settings.pictures.clear();
}

/// Whether the arrangement says something; else why not is in out_.
bool Versus::is_sound(const std::vector<model::Record>& records) {
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto& record = records[i];
        const auto changed = std::ranges::find_if(
            record.warnings, [](const auto& w) { return model::is(w, model::Warning::other_results); });
        const bool differs = !results_may_change_ && changed != record.warnings.end();
        if (record.status == model::Status::ok && !differs) continue;
        const bool failed = record.status != model::Status::ok;
        failure_ = {record.status, i % 2 == 0, failed ? record.reason : std::string(model::sentence_of(*changed))};
        out_.trouble = record.id +
                       (failed ? std::string(" is ") + model::name(record.status) : " gives other results") +
                       " in one of the arrangements: " + failure_->reason;
        return false;
    }
    const bool timed = std::ranges::all_of(records, [](const auto& r) { return r.time.has_value(); });
    out_.trouble = timed ? "" : "an arrangement has no samples";
    return timed;
}

bool Versus::take_one() {
    const auto seed = request_.settings.seed = seeds_() >> 1;  // JSON readers have 63 bits for sure
    // Of left, right, and those of them that are built once more.
    const auto records = records_of(runner_, request_, selector_);
    ++taken_;
    if (!is_sound(records)) return false;
    using Cells = std::vector<std::size_t>;
    const bool both = out_.control_of == model::Control::both, of_right = out_.control_of == model::Control::right;
    // Of each side the cell itself, and where it has one its control.
    const Cells left = of_right ? Cells{0} : Cells{0, 2};
    const Cells right = both ? Cells{1, 3} : of_right ? Cells{1, 2} : Cells{1};
    const auto turns = [&](const Cells& cells) {
        return mapped(cells, [&](std::size_t i) { return compare::Turns{records[i].samples, records[i].rounds}; });
    };
    compare::Differences sides, themselves;
    sides.add(turns(both ? left : Cells{0}), turns(both ? right : Cells{1}));
    for (const auto& own : {left, right})
        if (own.size() > 1) themselves.add(turns({own.back()}), turns({own.front()}));
    const auto [log_ratio, error] = sides.centre();
    const auto [control, control_error] = themselves.centre();
    const auto cores = [&](const Cells& cells) {
        double least = 1;
        for (const auto i : cells) least = std::min(least, model::cores_share(records[i]));
        return least;
    };
    const auto rounds = std::min(records[0].samples.size(), records[1].samples.size());
    if (!std::isfinite(log_ratio) || !std::isfinite(control)) return true;
    sampled_.push_back(request_.settings.sampling_seconds);
    out_.arrangements.push_back({seed, log_ratio, error, control, control_error, static_cast<unsigned>(rounds),
                                 records[0].time->shared_memory || records[1].time->shared_memory, cores(left),
                                 cores(right)});
    return true;
}

void Versus::run(double seconds, const compare::Rules& rules,
                 const std::function<void(const model::Comparison&)>& progress) {
    // Those that wait end with this, and hold nothing beside what comes next.
    struct Expecting {
        Versus& of;
        ~Expecting() { of.runner_.expect(of.request_, of.selector_, false); }
    } const expecting{*this};
    const auto cells = static_cast<double>(request_.comparisons.front().size());
    auto& sampling = request_.settings.sampling_seconds;
    // Whoever has little time wants to know how long an arrangement takes. Who has more gets rounds enough to see what
    // disturbs some of them: of a kernel of 5 ms on an H200, 2 arrangements of 28 were off by 6 % with 0.02 s, six
    // rounds, and none of 48 with ten rounds and more.
    const double least = seconds < 5 ? 0.02 : 0.1, most = 0.5;
    if (taken_ == 0) sampling = least;
    auto start = Clock::now();
    const double before = out_.seconds;
    for (;;) {
        const auto begin = Clock::now();
        if (taken_ > 0) runner_.expect(request_, selector_, true);
        const bool sound = take_one();
        const double took = seconds_since(begin);
        const bool first = taken_ == 1;
        // The first one built what is built once more.
        if (first)
            start = Clock::now();
        else
            sampling = std::clamp(std::min(compare::sampling_seconds(took - cells * sampling, seconds) / cells,
                                           compare::sampling_that_suffices(out_.arrangements, sampled_, rules)),
                                  least, most);
        out_.seconds = before + seconds_since(start);
        if (!sound) break;
        const auto ratios = compare::ratios_of(out_.arrangements);
        out_.judgement = compare::judge(ratios, compare::controls_of(out_.arrangements), same_code_, rules);
        progress(out_);
        // A verdict late is better than none: slow arrangements may take longer until there are enough of them, and
        // longer still where the interval needs more of them than that of a single pair.
        const double limit = ratios.size() < rules.least
                                 ? (compare::late + 1) * seconds * rules.least / compare::Rules{}.least
                                 : seconds;
        if (compare::enough(ratios, rules) || (!first && seconds_since(start) + took > limit)) break;
    }
    out_.judgement = compare::judge(compare::ratios_of(out_.arrangements), compare::controls_of(out_.arrangements),
                                    same_code_, rules);
}

model::Comparison compare_cells(Runner& runner, const run::Settings& settings, const std::string& selector,
                                const model::Group& pair, const model::Record& left, const model::Record& right,
                                double seconds, const std::function<void(const model::Comparison&)>& progress,
                                const compare::Rules& rules, model::Control control) {
    Versus versus(runner, settings, selector, pair, left, right, control);
    versus.run(seconds, rules, progress);
    return versus.comparison();
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
    // Of the same code there is nothing to see; the verdict says that it is.
    if (!pair.comparison || left.info.fingerprint.empty() || left.info.fingerprint != right.info.fingerprint)
        out << '\n' << comparison_text(left, right, colour);
}

/// Why the table of the run and the verdict differ: empty where their intervals have ratios in common.
std::string table_differs(const Pair& pair) {
    const auto& ratio = pair.comparison->judgement.ratio;
    if (!ratio.covered() || !pair.left.time || !pair.right.time) return {};
    const auto &left = *pair.left.time, &right = *pair.right.time;
    if (left.high / right.low >= ratio.low && left.low / right.high <= ratio.high) return {};
    return fmt::format(
        "  in the table {} takes {:.3g} times as long as {}; the table is of one process and one placement of the "
        "buffers, the verdict of {}\n",
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
