#include "app/sink.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "app/stdout_guard.hpp"
#include "core/error.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"

namespace cllab::app {

LineFile::LineFile(const std::string& path, const std::string& option)
    : path_(path), file_(path == "-" ? results_file() : std::fopen(path.c_str(), "wb")) {
    if (!file_) throw Error(Blame::environment, "file '" + path + "' (" + option + ") cannot be written: " + std::strerror(errno));
}

void LineFile::line(const std::string& text) {
    const std::string whole = text + "\n";
    if (std::fwrite(whole.data(), 1, whole.size(), file_.get()) != whole.size() || std::fflush(file_.get()) != 0)
        throw Error(Blame::environment, "file '" + path_ + "' cannot be written any more: " + std::strerror(errno));
}

Sink::Sink(const std::string& json_path, const std::string& csv_path)
    : json_(json_path.empty() ? nullptr : std::make_unique<LineFile>(json_path, "--json")),
      csv_(csv_path.empty() ? nullptr : std::make_unique<LineFile>(csv_path, "--csv")),
      uses_stdout_(json_path == "-" || csv_path == "-") {
    if (csv_) csv_->line(report::csv_header());
}

void Sink::take(const model::Record& record) {
    const std::lock_guard lock(mutex_);
    records_.push_back(record);
    if (json_) json_->line(report::to_json_line(record));
    if (csv_) csv_->line(report::to_csv_line(record));
    if (record.dump.empty()) return;
    const auto path = std::filesystem::path(record.dump) / "timing.json";
    std::ofstream out(path, std::ios::binary);
    out << report::to_json_pretty(record) << '\n';
    if (!out.flush()) throw Error(Blame::environment, "file '" + path.string() + "' cannot be written: " + std::strerror(errno));
}

}  // namespace cllab::app
