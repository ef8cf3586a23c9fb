// Records read back from the JSON-lines files of many runs and machines.
#pragma once

#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

inline constexpr std::size_t most_records = 200'000;  ///< of all files together
inline constexpr std::size_t most_names = 64;         ///< axes of a family, and metrics of it: a table has a column for each

/// Takes one file after the other. A record is known again by its run, device, id, point, place in the run, status, time of day
/// and samples: two runs within a second that took no samples are two.
class Joined {
public:
    /// Reads to the end, or to a line that is too long to be one. What is no record of a known schema, cannot be or is beyond the
    /// limits is left out and named in troubles() with `name` and line. Throws Error(usage) beyond most_records.
    void read(std::istream& in, const std::string& name);
    const std::vector<model::Record>& records() const { return records_; }
    /// The lines of records(), byte for byte as they were: a later writer's keys are not lost.
    const std::vector<std::string>& lines() const { return lines_; }
    /// Lines of comparisons (report/comparison.hpp), each once; they are not read, only kept.
    const std::vector<std::string>& comparisons() const { return comparisons_; }
    const std::vector<std::string>& troubles() const { return troubles_; }  ///< the first twenty
    std::size_t trouble_count() const { return trouble_count_; }
    std::size_t duplicates() const { return duplicates_; }

private:
    struct Names {
        std::set<std::string> axes, metrics;
    };
    void take(const std::string& line);
    void require_known_names(const model::Record& record);
    void trouble(const std::string& sentence);

    std::vector<model::Record> records_;
    std::vector<std::string> lines_, comparisons_, troubles_;
    std::map<std::string, Names> names_;  ///< by family
    std::set<std::string> seen_;          ///< digests
    std::size_t duplicates_ = 0, trouble_count_ = 0;
};

}  // namespace cllab::report
