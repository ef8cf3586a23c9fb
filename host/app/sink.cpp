#include "app/sink.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
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
    if (record.dump.empty()) return;
    const auto path = std::filesystem::path(record.dump) / "timing.json";
    std::ofstream out(path, std::ios::binary);
    out << report::to_json_pretty(record) << '\n';
    if (!out.flush()) throw Error(Blame::environment, "file '" + path.string() + "' cannot be written: " + std::strerror(errno));
}

}  // namespace cllab::app
