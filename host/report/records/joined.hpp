// Records read back from the JSON-lines files of many runs and machines.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/explanation.hpp"
#include "model/result.hpp"

namespace cllab::report {

inline constexpr std::size_t most_records = 1'000'000;  ///< of all files together
inline constexpr std::size_t most_names = 64;  ///< axes, and metrics, per family: a table has a column for each

/// What is kept of each record.
enum class Keep {
    all,
    page,  ///< what tables and curves show: no samples, log, command line
};

/// Reads files one after the other, and each record once. Two records are the same if these are equal: run, device, id,
/// point, place in the run, status, time of day, samples.
class Joined {
public:
    explicit Joined(Keep keep = Keep::all) : keep_(keep) {}
    /// Announces the total bytes of all lines. After the first 1000 records there is room for all, assuming lines as
    /// long as theirs on average. A vector that grows record by record takes three times the memory for a while.
    void expect(std::uint64_t bytes) { expected_bytes_ = bytes; }
    /// Reads to the end, or to a line that is too long. Skips lines that are not records of a known schema, are
    /// impossible or exceed a limit. troubles() names each with `name` and line. Throws Error(usage) beyond
    /// most_records.
    void read(std::istream& in, const std::string& name);
    const std::vector<model::Record>& records() const { return records_; }
    /// Lines of comparisons and other lines that are not cells (report/table/comparison.hpp). Kept once each, not
    /// parsed.
    const std::vector<std::string>& comparisons() const { return comparisons_; }
    const std::vector<std::string>& troubles() const { return troubles_; }  ///< the first twenty
    std::size_t trouble_count() const { return trouble_count_; }

private:
    using Names = std::set<std::string>;
    void take(const std::string& line);
    void require_known_names(const model::Record& record);
    void trouble(const std::string& sentence);

    std::vector<model::Record> records_;
    std::vector<std::string> comparisons_, troubles_;
    std::map<std::string, std::pair<Names, Names>> names_;  ///< by family: axes and metrics
    std::unordered_set<std::uint64_t> seen_;
    Keep keep_;
    std::uint64_t expected_bytes_ = 0, read_bytes_ = 0;
    std::size_t trouble_count_ = 0;
};

// Explanations that `cllab why --json` wrote, read back for the page of their records.

/// The explanations in the lines, by the index of the explained record. Skips other lines and other records'
/// explanations.
std::map<std::size_t, model::Explanation> explanations_of(const std::vector<model::Record>& records,
                                                          const std::vector<std::string>& lines);

}  // namespace cllab::report
