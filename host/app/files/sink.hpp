// Where finished cells go: JSON lines, CSV, and the list the table is printed from.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "app/files/outputs.hpp"
#include "model/comparison.hpp"

namespace cllab::app {

class Sink {
public:
    /// Either may be nothing; both outlive the sink.
    Sink(OutputFile* json, OutputFile* csv);
    /// Thread-safe: the watchdog may deliver a timed-out cell.
    void take(const model::Record& record);
    /// A line of JSON only.
    void take(const model::Comparison& comparison);
    /// A line of JSON as it is.
    void line(const std::string& json);
    const std::vector<model::Record>& records() const { return records_; }
    /// Puts the records of each device in the order of the plan.
    void sort_by_plan();
    bool uses_stdout() const { return (json_ && json_->is_stdout()) || (csv_ && csv_->is_stdout()); }

private:
    std::mutex mutex_;
    OutputFile *json_, *csv_;
    bool wants_header_;
    std::vector<model::Record> records_;
};

}  // namespace cllab::app
