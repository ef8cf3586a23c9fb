#include "explain/peaks.hpp"

#include <algorithm>

namespace cllab::explain {
namespace {

template <typename Rule>
void replace_if(Limits& limits, const Figure& now, Rule rule) {
    const auto* before = limits.find(now.id);
    if (before && rule(*before, now)) replace(limits, now);
}

/// The figures of `first`, each from the faster of the two measurements.
std::vector<Figure> faster_of(std::vector<Figure> first, const std::vector<Figure>& second) {
    for (auto& figure : first) {
        const auto other = std::ranges::find(second, figure.id, &Figure::id);
        if (other != second.end() && gain(figure, *other) > 1) figure = *other;
    }
    return first;
}

}  // namespace

std::vector<Figure> Peaks::measured(const std::string& id) {
    // Without a value, usually because of other work: measure this and all later peaks for longer.
    constexpr double longer = 0.3;
    auto found = measure_.peak(id, seconds_);
    if (found.empty() && seconds_ < longer) found = measure_.peak(id, seconds_ = longer);
    measured_[id] = Clock::now();
    return found;
}

std::vector<PeakAgain> Peaks::measure_missing(const Explanation& explanation) {
    std::vector<PeakAgain> out;
    for (const auto& id : explanation.missing) {
        if (explanation.limit != Limit::unexplained || !tried_.insert(id).second) continue;
        // A peak that is too slow explains too much, so the faster of two measurements is used.
        const auto one = measured(id), other = one.empty() ? one : measured(id);
        if (other.empty()) continue;
        const auto faster = faster_of(one, other);
        if (!is_known(faster.front())) continue;  // too uncertain to explain a time
        for (auto figure : faster) {
            figure.of_profile = false;
            if (limits_.find(figure.id)) continue;  // not missing: several figures come from the same cells
            for (auto* limits : {&limits_, &used_}) limits->figures.push_back(figure);
        }
        const auto& figure = faster.front();
        out.push_back(
            {figure.id, figure.name, figure.unit, 0, figure.value, true, "the profile has no value for it", false});
    }
    return out;
}

std::optional<Record> Peaks::once_more(const Cell& cell) {
    auto out = measure_.run(cell, 0.2);
    return out.status == Status::ok && out.time ? std::optional(std::move(out)) : std::nullopt;
}

PeakAgain Peaks::measure_again(const Cell& cell, const Record& record, Limit limit, const Figure& before) {
    PeakAgain out{before.id, before.name, before.unit, before.value, 0, false, "", before.of_profile};
    auto now = measured(before.id);
    // A second measurement must confirm a faster value.
    if (!now.empty() && gain(before, now.front()) > 1) {
        now = slower_of(now, measured(before.id));
        if (!now.empty() && now.front().id != before.id) now.clear();
    }
    if (now.empty()) {
        out.note = "the cells that measure it gave no value, perhaps because of other work";
        return out;
    }
    out.now = now.front().value;
    if (limit == Limit::impossible ? gain(before, now.front()) > 1 : is_faster(before, now.front())) {
        out.used = true;
        out.note = "the new value is faster, so it counts";
        for (auto* limits : {&limits_, &used_}) {
            replace(*limits, now.front());
            for (const auto& other : now) replace_if(*limits, other, is_faster);
        }
    } else if (limit == Limit::impossible) {
        out.note = "the peak is no faster now, so this cell still exceeds it";
    } else if (limit == Limit::unexplained && is_slower(before, now.front())) {
        // A burst of other work slows only the peak. A lasting cause has slowed the cell too, so a second timing of the
        // cell gives the same time.
        const auto after = once_more(cell);
        const bool steady = after && is_alike(record.time->median, after->time->median);
        const auto second = steady ? measured(before.id) : std::vector<Figure>();
        now = faster_of(now, second);
        out.now = now.front().value;
        out.used = !second.empty() && is_slower(before, now.front()) && is_known(now.front());
        out.note = out.used ? "something slows both the peak and this cell now, so the new value counts"
                            : "the new measurement or the cell was disturbed, so the earlier value counts";
        // The same cause slowed the other figures that these cells give.
        if (out.used)
            for (const auto& figure : now) replace_if(used_, figure, is_slower);
    } else {
        out.note = "no clearly faster value was measured, so the earlier value counts";
    }
    return out;
}

Explanation Peaks::explain(const Cell& cell, const Record& record) {
    used_ = limits_;
    auto out = explain::explain(record, used_);
    auto again = measure_missing(out);
    if (!again.empty()) out = explain::explain(record, used_);
    while (record.time && again.size() < most_measured_again) {
        const auto* doubtful = doubted(out, *record.time);
        const auto* before = doubtful ? used_.find(doubtful->figure) : nullptr;
        const auto is_again = [&](const auto& peak) { return peak.figure == doubtful->figure; };
        if (!before || std::ranges::any_of(again, is_again)) break;
        // For an unexplained cell, do not repeat a measurement of the last 30 seconds.
        constexpr double moment = 30;
        const auto last = measured_.find(before->id);
        if (out.limit == Limit::unexplained && last != measured_.end() && seconds_since(last->second) < moment) break;
        again.push_back(measure_again(cell, record, out.limit, Figure(*before)));
        if (!again.back().used) break;
        out = explain::explain(record, used_);
    }
    if (record.time) drop_removed(record, out);
    if (record.time && !is_gpu(record) && out.limit == Limit::unexplained) {
        const bool is_long =
            record.time->median >= std::max(least_to_split, launches_to_split * out.seconds_of("launch"));
        std::string why_not = is_long ? "its time on one core is not known" : model::too_short_to_split;
        if (const auto times = is_long ? measure_.on_one_core(cell, why_not) : std::nullopt)
            split_on_one_core(record, used_, *times, out);
        else
            out.leave_out(model::execution_title, why_not);
    }
    out.again = std::move(again);
    return out;
}

std::optional<Record> Peaks::second_time(const Cell& cell, const Record& record, const Explanation& first) {
    const bool split = !first.bounds.empty() && first.bounds.front().figure == model::one_core_figure;
    if (!record.time || first.limit == Limit::close || (first.limit == Limit::named && !split)) return std::nullopt;
    auto out = once_more(cell);
    if (!out || !(second_stands(*record.time, *out->time, first.limit) || has_two_times(*record.time, *out->time)))
        return std::nullopt;
    out->hot = record.hot;
    out->yardstick = record.yardstick;
    out->work = record.work;
    out->counts = record.counts;
    out->counters = record.counters;
    return out;
}

const Bound* doubted(const Explanation& e, const Timing& time) {
    if (e.bounds.empty()) return nullptr;
    if (e.limit == Limit::impossible)
        return &*std::ranges::max_element(e.bounds, [](const auto& a, const auto& b) { return a.low < b.low; });
    // A CPU's instruction rate changes within seconds: 20 to 41 G/s in six runs of `cllab run issue` on two idle cores.
    if (const auto* limiter = e.limit == Limit::named ? e.limiter() : nullptr;
        limiter && limiter->figure == "issue.rate")
        return limiter;
    const bool doubtful = e.limit == Limit::unexplained && e.bounds.front().seconds >= doubtful_from * time.median;
    return doubtful ? &e.bounds.front() : nullptr;
}

double gain(const Figure& before, const Figure& now) {
    if (!(before.value > 0) || !(now.value > 0)) return 0;
    return now.unit.ends_with("/s") ? now.value / before.value : before.value / now.value;
}

std::vector<Figure> slower_of(const std::vector<Figure>& first, const std::vector<Figure>& second) {
    std::vector<Figure> out;
    for (const auto& a : first) {
        const auto b = std::ranges::find_if(second, [&](const auto& f) { return f.id == a.id; });
        if (b != second.end()) out.push_back(gain(a, *b) < 1 ? *b : a);
    }
    return out;
}

bool is_known(const Figure& figure) { return figure.high - figure.low <= widest_peak * figure.value; }

bool is_faster(const Figure& before, const Figure& now) { return gain(before, now) > alike && is_known(now); }

bool is_slower(const Figure& before, const Figure& now) {
    const bool rate = now.unit.ends_with("/s");
    const bool apart = rate ? std::max(now.high, now.value) < std::min(before.low, before.value)
                            : std::min(now.low, now.value) > std::max(before.high, before.value);
    return apart && gain(before, now) * alike < 1;
}

bool is_alike(double seconds, double other) {
    constexpr double tolerance = alike * alike;  // each of the two times may be off by `alike`
    return other > 0 && seconds <= tolerance * other && other <= tolerance * seconds;
}

bool second_stands(const Timing& first, const Timing& second, Limit limit) {
    if (limit == Limit::unsteady) return second.spread() <= widest_spread;
    return !is_alike(second.median, first.median) && (second.median < first.median) == (limit != Limit::impossible);
}

bool has_two_times(const Timing& a, const Timing& b) {
    const auto& [less, more] = std::minmax(a, b, [](const auto& x, const auto& y) { return x.median < y.median; });
    return more.median > two_speeds * less.median && more.low > less.high;
}

void replace(Limits& limits, Figure now) {
    now.of_profile = false;
    for (auto& figure : limits.figures)
        if (figure.id == now.id) figure = now;
}

std::vector<PeakAgain> still_used(std::vector<PeakAgain> first, const Limits& limits) {
    std::erase_if(first, [&](const auto& peak) {
        const auto* figure = limits.find(peak.figure);
        return !peak.used || !figure || figure->of_profile || figure->value != peak.now;
    });
    return first;
}

}  // namespace cllab::explain
