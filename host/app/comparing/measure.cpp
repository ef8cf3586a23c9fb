#include "app/comparing/measure.hpp"

#include <algorithm>

#include "app/comparing/versus.hpp"
#include "model/params.hpp"
#include "portrait/conclusion.hpp"
#include "portrait/probes.hpp"

namespace cllab::app {

model::Record RunnerMeasure::run(const model::Cell& cell, double seconds) {
    run::RunRequest request{std::nullopt, {{cell}}, settings_};
    request.settings.sampling_seconds = std::min(seconds, settings_.sampling_seconds);
    request.settings.dumps.reset();
    request.settings.pictures.clear();
    request.settings.hot_seconds = 0;
    return records_of(runner_, request, device_.selector).front();
}

std::vector<model::Figure> RunnerMeasure::peak(const std::string& id, double seconds) {
    // As the profile measures it, whatever the cells asked for.
    run::RunRequest request;
    request.settings.seed = settings_.seed;
    request.settings.warm_seconds = 0.02;
    request.settings.argv = settings_.argv;
    request.settings.run = settings_.run;
    request.settings.builds_ahead = settings_.builds_ahead;
    request.settings.sampling_seconds = seconds;
    const auto parts = portrait::parts_of_figure(id, device_);
    request.comparisons = portrait::plan_of(parts, false);
    if (request.comparisons.empty()) return {};
    std::vector<model::Record> records;
    runner_.run(request, device_.selector,
                {[&](std::size_t, std::size_t, const model::Record& record, const char*) {
                     progress_("peak " + id + " again: " + record.id);
                 },
                 [&](std::size_t, std::size_t, const model::Record& record) { records.push_back(record); }});
    std::vector<model::Figure> out;
    const auto conclusions = portrait::conclude(records, device_);
    for (const auto& [found, f] : portrait::findings_of(conclusions))
        // Others rest on the same cells or on more.
        if (f->withheld.empty() && f->value > 0 && portrait::parts_of_figure(found, device_) == parts)
            out.push_back({found, f->name, f->unit, f->value, f->low, f->high});
    const auto wanted = std::ranges::find(out, id, &model::Figure::id);
    if (wanted == out.end()) return {};
    std::iter_swap(out.begin(), wanted);
    return out;
}

}  // namespace cllab::app
