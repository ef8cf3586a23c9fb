// A baseline is a folder. The file records.jsonl has the record of each cell, with its build options. The file
// text/<SHA-256>.cl has a kernel text that was built. Cells with the same text share this file.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "model/plan.hpp"
#include "model/result.hpp"
#include "report/records/joined.hpp"

namespace cllab::app {

class OutputFile;

std::filesystem::path records_of_baseline(const std::filesystem::path& folder);

/// Throws Error(environment) if the folder cannot be made.
void make_baseline_folder(const std::filesystem::path& folder);

/// Writes the records of a run as they arrive, each with its text.
class BaselineWriter {
public:
    /// `records`: an open file, or nullptr without a baseline. `cl_dir`: folder from which the run reads kernel texts.
    BaselineWriter(std::filesystem::path folder, OutputFile* records, std::filesystem::path cl_dir)
        : folder_(std::move(folder)), records_(records), cl_dir_(std::move(cl_dir)) {}
    /// `cell`: the record's cell; nullptr: do not save its text. If the text has changed on disk since it was built,
    /// says so on stderr and skips the record. Throws Error(environment).
    void take(const model::Record& record, const model::Cell* cell);

private:
    std::filesystem::path folder_;
    OutputFile* records_;
    std::filesystem::path cl_dir_;
    std::set<std::string> said_;  ///< headers already reported as missing
};

/// Adds the records of a file to `out`. Returns why it cannot be read; empty on success.
std::string read_record_file(report::Joined& out, const std::string& path);

struct Baseline {
    std::filesystem::path folder;
    std::vector<model::Record> records;  ///< of all runs, in the order written

    /// The text that `record` was built from. Throws Error(usage) if it is missing, has another hash, or includes
    /// headers that the baseline does not hold.
    std::string text_of(const model::Record& record) const;
};

/// Throws Error(usage) for a folder that is not a baseline, and for a damaged line, because its cell is unknown.
Baseline read_baseline(const std::filesystem::path& folder);

}  // namespace cllab::app
