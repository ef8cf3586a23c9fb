// The last part of a tuning: the fastest few points are measured again and compared, and one of them is recommended.
#include <ranges>

#include "app/commands/command_file.hpp"
#include "app/commands/tune.hpp"
#include "app/comparing/versus.hpp"
#include "core/phases.hpp"
#include "model/warning.hpp"
#include "report/table/comparison.hpp"

namespace cllab::app {

constexpr std::size_t most_finalists = 6;  // including the default

/// The default, if it has a time, and the fastest other points.
std::vector<model::Point> Tuning::finalists_of(const model::Screening& found) const {
    std::vector<model::Point> out;
    for (const auto& [point, time] : found.ranked)
        if (point == space_.initial) out.push_back(point);
    for (const auto& [point, time] : found.ranked)
        if (point != space_.initial && out.size() < most_finalists) out.push_back(point);
    return out;
}

void Tuning::judge(const model::Screening& found) {
    finalists_ = finalists_of(found);
    if (!finalists_.empty()) final_records_ = measure(finalists_, settings());
    say_doing("");
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < finalists_.size(); ++n) {
        const auto& record = final_records_[n];
        if (record.status == model::Status::ok && record.time && record.time->has_interval()) order.push_back(n);
    }
    if (order.empty()) {
        const auto seen = found.ranked.empty() ? "no point has a time"
                                               : concat("none of the best few had a time of ", least_for_interval,
                                                        " samples (--max-time) when measured again");
        say_fitted("  " + seen + ", so there is no winner\n");
        return tell(found, std::nullopt, seen);
    }
    std::ranges::sort(order, {}, [&](std::size_t n) { return final_records_[n].time->median; });
    print_finalists(order, found);
    const auto [winner, tied] = choose(order);
    const auto& best = finalists_[winner];
    say_fitted((best == space_.initial ? "  keep the default: "
                : tied.empty()         ? "  fastest: "
                                       : "  one of the fastest: ") +
               text_of(best) + (tied.empty() ? "" : ", not told apart from " + join(tied, ", ")) + "; to run it:\n");
    results() << "  " << command_of(best) << '\n';
    tell(found, winner, "", tied);
}

void Tuning::tell(const model::Screening& found, std::optional<std::size_t> winner, const std::string& seen,
                  const std::vector<std::string>& tied) const {
    auto line = report::line_of("tune", variant_.id, winner ? final_records_[*winner].point : Pairs{},
                                run::device_info(device_));
    report::add_figure(line, "tried", found.tried, "points",
                       found.is_exhaustive() ? "all that are possible" : "a search");
    report::add_figure(line, "timed", found.ranked.size(), "points", "the search");
    if (!winner) report::add_refusal(line, "no winner", seen, "a point that is right, and a larger --max-time");
    const auto add_time = [&](const char* name, std::size_t finalist) {
        if (const auto& time = final_records_[finalist].time)
            report::add_figure(line, name, time->median, "s", concat("the median of ", time->n, " samples"));
    };
    if (winner) add_time("time", *winner);
    for (std::size_t n = 0; n < finalists_.size(); ++n)
        if (finalists_[n] == space_.initial) add_time("default_time", n);
    if (winner) line["command"] = command_of(finalists_[*winner]);
    if (!tied.empty()) line["not_told_apart"] = tied;
    context_.sink.line(report::line_text(line));
}

void Tuning::print_finalists(const std::vector<std::size_t>& order, const model::Screening& found) const {
    std::size_t width = 0;
    for (const auto n : order) width = std::max(width, text_of(finalists_[n]).size());
    results() << "  the fastest few, each measured again:\n";
    std::string lines;
    for (const auto n : order) {
        const auto& point = finalists_[n];
        const auto& time = *final_records_[n].time;
        const auto first = std::ranges::find(found.ranked, point, &std::pair<model::Point, double>::first);
        lines += fmt::format("    {:<{}}  {:>8} [{}, {}], first {}{}{}\n", text_of(point), width,
                             format_seconds(time.median), format_seconds(time.low), format_seconds(time.high),
                             format_seconds(first->second), point == space_.initial ? ", the default" : "",
                             model::had_its_cores(final_records_[n]) ? "" : ", others had its cores");
    }
    say_fitted(lines);
    for (const auto& warning : final_records_[order.front()].warnings)
        if (model::is(warning, model::Warning::beyond_peak)) say_fitted("  " + printable(warning) + "\n");
}

/// The points that one process cannot distinguish from the fastest, the default first: a winner must beat it. Placement
/// of code and data alone changes a time by up to 4 % on a GPU and 15 % on a CPU (host/README.md, rule 15).
std::vector<std::size_t> Tuning::contenders(const std::vector<std::size_t>& order) const {
    const double unlikely = device_.is_gpu() ? 1.06 : 1.25;
    std::vector<std::size_t> out;
    const double fastest = final_records_[order.front()].time->high;
    for (const auto n : order) {
        const bool is_default = finalists_[n] == space_.initial;
        const double apart = is_default ? compare::FamilyRules::far : unlikely;
        const bool may_be = final_records_[n].time->low < apart * fastest || !model::had_its_cores(final_records_[n]);
        if (n != order.front() && may_be) out.push_back(n);
    }
    std::ranges::stable_partition(out, [&](std::size_t n) { return finalists_[n] == space_.initial; });
    return out;
}

/// The fastest of many points was partly lucky, so it is compared again. Returns the point to use, and those that the
/// comparisons do not tell apart from it.
std::pair<std::size_t, std::vector<std::string>> Tuning::choose(const std::vector<std::size_t>& order) {
    const auto fastest = order.front();
    const auto is_default = [&](std::size_t n) { return finalists_[n] == space_.initial; };
    const auto standard = std::ranges::find_if(order, is_default);
    constexpr std::size_t most = 3;  // compared with the fastest
    auto others = contenders(order);
    std::vector<std::string> tied;
    for (; others.size() > most; others.pop_back()) tied.push_back(text_of(finalists_[others.back()]));
    if (is_default(fastest))
        results() << "  the default has the least time when measured again\n";
    else if (standard == order.end())
        say_fitted(fmt::format("  the default has no time; the fastest is {}\n", text_of(finalists_[fastest])));
    else if (std::ranges::count(others, *standard) == 0)
        say_fitted(fmt::format("  the default takes {:.3g} times as long, more than any placement explains\n",
                               final_records_[*standard].time->median / final_records_[fastest].time->median));
    const auto compared = compare(fastest, others);
    auto best = fastest;
    model::RatioEstimate of_best{.ratio = 1};  // time of the fastest over that of the best
    for (std::size_t i = 0; i < compared.size(); ++i) {
        const auto& found = compared[i].judgement;
        if (is_default(others[i]) && found.verdict != model::Verdict::faster) {
            results() << "  no point is faster than the default beyond the control\n";
            return {others[i], {}};
        }
        if (found.verdict != model::Verdict::slower || found.ratio.ratio <= of_best.ratio) continue;
        best = others[i];
        of_best = found.ratio;
    }
    for (std::size_t i = 0; i < compared.size(); ++i) {
        const auto& found = compared[i].judgement;
        if (others[i] == best || found.verdict == model::Verdict::faster) continue;
        // Only the fastest was compared with each other point.
        if (best == fastest || !found.ratio.covered() || found.ratio.high >= of_best.low)
            tied.push_back(text_of(finalists_[others[i]]));
    }
    return {best, tied};
}

/// Compares with rules under which all verdicts together are as certain as a single one.
std::vector<model::Comparison> Tuning::compare(std::size_t left, const std::vector<std::size_t>& others) {
    if (others.empty()) return {};
    const InPhase phase(Phase::arrangements);
    const auto name = [&](std::size_t n) {
        return finalists_[n] == space_.initial ? std::string("the default") : text_of(finalists_[n]);
    };
    model::Group cells{cell_at(finalists_[left])};
    std::vector<model::Record> records{final_records_[left]};
    for (const auto n : others) {
        cells.push_back(cell_at(finalists_[n]));
        records.push_back(final_records_[n]);
    }
    const auto settings = this->settings();
    Versus versus(context_.runner, settings, device_.selector, cells, records, model::Control::left);
    auto rules = rules_for(others.size());
    rules.verdict_suffices = true;
    versus.run(options_.comparison_seconds, rules, [&](const model::Comparison& so_far) {
        say_doing(fmt::format("{}: {} against {} other{}, {} replicates", variant_.id, name(left), others.size(),
                              others.size() == 1 ? "" : "s", so_far.judgement.ratio.n));
    });
    say_doing("");
    auto out = versus.comparisons();
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].left = name(left);
        out[i].right = name(others[i]);
        context_.sink.take(out[i]);
        // All use the same arrangements, so the method is printed once.
        const auto words = report::comparison_text(out[i]);
        say_fitted("  " + (i + 1 < out.size() ? words.substr(0, words.find('\n') + 1) : words));
    }
    return out;
}

}  // namespace cllab::app
