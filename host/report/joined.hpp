// Records read back from the JSON-lines files of many runs and machines.
#pragma once

#include <iosfwd>
#include <set>
#include <string>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

/// Takes one file after the other. A record is known again by device, id, point, status, time of day and samples.
class Joined {
public:
    /// Reads to the end. What is no record of a known schema is left out and named in troubles() with `name` and line.
    void read(std::istream& in, const std::string& name);
    const std::vector<model::Record>& records() const { return records_; }
    /// The lines of records(), byte for byte as they were: a later writer's keys are not lost.
    const std::vector<std::string>& lines() const { return lines_; }
    const std::vector<std::string>& troubles() const { return troubles_; }
    std::size_t duplicates() const { return duplicates_; }

private:
    std::vector<model::Record> records_;
    std::vector<std::string> lines_, troubles_;
    std::set<std::string> seen_;  ///< digests
    std::size_t duplicates_ = 0;
};

}  // namespace cllab::report
