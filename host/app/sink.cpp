#include "app/sink.hpp"

#include "report/comparison.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"

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

}  // namespace cllab::app
