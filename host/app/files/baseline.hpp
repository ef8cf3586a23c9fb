// A baseline is a folder: records.jsonl with the record of each cell, and text/<SHA-256>.cl with each kernel text that
// was built, once however many cells share it. Build options stand in the records.
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

/// Throws Error(environment) when it cannot be made.
void make_baseline_folder(const std::filesystem::path& folder);

/// Keeps the records of a run as they come, each with its text.
class BaselineWriter {
public:
    /// `records`: open, or nothing when no baseline is asked for. `cl_dir`: where the run reads its text from.
    BaselineWriter(std::filesystem::path folder, OutputFile* records, std::filesystem::path cl_dir)
        : folder_(std::move(folder)), records_(records), cl_dir_(std::move(cl_dir)) {}
    /// `cell`: whose record it is; nothing leaves the text out. A record whose text has changed on disk since it was
    /// built is named on stderr and left out. Throws Error(environment).
    void take(const model::Record& record, const model::Cell* cell);

private:
    std::filesystem::path folder_;
    OutputFile* records_;
    std::filesystem::path cl_dir_;
    std::set<std::string> said_;  ///< headers that it does not hold
};

/// Adds the records of a file. Why it cannot be read; empty where it was.
std::string read_record_file(report::Joined& out, const std::string& path);

struct Baseline {
    std::filesystem::path folder;
    std::vector<model::Record> records;  ///< in the order written, of all runs

    /// The text that `record` was built from. Throws Error(usage) when it is not there, is not what the record names,
    /// or includes what is not.
    std::string text_of(const model::Record& record) const;
};

/// Throws Error(usage) for a folder that is no baseline, and for a damaged line: nobody knows which cell it was.
Baseline read_baseline(const std::filesystem::path& folder);

}  // namespace cllab::app
