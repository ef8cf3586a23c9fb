#include "app/claims/peaks.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/doubt.hpp"
#include "explain/limiter.hpp"
#include "portrait/conclusion.hpp"
#include "portrait/page.hpp"
#include "portrait/probes.hpp"

namespace cllab::app {
namespace {

/// How a probe's cells are measured: as the profile does, whatever the cell in doubt asked for.
run::Settings probing(const run::Settings& of_cell) {
    run::Settings out;
    out.seed = of_cell.seed;
    out.warm_seconds = 0.02;
    out.argv = of_cell.argv;
    out.run = of_cell.run;
    out.builds_ahead = of_cell.builds_ahead;
    return out;
}

template <typename Rule>
void replace_if(model::Limits& limits, const model::Figure& now, Rule rule) {
    const auto* before = limits.find(now.id);
    if (before && rule(*before, now)) explain::replace(limits, now);
}

}  // namespace

Peaks::Peaks(Runner& runner, const run::Settings& settings, const model::Device& device)
    : runner_(runner),
      settings_(settings),
      device_(device),
      limits_(settings.limits.at(device.selector)),
      used_(limits_) {}

std::vector<model::Figure> Peaks::measured(const std::string& id,
                                           const std::function<void(const std::string&)>& progress) {
    // What others disturb so much that it is no figure is tried once more, for longer.
    for (const double seconds : {0.1, 0.3})
        if (auto found = measured_within(id, seconds, progress); !found.empty()) return found;
    return {};
}

std::vector<model::Figure> Peaks::measured_within(const std::string& id, double seconds,
                                                  const std::function<void(const std::string&)>& progress) {
    run::RunRequest request{std::nullopt, {}, probing(settings_)};
    request.settings.sampling_seconds = seconds;
    const auto parts = portrait::parts_of_figure(id, device_);
    for (const auto& part : parts)
        for (auto& group : model::make_plan(model::select(model::registry(), {part.pattern}), part.axes))
            request.comparisons.push_back(std::move(group));
    if (request.comparisons.empty()) return {};
    std::vector<model::Record> records;
    runner_.run(request, device_.selector,
                {[&](std::size_t, std::size_t, const model::Record& record, const char*) {
                     progress("peak " + id + " again: " + record.id);
                 },
                 [&](std::size_t, std::size_t, const model::Record& record) { records.push_back(record); }});
    std::vector<model::Figure> out;
    for (const auto& conclusion : portrait::conclude(records, device_))
        for (const auto& f : conclusion.findings)
            // Others rest on the same cells or on more.
            if (f.withheld.empty() && f.value > 0 &&
                portrait::parts_of_figure(portrait::id_of(conclusion, f), device_) == parts)
                out.push_back({portrait::id_of(conclusion, f), f.name, f.unit, f.value, f.low, f.high});
    const auto wanted = std::find_if(out.begin(), out.end(), [&](const auto& f) { return f.id == id; });
    if (wanted == out.end()) return {};
    std::iter_swap(out.begin(), wanted);
    return out;
}

std::vector<model::PeakAgain> Peaks::measure_missing(const model::Explanation& explanation,
                                                     const std::function<void(const std::string&)>& progress) {
    std::vector<model::PeakAgain> out;
    for (const auto& id : explanation.missing) {
        if (explanation.limit != model::Limit::unexplained || ++tried_[id] > 2) continue;
        // One that is too slow explains what it does not, so it is measured twice, and the faster one taken.
        const auto one = measured(id, progress), other = one.empty() ? one : measured(id, progress);
        if (other.empty()) continue;
        auto figure = explain::gain(one.front(), other.front()) > 1 ? other.front() : one.front();
        figure.of_profile = false;
        for (auto* limits : {&limits_, &used_}) limits->figures.push_back(figure);
        out.push_back({figure.id, figure.name, figure.unit, 0, figure.value, true,
                       "the profile withheld it, or was made without", false});
    }
    return out;
}

std::optional<model::Record> Peaks::once_more(const model::Cell& cell) {
    run::RunRequest request{std::nullopt, {{cell}}, settings_};
    request.settings.dumps.reset();
    request.settings.pictures.clear();
    request.settings.hot_seconds = 0;
    request.settings.sampling_seconds = std::min(0.2, settings_.sampling_seconds);
    std::optional<model::Record> out;
    runner_.run(request, device_.selector,
                {[](std::size_t, std::size_t, const model::Record&, const char*) {},
                 [&](std::size_t, std::size_t, const model::Record& record) {
                     if (record.status == model::Status::ok && record.time) out = record;
                 }});
    return out;
}

model::Explanation Peaks::explain(const model::Cell& cell, const model::Record& record,
                                  const std::function<void(const std::string&)>& progress) {
    constexpr std::size_t most = 3;  // of peaks that one cell has measured again
    used_ = limits_;
    auto out = explain::explain(record, used_);
    auto again = measure_missing(out, progress);
    if (!again.empty()) out = explain::explain(record, used_);
    while (record.time && again.size() < most) {
        const auto* doubted = explain::doubted(out, *record.time);
        const auto* before = doubted ? used_.find(doubted->figure) : nullptr;
        const auto is_known = [&](const auto& peak) { return peak.figure == doubted->figure; };
        if (!before || std::any_of(again.begin(), again.end(), is_known)) break;
        model::PeakAgain peak{before->id, before->name, before->unit, before->value, 0, false, "", before->of_profile};
        auto now = measured(before->id, progress);
        // What is better than the profile must be so twice.
        if (!now.empty() && explain::gain(*before, now.front()) > 1) {
            auto both = explain::slower_of(now, measured(before->id, progress));
            if (both.empty() || both.front().id != before->id) both.clear();
            now = std::move(both);
        }
        if (now.empty()) {
            peak.note = "too few cells measure it, or other work disturbs them";
            again.push_back(peak);
            break;
        }
        peak.now = now.front().value;
        const double gain = explain::gain(*before, now.front());
        if (out.limit == model::Limit::impossible ? gain > 1 : explain::is_faster(*before, now.front())) {
            peak.used = true;
            peak.note = "the profile was disturbed, so the value measured beside this cell stands";
            for (auto* limits : {&limits_, &used_}) {
                explain::replace(*limits, now.front());
                for (const auto& other : now) replace_if(*limits, other, explain::is_faster);
            }
        } else if (out.limit == model::Limit::impossible) {
            peak.note = "it is no faster now, so this cell still exceeds it";
        } else if (out.limit == model::Limit::unexplained && explain::is_slower(*before, now.front())) {
            const auto after = once_more(cell);
            peak.used = after && explain::is_alike(record.time->median, after->time->median);
            peak.note = peak.used
                            ? "something slows both it and this cell now, so the value measured beside this cell stands"
                            : "something slowed it but not this cell, so the profile's value stands";
            // What the same cells say of other figures was slowed as they were.
            if (peak.used)
                for (const auto& figure : now) replace_if(used_, figure, explain::is_slower);
        } else {
            peak.note = "the earlier one stands";
        }
        again.push_back(peak);
        if (!peak.used) break;
        out = explain::explain(record, used_);
    }
    out.again = std::move(again);
    return out;
}

std::optional<model::Record> Peaks::second_time(const model::Cell& cell, const model::Record& record,
                                                model::Limit limit) {
    using model::Limit;
    if (!record.time || (limit != Limit::unexplained && limit != Limit::impossible && limit != Limit::unsteady))
        return std::nullopt;
    auto out = once_more(cell);
    if (!out || !explain::second_stands(*record.time, *out->time, limit)) return std::nullopt;
    out->hot = record.hot;
    out->work = record.work;
    return out;
}

}  // namespace cllab::app
