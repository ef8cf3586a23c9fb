#include "app/versus.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "app/comparison.hpp"
#include "core/clock.hpp"
#include "core/random.hpp"
#include "report/comparison.hpp"
#include "run/conditions.hpp"

namespace cllab::app {
namespace {

constexpr const char* control_option = "-DCLLAB_CONTROL=1";

/// left, right, and one of them once more.
using Records = std::vector<model::Record>;

Records run_arrangement(Runner& runner, const run::RunRequest& request, const std::string& selector) {
    Records out(request.comparisons.front().size());
    runner.run(request, selector,
               {[](std::size_t, std::size_t, const model::Record&, const char*) {},
                [&](std::size_t, std::size_t index, const model::Record& record) { out.at(index) = record; }});
    return out;
}

/// Why the arrangement says nothing, or nothing.
std::string trouble_of(const Records& records) {
    for (const auto& record : records) {
        if (record.status != model::Status::ok)
            return record.id + " is " + model::name(record.status) + " in one of the arrangements: " + record.reason;
    }
    const bool timed = std::all_of(records.begin(), records.end(), [](const auto& r) { return r.time.has_value(); });
    return timed ? "" : "an arrangement has no samples";
}

}  // namespace

model::Cell control_of(model::Cell cell) {
    cell.options += (cell.options.empty() ? "" : " ") + std::string(control_option);
    return cell;
}

model::Comparison compare_cells(Runner& runner, const run::Settings& asked, const std::string& selector, const model::Group& pair, const model::Record& left,
                                const model::Record& right, double seconds, const std::function<void(const model::Comparison&)>& progress,
                                const compare::Rules& rules, Control side) {
    model::Comparison out;
    const auto name = [&](const model::Cell& cell) {
        const auto axis = model::build_options_axis().name;
        return cell.id + (pair.front().id == pair.back().id && cell.point.has(axis) && cell.point.text(axis) != "none" ? " " + cell.point.text(axis) : "");
    };
    out.left = name(pair.front());
    out.right = name(pair.back());
    out.point = left.point;
    out.device = left.device;
    out.right_is_control = side == Control::right;
    out.cache = left.time ? left.time->cache : "";
    for (const auto& condition : run::host_conditions()) out.conditions[condition.name] = condition.value;
    const bool same_code = !left.code.fingerprint.empty() && left.code.fingerprint == right.code.fingerprint;

    run::RunRequest arrangement{std::nullopt, {{pair.front(), pair.back(), control_of(out.right_is_control ? pair.back() : pair.front())}}, asked};
    auto& settings = arrangement.settings;
    settings.arrangement = true;
    settings.dumps.reset();
    settings.pictures.clear();
    settings.sampling_seconds = seconds < 5 ? 0.02 : 0.05;  // whoever has little time wants to know how long an arrangement takes

    constexpr double late = 3;  // times the time asked for, planned for where arrangements are slow; one more until it ends
    Random seeds(mix64(asked.seed) ^ 0x636f6d70617265);
    std::vector<double> ratios, controls;
    const auto judge = [&] { out.judgement = compare::judge(ratios, controls, same_code, rules); };
    auto start = Clock::now();
    for (unsigned n = 0;; ++n) {
        const auto seed = settings.seed = seeds() >> 1;  // JSON readers have 63 bits for sure
        const auto begin = Clock::now();
        const auto records = run_arrangement(runner, arrangement, selector);
        const double took = seconds_since(begin);
        if (n == 0) {
            start = Clock::now();  // this one built the control
        } else {
            // As much sampling as everything else of an arrangement takes: less would waste the start, more a placement. Less still
            // where a driver's start alone takes what there is for the fewest arrangements that can say anything (2 s on an H200).
            const double overhead = took - 3 * settings.sampling_seconds, room = late * seconds / compare::Rules{}.least - overhead;
            settings.sampling_seconds = std::clamp(std::min(overhead, room) / 3, 0.02, 0.5);
        }
        out.trouble = trouble_of(records);
        if (!out.trouble.empty()) break;
        const auto& l = records[0].samples;
        const auto& built_twice = out.right_is_control ? records[1].samples : l;
        model::Arrangement one{seed, compare::log_ratio(l, records[1].samples), compare::log_ratio(records[2].samples, built_twice),
                               static_cast<unsigned>(std::min(l.size(), records[1].samples.size())),
                               records[0].time->shared_memory || records[1].time->shared_memory};
        if (std::isfinite(one.log_ratio) && std::isfinite(one.control)) {
            out.arrangements.push_back(one);
            ratios.push_back(one.log_ratio);
            controls.push_back(one.control);
        }
        judge();
        out.seconds = seconds_since(start);
        progress(out);
        // A verdict late is better than none: slow arrangements may take four times as long until there are enough of them, and longer
        // where the interval needs more of them than that of a single pair.
        const double limit = ratios.size() < rules.least ? (late + 1) * seconds * rules.least / compare::Rules{}.least : seconds;
        if (compare::enough(ratios, rules) || (n > 0 && out.seconds + took > limit)) break;
    }
    judge();
    return out;
}

void print_pair(std::ostream& out, const Pair& pair, bool colour) {
    if (pair.comparison) out << '\n' << report::comparison_text(*pair.comparison);
    if (pair.left.status != model::Status::ok || pair.right.status != model::Status::ok) return;
    if (pair.left.dump.empty() || pair.right.dump.empty()) {
        out << "The code is compared only with dumps.\n";
        return;
    }
    auto left = code_of(pair.left, ""), right = code_of(pair.right, "");
    if (pair.comparison) left.id = pair.comparison->left, right.id = pair.comparison->right;
    out << '\n' << comparison_text(left, right, colour);
}

}  // namespace cllab::app
