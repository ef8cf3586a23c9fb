#include "app/files/sink.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/records/csv.hpp"
#include "report/records/json.hpp"
#include "report/table/comparison.hpp"

namespace cllab::app {

Sink::Sink(OutputFile* json, OutputFile* csv) : json_(json), csv_(csv), wants_header_(csv && !csv->has_content()) {}

void Sink::take(const model::Record& record) {
    const std::lock_guard lock(mutex_);
    records_.push_back(record);
    if (json_) json_->line(report::to_json_line(record));
    if (wants_header_) csv_->line(report::csv_header());
    wants_header_ = false;
    if (csv_) csv_->line(report::to_csv_line(record));
}

void Sink::take(const model::Comparison& comparison) { line(report::comparison_json(comparison)); }

void Sink::line(const std::string& json) {
    const std::lock_guard lock(mutex_);
    if (json_) json_->line(json);
}

void Sink::sort_by_plan() {
    std::map<std::string, std::size_t> place;  // devices stay in the order in which they came
    for (const auto& record : records_) place.emplace(record.device.selector, place.size());
    std::ranges::stable_sort(records_, [&](const auto& a, const auto& b) {
        const auto key = [&](const auto& r) {
            return std::tuple(place.at(r.device.selector), r.run.order.comparison, r.run.order.position);
        };
        return key(a) < key(b);
    });
}

}  // namespace cllab::app
