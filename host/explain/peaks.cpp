#include "explain/peaks.hpp"

#include <algorithm>

#include "explain/doubt.hpp"
#include "explain/limiter.hpp"

namespace cllab::explain {
namespace {

template <typename Rule>
void replace_if(model::Limits& limits, const model::Figure& now, Rule rule) {
    const auto* before = limits.find(now.id);
    if (before && rule(*before, now)) replace(limits, now);
}

}  // namespace

std::vector<model::Figure> Peaks::measured(const std::string& id) {
    // What others disturb so much that it is no figure is tried once more, for longer.
    for (const double seconds : {0.1, 0.3})
        if (auto found = measure_.peak(id, seconds); !found.empty()) return found;
    return {};
}

std::vector<model::PeakAgain> Peaks::measure_missing(const model::Explanation& explanation) {
    std::vector<model::PeakAgain> out;
    for (const auto& id : explanation.missing) {
        if (explanation.limit != model::Limit::unexplained || ++tried_[id] > 2) continue;
        // One that is too slow explains what it does not, so it is measured twice, and the faster one taken.
        const auto one = measured(id), other = one.empty() ? one : measured(id);
        if (other.empty()) continue;
        auto figure = gain(one.front(), other.front()) > 1 ? other.front() : one.front();
        figure.of_profile = false;
        for (auto* limits : {&limits_, &used_}) limits->figures.push_back(figure);
        out.push_back({figure.id, figure.name, figure.unit, 0, figure.value, true,
                       "the profile withheld it, or was made without", false});
    }
    return out;
}

std::optional<model::Record> Peaks::once_more(const model::Cell& cell) {
    auto out = measure_.run(cell, 0.2, false);
    return out.status == model::Status::ok && out.time ? std::optional(std::move(out)) : std::nullopt;
}

model::PeakAgain Peaks::measure_again(const model::Cell& cell, const model::Record& record, model::Limit limit,
                                      const model::Figure& before) {
    using model::Limit;
    model::PeakAgain out{before.id, before.name, before.unit, before.value, 0, false, "", before.of_profile};
    auto now = measured(before.id);
    // What is better than the profile must be so twice.
    if (!now.empty() && gain(before, now.front()) > 1) {
        now = slower_of(now, measured(before.id));
        if (!now.empty() && now.front().id != before.id) now.clear();
    }
    if (now.empty()) {
        out.note = "the few cells that could measure it do not, or other work disturbs them";
        return out;
    }
    out.now = now.front().value;
    if (limit == Limit::impossible ? gain(before, now.front()) > 1 : is_faster(before, now.front())) {
        out.used = true;
        out.note = "the profile was disturbed, so the value measured beside this cell stands";
        for (auto* limits : {&limits_, &used_}) {
            replace(*limits, now.front());
            for (const auto& other : now) replace_if(*limits, other, is_faster);
        }
    } else if (limit == Limit::impossible) {
        out.note = "it is no faster now, so this cell still exceeds it";
    } else if (limit == Limit::unexplained && is_slower(before, now.front())) {
        const auto after = once_more(cell);
        out.used = after && is_alike(record.time->median, after->time->median);
        out.note = out.used ? "something slows both it and this cell now, so the value measured beside this cell stands"
                            : "something slowed it but not this cell, so the profile's value stands";
        // What the same cells say of other figures was slowed as they were.
        if (out.used)
            for (const auto& figure : now) replace_if(used_, figure, is_slower);
    } else {
        out.note = "the earlier one stands";
    }
    return out;
}

model::Explanation Peaks::explain(const model::Cell& cell, const model::Record& record) {
    constexpr std::size_t most = 3;  // of peaks that one cell has measured again
    used_ = limits_;
    auto out = explain::explain(record, used_);
    auto again = measure_missing(out);
    if (!again.empty()) out = explain::explain(record, used_);
    while (record.time && again.size() < most) {
        const auto* doubtful = doubted(out, *record.time);
        const auto* before = doubtful ? used_.find(doubtful->figure) : nullptr;
        const auto is_known = [&](const auto& peak) { return peak.figure == doubtful->figure; };
        if (!before || std::ranges::any_of(again, is_known)) break;
        again.push_back(measure_again(cell, record, out.limit, model::Figure(*before)));
        if (!again.back().used) break;
        out = explain::explain(record, used_);
    }
    if (record.time) drop_removed(record, out);
    out.again = std::move(again);
    return out;
}

std::optional<model::Record> Peaks::second_time(const model::Cell& cell, const model::Record& record,
                                                model::Limit limit) {
    using model::Limit;
    if (!record.time || (limit != Limit::unexplained && limit != Limit::impossible && limit != Limit::unsteady))
        return std::nullopt;
    auto out = once_more(cell);
    if (!out || !second_stands(*record.time, *out->time, limit)) return std::nullopt;
    out->hot = record.hot;
    out->work = record.work;
    out->counts = record.counts;
    out->counters = record.counters;
    return out;
}

}  // namespace cllab::explain
