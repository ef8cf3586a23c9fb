// Where finished cells go: JSON lines, CSV, timing.json beside the dump, and the list the table is printed from.
#pragma once

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/stdout_guard.hpp"
#include "model/result.hpp"

namespace cllab::app {

/// A file opened for lines before any work starts. "-" is standard output.
class LineFile {
public:
    /// Throws Error(environment) when it cannot be written.
    LineFile(const std::string& path, const std::string& option);
    /// Writes and flushes one line; throws Error(environment) when the disk does not take it.
    void line(const std::string& text);

private:
    struct Close {
        void operator()(std::FILE* f) const {
            if (f && f != results_file()) std::fclose(f);
        }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
};

class Sink {
public:
    Sink(const std::string& json_path, const std::string& csv_path);
    /// Thread-safe: the watchdog may deliver a timed-out cell.
    void take(const model::Record& record);
    const std::vector<model::Record>& records() const { return records_; }
    bool uses_stdout() const { return uses_stdout_; }

private:
    std::mutex mutex_;
    std::unique_ptr<LineFile> json_, csv_;
    std::vector<model::Record> records_;
    bool uses_stdout_ = false;
};

}  // namespace cllab::app
