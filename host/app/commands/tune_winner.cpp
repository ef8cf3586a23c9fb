// The end of a tuning: who won, and against whom.
#include <fmt/format.h>

#include <algorithm>

#include "app/commands/tune.hpp"
#include "app/comparing/versus.hpp"
#include "app/screen/streams.hpp"
#include "core/phases.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/rankable.hpp"
#include "model/warning.hpp"
#include "report/table/comparison.hpp"

namespace cllab::app {

using model::Point;

static constexpr std::size_t most_finalists = 6;  // with the default

/// The default and the fastest few others.
std::vector<Point> Tuning::finalists_of(const model::Screening& found) const {
    std::vector<Point> out;
    for (const auto& [point, time] : found.ranked)
        if (point == space_.initial) out.push_back(point);
    for (const auto& [point, time] : found.ranked)
        if (point != space_.initial && out.size() < most_finalists) out.push_back(point);
    return out;
}

void Tuning::judge(const model::Screening& found) {
    finalists_ = finalists_of(found);
    final_records_ = measure(finalists_, settings());
    say_doing("");
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < finalists_.size(); ++n) {
        const auto& record = final_records_[n];
        if (record.status == model::Status::ok && record.time && record.time->has_interval()) order.push_back(n);
    }
    if (order.empty()) {
        say_fitted("  none of the best few had a time of " + std::to_string(least_for_interval) +
                   " samples (--max-time) when measured again, so there is no winner\n");
        return;
    }
    std::ranges::sort(order, {}, [&](std::size_t n) { return final_records_[n].time->median; });
    print_finalists(order, found);
    const auto& chosen = finalists_[choose(order)];
    results() << "  cllab run " << name_of_variant() << " --device " << device_.selector << axis_options(chosen)
              << '\n';
}

void Tuning::print_finalists(const std::vector<std::size_t>& order, const model::Screening& found) const {
    std::size_t width = 0;
    for (const auto n : order) width = std::max(width, text_of(finalists_[n]).size());
    results() << "  the fastest few, measured again in turns:\n";
    std::string lines;
    for (const auto n : order) {
        const auto& point = finalists_[n];
        const auto& time = *final_records_[n].time;
        const auto first = std::ranges::find(found.ranked, point, &std::pair<Point, double>::first);
        lines += fmt::format("    {:<{}}  {:>8} [{}, {}], first {}{}{}\n", text_of(point), width,
                             format_seconds(time.median), format_seconds(time.low), format_seconds(time.high),
                             format_seconds(first->second), point == space_.initial ? ", the default" : "",
                             model::had_its_cores(final_records_[n]) ? "" : ", others had its cores");
    }
    say_fitted(lines);
    for (const auto& warning : final_records_[order.front()].warnings)
        if (model::is(warning, model::Warning::beyond_peak)) say_fitted("  " + printable(warning) + "\n");
}

/// The fastest of many is always fast by some luck.
std::size_t Tuning::choose(const std::vector<std::size_t>& order) {
    const auto fastest = order.front();
    const auto is_default = [&](std::size_t n) { return finalists_[n] == space_.initial; };
    const auto standard = std::ranges::find_if(order, is_default);
    const bool has_standard = standard != order.end() && !is_default(fastest);
    const bool has_second = order.size() > 1 && !is_default(order[1]);
    const std::size_t pairs = has_standard + has_second;
    if (is_default(fastest))
        results() << "  no point was faster than the default\n";
    else if (!has_standard)
        say_fitted(fmt::format("  the default has no time; the fastest is {}\n", text_of(finalists_[fastest])));
    if (has_standard && compare(fastest, *standard, pairs) != model::Verdict::faster) {
        results() << "  no point is faster than the default beyond the control\n";
        return *standard;
    }
    const bool other = has_second && compare(fastest, order[1], pairs) == model::Verdict::slower;
    return other ? order[1] : fastest;
}

/// So that `pairs` verdicts are as sure together as one.
model::Verdict Tuning::compare(std::size_t left, std::size_t right, std::size_t pairs) {
    const InPhase phase(Phase::arrangements);
    const auto name = [&](std::size_t n) {
        return finalists_[n] == space_.initial ? std::string("the default") : text_of(finalists_[n]);
    };
    auto comparison = compare_cells(
        context_.runner, settings(), device_.selector, {cell_at(finalists_[left]), cell_at(finalists_[right])},
        final_records_[left], final_records_[right], options_.comparison_seconds,
        [&](const model::Comparison& so_far) {
            say_doing(variant_.id + ": " + name(left) + " against " + name(right) + ", " +
                      report::comparison_progress(so_far));
        },
        rules_for(pairs));
    say_doing("");
    comparison.left = name(left);
    comparison.right = name(right);
    context_.sink.take(comparison);
    say_fitted("  " + report::comparison_text(comparison));
    return comparison.judgement.verdict;
}

/// As `cllab run` takes it.
std::string Tuning::name_of_variant() const {
    const auto& variant = *variant_.variant;
    return variant.own ? variant.own->path + ":" + variant.name : variant_.id;
}

/// Every axis that differs from the family's default.
std::string Tuning::axis_options(const Point& point) const {
    std::string out;
    const auto defaults = model::axes_of(*variant_.experiment, *variant_.variant);
    for (const auto& axis : space_.axes) {
        const auto own = std::ranges::find(defaults, axis.name, &model::Axis::name);
        const std::vector<std::string> automatic{axis.kind == model::Axis::Kind::options ? "none" : "auto"};
        const auto& value = point.text(axis.name);
        if ((own == defaults.end() ? automatic : own->values) != std::vector{value})
            out += " --axis " + axis.name + "=" + value;
    }
    return out;
}

}  // namespace cllab::app
